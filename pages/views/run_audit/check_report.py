"""What a check of a metric found: the verdict in plain words, and the report."""

import math
from typing import Literal

import pandas as pd
import streamlit as st

from core.analysis.selectivity import beside_chance
from core.errors import InvariscopeError
from core.features.metric_check.judged_families import BEYOND
from core.features.metric_check.metric_check import IGNORES
from core.jobs.command_jobs import Breaks, CheckReport, CheckRequest, Sized, read_report
from core.probes.titles import family_title
from pages.views.common.collect import file_button
from pages.views.common.page_tables import draw_table
from pages.views.common.text import counted, safe

_VERDICTS = {"within": "ok", "beyond": "fails", "undecided": "undecided"}

_PROMISES = {
    "shape": "one number a pair",
    "order": "the order of the pairs does not matter",
    "determinism": "the same call gives the same scores",
    "batches": "a pair alone has the score that it has among others",
    "range": "scores lie in the range that it names",
    "nan": "a pair without a score is NaN and harms no other",
    "inputs": "pictures are left as they are",
    "odd-images": "pictures of any size are taken",
    "fingerprint": "it has one fingerprint",
    "embeddings": "embeddings have unit length",
}
"""What a metric promises, in words."""

Kind = Literal["error", "warning", "success"]


def draw_checked(request: CheckRequest, *, key: str) -> CheckReport | None:
    """Draw the verdict of a check that is complete, and its report folded away; return it, None if it is unreadable."""
    try:
        report = read_report(request.report)
    except InvariscopeError as error:
        st.warning(safe(str(error), limit=600))
        return None
    kind, lines = verdict(report, strict=request.strict)
    {"error": st.error, "warning": st.warning, "success": st.success}[kind]("\n".join(lines))
    with st.expander("The report", icon=":material/rule:"):
        _promises(report)
        st.markdown(
            f"**Edits that change no meaning**, {counted(report.items, 'item')}, threshold {report.threshold:g} %"
        )
        _families(report)
        if report.broken is not None:
            _broken(report.broken, report.items)
        file_button("Report as JSON", request.report.read_bytes(), request.report.name, key=f"{key}.json")
    return report


def verdict(report: CheckReport, *, strict: bool) -> tuple[Kind, list[str]]:
    """What a check came to, as lines of markdown: the answer, then why and what to do.

    Args:
        strict: whether what its items do not settle fails too.
    """
    name = f"**{safe(report.evaluator)}**"
    if report.failure:
        return "error", [f"{name} could not be run: {safe(report.failure, limit=600)}"]
    kept = all(each.passed for each in report.contract)
    scores = next((each for each in report.contract if each.check == "shape"), None)
    if scores is not None and not scores.passed:  # no other promise can be told then
        because = report.unscored.why if "NaN" in scores.detail else ""
        first = f" The first: {safe(because, limit=300)}." if because else ""
        return "error", [f"{name} fails: {safe(scores.detail, limit=400)}.{first}"]
    why = [*_broken_promises(report), *_moved(report), *_missed(report)]
    left = [f"- It {IGNORES[each]}." for each in report.ignores if each in IGNORES]
    if report.undecided:
        named = ", ".join(map(family_title, report.undecided))
        left.append(
            f"- {counted(report.items, 'picture')} do not settle: {safe(named, limit=500)}. Check more items, or leave "
            "these out."
        )
    without = report.unscored
    if without.count:
        left.append(
            f"- No score for {without.count} of {counted(without.pairs, 'edited pair')}. The first: "
            f"{safe(without.why, limit=300)}"
        )
    promises = f"It keeps all {len(report.contract)} promises."
    if not report.passed or (strict and report.undecided):
        return "error", [f"{name} fails.{f' {promises}' if kept else ''}", "", *why, *left]
    if left:
        return "warning", [f"{name} is not shown to fail. {promises} But:", "", *left]
    kinds = counted(len(report.families), "kind")
    return "success", [
        f"{name} passes. {promises} Under each of {kinds} of harmless edit the middle picture's score changes by "
        f"{report.threshold:g} % at most ({counted(report.items, 'picture')}, 95 % intervals)."
    ]


def _broken_promises(report: CheckReport) -> list[str]:
    """A line for each thing that is wrong: several promises may break over the same."""
    broken: dict[str, list[str]] = {}
    for each in report.contract:
        if not each.passed:
            broken.setdefault(each.detail, []).append(_PROMISES.get(each.check, each.check))
    return [
        f"- {safe(detail, limit=400)} (broken: {safe('; '.join(names), limit=400)})" for detail, names in broken.items()
    ]


def _moved(report: CheckReport) -> list[str]:
    beyond = [each for each in report.families if each.verdict == BEYOND]
    said = (f"{safe(family_title(each.family))} (median {each.size.estimate:.1f} %, "
            f"95 % CI {_interval(each.size, digits=1)}, n = {each.size.n})" for each in beyond)  # fmt: skip
    told = f"- Its score changes by more than {report.threshold:g} % although the meaning stays: {', '.join(said)}."
    return [told] if beyond else []


def _missed(report: CheckReport) -> list[str]:
    """A line for broken meanings that escape it too often, and one for a selectivity that falls short."""
    found = report.broken
    if found is None:
        return []
    beyond = [each for each in found.families if each.verdict == BEYOND]
    said = (f"{safe(family_title(each.family))} ({100 * (each.found.failure.estimate or 0):.0f} % of "
            f"{counted(each.found.n, 'comparison')})" for each in beyond)  # fmt: skip
    told = f"- A broken meaning scores at least as high too often, at most {found.most:g} % is allowed: "
    lines = [f"{told}{', '.join(said)}."] if beyond else []
    if found.least_above is not None and _short_of(found):
        lines.append(f"- Its selectivity does not lie {found.least_above:g} above its own chance.")
    return lines


def _short_of(found: Breaks) -> bool:
    """Whether the selectivity is shown to lie less far above chance than was asked for, or there is none."""
    high = None if found.selectivity is None else found.selectivity.above.high
    return found.selectivity is None or (high is not None and high < (found.least_above or 0))


def _promises(report: CheckReport) -> None:
    st.markdown("**Promises**")
    rows = [
        {
            "Promise": _PROMISES.get(each.check, each.check),
            "": "ok" if each.passed else "fails",
            "Found": each.detail,
        }
        for each in report.contract
    ]
    draw_table(pd.DataFrame(rows), width="stretch", alt="Promises of a metric, kept or broken")


def _families(report: CheckReport) -> None:
    rows = [
        {
            "Family": each.family,
            "": _VERDICTS.get(each.verdict, each.verdict),
            "Median |% change|": each.size.estimate,
            "95 % interval": _interval(each.size),
            "Median % change": each.shift.estimate,
            "Drift shown by": each.direction,
            "n items": each.size.n,
            "Without": each.missing,
        }
        for each in report.families
    ]
    draw_table(
        pd.DataFrame(rows),
        width="stretch",
        alt="How much each family changes it",
        families=("Family",),
        column_config={
            "Median |% change|": st.column_config.NumberColumn(format="%.2f"),
            "Median % change": st.column_config.NumberColumn(format="%+.2f"),
            "Without": st.column_config.NumberColumn(help="Pairs without a % change"),
        },
    )


def _broken(found: Breaks, items: int) -> None:
    st.markdown(f"**Edits that break the meaning**, {counted(items, 'item')}, at most {found.most:g} % failures")
    rows = [
        {
            "Family": each.family,
            "": _VERDICTS.get(each.verdict, each.verdict),
            "Failures, %": _percent(each.found.failure.estimate),
            "95 % interval": _interval(each.found.failure, 100, 0),
            "Ties, %": _percent(each.found.ties.estimate),
            "95 % interval of ties": _interval(each.found.ties, 100, 0),
            "n": each.found.n,
            "Without": each.missing,
        }
        for each in found.families
    ]
    number = st.column_config.NumberColumn
    draw_table(
        pd.DataFrame(rows),
        width="stretch",
        alt="Failures by family",
        families=("Family",),
        column_config={
            "Failures, %": number(format="%.0f"),
            "Ties, %": number(format="%.0f"),
            "n": number(help="Comparisons"),
            "Without": number(help="Comparisons without two scores"),
        },
    )
    if found.selectivity is None or found.selectivity.value.estimate is None:
        st.caption(
            "No selectivity: no item has scores under a harmless edit and one that is known to break the meaning."
        )
        return
    value, above = found.selectivity.value, found.selectivity.above
    beside = (found.selectivity.chance, above.estimate, above.low, above.high)
    asked = "" if found.least_above is None else f"; at least {found.least_above:g} above it is asked for"
    st.caption(
        f"Selectivity {value.estimate:.3f} ({_interval(value, 1, 3)}), n = {counted(value.n, 'item')}; "
        f"{beside_chance(*(math.nan if each is None else each for each in beside))}{asked}."
    )


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _interval(found: Sized, times: float = 1.0, digits: int = 2) -> str:
    if found.low is None or found.high is None:
        return found.note
    return f"{times * found.low:.{digits}f} to {times * found.high:.{digits}f}"
