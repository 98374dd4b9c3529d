"""EMScore and PAC-S++ of videos: frames and tokens matched under CLIP, with and without references."""

from core.evaluators.references import Referenced
from core.evaluators.video.video_evaluator import ClipVideo
from core.evaluators.weights.catalogue import described

# The formula is that of core.evaluators.video.formula, without a prefix before the caption and without a scale.
# Sources: Shi et al. 2022 (EMScore), https://github.com/ShiYaya/emscore; Sarto et al. 2025 (PAC-S++), section 3.4, of
# which no code for videos is published.


@described("emscore")
class EmScore(ClipVideo):
    """EMScore without references."""


@described("refemscore")
class RefEmScore(ClipVideo, Referenced):
    """The mean of EMScore of the video and of the closest references."""


@described("pac-s++-video")
class PacSPlusVideo(ClipVideo):
    """PAC-S++ of a video: EMScore's formula on PAC-S++'s encoders."""


@described("refpac-s++-video")
class RefPacSPlusVideo(ClipVideo, Referenced):
    """RefPAC-S++ of a video."""
