"""``verify``: whether runs and published files are still what they were closed with."""

from typing import Annotated

import typer

from core.commands._shared import Code, exit_codes, note, print_json, table

EPILOG = exit_codes(ok="everything is whole, or has no seal yet", failures="something is damaged")


def verify(
    places: Annotated[
        list[str] | None,
        typer.Argument(help="Ids from 'runs', run folders, .duckdb files, folders of them. Default: all runs here."),
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Seal the named runs that have no seal: later changes are seen then.")
    ] = False,
    join: Annotated[
        bool, typer.Option("--join", help="Join the shards of the named runs into one file a table, once all is whole.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print every verdict as JSON for a script.")] = False,
) -> None:
    """Read every byte of runs and compare it with the SHA-256 that each run was closed with.

    A run of an older Invariscope has no seal: its rows are compared with its counts, and it is called unverified.
    """
    from core import settings
    from core.api.opened_run import place
    from core.audit.shards import only_one
    from core.errors import InvalidInput
    from core.store.joined_shards import join as join_shards
    from core.store.run_files import holds_runs
    from core.store.whole import DAMAGED, UNVERIFIED, seal_later
    from core.store.whole import verify as read

    if (write or join) and not places:
        raise InvalidInput("--write and --join change the runs that are named, got none; name one of 'runs'")
    chosen = [place(each) for each in places or ()]
    here = (settings.results_dir(), settings.runs_dir())
    found = [verdict for path in chosen or [each for each in here if holds_runs(each)] for verdict in read(path)]
    if write or join:
        for each in [each for each in found if each.path.is_dir() and (join or each.state == UNVERIFIED)]:
            with only_one(each.path):
                if write and each.state == UNVERIFIED:
                    run = seal_later(each.path)
                    note(f"sealed {run.id}: a change from now on is seen; nothing is said of the time before")
                if join:
                    join_shards(each.path)
        found = [verdict for path in chosen for verdict in read(path)]
    if as_json:
        print_json([verdict.as_dict() for verdict in found])
    else:
        rows = [(each.run, each.state, each.by, each.sealed, each.files, each.path) for each in found]
        table(("run", "state", "sealed by", "sealed", "files read", "path"), rows)
        for sentence in [problem for verdict in found for problem in verdict.problems]:
            note(sentence)
        if not found:
            note("no run yet; start one with: python -m core audit")
    if any(verdict.state == DAMAGED for verdict in found):
        raise typer.Exit(Code.FAILURES)
