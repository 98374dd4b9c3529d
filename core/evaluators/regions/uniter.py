"""UNITER's network over transformers' BERT layers, its architecture read off the publisher's tensors."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import NotAvailable
from core.evaluators.weights.checkpoints import State, read_state

if TYPE_CHECKING:
    from torch import Tensor

HEAD_WIDTH = 64
POSITION_WIDTH = 7  # x1, y1, x2, y2, w, h, w·h, each as a share of the image
_OLD_NAMES = {"gamma": "weight", "beta": "bias"}
_NEEDED = (
    "uniter.embeddings.word_embeddings.weight",
    "uniter.embeddings.position_embeddings.weight",
    "uniter.img_embeddings.img_linear.weight",
    "uniter.img_embeddings.pos_linear.weight",
    "uniter.encoder.layer.0.intermediate.dense.weight",
    "uniter.pooler.dense.weight",
    "rank_output.weight",
)


def load_uniter(path: Path) -> Any:
    """Return the ranking network of a checkpoint, in evaluation mode, float32, on the CPU.

    The network maps ``words`` int64 [n, t], ``regions`` float32 [n, r, d], ``positions`` float32 [n, r, 7] and
    ``present`` float32 [n, t + r] (1 where there is a word or a region) to rank scores, float32 [n].

    Raises:
        NotAvailable: if the file cannot be read or holds another network.
    """
    state = {_new_name(name): value for name, value in read_state(path).items()}
    missing = [name for name in _NEEDED if name not in state]
    if missing:
        raise NotAvailable(f"{path} holds no UMIC: it lacks the tensor {missing[0]!r}; give the publisher's umic.pt")
    network = _network(_configuration(state), state["uniter.img_embeddings.img_linear.weight"].shape[1])
    report = network.load_state_dict(state, strict=False)
    lost = [name for name in report.missing_keys if not name.startswith("itm_output")]
    if lost:
        raise NotAvailable(f"{path} is not a whole UMIC: it lacks the tensor {lost[0]!r}; fetch it again")
    return network.eval()


def region_width(network: Any) -> int:
    """Length of the features of regions that a ranking network takes."""
    found: int = network.uniter.img_embeddings.img_linear.in_features
    return found


def _new_name(name: str) -> str:
    stem, _, last = name.rpartition(".")
    return f"{stem}.{_OLD_NAMES.get(last, last)}" if stem else name


def _configuration(state: State) -> Any:
    from transformers import BertConfig

    words, width = state["uniter.embeddings.word_embeddings.weight"].shape
    layers = {name.split(".")[3] for name in state if name.startswith("uniter.encoder.layer.")}
    configuration = BertConfig(
        vocab_size=words,
        hidden_size=width,
        num_hidden_layers=len(layers),
        num_attention_heads=max(1, width // HEAD_WIDTH),
        intermediate_size=state["uniter.encoder.layer.0.intermediate.dense.weight"].shape[0],
        max_position_embeddings=state["uniter.embeddings.position_embeddings.weight"].shape[0],
        hidden_act="gelu",
        layer_norm_eps=1e-12,
    )
    configuration._attn_implementation = "eager"
    return configuration


def _network(configuration: Any, region_width: int) -> Any:
    import torch
    from torch import nn
    from transformers.models.bert.modeling_bert import BertEmbeddings, BertEncoder, BertPooler

    width, eps = configuration.hidden_size, configuration.layer_norm_eps

    class ImageEmbeddings(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.img_linear = nn.Linear(region_width, width)
            self.img_layer_norm = nn.LayerNorm(width, eps=eps)
            self.pos_linear = nn.Linear(POSITION_WIDTH, width)
            self.pos_layer_norm = nn.LayerNorm(width, eps=eps)
            self.LayerNorm = nn.LayerNorm(width, eps=eps)

        def forward(self, regions: "Tensor", positions: "Tensor", kind: "Tensor") -> "Tensor":
            seen = self.img_layer_norm(self.img_linear(regions)) + self.pos_layer_norm(self.pos_linear(positions))
            embedded: Tensor = self.LayerNorm(seen + kind)
            return embedded

    class Uniter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embeddings = BertEmbeddings(configuration)
            self.img_embeddings = ImageEmbeddings()
            self.encoder = BertEncoder(configuration)
            self.pooler = BertPooler(configuration)

    class Ranker(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.uniter = Uniter()
            self.rank_output = nn.Linear(width, 1)

        def forward(self, words: "Tensor", regions: "Tensor", positions: "Tensor", present: "Tensor") -> "Tensor":
            uniter = self.uniter
            kind = uniter.embeddings.token_type_embeddings(torch.ones_like(regions[:, :, 0], dtype=torch.long))
            both = [uniter.embeddings(input_ids=words), uniter.img_embeddings(regions, positions, kind)]
            hidden = torch.cat(both, dim=1)
            absent = (1.0 - present)[:, None, None, :] * -10_000.0
            hidden = uniter.encoder(hidden, attention_mask=absent.to(hidden.dtype)).last_hidden_state
            ranks: Tensor = self.rank_output(uniter.pooler(hidden)).squeeze(-1)
            return ranks

    return Ranker()
