"""PAC-S and PAC-S++ with their reference-based twins: CLIP tuned with generated positives."""

from core.evaluators.references import ReferencedDualEncoder
from core.evaluators.towers.clip import ClipEvaluator
from core.evaluators.weights.catalogue import described

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
