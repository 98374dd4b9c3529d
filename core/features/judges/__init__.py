"""Judges: what it hands to the trunk."""

from core.features.feature import Feature, QuestionMaker

BEFORE = "core.analysis.questions.behind_the_scores:of_precision"
FEATURE = Feature(
    name="judges",
    summary="How far a judge moves with the way it is asked, and how far jurors agree.",
    questions=(QuestionMaker("core.features.judges.ways_of_asking:questions", before=BEFORE),),
)
