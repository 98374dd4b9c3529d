"""CLIPScore as torchmetrics computes it: ``torchmetrics:clip_score``, for those who report that number."""

import hashlib
import json
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from core.corpora.images import check_rgb
from core.corpora.ordinary_paths import ordinary
from core.corpora.schema import Box, Mask
from core.errors import InvalidInput, NotAvailable
from core.evaluators.base import (
    Availability,
    Evaluator,
    Fingerprint,
    Footprint,
    Sight,
    check_lengths,
    evaluator,
    family,
)
from core.evaluators.memory import MB, weights_mb
from core.evaluators.offline.image_tower import square
from core.evaluators.other_packages import Package, tensors_digest
from core.evaluators.towers.preprocessing import encodable

PACKAGE = Package("torchmetrics", "torchmetrics")
FUNCTION = "clip_score"
USUAL = "openai/clip-vit-large-patch14"  # the model that torchmetrics takes unless told otherwise

UNREAD = (
    "torchmetrics cuts the closing mark off with the words, and CLIP reads its opening mark instead: every caption of "
    "more than {limit} tokens has one and the same score on a picture."
)
_FILES = ("model.safetensors", "pytorch_model.bin")


class TorchmetricsClipScore(Evaluator):
    """max(100 · cos(v, c), 0), computed by ``torchmetrics.multimodal.CLIPScore``.
    torchmetrics keeps the mean of all that it was given, which says nothing of a pair: each pair is given alone here.
    It is handed the model and its processor, as its constructor allows, so that nothing is fetched and no code of a
    repository is run. A caption that is too long is cut as torchmetrics does it: its closing mark is lost, and all such
    captions score alike. Source: https://lightning.ai/docs/torchmetrics/stable/multimodal/clip_score.html"""

    model: ClassVar[str]

    def __init__(self, metric: Any, network: Any, processor: Any, device: str) -> None:
        self._metric, self._network, self._processor, self._device = metric, network, processor, device
        self._limit = int(network.config.text_config.max_position_embeddings)

    @classmethod
    def availability(cls) -> Availability:
        found = PACKAGE.availability()
        if found.ready and _folder(cls.model) is None:
            return Availability(False, f"the files of {cls.model} are not on this machine", f"hf download {cls.model}")
        return found

    @classmethod
    def needs_mb(cls, device: str) -> float:
        return _size_mb(cls.model)

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        cls.check_available()
        folder: Any = _folder(cls.model)  # it is here
        from torchmetrics import multimodal
        from transformers import CLIPModel, CLIPProcessor

        try:
            network: Any = CLIPModel.from_pretrained(folder, local_files_only=True)
            processor: Any = CLIPProcessor.from_pretrained(folder, local_files_only=True)
        except Exception as error:  # a damaged folder fails in as many ways as it has files
            raise NotAvailable(f"{cls.model} holds no CLIP that transformers loads ({error!s:.160})") from error
        network = network.to(device).eval()
        metric: Any = multimodal.CLIPScore  # its types name no model but its own, its documents any that answers alike
        return cls(metric(lambda: (_Features(network), processor)), network, processor, device)

    def footprint(self) -> Footprint:
        return Footprint(weights_mb([self._network]), self._device)

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        """Score n pairs, each alone; float64 [n] in [0, 100], NaN for a blank caption."""
        import torch

        check_lengths(images, captions)
        for image in images:
            check_rgb(image)
        scores = np.full(len(images), np.nan)
        with warnings.catch_warnings(), torch.inference_mode():
            warnings.filterwarnings("ignore", message="Encountered caption longer")  # the row says so
            for place, (image, caption) in enumerate(zip(images, captions, strict=True)):
                if caption.strip():
                    self._metric.reset()
                    self._metric.update(torch.tensor(image, device=self._device).permute(2, 0, 1), encodable(caption))
                    scores[place] = float(self._metric.compute())
        return scores

    def crop(self, width: int, height: int) -> Box:
        """The centre square, or all of it where the processor does not cut."""
        cut = getattr(self._processor.image_processor, "do_center_crop", True)
        return square(width, height) if cut else Box(0, 0, width, height)

    def count_tokens(self, caption: str) -> int:
        return len(self._tokens(caption))

    def truncates(self, caption: str) -> bool:
        """Whether torchmetrics cuts the caption, or a literal closing mark ends it."""
        tokens = self._tokens(caption)
        return self._read(tokens) < len(tokens)

    def see(self, image: np.ndarray, caption: str, *, object_mask: Mask | None = None) -> Sight:
        tokens = self._tokens(caption)
        read = self._read(tokens)
        cut = self._processor.tokenizer.decode(tokens[read:-1]).strip() or "…"
        note = "CLIP reads the caption as far as its own closing mark, which the caption holds, and no further."
        note = note if read < self._limit else UNREAD.format(limit=self._limit)
        seen = super().see(image, caption, object_mask=object_mask)
        return replace(seen, truncated=cut, notes=(note,)) if read < len(tokens) else seen

    def _read(self, tokens: Sequence[int]) -> int:
        """How many tokens count: up to the first closing mark, or to the limit."""
        end = self._processor.tokenizer.eos_token_id
        return min(self._limit, 1 + tokens.index(end) if end in tokens else len(tokens))

    def _tokens(self, caption: str) -> list[int]:
        return list(self._processor.tokenizer(encodable(caption))["input_ids"])

    @cached_property
    def fingerprint(self) -> Fingerprint:
        told = json.dumps(self._processor.image_processor.to_dict(), sort_keys=True, default=str)
        preprocessing = f"CLIPProcessor {hashlib.sha256(told.encode()).hexdigest()[:16]}"
        precision = str(next(self._network.parameters()).dtype).removeprefix("torch.")
        weights, versions = tensors_digest([self._network]), PACKAGE.versions(("transformers", "torch"))
        settings = {"model": self.spec.name.partition("/")[2], "tokens": self._limit}
        return Fingerprint(self.spec.name, weights, preprocessing, precision, versions, settings)


class _Features:
    """A CLIP of transformers as torchmetrics asks it: since version 5 the features stand inside an answer."""

    def __init__(self, network: Any) -> None:
        self.network, self.config = network, network.config

    def to(self, device: Any) -> Self:
        self.network.to(device)
        return self

    def get_image_features(self, *given: Any) -> Any:
        return self._tensor(self.network.get_image_features(*given))

    def get_text_features(self, *given: Any) -> Any:
        return self._tensor(self.network.get_text_features(*given))

    @staticmethod
    def _tensor(found: Any) -> Any:
        return getattr(found, "pooler_output", found)


@family("torchmetrics", form=f"torchmetrics:{FUNCTION}, torchmetrics:{FUNCTION}/openai/clip-vit-base-patch32")
@cache
def torchmetrics_model(argument: str) -> type[Evaluator]:
    """Make the evaluator of one model: of the Hugging Face hub, fetched before, or a folder of this machine.
    Raises InvalidInput if it is no metric of pairs, or the model's name is none."""
    function, _, model = argument.partition("/")
    if function != FUNCTION:
        raise InvalidInput(
            f"of torchmetrics, {FUNCTION} alone scores a picture with a caption, got {function!r}; write "
            f"torchmetrics:{FUNCTION} or torchmetrics:{FUNCTION}/MODEL"
        )
    model = model or USUAL
    local = ordinary(Path(model)).is_dir()
    _folder(model)  # a name that cannot be one is refused now
    name = Path(model).absolute().name if local else model
    marked = evaluator(
        name=f"torchmetrics:{FUNCTION}/{name}",
        title=f"torchmetrics CLIPScore, {name}",
        summary=f"max(100 · cos, 0) of picture and caption under {name}, as torchmetrics computes it.",
        family="torchmetrics",
        score_range=(0.0, 100.0),
        memory_mb=round(_size_mb(model)),
        offline=False,
        source="https://lightning.ai/docs/torchmetrics/stable/multimodal/clip_score.html",
        licence="Apache-2.0; that of the weights, see their page",
        languages=("en",) if model.startswith("openai/") else (),
    )
    return marked(type("TorchmetricsClipScore", (TorchmetricsClipScore,), {"model": model}))


def _folder(model: str) -> Path | None:
    """Where the files of a model lie: a folder, else the cache of the Hugging Face hub; None where they are not."""
    if Path(model).is_dir():
        return Path(model)
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = [try_to_load_from_cache(model, name) for name in ("config.json", *_FILES)]
    except HFValidationError as error:
        raise InvalidInput(f"no folder and no model of the Hugging Face hub is named {model!r}: {error}") from error
    paths = [Path(each) for each in found if isinstance(each, str)]
    return paths[0].parent if len(paths) > 1 and paths[0].name == "config.json" else None


def _size_mb(model: str) -> float:
    folder = _folder(model)
    sizes = [(folder / name).stat().st_size for name in _FILES if (folder / name).exists()] if folder else []
    return sizes[0] / MB if sizes else 0.0
