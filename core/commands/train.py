"""``train``: evaluators whose weights nobody publishes, made here."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.commands import _outputs
from core.commands._progress import Update, progress
from core.commands._shared import exit_codes, key_values, listed, note, table

if TYPE_CHECKING:
    from core.training.measure import Measured
    from core.training.pr_mcs import Trained

EPILOG = exit_codes(ok="trained")

app = typer.Typer(help="Train an evaluator whose weights are not public.", no_args_is_help=True, epilog=EPILOG)


@app.callback()
def group() -> None:
    """Train an evaluator whose weights are not public."""


@app.command("pr-mcs", epilog=EPILOG, short_help="Tune MCS's text encoder against perturbed captions.")
def pr_mcs(
    corpus: Annotated[str, typer.Option(help="demo, coco, folder, …: 'corpora' lists them.")] = "coco",
    root: Annotated[Path | None, typer.Option(help="Folder of the corpus, where it needs one.")] = None,
    option: Annotated[list[str] | None, typer.Option(help="key=value of the corpus, e.g. split=train2017.")] = None,
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
    epochs: Annotated[int, typer.Option(min=1, help="Passes over all captions.")] = 5,
    batch: Annotated[int, typer.Option(min=2, help="Triplets in a step.")] = 64,
    learning_rate: Annotated[float, typer.Option(help="Of AdamW.")] = 5e-5,
    lambda1: Annotated[float, typer.Option(help="Weight of 1 - cos(image, original).", min=0)] = 0.1,
    lambda2: Annotated[float, typer.Option(help="Weight of max(margin, cos(image, perturbed)).", min=0)] = 0.05,
    lambda3: Annotated[float, typer.Option(help="Weight of max(margin, cos(original, perturbed)).", min=0)] = 0.05,
    margin: Annotated[float, typer.Option(help="Cosine below which a perturbed caption costs no more.")] = 0.1,
    held_out: Annotated[float, typer.Option(help="Share of the images that are only measured.")] = 0.1,
    captions: Annotated[
        int | None, typer.Option(min=2, help="Most captions to learn from, drawn by the seed. Default: all.")
    ] = None,
    checkpoint_every: Annotated[int, typer.Option(min=1, help="Steps between two checkpoints.")] = 500,
    seed: Annotated[int | None, typer.Option(help="Seed of everything random. Default: 2025.")] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, mps. Default: the best there is.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with what a stopped training left.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Start over.")] = False,
) -> None:
    """Tune MCS's text encoder so that repeated, removed, masked, jumbled and substituted words cost score.

    The image tower stays as it is. A training that was stopped goes on with the same options and --resume.
    """
    from core import settings
    from core.corpora.registry import catalogue
    from core.evaluators.pool import best_device
    from core.outputs import check_folder
    from core.seeds import RUN_SEED
    from core.training.losses import LossWeights
    from core.training.pr_mcs import ENCODER, TRAINING, train_pr_mcs
    from core.training.trainer import Recipe

    recipe = Recipe(
        epochs=epochs, batch=batch, learning_rate=learning_rate, checkpoint_every=checkpoint_every,
        seed=RUN_SEED if seed is None else seed, losses=LossWeights(lambda1, lambda2, lambda3, margin),
    )  # fmt: skip
    chosen = key_values(option)
    if corpus == "coco" and "slice" not in chosen:
        chosen["slice"] = "all"  # the audit's usual slice leaves out most captions
    found = catalogue().get(corpus).load(root, **chosen)
    target = out or settings.weights_dir()
    if out is not None:
        for name in (ENCODER, TRAINING):
            check_folder(out / name)
    try:
        with ExitStack() as stack:
            trained = train_pr_mcs(
                found, recipe, out=target, weights=weights, languages=listed(languages), held_out=held_out,
                most=captions, device=device or best_device(), resume=resume, overwrite=overwrite,
                reading=_Bar(stack, "pictures", "images"), report=_Bar(stack, "training", "steps"),
            )  # fmt: skip
    except KeyboardInterrupt:
        note(f"stopped; {target / TRAINING} keeps what was done: the same command with --resume goes on")
        raise
    _tell(trained)
    _export(target / TRAINING)


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
        (name, *(f"{side.drop.get(name, float('nan')):.1f}" for side in (gain.before, gain.after)),
         *(f"{100 * side.detected.get(name, float('nan')):.0f}" for side in (gain.before, gain.after)))
        for name in gain.after.drop
    ]  # fmt: skip
    rows.append(("mean (95 % CI)", _interval(gain.before), _interval(gain.after), "", ""))
    title = (
        f"Drop of perturbed captions in %, {gain.after.captions:,} captions of {gain.after.images:,} held-out images"
    )
    table(("edit", "drop before", "drop after", "fall % before", "fall % after"), rows, title=title)
    note(f"Spearman's ρ with the scores before, unperturbed captions: {gain.spearman:.3f}")
    for name, count in trained.left_out.items():
        note(f"left out: {count:,} {name}")
    note(f"{trained.folder / 'pr-mcs'} is the encoder; score with pr-mcs@{trained.folder}")


def _interval(found: "Measured") -> str:
    return f"{found.mean_drop:.1f} ({found.low:.1f} to {found.high:.1f})"


def _export(folder: Path) -> None:
    from core.charts.interactive import page
    from core.charts.training import curves
    from core.store.files import write_whole
    from core.training.curves import FILE, table

    found = table(folder / FILE)
    write_whole(folder / "curves.csv", lambda path: found.to_csv(path, index=False))
    write_whole(folder / "curves.html", lambda path: _save(path, page(curves(found))))
    note(f"curves: {folder / 'curves.html'}, {folder / 'curves.csv'}")


def _save(path: Path, content: bytes) -> None:
    path.write_bytes(content)
