"""``check``: a unit test for a metric, with an exit code that a build can stop at."""

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.commands import _outputs
from core.commands._shared import Code, exit_codes, json_text, listed, note, print_json, table

if TYPE_CHECKING:
    from core.features.metric_check.judged_families import Broken, FamilyEvidence, FamilyFailures, FamilyShift
    from core.features.metric_check.metric_check import MetricReport
    from core.jobs.progress import ProgressFile
    from core.statistics.bootstrap import Interval

EPILOG = exit_codes(
    ok="every promise is kept, no family is shown to change it more than the threshold, no broken meaning escapes it",
    failures="a promise is broken, a family is shown to change it more, broken meanings escape it, or with --strict a "
    "family is undecided",
)


def check(
    evaluator: Annotated[str, typer.Argument(help="path/to/file.py, file.py:Name, or a name from 'evaluators'.")],
    threshold: Annotated[float, typer.Option(help="Most that a family may change the score: median |% change|.")] = 5.0,
    items: Annotated[int, typer.Option(min=3, help="How many items of the demo corpus.")] = 24,
    probes: Annotated[
        list[str] | None, typer.Option(help="Probes, families or axes, comma-separated; default: the usual ones.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="An undecided family fails too.")] = False,
    directional: Annotated[
        bool, typer.Option("--directional", help="Also edits that break the meaning: the score must drop.")
    ] = False,
    failures_at_most: Annotated[
        float, typer.Option(help="With --directional: most comparisons, in %, that a family may fail.")
    ] = 50.0,
    selectivity_at_least: Annotated[
        float | None,
        typer.Option(help="How far above this metric's own chance, 0 to 0.5. Tries the directional probes too."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the report as JSON into this file too; - is standard output.",
            callback=_outputs.text,
        ),
    ] = None,
    progress_file: _outputs.ProgressFile = None,
    job: Annotated[str | None, typer.Option(hidden=True)] = None,  # noqa: ARG001  # names the process of a job
) -> None:
    """Check a metric: shape, order, determinism, batches, range, NaN; then edits that change no meaning.

    Each family of edits has a line: the median over items of the score's absolute percent change, with its 95 %
    interval and n. A family fails where the interval lies above the threshold; where it lies astride, or there are too
    few items for one, the family is undecided. Each also has the difference of two scores below which it would often
    turn their order round, of two captions of one picture where the items have them. With --directional each family
    that breaks the meaning has a line too: how often the broken caption or picture scores at least as high as the right
    one; and the selectivity, the probability that a broken meaning costs more than a harmless edit.
    --selectivity-at-least judges how far it lies above this metric's own chance: what it has where right and wrong
    sides are exchanged.
    """
    from core.commands._progress import progress
    from core.corpora.registry import catalogue
    from core.evaluators.metric_source import the_metric
    from core.evaluators.remote import find_apart
    from core.features.metric_check.judged_families import directional_probes
    from core.features.metric_check.metric_check import PROBES, check_metric
    from core.probes.registry import select
    from core.store.run_sources import note_audited

    evaluator = the_metric(evaluator)
    if Path(evaluator.rpartition(":")[0]).suffix == ".py":
        find_apart(evaluator)  # a file that kills whoever imports it is said to, and the check is not what it kills

    breaks, named = directional or selectivity_at_least is not None, listed(probes)
    chosen = select(named or PROBES) + (directional_probes() if breaks and not named else ())
    corpus = catalogue().get("demo").load()
    tell = _Teller(progress_file, items)
    with progress("checking", unit="items") as update:

        def both(done: int, total: int) -> None:
            update(done, total)
            tell(done, total)

        report = check_metric(
            evaluator,
            corpus.items,
            chosen,
            threshold=threshold,
            count=items,
            directional=breaks,
            most_failures=failures_at_most,
            least_above=selectivity_at_least,
            progress=both,
        )
    note_audited({"evaluators": [report.source]})
    if as_json:
        print_json(report.as_dict())
    else:
        _print(report)
    if output is not None:
        _outputs.write_text(output, json_text(report.as_dict()) + "\n")
    tell.complete()
    if not report.passed or (strict and report.undecided):
        raise typer.Exit(Code.FAILURES)


class _Teller:
    """Tells a file how far the check is, for who watches."""

    def __init__(self, path: Path | None, items: int) -> None:
        self._path, self._begun, self._items = path, time.monotonic(), items
        self._file: ProgressFile | None = None
        self._say("loading", 0, items)

    def __call__(self, done: int, total: int) -> None:
        """Say that so many items are scored."""
        self._items = total
        self._say("scoring", done, total)

    def complete(self) -> None:
        """Say that the report is on the disk."""
        self._say("complete", self._items, self._items)

    def _say(self, phase: str, done: int, total: int) -> None:
        if self._path is None:
            return
        from core.audit.run import Progress
        from core.jobs.progress import ProgressFile

        self._file = self._file or ProgressFile(self._path)
        spent = time.monotonic() - self._begun
        left = spent / done * (total - done) if done else None
        self._file(Progress(phase, done, total, spent, left, done, total))


def _print(report: "MetricReport") -> None:
    table(
        ("", "promise", "found"),
        [(_word(each.passed), each.check, each.detail) for each in report.contract],
        title=report.evaluator,
    )
    table(
        (
            "",
            "family",
            "median |% change|",
            "interval it is judged by",
            "median % change",
            "n",
            "without",
            "drift shown by",
        ),
        [_line(each) for each in report.families],
        title=f"Edits that change no meaning, {report.items} items, threshold {report.threshold:g} %",
    )
    _note_together([each.held for each in report.families])
    _print_evidence(report.evidence)
    if report.broken is not None:
        _print_broken(report.broken, report.items)
    if report.failure:
        note(f"could not be run: {report.failure}")
    if report.unscored.count:
        note(f"no score for {report.unscored.count} of {report.unscored.pairs} edited pairs; {report.unscored.why}")
    if report.undecided:
        note(f"undecided, {report.items} items show neither: {', '.join(report.undecided)}")
    if not report.passed:
        note("failed")
    elif report.undecided:
        note("nothing failed; what is undecided needs more items (--items), and fails with --strict")
    else:
        note("passed")


def _print_evidence(found: "Sequence[FamilyEvidence]") -> None:
    from core.analysis.flip_cells import IF_APART, ONE_CAPTION
    from core.analysis.flip_shifts import APART, SAME

    def ends(each: "FamilyEvidence", *, of: str) -> str:
        found = each.gap if of == SAME else each.apart
        return found.note if math.isnan(found.low) else f"{found.low:.3g} to {found.high:.3g}"

    if not found:
        return
    table(
        ("family", "no evidence below", "95 % interval", "captions of", "different pictures", "95 % interval", "n"),
        [
            (
                *(each.family, f"{each.gap.estimate:.3g}", ends(each, of=SAME), each.pairs),
                *(f"{each.apart.estimate:.3g}", ends(each, of=APART), each.gap.n),
            )
            for each in found
        ],
        title="Differences of two scores that are no evidence: an edit would turn more than 5 % of them round",
    )
    if any(each.pairs == SAME for each in found):
        note(f"same picture: two captions of it under the same edit; different pictures: {IF_APART}")
    else:
        note(ONE_CAPTION.replace("The run holds", "the items have"))


def _print_broken(found: "Broken", items: int) -> None:
    table(
        ("", "family", "failures, %", "interval it is judged by", "ties, %", "95 % interval", "n", "without"),
        [_breaks_line(each) for each in found.families],
        title=f"Edits that break the meaning, {items} items, at most {found.most:g} % failures",
    )
    _note_together([each.held for each in found.families])
    from core.analysis.selectivity import beside_chance

    if found.selectivity is None:
        note("no selectivity: no item has scores under a harmless edit and one that is known to break the meaning")
        return
    value, asked = found.selectivity.value, found.least_above
    interval = f"95 % {value.low:.3f} to {value.high:.3f}" if value.low == value.low else value.note
    above = found.selectivity.above
    beside = beside_chance(found.selectivity.chance, above.estimate, above.low, above.high)
    said = f"selectivity {value.estimate:.3f} ({interval}), n = {value.n} items; {beside}"
    note(said if asked is None else f"{_said(found.selective)}: {said}; at least {asked:g} above it is asked for")


def _note_together(held: "Sequence[Interval]") -> None:
    if len({each.level for each in held}) > 1 or any(each.level > 0.95 for each in held):
        note(
            "families are judged together, each by the interval of the level that Holm's correction asks for: "
            "the chance that any FAIL or ok among them is wrong is at most 5 %"
        )


def _breaks_line(each: "FamilyFailures") -> tuple[object, ...]:
    found = each.found
    if not found.n:
        return ("none", each.family, "", "", "", "", 0, each.missing)
    shares = [
        said
        for rate, at in ((each.held, f" at {100 * each.held.level:.4g} %"), (found.ties, ""))
        for said in (
            f"{100 * rate.estimate:.0f}",
            f"{100 * rate.low:.0f} to {100 * rate.high:.0f}{at}" if rate.low == rate.low else rate.note,
        )
    ]
    return (_said(each.verdict), each.family, *shares, found.n, each.missing)


def _line(each: "FamilyShift") -> tuple[object, ...]:
    size, shift, held = each.size, each.shift, each.held
    if not size.n:
        return ("none", each.family, each.verdict, "", "", "", 0, each.missing, each.note)
    at = "" if held.level == size.level else f" at {100 * held.level:.4g} %"
    interval = size.note if math.isnan(size.low) else f"{held.low:.2f} to {held.high:.2f}{at}"
    return (
        _said(each.verdict),
        each.family,
        f"{size.estimate:.2f}",
        interval,
        f"{shift.estimate:+.2f}",
        size.n,
        each.missing,
        each.direction,
    )


def _said(verdict: str) -> str:
    return {"within": "ok", "beyond": "FAIL"}.get(verdict, verdict)


def _word(passed: bool) -> str:
    return "ok" if passed else "FAIL"
