"""``jobs``: audits that go on without a shell or a browser, one at a time, the others in line."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from core.audit.request import OFFLINE
from core.commands import _options
from core.commands._shared import Code, exit_codes, note, print_json, table

if TYPE_CHECKING:
    from core.jobs.job_queue import Job

app = typer.Typer(
    help="List the audits that run without a shell, start one, cancel it, resume it.",
    invoke_without_command=True,
    epilog=exit_codes(),
)

JobId = Annotated[str, typer.Argument(help="Name of the job: the id of its run.")]


@app.callback()
def list_all(
    ctx: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False,
) -> None:
    """List the jobs: running, in line, ended."""
    if ctx.invoked_subcommand is not None:
        return
    from core.jobs.job_queue import list_jobs

    found, problems = list_jobs()
    if as_json:
        print_json(
            [
                {"job": job.id, "request": job.request.model_dump(mode="json"), **job.state.model_dump(mode="json")}
                for job in found
            ]
        )
    else:
        table(("job", "state", "attempt", "images", "left", "queued", "last line"), [_row(job) for job in found])
        if not found:
            note("no job yet; start one with: python -m core jobs start")
    for problem in problems:
        note(problem)


@app.command(epilog=exit_codes(ok="in line"), short_help="Put an audit in line; it runs without this shell.")
@_options.asks(
    "corpus root option probes evaluators subject language captions_each limit sample seed run_id device workers "
    "cluster",
    evaluators={"help": "Names or path/to/file.py:Name, comma-separated. Default: those of audit."},
    subject={"default": "template", "help": "Caption that is held while the image is edited."},
    seed={"min": 0},
    run_id={"help": "Name of the run. Default: corpus and time."},
)
def start(asked: dict[str, Any]) -> None:
    """Put an audit in line. It begins at once where nothing else runs, and goes on when this shell is closed."""
    from core.jobs import job_queue
    from core.jobs.request import audit_request

    request = audit_request(**{"evaluators": OFFLINE, **_options.fields(asked)})
    job = job_queue.start(request)
    typer.echo(f"job {job.id} is in line; see it with: python -m core jobs")


@app.command(epilog=exit_codes(ok="asked to stop"), short_help="Stop a job as Ctrl-C would.")
def cancel(job: JobId) -> None:
    """Take a job out of the line, or stop the running one as Ctrl-C would; what it finished is kept."""
    from core.jobs import job_queue

    stopped = job_queue.cancel(job)
    typer.echo(f"job {job} is {'stopping' if stopped.stopping else stopped.status}")


@app.command(epilog=exit_codes(ok="in line"), short_help="Go on with a job that ended early.")
def resume(job: JobId) -> None:
    """Put a job that ended early in line again; its run goes on where it was."""
    from core.jobs import job_queue

    job_queue.resume(job)
    typer.echo(f"job {job} is in line; see it with: python -m core jobs")


@app.command(epilog=exit_codes(ok="shown"), short_help="Show the last lines that a job said.")
def log(job: JobId, lines: Annotated[int, typer.Option(min=1, help="How many.")] = 40) -> None:
    """Show the last lines that a job said."""
    from core.jobs import job_queue

    typer.echo(job_queue.get(job).log(lines=lines))


@app.command(epilog=exit_codes(ok="off the list"), short_help="Take jobs that ended off the list; their runs stay.")
def forget(job: Annotated[list[str], typer.Argument(help="Names of jobs that have ended.")]) -> None:
    """Take jobs that have ended off the list, with their logs; their runs stay."""
    from core.jobs import job_queue

    job_queue.forget(job)
    typer.echo(f"{len(job)} off the list; the runs stay")


@app.command(epilog=exit_codes(ok="the line is empty, or another worker is at it"), short_help="Run what is in line.")
def work() -> None:
    """Run the jobs in line one by one, then end; starting a job does this by itself.

    Ctrl-C ends only this command: an audit that runs goes on, and the next worker looks after it.
    """
    import signal

    from core.jobs.work import work as drain

    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a background shell's gift, which audits would inherit
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        if not drain(tell=typer.echo):
            note("another worker is at it")
    except KeyboardInterrupt:
        note("no longer looking after the jobs; an audit that runs goes on")
        raise typer.Exit(Code.INTERRUPTED) from None


def _row(job: "Job") -> tuple[object, ...]:
    import time

    from core.api.progress_lines import duration

    told = job.progress
    images = f"{told.done:,} of {told.total:,}" if told else ""
    left = told.left_s(time.time()) if told and job.status == "running" else None
    said = job.last_line if job.status in ("failed", "died") else ""
    return (
        job.id,
        "stopping" if job.stopping else job.status,
        job.state.attempt,
        images,
        "" if left is None else f"about {duration(left)}",
        job.state.queued,
        said,
    )
