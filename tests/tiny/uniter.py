"""A tiny UMIC as its publisher writes it: UNITER's names, half precision, and regions as npz and LMDB."""

import json
from io import BytesIO
from pathlib import Path

import lmdb
import msgpack
import numpy as np
import torch

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "cat", "dog", "##s", "A", ".", "bed", "un", "##known")
WIDTH, INNER, LAYERS, REGION = 128, 96, 2, 16


def write_umic(path: Path, *, seed: int = 0, old_names: bool = False, region: int = REGION) -> dict[str, torch.Tensor]:
    """Write ``umic.pt`` for regions of that width; return its tensors in float32, by their newer names."""
    rng = torch.Generator().manual_seed(seed)
    state: dict[str, torch.Tensor] = {}

    def put(name: str, *shape: int, near: float = 0.0) -> None:
        state[name] = (near + 0.3 * torch.randn(*shape, generator=rng)).half().float()

    def linear(name: str, given: int, made: int) -> None:
        put(f"{name}.weight", made, given)
        put(f"{name}.bias", made)

    def norm(name: str) -> None:
        put(f"{name}.weight", WIDTH, near=1.0)
        put(f"{name}.bias", WIDTH)

    for name, rows in (("word_embeddings", len(WORDS)), ("position_embeddings", 70), ("token_type_embeddings", 2)):
        put(f"uniter.embeddings.{name}.weight", rows, WIDTH)
    norm("uniter.embeddings.LayerNorm")
    linear("uniter.img_embeddings.img_linear", region, WIDTH)
    linear("uniter.img_embeddings.pos_linear", 7, WIDTH)
    put("uniter.img_embeddings.mask_embedding.weight", 2, region)
    for name in ("img_layer_norm", "pos_layer_norm", "LayerNorm"):
        norm(f"uniter.img_embeddings.{name}")
    for layer in range(LAYERS):
        stem = f"uniter.encoder.layer.{layer}"
        for name in ("query", "key", "value"):
            linear(f"{stem}.attention.self.{name}", WIDTH, WIDTH)
        linear(f"{stem}.attention.output.dense", WIDTH, WIDTH)
        norm(f"{stem}.attention.output.LayerNorm")
        linear(f"{stem}.intermediate.dense", WIDTH, INNER)
        linear(f"{stem}.output.dense", INNER, WIDTH)
        norm(f"{stem}.output.LayerNorm")
    linear("uniter.pooler.dense", WIDTH, WIDTH)
    linear("itm_output", WIDTH, 2)
    linear("rank_output", WIDTH, 1)
    torch.save({_old(name) if old_names else name: value.half() for name, value in state.items()}, path)
    return state


def _old(name: str) -> str:
    normed = "LayerNorm." in name or "layer_norm." in name
    return name.replace(".weight", ".gamma").replace(".bias", ".beta") if normed else name


def write_words(path: Path) -> None:
    """Write ``vocab.txt``."""
    path.write_text("\n".join(WORDS) + "\n", encoding="utf-8")


def made_regions(seed: int, count: int, sure: int) -> dict[str, np.ndarray]:
    """Arrays of one picture: ``count`` regions, the first ``sure`` of them above the threshold."""
    rng = np.random.default_rng(seed)
    left, top = rng.uniform(0, 0.5, (2, count))
    width, height = rng.uniform(0.1, 0.5, (2, count))
    boxes = np.stack([left, top, left + width, top + height, width, height], axis=1)
    confidence = np.where(np.arange(count) < sure, 0.9, 0.1)
    return {
        "features": rng.normal(size=(count, REGION)).astype(np.float16),
        "norm_bb": boxes.astype(np.float16),
        "conf": confidence.astype(np.float16),
    }


def write_npz(path: Path, regions: dict[str, np.ndarray]) -> None:
    """Write one picture's regions as npz."""
    np.savez(path, **regions)


def write_lmdb(folder: Path, entries: dict[str, dict[str, np.ndarray]], *, compressed: bool) -> None:
    """Write regions as UMIC's archives hold them: msgpack with numpy's arrays, or npz inside."""
    name = "feat_th0.2_max100_min10" + ("_compressed" if compressed else "")
    with lmdb.open(str(folder / name), map_size=1 << 24) as database, database.begin(write=True) as writing:
        for key, regions in entries.items():
            writing.put(key.encode(), _zipped(regions) if compressed else _packed(regions))
        writing.put(b"__keys__", json.dumps(list(entries)).encode())


def _zipped(regions: dict[str, np.ndarray]) -> bytes:
    buffer = BytesIO()
    np.savez_compressed(buffer, **regions)
    return buffer.getvalue()


def _packed(regions: dict[str, np.ndarray]) -> bytes:
    def array(value: np.ndarray) -> dict[bytes, object]:
        return {b"nd": True, b"type": value.dtype.str, b"kind": b"", b"shape": value.shape, b"data": value.tobytes()}

    return bytes(msgpack.packb({name: array(value) for name, value in regions.items()}, use_bin_type=True))
