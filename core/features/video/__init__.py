"""Video: what it hands to the trunk."""

from core.features.feature import Command, Feature, Page, Part

FEATURE = Feature(
    name="video",
    summary="Edits of the frames of a video.",
    pages=(
        Page(
            file="pages/video.py",
            title="Video",
            icon=":material/movie:",
            section="Measure",
            place=130,
            parts=(
                Part(
                    "edits",
                    name="Videos",
                    reason=(
                        "a run holds images; the page Video scores a video that a reader picks, the commands score "
                        "and suite those of a folder"
                    ),
                ),
            ),
        ),
    ),
    commands=(
        Command(
            "video",
            "core.features.video.video_command:app",
            "Videos: document frequencies, folders, edits of frames.",
            place=220,
        ),
    ),
)
