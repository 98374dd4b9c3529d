"""``doctor``: is this machine ready, and if not, what to do."""

from typing import Annotated

import typer

from core.commands._shared import Code, exit_codes, listed, print_json, table

EPILOG = exit_codes(ok="no failure (there may be warnings)", failures="at least one failure")


def doctor(
    only: Annotated[list[str] | None, typer.Option(help="Only these checks, comma-separated, e.g. browser.")] = None,
    published: Annotated[
        bool, typer.Option("--published", help="Also score the publishers' own examples with the evaluators here.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False,
) -> None:
    """Check Python, packages, weights, the demo corpus, folders, disk, browser and GPU; say what to do."""
    from core.commands._checks import examine

    found = examine(listed(only), published=published)
    if as_json:
        print_json([each.as_dict() for each in found])
    else:
        rows = [
            (each.status.value, each.name, f"{each.detail}{f': {each.remedy}' if each.remedy else ''}")
            for each in found
        ]
        table(("", "check", "found"), rows)
    if any(each.status == "fail" for each in found):
        raise typer.Exit(Code.FAILURES)
