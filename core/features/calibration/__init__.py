"""Calibration: what it hands to the trunk."""

from core.features.feature import Command, Feature, JobKind, Part, QuestionMaker, View

READINGS = (
    "the report has the readings shift and orbit with uniform weights in T14 to T16 and every reading and weighting in "
    "S30; Calibrate has the sweeps and bands of each"
)
PLANE = (
    "it is of a strength that a reader sets; an audit with the calibrator file has it in the plane of nuisance and "
    "signal"
)
PARTS = (
    Part("orbit", ("T14", "T15", "T16", "F12a", "F12b")),
    Part("measured", ("S37",)),
    Part("readings", name="Other readings of the calibration", reason=READINGS),
    Part("plane", name="Selectivity of a calibration", reason=PLANE),
)
DRAWN = "pages.views.calibration.calibration_view:draw"
CODE = "core.features.calibration.calibrate_command:app"
FEATURE = Feature(
    name="calibration",
    summary="What a calibration would change, learnt from a run, and what it does as measured.",
    views=(View("calibration", "Calibration", DRAWN, entry="calibrate", place=10, parts=PARTS),),
    commands=(Command("calibrate", CODE, "Learn a calibration from a run; apply one to its scores.", place=190),),
    questions=(QuestionMaker("core.features.calibration.questions:questions"),),
    jobs=(JobKind("measure", "core.jobs.command_jobs:MeasureRequest"),),
)
