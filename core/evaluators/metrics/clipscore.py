"""CLIPScore, PAC-S, PAC-S++ and their reference-based twins, and EMScore of videos: cosines under CLIP."""

from core.evaluators.references import Referenced, ReferencedDualEncoder
from core.evaluators.towers.clip import ClipEvaluator
from core.evaluators.video.video_evaluator import ClipVideo
from core.evaluators.weights.catalogue import described


@described("clipscore")
class ClipScore(ClipEvaluator):
    """2.5 · max(cos(v, c), 0), c the embedding of "A photo depicts " and the caption.
    Where it departs from its authors' code stands in docs/evaluators.md.
    Source: Hessel et al. 2021, section 3; https://github.com/jmhessel/clipscore."""


@described("refclipscore")
class RefClipScore(ReferencedDualEncoder, ClipEvaluator):
    """Harmonic mean of CLIPScore and max(max over references of cos(c, r), 0), both behind the same prefix.
    Source: Hessel et al. 2021, section 3; https://github.com/jmhessel/clipscore."""


# 2 · max(cos(v, c), 0), c the embedding of "A photo depicts " and the caption; with references R, the harmonic mean
# of it and max(max over R of cos(c, r), 0). Float32 everywhere, as the authors' code calls model.float(). Where a score
# departs from that code stands in docs/evaluators.md.
# Sources: Sarto et al. 2023 (PAC-S), 2025 (PAC-S++); https://github.com/aimagelab/pacscore.


@described("pac-s")
class PacS(ClipEvaluator):
    """PAC-S on CLIP ViT-B/32."""


@described("refpac-s")
class RefPacS(ReferencedDualEncoder, ClipEvaluator):
    """RefPAC-S on CLIP ViT-B/32."""


@described("pac-s-l14")
class PacSL14(ClipEvaluator):
    """PAC-S on OpenCLIP ViT-L/14, whose pictures are normalised by 0.5."""


@described("refpac-s-l14")
class RefPacSL14(ReferencedDualEncoder, ClipEvaluator):
    """RefPAC-S on OpenCLIP ViT-L/14."""


@described("pac-s++")
class PacSPlus(ClipEvaluator):
    """PAC-S++ on CLIP ViT-B/32; its adapters are added to the weights at load."""


@described("refpac-s++")
class RefPacSPlus(ReferencedDualEncoder, ClipEvaluator):
    """RefPAC-S++ on CLIP ViT-B/32."""


@described("pac-s++-l14")
class PacSPlusL14(ClipEvaluator):
    """PAC-S++ on CLIP ViT-L/14."""


@described("refpac-s++-l14")
class RefPacSPlusL14(ReferencedDualEncoder, ClipEvaluator):
    """RefPAC-S++ on CLIP ViT-L/14."""


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
