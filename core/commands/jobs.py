"""``jobs``: the worker that looks after audits that go on without a browser, one at a time, the others in line."""

import typer

from core.commands._shared import Code, exit_codes, note

app = typer.Typer(
    help="Run the jobs that the pages put in line; starting one there calls this by itself.", no_args_is_help=True
)


@app.command(epilog=exit_codes(ok="the line is empty, or another worker is at it"), short_help="Run what is in line.")
def work() -> None:
    """Run the jobs in line one by one, then end; starting a job does this by itself.

    Ctrl-C ends only this command: an audit that runs goes on, and the next worker looks after it.
    """
    import signal

    from core.jobs.job_queue import work as drain

    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a background shell's gift, which audits would inherit
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        if not drain(tell=typer.echo):
            note("another worker is at it")
    except KeyboardInterrupt:
        note("no longer looking after the jobs; an audit that runs goes on")
        raise typer.Exit(Code.INTERRUPTED) from None
