"""Stories: what it hands to the trunk."""

from core.features.feature import Command, Feature, Page

FEATURE = Feature(
    name="stories",
    summary="What a reader collects for others, slide by slide.",
    pages=(
        Page(file="pages/stories.py", title="Stories", icon=":material/auto_stories:", section="Explore", place=60),
    ),
    commands=(
        Command(
            "stories",
            "core.features.stories.stories_command:app",
            "What was collected in the dashboard: list it, write one as a file.",
            place=170,
        ),
    ),
)
