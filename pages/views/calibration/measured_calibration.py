"""What one gets of a calibration in words, and the measured effect; or what measuring it would cost, and its job."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.questions.columns import opening
from core.analysis.scope import Narrowed
from core.analysis.table import View
from core.api.progress_lines import duration
from core.charts.spec import colours
from core.features.calibration.calibration_figures import before_after_dots
from core.features.calibration.effect import OF_AXES
from core.features.calibration.fit import HUMAN, Fit
from core.features.calibration.measured import Asked, Measured, find, obstacle, refused
from core.features.calibration.measurement import stamp
from core.features.calibration.readings import MEASURED
from core.jobs import job_queue
from core.jobs.command_jobs import MeasureRequest
from core.probes.base import Axis
from core.probes.titles import family_title
from core.settings import results_dir, runs_dir
from core.store.run_files import Run
from pages.views.common.access import operates, operators_only
from pages.views.common.collect import data_buttons, figure_buttons
from pages.views.common.layers import button, tell_refused, tried
from pages.views.common.links import pairs_behind, scope_link
from pages.views.common.page_drawings import draw_figure, draw_table
from pages.views.common.text import counted, listed, number, safe, thousands
from pages.views.run_audit.audit_jobs import watch_jobs

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a calibration comes from."""

    key: Key  # names the fit
    run: Run
    scope: Narrowed  # whose scores it is learnt from
    fingerprint: str  # of the evaluator; empty where the run says nothing
    whole: Callable[[], Fit]  # makes the calibration over every item of the corpus: what a measurement scores
    view: Callable[[], View]  # makes the scores that the fit was made of, with every family that they hold


OPENS = " A click on a dot leads to its pairs, with their scores as stored."


def opened(names: pd.Series, found: Fit, source: Source) -> list[str]:
    """What the dot of each name opens: the pairs of a family that the calibration is of, else nothing."""
    return [
        opening(
            {"evaluator": found.evaluator, "corpus": source.scope.corpus, "family": str(name)}, {"families": "family"}
        )
        if name in found.scores.families
        else ""
        for name in names
    ]


def measurement(source: Source, found: Fit) -> tuple[Measured | None, tuple[str, ...]]:
    """The measurement that serves a calibration, and a sentence for each that is stale or broken."""
    if found.basis == MEASURED or _refused(source.key, found):
        return None, ()
    return _find(source.key, source.scope.subject, source.scope.language, stamp(source.run.id), source.run, found)


def draw_measured(
    source: Source, found: Fit, strength: float, own: Measured | None, stale: tuple[str, ...]
) -> Callable[[], None] | None:
    """Draw what was measured of a strength, and return what draws its numbers; or why it is not, and its cost."""
    if found.basis == MEASURED:
        st.caption(safe(_refused(source.key, found), limit=400))
        return None
    st.header(f"Before and after, measured at strength {strength:g}", anchor=False)
    if why := _refused(source.key, found):
        st.info(safe(why, limit=600), icon=":material/straighten:")
        return None
    for sentence in stale:
        st.warning(safe(sentence, limit=400), icon=":material/history:")
    if own is None:
        _offer(source)
        return None
    for sentence in own.caveats(strength):
        st.warning(safe(sentence, limit=400), icon=":material/priority_high:")
    scored = own.effect(strength)
    rows = scored[scored["measure"] == "sensitivity"]
    rows = rows.assign(opens=opened(rows["name"], found, source))
    figure = before_after_dots(
        rows, colour=colours([found.evaluator])[found.evaluator], axis="change, SD of unedited scores"
    )
    alt = "Sensitivity of each family before and after, as measured, with 95 % intervals"
    clicked = partial(pairs_behind, chosen={}, scope=scope_link(source.scope))
    draw_figure(figure, key="calib.measured.dots", alt=alt, clicked=clicked)
    at = own.sweep.lambdas.index(strength)
    spread = own.sweep.spread[at] / own.sweep.spread[0]
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(f"Median over pictures; 95 % intervals.{OPENS}", width="content")
        figure_buttons(figure, rows, "calibration-measured", title="Measured calibration", key="calib.measured.f")

    def numbers() -> None:
        st.caption(rests_on(scored, strength, "measured"))
        shown = rows[["name"]].rename(columns={"name": "family"})
        for head, side in (("Before, SD", "before"), ("Measured, SD", "after"), ("Measured / before", "ratio")):
            shown[head] = [_with_ends(row, side) for row in rows.to_dict("records")]
        shown["n items"] = rows["n"]
        draw_table(shown, alt="Each family before and as measured", column_config={"family": "Family"})
        st.caption(
            "In brackets: 95 % intervals; of the ratio by the percentiles of bootstrap samples, both sides in each."
        )
        st.caption(
            f"An item's change is the median over its edits, before and after each in SD of its own unedited scores. "
            f"The metric scored {counted(own.file.images, 'picture')}, the variants and their own variants; the "
            f"unedited scores' SD is {number(100 * spread, digits=1)} % of what it was."
        )
        data_buttons(scored, f"{found.evaluator}-measured", key="calib.measured.data")

    return numbers


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


def _with_ends(row: dict[object, object], side: str) -> str:
    value, low, high = (float(str(row[f"{side}{end}"])) for end in ("", "_low", "_high"))
    digits = 3 if side == "ratio" else 4
    ends = f" ({low:.{digits}f} to {high:.{digits}f})" if low == low else ""
    return f"{number(value, digits=digits)}{ends}"


def _offer(source: Source) -> None:
    asked = Asked(source.run, source.whole(), source.scope.subject, source.scope.language)
    # how a shell names a run: by its id where it lies in a usual folder, else by its path
    request = MeasureRequest.of(
        run=source.run.id
        if source.run.path.parent in (runs_dir(), results_dir()) and source.run.path.name == source.run.id
        else str(source.run.path),
        evaluator=asked.fit.evaluator,
        reading=asked.fit.terms.reading,
        families=tuple(asked.families),
        subject=source.scope.subject,
        language=source.scope.language,
    )
    time = "its time is unknown, as no run on this machine measured this metric"
    if (seconds := asked.seconds()) is not None:
        time = f"about {duration(seconds)} by the speed of an earlier run here"
    st.markdown(
        f"Not measured yet. To measure it, the metric scores at most {thousands(asked.images)} pictures: "
        f"{counted(len(asked.items), 'item')}, their variants, and the variants of both; {time}. The dev items then "
        "choose λ by what was measured, the held-out ones tell what it does; every weighting and every λ are known."
    )
    if not operates():
        return
    if why := obstacle(asked):
        st.info(safe(why, limit=400), icon=":material/block:")
    hint = "It runs outside the browser: close this page, it goes on"
    button("Measure it", "straighten", "calib.measuring", _start, request, disabled=bool(why), help=hint)
    tell_refused("calib.said")
    watch_jobs(lambda: [job] if (job := _latest(request)) else [])
    st.caption("The same in a shell, in the folder of the checkout:")
    st.code(request.shell(), language="shell", wrap_lines=True)


def _latest(request: MeasureRequest) -> job_queue.Job | None:
    return next((job for job in job_queue.list_jobs()[0] if request.same(job.request)), None)


@operators_only
def _start(request: MeasureRequest) -> None:
    job = _latest(request)
    if job is None or job.status not in job_queue.ACTIVE:
        tried(lambda: job_queue.start(request), "calib.said")


LED = (OF_AXES, "spearman", "sensitivity")  # measures that the line is of
_TO = "\N{WORD JOINER}–\N{WORD JOINER}"  # both ends of an interval stay on one line
_NAMED = 4  # kinds of edits up to which each is named


def lead(changed: pd.DataFrame, evaluator: str) -> str:
    """Say how much less harmless edits move an evaluator, and what becomes of its rank agreement. ``changed``: of the
    held-out items, as of ``core.features.calibration.effect.before_after``, LED at least. Returns a sentence in
    markdown, its names made safe; empty where nothing is known."""
    axes = _known_axes(changed)
    if not axes:
        return ""
    levels = ("95\N{NO-BREAK SPACE}% interval ", *[""] * (len(axes) - 1))
    moved, names = list[str](), list[str]()
    for row, of in zip(axes, levels, strict=True):
        share = 100 * (float(row["after"]) / float(row["before"]) - 1)
        moved.append(f"{_share(share) if round(abs(share)) else 'as far as before'} ({_ends(row, of)})")
        rows = changed[(changed["measure"] == "sensitivity") & (changed["axis"] == row["axis"])]
        kinds = [safe(family_title(str(name))) for name in rows["name"]]
        few = f" ({', '.join(kinds)})" if 0 < len(kinds) <= _NAMED else ""
        names.append(f"{safe(row['axis'])} edits{few}")
    first, *others = moved
    more = "".join(f", {name} {each}" for name, each in zip(names[1:], others, strict=True))
    # a societal word may be true of the picture: nobody knows that it is harmless
    edits = f"{names[0][:1].upper()}{names[0][1:]}" if axes[0]["axis"] == Axis.SOCIETAL else f"Harmless {names[0]}"
    return f"{edits} move {safe(evaluator)} {first}{more}{_agreement(changed)}."


def _agreement(changed: pd.DataFrame) -> str:
    """How rank agreement changes, to a hundredth: point estimates bear no more."""
    known = changed[changed["measure"] == "spearman"].dropna(subset=["before", "after"])
    if known.empty:
        return ""
    people = bool(known["name"].eq(HUMAN).any())
    others = int(known["name"].ne(HUMAN).sum())
    metrics = f"{others} other metric{'' if others == 1 else 's'}" if others else ""
    whom = " and ".join(filter(None, (metrics, HUMAN if people else "")))
    rises = (known["after"] - known["before"]).round(2)
    low, high = float(rises.min()), float(rises.max())
    near, far = sorted((abs(low), abs(high)))
    about = f"{near:.2f}" if near == far else f"{near:.2f} to {far:.2f}"
    if low == high == 0:
        how = "hardly changes"
    elif low < 0 < high:
        how = f"changes by about −{-low:.2f} to +{high:.2f}"
    else:
        how = f"{'falls' if low < 0 else 'rises'} by about {about}"
    return f"; rank agreement with {whom} {how}"


def surely(changed: pd.DataFrame) -> str:
    """Say under which kinds of edits it is sure, by the interval of what is left; empty for one kind."""
    rows = changed[changed["measure"] == "sensitivity"].dropna(subset=["ratio_low", "ratio_high"])
    if len(rows) < 2:
        return ""
    less, more = rows["ratio_high"] < 1, rows["ratio_low"] > 1

    def kinds(part: pd.Series) -> str:
        names = [safe(family_title(str(name))) for name in rows.loc[part, "name"]]
        return listed(names) if len(rows) <= _NAMED else f"{len(names)} of {len(rows)} kinds of edits"

    clear = [
        f"{word} is clear for {kinds(part)}" for word, part in (("the fall", less), ("a rise", more)) if part.any()
    ]
    unclear = ~(less | more)
    if not clear:
        return "Compared picture by picture, neither a fall nor a rise is clear for any of them."
    rest = f", {'neither' if clear[1:] else 'not'} for {kinds(unclear)}" if unclear.any() else ""
    return f"Compared picture by picture, {' and '.join(clear)}{rest}."


def rests_on(changed: pd.DataFrame, strength: float, basis: str) -> str:
    """Say what the line rests on: the strength λ, in [0, 1], the ``basis`` of its numbers, e.g. ``measured``, the
    items, both sides of each number. Returns markdown, its names made safe; empty where nothing is known."""
    axes = _known_axes(changed)
    if not axes:
        return ""
    counts = sorted({int(row["n"]) for row in axes})
    of = f"{counts[0]} to {counted(counts[-1], 'picture')}" if counts[1:] else counted(counts[0], "picture")
    sides = listed([f"{safe(row['axis'])} {number(row['before'])} → {number(row['after'])} SD" for row in axes])
    known = changed[changed["measure"] == "spearman"].dropna(subset=["before", "after"])
    kept = [
        f"with {safe(row['name'])} {number(row['before'])} → {number(row['after'])}" for row in known.to_dict("records")
    ]
    order = f" Rank agreement (Spearman) {'; '.join(kept)}." if kept else ""
    told = f"Strength {strength:g}, {safe(basis)}, on {of} not used for fitting"
    return f"{told}. Typical change: {sides}.{order}"


def _known_axes(changed: pd.DataFrame) -> list[dict[Any, Any]]:
    axes = changed[changed["measure"] == OF_AXES].to_dict("records")
    return [row for row in axes if float(row["before"]) > 0 and not math.isnan(float(row["after"]))]


def _ends(row: dict[Any, Any], of: str) -> str:
    """The interval of the same behind the words ``of``, from the least to the most that is taken off; no more is
    claimed than it allows."""
    low, high = (100 * (float(row.get(name, math.nan)) - 1) for name in ("ratio_low", "ratio_high"))
    if math.isnan(low):
        return "no interval"
    if low <= 0 <= high:
        return f"{of}{_share(low)} to {_share(high)}, which may be chance"
    near, far = sorted((abs(low), abs(high)))
    return f"{of}{near:.0f}{_TO}{far:.0f}\N{NO-BREAK SPACE}%"


def _share(share: float) -> str:
    return f"{abs(share):.0f}\N{NO-BREAK SPACE}% {'more' if share > 0 else 'less'}"
