"""``app``: the dashboard, on this machine only unless told otherwise."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import webbrowser
from html import escape
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer

from core.commands._shared import Code, exit_codes, note
from core.errors import InvalidInput, NotAvailable

EPILOG = exit_codes(ok="the dashboard was closed", failures="it could not start")
TOKEN = "INVARISCOPE_TOKEN"
HERE = ("localhost", "127.0.0.1", "::1")
READ_S = 60  # seconds that a browser has to read the page that leads to the link

_REDIRECT = """<!doctype html><meta charset="utf-8"><title>Invariscope</title>
<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url={link}">
<p><a href="{link}">Invariscope</a></p>
"""


def app(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8501,
    address: Annotated[
        str, typer.Option(help="Where to listen; anything but localhost lets others in, as viewers.")
    ] = "localhost",
    host: Annotated[
        list[str] | None, typer.Option("--host", help="Name by which others reach it; other names are refused.")
    ] = None,
    token: Annotated[
        bool, typer.Option("--token/--no-token", help="Whether the link must hold this server's token.")
    ] = True,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Whether to open the link.")] = True,
    show: Annotated[bool, typer.Option("--show", help="Only print the command.")] = False,
) -> None:
    """Open the dashboard in a browser; it listens on localhost only, and asks for the token in the link it prints."""
    from core.settings import ROOT, refused, unknown

    page = ROOT / "serve.py"
    if not page.is_file():
        raise NotAvailable(f"{page} is not there: this installation is not complete, install Invariscope again")
    command = _command(page, port, address, host or [])
    if show:
        import shlex

        typer.echo(shlex.join(command))
        return
    local = address in HERE
    if why := refused():
        raise InvalidInput(why)
    if token and not local and os.environ.get(TOKEN):
        raise InvalidInput(
            f"{TOKEN} is set, and a link of {address} holds none: unset it or add --no-token (without "
            "OIDC log-in others look as viewers then), or listen on localhost"
        )
    for said in unknown():
        note(f"{said} (docs/command-line.md lists them)")
    import secrets

    # with a token or without one; and threads that have nothing to do sleep, unless told otherwise
    given = {"OMP_WAIT_POLICY": "PASSIVE", **{name: text for name, text in os.environ.items() if name != TOKEN}}
    given |= {TOKEN: os.environ.get(TOKEN) or secrets.token_urlsafe(24)} if token and local else {}
    link = f"http://{address if local else 'localhost'}:{port}/" + (
        f"?key={quote(given[TOKEN], safe='')}" if TOKEN in given else ""
    )
    typer.echo(f"Invariscope: {link}")
    if not local:
        note(
            "others can reach this server: who does not sign in is a viewer, or sees nothing where coordinators are "
            "named (docs/security.md)"
        )
    if browser:
        threading.Thread(target=_open, args=(port, link), daemon=True).start()
    if subprocess.run(command, check=False, env=given).returncode:
        raise typer.Exit(Code.FAILURES)


def _command(page: Path, port: int, address: str, hosts: list[str]) -> list[str]:
    """Streamlit's, which answers to the names that are known: another site's page may not borrow this machine's."""
    names = [] if address in HERE else [*hosts, *HERE] if hosts else ["*"]
    where = [f"--server.address={address}", f"--server.port={port}", "--logger.hideWelcomeMessage=true"]
    told = [f"--server.allowedHosts={name}" for name in names]
    return [sys.executable, "-m", "streamlit", "run", str(page), *where, *told]


def _open(port: int, link: str) -> None:
    """Open the link once the server answers; a machine without a browser has printed it."""
    from urllib.request import urlopen

    until = time.monotonic() + 60  # seconds that the server has to start
    while time.monotonic() < until:
        try:
            with urlopen(f"http://localhost:{port}/_stcore/health", timeout=2):
                break
        except OSError:  # no answer yet, or a refusal
            time.sleep(0.3)
    else:
        return
    page = _leads_to(link)
    webbrowser.open(page.as_uri())
    time.sleep(READ_S)
    shutil.rmtree(page.parent, ignore_errors=True)


def _leads_to(link: str) -> Path:
    """A page for the user alone that leads to a link: what a program is started with, every user of a machine sees."""
    folder = Path(tempfile.mkdtemp(prefix="invariscope-"))
    page = folder / "open.html"
    with os.fdopen(os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(_REDIRECT.format(link=escape(link)))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return page
