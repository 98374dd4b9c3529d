"""Options that name an output, each with a callback of here: checked before any work is done; ``-`` is stdout."""

import sys
from collections.abc import Iterable
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated, Any, cast
from xml.etree import ElementTree

import typer

from core.commands._shared import printable
from core.errors import InvalidInput
from core.writing import check_file, check_folder

STDOUT = Path("-")  # stands for standard output, wherever one text is written


def file(value: Path | None) -> Path | None:
    """Callback of an option for one file that cannot be written to standard output."""
    if value == STDOUT:
        raise InvalidInput("- is standard output, and this output is no single text; name a file")
    return None if value is None else check_file(value)


ProgressFile = Annotated[
    Path | None,
    typer.Option(help="Tell how far it is in this file too, as JSON, for a program that watches.", callback=file),
]
"""Option ``--progress-file`` of every command that may be a job."""


def text(ctx: typer.Context, value: Path | None) -> Path | None:
    """Callback of an option for one text, CSV or JSON file; with ``-`` everything else goes to standard error."""
    if value != STDOUT:
        return None if value is None else check_file(value)
    if isinstance(sys.stdout, _Aside):
        raise InvalidInput("- is given for two outputs, and standard output takes one; name a file for the other")
    ctx.with_resource(redirect_stdout(cast(IO[str], _Aside(sys.stdout))))
    return value


def folder(value: Path | None) -> Path | None:
    """Callback of an option for a folder that a command fills."""
    if value == STDOUT:
        raise InvalidInput("- is standard output, and this output is a folder; name one")
    return None if value is None else check_folder(value)


def folder_above(value: Path | None) -> Path | None:
    """Callback of an option for a folder of outputs, such as runs: it may be a link, what is made in it may not."""
    if value == STDOUT:
        raise InvalidInput("- is standard output, and this output is a folder; name one")
    if value is not None and value.exists() and not value.is_dir():
        raise InvalidInput(f"{value} is no folder; name a folder")
    return value


def write_text(path: Path, content: str) -> None:
    """Write a text as a whole file or nothing, or to STDOUT; raises StoreError if it cannot be written."""
    from core.store import text_files

    if path != STDOUT:
        text_files.write_text(path, content)
        return
    stream = sys.stdout.real if isinstance(sys.stdout, _Aside) else sys.stdout
    stream.write(content)
    stream.flush()


class _Aside:
    """Standard output while ``-`` is an output: what a command says goes to standard error, its output to ``real``."""

    def __init__(self, real: IO[str]) -> None:
        self.real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stderr, name)


@dataclass(frozen=True, slots=True)
class Case:
    """One line of a result."""

    name: str  # of what was tested
    said: str  # what was found, in a sentence
    failed: bool = False  # whether that is a failure
    skipped: bool = False  # whether nothing can be said of it


def junit(suite: str, cases: Iterable[Case]) -> str:
    """Write a suite of cases; what failed or was skipped has its sentence as message, another case as output."""
    held = list(cases)
    counts = {
        "tests": len(held),
        "failures": sum(case.failed for case in held),
        "skipped": sum(case.skipped for case in held),
    }
    root = ElementTree.Element("testsuite", {"name": printable(suite)} | {name: str(n) for name, n in counts.items()})
    for case in held:
        one = ElementTree.SubElement(root, "testcase", classname=printable(suite), name=printable(case.name))
        if case.failed or case.skipped:
            ElementTree.SubElement(one, "failure" if case.failed else "skipped", message=printable(case.said))
        else:
            ElementTree.SubElement(one, "system-out").text = printable(case.said)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
