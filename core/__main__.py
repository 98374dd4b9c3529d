"""The command line, ``python -m core``: commands of features, imported when they are called or asked for help."""

import sys
from collections import UserDict
from pathlib import Path
from typing import Annotated, Any

try:
    import typer
except ModuleNotFoundError as missing:
    sys.stderr.write(
        f"error: {sys.executable} lacks the package {missing.name}; run `make setup` in the checkout, then call "
        ".venv/bin/python -m core\n"
    )
    raise SystemExit(3) from None

from typer.main import get_group

from core.commands._shared import Code, Commands, exit_codes, note, stay, with_checks
from core.features import feature


class FeatureCommands(Commands):
    """The root of all commands of all features; a feature that cannot be used is named on stderr, and the rest works.
    An unknown command is refused as any group of commands refuses it."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _Listed()

    def list_commands(self, ctx: Any) -> list[str]:
        """Names, in the order of the help."""
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands of what features say of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(each.name, each.summary) for each in feature.commands()])
        _tell_troubles()

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that is called; where there is none, it may be one of a feature that cannot be used."""
        if args[0] not in self.commands:
            _tell_troubles()
        return super().resolve_command(ctx, args)


class _Listed(UserDict[str, Any]):
    """Command by name, imported when it is taken out; raises NotAvailable where that fails."""

    def __init__(self) -> None:
        super().__init__({each.name: each for each in feature.commands()})
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            command = self.data[name]
            found: Any = feature.follow(command.code)
            parent = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
            if isinstance(found, typer.Typer):
                parent.add_typer(found, name=name, short_help=command.summary)
            else:
                epilog = getattr(sys.modules[command.code.partition(":")[0]], "EPILOG", exit_codes())
                parent.command(name, epilog=epilog, short_help=command.summary)(found)
            self._made[name] = get_group(parent).commands[name]
            with_checks(self._made[name])
        return self._made[name]


def _tell_troubles() -> None:
    for sentence in feature.troubles():
        note(sentence)


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
