"""Answers to questions: worked out once for each slice and shared by all sessions, shown as a figure with its table."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.effects import COLUMNS
from core.analysis.lacks import Lack
from core.analysis.questions import Column, Options, Question, catalogue
from core.analysis.questions.columns import PERCENT, UNITS
from core.analysis.scope import Narrowed
from core.analysis.slices import PROBES, Slice
from core.charts.spec import NEUTRAL, Figure, faded
from core.charts.spec import signed as changed
from core.features.human.judged_comparisons import with_baseline, with_people
from core.features.human.studies import list_studies
from core.report.document import p_value
from pages.views.common.collect import figure_buttons
from pages.views.common.links import link_to, pairs_behind
from pages.views.common.open_runs import KEYED, Signature, of_runs, scores, view
from pages.views.common.page_drawings import FAMILIES, NUMBER, TEXT, draw_figure, draw_table
from pages.views.common.text import counted, listed, number, safe, thousands

_KEPT = 256  # answers, tables of a few hundred rows, that are kept


@of_runs
@st.cache_resource(hash_funcs=KEYED, max_entries=4, show_spinner=False)
def questions(files: Signature, scope: Narrowed) -> Mapping[str, Question]:
    """Every question to the scores of a scope, by id; see ``core.analysis.questions.catalogue``."""
    return {each.id: each for each in catalogue(scores(files, scope))}


_BESIDE = {"means": with_people, "rates": with_baseline}
"""What has people beside it: means of both sides of a comparison, and failure rates."""


def beside_people(
    files: Signature, scope: Narrowed, chosen: Slice, options: Options, rows: pd.DataFrame, *, of: str
) -> pd.DataFrame:
    """Rows of ``means`` or ``rates`` with what people say; see :mod:`core.features.human.judged_comparisons`."""
    # without a study nothing is added: looking for one costs less than the key of the rows
    return _beside_people(files, scope, chosen, options, rows, of) if list_studies()[0] else rows


# The key names the studies' logs too: a vote makes it another.
@st.cache_data(hash_funcs=KEYED, max_entries=32, show_spinner=False)
def _beside_people(
    files: Signature, scope: Narrowed, chosen: Slice, options: Options, rows: pd.DataFrame, of: str
) -> pd.DataFrame:
    return _BESIDE[of](rows, view(files, scope, chosen), list_studies()[0], known=options.known)


def answer(files: Signature, scope: Narrowed, chosen: Slice, id_: str, options: Options) -> pd.DataFrame:
    """The answer to one question about what a slice leaves of a scope: the frame that a report writes of it."""
    return _answer(files, scope, questions(files, scope)[id_].read(chosen), id_, options)


@st.cache_data(hash_funcs=KEYED, max_entries=_KEPT, show_spinner="Working it out …")
def _answer(files: Signature, scope: Narrowed, chosen: Slice, id_: str, options: Options) -> pd.DataFrame:
    return questions(files, scope)[id_].compute(view(files, scope, chosen), options)


_NAMES = {"percent": "Median % change", "standardised": "Median Δ, SD", "delta": "Median Δ"}
_ENDS = "95 % interval; the files have both ends as numbers"
_MORE = (
    Column("n_zero_baseline", "Zero baselines", digits=0, help="Shifts without a % change: nothing to divide by"),
    Column("n_missing", "Unscored", digits=0, help="Shifts whose score is missing"),
)
_BAND = f"background-color: {faded(NEUTRAL, 0.12)}"  # behind the rows of every second family, on light and on dark


def figure_block(
    figure: Figure,
    table: pd.DataFrame | Callable[[], pd.DataFrame],
    stem: str,
    *,
    title: str,
    alt: str,
    said: str = "",
    rule: str = "",
    chosen: Mapping[str, str] | None = None,
    scope: Mapping[str, str] | None = None,
) -> None:
    """Draw a figure under the answer that it shows, else under its title, with the menu of its files.

    Args:
        table: the data behind it, or a function that makes them.
        stem: name of the files, and key of the figure.
        title: in our own words.
        alt: what the figure says, for those who cannot see it.
        said: the answer that it shows, in a sentence; the title stands below it.
        rule: from when on it says so, behind the title.
        chosen: link parameters of what the reader chose here, which the pairs behind a mark are of too.
        scope: likewise of whose scores they are, where that is not what Failures usually shows.
    """
    with st.container(horizontal=True, vertical_alignment="top" if said else "center", key=f"row_{stem}"):
        with st.container(gap="xsmall"):
            st.markdown(f"**{safe(said or title, limit=600)}**")
            if said:
                named = f"{title.removesuffix('.')}{'' if title.endswith('?') else '.'}"
                st.caption(safe(" ".join(filter(None, (named, rule, _without_bar(figure)))), limit=600))
        figure_buttons(figure, table, stem, title=title, key=f"results.{stem}")
    clicked = partial(pairs_behind, chosen=chosen or {}, scope=scope or {})
    draw_figure(figure, alt=alt, key=f"results.{stem}.figure", clicked=clicked)


def _without_bar(figure: Figure) -> str:
    """What marks without a bar say, in a sentence; empty where every interval has a length."""
    drawn = figure.kind == "dots" and figure.bounds == "whiskers"
    same = drawn and (figure.frame["low"] == figure.frame["high"]).any()
    return "Without a bar: redrawing the pictures hardly ever changes it." if same else ""


def answer_rows(question: Question, frame: pd.DataFrame, *, measure: str, several: bool) -> None:
    """Draw the table of an answer, shifts in the measure chosen. ``measure``: of ``core.analysis.effects.MEASURES``.
    ``several``: whether the scores are of several corpora; otherwise theirs is not named in every row."""
    opens = {(kind, column) for drawing in question.figures for kind, column in drawing.opens.items()}
    named = opens & {("families", "label"), ("test", "family")}
    rows_are_families = bool(named) or question.part == "families" or question.section == "flips"
    bands, columns = [""] * len(frame), question.columns
    if rows_are_families:
        frame, bands, columns = _by_family(frame, question.columns)
    values, config = dict[str, pd.Series](), dict[str, Any]()
    more = [each for each in _MORE if each.name in frame and frame[each.name].any()]
    for column in (*columns, *more):
        if column.name == "corpus" and not several:
            continue
        for name, own, drawn in _drawn(column, frame, measure if "measure" in question.asks else "percent"):
            values[name], config[name] = own, drawn
    shown = pd.DataFrame(values, index=frame.index)
    for frozen in list(values)[:2]:  # columns at the left that stay in sight when a table is moved sideways
        config[frozen]["pinned"] = True
    few = frame["grey"] if "grey" in frame else [False] * len(frame)  # an answer may say which rows are of few
    looks = [f"color: {NEUTRAL}" if faint else band for faint, band in zip(few, bands, strict=True)]
    draw_table(
        shown,
        looks=looks,
        alt=f"Table: {question.title}",
        key=f"results.{question.id}.rows",
        column_config=config,
        families=(*FAMILIES, "label") if rows_are_families else FAMILIES,
    )


def _by_family(frame: pd.DataFrame, columns: tuple[Column, ...]) -> tuple[pd.DataFrame, list[str], tuple[Column, ...]]:
    """The rows a family after the other, so that its evaluators can be compared, every second one on a band. Returns
    rows, a look for each, and columns, the family first; all as they come where there is one evaluator."""
    lead = next((each for each in columns if each.name in ("label", "family")), None)
    if lead is None or "evaluator" not in frame or len(frame["evaluator"].unique()) < 2:
        return frame, [""] * len(frame), columns
    place, _ = pd.factorize(frame[lead.name])
    order = np.argsort(place, kind="stable")
    looks = [_BAND if each % 2 else "" for each in place[order]]
    return frame.iloc[order].reset_index(drop=True), looks, (lead, *(each for each in columns if each is not lead))


def _drawn(column: Column, frame: pd.DataFrame, measure: str) -> Iterator[tuple[str, pd.Series, Any]]:
    if column.kind == "text":
        yield column.name, frame[column.name], TEXT(column.header, help=column.help or None)
    elif column.kind == "p":
        look = TEXT(column.header, alignment="right", help=column.help or None)
        yield column.name, frame[column.name].map(p_value), look
    elif column is PERCENT:
        (value, low, high), (_, digits) = COLUMNS[measure], UNITS[measure]
        yield "value", *_number(frame[value], _NAMES[measure], digits, signed=True, said=column.help)
        yield "interval", *interval(frame, low, high, digits, signed=True)
    else:
        yield (
            column.name,
            *_number(
                frame[column.name], column.header.replace(" [95 % CI]", ""), column.digits, column.signed, column.help
            ),
        )
        if column.low:
            yield f"{column.name}_interval", *interval(frame, column.low, column.high, column.digits, column.signed)
        if column.to:
            yield column.to, *_number(frame[column.to], "After", column.digits, column.signed)
            ends = (f"{column.to}_low", f"{column.to}_high")
            yield f"{column.to}_interval", *interval(frame, *ends, column.digits, column.signed)


def _number(values: pd.Series, head: str, digits: int, signed: bool, said: str = "") -> tuple[pd.Series, Any]:
    """Rounded, so that nothing reads as minus zero; the files keep every digit."""
    look = NUMBER(head, format=f"%{'+' if signed else ''}.{digits}f", help=said or None)
    return values.astype(float).round(digits) + 0.0 if digits else values, look


def interval(frame: pd.DataFrame, low: str, high: str, digits: int, signed: bool) -> tuple[pd.Series, Any]:
    """Both ends of an interval in one column of words, and its look; nothing where there is no interval."""
    write = partial(changed, unit="") if signed else number
    ends = frame[[low, high]].astype(float).round(digits) + 0.0  # so that nothing reads as minus zero
    said = [
        "" if pd.isna(first) or pd.isna(last) else f"{write(first, digits=digits)} to {write(last, digits=digits)}"
        for first, last in ends.itertuples(index=False, name=None)
    ]
    look = TEXT("95 % interval", alignment="right", help=_ENDS)
    return pd.Series(said, index=frame.index).replace("", None), look


def corrected(question: Question, frame: pd.DataFrame) -> str:
    """Say what Holm's correction is over, and how many tests that are."""
    if not question.tests or "m_tests" not in frame:
        return ""
    sizes = sorted({int(each) for each in frame["m_tests"]} - {0})
    many = f": {' or '.join(map(str, sizes[:-1]))} or " if len(sizes) > 1 else ": "
    return f"Holm's correction is over {question.tests}{many}{counted(sizes[-1], 'test')}." if sizes else ""


def applied(files: Signature, scope: Narrowed, chosen: Slice, question: Question, options: Options) -> Slice:
    """The part of a slice that changes an answer: without the choices of edits that leave its numbers as they are."""
    read = question.read(chosen)
    frame = answer(files, scope, read, question.id, options)
    for field in PROBES:
        if getattr(read, field) and answer(files, scope, read.without(field), question.id, options).equals(frame):
            read = read.without(field)
    return read


def nothing(titles: Sequence[str]) -> None:
    """Say that the filters leave nothing of what a part shows."""
    named = listed([f"“{safe(each)}”" for each in titles])
    st.info(f"The filters leave nothing of {named}.", icon=":material/filter_alt:")


def way_to(view: str, lack: Lack, **link: str) -> None:
    """Draw the way to the run and caption that hold what the scope leaves out; nothing where no run does. ``link``:
    parameters of the view's link beside the choice."""
    if lack.choose:
        named = safe(", ".join(f"{name} {each}" for name, each in lack.choose.items()))
        query = {**link, **lack.choose}
        link_to(view, f"Show {named} ({thousands(lack.n)})", icon=":material/visibility:", query_params=query)


def spoken(figure: Figure, *, most: int = 12) -> str:
    """Say the marks of a figure in a sentence: its alternative text."""
    across = ("x", "x_low", "x_high") if "x_low" in figure.frame else ()
    names = ("label", "series", "value", "low", "high", "n", *across)
    shown = figure.frame.head(most)
    told = [
        f"{', '.join(dict.fromkeys((str(label), str(series))))}: "
        f"{value:.3g}{figure.unit} ({low:.3g} to {high:.3g}, n {n})"
        + (f" at {at[0]:.3g} ({at[1]:.3g} to {at[2]:.3g})" if at else "")
        for label, series, value, low, high, n, *at in zip(*(shown[name].tolist() for name in names), strict=True)
    ]
    rest = f"; and {len(figure.frame) - most} more, in the table beneath" if len(figure.frame) > most else ""
    return f"{'; '.join(told)}{rest}"
