"""Stories: what it hands to the trunk."""

from core.features.feature import Command, Entry, Feature, View

CODE = "core.features.stories.stories_command:app"
FEATURE = Feature(
    name="stories",
    summary="What a reader collects for others, slide by slide.",
    entries=(Entry("pages/stories.py", "Stories", ":material/auto_stories:", place=90, listed=False),),
    views=(View("stories", "Stories", "pages.views.stories_view:draw", entry="stories"),),
    commands=(
        Command("stories", CODE, "What was collected in the dashboard: list it, write one as a file.", place=170),
    ),
)
