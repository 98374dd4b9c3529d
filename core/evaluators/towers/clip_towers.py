"""Both towers of one CLIP checkpoint, one copy a process however many evaluators use it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.evaluators.offline.sharing import Shared
from core.evaluators.towers.causal import open_clip_text
from core.evaluators.towers.clip import load_clip
from core.evaluators.towers.encoder import PublishedEncoder, Towers
from core.evaluators.towers.pictures import CLIP_MEAN, CLIP_STD, Preprocessing, Triple
from core.evaluators.towers.prompts import ClipPrompts
from core.evaluators.weights.catalogue import Description
from core.evaluators.weights.device import Runner
from core.evaluators.weights.fetched import Place


class ClipEvaluator(PublishedEncoder):
    """An evaluator on one CLIP checkpoint with OpenAI's names; docs/evaluators.md lists its departures."""

    any_precision = True

    @classmethod
    def open(cls, found: Sequence[Place], device: str) -> Towers:
        """Load both towers, or share those that another evaluator holds."""
        return clip_towers(found[0], cls.entry, device)


def clip_towers(place: Place, entry: Description, device: str) -> Towers:
    """Return the towers of a checkpoint, loaded if nobody holds them.

    Raises:
        NotAvailable: if the file is missing, damaged, or of another architecture.
    """
    (path,) = place.files()
    mean, std = entry.triple("mean", CLIP_MEAN), entry.triple("std", CLIP_STD)
    quick_gelu = bool(entry.settings.get("quick_gelu", True))
    return _SHARED.get(path, place.digest(), quick_gelu, mean, std, device, entry.precision.on(device))


def _load(path: Path, digest: str, quick_gelu: bool, mean: Triple, std: Triple, device: str, precision: str) -> Towers:
    network, facts = load_clip(path, quick_gelu=quick_gelu, precision=precision)
    runner = Runner(path.name, network.to(device), device)
    return Towers(
        image=runner,
        text=runner,
        preprocessing=Preprocessing(side_of(network), mean=mean, std=std),
        prompts=ClipPrompts(network.context_length),
        precision=precision,
        digest=digest,
        facts=facts,
        causal=open_clip_text(network),
    )


def side_of(network: Any) -> int:
    """Side of the square that an open_clip image tower takes, in pixels."""
    size = network.visual.image_size
    return int(size[0] if isinstance(size, tuple | list) else size)


_SHARED = Shared(_load)
