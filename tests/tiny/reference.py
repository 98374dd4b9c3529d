"""CLIP in plain numpy, written from the papers' formulas: the reference that loaders and towers are held to."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from PIL import Image
from torchvision.transforms import CenterCrop, Compose, InterpolationMode, Normalize, Resize, ToTensor

HEAD = 64
EPSILON = 1e-5
State = Mapping[str, torch.Tensor]
MEAN, STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)


def picture(image: np.ndarray, side: int, mean: Sequence[float] = MEAN, std: Sequence[float] = STD) -> np.ndarray:
    """What CLIP's authors do to a picture, by torchvision: float64 [3, side, side]."""
    steps = Compose([Resize(side, InterpolationMode.BICUBIC), CenterCrop(side), ToTensor(), Normalize(mean, std)])
    return np.asarray(steps(Image.fromarray(image)), dtype=np.float64)


def image_embedding(state: State, pixels: np.ndarray, *, quick: bool = True) -> np.ndarray:
    """Vision transformer: patches, class token, blocks, projection; unit length."""
    kernel = _array(state["visual.conv1.weight"])
    width, _, size, _ = kernel.shape
    count = pixels.shape[1] // size
    patches = [
        kernel.reshape(width, -1) @ pixels[:, y * size : (y + 1) * size, x * size : (x + 1) * size].reshape(-1)
        for y in range(count)
        for x in range(count)
    ]
    x = np.vstack([_array(state["visual.class_embedding"]), *patches]) + _array(state["visual.positional_embedding"])
    x = _norm(state, "visual.ln_pre", x)
    x = _blocks(state, "visual.transformer", x, causal=False, quick=quick)
    return _unit(_norm(state, "visual.ln_post", x[:1])[0] @ _array(state["visual.proj"]))


def text_embedding(state: State, tokens: np.ndarray, *, quick: bool = True) -> np.ndarray:
    """Causal transformer, read at the closing marker (the largest id); unit length."""
    return token_embeddings(state, tokens, quick=quick)[-1]


def token_embeddings(state: State, tokens: np.ndarray, *, quick: bool = True) -> np.ndarray:
    """The same, read at every token from the opening to the closing marker: [L, d], each of unit length."""
    x = _array(state["token_embedding.weight"])[tokens] + _array(state["positional_embedding"])
    x = _norm(state, "ln_final", _blocks(state, "transformer", x, causal=True, quick=quick))
    projected = x[: int(tokens.argmax()) + 1] @ _array(state["text_projection"])
    return np.array([_unit(each) for each in projected])


def merged(state: State) -> dict[str, torch.Tensor]:
    """Adapters added as the authors' evaluation does: attention and patches, the MLP's left aside."""
    plain = {name: value for name, value in state.items() if "lora" not in name}
    for name in state:
        if name.endswith("lora_A") and ".mlp." not in name:
            target = name[: -len("lora_A")].rstrip("_")
            target = f"{target}weight" if target.endswith(".") else target
            rank = state[name].shape[0] // (plain[target].shape[-1] if plain[target].ndim == 4 else 1)
            change = state[name.replace("lora_A", "lora_B")].double() @ state[name].double() / rank
            plain[target] = plain[target].double() + change.reshape(plain[target].shape)
    return plain


def harmonic(first: float, second: float) -> float:
    """2ab / (a + b)."""
    return 2 * first * second / (first + second) if first + second else 0.0


def _blocks(state: State, tower: str, x: np.ndarray, *, causal: bool, quick: bool) -> np.ndarray:
    layer = 0
    while f"{tower}.resblocks.{layer}.ln_1.weight" in state:
        name = f"{tower}.resblocks.{layer}"
        x = x + _attention(state, f"{name}.attn", _norm(state, f"{name}.ln_1", x), causal=causal)
        hidden = _linear(state, f"{name}.mlp.c_fc", _norm(state, f"{name}.ln_2", x))
        x = x + _linear(state, f"{name}.mlp.c_proj", _gelu(hidden, quick=quick))
        layer += 1
    return x


def _attention(state: State, name: str, x: np.ndarray, *, causal: bool) -> np.ndarray:
    qkv = x @ _array(state[f"{name}.in_proj_weight"]).T + _array(state[f"{name}.in_proj_bias"])
    width = x.shape[1]
    heads = []
    for start in range(0, width, HEAD):
        q, k, v = (qkv[:, part * width + start : part * width + start + HEAD] for part in range(3))
        scores = q @ k.T / HEAD**0.5
        if causal:
            scores[np.triu_indices(len(x), 1)] = -np.inf
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        heads.append(scores / scores.sum(axis=1, keepdims=True) @ v)
    return _linear(state, f"{name}.out_proj", np.hstack(heads))


def _linear(state: State, name: str, x: np.ndarray) -> np.ndarray:
    return x @ _array(state[f"{name}.weight"]).T + _array(state[f"{name}.bias"])


def _norm(state: State, name: str, x: np.ndarray) -> np.ndarray:
    centred = x - x.mean(axis=-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + EPSILON)
    return scaled * _array(state[f"{name}.weight"]) + _array(state[f"{name}.bias"])


def _gelu(x: np.ndarray, *, quick: bool) -> np.ndarray:
    if quick:
        return x / (1 + np.exp(-1.702 * x))
    from scipy.special import erf

    return x * 0.5 * (1 + erf(x / 2**0.5))


def _array(tensor: torch.Tensor) -> np.ndarray:
    return tensor.double().numpy()


def _unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x)
