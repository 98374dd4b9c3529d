"""Human validation: what it hands to the trunk."""

from core.features.feature import Command, Feature, Part, View

PARTS = (
    Part("people", name="Annotators", reason="how well each annotator worked is for the coordinator alone"),
    Part(
        "entrance",
        name="Taking part",
        reason="consent, practice and links are set on the page; practice enters no number",
    ),
    Part("outcomes", ("S-human-outcomes",)),
    Part("comparisons", ("S-human-comparisons", "S-human-failures")),
    Part(
        "agreement",
        ("S-human-agreement", "S-human-rates", "S-human-kappa", "S-human-competence", "S-human-answers"),
    ),
    Part("powered", ("S-human-powered",)),
    Part("scores", ("S-human-scores",)),
    Part("gallery", name="Disagreements", reason="single items with people's comments are on the page"),
    Part("files", name="Votes", reason="they are exported from the page, by those who may read them"),
)
DRAWN = "pages.views.human_validation.human_view:draw"
CODE = "core.features.human.study_command:app"
FEATURE = Feature(
    name="human",
    summary="Studies in which people judge edited pairs, and what their votes say.",
    views=(View("human_validation", "Human validation", DRAWN, entry="people", place=10, parts=PARTS),),
    commands=(Command("study", CODE, "Studies of human validation: create, invite, export, agreement.", place=160),),
)
