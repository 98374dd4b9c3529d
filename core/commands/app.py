"""``app``: the dashboard, on this machine only."""

import subprocess
import sys
from typing import Annotated

import typer

from core.commands._shared import Code, exit_codes
from core.errors import NotAvailable

EPILOG = exit_codes(ok="the dashboard was closed", failures="it could not start")


def app(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8501,
    show: Annotated[bool, typer.Option("--show", help="Only print the command.")] = False,
) -> None:
    """Open the dashboard in a browser; it listens on localhost only."""
    from core.settings import ROOT

    page = ROOT / "app.py"
    if not page.is_file():
        raise NotAvailable(f"{page} is not there: this installation is not complete, install Invariscope again")
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        str(page),
        "--server.address=localhost",
        f"--server.port={port}",
    ]
    if show:
        import shlex

        typer.echo(shlex.join(command))
        return
    if subprocess.run(command, check=False).returncode:
        raise typer.Exit(Code.FAILURES)
