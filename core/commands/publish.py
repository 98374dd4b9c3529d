"""``publish``: one read-only file of any runs, for handing around."""

from pathlib import Path
from typing import Annotated

import typer

from core.commands._shared import exit_codes

EPILOG = exit_codes(ok="written")


def publish(
    runs: Annotated[list[str], typer.Argument(help="Ids from 'runs', or paths of run folders and .duckdb files.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write; its name ends in .duckdb.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")] = False,
) -> None:
    """Write complete runs into one read-only .duckdb file that the pages and any DuckDB can open."""
    from core.store.publish import publish as write

    path = write([place(run) for run in runs], output, overwrite=overwrite)
    typer.echo(f"{len(runs)} {'run' if len(runs) == 1 else 'runs'} in {path}, {path.stat().st_size / 1e6:.1f} MB")


def place(reference: str) -> Path:
    """Where a run lies that was given by id or by path.

    Raises:
        InvalidInput: where there is none.
    """
    from core import settings
    from core.errors import InvalidInput
    from core.store.manifest import list_runs, run_folders

    if Path(reference).exists():
        return Path(reference)
    for folder in (settings.runs_dir(), settings.results_dir()):
        for path in run_folders(folder):
            if path.name == reference:
                return path
    known = ", ".join(run.id for run in list_runs()) or "none yet"
    raise InvalidInput(f"no run {reference!r} here; there are: {known}")
