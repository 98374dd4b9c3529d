"""The command line, ``python -m core``: its root; the commands are those of the features."""

import sys
from pathlib import Path
from typing import Annotated

try:
    import typer
except ModuleNotFoundError as missing:
    sys.stderr.write(
        f"error: {sys.executable} lacks the package {missing.name}; run `make setup` in the checkout, then call "
        ".venv/bin/python -m core\n"
    )
    raise SystemExit(3) from None

from core.commands._feature_commands import FeatureCommands
from core.commands._shared import Code, exit_codes, stay

app = typer.Typer(
    name="invariscope",
    help="Invariscope audits image-caption metrics: where they move although the meaning did not, "
    "and where they do not move although it broke.",
    epilog=exit_codes(failures="finished, but not everything worked"),
    cls=FeatureCommands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from core import __version__

        typer.echo(f"invariscope {__version__}")
        raise typer.Exit()


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Options that belong to no command."""


def main() -> None:
    """Run the command line; a bug ends with its traceback and its own code."""
    stay()
    try:
        app(prog_name="invariscope" if Path(sys.argv[0]).stem == "invariscope" else "python -m core")
    except Exception:
        import traceback

        traceback.print_exc()
        typer.echo("error: this is a bug in Invariscope; please report it with the lines above", err=True)
        raise SystemExit(Code.BUG) from None


if __name__ == "__main__":
    main()
