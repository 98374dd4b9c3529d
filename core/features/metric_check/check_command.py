"""``check``: a unit test for a metric, with an exit code that a build can stop at."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.commands import _outputs
from core.commands._shared import Code, Teller, exit_codes, json_text, listed, note, print_json, progress, table
from core.errors import InvalidInput

if TYPE_CHECKING:
    from core.features.metric_check.judged_families import Broken, FamilyEvidence, FamilyFailures, FamilyShift
    from core.features.metric_check.metric_check import MetricReport
    from core.features.metric_check.regression_gate import Gate
    from core.statistics.bootstrap import Interval

EPILOG = exit_codes(
    ok="every promise is kept, no family is shown to change it more than the threshold, no broken meaning escapes it",
    failures="a promise is broken, a family is shown to change it more, broken meanings escape it, or with --strict a "
    "family is undecided; with --baseline a promise is broken or a family got worse than there",
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
    baseline: Annotated[
        Path | None,
        typer.Option(help="Of an earlier --save-baseline: fail where a family got worse, whatever the threshold."),
    ] = None,
    common: Annotated[
        bool,
        typer.Option(
            "--common",
            help="With --baseline: compare over what both hold where items, probes, version or fingerprint differ.",
        ),
    ] = False,
    save_baseline: Annotated[
        Path | None,
        typer.Option(help="Write what every item shows into this JSON file, for --baseline.", callback=_outputs.file),
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
    junit: Annotated[
        Path | None,
        typer.Option(
            help="With --baseline: write promises and families as JUnit's XML into this file, for a build server; - is "
            "standard output.",
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

    With --baseline the same items are held against what they showed before, and thresholds fail nothing: a family got
    worse where the mean over items is worse by more than noise may make it, told beside it with the smallest fall that
    would be caught. A metric that was edited has another fingerprint: --common compares it all the same.
    """
    from core.corpora.registry import catalogue
    from core.evaluators.functions import the_metric
    from core.evaluators.remote import find_apart
    from core.features.metric_check.judged_families import directional_probes
    from core.features.metric_check.metric_check import PROBES, check_metric
    from core.features.metric_check.regression_gate import gate, read_baseline
    from core.probes.registry import select
    from core.store.run_sources import note_audited

    if baseline is None and (common or junit):
        raise InvalidInput(f"--{'common' if common else 'junit'} is of --baseline, and none is given; name the file")
    before = None if baseline is None else read_baseline(baseline)
    evaluator = the_metric(evaluator)
    if Path(evaluator.rpartition(":")[0]).suffix == ".py":
        find_apart(evaluator)  # a file that kills whoever imports it is said to, and the check is not what it kills

    breaks, named = directional or selectivity_at_least is not None, listed(probes)
    chosen = select(named or PROBES) + (directional_probes() if breaks and not named else ())
    corpus = catalogue().get("demo").load()
    tell = Teller(progress_file, min(items, len(corpus.items)))
    with progress("checking", unit="items") as update:
        report = check_metric(
            evaluator,
            corpus.items,
            chosen,
            threshold=threshold,
            count=items,
            directional=breaks,
            most_failures=failures_at_most,
            least_above=selectivity_at_least,
            progress=tell.beside(update),
        )
    if report.baseline is None or (report.failure and (before or save_baseline)):
        raise InvalidInput(f"there is nothing to hold against a baseline or to save as one: {report.failure}")
    held = None if before is None else gate(before, report.baseline, common=common)
    note_audited({"evaluators": [report.source]})
    plain = report.as_dict() if held is None else {**report.as_dict(), "gate": held.as_dict()}
    if as_json:
        print_json(plain)
    else:
        _print(report)
        if held is None:
            _print_verdict(report)
        else:
            _print_gate(held)
    if output is not None:
        _outputs.write_text(output, json_text(plain) + "\n")
    if save_baseline is not None:
        _outputs.write_text(save_baseline, json_text(report.baseline.model_dump(mode="json"), indent=None) + "\n")
    if junit is not None and held is not None:
        _outputs.write_text(junit, _as_junit(report, held))
    tell.complete()
    kept = all(each.passed for each in report.contract)
    passed = report.passed and not (strict and report.undecided) if held is None else kept and not held.failed
    if not passed:
        raise typer.Exit(Code.FAILURES)


def _print(report: "MetricReport") -> None:
    from core.analysis.facts import MAY_BE_TRUE, WHY
    from core.probes.base import Axis

    table(
        ("", "promise", "found"),
        [("ok" if each.passed else "FAIL", each.check, each.detail) for each in report.contract],
        title=report.evaluator,
    )
    moved = ("median |% change|", "interval it is judged by", "median % change")
    table(
        ("", "family", *moved, "n", "without", "drift shown by"),
        [_line(each) for each in report.families],
        title=f"Edits that change no meaning, {report.items} items, threshold {report.threshold:g} %",
    )
    _note_together([each.held for each in report.families])
    # a score may follow words that may be true
    if words := [each.family for each in report.families if each.axis == Axis.SOCIETAL.value]:
        note(f"{', '.join(words)}: {MAY_BE_TRUE} is no known failure; {WHY}")
    _print_evidence(report.evidence)
    if report.broken is not None:
        _print_broken(report.broken, report.items)
    if report.failure:
        note(f"could not be run: {report.failure}")
    if report.unscored.count:
        note(f"no score for {report.unscored.count} of {report.unscored.pairs} edited pairs; {report.unscored.why}")


def _print_verdict(report: "MetricReport") -> None:
    from core.features.metric_check.metric_check import IGNORES

    for name in report.ignores:
        note(f"{report.evaluator} {IGNORES[name]}")
    if report.undecided:
        note(f"undecided, {report.items} items show neither: {', '.join(report.undecided)}")
    if not report.passed:
        note("failed")
    elif report.undecided:
        note("nothing failed; what is undecided needs more items (--items), and fails with --strict")
    else:
        note("passed")


def _print_gate(held: "Gate") -> None:
    from core.features.metric_check.regression_gate import CAUGHT, LEVEL
    from core.report.document import number

    table(
        ("", "family", "worse by", "noise may be", "caught, all items", "caught, a third", "n", "sources", "remark"),
        [
            (
                "FAIL" if each.failed else "ok" if not each.note else "undecided",
                each.family,
                *(number(value, digits=3) for value in (each.worse, each.allowance)),
                *(number(value, digits=3) for value in (each.smallest, each.smallest_of_some)),
                *(each.n, each.sources, each.note),
            )
            for each in held.families
        ],
        title=f"Beside the baseline, {held.items} items, in points of %Δ; clean score: in % of its mean before",
    )
    for sentence in held.left_out:
        note(f"compared over what both hold: {sentence}")
    note(
        f"noise is of the items' own differences, at {100 * LEVEL:g} % over all families, probes' seed {held.seed}; "
        f"caught is the smallest fall that {100 * CAUGHT:g} of 100 checks show, of all such items or of a third"
    )
    for each in held.failed:
        note(f"worse: {each.sentence()}")
    note("worse than the baseline" if held.failed else "nothing is shown to be worse than the baseline")


def _as_junit(report: "MetricReport", held: "Gate") -> str:
    """Promises and families beside the baseline; an undecided family is skipped."""
    from core.commands._outputs import Case, junit
    from core.report.document import number

    promises = [Case(each.check, each.detail, failed=not each.passed) for each in report.contract]
    families = []
    for each in held.families:
        worse, allowance = (number(value, digits=3) for value in (each.worse, each.allowance))
        said = each.note or f"worse by {worse}, noise may be {allowance}; n = {each.n}, {each.sources} sources"
        families.append(Case(each.family, each.sentence() if each.failed else said, each.failed, bool(each.note)))
    return junit(f"check {report.evaluator}", [*promises, *families])


def _print_evidence(found: "Sequence[FamilyEvidence]") -> None:
    from core.analysis.flip_cells import ONE_CAPTION, REVERSED, TWO_PICTURES
    from core.analysis.flip_shifts import APART, SAME

    def gap(size: float) -> str:
        return "" if math.isnan(size) else f"{size:.3g}"

    def ends(each: "FamilyEvidence", *, of: str) -> str:
        found = each.gap if of == SAME else each.apart
        return found.note if math.isnan(found.low) else f"{found.low:.3g} to {found.high:.3g}"

    if not found:
        return
    table(
        ("family", "trustworthy gap", "95 % interval", "captions of", "different pictures", "95 % interval", "n"),
        [
            (
                *(each.family, gap(each.gap.estimate), ends(each, of=SAME), each.pairs),
                *(gap(each.apart.estimate), ends(each, of=APART), each.gap.n),
            )
            for each in found
        ],
        title=f"Trustworthy gaps: smaller differences between two captions are {REVERSED}",
    )
    if any(each.pairs == SAME for each in found):
        note(f"same picture: two captions of it under the same edit; different pictures: {TWO_PICTURES}, each edited")
    else:
        note(ONE_CAPTION)


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
    return (
        _said(each.verdict),
        each.family,
        f"{size.estimate:.2f}",
        size.note if math.isnan(size.low) else _ends(held, usual=size.level),
        f"{shift.estimate:+.2f}",
        size.n,
        each.missing,
        each.direction,
    )


def _ends(held: "Interval", *, usual: float) -> str:
    """Both ends of an interval with as many digits as tell them apart, or why they are one."""
    if held.low == held.high:
        return held.note
    at = "" if held.level == usual else f" at {100 * held.level:.4g} %"
    low, high = f"{held.low:.2f}", f"{held.high:.2f}"
    return f"{low} to {high}{at}" if low != high else f"{held.low:.2g} to {held.high:.3g}{at}"


def _said(verdict: str) -> str:
    return {"within": "ok", "beyond": "FAIL"}.get(verdict, verdict)
