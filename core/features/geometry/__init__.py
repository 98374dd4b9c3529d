"""Geometry: what it hands to the trunk."""

from core.features.feature import Feature, Page, Part

FEATURE = Feature(
    name="geometry",
    summary="What a text encoder's sense of good and bad has to do with its scores.",
    pages=(
        Page(
            file="pages/geometry.py",
            title="Geometry",
            icon=":material/hub:",
            section="Measure",
            place=110,
            parts=(Part("scatter", ("S-geometry",)),),
        ),
    ),
)
