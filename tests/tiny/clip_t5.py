"""A tiny CLIP-FlanT5 as its publisher stores it: numbered parts, the projector among T5's tensors, two more folders."""

import json
from pathlib import Path
from typing import Any

import torch

from tests.tiny.vlm import PATCH, SIDE, WIDTH, tokenizer

TEXT = 40


def write_clip_t5(folder: Path, *, seed: int = 0) -> tuple[Any, torch.nn.Sequential, Any]:
    """Write the three folders; return T5, projector and image tower."""
    from tokenizers.processors import TemplateProcessing
    from transformers import CLIPImageProcessor, CLIPVisionConfig, CLIPVisionModel, T5Config, T5ForConditionalGeneration

    words = tokenizer(("<pad>", "<s>", "</s>"))
    words.backend_tokenizer.post_processor = TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 2)])
    words.save_pretrained(folder / "flan-t5-xl-words")
    vision = CLIPVisionModel(
        CLIPVisionConfig(
            hidden_size=WIDTH,
            intermediate_size=48,
            num_hidden_layers=3,
            num_attention_heads=2,
            image_size=SIDE,
            patch_size=PATCH,
        )
    )
    text = T5ForConditionalGeneration(
        T5Config(
            vocab_size=len(words),
            d_model=TEXT,
            d_kv=8,
            d_ff=64,
            num_layers=2,
            num_decoder_layers=2,
            num_heads=4,
            pad_token_id=0,
            eos_token_id=2,
            decoder_start_token_id=0,
            feed_forward_proj="gated-gelu",
            tie_word_embeddings=False,
        )
    )
    text.lm_head.weight = torch.nn.Parameter(torch.empty_like(text.shared.weight))  # Flan-T5's is its own
    projector = torch.nn.Sequential(torch.nn.Linear(WIDTH, TEXT), torch.nn.GELU(), torch.nn.Linear(TEXT, TEXT))
    rng = torch.Generator().manual_seed(seed)
    for network in (text, projector, vision):
        with torch.no_grad():
            for value in network.parameters():
                value.copy_(torch.randn(value.shape, generator=rng) * 0.3)
    tower = folder / "clip-vit-l-14-336-vision"
    vision.eval().save_pretrained(tower)
    CLIPImageProcessor(size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE}).save_pretrained(tower)
    _write_parts(folder / "clip-flant5-xl", text, projector)
    return text.eval(), projector.eval(), vision


def _write_parts(folder: Path, text: Any, projector: torch.nn.Sequential) -> None:
    folder.mkdir()
    facts = {**text.config.to_dict(), "model_type": "clip_t5", "mm_vision_select_layer": -2, "mm_hidden_size": WIDTH}
    facts["tie_word_embeddings"] = False
    del facts["scale_decoder_outputs"]
    (folder / "config.json").write_text(json.dumps(facts))
    state = {**text.state_dict(), "embed_tokens.weight": text.state_dict()["shared.weight"]}
    state |= {f"mm_projector.{name}": value for name, value in projector.state_dict().items()}
    names = sorted(state)
    parts = {"pytorch_model-00001-of-00002.bin": names[::2], "pytorch_model-00002-of-00002.bin": names[1::2]}
    for part, held in parts.items():
        torch.save({name: state[name].clone() for name in held}, folder / part)
    index = {"weight_map": {name: part for part, held in parts.items() for name in held}}
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps(index))
