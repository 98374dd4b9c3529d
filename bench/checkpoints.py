"""Checkpoints of real architectures with random weights, in their publishers' formats: weights change no timing.

``python -m bench.checkpoints FOLDER NAME…`` writes them in its own process, whose memory nobody measures.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

WORDS = ("a", "of", "the", "photo", "two", "three", *"abcdefghijklmnopqrstuvwxyz0123456789.,")


def write(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """Write checkpoints in another process; return the reference of each evaluator, ``name@path``."""
    subprocess.run([sys.executable, "-m", "bench.checkpoints", str(folder), *names], check=True)
    return {name: f"{name}@{folder / _WRITERS[name][1]}" for name in names}


def _clip(path: Path, model: str, *, nested: bool = False) -> None:
    import open_clip

    state = open_clip.create_model(model, load_weights=False).state_dict()
    torch.save({"state_dict": state} if nested else state, path)


def _siglip(folder: Path) -> None:
    import open_clip
    from safetensors.torch import save_file

    folder.mkdir()
    name = "ViT-B-16-SigLIP"
    network: Any = open_clip.create_model(name, load_weights=False, pretrained_text=False)
    save_file(
        {key: value.contiguous() for key, value in network.state_dict().items()}, folder / "open_clip_model.safetensors"
    )
    seen = {"mean": [0.5] * 3, "std": [0.5] * 3, "interpolation": "bicubic", "resize_mode": "squash"}
    _json(folder / "open_clip_config.json", {"model_cfg": open_clip.get_model_config(name), "preprocess_cfg": seen})
    _word_pieces(folder)


def _mcs(folder: Path) -> None:
    from transformers import DistilBertConfig, DistilBertModel

    text = folder / "clip-vit-b-32-multilingual"
    text.mkdir(parents=True)
    _word_pieces(text)
    network: Any = DistilBertModel(DistilBertConfig(vocab_size=119_547))
    network.config.save_pretrained(text)
    torch.save(network.state_dict(), text / "pytorch_model.bin")
    base = "sentence_transformers.models"
    kinds = (("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Dense", "Dense"))
    _json(
        text / "modules.json",
        [
            {"idx": index, "name": str(index), "path": path, "type": f"{base}.{kind}"}
            for index, (path, kind) in enumerate(kinds)
        ],
    )
    _json(text / "sentence_bert_config.json", {"max_seq_length": 128, "do_lower_case": False})
    _json(text / "1_Pooling" / "config.json", {"word_embedding_dimension": 768, "pooling_mode_mean_tokens": True})
    identity = "torch.nn.modules.linear.Identity"
    _json(
        text / "2_Dense" / "config.json",
        {"in_features": 768, "out_features": 512, "bias": False, "activation_function": identity},
    )
    torch.save({"linear.weight": torch.randn(512, 768)}, text / "2_Dense" / "pytorch_model.bin")
    _clip(folder / "openai-clip-vit-b-32", "ViT-B-32-quickgelu")


def _word_pieces(folder: Path) -> None:
    from transformers import BertTokenizer

    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys(WORDS), *(f"##{word}" for word in WORDS)]
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)


def _json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


_WRITERS: dict[str, tuple[Callable[[Path], None], str]] = {
    "clipscore": (lambda path: _clip(path, "ViT-B-32-quickgelu"), "openai.pt"),
    "refclipscore": (lambda path: _clip(path, "ViT-B-32-quickgelu"), "openai-2.pt"),
    "pac-s": (lambda path: _clip(path, "ViT-B-32-quickgelu", nested=True), "pac-s.pth"),
    "pac-s-l14": (lambda path: _clip(path, "ViT-L-14", nested=True), "pac-s-l14.pth"),
    "siglip": (_siglip, "siglip"),
    "mcs": (_mcs, "mcs"),
}
EVALUATORS = tuple(_WRITERS)
"""Six evaluators of five architectures, each with weights of its own."""


if __name__ == "__main__":
    torch.manual_seed(0)
    for each in sys.argv[2:]:
        make, place = _WRITERS[each]
        make(Path(sys.argv[1]) / place)
