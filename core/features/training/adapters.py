"""What of a CLIP is trained, by names of its publishers: its last projections, or adapters of every attention.

The library peft takes its adapter of an attention out of the weight after each step by a subtraction, so that the
frozen weight drifts by rounding; torch's own parametrizations leave it alone.
"""

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import InvalidInput
from core.evaluators.towers.clip import ALPHA
from core.writing import write_bytes

if TYPE_CHECKING:
    from torch import Tensor


def choose_trained(network: Any, *, rank: int, seed: int) -> None:
    """Freeze an open_clip CLIP but for what is trained, in place.

    ``rank``: of adapters on the two projections of every attention, W + (α / rank) · B A, which change nothing before
    the first step; 0: the last projections of both towers are trained instead, and there is no adapter. Raises
    InvalidInput for a rank that no weight has.

    Source: paper C, 3.2 (adapters) and 5.7 (PAC-S: the last projections alone); first values: loralib.
    """
    import torch
    from torch.nn.utils.parametrize import register_parametrization

    network.requires_grad_(False)
    if not rank:
        network.visual.proj.requires_grad = network.text_projection.requires_grad = True
        return
    attentions = [each for each in network.modules() if isinstance(each, torch.nn.MultiheadAttention)]
    widest = min(each.embed_dim for each in attentions)
    if not 0 < rank <= widest:
        raise InvalidInput(f"the rank of adapters must lie between 1 and {widest}, the width of a tower, got {rank}")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for each in attentions:
            register_parametrization(each, "in_proj_weight", _adapter(each.in_proj_weight, rank))
            register_parametrization(each.out_proj, "weight", _adapter(each.out_proj.weight, rank))


def _adapter(weight: "Tensor", rank: int) -> Any:
    import torch

    class Adapter(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lora_A = torch.nn.Parameter(torch.empty(rank, weight.shape[1]))
            self.lora_B = torch.nn.Parameter(torch.zeros(weight.shape[0], rank))
            torch.nn.init.kaiming_uniform_(self.lora_A, a=5**0.5)

        def forward(self, original: "Tensor") -> "Tensor":
            return original + (self.lora_B @ self.lora_A) * (ALPHA / rank)

    return Adapter()


def published_state(network: Any) -> "dict[str, Tensor]":
    """Tensors of a CLIP by OpenAI's names, its adapters beside them by loralib's, as PAC-S and PAC-S++ publish them."""
    return {_published(name): value.detach().cpu().clone() for name, value in network.state_dict().items()}


def _published(name: str) -> str:
    name = name.replace("parametrizations.", "").removesuffix(".original")
    return name.replace("in_proj_weight.0.", "in_proj_weight_").replace("out_proj.weight.0.", "out_proj.")


def write_checkpoint(network: Any, path: Path) -> None:
    """Write what ``pac-s@path``, or ``pac-s++@path``, loads; whole or not at all. Raises StoreError if it cannot be
    written."""
    import torch

    data = BytesIO()
    torch.save({"state_dict": published_state(network)}, data)
    write_bytes(path, data.getvalue())
