"""The scores of t2v_metrics by their names there: ``t2v_metrics:clip-flant5-xl``, ``t2v_metrics:openai:ViT-L-14``."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np

from core import settings
from core.errors import InvalidInput, NotAvailable, UnknownName
from core.evaluators.base import Availability, Evaluator, Fingerprint, Footprint, check_lengths, evaluator, family
from core.evaluators.memory import weights_mb
from core.evaluators.other_packages import Package, as_files, tensors_digest
from core.evaluators.towers.preprocessing import encodable

PACKAGE = Package("t2v_metrics", "t2v-metrics", programs=("ffmpeg",))
SOURCE = "https://github.com/linzhiqiu/t2v_metrics"
RANGES: Mapping[str, tuple[float, float]] = {"vqascore": (0.0, 1.0), "clipscore": (-1.0, 1.0), "itmscore": (0.0, 1.0)}
"""Kind of score -> native range: the probability of an answer, a cosine, the probability of a match."""


class TextToVisual(Evaluator):
    """A model of t2v_metrics: VQAScore, CLIPScore or ITMScore, as its own ``get_score_model`` makes it.
    Asked for several pictures and captions it scores every picture with every caption: each pair is given alone here,
    the picture as a PNG.
    Source: Lin et al., *Evaluating Text-to-Visual Generation with Image-to-Text Generation*, ECCV 2024."""

    model: ClassVar[str]

    def __init__(self, scorer: Callable[..., Any], weights: str, device: str = "cpu") -> None:
        self._scorer, self._weights, self._device = scorer, weights, device

    @classmethod
    def availability(cls) -> Availability:
        found = PACKAGE.availability()
        return _imported()[1] if found.ready else found

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        """Have the package load its model; it fetches weights that are not in the folder of weights.
        Raises NotAvailable if the package or the model cannot be loaded."""
        cls.check_available()
        folder = settings.weights_dir() / "t2v_metrics"
        try:
            scorer = _imported()[0].get_score_model(model=cls.model, device=device, cache_dir=f"{folder}/")
        except Exception as error:  # each of its models fails in its own way
            raise NotAvailable(f"t2v_metrics cannot load {cls.model}: {error!r:.300}") from error
        return cls(scorer, tensors_digest(_networks(scorer)), device)

    @property
    def fingerprint(self) -> Fingerprint:
        versions, how = PACKAGE.versions(("torch", "transformers", "open_clip_torch")), "of t2v_metrics, from PNG"
        return Fingerprint(self.spec.name, self._weights, how, "its own", versions, {"model": self.model})

    def footprint(self) -> Footprint:
        """What the model takes, counted tensor by tensor: the package does not say before."""
        return Footprint(weights_mb(_networks(self._scorer)), self._device)

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        """Score n pairs, each alone; float64 [n], NaN for a blank caption."""
        check_lengths(images, captions)
        with as_files(images) as (_, paths):
            return np.array(
                [
                    float(self._scorer(images=[str(path)], texts=[encodable(caption)])) if caption.strip() else np.nan
                    for path, caption in zip(paths, captions, strict=True)
                ],
                dtype=np.float64,
            )


@family("t2v_metrics", form="t2v_metrics:MODEL, e.g. t2v_metrics:clip-flant5-xl")
@cache
def t2v_model(argument: str) -> type[Evaluator]:
    """Make the evaluator of one model by its name in t2v_metrics. Raises InvalidInput if no model is named, or it is
    asked over the network; UnknownName if the package is here and has no such model."""
    if not argument:
        raise InvalidInput("give a model of t2v_metrics, e.g. t2v_metrics:clip-flant5-xl")
    if argument.startswith(("gpt-", "gemini-")):
        raise InvalidInput(
            f"t2v_metrics asks {argument} over the network and scores 0 where no answer came; use the evaluator judge, "
            "which keeps such pairs without a score"
        )
    kind = _kind(argument)
    marked = evaluator(
        name=f"t2v_metrics:{argument}",
        title=f"t2v_metrics, {argument}",
        summary=f"The score of t2v_metrics' {argument}{f' ({kind})' if kind else ''}, as that package computes it.",
        family="t2v_metrics",
        score_range=RANGES.get(kind, (-1.0, 1.0)),
        memory_mb=0,  # the package does not say before it loads
        offline=False,
        source=SOURCE,
        licence="Apache-2.0; that of the weights, see their page",
    )
    return marked(type("TextToVisual", (TextToVisual,), {"model": argument}))


def _kind(model: str) -> str:
    """Which score a model gives; empty where the package is not here to say so."""
    if not PACKAGE.availability().ready:
        return ""
    package, available = _imported()
    if not available.ready:
        return ""
    models = {kind: getattr(package, f"list_all_{kind}_models")() for kind in RANGES}
    found = next((kind for kind, names in models.items() if model in names), None)
    if found is None:
        close = [name for names in models.values() for name in names if name.lower().startswith(model.lower()[:5])]
        raise UnknownName(f"t2v_metrics has no model {model!r}; close: {', '.join(close[:8]) or 'none'}")
    return found


@cache
def _imported() -> tuple[Any, Availability]:
    """The package, and whether it could be imported: it pins many packages, which others may have displaced."""
    try:
        return importlib.import_module(PACKAGE.module), Availability(True)
    except Exception as error:  # it imports dozens of packages, each with errors of its own
        why = f"t2v_metrics cannot be imported here: {type(error).__name__}: {error!s:.200}"
        return None, Availability(False, why, f"{PACKAGE.command} in its own environment, then import its scores")


def _networks(scorer: Any) -> list[Any]:
    """Modules of a loaded model, by the names of what holds them: the package keeps them in a plain object."""
    import torch

    held = vars(scorer.model) if hasattr(scorer, "model") else {}
    return [value for _, value in sorted(held.items()) if isinstance(value, torch.nn.Module)]
