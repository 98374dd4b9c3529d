"""``reproduce``: what papers print of metrics on suites, beside what was reached here."""

from typing import Annotated

import typer

from core.commands._shared import exit_codes, note, print_json, table

EPILOG = exit_codes(ok="listed, whatever agrees")


def reproduce(
    suite: Annotated[str | None, typer.Option(help="Of this suite alone, e.g. flickr8k-expert.")] = None,
    metric: Annotated[str | None, typer.Option(help="Of this metric alone, as it is printed, e.g. CLIP-S.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False,
) -> None:
    """List every number that the papers print of a metric on a suite, and what the results kept by suite reached.

    A number agrees where it is the same to the last printed digit. What was not run stands with the command that would
    run it: the suite's file and pictures are its publisher's.
    """
    from core.errors import InvalidInput
    from core.features.suites.printed_values import AGREES, DIFFERS, reproduced
    from core.features.suites.suite_result import stored

    results, problems = stored()
    for problem in problems:
        note(problem)
    rows = [
        each
        for each in reproduced(results)
        if suite in (None, each.value.suite) and metric in (None, each.value.metric)
    ]
    if not rows:
        raise InvalidInput(f"no paper prints a number of {metric or 'a metric'} on {suite or 'a suite'}; leave one out")
    names = ("paper", "metric", "setting", "suite", "measure", "printed", "here", "found")
    header = (*names, "weights or command", "rule")
    lines = [
        (
            *(f"{each.value.paper}, {each.value.table}", each.value.metric, each.value.setting, each.value.suite),
            *(f"{each.value.measure} {each.value.group}".strip(), each.value.printed),
            *("" if each.got is None else f"{each.got:.2f}", each.found, each.weights or each.value.command),
            each.value.rule,
        )
        for each in rows
    ]
    if as_json:
        print_json([dict(zip(header, line, strict=True)) for line in lines])
    else:
        table(header, lines, title="Printed in papers, and reached here (here: × 100)")
    agree, differ = (sum(each.found == found for each in rows) for found in (AGREES, DIFFERS))
    note(f"{len(rows)} printed numbers: {agree} agree, {differ} differ, {len(rows) - agree - differ} were not run")
