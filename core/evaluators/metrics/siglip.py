"""SigLIP and SigLIP 2: CLIP-like models trained pair by pair, which see the whole picture in a square."""

from collections.abc import Sequence

from core.evaluators.towers.encoder import PublishedEncoder, Towers
from core.evaluators.towers.open_clip_towers import folder_towers
from core.evaluators.weights.catalogue import described
from core.evaluators.weights.fetched import Place


class _OpenClipFolder(PublishedEncoder):
    """max(cos(v, c), 0) of a folder in open_clip's form."""

    any_precision = True

    @classmethod
    def open(cls, found: Sequence[Place], device: str) -> Towers:
        place = found[0]
        return folder_towers(place.path, place.digest(), device, cls.entry.precision.on(device))


@described("siglip")
class SigLip(_OpenClipFolder):
    """SigLIP ViT-B/16, 224 px, as open_clip publishes it.

    Source: Zhai et al. 2023; https://huggingface.co/timm/ViT-B-16-SigLIP.
    """


@described("siglip2")
class SigLip2(_OpenClipFolder):
    """SigLIP 2 ViT-B/16, 224 px, as open_clip publishes it.

    Source: Tschannen et al. 2025; https://huggingface.co/timm/ViT-B-16-SigLIP2.
    """
