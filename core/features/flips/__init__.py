"""Flip risk: what it hands to the trunk."""

from core.features.feature import Feature, Page, Part, QuestionMaker

FEATURE = Feature(
    name="flips",
    summary="How often an edit that should not matter turns a near tie over.",
    pages=(
        Page(
            file="pages/flip_risk.py",
            title="Flip risk",
            icon=":material/swap_vert:",
            section="Measure",
            place=70,
            parts=(
                Part("gap", ("T13", "S10", "S-turned")),
                Part(
                    "systems",
                    name="Two systems",
                    reason="a run holds no captions of two systems; the page Flip risk scores two files of them",
                ),
            ),
        ),
    ),
    questions=(
        QuestionMaker(
            "core.features.flips.flip_questions:questions", before="core.analysis.questions.worst_slices:questions"
        ),
    ),
)
