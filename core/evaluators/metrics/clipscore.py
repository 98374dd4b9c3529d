"""CLIPScore, PAC-S, PAC-S++ and their reference-based twins, and EMScore of videos: cosines under CLIP."""

from core.evaluators.references import Referenced, ReferencedDualEncoder
from core.evaluators.towers.clip import ClipEvaluator
from core.evaluators.video.video_evaluator import ClipVideo
from core.evaluators.weights.catalogue import described, likewise


class ReferencedClip(ReferencedDualEncoder, ClipEvaluator):
    """Harmonic mean of a score of CLIP and max(max over references of cos(c, r), 0), both behind the same prefix.
    Source: Hessel et al. 2021, section 3; https://github.com/jmhessel/clipscore."""


@described("clipscore")
class ClipScore(ClipEvaluator):
    """2.5 · max(cos(v, c), 0), c the embedding of "A photo depicts " and the caption.
    Where it departs from its authors' code stands in docs/evaluators.md.
    Source: Hessel et al. 2021, section 3; https://github.com/jmhessel/clipscore."""


CLIPSCORE_WITH_REFERENCES = likewise(ReferencedClip, "refclipscore")


@described("pac-s")
class PacS(ClipEvaluator):
    """2 · max(cos(v, c), 0), c the embedding of "A photo depicts " and the caption, on CLIP ViT-B/32. Float32
    everywhere, as the authors' code calls model.float(). Where a score departs from that code stands in
    docs/evaluators.md.
    Sources: Sarto et al. 2023 (PAC-S), 2025 (PAC-S++); https://github.com/aimagelab/pacscore."""


PAC_S = (
    likewise(ReferencedClip, "refpac-s"),
    likewise(PacS, "pac-s-l14"),  # whose pictures are normalised by 0.5
    likewise(ReferencedClip, "refpac-s-l14"),
    likewise(PacS, "pac-s++"),  # whose adapters are added to the weights at load
    likewise(ReferencedClip, "refpac-s++"),
    likewise(PacS, "pac-s++-l14"),
    likewise(ReferencedClip, "refpac-s++-l14"),
)


@described("emscore")
class EmScore(ClipVideo):
    """EMScore without references: the formula of :mod:`core.evaluators.video.formula`, without a prefix before the
    caption and without a scale; PAC-S++ of a video is the same on PAC-S++'s encoders.
    Sources: Shi et al. 2022 (EMScore), https://github.com/ShiYaya/emscore; Sarto et al. 2025 (PAC-S++), section 3.4, of
    which no code for videos is published."""


@described("refemscore")
class RefEmScore(ClipVideo, Referenced):
    """The mean of EMScore of the video and of the closest references."""


PAC_S_OF_VIDEOS = (likewise(EmScore, "pac-s++-video"), likewise(RefEmScore, "refpac-s++-video"))
