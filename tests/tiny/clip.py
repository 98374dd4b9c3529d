"""Tiny CLIPs on disk: OpenAI's names, PAC-S's file, PAC-S++'s adapters, a TorchScript archive."""

from pathlib import Path

import torch

WIDTH, PATCH, SIDE, DIMENSIONS, LAYERS = 64, 16, 48, 24, 2
VOCABULARY, CONTEXT = 49408, 77
RANK = 4


def clip_state(seed: int = 0, *, side: int = SIDE) -> dict[str, torch.Tensor]:
    """Tensors of a CLIP with vision transformer, by OpenAI's names, drawn so that embeddings differ well."""
    rng = torch.Generator().manual_seed(seed)

    def draw(*shape: int, scale: float = 0.2) -> torch.Tensor:
        return torch.randn(*shape, generator=rng) * scale

    state = {
        "positional_embedding": draw(CONTEXT, WIDTH),
        "text_projection": draw(WIDTH, DIMENSIONS),
        "logit_scale": torch.tensor(4.6),
        "visual.class_embedding": draw(WIDTH),
        "visual.positional_embedding": draw((side // PATCH) ** 2 + 1, WIDTH),
        "visual.proj": draw(WIDTH, DIMENSIONS),
        "visual.conv1.weight": draw(WIDTH, 3, PATCH, PATCH),
        "token_embedding.weight": draw(VOCABULARY, WIDTH),
    }
    for name in ("visual.ln_pre", "visual.ln_post", "ln_final"):
        state |= {f"{name}.weight": 1 + draw(WIDTH), f"{name}.bias": draw(WIDTH)}
    for tower in ("visual.transformer", "transformer"):
        for layer in range(LAYERS):
            state |= _block(f"{tower}.resblocks.{layer}", draw)
    return state


def _block(name: str, draw) -> dict[str, torch.Tensor]:  # type: ignore[no-untyped-def]
    return {
        f"{name}.attn.in_proj_weight": draw(3 * WIDTH, WIDTH),
        f"{name}.attn.in_proj_bias": draw(3 * WIDTH),
        f"{name}.attn.out_proj.weight": draw(WIDTH, WIDTH),
        f"{name}.attn.out_proj.bias": draw(WIDTH),
        f"{name}.ln_1.weight": 1 + draw(WIDTH),
        f"{name}.ln_1.bias": draw(WIDTH),
        f"{name}.mlp.c_fc.weight": draw(4 * WIDTH, WIDTH),
        f"{name}.mlp.c_fc.bias": draw(4 * WIDTH),
        f"{name}.mlp.c_proj.weight": draw(WIDTH, 4 * WIDTH),
        f"{name}.mlp.c_proj.bias": draw(WIDTH),
        f"{name}.ln_2.weight": 1 + draw(WIDTH),
        f"{name}.ln_2.bias": draw(WIDTH),
    }


def adapters(seed: int = 1) -> dict[str, torch.Tensor]:
    """Adapters of every layer that PAC-S++ tunes, by loralib's names."""
    rng = torch.Generator().manual_seed(seed)

    def pair(stem: str, out: int, into: int) -> dict[str, torch.Tensor]:
        return {
            f"{stem}lora_A": torch.randn(RANK * (PATCH if "conv1" in stem else 1), into, generator=rng) * 0.3,
            f"{stem}lora_B": torch.randn(out, RANK * (PATCH if "conv1" in stem else 1), generator=rng) * 0.3,
        }

    found = pair("visual.conv1.", WIDTH * PATCH, 3 * PATCH)
    for tower in ("visual.transformer", "transformer"):
        for layer in range(LAYERS):
            block = f"{tower}.resblocks.{layer}"
            found |= pair(f"{block}.attn.in_proj_weight_", 3 * WIDTH, WIDTH)
            found |= pair(f"{block}.attn.out_proj.", WIDTH, WIDTH)
            found |= pair(f"{block}.mlp.c_fc.", 4 * WIDTH, WIDTH)
            found |= pair(f"{block}.mlp.c_proj.", WIDTH, 4 * WIDTH)
    return found


def write_openai(path: Path, seed: int = 0, **options: int) -> Path:
    """A plain state dict with OpenAI's names."""
    torch.save(clip_state(seed, **options), path)
    return path


def write_pac(path: Path, seed: int = 0, *, lora: bool = False) -> Path:
    """PAC-S's file: ``{"state_dict": …}``; with ``lora``, PAC-S++'s adapters beside the weights."""
    state = clip_state(seed) | (adapters(seed + 1) if lora else {})
    torch.save({"state_dict": state, "epoch": 3}, path)
    return path


def write_torchscript(path: Path, seed: int = 0) -> Path:
    """A TorchScript archive whose state dict has OpenAI's names and its three numbers, in float16 as published."""
    import warnings

    state = {name: value.half() for name, value in clip_state(seed).items()}
    state |= {
        "input_resolution": torch.tensor(SIDE),
        "context_length": torch.tensor(CONTEXT),
        "vocab_size": torch.tensor(VOCABULARY),
    }
    root = torch.nn.Module()
    for name, value in state.items():
        module = root
        *folders, last = name.split(".")
        for folder in folders:
            if not hasattr(module, folder):
                module.add_module(folder, torch.nn.Module())
            module = getattr(module, folder)
        module.register_buffer(last, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.script(root), str(path))
    return path
