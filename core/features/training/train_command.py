"""``train``: evaluators made here, whose weights nobody publishes or that read other languages.

A training's curves: the loss of every step, and what it does to what is held out.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pandas as pd
import typer

from core.charts.spec import NEUTRAL, PALETTE, Axis, Figure, Style, colours, marks_of
from core.commands import _outputs
from core.commands._shared import Update, exit_codes, key_values, listed, note, progress, table
from core.seeds import RUN_SEED

if TYPE_CHECKING:
    from core.corpora.schema import Corpus
    from core.features.training.lessons import Sentence
    from core.features.training.train_mcs import FoundBoth
    from core.features.training.train_pac import PacGain
    from core.features.training.trainer import Report, Trained
    from core.features.training.tuning import Gain


LOSS = "loss"
DROPS, FOUND = "held-out captions: drop and ρ, %", "held-out texts that find their English sentence, %"
PAIRED = "held-out pairs that find each other, %"
_MEASURED = {
    "drop": (DROPS, "mean of the edits"),
    "found": (FOUND, "mean of the languages"),
    "paired": (PAIRED, "mean of both ways"),
}
"""What is measured, by the word before its parts' names: its panel, and what the mean over the parts is called."""
_WHOLE, _APART, _RHO = "whole loss", "of what is held out", "Spearman's ρ × 100"


def curves(table: pd.DataFrame) -> Figure:
    """The curves of ``trainer.table``: above the loss a step; below what is held out: the drop of perturbed captions by
    edit, with Spearman's ρ with the untuned scores in percent, dashed, the share of texts found by language, or of
    pairs that find each other; their mean with its 95 % interval, where there is one."""
    series = {str(name): rows.sort_values("step") for name, rows in table.groupby("name")}
    parts = [_line(series["total"], _WHOLE, LOSS)] if "total" in series else []
    parts += [_line(series["loss"], _APART, LOSS)] if "loss" in series else []
    styles = {
        _WHOLE: Style(NEUTRAL, size=0),
        _APART: Style(PALETTE[0], size=6),
        _RHO: Style(NEUTRAL, dash="dash", size=0),
    }
    for word, (panel, mean) in _MEASURED.items():
        measured = {name.removeprefix(f"{word} "): rows for name, rows in series.items() if name.startswith(f"{word} ")}
        parts += [_line(rows, name, panel) for name, rows in measured.items()]
        if f"mean_{word}" in series:
            means = series[f"mean_{word}"]
            bounds = {end: series[end].set_index("step")["value"] for end in ("low", "high") if end in series}
            ends = {end: values.reindex(means["step"]).to_numpy() for end, values in bounds.items()}
            parts.append(_line(means, mean, panel).assign(**ends))
        styles |= {mean: Style(PALETTE[0], width=3, size=6)}
        styles |= {name: Style(colour, size=0) for name, colour in colours(measured).items()}
    if "spearman" in series:
        parts.append(_line(series["spearman"].assign(value=100 * series["spearman"]["value"]), _RHO, DROPS))
    frame = pd.concat(parts, ignore_index=True) if parts else _line(table.iloc[:0], "", "")
    return Figure("training", "Training", "", frame, "", kind="lines", free=True, along=Axis("step"), styles=styles)


def _line(rows: pd.DataFrame, name: str, panel: str) -> pd.DataFrame:
    hover = [f"{name}\nstep {step}: {value:.4g}" for step, value in zip(rows["step"], rows["value"], strict=True)]
    return marks_of(rows.assign(n=np.nan), rows["step"].astype(float), name, panel, ["value"], "n", hover=hover)


EPILOG = exit_codes(ok="trained")

app = typer.Typer(help="Train your own evaluator: MCS, PR-MCS, PAC-S, PAC-S++.", no_args_is_help=True, epilog=EPILOG)

_Root = Annotated[Path | None, typer.Option(help="Folder of the corpus, where it needs one.")]
_Option = Annotated[list[str] | None, typer.Option(help="key=value of the corpus, e.g. split=train2017.")]
_SCHEDULE = {
    "epochs": (int, typer.Option(min=1, help="Passes over everything.")),
    "batch": (int, typer.Option(help="Triplets, texts or pairs in a step, at least 2.")),
    "learning_rate": (float, typer.Option(help="Of AdamW.")),
    "held_out": (float, typer.Option(help="Share of the pictures, or lines, that are only measured.")),
    "checkpoint_every": (int, typer.Option(min=1, help="Steps between two checkpoints.")),
    "seed": (int, typer.Option(help="Seed of everything random.")),
    "device": (str | None, typer.Option(help="cpu, cuda, mps. Default: the best there is.")),
    "resume": (bool, typer.Option("--resume", help="Go on with what a stopped training left.")),
    "overwrite": (bool, typer.Option("--overwrite", help="Start over.")),
}
"""What every training is asked, as :class:`core.features.training.trainer.Schedule` has it."""


def _scheduled(**usual: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of a schedule, after its own, with other defaults; it is told them as ``asked``."""
    usual = {"held_out": 0.1, "checkpoint_every": 500, "seed": RUN_SEED, "resume": False, "overwrite": False, **usual}

    def wrap(command: Callable[..., None]) -> Callable[..., None]:
        own = [each for each in inspect.signature(command).parameters.values() if each.name != "asked"]
        keyword = inspect.Parameter.KEYWORD_ONLY
        more = [
            inspect.Parameter(name, keyword, default=usual.get(name), annotation=Annotated[kind, option])
            for name, (kind, option) in _SCHEDULE.items()
        ]

        @wraps(command)
        def called(**given: Any) -> None:
            from core.evaluators.pool import best_device, check_device

            asked = {name: given.pop(name) for name in _SCHEDULE}
            # what trains is refused before anything is read where it is not here
            asked["device"] = check_device(asked["device"] or best_device())
            command(**given, asked=asked)

        every = [*(each.replace(kind=keyword) for each in own), *more]
        called.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
        called.__annotations__ = {each.name: each.annotation for each in every}
        return called

    return wrap


@app.callback()
def group() -> None:
    """Train your own evaluator: MCS, PR-MCS, PAC-S, PAC-S++."""


@app.command("pr-mcs", epilog=EPILOG, short_help="Tune MCS's text encoder against perturbed captions.")
@_scheduled(epochs=5, batch=64, learning_rate=5e-5)
def pr_mcs(
    asked: dict[str, Any],
    corpus: Annotated[str, typer.Option(help="demo, coco, folder, …: 'corpora' lists them.")] = "coco",
    root: _Root = None,
    option: _Option = None,
    languages: Annotated[
        list[str] | None, typer.Option(help="en, de, fr, es, ja, comma-separated. Default: all that there are.")
    ] = None,
    weights: Annotated[Path | None, typer.Option(help="Folder of MCS's weights. Default: those of 'mcs'.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Gets pr-mcs/ and pr-mcs-training/. Default: where 'pr-mcs' is looked for.",
            callback=_outputs.folder_above,
        ),
    ] = None,
    lambda1: Annotated[float, typer.Option(help="Weight of 1 - cos(image, original).", min=0)] = 0.1,
    lambda2: Annotated[float, typer.Option(help="Weight of max(margin, cos(image, perturbed)).", min=0)] = 0.05,
    lambda3: Annotated[float, typer.Option(help="Weight of max(margin, cos(original, perturbed)).", min=0)] = 0.05,
    margin: Annotated[float, typer.Option(help="Cosine below which a perturbed caption costs no more.")] = 0.1,
    captions: Annotated[
        int | None, typer.Option(min=2, help="Most captions to learn from, drawn by the seed. Default: all.")
    ] = None,
) -> None:
    """Tune MCS's text encoder so that repeated, removed, masked, jumbled and substituted words cost score.

    The image tower stays as it is. A training that was stopped goes on with the same options and --resume.
    """
    from core import settings
    from core.features.training.tuning import ENCODER, TRAINING, LossWeights, Recipe, train_pr_mcs
    from core.writing import check_folder

    recipe = Recipe(**asked, losses=LossWeights(lambda1, lambda2, lambda3, margin))
    found = _corpus(corpus, root, option)
    target = out or settings.weights_dir()
    if out is not None:
        for name in (ENCODER, TRAINING):
            check_folder(out / name)
    with _watched(target / TRAINING, "pictures", "images") as bars:
        trained = train_pr_mcs(
            found, recipe, out=target, weights=weights, languages=listed(languages), most=captions, **bars
        )
    _tell(trained)
    _export(target / TRAINING)


@app.command("mcs", epilog=EPILOG, short_help="Teach a multilingual encoder where CLIP puts English sentences.")
@_scheduled(epochs=5, batch=64, learning_rate=5e-5)
def mcs(
    asked: dict[str, Any],
    student: Annotated[
        Path, typer.Option(help="Folder of the encoder that learns: the hub's format or sentence-transformers'.")
    ],
    out: Annotated[
        Path, typer.Option(help="Gets the encoder and mcs-training/; mcs@OUT scores.", callback=_outputs.folder_above)
    ],
    corpus: Annotated[
        str | None, typer.Option(help="demo, multi30k, folder, …: captions that translate each other, in order.")
    ] = None,
    root: _Root = None,
    option: _Option = None,
    sentences: Annotated[
        Path | None, typer.Option(help="Instead of a corpus: CSV or JSONL, a column a language, en among them.")
    ] = None,
    languages: Annotated[
        list[str] | None, typer.Option(help="Beside English, comma-separated. Default: all that there are.")
    ] = None,
    teacher: Annotated[
        Path | None, typer.Option(help="CLIP checkpoint with OpenAI's names. Default: that of 'clipscore'.")
    ] = None,
) -> None:
    """Teach a multilingual encoder to embed a translation where CLIP's own text tower embeds the English sentence.

    That is how MCS is made. A training that was stopped goes on with the same options and --resume.
    """
    from core.features.training.train_mcs import TEXT, TRAINING, train_mcs
    from core.features.training.trainer import Schedule
    from core.writing import check_folder

    schedule = Schedule(**asked)
    for name in (TEXT, TRAINING):
        check_folder(out / name)
    found, left_out, described = _sentences(corpus, root, option, sentences, listed(languages))
    with _watched(out / TRAINING, "teacher", "sentences") as bars:
        trained = train_mcs(found, schedule, student=student, out=out, described=described, teacher=teacher, **bars)
    _tell_mcs(trained)
    _tell_left_out({**left_out, **trained.left_out})
    _export(out / TRAINING)


@app.command("pac-s", epilog=EPILOG, short_help="Train CLIP's last projections with generated positives.")
@app.command("pac-s++", epilog=EPILOG, short_help="Train adapters of CLIP's attentions with generated positives.")
@_scheduled(epochs=20, batch=256, learning_rate=1e-4)
def pac(
    asked: dict[str, Any],
    ctx: typer.Context,
    positives: Annotated[
        Path,
        typer.Option(
            help="CSV or JSONL with image, caption, generated_image, generated_caption, paths beside it; or its folder."
        ),
    ],
    out: Annotated[
        Path, typer.Option(help="Gets the checkpoint NAME.pth and NAME-training/.", callback=_outputs.folder_above)
    ],
    weights: Annotated[
        Path | None, typer.Option(help="CLIP checkpoint with OpenAI's names. Default: that of 'clipscore'.")
    ] = None,
    visual: Annotated[
        float | None, typer.Option(help="λv, weight of generated pictures. pac-s: 0.05, pac-s++: 0.1.", min=0)
    ] = None,
    textual: Annotated[
        float | None, typer.Option(help="λt, weight of generated captions. pac-s: 0.1, pac-s++: 0.001.", min=0)
    ] = None,
    rank: Annotated[int | None, typer.Option(help="Of the adapters, pac-s++ alone. Default: 4.", min=1)] = None,
    patience: Annotated[int, typer.Option(min=1, help="Steps without a lower held-out loss that end it.")] = 1500,
) -> None:
    """Train a CLIP with real pairs and with generated pictures and captions as further positives.

    pac-s trains the last projections of both towers, pac-s++ low-rank adapters of every attention. A training that was
    stopped goes on with the same options and --resume.
    """
    from dataclasses import replace

    from core.errors import InvalidInput
    from core.features.training.lessons import read_positives
    from core.features.training.train_pac import RECIPES, train_pac
    from core.writing import check_folder

    name = str(ctx.info_name)
    usual = RECIPES[name]
    if rank is not None and not usual.rank:
        raise InvalidInput(f"{name} trains no adapters, got --rank {rank}; leave it out, or train pac-s++")
    recipe = replace(
        usual,
        **asked,
        patience=patience,
        visual=usual.visual if visual is None else visual,
        textual=usual.textual if textual is None else textual,
        rank=usual.rank if rank is None else rank,
    )
    training = check_folder(out / f"{name}-training")
    pairs, left_out = read_positives(positives)
    with _watched(training, "pictures", "images") as bars:
        trained = train_pac(pairs, recipe, name=name, out=out, weights=weights, **bars)
    _tell_pac(trained, name)
    _tell_left_out({**left_out, **trained.left_out})
    _export(training)


def _corpus(name: str, root: Path | None, option: list[str] | None) -> "Corpus":
    from core.corpora.registry import find

    chosen = key_values(option)
    if name == "coco" and "slice" not in chosen:
        chosen["slice"] = "all"  # the audit's usual slice leaves out most captions
    return find(name).load(root, **chosen)


def _sentences(
    corpus: str | None, root: Path | None, option: list[str] | None, file: Path | None, languages: tuple[str, ...]
) -> "tuple[tuple[Sentence, ...], dict[str, int], str]":
    """Sentences with their translations, how many were left out by reason, and where they come from."""
    from core.errors import InvalidInput
    from core.features.training.lessons import of_corpus, of_file

    if (corpus is None) == (file is None):
        raise InvalidInput("give either --corpus or --sentences: what the encoder learns from")
    if file is not None:
        return *of_file(file, languages), file.name
    assert corpus is not None
    found = _corpus(corpus, root, option)
    return *of_corpus(found, languages), found.description


@contextmanager
def _watched(folder: Path, what: str, unit: str) -> "Iterator[dict[str, Report]]":
    """What tells how far the reading and then the training is, a bar at a time; after Ctrl-C it says what goes on from
    here."""
    with ExitStack() as stack:

        def bar(what: str, unit: str) -> "Report":
            @cache
            def update() -> Update:
                stack.close()
                return stack.enter_context(progress(what, unit=unit))

            return lambda done, total: update()(done, total)

        try:
            yield {"reading": bar(what, unit), "report": bar("training", "steps")}
        except KeyboardInterrupt:
            note(f"stopped; {folder} keeps what was done: the same command with --resume goes on")
            raise


def _tell(trained: "Trained[Gain]") -> None:
    gain = trained.gain
    rows = [
        (
            name,
            *(f"{side.drop.get(name, float('nan')):.1f}" for side in (gain.before, gain.after)),
            *(f"{100 * side.detected.get(name, float('nan')):.0f}" for side in (gain.before, gain.after)),
        )
        for name in gain.after.drop
    ]
    sides = (f"{side.mean_drop:.1f} ({side.low:.1f} to {side.high:.1f})" for side in (gain.before, gain.after))
    rows.append(("mean (95 % CI)", *sides, "", ""))
    title = (
        f"Drop of perturbed captions in %, {gain.after.captions:,} captions of {gain.after.images:,} held-out images"
    )
    table(("edit", "drop before", "drop after", "fall % before", "fall % after"), rows, title=title)
    note(f"Spearman's ρ with the scores before, unperturbed captions: {gain.spearman:.3f}")
    _tell_left_out(trained.left_out)
    note(f"{trained.place / 'pr-mcs'} is the encoder; score with pr-mcs@{trained.place}")


def _tell_mcs(trained: "Trained[FoundBoth]") -> None:
    before, after = trained.gain.before, trained.gain.after
    rows = [
        (
            name,
            *(f"{side.found[name]:.1f}" for side in (before, after)),
            *(f"{side.cosine[name]:.3f}" for side in (before, after)),
        )
        for name in after.found
    ]
    told = (f"{side.mean_found:.1f} ({side.low:.1f} to {side.high:.1f})" for side in (before, after))
    rows.append(("mean (95 % CI)", *told, "", ""))
    title = (
        f"Held-out texts that find their English sentence among {after.candidates:,}, in %: {after.texts:,} texts of "
        f"{after.sources:,} sources"
    )
    table(("language", "found before", "found after", "cosine before", "cosine after"), rows, title=title)
    note(f"learned from {trained.train:,} texts; score with mcs@{trained.place}")


def _tell_left_out(counts: Mapping[str, int]) -> None:
    for reason, count in counts.items():
        note(f"left out: {count:,} {reason}")


def _tell_pac(trained: "Trained[PacGain]", name: str) -> None:
    gain = trained.gain
    sides = (gain.before, gain.after)
    change = f"{gain.change.estimate:+.1f} ({gain.change.note or f'{gain.change.low:+.1f} to {gain.change.high:+.1f}'})"
    rows = [
        ("captions that find their picture, %", *(f"{100 * each.caption.mean():.1f}" for each in sides), ""),
        ("pictures that find a caption of theirs, %", *(f"{100 * each.picture.mean():.1f}" for each in sides), ""),
        ("mean of both (95 % CI of the change)", *(f"{each.both.mean():.1f}" for each in sides), change),
        ("loss", *(f"{each.loss:.4f}" for each in sides), f"{gain.after.loss - gain.before.loss:+.4f}"),
    ]
    title = (
        f"{gain.after.captions:,} different held-out captions of {len(gain.after.picture):,} pictures, each among all"
    )
    table(("measure", "before", "after", "change"), rows, title=title)
    note(f"learned from {trained.train:,} pairs; the weights of step {gain.steps:,} are kept, whose loss was lowest")
    note(f"score with {name}@{trained.place}")


def _export(folder: Path) -> None:
    from core.charts.interactive import page
    from core.features.training.trainer import CURVES, table
    from core.writing import write_bytes

    found = table(folder / CURVES)
    write_bytes(folder / "curves.csv", found.to_csv(index=False).encode())
    write_bytes(folder / "curves.html", page(curves(found)))
    note(f"curves: {folder / 'curves.html'}, {folder / 'curves.csv'}")
