"""``export-pairs``: every variant on disk, for a metric that runs elsewhere."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core.commands import _outputs, audit
from core.commands._shared import Code, complain, exit_codes, note, progress, references, table
from core.errors import InvalidInput

if TYPE_CHECKING:
    from core.audit.pair_folder import PairFolder
    from core.audit.plan import Plan
    from core.audit.run import Progress
    from core.evaluators.network.asking import BatchJudge

EPILOG = exit_codes(ok="every pair is on disk")


@audit.asks(
    "run output corpus root option probes subject language captions_each limit sample seed by_pair most_gb batch judge "
    "batch_lines batch_mb dry_run",
    corpus={"default": None, "help": "A corpus in place of a run: 'corpora' lists them."},
)
def export_pairs(
    asked: dict[str, Any],
    run: Annotated[
        str | None, typer.Argument(help="Run whose pairs are made again: an id from 'runs', or its folder.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Folder to write: new, empty, or of the same pairs.", callback=_outputs.folder
        ),
    ] = None,
    by_pair: Annotated[
        bool, typer.Option("--by-pair", help="Link every image under its pairs' ids too, as clipscore's script needs.")
    ] = False,
    most_gb: Annotated[float, typer.Option(min=0, help="Most GB of pixels, uncompressed.")] = 50.0,
    batch: Annotated[
        str | None,
        typer.Option(
            help="Also write the questions of --judge: openai, for batch endpoints, or vllm, for vllm run-batch."
        ),
    ] = None,
    judge: Annotated[list[str] | None, typer.Option(help="With --batch: judge:MODEL@RUBRIC, repeatable.")] = None,
    batch_lines: Annotated[int, typer.Option(min=1, help="Most questions in one file of a batch.")] = 50_000,
    batch_mb: Annotated[
        float | None, typer.Option(min=0.001, help="Most MB of one. Default: 200 of openai, 2000 of vllm.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say how much it would be at most, and stop.")] = False,
) -> None:
    """Write the pairs of a run, or of a corpus under probes, for any metric anywhere to score.

    The folder has images/ (of a video a folder of frames), pairs.jsonl (id, image, caption, language, references:
    CaptionEvalKit's lines), candidates.json and references.json (clipscore's), and plan.json. An export that was
    stopped goes on when it is called again. Read the scores back with import-scores. With --batch the questions of
    judges stand in batch/ beside them; import-scores --batch reads the answers.
    """
    from core.audit.export import export_pairs as write
    from core.audit.export import size_of
    from core.audit.plan import make_plan
    from core.audit.run import RunStopped
    from core.corpora.registry import find

    if (run is None) == (asked["corpus"] is None):
        raise InvalidInput("give a run or --corpus, one of them: python -m core export-pairs --corpus demo -o FOLDER")
    if run is None:
        wanted = audit.request(asked)
        plan = make_plan(find(wanted.corpus).load(asked["root"], **wanted.options), wanted)
    else:
        plan = _again(run, asked)
    if not 0 <= most_gb < 1e9:
        raise InvalidInput(f"--most-gb takes a number of GB, got {most_gb:g}")
    asked_judges = _judges(batch, references(judge))
    for warning in plan.warnings:
        note(f"warning: {warning}")
    if dry_run:
        size = size_of(plan)
        rows: list[tuple[object, ...]] = [
            ("items", size.items, f"{len(plan.corpus.rejected):,} left out by the loader"),
            ("unique images", size.images, "at most: rejected variants make it less"),
            ("pairs", size.pairs, "at most"),
            ("bytes", size.bytes, "of pixels at most; as PNG they take less"),
        ]
        table(("", "number", ""), rows)
        return
    if output is None:
        raise InvalidInput("name the folder to write with --output; --dry-run says how much it would be")
    try:
        with progress("export", unit="images") as update:

            def report(at: "Progress") -> None:
                update(at.done, at.total, at.eta_s)

            folder = write(plan, output, by_pair=by_pair, most_bytes=round(most_gb * 1e9), progress=report)
    except (RunStopped, KeyboardInterrupt):
        complain("interrupted; the same command goes on")
        raise typer.Exit(Code.INTERRUPTED) from None
    counts = folder.told["counts"]
    typer.echo(
        f"{counts['pairs']:,} pairs of {counts['images']:,} images in {output}, {counts['image_bytes'] / 1e6:,.1f} MB"
    )
    for each in asked_judges:
        _write_batch(folder, each, str(batch), batch_lines, batch_mb)
    told = ("answer the batch", "--batch ANSWERS …") if asked_judges else (f"score {output / 'pairs.jsonl'}", "SCORES")
    note(f"{told[0]}, then: python -m core import-scores {told[1]} --pairs {output}{'' if asked_judges else ' …'}")


def _again(run: str, asked: dict[str, Any]) -> "Plan":
    from core.api.opened_run import place
    from core.audit.record import plan_again
    from core.store.run_files import read_run

    if audit.fields({**asked, "root": None, "captions_each": None}) or asked["captions_each"] != 1:
        raise InvalidInput("a run says what its pairs are; leave the options of a corpus out, but for --root")
    return plan_again(read_run(place(run)), root=asked["root"])


def _judges(batch: str | None, named: tuple[str, ...]) -> "list[BatchJudge]":
    """The judges of a batch, looked at before anything is written."""
    from core.audit.batch_requests import KINDS, batch_judge
    from core.evaluators.registry import find

    if (batch is None) != (not named) or (batch is not None and batch not in KINDS):
        raise InvalidInput(f"a batch needs --batch {' or '.join(KINDS)} and --judge judge:MODEL@RUBRIC, both")
    return [batch_judge(find(each)) for each in named]


def _write_batch(folder: "PairFolder", judge: "BatchJudge", kind: str, lines: int, mb: float | None) -> None:
    from core.audit.batch_requests import KINDS, write_batch

    chosen = next(each for each in KINDS if each == kind)
    most = None if mb is None else round(mb * 1e6)
    with progress("batch", unit="pairs") as update:
        made = write_batch(folder, judge, chosen, most_lines=lines, most_bytes=most, progress=update)
    files = f"{made.shards} file{'' if made.shards == 1 else 's'}"
    typer.echo(f"{judge.name}: {made.requests:,} questions in {files}, {made.bytes / 1e6:,.1f} MB, in {made.folder}")
