"""A metric of one's own: a template, its file, its check with the verdict in plain words, the way into the lab."""

import math
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Literal

import pandas as pd
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from core.analysis.selectivity import beside_chance
from core.errors import InvariscopeError
from core.evaluators.functions import MOST_BYTES, keep_metric, kept_metrics
from core.evaluators.registry import find
from core.features.metric_check.judged_families import BEYOND, MOST_FAILURES
from core.features.metric_check.metric_check import IGNORES, ITEMS, PROBES, THRESHOLD
from core.jobs import job_queue
from core.jobs.command_jobs import Breaks, CheckReport, CheckRequest, Sized, check_request, read_report
from core.jobs.job_queue import Job
from core.jobs.request import absolute
from core.probes import registry as probes
from core.probes.titles import family_title
from core.settings import assets_dir
from pages.views.common.access import METRIC_UPLOADS, may_bring_code, operators_only
from pages.views.common.collect import file_button
from pages.views.common.layers import button, tell_refused, tried
from pages.views.common.links import LAB, link_to
from pages.views.common.page_drawings import NUMBER, draw_table
from pages.views.common.text import counted, safe
from pages.views.common.url_state import PageState
from pages.views.probe_lab.lab_state import default_evaluators, own_metrics

FILES = "run.files"  # session key of the evaluators by path: not in the link, for naming a file runs it
METRIC = "run.check.metric"  # session key of the metric that would be checked
_CHECK_SAID = "run.check.said"
_EVERY_S = 1.0  # seconds between two looks at a check that runs
_TEMPLATES = {"Lists of pairs": "function.py", "One pair": "pair.py", "Class": "metric.py"}

_NO_UPLOADS = (
    "Upload of code is off: an uploaded file runs on this machine with the rights of this server. To turn it on, stop "
    f"the server and start it with `{METRIC_UPLOADS}=yes`. A file that is on this machine needs none: name it above."
)


def split(text: str | None) -> list[str]:
    """References of a field, which commas separate."""
    return [each.strip() for each in (text or "").split(",") if each.strip()]


def draw_own_metric(state: PageState, named: Sequence[str]) -> tuple[list[str], bool]:
    """Draw all of it. ``named``: evaluators that were chosen by name: they can be checked too. Returns those that can
    be used, by path, and whether one cannot; why stands at its field."""
    opened = state.get("own") or bool(st.session_state.get(FILES))
    with st.expander("Your own metric", expanded=opened, icon=":material/code:"):
        st.markdown("**1.** Copy a template, put your metric in, and save it on this machine.")
        for tab, name in zip(st.tabs(list(_TEMPLATES)), _TEMPLATES.values(), strict=True):
            text = (assets_dir() / "templates" / name).read_text(encoding="utf-8")
            with tab:
                st.code(text, language="python", height=240)
                file_button(f"Download {name}", text, name, key=f"run.template.{name}", icon="download")
        paths = st.text_input(
            "**2.** Name its file",
            key=FILES,
            max_chars=1000,
            placeholder="/path/to/my_metric.py",
            on_change=st.session_state.pop,  # what was just named is what would be checked
            args=(METRIC, None),
            help="A path on the machine that this server runs on. Several are separated by commas. Where a file "
            "defines several metrics, write file.py:Name. Models of open_clip go here too, as "
            "open_clip:ViT-B-32/openai. Paths are left out of the link, for they run code.",
        )
        wrong, usable = False, []
        for reference in split(paths):
            if problem := _problem(reference):
                st.error(safe(problem, limit=600), icon=":material/error:")
                wrong = True
            else:
                usable.append(absolute(reference))
        own = list(dict.fromkeys([*usable, *_bring()]))
        _draw_check([*own, *named], own, wrong=wrong)
    return own, wrong


def _problem(reference: str) -> str:
    try:
        with st.spinner("Reading the file …"):
            find(absolute(reference)).check_available()
    except InvariscopeError as error:
        return str(error)
    return ""


def _bring() -> list[str]:
    if not may_bring_code():
        st.caption(_NO_UPLOADS)
        return []
    given = st.file_uploader("Or upload it, one Python file", type=["py"], key="run.metric", max_upload_size=1)
    if given is not None and st.session_state.get("run.metric.done") != given.file_id:
        st.session_state["run.metric.done"] = given.file_id
        _take(given)
    if said := st.session_state.get("run.metric.said", ""):
        st.error(safe(said, limit=600), icon=":material/error:")
    known = kept_metrics()
    if not known:
        return []
    chosen = [each for each in st.session_state.get("run.metrics", []) if each in known]
    st.session_state["run.metrics"] = chosen
    return list(st.multiselect("Metrics that were uploaded", known, key="run.metrics", format_func=_short))


@operators_only
def _take(given: UploadedFile) -> None:
    st.session_state["run.metric.said"] = ""
    try:
        found = keep_metric(given.name, BytesIO(given.getvalue()).read(MOST_BYTES + 1))
    except (InvariscopeError, OSError) as error:
        st.session_state["run.metric.said"] = str(error)
        return
    chosen = st.session_state.get("run.metrics", [])
    st.session_state["run.metrics"] = [*chosen, *(each for each in found if each not in chosen)]
    st.session_state[METRIC] = found[-1]


def _short(reference: str) -> str:
    path, _, name = reference.rpartition(":")
    return f"{Path(path).name}:{name} · {Path(path).parent.name[:8]}"


def _draw_check(evaluators: Sequence[str], own: Sequence[str], *, wrong: bool) -> None:
    st.markdown(
        "**3.** Check it: its contract, then edits of the demo pictures and captions that change no meaning. The check "
        "goes on when this page is closed."
    )
    if not evaluators:
        if not wrong:
            st.caption("Name a file first, or choose an evaluator above.")
        return
    if st.session_state.get(METRIC) not in evaluators:
        st.session_state[METRIC] = evaluators[0]
    if len(evaluators) > 1:
        st.selectbox(
            "Metric",
            evaluators,
            key=METRIC,
            format_func=lambda each: each.rpartition("/")[2] if ".py:" in each else each,
        )
    chosen = st.session_state[METRIC]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        place = st.container(width="content")
        with st.popover("Options of the check", icon=":material/tune:", type="tertiary"):
            request = _options(chosen)
    looks = {"type": "primary" if own else "secondary", "disabled": request is None}
    with place:
        button("Check it", "rule", "run.check.start", _check, request, **looks)
    tell_refused(_CHECK_SAID)
    job = _last(chosen)
    active = job is not None and job.status in job_queue.ACTIVE
    st.fragment(_watch, run_every=_EVERY_S if active else None)(chosen, active)


def _options(chosen: str) -> CheckRequest | None:
    hint = (
        "Most that a family may change the score: the median over items of |% change|. A family fails where the "
        "95 % interval lies above it, and is undecided where it lies astride or there are fewer than 10 items."
    )
    threshold = st.number_input("Threshold, %", 0.1, 1000.0, THRESHOLD, 0.5, key="run.check.threshold", help=hint)
    items = st.number_input("Items", 3, 252, ITEMS, 1, key="run.check.items", help="Of the demo corpus, evenly spread.")
    strict = st.toggle("Strict", key="run.check.strict", help="An undecided family fails too.")
    families = st.multiselect(
        "Families",
        tuple(dict.fromkeys(probe.family for probe in probes.catalogue())),
        key="run.check.probes",
        format_func=family_title,
        placeholder=f"The usual ones: {', '.join(map(family_title, PROBES))}",
    )
    hint = "The score must drop."
    directional = st.toggle("Also edits that break the meaning", key="run.check.directional", help=hint)
    most, least = _bounds() if directional else (MOST_FAILURES, None)
    try:
        request = check_request(
            evaluator=chosen,
            threshold=threshold,
            items=items,
            strict=strict,
            probes=tuple(families),
            directional=directional,
            failures_at_most=most,
            selectivity_at_least=least,
        )
    except InvariscopeError as error:
        st.error(safe(str(error), limit=600))
        return None
    st.caption("The same in a shell:")
    st.code(request.shell(), language="shell", wrap_lines=True)
    return request


def _bounds() -> tuple[float, float | None]:
    hint = "Of a family's comparisons, those in which the broken meaning scores at least as high; 50 is chance."
    most = st.number_input("Failures at most, %", 0.0, 100.0, MOST_FAILURES, 5.0, key="run.check.most", help=hint)
    least = st.number_input(
        "Selectivity above chance, at least",
        0.0,
        0.5,
        None,
        0.05,
        key="run.check.least",
        placeholder="Not judged",
        help="How far the probability that a broken meaning costs more than a harmless edit lies above what "
        "this metric has by chance: its right and wrong sides exchanged.",
    )
    return most, least


@operators_only
def _check(request: CheckRequest) -> None:
    """Put the check in line; a callback. How it stands is drawn beneath the button, so nothing else is said."""
    tried(lambda: job_queue.start(request), _CHECK_SAID)


def _last(chosen: str) -> Job | None:
    found = job_queue.list_jobs()[0]
    of_it = (job for job in found if isinstance(job.request, CheckRequest) and job.request.evaluator == chosen)
    return max(of_it, key=lambda job: job.state.turn, default=None)


def _watch(chosen: str, polled: bool) -> None:
    job = _last(chosen)
    if (job is not None and job.status in job_queue.ACTIVE) != polled:
        st.rerun()
    if job is None:
        return
    told = job.progress
    if job.status == "waiting":
        ahead = sum(each.status in job_queue.ACTIVE and each.id != job.id for each in job_queue.list_jobs()[0])
        st.progress(0.0, text=f"In line, behind {counted(ahead, 'other job')}" if ahead else "Starting …")
    elif job.status == "running" and told is not None and told.phase == "scoring":
        st.progress(told.share, text=f"{told.done} of {counted(told.total, 'picture')} scored")
    elif job.status == "running":
        st.progress(0.0, text="Trying its contract …" if told else "Starting …")
    elif job.status == "complete":
        assert isinstance(job.request, CheckRequest)
        report = draw_checked(job.request, key="run.check.report")
        if report is not None and report.source and not report.failure:
            _lead_to_lab(job.request, report.evaluator)
    elif job.state.cancel is None:
        st.error(safe(job.last_line or "It ended without a word; check it again.", limit=600))
    else:
        st.caption("The check was cancelled.")


def _lead_to_lab(request: CheckRequest, name: str) -> None:
    known = own_metrics().get(name)
    if known is not None and known.problem:
        st.caption(f"Try a picture does not ask {safe(name)}: {safe(known.problem, limit=600)}.")
    elif known is None or known.reference != request.evaluator:
        st.caption(
            f"Try a picture has another evaluator named {safe(name)}. Give yours another name, and check it again."
        )
    else:
        beside = ",".join([name, *default_evaluators()])
        link_to(LAB, "See its column in Try a picture", icon=":material/science:", query_params={"evaluators": beside})


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
        st.markdown("**Promises**")
        rows = [
            (_PROMISES.get(each.check, each.check), "ok" if each.passed else "fails", each.detail)
            for each in report.contract
        ]
        promises = pd.DataFrame(rows, columns=["Promise", "", "Found"])
        draw_table(promises, width="stretch", alt="Promises of a metric, kept or broken")
        st.markdown(
            f"**Edits that change no meaning**, {counted(report.items, 'item')}, threshold {report.threshold:g} %"
        )
        kinds = [
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
        alt = "How much each family changes it"
        columns = {
            "Median |% change|": NUMBER(format="%.2f"),
            "Median % change": NUMBER(format="%+.2f"),
            "Without": NUMBER(help="Pairs without a % change"),
        }
        draw_table(pd.DataFrame(kinds), width="stretch", alt=alt, families=("Family",), column_config=columns)
        if report.broken is not None:
            _broken(report.broken, report.items)
        file_button("Report as JSON", request.report.read_bytes(), request.report.name, key=f"{key}.json")
    return report


def verdict(report: CheckReport, *, strict: bool) -> tuple[Kind, list[str]]:
    """What a check came to, as lines of markdown: the answer, then why and what to do. ``strict``: whether what its
    items do not settle fails too."""
    name = f"**{safe(report.evaluator)}**"
    if report.failure:
        return "error", [f"{name} could not be run: {safe(report.failure, limit=600)}"]
    kept = all(each.passed for each in report.contract)
    scores = next((each for each in report.contract if each.check == "shape"), None)
    if scores is not None and not scores.passed:  # no other promise can be told then
        because = report.unscored.why if "NaN" in scores.detail else ""
        first = f" The first: {safe(because, limit=300)}." if because else ""
        return "error", [f"{name} fails: {safe(scores.detail, limit=400)}.{first}"]
    beyond = [each for each in report.families if each.verdict == BEYOND]
    said = (f"{safe(family_title(each.family))} (median {each.size.estimate:.1f} %, "
            f"95 % CI {_interval(each.size, digits=1)}, n = {each.size.n})" for each in beyond)  # fmt: skip
    told = f"- Its score changes by more than {report.threshold:g} % although the meaning stays: {', '.join(said)}."
    why = [*_broken_promises(report), *([told] if beyond else []), *_missed(report)]
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
    high = None if found.selectivity is None else found.selectivity.above.high
    short = found.selectivity is None or (high is not None and high < (found.least_above or 0))
    if found.least_above is not None and short:
        lines.append(f"- Its selectivity does not lie {found.least_above:g} above its own chance.")
    return lines


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
    alt = "Failures by family"
    columns = {
        "Failures, %": NUMBER(format="%.0f"),
        "Ties, %": NUMBER(format="%.0f"),
        "n": NUMBER(help="Comparisons"),
        "Without": NUMBER(help="Comparisons without two scores"),
    }
    draw_table(pd.DataFrame(rows), width="stretch", alt=alt, families=("Family",), column_config=columns)
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
