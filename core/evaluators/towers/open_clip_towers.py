"""Towers of any model that open_clip builds, from a folder or from a file, never from the network."""

from pathlib import Path
from typing import Any

from core.errors import NotAvailable, in_one_line
from core.evaluators.memory import Shared
from core.evaluators.towers.causal import open_clip_text
from core.evaluators.towers.clip import side_of
from core.evaluators.towers.encoder import Towers
from core.evaluators.towers.preprocessing import ClipPrompts, HubPrompts, Preprocessing, Prompts
from core.evaluators.weights.checkpoints import read_state
from core.evaluators.weights.device import Runner

LIBRARIES = ("torch", "open_clip_torch", "timm", "transformers", "tokenizers", "pillow")
CONFIG = "open_clip_config.json"
_MODES = {"shortest": "shortest", "squash": "squash"}


def folder_towers(folder: Path, digest: str, device: str, precision: str) -> Towers:
    """Load a folder in the hub's form: ``open_clip_config.json``, weights, tokenizer.
    Raises NotAvailable if something is missing, damaged, of a newer version or of another architecture."""
    return _SHARED.get(f"local-dir:{folder}", None, None, digest, device, precision)


def named_towers(model: str, tag: str, file: Path, digest: str, device: str, precision: str) -> Towers:
    """Load a file of weights into the architecture that open_clip has under a name.
    ``tag``: of the pretrained weights: says which activation and which preprocessing belong to them.
    Raises NotAvailable as :func:`folder_towers`."""
    return _SHARED.get(model, tag, file, digest, device, precision)


def _load(model: str, tag: str | None, file: Path | None, digest: str, device: str, precision: str) -> Towers:
    where = file or Path(model.removeprefix("local-dir:"))
    try:
        network, prompts = _open(model, tag, file, precision)
    except NotAvailable:
        raise
    except Exception as error:  # open_clip raises as its parts do
        raise NotAvailable(f"{where} cannot be loaded by open_clip: {in_one_line(error)}") from error
    config = network.visual.preprocess_cfg
    mode = _MODES.get(str(config["resize_mode"]))
    if mode is None:
        raise NotAvailable(f"{where} wants pictures resized by {config['resize_mode']!r}, which is not done here")
    runner = Runner(where.name, network.to(device), device)
    return Towers(
        image=runner,
        text=runner,
        preprocessing=Preprocessing(
            side_of(network),
            mode=mode,  # type: ignore[arg-type]
            interpolation=config["interpolation"],
            mean=_triple(config["mean"]),
            std=_triple(config["std"]),
        ),
        prompts=prompts,
        precision=precision,
        digest=digest,
        libraries=LIBRARIES,
        causal=open_clip_text(network),
    )


def _open(model: str, tag: str | None, file: Path | None, precision: str) -> tuple[Any, Prompts]:
    import open_clip
    from open_clip.pretrained import get_pretrained_cfg

    low = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}[precision]
    if file is None:
        _check_folder(Path(model.removeprefix("local-dir:")))
        network = open_clip.create_model(model, precision=low, require_pretrained=True, weights_only=True)
        return network.eval(), _prompts(model, Path(model.removeprefix("local-dir:")))
    read_state(file)  # says in one sentence what is wrong with a file; open_clip would not
    told = get_pretrained_cfg(model, tag or "")
    config = {key: told[key] for key in ("mean", "std", "interpolation", "resize_mode") if key in told}
    network = open_clip.create_model(
        model,
        pretrained=str(file),
        precision=low,
        force_quick_gelu=bool(told.get("quick_gelu")),
        force_preprocess_cfg=config,
        weights_only=True,
    )
    return network.eval(), _prompts(model, file.parent)


def _check_folder(folder: Path) -> None:
    """Say in one sentence what is wrong with the weights of a folder."""
    found = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("open_clip_pytorch_model.bin"))
    if not found:
        raise NotAvailable(f"{folder} holds no weights; fetch open_clip_model.safetensors into it")
    if len(found) > 1 and not any(path.name == "open_clip_model.safetensors" for path in found):
        raise NotAvailable(f"{folder} holds {len(found)} files of weights; keep open_clip_model.safetensors alone")
    read_state(found[0])


def _prompts(model: str, folder: Path) -> Prompts:
    import open_clip

    config = open_clip.get_model_config(model) or {}
    text = config.get("text_cfg", {})
    if not text.get("hf_tokenizer_name"):
        tokenizer = open_clip.get_tokenizer(model)
        return ClipPrompts(tokenizer.context_length, tokenizer)
    if not (folder / "tokenizer.json").is_file():
        raise NotAvailable(
            f"{folder} has no tokenizer.json; fetch it from {text['hf_tokenizer_name']} into that folder"
        )
    local = open_clip.tokenizer.HFTokenizer(
        str(folder), context_length=text.get("context_length", 77), **text.get("tokenizer_kwargs", {})
    )
    return HubPrompts(local.tokenizer, local.context_length, local.clean_fn)


def _triple(values: Any) -> tuple[float, float, float]:
    first, second, third = (float(each) for each in values)
    return first, second, third


_SHARED = Shared(_load)
