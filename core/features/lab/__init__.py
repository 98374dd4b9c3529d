"""Probe lab: what it hands to the trunk."""

from core.features.feature import Feature, Page, Part

FEATURE = Feature(
    name="lab",
    summary="What every probe does to a picture that a reader brings.",
    pages=(
        Page(
            file="pages/probe_lab.py",
            title="Probe lab",
            icon=":material/science:",
            section="Explore",
            place=20,
            parts=(
                Part("lab", name="Probe lab", reason="it scores a picture that a reader brings, which is of no run"),
            ),
        ),
    ),
)
