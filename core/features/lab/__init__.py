"""Probe lab: what it hands to the trunk."""

from core.features.feature import Feature, Part, View

PARTS = (Part("lab", name="Try a picture", reason="it scores a picture that a reader brings, which is of no run"),)
DRAWN = "pages.views.probe_lab.lab_view:draw"
FEATURE = Feature(
    name="lab",
    summary="What every probe does to a picture that a reader brings.",
    views=(View("probe_lab", "Picture", DRAWN, entry="try_a_picture", place=10, parts=PARTS),),
)
