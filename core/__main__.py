"""The command line, ``python -m core``: assembles the commands and does nothing else."""

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

from core.commands import app as dashboard
from core.commands import (
    audit,
    calibrate,
    check,
    corpora,
    doctor,
    evaluators,
    export_pairs,
    import_scores,
    jobs,
    leaderboard,
    probes,
    publish,
    regions,
    report,
    runs,
    score,
    stories,
    study,
    suite,
    train,
    verify,
    video,
)
from core.commands._shared import Code, Commands, exit_codes, stay

app = typer.Typer(
    name="invariscope",
    help="Invariscope audits image-caption metrics: where they move although the meaning did not, "
    "and where they do not move although it broke.",
    epilog=exit_codes(failures="finished, but not everything worked"),
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for name, module, function, summary in (
    ("audit", audit, audit.audit, "Score a corpus under every probe and store the run."),
    (
        "export-pairs",
        export_pairs,
        export_pairs.export_pairs,
        "Write every pair to disk for a metric that runs elsewhere.",
    ),
    ("import-scores", import_scores, import_scores.import_scores, "Make a run of scores that were made elsewhere."),
    ("score", score, score.score, "Score a captioner's files, as clipscore does."),
    ("leaderboard", leaderboard, leaderboard.leaderboard, "Rank captioners, with intervals, under harmless edits."),
    ("suite", suite, suite.suite, "Hold an evaluator to people's judgements of captions."),
    ("check", check, check.check, "Test a metric of your own; the exit code says whether it passed."),
    ("runs", runs, runs.runs, "List the audits on this machine."),
    ("verify", verify, verify.verify, "Say whether runs are still what they were closed with."),
    ("report", report, report.report, "Write every table and figure of runs."),
    ("publish", publish, publish.publish, "Write runs into one read-only .duckdb file, or as static pages."),
    ("app", dashboard, dashboard.app, "Open the dashboard, on localhost only."),
    ("doctor", doctor, doctor.doctor, "Check this machine and say what to do."),
):
    app.command(name, epilog=module.EPILOG, short_help=summary)(function)
for name, group, summary in (
    ("evaluators", evaluators, "List the evaluators and how to get what is missing."),
    ("corpora", corpora, "List the corpora; count one."),
    ("study", study, "Studies of human validation: create, invite, export, agreement."),
    ("stories", stories, "What was collected in the dashboard: list it, write one as a file."),
    ("probes", probes, "List the probes and what each expects of a score."),
    ("calibrate", calibrate, "Learn a calibration from a run; apply one to its scores."),
    ("regions", regions, "Regions for UMIC: find them in pictures, or bring another detector's."),
    ("train", train, "Train an evaluator of your own (mcs, pr-mcs)."),
    ("video", video, "Videos: document frequencies, folders, edits of frames."),
    ("jobs", jobs, "Audits that go on without a shell: start, watch, cancel, resume."),
):
    app.add_typer(group.app, name=name, short_help=summary)


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
