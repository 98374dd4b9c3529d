"""The command line, ``python -m core``: assembles the commands and does nothing else."""

from typing import Annotated

import typer

from core.commands import app as dashboard
from core.commands import audit, corpora, doctor, evaluators, probes, publish, runs, score
from core.commands._shared import Code, Commands, exit_codes

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
app.command("audit", epilog=audit.EPILOG)(audit.audit)
app.command("score", epilog=score.EPILOG)(score.score)
app.add_typer(evaluators.app, name="evaluators")
app.add_typer(corpora.app, name="corpora")
app.add_typer(probes.app, name="probes")
app.command("runs", epilog=runs.EPILOG)(runs.runs)
app.command("publish", epilog=publish.EPILOG)(publish.publish)
app.command("app", epilog=dashboard.EPILOG)(dashboard.app)
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
    """Run the command line; a bug ends with its traceback and a code of its own."""
    try:
        app(prog_name="python -m core")
    except Exception:
        import traceback

        traceback.print_exc()
        typer.echo("error: this is a bug in Invariscope; please report it with the lines above", err=True)
        raise SystemExit(Code.BUG) from None


if __name__ == "__main__":
    main()
