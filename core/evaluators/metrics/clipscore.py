"""CLIPScore and RefCLIPScore: the cosine of picture and caption under OpenAI's CLIP ViT-B/32."""

from core.evaluators.references import ReferencedDualEncoder
from core.evaluators.towers.clip import ClipEvaluator
from core.evaluators.weights.catalogue import described


@described("clipscore")
class ClipScore(ClipEvaluator):
    """2.5 · max(cos(v, c), 0), c the embedding of "A photo depicts " and the caption.

    Where it departs from its authors' code stands in docs/evaluators.md.

    Source: Hessel et al. 2021, section 3; https://github.com/jmhessel/clipscore.
    """


@described("refclipscore")
class RefClipScore(ReferencedDualEncoder, ClipEvaluator):
    """Harmonic mean of CLIPScore and max(max over references of cos(c, r), 0), both behind the same prefix.

    Source: Hessel et al. 2021, section 3; https://github.com/jmhessel/clipscore.
    """
