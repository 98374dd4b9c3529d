"""The measured effect; or what measuring it would cost, and its job."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pandas as pd
import streamlit as st

from core.analysis.questions.columns import opening
from core.api.progress_lines import duration
from core.charts.spec import colours
from core.features.calibration.calibration_figures import before_after_dots
from core.features.calibration.fit import Fit
from core.features.calibration.measured import Measured, find
from core.features.calibration.measurement import stamp
from core.features.calibration.measuring import Asked, obstacle, refused
from core.features.calibration.readings import MEASURED
from core.jobs import job_queue
from core.jobs.command_jobs import MeasureRequest
from core.settings import results_dir, runs_dir
from core.store.run_files import Run
from pages.views.calibration.calibration_lead import rests_on
from pages.views.common.access import operates, operators_only
from pages.views.common.collect import data_buttons, figure_buttons
from pages.views.common.layers import tell_refused, tried
from pages.views.common.links import pairs_behind
from pages.views.common.page_charts import draw
from pages.views.common.page_tables import draw_table
from pages.views.common.text import counted, number, safe, thousands
from pages.views.run_audit.audit_jobs import watch_jobs

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a calibration comes from."""

    run: Run
    corpus: str
    subject: str
    language: str
    whole: Callable[[], Fit]  # makes the calibration over every item of the corpus: what a measurement scores

    def link(self) -> dict[str, str]:
        """Link parameters of whose scores it is learnt from."""
        return {"run": self.run.id, "subject": self.subject, "language": self.language}


OPENS = " A click on a dot leads to its pairs, with their scores as stored."


def opened(names: pd.Series, found: Fit, source: Source) -> list[str]:
    """What the dot of each name opens: the pairs of a family that the calibration is of, else nothing."""
    return [
        opening({"evaluator": found.evaluator, "corpus": source.corpus, "family": str(name)}, {"families": "family"})
        if name in found.scores.families
        else ""
        for name in names
    ]


def measurement(source: Source, key: Key, found: Fit) -> tuple[Measured | None, tuple[str, ...]]:
    """The measurement that serves a calibration, and a sentence for each that is stale or broken."""
    if found.basis == MEASURED or _refused(key, found):
        return None, ()
    return _find(key, source.subject, source.language, stamp(source.run.id), source.run, found)


def draw_measured(
    source: Source, key: Key, found: Fit, strength: float, own: Measured | None, stale: tuple[str, ...]
) -> Callable[[], None] | None:
    """Draw what was measured of a strength, and return what draws its numbers; or why it is not, and its cost."""
    if found.basis == MEASURED:
        st.caption(safe(_refused(key, found), limit=400))
        return None
    st.header(f"Before and after, measured at strength {strength:g}", anchor=False)
    if why := _refused(key, found):
        st.info(safe(why, limit=600), icon=":material/straighten:")
        return None
    for sentence in stale:
        st.warning(safe(sentence, limit=400), icon=":material/history:")
    if own is None:
        _offer(source)
        return None
    for sentence in own.caveats(strength):
        st.warning(safe(sentence, limit=400), icon=":material/priority_high:")
    return _show(found, strength, own, source)


# An answer costs the making of a few small pictures, and every move of λ asks.
@st.cache_data(max_entries=64, show_spinner=False)
def _refused(key: Key, _found: Fit) -> str:  # noqa: ARG001  # the cache's key
    return refused(_found)


@st.cache_resource(max_entries=16, show_spinner="Reading the measurement …")
def _find(
    key: Key,  # noqa: ARG001  # the cache's key
    subject: str,
    language: str,
    files: tuple[tuple[str, int, int], ...],  # noqa: ARG001  # likewise
    _run: Run,
    _found: Fit,
) -> tuple[Measured | None, tuple[str, ...]]:
    return find(_found, _run, subject=subject, language=language)


def _show(found: Fit, strength: float, own: Measured, source: Source) -> Callable[[], None]:
    scored = own.effect(strength)
    rows = scored[scored["measure"] == "sensitivity"]
    rows = rows.assign(opens=opened(rows["name"], found, source))
    figure = before_after_dots(
        rows, colour=colours([found.evaluator])[found.evaluator], axis="change, SD of unedited scores"
    )
    draw(
        figure,
        key="calib.measured.dots",
        alt="Sensitivity of each family before and after, as measured, with 95 % intervals",
        clicked=partial(pairs_behind, chosen={}, scope=source.link()),
    )
    at = own.sweep.lambdas.index(strength)
    spread = own.sweep.spread[at] / own.sweep.spread[0]
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(f"Median over pictures; 95 % intervals.{OPENS}", width="content")
        figure_buttons(figure, rows, "calibration-measured", title="Measured calibration", key="calib.measured.f")

    def numbers() -> None:
        st.caption(rests_on(scored, strength, "measured"))
        _numbers(rows)
        st.caption(
            f"An item's change is the median over its edits, before and after each in SD of its own unedited scores. "
            f"The metric scored {counted(own.file.images, 'picture')}, the variants and their own variants; the "
            f"unedited scores' SD is {number(100 * spread, digits=1)} % of what it was."
        )
        data_buttons(scored, f"{found.evaluator}-measured", key="calib.measured.data")

    return numbers


def _numbers(rows: pd.DataFrame) -> None:
    shown = pd.DataFrame(
        {
            "family": rows["name"],
            "Before, SD": [_ends(row, "before") for row in rows.to_dict("records")],
            "Measured, SD": [_ends(row, "after") for row in rows.to_dict("records")],
            "Measured / before": [_ends(row, "ratio") for row in rows.to_dict("records")],
            "n items": rows["n"],
        }
    )
    draw_table(shown, alt="Each family before and as measured", column_config={"family": "Family"})
    st.caption("In brackets: 95 % intervals; of the ratio by the percentiles of bootstrap samples, both sides in each.")


def _ends(row: dict[object, object], side: str) -> str:
    value, low, high = (float(str(row[f"{side}{end}"])) for end in ("", "_low", "_high"))
    digits = 3 if side == "ratio" else 4
    ends = f" ({low:.{digits}f} to {high:.{digits}f})" if low == low else ""
    return f"{number(value, digits=digits)}{ends}"


def _offer(source: Source) -> None:
    asked = Asked(source.run, source.whole(), source.subject, source.language)
    request = MeasureRequest.of(
        run=_named(source.run),
        evaluator=asked.fit.evaluator,
        reading=asked.fit.terms.reading,
        families=tuple(asked.families),
        subject=source.subject,
        language=source.language,
    )
    seconds = asked.seconds()
    time = (
        "its time is unknown, as no run on this machine measured this metric"
        if seconds is None
        else (f"about {duration(seconds)} by the speed of an earlier run here")
    )
    st.markdown(
        f"Not measured yet. To measure it, the metric scores at most {thousands(asked.images)} pictures: "
        f"{counted(len(asked.items), 'item')}, their variants, and the variants of both; {time}. The dev items then "
        "choose λ by what was measured, the held-out ones tell what it does; every weighting and every λ are known."
    )
    if not operates():
        return
    why = obstacle(asked)
    if why:
        st.info(safe(why, limit=400), icon=":material/block:")
    st.button(
        "Measure it",
        icon=":material/straighten:",
        key="calib.measuring",
        disabled=bool(why),
        on_click=_start,
        args=(request,),
        help="It runs outside the browser: close this page, it goes on",
    )
    tell_refused("calib.said")
    watch_jobs(lambda: [job] if (job := _latest(request)) else [])
    st.caption("The same in a shell, in the folder of the checkout:")
    st.code(request.shell(), language="shell", wrap_lines=True)


def _named(run: Run) -> str:
    """How a shell names a run: by its id where it lies in a usual folder, else by its path."""
    return run.id if run.path.parent in (runs_dir(), results_dir()) and run.path.name == run.id else str(run.path)


def _latest(request: MeasureRequest) -> job_queue.Job | None:
    return next((job for job in job_queue.list_jobs()[0] if request.same(job.request)), None)


@operators_only
def _start(request: MeasureRequest) -> None:
    """Put the measurement in line; a callback."""
    job = _latest(request)
    if job is None or job.status not in job_queue.ACTIVE:
        tried(lambda: job_queue.start(request), "calib.said")
