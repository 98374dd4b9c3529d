"""CLIP with OpenAI's names: a checkpoint, low-rank adapters among its tensors, its two towers, and its tokens. Its
architecture is read off the shapes of the tensors; adapters have loralib's names and are added to the weights that they
tune. The towers of a checkpoint stand once in a process, however many evaluators use them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import NotAvailable
from core.evaluators.memory import Runner, Shared
from core.evaluators.towers.encoder import OpenClipText, PublishedEncoder, Towers, open_clip_text
from core.evaluators.towers.preprocessing import CLIP_MEAN, CLIP_STD, ClipPrompts, Preprocessing, Triple
from core.evaluators.weights.catalogue import Description
from core.evaluators.weights.checkpoints import State, read_state
from core.evaluators.weights.fetched import Place

ALPHA = 1.0  # loralib's default strength, which PAC-S++ keeps: the product of the factors is scaled by alpha / rank
_A = "lora_A"


@dataclass(frozen=True, slots=True)
class Merged:
    """A state dict without adapters."""

    state: "State"
    added: int  # how many weights had an adapter added
    left: int  # how many adapters were left aside, see :func:`merge_adapters`
    rank: int  # of the adapters; 0 where there are none


def merge_adapters(state: "State") -> Merged:
    """Add the adapters to their weights: W + (alpha / r) · B A.
    Adapters of attention (``in_proj_weight_lora_A`` …, ``out_proj.lora_A`` …) and of the patch embedding are added.
    Those of the two layers of each MLP are left aside, because the authors' evaluation leaves them aside too: their
    layers mark themselves as merged when the model is built, before the checkpoint is read into them, and from then on
    use the stored weight alone. What is stored there is used as it is.
    Raises NotAvailable if an adapter has no weight, lacks its other half, or has another weight's shape.
    Source: https://github.com/aimagelab/pacscore, ``models/custom_loralib`` and ``models/clip_lora``."""
    plain = {name: value for name, value in state.items() if "lora_" not in name}
    added = left = rank = 0
    for name in [name for name in state if name.endswith(_A)]:
        stem = name[: -len(_A)]
        target = stem.removesuffix("_") if stem.endswith("_") else f"{stem}weight"
        if target not in plain or f"{stem}lora_B" not in state:
            raise NotAvailable(f"adapter {name!r} has no weight {target!r} or no other half: it is for another base")
        weight, down, up = plain[target], state[name], state[f"{stem}lora_B"]
        rank = down.shape[0] // weight.shape[-1] if weight.ndim == 4 else down.shape[0]
        if ".mlp." in name:
            left += 1
            continue
        if rank <= 0 or up.shape[-1] != down.shape[0] or up.shape[0] * down.shape[1] != weight.numel():
            raise NotAvailable(
                f"adapter of {target!r} has factors {tuple(up.shape)} and {tuple(down.shape)}, its weight "
                f"{tuple(weight.shape)}: the adapter is for another base"
            )
        plain[target] = weight.float() + (up.float() @ down.float()).view(weight.shape) * (ALPHA / rank)
        added += 1
    return Merged(plain, added, left, rank)


_NEEDED = (
    *("visual.conv1.weight", "visual.class_embedding", "visual.positional_embedding", "visual.proj"),
    *("positional_embedding", "token_embedding.weight", "ln_final.weight", "text_projection", "logit_scale"),
)
HEAD = 64  # width of an attention head in every CLIP that OpenAI published


def load_clip(path: Path, *, quick_gelu: bool, precision: str = "float32") -> tuple[Any, dict[str, Any]]:
    """Load a CLIP with vision transformer.
    ``path``: a checkpoint with OpenAI's names, plain, under ``state_dict``, as TorchScript, or with adapters.
    ``quick_gelu``: whether it was trained with x·sigmoid(1.702 x), as OpenAI's models were.
    ``precision``: of the weights: ``float32``, ``float16`` or ``bfloat16``; layer norms stay in float32.
    Returns open_clip's CLIP in evaluation mode on the CPU, and what is worth recording of the adapters.
    Raises NotAvailable if the file is no such CLIP; one sentence."""
    import torch
    from open_clip.model import CLIP, convert_weights_to_lp

    merged, dtype = merge_adapters(read_state(path)), getattr(torch, precision)
    config = _architecture(path, merged.state)
    try:
        network = CLIP(**config, quick_gelu=quick_gelu, cast_dtype=None if dtype == torch.float32 else dtype)
        fill(network, merged.state, path)
    except (RuntimeError, AssertionError, ZeroDivisionError) as error:
        why = f"{path} describes no CLIP that can be built ({error}); give the publisher's file"
        raise NotAvailable(why) from error
    if dtype != torch.float32:
        convert_weights_to_lp(network, dtype=dtype)
    facts = {"lora_rank": merged.rank, "lora_added": merged.added, "lora_left": merged.left} if merged.rank else {}
    return network.eval(), facts


def fill(network: Any, state: State, path: Path) -> None:
    """Load tensors into a network, none missing, none left over, all of the right shape.
    Raises NotAvailable naming the first tensor that does not fit."""
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
        why = f"{path} is no CLIP with a vision transformer and OpenAI's names: it has no {lacking[0]!r} but {seen} …"
        raise NotAvailable(why)
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


class ClipEvaluator(PublishedEncoder):
    """An evaluator on one CLIP checkpoint with OpenAI's names; docs/evaluators.md lists its departures."""

    any_precision = True

    @classmethod
    def open(cls, found: Sequence[Place], device: str) -> Towers:
        return clip_towers(found[0], cls.entry, device)


def clip_towers(place: Place, entry: Description, device: str) -> Towers:
    """Return the towers of a checkpoint, loaded if nobody holds them.
    Raises NotAvailable if the file is missing, damaged, or of another architecture."""
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
TOKENIZER = "CLIP byte pairs, 49408 tokens"
END = 49407


def token_ids(prompts: ClipPrompts, texts: Sequence[str]) -> list[list[int]]:
    """Ids of the tokens of each text as the tower reads it: cut, both markers kept, padding left out."""
    rows = prompts.tokens(texts).tolist() if texts else []
    return [row[: row.index(max(row)) + 1] for row in rows]


def encode_tokens(towers: "Towers", texts: Sequence[str]) -> list[tuple[list[int], np.ndarray]]:
    """Ids and embeddings of the tokens of each text: [L] and float32 [L, d], unit length, the closing marker last. They
    are those after the last layer norm and the projection; the closing marker's is the text's own embedding."""
    assert isinstance(towers.prompts, ClipPrompts)
    assert isinstance(towers.causal, OpenClipText)
    ids = token_ids(towers.prompts, texts)
    if not ids:
        return []
    rows = towers.causal.each(towers.text, towers.prompts.tokens(texts))
    return [(each, row[: len(each)].numpy()) for each, row in zip(ids, rows, strict=True)]
