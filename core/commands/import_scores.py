"""``import-scores``: scores that were made elsewhere, read back into a run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.commands import _outputs
from core.commands._shared import Code, command_line, exit_codes, note, progress, references, table
from core.errors import InvalidInput

if TYPE_CHECKING:
    from core.audit.imports import Imported
    from core.audit.pair_folder import PairFolder

EPILOG = exit_codes(ok="every pair has a score", failures="imported, but some pairs have no score (the run says why)")


def import_scores(
    ctx: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(help="CSV, JSON Lines, Parquet (id, score), or CaptionEvalKit's, lmms-eval's, inspect_ai's."),
    ],
    evaluator: Annotated[
        list[str] | None, typer.Option(help="Name of the metric, one a file; stored as NAME@imported.")
    ] = None,
    fingerprint: Annotated[
        list[str] | None, typer.Option(help="What its scores depend on, one a file: 'v1.2, weights sha256 …, fp32'.")
    ] = None,
    score_range: Annotated[
        list[str] | None,
        typer.Option(
            "--range",
            help="LOW,HIGH that it can give, one a file, or LOW, for no upper bound; higher must mean better.",
        ),
    ] = None,
    batch: Annotated[
        bool, typer.Option("--batch", help="The files are answers to the batches of the export, in any order.")
    ] = False,
    pairs: Annotated[
        Path | None, typer.Option(help="Folder of the export. Default: the folder of the first file.")
    ] = None,
    column: Annotated[str, typer.Option(help="Column or metric of the scores, where a file has several.")] = "",
    beside: Annotated[
        str | None,
        typer.Option(help="Run of the same pairs, by id or folder, whose evaluators stand in the new one too."),
    ] = None,
    run_id: Annotated[str | None, typer.Option(help="Name of the run. Default: corpus, time and digest.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of runs. Default: data/runs.", callback=_outputs.folder_above)
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run of that --run-id.")] = False,
) -> None:
    """Make a run of scores that any metric gave to exported pairs; every page, report and calibration takes it.

    Several files make one run of several metrics: repeat --evaluator, --fingerprint and --range in the files' order. A
    pair that a file does not name, or gives no number, has no score, and the row says why. What is named twice or is no
    pair of the export is refused. A metric that is better where it is lower is negated before. With --batch the export
    says what was asked of whom: what is missing, failed, doubled or of other questions is counted, and so is the cost.
    """
    from core import settings
    from core.api.opened_run import place
    from core.audit.imports import Imported
    from core.audit.imports import import_scores as write
    from core.audit.pair_folder import read_pair_folder
    from core.corpora.score_files import read_scores
    from core.store.run_files import read_run
    from core.writing import check_folder

    names, told_of = references(evaluator), (fingerprint or [], score_range or [])
    told = {"--evaluator": names, "--fingerprint": told_of[0], "--range": told_of[1]}
    for name, values in told.items():
        if len(values) != (0 if batch else len(files)):
            how = "the batch says it; leave it out" if batch else "give one a file"
            raise InvalidInput(f"there are {len(files)} files and {len(values)} of {name}; {how}")
    folder = read_pair_folder(pairs or files[0].parent)
    imported = (
        _answers(files, folder)
        if batch
        else [
            Imported(
                name, given, read_range(bounds), read_scores(path, column=column, pairs=folder.by_image_and_caption)
            )
            for path, name, given, bounds in zip(files, names, *told_of, strict=True)
        ]
    )
    other = None if beside is None else read_run(place(beside))
    if out is not None and run_id is not None:
        check_folder(out / run_id)
    with progress("import", unit="shards") as update:
        run = write(
            folder,
            imported,
            out or settings.runs_dir(),
            run_id=run_id,
            existing="replace" if overwrite else "refuse",
            beside=other,
            command=command_line(ctx, ctx.params),
            progress=update,
        )
    columns = ("evaluator", "pairs", "not in the file", "without a number", "file", "column")
    keys = ("pairs", "missing", "without_number", "file", "column")
    entries = [(each["name"], each["imported"]) for each in run.manifest["evaluators"] if "imported" in each]
    table(columns, [(name, *(told[key] for key in keys)) for name, told in entries])
    counts = run.manifest["counts"]
    typer.echo(f"run {run.id}: {counts['rows']:,} scores, {counts['scores_null']:,} null, in {run.path}")
    if counts["scores_null"]:
        raise typer.Exit(Code.FAILURES)


def _answers(files: list[Path], folder: "PairFolder") -> "list[Imported]":
    """Read the answers to batches, and say what came back, a sentence each."""
    from core.audit.batch_requests import read_batches

    found = read_batches(files, folder)
    for name, counts in found.counts.items():
        for sentence in counts.sentences():
            typer.echo(f"{name}: {sentence}")
    if found.foreign:
        note(f"Foreign: {found.foreign:,} answers are to no question of this export's batches; they are left out.")
    if found.unreadable:
        note(f"Unreadable: {found.unreadable:,} lines are no answers; they are left out.")
    for name in found.silent:
        note(f"{name}: none of the files has a score for it; it is left out.")
    return list(found.imported)


def read_range(text: str) -> tuple[float, float | None]:
    """Read ``LOW,HIGH`` or ``LOW,``; raises InvalidInput for anything else."""
    import math

    low, comma, high = (part.strip() for part in text.partition(","))
    try:
        bounds = float(low), float(high) if high else None
    except ValueError:
        bounds = math.nan, None
    if not comma or not math.isfinite(bounds[0]) or (bounds[1] is not None and not math.isfinite(bounds[1])):
        raise InvalidInput(f"--range takes LOW,HIGH such as 0,1, or LOW, where there is no upper bound, got {text!r}")
    return bounds
