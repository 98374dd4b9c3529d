"""``publish``: one read-only file of any runs, or pages for a file server, for handing around."""

from pathlib import Path
from typing import Annotated

import typer

from core.commands import _outputs
from core.commands._shared import exit_codes, note

EPILOG = exit_codes(ok="written")


def publish(
    runs: Annotated[list[str], typer.Argument(help="Ids from 'runs', or paths of run folders and .duckdb files.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; its name ends in .duckdb.", callback=_outputs.file),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            help="Folder to write: report, card and the furthest pairs as pages for a file server.",
            callback=_outputs.folder,
        ),
    ] = None,
    most: Annotated[int, typer.Option(min=1, max=200, help="Of --html: pairs on its page of failures.")] = 24,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file if it exists; write into a folder that holds files.")
    ] = False,
) -> None:
    """Write complete runs as one read-only .duckdb file that the pages and any DuckDB open, or as static pages."""
    from core.api.opened_run import place
    from core.errors import InvalidInput, StoreError
    from core.store.store import Store

    if output is None and html is None:
        raise InvalidInput("say what to write: --output FILE.duckdb, --html FOLDER, or both")
    if html is not None:
        from core.analysis.scope import narrow
        from core.features.human.studies import list_studies
        from core.features.suites.suite_result import stored
        from core.features.systems.system_file import kept
        from core.report.build import build
        from core.report.report_files import write_folder
        from core.writing import check_empty

        check_empty(html, overwrite=overwrite)
        with Store.open([place(run) for run in runs]) as store:
            if not store.runs():
                raise StoreError(store.problems[0] if store.problems else f"{runs[0]} holds no run")
            for problem in store.problems:
                note(problem)
            scope = narrow(store)
            boards = kept()
            studies, unread = list_studies()
            for problem in (*unread, *boards.unread.values()):
                note(problem)
            made = build(store, scope, whole=False, figures=False, studies=studies, suites=stored()[0], boards=boards)
            written = write_folder(store, scope, made, html, most=most, studies=studies, say=note)
        typer.echo(f"{len(written)} files in {html}; open {html / 'index.html'}")
    if output is not None:
        from core.store.publishing import publish as write

        path = write([place(run) for run in runs], output, overwrite=overwrite)
        with Store.open([path]) as store:  # a run that is named twice is in it once, a published file may hold several
            held = len(store.runs())
        typer.echo(f"{held} {'run' if held == 1 else 'runs'} in {path}, {path.stat().st_size / 1e6:.1f} MB")
