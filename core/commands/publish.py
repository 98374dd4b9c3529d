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
    from core.errors import InvalidInput

    if output is None and html is None:
        raise InvalidInput("say what to write: --output FILE.duckdb, --html FOLDER, or both")
    if html is not None:
        _pages(runs, html, most=most, overwrite=overwrite)
    if output is not None:
        _file(runs, output, overwrite=overwrite)


def _pages(runs: list[str], folder: Path, *, most: int, overwrite: bool) -> None:
    from core.analysis.scope import narrow
    from core.analysis.suites.result import stored
    from core.errors import StoreError
    from core.human.studies import list_studies
    from core.report.build import build
    from core.report.folder import write_folder
    from core.store.store import Store

    empty_folder(folder, overwrite=overwrite)
    with Store.open([place(run) for run in runs]) as store:
        if not store.runs():
            raise StoreError(store.problems[0] if store.problems else f"{runs[0]} holds no run")
        for problem in store.problems:
            note(problem)
        scope = narrow(store)
        made = build(store, scope, studies=list_studies()[0], suites=stored()[0])
        written = write_folder(store, scope, made, folder, most=most, say=note)
    typer.echo(f"{len(written)} files in {folder}; open {folder / 'index.html'}")


def empty_folder(folder: Path, *, overwrite: bool) -> None:
    """Refuse a folder that is none, is a link, or holds files unless they may be replaced.

    Raises:
        InvalidInput: saying what to do.
    """
    from core.errors import InvalidInput
    from core.outputs import check_folder

    check_folder(folder)
    if folder.is_dir() and any(folder.iterdir()) and not overwrite:
        raise InvalidInput(f"{folder} holds files; choose another folder, or say --overwrite")


def _file(runs: list[str], output: Path, *, overwrite: bool) -> None:
    from core.store.publish import publish as write

    path = write([place(run) for run in runs], output, overwrite=overwrite)
    typer.echo(f"{len(runs)} {'run' if len(runs) == 1 else 'runs'} in {path}, {path.stat().st_size / 1e6:.1f} MB")


def place(reference: str) -> Path:
    """Where a run lies that was given by id or by path.

    Raises:
        InvalidInput: where there is none.
    """
    from core import settings
    from core.corpora.places import ordinary
    from core.errors import InvalidInput
    from core.store.manifest import list_runs, run_folders

    if ordinary(Path(reference)).exists():
        return Path(reference)
    for folder in (settings.runs_dir(), settings.results_dir()):
        for path in run_folders(folder):
            if path.name == reference:
                return path
    known = ", ".join(run.id for run in list_runs()) or "none yet"
    raise InvalidInput(f"no run {reference!r} here; there are: {known}")
