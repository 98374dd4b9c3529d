"""CLIP from a state dict with OpenAI's names, its architecture read off the shapes of the tensors."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core.errors import NotAvailable
from core.evaluators.towers.lora import merge
from core.evaluators.weights.checkpoints import State, read_state

_NEEDED = (
    "visual.conv1.weight",
    "visual.class_embedding",
    "visual.positional_embedding",
    "visual.proj",
    "positional_embedding",
    "token_embedding.weight",
    "ln_final.weight",
    "text_projection",
    "logit_scale",
)
HEAD = 64
"""Width of an attention head in every CLIP that OpenAI published."""


def load_clip(path: Path, *, quick_gelu: bool, precision: str = "float32") -> tuple[Any, dict[str, Any]]:
    """Load a CLIP with vision transformer.

    Args:
        path: a checkpoint with OpenAI's names, plain, under ``state_dict``, as TorchScript, or with adapters.
        quick_gelu: whether it was trained with x·sigmoid(1.702 x), as OpenAI's models were.
        precision: of the weights: ``float32``, ``float16`` or ``bfloat16``; layer norms stay in float32.

    Returns:
        open_clip's CLIP in evaluation mode on the CPU, and what is worth recording of the adapters.

    Raises:
        NotAvailable: if the file is no such CLIP; one sentence.
    """
    merged = merge(read_state(path))
    network = build_clip(path, merged.state, quick_gelu=quick_gelu, precision=precision)
    facts = {"lora_rank": merged.rank, "lora_added": merged.added, "lora_left": merged.left} if merged.rank else {}
    return network, facts


def build_clip(path: Path, state: State, *, quick_gelu: bool, precision: str) -> Any:
    """Build the network that a state dict describes and fill it, every tensor in its place."""
    import torch
    from open_clip.model import CLIP, convert_weights_to_lp

    dtype = getattr(torch, precision)
    config = _architecture(path, state)
    try:
        network = CLIP(**config, quick_gelu=quick_gelu, cast_dtype=None if dtype == torch.float32 else dtype)
        fill(network, state, path)
    except (RuntimeError, AssertionError, ZeroDivisionError) as error:
        raise NotAvailable(
            f"{path} describes no CLIP that can be built ({error}); give the publisher's file"
        ) from error
    if dtype != torch.float32:
        convert_weights_to_lp(network, dtype=dtype)
    return network.eval()


def fill(network: Any, state: State, path: Path) -> None:
    """Load tensors into a network, none missing, none left over, all of the right shape.

    Raises:
        NotAvailable: naming the first tensor that does not fit.
    """
    wanted = network.state_dict()
    constants = {"attn_mask", "text.attn_mask", "input_resolution", "context_length", "vocab_size"}
    missing = [name for name in wanted if name not in state and name not in constants]
    extra = [name for name in state if name not in wanted and name not in constants]
    misfits = [
        f"{name} is {tuple(state[name].shape)} for {tuple(value.shape)}"
        for name, value in wanted.items()
        if name in state and state[name].shape != value.shape
    ]
    problems = [f"{len(missing)} tensors missing, first {missing[0]!r}"] if missing else []
    problems += [f"{len(extra)} that it has no place for, first {extra[0]!r}"] if extra else []
    problems += misfits[:1]
    if problems:
        raise NotAvailable(f"{path} is for another architecture: {'; '.join(problems)}")
    network.load_state_dict({name: value for name, value in state.items() if name in wanted}, strict=False)


def _architecture(path: Path, state: State) -> Mapping[str, Any]:
    lacking = [name for name in _NEEDED if name not in state]
    if lacking:
        seen = ", ".join(repr(name) for name in list(state)[:2])
        raise NotAvailable(
            f"{path} is no CLIP with a vision transformer and OpenAI's names: it has no {lacking[0]!r} but {seen} …"
        )
    width, _, patch, _ = state["visual.conv1.weight"].shape
    places = state["visual.positional_embedding"].shape[0] - 1
    text_width = state["ln_final.weight"].shape[0]
    vocabulary, _ = state["token_embedding.weight"].shape
    return {
        "embed_dim": state["text_projection"].shape[1],
        "vision_cfg": {
            "layers": _layers(state, r"^visual\.transformer\.resblocks\.(\d+)\."),
            "width": width,
            "patch_size": patch,
            "image_size": patch * round(places**0.5),
            "head_width": HEAD,
        },
        "text_cfg": {
            "context_length": state["positional_embedding"].shape[0],
            "vocab_size": vocabulary,
            "width": text_width,
            "heads": text_width // HEAD,
            "layers": _layers(state, r"^transformer\.resblocks\.(\d+)\."),
        },
    }


def _layers(state: State, pattern: str) -> int:
    found: Sequence[str] = [match.group(1) for name in state if (match := re.match(pattern, name))]
    return len(set(found))
