"""``check``: a unit test for a metric, with an exit code that a build can stop at."""

from typing import TYPE_CHECKING, Annotated

import typer

from core.commands._shared import Code, exit_codes, listed, note, print_json, table

if TYPE_CHECKING:
    from core.analysis.metric_check import FamilyShift, MetricReport

EPILOG = exit_codes(
    ok="every promise is kept and no family moves it further than the threshold",
    failures="a promise is broken, or a family moves it further",
)


def check(
    evaluator: Annotated[str, typer.Argument(help="path/to/file.py:Name, or a name from 'evaluators'.")],
    threshold: Annotated[float, typer.Option(help="Most that a family may move the score: median |%Δ|.")] = 5.0,
    items: Annotated[int, typer.Option(min=3, help="How many items of the demo corpus.")] = 24,
    probes: Annotated[
        list[str] | None, typer.Option(help="Probes, families or axes, comma-separated; default: the usual ones.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False,
) -> None:
    """Check a metric: shape, order, determinism, batches, range, NaN; then edits that change no meaning.

    Each family of edits has a line: the median over pairs of the score's absolute percent change, with its 95 %
    interval and n. A family above the threshold fails.
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
    if not report.passed:
        raise typer.Exit(Code.FAILURES)


def _print(report: "MetricReport") -> None:
    table(("", "promise", "found"), [(_word(each.passed), each.check, each.detail) for each in report.contract],
          title=report.evaluator)  # fmt: skip
    table(
        ("", "family", "median |%Δ|", "95 % interval", "median %Δ", "n", "without"),
        [_line(each) for each in report.families],
        title=f"Edits that change no meaning, {report.items} items, at most {report.threshold:g} %",
    )
    if report.failure:
        note(f"could not be run: {report.failure}")
    note("passed" if report.passed else "failed")


def _line(each: "FamilyShift") -> tuple[object, ...]:
    size, shift = each.size, each.shift
    if each.passed is None:
        return ("none", each.family, "", "", "", 0, each.missing)
    interval = f"{size.low:.2f} to {size.high:.2f}" if size.low == size.low else size.note
    return (
        _word(each.passed), each.family, f"{size.estimate:.2f}", interval, f"{shift.estimate:+.2f}", size.n,
        each.missing,
    )  # fmt: skip


def _word(passed: bool | None) -> str:
    return "none" if passed is None else "ok" if passed else "FAIL"
