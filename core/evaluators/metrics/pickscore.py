"""PickScore: CLIP ViT-H/14 tuned on people's choices between generated pictures."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import NotAvailable, first_line
from core.evaluators.memory import Runner
from core.evaluators.towers.encoder import CausalText, PublishedEncoder, Towers, first_place
from core.evaluators.towers.preprocessing import CLIP_MEAN, CLIP_STD, HubPrompts, Preprocessing, triple
from core.evaluators.weights.catalogue import described
from core.evaluators.weights.fetched import Place

if TYPE_CHECKING:
    from torch import Tensor

_BICUBIC, _BILINEAR = 3, 2  # Pillow's numbers, as the processor's file stores them


class _HubClipTowers(Towers):
    """Pictures through the image tower of transformers' CLIPModel."""

    def embed_pixels(self, pixels: "Tensor") -> "Tensor":
        return _pooled(self.image.network.get_image_features(pixel_values=pixels))


class _HubClipText(CausalText):
    """transformers' text tower, which takes any number of columns."""

    def __init__(self, network: Any) -> None:
        self._network = network
        marker = network.config.text_config.eos_token_id
        self._marker = None if marker == 2 else marker  # of older configurations: read at the largest id

    def places(self, tokens: "Tensor") -> "Tensor":
        return first_place(tokens, self._marker)

    def embed(self, tokens: "Tensor") -> "Tensor":
        return _pooled(self._network.get_text_features(input_ids=tokens))


@described("pickscore")
class PickScore(PublishedEncoder):
    """exp(logit_scale) · cos(v, c), negative where the cosine is.
    Pictures are read as the authors' processor reads them: short side to 224 px, bicubic as Pillow does it, the centre
    square (an odd pixel goes to the right and bottom).
    Source: Kirstain et al. 2023; https://github.com/yuvalkirstain/PickScore."""

    @classmethod
    def open(cls, found: Sequence[Place], device: str) -> Towers:
        model, processor = found
        digest = f"{model.digest()}+{processor.digest()}"
        network, tokenizer = _load(model.path, processor.path)
        runner = Runner(cls.spec.name, network.to(device), device)
        return _HubClipTowers(
            image=runner,
            text=runner,
            preprocessing=read_processor(processor.path / "preprocessor_config.json"),
            prompts=HubPrompts(tokenizer, network.config.text_config.max_position_embeddings),
            precision="float32",
            digest=digest,
            libraries=("torch", "transformers", "tokenizers", "pillow"),
            scale=float(network.logit_scale.detach().double().exp()),
            facts={"logit_scale": float(network.logit_scale.detach())},
            causal=_HubClipText(network),
        )

    def combine(self, image_embeddings: "Tensor", caption_embeddings: "Tensor") -> np.ndarray:
        """Return exp(logit_scale) · cos row by row, float64 [n]; NaN where a caption is blank."""
        cosines = (image_embeddings.double() * caption_embeddings.double()).sum(dim=-1).numpy()
        assert self._towers.scale is not None
        return np.asarray(self._towers.scale * cosines)


def read_processor(path: Path) -> Preprocessing:
    """Read the preprocessing of a CLIP processor's ``preprocessor_config.json``.
    Raises NotAvailable if the file is damaged or asks for something that is not done here."""
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
        size, crop = _number(config["size"], "shortest_edge"), _number(config["crop_size"], "height")
        resample = int(config.get("resample", _BICUBIC))
        mean, std = triple(config.get("image_mean", CLIP_MEAN)), triple(config.get("image_std", CLIP_STD))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NotAvailable(f"{path} is no processor's configuration ({error!r}); fetch it again") from error
    if size != crop or resample not in (_BICUBIC, _BILINEAR):
        raise NotAvailable(f"{path} asks for size {size}, crop {crop}, resample {resample}; only equal sizes are done")
    kernel = "bicubic" if resample == _BICUBIC else "bilinear"
    return Preprocessing(size, centre="floor", interpolation=kernel, mean=mean, std=std)  # type: ignore[arg-type]


def _number(value: Any, key: str) -> int:
    return int(value[key] if isinstance(value, dict) else value)


def _pooled(output: Any) -> "Tensor":
    found: Tensor = output if hasattr(output, "detach") else output.pooler_output
    return found


def _load(model: Path, processor: Path) -> tuple[Any, Any]:
    import transformers
    from transformers import AutoTokenizer, CLIPModel

    transformers.logging.disable_progress_bar()
    try:
        loaded: Any = CLIPModel.from_pretrained(
            str(model), local_files_only=True, use_safetensors=True, output_loading_info=True
        )
        network, report = loaded
        tokenizer = AutoTokenizer.from_pretrained(str(processor), local_files_only=True, trust_remote_code=False)
    except Exception as error:  # a folder may be wrong in any way that its libraries raise
        raise NotAvailable(f"{model} is no CLIP folder that can be loaded: {first_line(error)}") from error
    if report["missing_keys"] or report["mismatched_keys"]:
        lacking = sorted(map(str, (*report["missing_keys"], *report["mismatched_keys"])))
        raise NotAvailable(f"{model} is for another architecture: {len(lacking)} tensors missing, first {lacking[0]!r}")
    marker = network.config.text_config.eos_token_id
    if not isinstance(marker, int):
        raise NotAvailable(f"{model}/config.json names no closing marker (eos_token_id {marker!r}); fetch it again")
    return network.eval(), tokenizer
