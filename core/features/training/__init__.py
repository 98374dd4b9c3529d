"""Training: what it hands to the trunk."""

from core.features.feature import Command, Feature

FEATURE = Feature(
    name="training",
    summary="Training of multilingual text encoders.",
    commands=(
        Command(
            "train",
            "core.features.training.train_command:app",
            "Train your own evaluator (mcs, pr-mcs).",
            place=210,
        ),
    ),
)
