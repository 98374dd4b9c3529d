"""What every command shares: exit codes, errors as one sentence, tables, lists typed on one line."""

import os
import shlex
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import IntEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, Protocol

import typer
from typer.core import TyperGroup

from core.api.progress_lines import PLAIN_EVERY_S, Clock, PlainLines
from core.corpora.ordinary_paths import ordinary
from core.errors import InvalidInput, InvariscopeError, NotAvailable

if TYPE_CHECKING:
    import pandas as pd

    from core.analysis.questions.question import Column
    from core.audit.run import ProgressFile

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for a script.")]
LONGEST = 1900  # characters of the longest sentence about an error


class Code(IntEnum):
    """Exit codes that a script can rely on."""

    OK = 0
    FAILURES = 1
    BAD_INPUT = 2
    NOT_AVAILABLE = 3
    BUG = 70
    INTERRUPTED = 130


def exit_codes(*, ok: str = "done", failures: str = "") -> str:
    """Return the line about exit codes that closes a command's help; no failures: the command never ends with 1."""
    parts = [f"0 {ok}", *([f"1 {failures}"] if failures else [])]
    parts += ["2 the command line, an input or an output cannot be used", "3 something is not on this machine"]
    return f"Exit codes: {', '.join(parts)}, 70 a bug in Invariscope, 130 interrupted."


class Commands(TyperGroup):
    """The root of all commands: what Invariscope raises on purpose becomes one sentence and an exit code. A path that a
    command is given names an ordinary file or folder, or nothing yet, and a device is one of this machine."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for command in self.commands.values():
            with_checks(command)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; ``INVARISCOPE_DEBUG=1`` lets every error through with its traceback."""
        try:
            return super().invoke(ctx) if os.environ.get("INVARISCOPE_DEBUG") else self._told(ctx)
        except SystemExit as error:  # click and this house end a command otherwise
            place = traceback.extract_tb(error.__traceback__)[-1]
            complain(
                f"{place.filename}, line {place.lineno}, ended the process with exit({error.code}) before the command "
                "was over; take the exit out of it"
            )
            ctx.exit(Code.BAD_INPUT)

    def _told(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except InvariscopeError as error:
            complain(str(error))
            ctx.exit(Code.NOT_AVAILABLE if isinstance(error, NotAvailable) else Code.BAD_INPUT)
        except MemoryError:
            complain("this machine has too little memory for it; free some, or give less at once")
            ctx.exit(Code.NOT_AVAILABLE)
        except BrokenPipeError:  # the reader of a pipe left (`… | head`): nothing is wrong
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(Code.OK)
        except OSError as error:
            complain(f"{error.filename or 'a file'} cannot be used: {error.strerror or error}")
            ctx.exit(Code.BAD_INPUT)
        except KeyboardInterrupt:
            complain("interrupted")
            ctx.exit(Code.INTERRUPTED)


def stay() -> None:
    """From now on nothing ends this process unseen: what calls ``os._exit`` is named, and 0 becomes 2. A file of
    somebody's that a command imports may call it, and a build's gate would pass with nothing tested."""
    leave, ours = os._exit, os.getpid()

    def named(code: int = 0) -> NoReturn:
        if os.getpid() == ours:  # a process that was forked ends like that
            caller = sys._getframe(1)
            complain(
                f"{caller.f_code.co_filename}, line {caller.f_lineno}, ended the process with os._exit({code}) "
                "before the command was over; take the exit out of it"
            )
            code = code or Code.BAD_INPUT
        leave(code)

    os._exit = named  # type: ignore[assignment]


def with_checks(command: Any) -> None:
    """Let a command, or each of a group, look at the paths and the device that it is given before it begins."""
    if isinstance(command, TyperGroup):
        for each in command.commands.values():
            with_checks(each)
        return
    callback = command.callback
    if callback is None:
        return

    @wraps(callback)
    def called(*args: Any, **values: Any) -> Any:
        for value in values.values():
            for each in value if isinstance(value, list | tuple) else [value]:
                if isinstance(each, Path):
                    ordinary(each)
        if values.get("device") not in (None, "", "cpu"):
            from core.evaluators.pool import check_device

            check_device(values["device"])
        return callback(*args, **values)

    command.callback = called


def complain(sentence: str) -> None:
    """Write one sentence to stderr; one that repeats an endless name is cut."""
    cut = sentence if len(sentence) <= LONGEST else f"{sentence[:LONGEST]}…"
    typer.echo(f"error: {printable(cut)}", err=True)


def note(sentence: str) -> None:
    """Write a remark to stderr, where it does not disturb a script that reads stdout."""
    typer.echo(printable(sentence), err=True)


def printable(text: str) -> str:
    """Replace control characters, so that a caption or a file name cannot steer the terminal."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)


def listed(values: Iterable[str] | None) -> tuple[str, ...]:
    """Split ``a,b c`` and repeated options into names, each once, in order."""
    words = [word for value in values or () for word in value.replace(",", " ").split()]
    return tuple(dict.fromkeys(words))


def references(values: Iterable[str] | None) -> tuple[str, ...]:
    """Split evaluators on commas only: a path may hold spaces."""
    words = [word.strip() for value in values or () for word in value.split(",")]
    return tuple(dict.fromkeys(word for word in words if word))


def key_values(pairs: Iterable[str] | None) -> dict[str, str]:
    """Read ``key=value`` options; raises InvalidInput for a pair without ``=``, an empty key, or a key given twice."""
    options: dict[str, str] = {}
    for pair in pairs or ():
        key, separator, value = pair.partition("=")
        if not separator or not key:
            raise InvalidInput(f"--option takes key=value, got {pair!r}; e.g. --option split=val2017")
        if key in options:
            raise InvalidInput(f"--option {key} is given twice ({options[key]!r} and {value!r}); give it once")
        options[key] = value
    return options


def command_line(ctx: typer.Context, values: Mapping[str, Any]) -> str:
    """Return the shell command that calls the current command with these values; defaults are left out."""
    words = ["python", "-m", "core", str(ctx.info_name)]
    for parameter in ctx.command.params:
        value = values.get(str(parameter.name))
        if value is None or value is False or value == parameter.default:
            continue
        name = max(parameter.opts, key=len)
        if value is True:
            words.append(name)
        else:
            each = value if isinstance(value, list | tuple) else [value]
            words += [word for one in each for word in ((name, str(one)) if name.startswith("-") else (str(one),))]
    return shlex.join(words)


def existing(folder: Path) -> Path:
    """The folder itself or the closest one above it that exists."""
    return next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str = "") -> None:
    """Print a table: ruled on a terminal, plain aligned lines in a pipe (nothing is cut off)."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    terminal = sys.stdout.isatty()
    grid = Table(title=Text(title) if title else None, title_justify="left", box=SIMPLE_HEAD if terminal else None)
    for column in columns:
        grid.add_column(Text(column), overflow="fold", no_wrap=not terminal)
    for row in rows:
        cells = ("" if value is None else f"{value:,}" if type(value) is int else str(value) for value in row)
        grid.add_row(*(Text(printable(each)) for each in cells))
    console = Console(width=None if terminal else 1000, highlight=False)
    if terminal:
        console.print(grid)
        return
    with console.capture() as capture:
        console.print(grid)
    typer.echo("\n".join(line.rstrip() for line in capture.get().splitlines()))


def show_table(frame: "pd.DataFrame", columns: "Iterable[Column]", title: str = "") -> None:
    """Print a frame as a report writes it, intervals as "(1 to 2)"; columns that are lacking or empty are left out."""
    from core.report.document import SPOKEN, Table, cells

    there = [each for each in columns if each.name in frame and frame[each.name].replace("", None).notna().any()]
    shown = cells(Table("", title, "", frame, tuple(there)), ends=SPOKEN)
    table([each.header for each in there], shown, title=title)


def print_json(value: object) -> None:
    """Print a value as JSON, NaN as null."""
    typer.echo(json_text(value))


def json_text(value: object, *, indent: int | None = 2) -> str:
    """Return a value as strict JSON: what is not a number becomes null."""
    import json

    return json.dumps(_strict(value), indent=indent, ensure_ascii=False, allow_nan=False, default=str)


def _strict(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _strict(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(each) for each in value]
    return None if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))) else value


class Update(Protocol):
    """Say how far it is."""

    def __call__(self, done: int, total: int, eta_s: float | None = None, doing: str = "") -> None:
        """Args: done: how many; total: of how many; eta_s: seconds left, None to have it estimated; doing: at once."""


@contextmanager
def progress(what: str, *, unit: str = "", plain_every_s: float = PLAIN_EVERY_S) -> Iterator[Update]:
    """Show on stderr how far ``what`` is, e.g. ``scoring`` of ``pairs``; plain lines where that is no terminal."""
    clock = Clock()
    if not sys.stderr.isatty():
        yield PlainLines(what, unit, clock, plain_every_s)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    texts = ("{task.description}", unit, "{task.fields[left]}")
    told, counted, rest = (TextColumn(each, markup=False) for each in texts)
    columns = (told, BarColumn(), MofNCompleteColumn(), counted, TimeElapsedColumn(), rest)
    with Progress(*columns, console=Console(file=sys.stderr)) as bar:
        task = bar.add_task(what, total=None, left="")

        def update(done: int, total: int, eta_s: float | None = None, doing: str = "") -> None:
            clock.tick()
            left = ", ".join(filter(None, (clock.left(done, total, eta_s), doing)))
            bar.update(task, completed=done, total=total, left=left)

        yield update


class Teller:
    """Tells a file (None: nobody watches) how far a command is, of ``total`` in all its parts, which weigh alike."""

    def __init__(self, path: Path | None, total: int, *, parts: int = 1) -> None:
        self._path, self._total, self._parts, self._ended = path, total, parts, 0
        self._begun = time.monotonic()
        self._file: ProgressFile | None = None
        self._say("loading", 0.0)

    def __call__(self, done: float, total: float) -> None:
        """Say how far the present part is; a total of 0 is one that nobody knows."""
        self._say("scoring", (self._ended + (min(done / total, 1.0) if total else 0.0)) / self._parts)

    def beside(self, update: Update) -> Callable[[int, int], None]:
        """What tells both the terminal and the file of the present part."""

        def both(done: int, total: int) -> None:
            update(done, total)
            self(done, total)

        return both

    def part_done(self) -> None:
        """End the present part."""
        self._ended += 1
        self._say("scoring", self._ended / self._parts)

    def complete(self) -> None:
        """Say that the result is on the disk."""
        self._say("complete", 1.0)

    def _say(self, phase: str, share: float) -> None:
        if self._path is None:
            return
        from core.audit.run import Progress, ProgressFile

        self._file = self._file or ProgressFile(self._path)
        spent = time.monotonic() - self._begun
        left = spent / share * (1 - share) if share > 0 else None
        self._file(Progress(phase, round(share * self._total), self._total, spent, left, self._ended, self._parts))
