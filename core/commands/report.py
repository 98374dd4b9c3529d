"""``report``: what some runs say, as Markdown, HTML and LaTeX, with every table as data."""

from pathlib import Path
from typing import Annotated

import typer

from core.commands import _outputs
from core.commands._shared import exit_codes, listed, note

PAPER, ALL = TABLES = ("paper", "all")
EPILOG = exit_codes(ok="written")


def report(
    runs: Annotated[
        list[str],
        typer.Argument(help="Ids from 'runs', or paths of run folders and .duckdb files; several compare corpora."),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder to write; default: report-RUN here.", callback=_outputs.folder),
    ] = None,
    formats: Annotated[
        list[str] | None, typer.Option("--format", help="md, html, latex, separated by commas; default: all three.")
    ] = None,
    subject: Annotated[
        str | None,
        typer.Option(help="Which caption is held: template or human; default: the one with the most shifts."),
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="Of the captions, e.g. en; default: the one with the most shifts.")
    ] = None,
    corpus: Annotated[
        str | None, typer.Option(help="Corpus that the others are held against; default: coco, else the largest.")
    ] = None,
    run: Annotated[
        list[str] | None,
        typer.Option(
            "--run", help="Id of a run to report on, where a file holds several; default: the largest of each corpus."
        ),
    ] = None,
    evaluators: Annotated[
        list[str] | None, typer.Option(help="Names, separated by commas; default: all that scored.")
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            help="column=value of your own table, e.g. site=hospital: of these items alone. Repeated: any of the "
            "values of a column, and every column."
        ),
    ] = None,
    tables: Annotated[
        str,
        typer.Option(
            help="What is written as data: paper, the papers' tables and what the words are made of, or all, "
            "which takes four times as long."
        ),
    ] = PAPER,
    drawings: Annotated[
        bool, typer.Option("--drawings", help="The figure of every table that is written too, in figures/.")
    ] = False,
    encoders: Annotated[
        bool,
        typer.Option(help="Of --tables all: ask the evaluators' text encoders for the geometry; loads their weights."),
    ] = True,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Write into a folder that holds files.")] = False,
) -> None:
    """Write the report of runs: a page in words, a figure, the papers' tables, their data, the signature to cite."""
    from core.analysis.scope import Scope, narrow
    from core.analysis.slices import told_of
    from core.api.opened_run import place, report_of
    from core.errors import InvalidInput, StoreError
    from core.report.document import FORMATS
    from core.report.report_files import write
    from core.store.store import Store
    from core.writing import check_empty

    wanted = listed(formats) or tuple(FORMATS)
    unknown = [name for name in wanted if name not in FORMATS]
    if unknown:
        raise InvalidInput(f"--format knows {', '.join(FORMATS)}, got {unknown[0]!r}")
    if tables not in TABLES:
        raise InvalidInput(f"--tables knows {' and '.join(TABLES)}, got {tables!r}")
    paths = [place(run) for run in runs]
    with Store.open(paths) as store:
        if not store.runs():
            raise StoreError(store.problems[0] if store.problems else f"{runs[0]} holds no run")
        for problem in store.problems:
            note(problem)
        scope = narrow(
            store,
            Scope(tuple(run or ()), corpus, subject, language, tuple(listed(evaluators)), told=told_of(where or ())),
        )
        for sentence in scope.left_out:
            note(sentence)
        folder = output or Path(f"report-{scope.run}")
        check_empty(folder, overwrite=overwrite)
        made = report_of(store, scope, whole=tables == ALL, drawings=drawings, encoders=encoders, note=note)
        written = write(made, folder, formats=wanted)
    typer.echo(made.signature)
    typer.echo(f"{len(made.short)} tables to read, {len(made.tables)} as data in {folder}, {len(written)} files")
    for each in made.lacks:
        note(f"left out: {each}")
