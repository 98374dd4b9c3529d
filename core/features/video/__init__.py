"""Video: what it hands to the trunk."""

from core.features.feature import Command, Feature, Part, View

TOLD = (
    "a run has images; Try a picture, Video, scores a video that a reader picks, the commands score and suite those of "
    "a folder"
)
PARTS = (Part("edits", name="Videos", reason=TOLD),)
CODE = "core.features.video.video_command:app"
FEATURE = Feature(
    name="video",
    summary="Edits of the frames of a video.",
    views=(View("video", "Video", "pages.views.video_view:draw", entry="try_a_picture", place=20, parts=PARTS),),
    commands=(Command("video", CODE, "Videos: document frequencies, what a folder holds.", place=220),),
)
