"""Low-rank adapters inside a CLIP state dict, with loralib's names, added to the weights that they tune."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.errors import NotAvailable

if TYPE_CHECKING:
    from torch import Tensor

    from core.evaluators.weights.checkpoints import State

ALPHA = 1.0
"""loralib's default strength, which PAC-S++ keeps: the product of the factors is scaled by alpha / rank."""
_A = "lora_A"


@dataclass(frozen=True, slots=True)
class Merged:
    """A state dict without adapters.

    Args:
        added: how many weights had an adapter added.
        left: how many adapters were left aside, see :func:`merge`.
        rank: of the adapters; 0 where there are none.
    """

    state: "State"
    added: int
    left: int
    rank: int


def merge(state: "State") -> Merged:
    """Add the adapters to their weights: W + (alpha / r) · B A.

    Adapters of attention (``in_proj_weight_lora_A`` …, ``out_proj.lora_A`` …) and of the patch embedding are added.
    Those of the two layers of each MLP are left aside, because the authors' evaluation leaves them aside too: their
    layers mark themselves as merged when the model is built, before the checkpoint is read into them, and from then
    on use the stored weight alone. What is stored there is used as it is.

    Args:
        state: tensors by OpenAI's names; adapters beside them.

    Raises:
        NotAvailable: if an adapter has no weight, lacks its other half, or has another weight's shape.

    Source: https://github.com/aimagelab/pacscore, ``models/custom_loralib`` and ``models/clip_lora``.
    """
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
        plain[target] = _add(target, weight, down, up, rank)
        added += 1
    return Merged(plain, added, left, rank)


def _add(name: str, weight: "Tensor", down: "Tensor", up: "Tensor", rank: int) -> "Tensor":
    fits = rank > 0 and up.shape[-1] == down.shape[0] and up.shape[0] * down.shape[1] == weight.numel()
    if not fits:
        raise NotAvailable(
            f"adapter of {name!r} has factors {tuple(up.shape)} and {tuple(down.shape)}, its weight "
            f"{tuple(weight.shape)}: the adapter is for another base"
        )
    return weight.float() + (up.float() @ down.float()).view(weight.shape) * (ALPHA / rank)
