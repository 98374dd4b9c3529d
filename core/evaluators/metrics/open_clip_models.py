"""Any model of open_clip by name: ``open_clip:ViT-B-32/laion2b_s34b_b79k``."""

from collections.abc import Sequence
from functools import cache

from core.errors import InvalidInput, UnknownName
from core.evaluators.base import Evaluator, evaluator, family
from core.evaluators.towers.encoder import PublishedEncoder, Towers
from core.evaluators.towers.open_clip_towers import named_towers
from core.evaluators.weights.catalogue import Description, PrecisionPlan, WeightFile, Weights, spec_fields
from core.evaluators.weights.fetched import Place, register

SOURCE = "https://github.com/mlfoundations/open_clip"


class OpenClipModel(PublishedEncoder):
    """max(cos(v, c), 0) of a model of open_clip; no prefix."""

    any_precision = True

    model: str
    tag: str

    @classmethod
    def open(cls, found: Sequence[Place], device: str) -> Towers:
        """Load the weights into the architecture of that name."""
        (path,) = (each for each in found[0].files() if each.suffix in (".safetensors", ".bin", ".pt", ".pth"))
        precision = cls.entry.precision.on(device)
        return named_towers(cls.model, cls.tag, path, found[0].digest(), device, precision)


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
    known = _weights(model, tag, told, needs_tokenizer=_needs_tokenizer(model))
    register(known)
    return Description(
        name=f"open_clip:{model}/{tag}",
        title=f"{model}, {tag}",
        summary=f"Cosine of picture and caption under open_clip's {model} ({tag}), never below 0.",
        family="open_clip",
        backbone=model,
        weights=(known.id,),
        score_range=(0.0, 1.0),
        parameters=_parameters(model),
        languages=() if _needs_tokenizer(model) else ("en",),  # CLIP's own word pieces are English
        source=SOURCE,
        licence="that of the weights, see their page",
        precision=PrecisionPlan(gpu="bfloat16"),
        settings={"scale": 1.0, "prefix": ""},
    )


def _weights(model: str, tag: str, told: dict[str, object], *, needs_tokenizer: bool) -> Weights:
    identifier = f"open_clip--{model}--{tag}"
    title = f"open_clip {model}, {tag}"
    hub, url = str(told.get("hf_hub") or ""), str(told.get("url") or "")
    tokenizer = ("tokenizer.json", "tokenizer_config.json") if needs_tokenizer else ()
    licence = "see its page"
    if hub:
        owner, name, *file = hub.split("/")
        chosen = file[0] if file and file[0] else "open_clip_model.safetensors"
        files = tuple(WeightFile(name=each) for each in (chosen, *tokenizer))
        return Weights(
            id=identifier, title=title, kind="hub", repository=f"{owner}/{name}", licence=licence, files=files
        )
    files = (WeightFile(name=url.rsplit("/", 1)[-1]),)
    return Weights(id=identifier, title=title, kind="https", url=url, licence=licence, files=files)


def _needs_tokenizer(model: str) -> bool:
    import open_clip

    return bool((open_clip.get_model_config(model) or {}).get("text_cfg", {}).get("hf_tokenizer_name"))


def _parameters(model: str) -> int:
    """Number of parameters, counted on a network without memory."""
    import open_clip

    network = open_clip.create_model(model, load_weights=False, pretrained_text=False, device="meta")
    return sum(each.numel() for each in network.parameters())
