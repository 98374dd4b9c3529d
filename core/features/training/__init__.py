"""Training: what it hands to the trunk."""

from core.features.feature import Command, Feature

CODE = "core.features.training.train_command:app"
FEATURE = Feature(
    name="training",
    summary="Training of evaluators: multilingual text encoders, CLIP with generated positives.",
    commands=(Command("train", CODE, "Train your own evaluator (mcs, pr-mcs, pac-s, pac-s++).", place=210),),
)
