"""SigLIP and SigLIP 2, and any model of open_clip by name: ``open_clip:ViT-B-32/laion2b_s34b_b79k``."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from core.errors import InvalidInput, NotAvailable, UnknownName, in_one_line
from core.evaluators.base import Evaluator, evaluator, family
from core.evaluators.memory import Runner, Shared
from core.evaluators.towers.clip import side_of
from core.evaluators.towers.encoder import PublishedEncoder, Towers, open_clip_text
from core.evaluators.towers.preprocessing import ClipPrompts, HubPrompts, Preprocessing, Prompts, triple
from core.evaluators.weights.catalogue import Description, PrecisionPlan, WeightFile, Weights, described, spec_fields
from core.evaluators.weights.checkpoints import read_state
from core.evaluators.weights.fetched import Place, register

SOURCE = "https://github.com/mlfoundations/open_clip"


class OpenClipModel(PublishedEncoder):
    """max(cos(v, c), 0) of a model of open_clip; no prefix."""

    any_precision = True

    model: str
    tag: str

    @classmethod
    def open(cls, found: Sequence[Place], device: str) -> Towers:
        (path,) = (each for each in found[0].files() if each.suffix in (".safetensors", ".bin", ".pt", ".pth"))
        precision = cls.entry.precision.on(device)
        return _SHARED.get(cls.model, cls.tag, path, found[0].digest(), device, precision)


@family("open_clip", form="open_clip:MODEL/WEIGHTS, e.g. open_clip:ViT-B-32/laion2b_s34b_b79k")
@cache
def open_clip_model(argument: str) -> type[Evaluator]:
    """Make the evaluator of one model and one set of its weights, both by open_clip's names.
    Raises InvalidInput if the argument has another form.
    Raises UnknownName if open_clip has no such model or no such weights; lists what there is."""
    model, slash, tag = argument.partition("/")
    if not slash or not tag:
        raise InvalidInput(f"give a model and its weights, e.g. open_clip:ViT-B-32/laion2b_s34b_b79k; got {argument!r}")
    entry = _entry(model, tag)
    marked = evaluator(**spec_fields(entry))
    return marked(type("OpenClipModel", (OpenClipModel,), {"entry": entry, "model": model, "tag": tag}))


def _entry(model: str, tag: str) -> Description:
    import open_clip
    from open_clip.pretrained import get_pretrained_cfg

    if model not in open_clip.list_models():
        close = [name for name in open_clip.list_models() if name.lower().startswith(model.lower()[:5])]
        raise UnknownName(f"open_clip has no model {model!r}; close: {', '.join(close[:8]) or 'none'}")
    told = get_pretrained_cfg(model, tag)
    if not told:
        tags = ", ".join(open_clip.list_pretrained_tags_by_model(model))
        raise UnknownName(f"open_clip has no weights {tag!r} for {model}; it has {tags or 'none'}")
    network = open_clip.create_model(model, load_weights=False, pretrained_text=False, device="meta")  # takes no memory
    needs_tokenizer = bool(_text_config(model).get("hf_tokenizer_name"))
    hub, url = str(told.get("hf_hub") or ""), str(told.get("url") or "")
    same: dict[str, Any] = {"id": f"open_clip--{model}--{tag}", "title": f"open_clip {model}, {tag}"}
    same["licence"] = "see its page"
    if hub:
        owner, name, *file = hub.split("/")
        chosen = file[0] if file and file[0] else "open_clip_model.safetensors"
        tokenizer = ("tokenizer.json", "tokenizer_config.json") if needs_tokenizer else ()
        files = tuple(WeightFile(name=each) for each in (chosen, *tokenizer))
        known = Weights(**same, kind="hub", repository=f"{owner}/{name}", files=files)
    else:
        known = Weights(**same, kind="https", url=url, files=(WeightFile(name=url.rsplit("/", 1)[-1]),))
    register(known)
    return Description(
        name=f"open_clip:{model}/{tag}",
        title=f"{model}, {tag}",
        summary=f"Cosine of picture and caption under open_clip's {model} ({tag}), never below 0.",
        family="open_clip",
        backbone=model,
        weights=(known.id,),
        score_range=(0.0, 1.0),
        parameters=sum(each.numel() for each in network.parameters()),
        languages=() if needs_tokenizer else ("en",),  # CLIP's own word pieces are English
        source=SOURCE,
        licence="that of the weights, see their page",
        precision=PrecisionPlan(gpu="bfloat16"),
        settings={"scale": 1.0, "prefix": ""},
    )


def _text_config(model: str) -> dict[str, Any]:
    import open_clip

    return dict((open_clip.get_model_config(model) or {}).get("text_cfg", {}))


class _OpenClipFolder(PublishedEncoder):
    """max(cos(v, c), 0) of a folder in the hub's form: ``open_clip_config.json``, weights, tokenizer."""

    any_precision = True

    @classmethod
    def open(cls, found: Sequence[Place], device: str) -> Towers:
        place = found[0]
        precision = cls.entry.precision.on(device)
        return _SHARED.get(f"local-dir:{place.path}", None, None, place.digest(), device, precision)


@described("siglip")
class SigLip(_OpenClipFolder):
    """SigLIP ViT-B/16, 224 px, as open_clip publishes it.
    Source: Zhai et al. 2023; https://huggingface.co/timm/ViT-B-16-SigLIP."""


@described("siglip2")
class SigLip2(_OpenClipFolder):
    """SigLIP 2 ViT-B/16, 224 px, as open_clip publishes it.
    Source: Tschannen et al. 2025; https://huggingface.co/timm/ViT-B-16-SigLIP2."""


LIBRARIES = ("torch", "open_clip_torch", "timm", "transformers", "tokenizers", "pillow")


def _load(model: str, tag: str | None, file: Path | None, digest: str, device: str, precision: str) -> Towers:
    import open_clip
    from open_clip.pretrained import get_pretrained_cfg

    folder = Path(model.removeprefix("local-dir:")) if file is None else file.parent
    where, low = file or folder, {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}[precision]
    if file is None:
        held = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("open_clip_pytorch_model.bin"))
        if not held:
            raise NotAvailable(f"{folder} holds no weights; fetch open_clip_model.safetensors into it")
        if len(held) > 1 and not any(path.name == "open_clip_model.safetensors" for path in held):
            raise NotAvailable(f"{folder} holds {len(held)} files of weights; keep open_clip_model.safetensors alone")
        given: dict[str, Any] = {"require_pretrained": True}
    else:
        told, held = get_pretrained_cfg(model, tag or ""), [file]
        given = {"pretrained": str(file), "force_quick_gelu": bool(told.get("quick_gelu"))}
        names = ("mean", "std", "interpolation", "resize_mode")
        given["force_preprocess_cfg"] = {key: told[key] for key in names if key in told}
    try:
        read_state(held[0])  # says in one sentence what is wrong with a file; open_clip would not
        network = open_clip.create_model(model, precision=low, weights_only=True, **given).eval()
        prompts = _prompts(model, folder)
    except NotAvailable:
        raise
    except Exception as error:  # open_clip raises as its parts do
        raise NotAvailable(f"{where} cannot be loaded by open_clip: {in_one_line(error)}") from error
    config = network.visual.preprocess_cfg
    mode = str(config["resize_mode"])
    if mode not in ("shortest", "squash"):
        raise NotAvailable(f"{where} wants pictures resized by {config['resize_mode']!r}, which is not done here")
    runner = Runner(where.name, network.to(device), device)
    return Towers(
        image=runner,
        text=runner,
        preprocessing=Preprocessing(
            side_of(network),
            mode=mode,  # type: ignore[arg-type]
            interpolation=config["interpolation"],
            mean=triple(config["mean"]),
            std=triple(config["std"]),
        ),
        prompts=prompts,
        precision=precision,
        digest=digest,
        libraries=LIBRARIES,
        causal=open_clip_text(network),
    )


def _prompts(model: str, folder: Path) -> Prompts:
    import open_clip

    text = _text_config(model)
    if not text.get("hf_tokenizer_name"):
        tokenizer = open_clip.get_tokenizer(model)
        return ClipPrompts(tokenizer.context_length, tokenizer)
    if not (folder / "tokenizer.json").is_file():
        raise NotAvailable(f"{folder} lacks tokenizer.json; fetch it from {text['hf_tokenizer_name']} into that folder")
    local = open_clip.tokenizer.HFTokenizer(
        str(folder), context_length=text.get("context_length", 77), **text.get("tokenizer_kwargs", {})
    )
    return HubPrompts(local.tokenizer, local.context_length, local.clean_fn)


_SHARED = Shared(_load)
