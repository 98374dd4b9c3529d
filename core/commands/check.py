"""``check``: a unit test for a metric, with an exit code that a build can stop at."""

import math
from typing import TYPE_CHECKING, Annotated

import typer

from core.commands._shared import Code, exit_codes, listed, note, print_json, table

if TYPE_CHECKING:
    from core.analysis.metric_check import FamilyShift, MetricReport

EPILOG = exit_codes(
    ok="every promise is kept and no family is shown to move it further than the threshold",
    failures="a promise is broken, a family is shown to move it further, or with --strict one is undecided",
)


def check(
    evaluator: Annotated[str, typer.Argument(help="path/to/file.py:Name, or a name from 'evaluators'.")],
    threshold: Annotated[float, typer.Option(help="Most that a family may move the score: median |%Δ|.")] = 5.0,
    items: Annotated[int, typer.Option(min=3, help="How many items of the demo corpus.")] = 24,
    probes: Annotated[
        list[str] | None, typer.Option(help="Probes, families or axes, comma-separated; default: the usual ones.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="An undecided family fails too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False,
) -> None:
    """Check a metric: shape, order, determinism, batches, range, NaN; then edits that change no meaning.

    Each family of edits has a line: the median over items of the score's absolute percent change, with its 95 %
    interval and n. A family fails where the interval lies above the threshold; where it lies astride, or there are too
    few items for one, the family is undecided.
    """
    from core.analysis.metric_check import PROBES, check_metric
    from core.commands._progress import progress
    from core.corpora.registry import catalogue
    from core.probes.registry import select

    chosen = select(listed(probes) or PROBES)
    corpus = catalogue().get("demo").load()
    with progress("checking", unit="items") as update:
        report = check_metric(
            evaluator, corpus.items, chosen, threshold=threshold, count=items, progress=lambda *told: update(*told)
        )
    if as_json:
        print_json(report.as_dict())
    else:
        _print(report)
    if not report.passed or (strict and report.undecided):
        raise typer.Exit(Code.FAILURES)


def _print(report: "MetricReport") -> None:
    table(("", "promise", "found"), [(_word(each.passed), each.check, each.detail) for each in report.contract],
          title=report.evaluator)  # fmt: skip
    table(
        ("", "family", "median |%Δ|", "95 % interval", "median %Δ", "n", "without"),
        [_line(each) for each in report.families],
        title=f"Edits that change no meaning, {report.items} items, threshold {report.threshold:g} %",
    )
    if report.failure:
        note(f"could not be run: {report.failure}")
    if report.undecided:
        note(f"undecided, {report.items} items show neither: {', '.join(map(_undecided, report.undecided))}")
    if not report.passed:
        note("failed")
    elif report.undecided:
        note("nothing failed; the undecided families need more items (--items), and fail with --strict")
    else:
        note("passed")


def _undecided(each: "FamilyShift") -> str:
    return each.family if math.isnan(each.needed) else f"{each.family} (about {each.needed:.0f} items would decide it)"


def _line(each: "FamilyShift") -> tuple[object, ...]:
    size, shift = each.size, each.shift
    if not size.n:
        return ("none", each.family, "", "", "", 0, each.missing)
    interval = size.note if math.isnan(size.low) else f"{size.low:.2f} to {size.high:.2f}"
    word = {"within": "ok", "beyond": "FAIL"}.get(each.verdict, each.verdict)
    return (word, each.family, f"{size.estimate:.2f}", interval, f"{shift.estimate:+.2f}", size.n, each.missing)


def _word(passed: bool) -> str:
    return "ok" if passed else "FAIL"
