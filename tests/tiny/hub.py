"""Tiny folders in the hub's forms: sentence-transformers, transformers' CLIP with processor, open_clip."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

WORDS = ("a", "the", "cat", "dog", "sofa", "on", "mat", "sits", "photo", "of", "red", "un", "eine", "katze", "schnee")
LETTERS = "abcdefghijklmnopqrstuvwxyzäöüñé0123456789.,!?'-"
DIMENSIONS = 24


def write_sentence_transformer(folder: Path, seed: int = 0, *, out: int = DIMENSIONS, module: str = "") -> Path:
    """A folder as ``sentence-transformers/clip-ViT-B-32-multilingual-v1``: DistilBERT, mean pooling, dense layer.

    Args:
        module: instead of the dense layer's class, for a folder that names foreign code.
    """
    from transformers import DistilBertConfig, DistilBertModel

    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(seed)
    words = write_word_pieces(folder)
    config = DistilBertConfig(
        vocab_size=len(words), dim=32, n_heads=2, n_layers=2, hidden_dim=64, max_position_embeddings=64
    )
    network = DistilBertModel(config)
    with torch.no_grad():
        for value in network.parameters():
            value.add_(torch.randn_like(value) * 0.2)
    config.architectures = ["DistilBertModel"]
    config.save_pretrained(folder)
    torch.save(network.state_dict(), folder / "pytorch_model.bin")
    base = "sentence_transformers.models"
    _json(
        folder / "modules.json",
        [
            {"idx": 0, "name": "0", "path": "", "type": f"{base}.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{base}.Pooling"},
            {"idx": 2, "name": "2", "path": "2_Dense", "type": module or f"{base}.Dense"},
        ],
    )
    _json(folder / "sentence_bert_config.json", {"max_seq_length": 48, "do_lower_case": False})
    _json(folder / "config_sentence_transformers.json", {"__version__": {"sentence_transformers": "2.0.0"}})
    _json(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": 32, "pooling_mode_mean_tokens": True})
    _json(
        folder / "2_Dense" / "config.json",
        {
            "in_features": 32,
            "out_features": out,
            "bias": False,
            "activation_function": "torch.nn.modules.linear.Identity",
        },
    )
    torch.save({"linear.weight": torch.randn(out, 32)}, folder / "2_Dense" / "pytorch_model.bin")
    return folder


def write_word_pieces(folder: Path) -> list[str]:
    """A BERT tokenizer of a few words and all letters; returns its words."""
    from transformers import BertTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys([*WORDS, *LETTERS])]
    words += [f"##{letter}" for letter in LETTERS]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=True).save_pretrained(folder)
    return words


def write_hub_clip(
    model: Path, processor: Path, seed: int = 0, *, side: int = 40, safe: bool = True, marker: int | None = 599
) -> Any:
    """PickScore's two folders: transformers' CLIPModel, and the processor that its authors use; returns the model.

    Args:
        marker: number of the closing marker in the model's configuration; 2 in those of 2022.
    """
    from transformers import CLIPConfig, CLIPModel, CLIPTextConfig, CLIPVisionConfig

    torch.manual_seed(seed)
    small: dict[str, Any] = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
    }
    text = CLIPTextConfig(**small, vocab_size=600, bos_token_id=598, eos_token_id=marker, pad_token_id=599)
    vision = CLIPVisionConfig(**small, image_size=side, patch_size=8)
    config = CLIPConfig(
        text_config=text.to_dict(),
        vision_config=vision.to_dict(),
        projection_dim=DIMENSIONS,
        logit_scale_init_value=3.1,
    )
    network = CLIPModel(config).eval()
    with torch.no_grad():
        for value in network.parameters():
            if value.ndim:
                value.add_(torch.randn_like(value) * 0.1)
    network.save_pretrained(model)
    if not safe:
        (model / "model.safetensors").unlink()
        torch.save(network.state_dict(), model / "pytorch_model.bin")
    processor.mkdir(parents=True, exist_ok=True)
    _json(
        processor / "preprocessor_config.json",
        {
            "crop_size": side,
            "do_center_crop": True,
            "do_normalize": True,
            "do_resize": True,
            "feature_extractor_type": "CLIPFeatureExtractor",
            "resample": 3,
            "size": side,
            "image_mean": [0.48145466, 0.4578275, 0.40821073],
            "image_std": [0.26862954, 0.26130258, 0.27577711],
        },
    )
    _write_byte_pairs(processor)
    return network


def _write_byte_pairs(folder: Path) -> None:
    """CLIP's tokenizer with single bytes for words: 256 of them, each with and without the word's end."""
    from open_clip.tokenizer import bytes_to_unicode
    from transformers import CLIPTokenizerFast

    letters = list(bytes_to_unicode().values())
    vocabulary = {word: index for index, word in enumerate([*letters, *(f"{each}</w>" for each in letters)])}
    vocabulary |= {f"<unused{index}>": index for index in range(len(vocabulary), 598)}
    vocabulary |= {"<|startoftext|>": 598, "<|endoftext|>": 599}
    _json(folder / "vocab.json", vocabulary)
    (folder / "merges.txt").write_text("#version: 0.2\n", encoding="utf-8")
    CLIPTokenizerFast(str(folder / "vocab.json"), str(folder / "merges.txt")).save_pretrained(folder)


def open_clip_config(*, text_layers: int = 2, **text: Any) -> dict[str, Any]:
    """A SigLIP-like model of open_clip: a timm tower with pooled attention, a text tower read at its last token.

    Args:
        text: what the text tower has otherwise, by open_clip's names.
    """
    return {
        "embed_dim": 96,
        "init_logit_bias": -10,
        "custom_text": True,
        "vision_cfg": {
            "image_size": 160,
            "timm_model_name": "test_vit3",
            "timm_model_pretrained": False,
            "timm_pool": "map",
            "timm_proj": "none",
        },
        "text_cfg": {
            "context_length": 16,
            "vocab_size": 120,
            "hf_tokenizer_name": "tiny/tokenizer",
            "tokenizer_kwargs": {"clean": "canonicalize"},
            "width": 96,
            "heads": 2,
            "layers": text_layers,
            "no_causal_mask": True,
            "proj_bias": True,
            "pool_type": "last",
            "norm_kwargs": {"eps": 1e-6},
            **text,
        },
    }


def write_open_clip(folder: Path, seed: int = 0, *, text: Mapping[str, Any] | None = None, **extra: Any) -> Any:
    """A folder as ``timm/ViT-B-16-SigLIP``: configuration, safetensors, tokenizer; returns the network.

    Args:
        text: what the text tower has otherwise.
        extra: what the configuration says besides.
    """
    import open_clip
    from open_clip.model import CustomTextCLIP
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    write_word_pieces(folder)
    (folder / "vocab.txt").unlink()
    config = open_clip_config(**text or {})
    torch.manual_seed(seed)
    shape = {name: value for name, value in config.items() if name != "custom_text"}
    network = CustomTextCLIP(**json.loads(json.dumps(shape))).eval()
    with torch.no_grad():
        for value in network.parameters():
            if value.ndim:
                value.add_(torch.randn_like(value) * 0.1)
    save_file(
        {name: value.contiguous() for name, value in network.state_dict().items()},
        folder / "open_clip_model.safetensors",
    )
    preprocessing = {
        "mean": [0.5, 0.5, 0.5],
        "std": [0.5, 0.5, 0.5],
        "interpolation": "bicubic",
        "resize_mode": "squash",
    }
    _json(folder / "open_clip_config.json", {"model_cfg": {**config, **extra}, "preprocess_cfg": preprocessing})
    assert open_clip.__version__
    return network


def _json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
