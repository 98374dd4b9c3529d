"""``train``: evaluators made here, whose weights nobody publishes or that read other languages.

A training's curves: the loss of every step, and what it does to what is held out.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import pandas as pd
import typer

from core.charts.spec import NEUTRAL, PALETTE, Axis, Figure, Style, colours
from core.commands import _outputs
from core.commands._progress import Update, progress
from core.commands._shared import exit_codes, key_values, listed, note, table

if TYPE_CHECKING:
    from core.corpora.schema import Corpus
    from core.features.training.sentences import Sentence
    from core.features.training.train_mcs import Distilled
    from core.features.training.train_pac import PacTrained
    from core.features.training.tuning import HeldOut, Trained
    from core.statistics.bootstrap import Interval


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
    """The curves.

    Args:
        table: rows of ``core.features.training.trainer.table``.

    Returns:
        Above the loss a step. Below what is held out: the drop of perturbed captions by edit, with Spearman's ρ with
        the untuned scores in percent, dashed, the share of texts found by language, or of pairs that find each other;
        their mean with its 95 % interval, where there is one.
    """
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
    told = zip(rows["step"], rows["value"], strict=True)
    return pd.DataFrame(
        {
            "label": rows["step"].astype(float),
            "series": name,
            "panel": panel,
            "value": rows["value"],
            "low": np.nan,
            "high": np.nan,
            "n": np.nan,
            "hover": [f"{name}\nstep {step}: {value:.4g}" for step, value in told],
        }
    )


EPILOG = exit_codes(ok="trained")

app = typer.Typer(help="Train your own evaluator: MCS, PR-MCS, PAC-S, PAC-S++.", no_args_is_help=True, epilog=EPILOG)

_Root = Annotated[Path | None, typer.Option(help="Folder of the corpus, where it needs one.")]
_Option = Annotated[list[str] | None, typer.Option(help="key=value of the corpus, e.g. split=train2017.")]
_Epochs = Annotated[int, typer.Option(min=1, help="Passes over everything.")]
_LearningRate = Annotated[float, typer.Option(help="Of AdamW.")]
_CheckpointEvery = Annotated[int, typer.Option(min=1, help="Steps between two checkpoints.")]
_Seed = Annotated[int | None, typer.Option(help="Seed of everything random. Default: 2025.")]
_Device = Annotated[str | None, typer.Option(help="cpu, cuda, mps. Default: the best there is.")]
_Resume = Annotated[bool, typer.Option("--resume", help="Go on with what a stopped training left.")]
_Overwrite = Annotated[bool, typer.Option("--overwrite", help="Start over.")]


@app.callback()
def group() -> None:
    """Train your own evaluator: MCS, PR-MCS, PAC-S, PAC-S++."""


@app.command("pr-mcs", epilog=EPILOG, short_help="Tune MCS's text encoder against perturbed captions.")
def pr_mcs(
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
    epochs: _Epochs = 5,
    batch: Annotated[int, typer.Option(min=2, help="Triplets in a step.")] = 64,
    learning_rate: _LearningRate = 5e-5,
    lambda1: Annotated[float, typer.Option(help="Weight of 1 - cos(image, original).", min=0)] = 0.1,
    lambda2: Annotated[float, typer.Option(help="Weight of max(margin, cos(image, perturbed)).", min=0)] = 0.05,
    lambda3: Annotated[float, typer.Option(help="Weight of max(margin, cos(original, perturbed)).", min=0)] = 0.05,
    margin: Annotated[float, typer.Option(help="Cosine below which a perturbed caption costs no more.")] = 0.1,
    held_out: Annotated[float, typer.Option(help="Share of the images that are only measured.")] = 0.1,
    captions: Annotated[
        int | None, typer.Option(min=2, help="Most captions to learn from, drawn by the seed. Default: all.")
    ] = None,
    checkpoint_every: _CheckpointEvery = 500,
    seed: _Seed = None,
    device: _Device = None,
    resume: _Resume = False,
    overwrite: _Overwrite = False,
) -> None:
    """Tune MCS's text encoder so that repeated, removed, masked, jumbled and substituted words cost score.

    The image tower stays as it is. A training that was stopped goes on with the same options and --resume.
    """
    from core import settings
    from core.features.training.tuning import ENCODER, TRAINING, LossWeights, Recipe, train_pr_mcs
    from core.outputs import check_folder
    from core.seeds import RUN_SEED

    device = _device(device)
    recipe = Recipe(
        epochs=epochs,
        batch=batch,
        learning_rate=learning_rate,
        checkpoint_every=checkpoint_every,
        seed=RUN_SEED if seed is None else seed,
        losses=LossWeights(lambda1, lambda2, lambda3, margin),
    )
    found = _corpus(corpus, root, option)
    target = out or settings.weights_dir()
    if out is not None:
        for name in (ENCODER, TRAINING):
            check_folder(out / name)
    with _kept(target / TRAINING), ExitStack() as stack:
        trained = train_pr_mcs(
            found,
            recipe,
            out=target,
            weights=weights,
            languages=listed(languages),
            held_out=held_out,
            most=captions,
            device=device,
            resume=resume,
            overwrite=overwrite,
            reading=_Bar(stack, "pictures", "images"),
            report=_Bar(stack, "training", "steps"),
        )
    _tell(trained)
    _export(target / TRAINING)


@app.command("mcs", epilog=EPILOG, short_help="Teach a multilingual encoder where CLIP puts English sentences.")
def mcs(
    student: Annotated[
        Path, typer.Option(help="Folder of the encoder that learns: the hub's format or sentence-transformers'.")
    ],
    out: Annotated[
        Path,
        typer.Option(help="Gets the encoder and mcs-training/; mcs@OUT scores.", callback=_outputs.folder_above),
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
    epochs: _Epochs = 5,
    batch: Annotated[int, typer.Option(min=2, help="Texts in a step.")] = 64,
    learning_rate: _LearningRate = 5e-5,
    held_out: Annotated[float, typer.Option(help="Share of the pictures, or lines, that are only measured.")] = 0.1,
    checkpoint_every: _CheckpointEvery = 500,
    seed: _Seed = None,
    device: _Device = None,
    resume: _Resume = False,
    overwrite: _Overwrite = False,
) -> None:
    """Teach a multilingual encoder to embed a translation where CLIP's own text tower embeds the English sentence.

    That is how MCS is made. A training that was stopped goes on with the same options and --resume.
    """
    from core.features.training.train_mcs import TEXT, TRAINING, train_mcs
    from core.features.training.trainer import Schedule
    from core.outputs import check_folder
    from core.seeds import RUN_SEED

    device = _device(device)
    schedule = Schedule(
        epochs=epochs,
        batch=batch,
        learning_rate=learning_rate,
        checkpoint_every=checkpoint_every,
        seed=RUN_SEED if seed is None else seed,
    )
    for name in (TEXT, TRAINING):
        check_folder(out / name)
    found, left_out, described = _sentences(corpus, root, option, sentences, listed(languages))
    with _kept(out / TRAINING), ExitStack() as stack:
        trained = train_mcs(
            found,
            schedule,
            student=student,
            out=out,
            described=described,
            teacher=teacher,
            held_out=held_out,
            device=device,
            resume=resume,
            overwrite=overwrite,
            reading=_Bar(stack, "teacher", "sentences"),
            report=_Bar(stack, "training", "steps"),
        )
    _tell_mcs(trained)
    _tell_left_out({**left_out, **trained.left_out})
    _export(out / TRAINING)


@app.command("pac-s", epilog=EPILOG, short_help="Train CLIP's last projections with generated positives.")
@app.command("pac-s++", epilog=EPILOG, short_help="Train adapters of CLIP's attentions with generated positives.")
def pac(
    ctx: typer.Context,
    positives: Annotated[
        Path,
        typer.Option(
            help="CSV or JSONL with image, caption, generated_image, generated_caption, paths beside it; or its folder."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(help="Gets the checkpoint NAME.pth and NAME-training/.", callback=_outputs.folder_above),
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
    epochs: _Epochs = 20,
    patience: Annotated[int, typer.Option(min=1, help="Steps without a lower held-out loss that end it.")] = 1500,
    batch: Annotated[int, typer.Option(help="Pairs in a step, at least 2.")] = 256,
    learning_rate: _LearningRate = 1e-4,
    held_out: Annotated[float, typer.Option(help="Share of the pictures that are only measured.")] = 0.1,
    checkpoint_every: _CheckpointEvery = 500,
    seed: _Seed = None,
    device: _Device = None,
    resume: _Resume = False,
    overwrite: _Overwrite = False,
) -> None:
    """Train a CLIP with real pairs and with generated pictures and captions as further positives.

    pac-s trains the last projections of both towers, pac-s++ low-rank adapters of every attention. A training that was
    stopped goes on with the same options and --resume.
    """
    from dataclasses import replace

    from core.errors import InvalidInput
    from core.features.training.positives import read_positives
    from core.features.training.train_pac import RECIPES, train_pac
    from core.outputs import check_folder
    from core.seeds import RUN_SEED

    name = str(ctx.info_name)
    usual = RECIPES[name]
    if rank is not None and not usual.rank:
        raise InvalidInput(f"{name} trains no adapters, got --rank {rank}; leave it out, or train pac-s++")
    recipe = replace(
        usual,
        epochs=epochs,
        patience=patience,
        batch=batch,
        learning_rate=learning_rate,
        checkpoint_every=checkpoint_every,
        seed=RUN_SEED if seed is None else seed,
        visual=usual.visual if visual is None else visual,
        textual=usual.textual if textual is None else textual,
        rank=usual.rank if rank is None else rank,
    )
    device = _device(device)
    training = check_folder(out / f"{name}-training")
    pairs, left_out = read_positives(positives)
    with _kept(training), ExitStack() as stack:
        trained = train_pac(
            pairs,
            recipe,
            name=name,
            out=out,
            weights=weights,
            held_out=held_out,
            device=device,
            resume=resume,
            overwrite=overwrite,
            reading=_Bar(stack, "pictures", "images"),
            report=_Bar(stack, "training", "steps"),
        )
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
    from core.features.training.sentences import of_corpus, of_file

    if (corpus is None) == (file is None):
        raise InvalidInput("give either --corpus or --sentences: what the encoder learns from")
    if file is not None:
        return *of_file(file, languages), file.name
    assert corpus is not None
    found = _corpus(corpus, root, option)
    return *of_corpus(found, languages), found.description


def _device(named: str | None) -> str:
    """What trains: the one that was named, refused before anything is read where there is none, or the best."""
    from core.evaluators.pool import best_device, check_device

    return check_device(named or best_device())


@contextmanager
def _kept(folder: Path) -> Iterator[None]:
    """Say after Ctrl-C what goes on from here."""
    try:
        yield
    except KeyboardInterrupt:
        note(f"stopped; {folder} keeps what was done: the same command with --resume goes on")
        raise


class _Bar:
    """Progress that begins with its first report and ends the one before: a terminal shows one at a time."""

    def __init__(self, stack: ExitStack, what: str, unit: str) -> None:
        self._stack, self._what, self._unit = stack, what, unit
        self._update: Update | None = None

    def __call__(self, done: int, total: int) -> None:
        if self._update is None:
            self._stack.close()
            self._update = self._stack.enter_context(progress(self._what, unit=self._unit))
        self._update(done, total)


def _tell(trained: "Trained") -> None:
    gain = trained.gain
    rows = [
        (
            name,
            *(f"{side.drop.get(name, float('nan')):.1f}" for side in (gain.before, gain.after)),
            *(f"{100 * side.detected.get(name, float('nan')):.0f}" for side in (gain.before, gain.after)),
        )
        for name in gain.after.drop
    ]
    rows.append(("mean (95 % CI)", _interval(gain.before), _interval(gain.after), "", ""))
    title = (
        f"Drop of perturbed captions in %, {gain.after.captions:,} captions of {gain.after.images:,} held-out images"
    )
    table(("edit", "drop before", "drop after", "fall % before", "fall % after"), rows, title=title)
    note(f"Spearman's ρ with the scores before, unperturbed captions: {gain.spearman:.3f}")
    _tell_left_out(trained.left_out)
    note(f"{trained.folder / 'pr-mcs'} is the encoder; score with pr-mcs@{trained.folder}")


def _interval(found: "HeldOut") -> str:
    return f"{found.mean_drop:.1f} ({found.low:.1f} to {found.high:.1f})"


def _tell_mcs(trained: "Distilled") -> None:
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
    note(f"learned from {trained.train:,} texts; score with mcs@{trained.folder}")


def _tell_left_out(counts: Mapping[str, int]) -> None:
    for reason, count in counts.items():
        note(f"left out: {count:,} {reason}")


def _tell_pac(trained: "PacTrained", name: str) -> None:
    gain = trained.gain
    sides = (gain.before, gain.after)
    rows = [
        ("captions that find their picture, %", *(f"{100 * each.caption.mean():.1f}" for each in sides), ""),
        ("pictures that find a caption of theirs, %", *(f"{100 * each.picture.mean():.1f}" for each in sides), ""),
        ("mean of both (95 % CI of the change)", *(f"{each.both.mean():.1f}" for each in sides), _told(gain.change)),
        ("loss", *(f"{each.loss:.4f}" for each in sides), f"{gain.after.loss - gain.before.loss:+.4f}"),
    ]
    title = (
        f"{gain.after.captions:,} different held-out captions of {len(gain.after.picture):,} pictures, each among all"
    )
    table(("measure", "before", "after", "change"), rows, title=title)
    note(f"learned from {trained.train:,} pairs; the weights of step {gain.steps:,} are kept, whose loss was lowest")
    note(f"score with {name}@{trained.checkpoint}")


def _told(change: "Interval") -> str:
    bounds = change.note or f"{change.low:+.1f} to {change.high:+.1f}"
    return f"{change.estimate:+.1f} ({bounds})"


def _export(folder: Path) -> None:
    from core.charts.interactive import page
    from core.features.training.trainer import CURVES, table
    from core.writing import write_bytes

    found = table(folder / CURVES)
    write_bytes(folder / "curves.csv", found.to_csv(index=False).encode())
    write_bytes(folder / "curves.html", page(curves(found)))
    note(f"curves: {folder / 'curves.html'}, {folder / 'curves.csv'}")
