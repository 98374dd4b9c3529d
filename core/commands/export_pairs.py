"""``export-pairs``: every variant on disk, for a metric that runs elsewhere."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core.commands import _options, _outputs
from core.commands._shared import Code, complain, exit_codes, note, table
from core.errors import InvalidInput

if TYPE_CHECKING:
    from core.audit.plan import Plan
    from core.audit.run import Progress

EPILOG = exit_codes(ok="every pair is on disk")


@_options.asks(
    "run output corpus root option probes subject language captions_each limit sample seed by_pair most_gb dry_run",
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
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say how much it would be at most, and stop.")] = False,
) -> None:
    """Write the pairs of a run, or of a corpus under probes, for any metric anywhere to score.

    The folder has images/ (of a video a folder of frames), pairs.jsonl (id, image, caption, language, references:
    CaptionEvalKit's lines), candidates.json and references.json (clipscore's), and plan.json. An export that was
    stopped goes on when it is called again. Read the scores back with import-scores.
    """
    from core.audit.export import export_pairs as write
    from core.audit.export import size_of
    from core.audit.run import RunStopped
    from core.commands._progress import progress

    if (run is None) == (asked["corpus"] is None):
        raise InvalidInput("give a run or --corpus, one of them: python -m core export-pairs --corpus demo -o FOLDER")
    if run is None:
        plan = _planned(asked)
    else:
        if _options.fields({**asked, "root": None, "captions_each": None}) or asked["captions_each"] != 1:
            raise InvalidInput("a run says what its pairs are; leave the options of a corpus out, but for --root")
        plan = _again(run, asked["root"])
    if not 0 <= most_gb < 1e9:
        raise InvalidInput(f"--most-gb takes a number of GB, got {most_gb:g}")
    for warning in plan.warnings:
        note(f"warning: {warning}")
    size = size_of(plan)
    if dry_run:
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
    note(f"score {output / 'pairs.jsonl'}, then: python -m core import-scores SCORES --pairs {output} …")


def _planned(asked: dict[str, Any]) -> "Plan":
    from core.audit.plan import make_plan
    from core.corpora.registry import find

    request = _options.request(asked)
    return make_plan(find(request.corpus).load(asked["root"], **request.options), request)


def _again(run: str, root: Path | None) -> "Plan":
    from core.api.opened_run import place
    from core.audit.record import plan_again
    from core.store.run_files import read_run

    return plan_again(read_run(place(run)), root=root)
