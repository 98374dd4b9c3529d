"""What all commands share: exit codes, errors as one sentence, lists, strict JSON, whole files."""

import json
import shlex
import subprocess
import sys
from typing import Annotated

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from core.commands import _shared
from core.commands._shared import Code, Commands, json_text, key_values, listed, printable, references
from core.errors import BadImage, InvalidInput, NotAvailable, StoreError
from tests.commands.calling import Invoke, Shell


def raising(error: BaseException) -> typer.Typer:
    app = typer.Typer(cls=Commands, pretty_exceptions_enable=False)

    @app.callback()
    def root() -> None:
        """Nothing."""

    @app.command()
    def act() -> None:
        raise error

    return app


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidInput("wrong"), Code.BAD_INPUT),
        (BadImage("wrong"), Code.BAD_INPUT),
        (StoreError("wrong"), Code.BAD_INPUT),
        (NotAvailable("wrong"), Code.NOT_AVAILABLE),
    ],
)
def test_an_error_on_purpose_is_one_sentence_and_an_exit_code(error: Exception, code: Code) -> None:
    result = CliRunner().invoke(raising(error), ["act"])
    assert result.exit_code == code
    assert result.stderr == "error: wrong\n"


def test_a_file_that_cannot_be_opened_is_named() -> None:
    result = CliRunner().invoke(raising(PermissionError(13, "Permission denied", "/srv/x")), ["act"])
    assert (result.exit_code, result.stderr) == (Code.BAD_INPUT, "error: /srv/x cannot be used: Permission denied\n")


def test_too_little_memory_is_no_bug() -> None:
    result = CliRunner().invoke(raising(MemoryError()), ["act"])
    assert (result.exit_code, result.stderr.split(";")[0]) == (
        Code.NOT_AVAILABLE,
        "error: this machine has too little memory for it",
    )


def test_ctrl_c_ends_with_130() -> None:
    result = CliRunner().invoke(raising(KeyboardInterrupt()), ["act"])
    assert (result.exit_code, result.stderr) == (Code.INTERRUPTED, "error: interrupted\n")


def test_a_bug_is_not_dressed_up_as_bad_input() -> None:
    result = CliRunner().invoke(raising(ZeroDivisionError()), ["act"])
    assert isinstance(result.exception, ZeroDivisionError)


def test_debugging_lets_the_traceback_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INVARISCOPE_DEBUG", "1")
    assert isinstance(CliRunner().invoke(raising(InvalidInput("wrong")), ["act"]).exception, InvalidInput)


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "audit",
        "score",
        "publish",
        "runs",
        "doctor",
        "app",
        "evaluators",
        "evaluators show",
        "corpora",
        "corpora show",
        "probes",
        "probes rejected",
    ],
)
def test_every_help_says_what_the_exit_codes_mean(invoke: Invoke, arguments: str) -> None:
    result = invoke(*arguments.split(), "--help")
    shown = " ".join(result.stdout.split())
    assert result.exit_code == Code.OK
    assert "Exit codes: 0 " in shown
    assert "130 interrupted." in shown


def test_a_command_that_does_not_exist_is_bad_usage(shell: Shell) -> None:
    result = shell("oddit")
    assert result.returncode == Code.BAD_INPUT
    assert "audit" in result.stderr  # what was meant


def test_the_version_is_the_packages(invoke: Invoke) -> None:
    from core import __version__

    assert invoke("--version").stdout == f"invariscope {__version__}\n"


def test_help_loads_no_model_library_and_no_tables() -> None:
    code = (
        "import sys; import core.__main__; heavy = {'torch', 'pandas', 'cv2', 'duckdb', 'pyarrow', 'numpy', 'timm'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"


def test_a_reader_that_leaves_early_is_no_error() -> None:
    command = f"{sys.executable} -m core probes | head -n 1; exit ${{PIPESTATUS[0]}}"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (Code.OK, "")


def test_names_are_split_on_commas_and_blanks_once_each() -> None:
    assert listed(["vflip, blur", "rotation", "blur"]) == ("vflip", "blur", "rotation")
    assert listed(None) == ()


def test_evaluators_are_split_on_commas_only_so_that_a_path_may_hold_blanks() -> None:
    assert references(["conse-lite0, my file.py:Metric"]) == ("conse-lite0", "my file.py:Metric")


def test_options_are_key_value_pairs() -> None:
    assert key_values(["split=val2017", "url=a=b"]) == {"split": "val2017", "url": "a=b"}


@pytest.mark.parametrize("pairs", [["split"], ["=val"], ["a=1", "a=2"]])
def test_an_option_without_a_key_or_twice_is_refused(pairs: list[str]) -> None:
    with pytest.raises(InvalidInput, match="--option"):
        key_values(pairs)


@given(st.text())
def test_nothing_printed_can_steer_the_terminal(text: str) -> None:
    assert printable(text).isprintable()
    assert len(printable(text)) == len(text)


def test_what_is_no_number_becomes_null() -> None:
    assert json.loads(json_text({"a": float("nan"), "b": [float("inf"), 1.5], 3: None})) == {
        "a": None,
        "b": [None, 1.5],
        "3": None,
    }


def test_a_pipe_gets_whole_lines(capsys: pytest.CaptureFixture[str]) -> None:
    _shared.table(("name", "why"), [("a", "x" * 300), ("[bold]b[/bold]", None)], title="")
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].endswith("x" * 300)
    assert "[bold]b[/bold]" in lines[2]
    assert all(line == line.rstrip() for line in lines)


def test_a_command_can_be_pasted_back_into_a_shell() -> None:
    seen: list[str] = []
    app = typer.Typer(pretty_exceptions_enable=False)

    @app.callback()
    def root() -> None:
        """Nothing."""

    @app.command()
    def act(
        ctx: typer.Context,
        place: str,
        name: Annotated[list[str] | None, typer.Option("--name", "-n")] = None,
        limit: int = 3,
        quick: Annotated[bool, typer.Option("--quick")] = False,
    ) -> None:
        seen.append(_shared.command_line(ctx, ctx.params))

    arguments = ["act", "a b", "--name", "it's", "-n", "$HOME", "--limit", "7", "--quick"]
    assert CliRunner().invoke(app, arguments).exit_code == Code.OK
    assert shlex.split(seen[0])[:3] == ["python", "-m", "core"]
    assert CliRunner().invoke(app, shlex.split(seen[0])[3:]).exit_code == Code.OK
    assert seen[0] == seen[1]
    assert all(word in shlex.split(seen[0]) for word in ("a b", "it's", "$HOME", "7", "--quick"))
    CliRunner().invoke(app, ["act", "x"])
    assert seen[2] == "python -m core act x"
