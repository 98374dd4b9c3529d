"""What a check of a metric found, as its job left it: promises, families of edits, broken meanings."""

import pandas as pd
import streamlit as st

from core.errors import InvariscopeError
from core.jobs.checking import Breaks, CheckReport, CheckRequest, Sized, read_report
from pages.views.common.page_tables import draw_table
from pages.views.common.text import counted, safe

_VERDICTS = {"within": "ok", "beyond": "fails", "undecided": "undecided"}
_DECIDE = "that would decide it with 80 % power, were it as here; of an undecided family alone"


def draw_checked(request: CheckRequest, *, key: str) -> None:
    """Draw the report of a check that is complete."""
    try:
        report = read_report(request.report)
    except InvariscopeError as error:
        st.warning(safe(str(error), limit=600))
        return
    _verdict(report, strict=request.strict)
    with st.expander("The report", icon=":material/rule:"):
        st.markdown("**Promises**")
        draw_table(
            pd.DataFrame([{"Promise": each.check, "": "ok" if each.passed else "fails", "Found": each.detail}
                          for each in report.contract]),
            width="stretch", alt="Promises of a metric, kept or broken",
        )  # fmt: skip
        st.markdown(f"**Edits that change no meaning**, {counted(report.items, 'item')}, threshold "
                    f"{report.threshold:g} %")  # fmt: skip
        _families(report)
        if report.broken is not None:
            _broken(report.broken, report.items)
        st.download_button(
            "Report as JSON", request.report.read_bytes(), request.report.name, "application/json", key=f"{key}.json",
            on_click="ignore",
        )  # fmt: skip


def _verdict(report: CheckReport, *, strict: bool) -> None:
    undecided = f"{', '.join(_undecided(report))}: {counted(report.items, 'item')} show neither"
    if report.failure:
        st.error(f"It could not be run: {safe(report.failure, limit=600)}")
    elif not report.passed:
        broken = [each.check for each in report.contract if not each.passed]
        beyond = [each.family for each in report.families if each.verdict == "beyond"]
        beyond += [] if report.broken is None else [e.family for e in report.broken.families if e.verdict == "beyond"]
        said = [f"promises broken: {', '.join(broken)}"] if broken else []
        said += [f"families: {', '.join(beyond)}"] if beyond else []
        st.error(f"**{safe(report.evaluator)}** fails{'; ' if said else ''}{safe('; '.join(said), limit=500)}.")
    elif report.undecided and strict:
        st.error(f"**{safe(report.evaluator)}** fails, as undecided families do here: {safe(undecided, limit=500)}.")
    elif report.undecided:
        st.warning(f"**{safe(report.evaluator)}**: nothing failed; undecided {safe(undecided, limit=500)}.")
    else:
        st.success(f"**{safe(report.evaluator)}** passes.")


def _undecided(report: CheckReport) -> list[str]:
    """What is undecided, each with what would decide it, were it as found here."""
    of = {each.family: (each.needed, "item") for each in report.families}
    if report.broken is not None:
        of |= {each.family: (each.needed, "comparison") for each in report.broken.families}
    said = []
    for name in report.undecided:
        needed, what = of.get(name, (None, ""))
        said.append(name if needed is None else f"{name} (about {counted(round(needed), what)} would decide it)")
    return said


def _families(report: CheckReport) -> None:
    rows = [
        {"Family": each.family, "": _VERDICTS.get(each.verdict, each.verdict), "Median |%Δ|": each.size.estimate,
         "95 % interval": _interval(each.size), "Median %Δ": each.shift.estimate, "n items": each.size.n,
         "n to decide": each.needed, "Without": each.missing}
        for each in report.families
    ]  # fmt: skip
    draw_table(
        pd.DataFrame(rows), width="stretch", alt="How far each family moves it", families=("Family",),
        column_config={
            "Median |%Δ|": st.column_config.NumberColumn(format="%.2f"),
            "Median %Δ": st.column_config.NumberColumn(format="%+.2f"),
            "n to decide": st.column_config.NumberColumn(format="%.0f", help=f"Items {_DECIDE}"),
            "Without": st.column_config.NumberColumn(help="Pairs without a %Δ"),
        },
    )  # fmt: skip


def _broken(found: Breaks, items: int) -> None:
    st.markdown(f"**Edits that break the meaning**, {counted(items, 'item')}, at most {found.most:g} % failures")
    rows = [
        {"Family": each.family, "": _VERDICTS.get(each.verdict, each.verdict),
         "Failures, %": _percent(each.found.failure.estimate), "95 % interval": _interval(each.found.failure, 100, 0),
         "Ties, %": _percent(each.found.ties.estimate), "95 % interval of ties": _interval(each.found.ties, 100, 0),
         "n": each.found.n, "n to decide": each.needed,
         "Without": each.missing}
        for each in found.families
    ]  # fmt: skip
    number = st.column_config.NumberColumn
    draw_table(
        pd.DataFrame(rows), width="stretch", alt="Failures by family", families=("Family",),
        column_config={"Failures, %": number(format="%.0f"), "Ties, %": number(format="%.0f"),
                       "n": number(help="Comparisons"),
                       "n to decide": number(format="%.0f", help=f"Comparisons {_DECIDE}"),
                       "Without": number(help="Comparisons without two scores")},
    )  # fmt: skip
    if found.selectivity is None or found.selectivity.value.estimate is None:
        st.caption(
            "No selectivity: no item has scores under a harmless edit and one that is known to break the meaning."
        )
        return
    value = found.selectivity.value
    asked = "" if found.least is None else f", at least {found.least:g} asked for"
    st.caption(f"Selectivity {value.estimate:.3f} ({_interval(value, 1, 3)}), n = {counted(value.n, 'item')}{asked}; "
               "0.5 is chance.")  # fmt: skip


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _interval(found: Sized, times: float = 1.0, digits: int = 2) -> str:
    if found.low is None or found.high is None:
        return found.note
    return f"{times * found.low:.{digits}f} to {times * found.high:.{digits}f}"
