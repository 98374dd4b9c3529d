"""Geometry: what it hands to the trunk."""

from core.features.feature import Feature, Part, View

PARTS = (Part("scatter", ("S-geometry",)),)
FEATURE = Feature(
    name="geometry",
    summary="What a text encoder's sense of good and bad has to do with its scores.",
    views=(View("geometry", "Geometry", "pages.views.geometry_view:draw", entry="calibrate", place=20, parts=PARTS),),
)
