"""The command line, ``python -m core``: assembles the commands and does nothing else."""

from typing import Annotated

import typer

from core.commands import corpora, doctor, evaluators, probes
from core.commands._shared import Commands, exit_codes

app = typer.Typer(
    name="invariscope",
    help="Invariscope audits image-caption metrics: where they move although the meaning did not, "
    "and where they do not move although it broke.",
    epilog=exit_codes(failures="finished, but not everything worked"),
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(evaluators.app, name="evaluators")
app.add_typer(corpora.app, name="corpora")
app.add_typer(probes.app, name="probes")
app.command("doctor", epilog=doctor.EPILOG)(doctor.doctor)


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
    """Run the command line."""
    app(prog_name="python -m core")


if __name__ == "__main__":
    main()
