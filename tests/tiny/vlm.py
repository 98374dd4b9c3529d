"""Tiny vision-language models as transformers stores them: LLaVA and Qwen2.5-VL, with tokenizer and processor."""

from pathlib import Path
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

SIDE, PATCH, WIDTH = 28, 14, 32
WORDS = (
    "Yes", "yes", "No", "no", "score", "Caption", "figure", "show", "image", "the", "USER", "ASSISTANT", "answer",
    "please", "Please", "Does", "or", "this", "rating", "Score",
)  # fmt: skip


def tokenizer(specials: tuple[str, ...]) -> Any:
    """A byte-level tokenizer: some whole words, every digit and byte on its own."""
    from transformers import PreTrainedTokenizerFast

    bytes_known = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges: list[tuple[str, str]] = []
    pieces = list(bytes_known)
    for word in WORDS:
        made = word[0]
        for letter in word[1:]:
            if (made, letter) not in merges:
                merges.append((made, letter))
            made += letter
            if made not in pieces:
                pieces.append(made)
    vocabulary = {piece: number for number, piece in enumerate([*specials, *pieces])}
    made = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    split = pre_tokenizers.Split(Regex(r"\w+|\W"), "isolated")
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    made.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        bos_token=specials[1],
        eos_token=specials[2],
        pad_token=specials[0],
        additional_special_tokens=list(specials[3:]),
    )


def marking_tokenizer(specials: tuple[str, ...]) -> Any:
    """A tokenizer that opens a text with a mark of a word's start, as Llama's does: a digit alone takes two tokens."""
    from transformers import PreTrainedTokenizerFast

    letters = [chr(each) for each in range(33, 127)]
    pieces = [*specials, *(f"<0x{each:02X}>" for each in range(256)), "\u2581", *letters]
    made = Tokenizer(models.BPE({piece: at for at, piece in enumerate(pieces)}, [], byte_fallback=True))
    made.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    made.decoder = decoders.Sequence(
        [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        bos_token=specials[1],
        eos_token=specials[2],
        pad_token=specials[0],
        additional_special_tokens=list(specials[3:]),
    )


def write_llava(folder: Path, *, seed: int = 0, marks: bool = False) -> Any:
    """Write a LLaVA-1.5 folder; return its network.

    Args:
        marks: use the tokenizer that opens texts with a mark.
    """
    from transformers import (
        CLIPImageProcessor,
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )

    words = (marking_tokenizer if marks else tokenizer)(("<pad>", "<s>", "</s>", "<image>"))
    words.chat_template = "USER: <image>\n{{ messages[0]['content'][1]['text'] }} ASSISTANT:"
    vision = CLIPVisionConfig(
        hidden_size=WIDTH,
        intermediate_size=48,
        num_hidden_layers=3,
        num_attention_heads=2,
        image_size=SIDE,
        patch_size=PATCH,
    )
    text = LlamaConfig(
        vocab_size=len(words),
        hidden_size=WIDTH,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=2048,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=0,
    )
    config = LlavaConfig(
        vision_config=vision,
        text_config=text,
        image_token_id=words.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-2,
        vision_feature_select_strategy="default",
    )
    processor = LlavaProcessor(
        image_processor=CLIPImageProcessor(size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE}),
        tokenizer=words,
        patch_size=PATCH,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=words.chat_template,
    )
    return _written(LlavaForConditionalGeneration(config), processor, folder, seed)


def write_qwen(folder: Path, *, seed: int = 0) -> Any:
    """Write a Qwen2.5-VL folder; return its network."""
    from transformers import (
        Qwen2_5_VLConfig,
        Qwen2_5_VLForConditionalGeneration,
        Qwen2_5_VLProcessor,
        Qwen2VLImageProcessor,
        Qwen2VLVideoProcessor,
    )

    marks = ("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>", "<|im_start|>", "<|im_end|>")
    words = tokenizer(("<|endoftext|>", "<s>", "</s>", *marks))
    words.chat_template = (
        "<|im_start|>user\n<|vision_start|><|image_pad|><|vision_end|>{{ messages[0]['content'][1]['text'] }}"
        "<|im_end|>\n<|im_start|>assistant\n"
    )
    number = {mark: words.convert_tokens_to_ids(mark) for mark in marks}
    config = Qwen2_5_VLConfig(
        text_config={
            "vocab_size": len(words),
            "hidden_size": WIDTH,
            "intermediate_size": 48,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "max_position_embeddings": 2048,
            "rope_parameters": {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 10000.0},
            "bos_token_id": 1,
            "eos_token_id": 2,
            "pad_token_id": 0,
        },
        vision_config={
            "hidden_size": WIDTH,
            "intermediate_size": 48,
            "depth": 2,
            "num_heads": 2,
            "out_hidden_size": WIDTH,
            "patch_size": PATCH,
            "spatial_merge_size": 2,
            "window_size": 56,
            "fullatt_block_indexes": [1],
        },
        image_token_id=number["<|image_pad|>"],
        video_token_id=number["<|video_pad|>"],
        vision_start_token_id=number["<|vision_start|>"],
        vision_end_token_id=number["<|vision_end|>"],
    )
    pixels = {"shortest_edge": 4 * PATCH * PATCH, "longest_edge": 64 * PATCH * PATCH}
    processor = Qwen2_5_VLProcessor(
        image_processor=Qwen2VLImageProcessor(patch_size=PATCH, merge_size=2, size=pixels),
        video_processor=Qwen2VLVideoProcessor(patch_size=PATCH, merge_size=2),
        tokenizer=words,
        chat_template=words.chat_template,
    )
    return _written(Qwen2_5_VLForConditionalGeneration(config), processor, folder, seed)


def _written(network: Any, processor: Any, folder: Path, seed: int) -> Any:
    rng = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in network.named_parameters():
            drawn = torch.randn(value.shape, generator=rng) * (0.25 if value.ndim > 1 else 0.1)
            value.copy_(drawn + 1.0 if "norm" in name and name.endswith("weight") else drawn)
    network.eval().save_pretrained(folder)
    processor.save_pretrained(folder)
    return network
