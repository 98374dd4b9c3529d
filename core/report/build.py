"""The whole report of a scope: every question of the catalogue, asked once of one table of scores.

The papers' tables as they are read: one number a cell, an evaluator a column, nine columns and a dozen rows.

The whole table, with every test and remark, is data; see :mod:`core.report.report_files`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from core.analysis.both_demands import demands_figure
from core.analysis.comparisons import axes
from core.analysis.effects import ALL
from core.analysis.facts import known_words, may_be_true
from core.analysis.lacks import Lack
from core.analysis.questions import Options, Question, catalogue, papers
from core.analysis.questions.question import Column
from core.analysis.reading import read_table
from core.analysis.scope import Narrowed, Scope, items_said, labels_said, narrow
from core.analysis.slices import told_said
from core.analysis.table import ScoreTable
from core.charts.spec import Figure, shortened
from core.features.feature import methods, parts
from core.features.human.judged_comparisons import BESIDE, with_baseline, with_columns, with_people
from core.features.human.studies import Study
from core.features.human.study_outcomes import accepted_by_people
from core.features.suites.suite_result import SuiteResult
from core.features.systems.system_file import Kept
from core.report.beyond import Encode, beyond
from core.report.document import (
    NOTHING,
    SHORT,
    Made,
    Missing,
    Report,
    Table,
    column_texts,
    fingerprints,
    headline,
    item_counts,
    row_keys,
    signature_of,
)
from core.report.kept_results import board_tables, measured_tables, suite_tables
from core.report.opening_words import NEEDED, opening
from core.report.pair_slides import edited_caption
from core.statistics.wording import listed
from core.store.run_files import COMPLETE, Run
from core.store.store import Store

MOST_COLUMNS, MOST_ROWS, MOST_LETTERS = 9, 12, 120  # Of a short table and of a cell of it

_MOST_KEYS, _MOST_EVALUATORS = 3, 5

_ACROSS = ("T9", "T10", "T11")  # Tables that hold corpora against each other: theirs all stay


def short_tables(tables: Sequence[Table], *, corpus: str) -> list[Table]:
    """The short form of those of some tables that are a paper's; ``corpus``: that is in view; of several corpora its
    rows stay."""
    return [_short(each, corpus) for each in tables if each.id in SHORT and each.columns and len(each.frame)]


def _short(table: Table, corpus: str) -> Table:
    frame, kept = _of_corpus(table, corpus)
    keys = row_keys(table)
    told = [f"{_header(table, name)} {_cell(frame[name].iloc[0])}" for name in keys if not _several(frame[name])]
    varying = [name for name in keys if _several(frame[name])]
    value = headline(table)
    if "evaluator" not in frame or value is None:
        return _plain(table, frame, told)
    rows = frame.assign(_text=column_texts(frame, value), _n=item_counts(frame))
    rows = rows[rows["_text"] != NOTHING]
    if rows.empty:
        return _plain(table, frame, told)
    rows["_again"] = rows.groupby(["evaluator", *varying], dropna=False, sort=False).cumcount()
    named = list(rows[[*varying, "_again"]].astype(str).itertuples(index=False, name=None))
    places = {key: at for at, key in enumerate(dict.fromkeys(named))}
    rows["_row"] = [places[key] for key in named]
    shown = _most_items(rows)
    grid = _grid(table, rows[rows["_row"].isin(shown)], varying)
    left = len(places) - len(shown)
    said = [
        f"{value.header}.",
        *(f"{each.help}." for each in table.columns if each.name in varying and each.help),
        f"{'; '.join(told)}." if told else "",
        f"{kept}." if kept else "",
        f"{len(shown)} of {len(places)} rows; none left out has more items." if left else "",
    ]
    columns = tuple(Column(str(name), str(name), kind="text") for name in grid.columns)
    return Table(table.id, table.title, " ".join(filter(None, said)), grid, columns, table.paper)


def _of_corpus(table: Table, corpus: str) -> tuple[pd.DataFrame, str]:
    """Rows of the corpus in view, where a table has several and does not hold them against each other."""
    frame = table.frame
    if "corpus" not in frame or table.id in _ACROSS or frame["corpus"].nunique() < 2:
        return frame, ""
    own = frame[frame["corpus"] == corpus]
    own = own if len(own) else frame[frame["corpus"] == frame["corpus"].iloc[0]]
    others = {*frame["corpus"].unique()} - {*own["corpus"].unique()}
    named = len(others - {ALL})
    more = [f"{named} more {'corpus' if named == 1 else 'corpora'}"] * (named > 0)
    return own, f"Rows of {listed([*more, *['all together'] * (ALL in others)])} are in the data"


def _most_items(rows: pd.DataFrame) -> list[int]:
    """Places of the rows that are shown, in their order: of too many those of the most items, whatever was found."""
    order = sorted(rows["_row"].unique())
    if len(order) <= MOST_ROWS:
        return order
    most = rows.groupby("_row")["_n"].max().fillna(0)
    return sorted(most.sort_values(ascending=False, kind="stable").index[:MOST_ROWS])


def _grid(table: Table, rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Keys, n and a column an evaluator; of more evaluators than that an evaluator a row and the keys across."""
    evaluators = list(dict.fromkeys(map(str, rows["evaluator"])))
    records = []
    for _, own in rows.groupby("_row", sort=True):
        first, counts = own.iloc[0], own["_n"].dropna()
        alone = len(keys) if len(keys) <= _MOST_KEYS else _MOST_KEYS - 1
        record = {_header(table, name): _cell(first[name]) for name in keys[:alone]}
        if last := keys[alone:]:
            record[", ".join(_header(table, name) for name in last)] = ", ".join(_cell(first[name]) for name in last)
        if len(counts):
            record["n"] = "–".join(dict.fromkeys(f"{each:.0f}" for each in (counts.min(), counts.max())))
        cells = dict(zip(own["evaluator"].astype(str), own["_text"], strict=True))
        records.append(record | {name: cells.get(name, NOTHING) for name in evaluators})
    grid = pd.DataFrame(records)
    if len(evaluators) <= _MOST_EVALUATORS:
        return grid
    # an evaluator a row, the first keys across, each with its n
    head = [name for name in grid.columns if name not in evaluators]
    shown, named = grid.head(MOST_COLUMNS - 1), list[str]()
    for row in shown[head].to_dict("records"):
        named.append(", ".join(f"n {told}" if name == "n" else told for name, told in row.items()) or "all")
    return shown[evaluators].T.set_axis(named, axis=1).rename_axis("Metric").reset_index()


def _plain(table: Table, frame: pd.DataFrame, told: list[str]) -> Table:
    """A table without an evaluator's column as it is, its first columns and rows; what all rows share stands below."""
    shown = [each for each in table.columns if len(frame) == 1 or _several(frame[each.name])]
    shown = shown[:MOST_COLUMNS]
    cut = frame.head(MOST_ROWS).reset_index(drop=True)
    texts = {each.header: [_cell(text) for text in column_texts(cut, each)] for each in shown}
    more = f"{MOST_ROWS} of {len(frame)} rows." if len(frame) > MOST_ROWS else ""
    note = " ".join(filter(None, [f"{'; '.join(told)}." if told else "", more]))
    columns = tuple(Column(each.header, each.header, kind="text") for each in shown)
    return Table(table.id, table.title, note, pd.DataFrame(texts), columns, table.paper)


def _several(values: "pd.Series[Any]") -> bool:
    return len(values.astype(str).unique()) > 1


def _header(table: Table, name: str) -> str:
    return next(each.header for each in table.columns if each.name == name)


def _cell(value: object) -> str:
    return NOTHING if value is None or value != value or value == "" else shortened(str(value), most=MOST_LETTERS)


EVERY_FAMILY = ("S16",)  # Questions of one family that a report asks of every family: the intersections

_DATA_ONLY = ("family", "cliffs_delta", "test", "p")
"""Columns of the further families that are in the data alone: their title or the first table says them."""

NO_ROW = "the scores leave no row of it"


def build(
    store: Store,
    scope: Narrowed | Scope | None = None,
    *,
    whole: bool = True,
    figures: bool = True,
    studies: Sequence[Study] = (),
    encode: Encode | None = None,
    suites: Sequence[SuiteResult] = (),
    boards: Kept | None = None,
) -> Report:
    """Make the tables that a scope allows, and name those that it does not.

    Args:
        scope: what the reader chose; None: everything is usual.
        whole: make every table; else those of the papers that the document shows, and those that its words need.
        figures: make the figure of every table that is made.
        studies: whose votes are reported where they are of these runs.
        encode: asks an evaluator's text encoder, for the geometry, which is no table of the document; None: none is
            asked.
        suites: stored results of suites; those of the scope's evaluators are reported.
        boards: leaderboards that are kept; those that one of the scope's evaluators ranks are reported.

    Raises:
        InvalidInput: if the store holds no score of the scope.
    """
    table = read_table(store, scope if isinstance(scope, Narrowed) else narrow(store, scope))
    made = _Answered(whole=whole, drawn=figures)
    answers = made.answer(table)
    more = beyond(table, studies=studies, encode=encode if whole else None)
    made.tables = _peopled(made.tables, table, more.studies)
    made.take(more)
    runs = [run for run in store.runs() if run.id in table.scope.run_ids]
    if whole:
        made.take(measured_tables(table, runs))
    judged = suite_tables(suites, table.evaluators)
    ranked = board_tables(boards or Kept(), table.evaluators, fingerprints(runs))
    card = edited_caption(store, table)
    shown = [card] if isinstance(card, Table) else []
    lacked = [*judged.missing, *ranked.missing, *(() if isinstance(card, Table) or not axes(table) else (card,))]
    given = {each.id for each in (*judged.tables, *ranked.tables, *shown)} | {each.id for each in ranked.figures}
    made.take(Made([*shown, *judged.tables, *ranked.tables], ranked.details, ranked.figures))
    accepted = accepted_by_people(more.studies, table.scope.run_ids)
    words = may_be_true(table, accepted)
    known = given | {each.id for each in lacked} | {each.name for each in parts().values() if given & set(each.held)}
    missing = tuple(sorted([*(each for each in made.missing if each.id not in known), *lacked], key=_order))
    plane, tables = demands_figure(table.view()), tuple(sorted(made.tables, key=_order))
    return Report(
        title=f"Invariance report: {', '.join(table.scope.run_ids)}",
        signature=signature_of(table, runs),
        about=_about(table, runs),
        tables=tables,
        figures=tuple(sorted(made.figures if figures else (), key=_order)),
        missing=missing,
        details=tuple(sorted(made.details, key=_order)),
        opening=opening(table, answers, studied=more.studied, words=words, accepted=known_words(table, accepted)),
        plane=plane if len(plane.frame) else None,
        short=tuple(short_tables(tables, corpus=table.scope.corpus)),
        lacks=_by_reason(missing),
        unmade=made.unmade,
        methods=methods(table),
    )


@dataclass(slots=True)
class _Answered(Made):
    """What a report is put together of, as it grows; see :func:`build`."""

    whole: bool = True
    drawn: bool = True
    unmade: dict[str, str] = field(default_factory=dict)

    def answer(self, table: ScoreTable) -> dict[str, pd.DataFrame]:
        """Ask every question that is wanted; answers by its id."""
        answers, wanted = dict[str, pd.DataFrame](), list[Question]()
        for question in catalogue(table):
            if self.whole or question.id in (*NEEDED, *SHORT):
                wanted.append(question)
            elif question.columns and not question.needs(table):
                self.unmade[question.id] = question.title
        for question, frame in answered(table, wanted):
            if frame is not None:
                answers[question.id] = frame
            if frame is None or frame.empty:
                why = _missing(question, question.needs(table) or _no_row(table))
                self.missing += [each for each in why if self.drawn or each.id == question.id]
                continue
            if question.columns:
                one = Table(question.id, question.title, question.note, frame, question.columns, question.paper)
                (self.details if question.part_of else self.tables).append(one)
            if question.id in EVERY_FAMILY:
                self.tables += _other_families(question, table)
            if self.drawn:
                self._draw(question, frame, table)
        return answers

    def _draw(self, question: Question, frame: pd.DataFrame, table: ScoreTable) -> None:
        for drawing in question.figures:
            each = drawing.figure(frame)
            if len(each.frame):
                self.figures.append(each)
            else:
                self.missing.append(Missing(each.id, each.paper, drawing.needs(table) or _no_row(table)))


def ask(table: ScoreTable, asked: Sequence[Question], options: Options | None = None) -> dict[str, pd.DataFrame]:
    """Answers by the id of their question; those that the scores cannot give are not among them."""
    return {each.id: frame for each, frame in answered(table, asked, options) if frame is not None}


def answered(
    table: ScoreTable, asked: Sequence[Question], options: Options | None = None
) -> Iterator[tuple[Question, pd.DataFrame | None]]:
    """Every question with its answer, None where the scores cannot give it, one after the other."""
    view, chosen = table.view(), options or Options()
    for each in asked:
        yield each, None if each.needs(table) else each.compute(view, chosen)


def _other_families(question: Question, table: ScoreTable) -> list[Table]:
    """The same question of every family but the usual one, a table each."""
    view, made = table.view(), list[Table]()
    for family in question.families[1:]:
        frame = question.compute(view, Options(family=family))
        if len(frame):
            title = f"{question.title}: {family.replace('-', ' ')}"
            columns = tuple(each for each in question.columns if each.name not in _DATA_ONLY)
            note = f"Read as table {question.id}; the columns that are left out here are in the data."
            made.append(Table(f"{question.id}-{family}", title, note, frame, columns, question.paper))
    return made


def _no_row(table: ScoreTable) -> str:
    """Why an answer is empty that nothing lacks: of several corpora some tables are of one alone."""
    if len(table.corpora) < 2:
        return NO_ROW
    others = ", ".join(name for name in table.corpora if name != table.reference)
    return f"{NO_ROW}: some tables are of corpus {table.reference} alone, and --corpus chooses another ({others})"


def _missing(question: Question, reason: str) -> list[Missing]:
    drawn = question.part_of or (question.figures and not question.columns)
    named = [] if drawn else [Missing(question.id, question.paper, reason)]
    return named + [Missing(each.id, each.paper, reason) for each in question.figures]


def _order(each: Table | Figure | Missing) -> tuple[int, int, str]:
    """Paper A's tables and figures by their numbers, ours, those of families by name; then those of papers B to E."""
    found = re.match(r"([TFSC])(\d*)(.*)", each.id)
    kind, number, rest = found.groups() if found else ("S", "", each.id)
    return "TFSC".index(kind), int(number or 1000), rest


def _by_reason(missing: Sequence[Missing]) -> tuple[str, ...]:
    """Why tables of the document are not there, one line a reason, each with what it keeps away."""
    found = dict[str, list[str]]()
    for each in missing:
        if each.id in SHORT:
            found.setdefault(Lack.of(each.reason).what, []).append(each.id)
    return tuple(f"{why[:1].upper()}{why[1:]} ({', '.join(ids)})." for why, ids in found.items())


def _peopled(tables: Sequence[Table], table: ScoreTable, studies: Sequence[Study]) -> list[Table]:
    """The tables, with people's ratings below the means of both sides and how often people fail beside failures."""
    found = []
    for each in tables:
        if each.id == papers.MEANS[0]:
            each = replace(each, frame=with_people(each.frame, table.view(), studies))
        elif each.id in BESIDE and "n_people" in (frame := with_baseline(each.frame, table.view(), studies)):
            each = replace(each, frame=frame, columns=with_columns(each.columns))
        found.append(each)
    return found


def _about(table: ScoreTable, runs: Sequence[Run]) -> Mapping[str, str]:
    scope, stored = table.scope, int(table.stored.sum())
    scored = int((table.stored & ~pd.isna(table.scores)).sum())
    told = [(run, run.manifest["corpus"].get("name"), run.manifest.get("invariscope", "unknown")) for run in runs]
    about = {
        "Runs": "; ".join(f"{run.id} (corpus {corpus}, {run.status}, Invariscope {by})" for run, corpus, by in told),
        "Items": ", ".join(f"{int(table.of_corpus(name).sum())} of {name}" for name in table.corpora),
        "Evaluators": ", ".join(table.evaluators),
        "Scores": f"{scored} scores under {len(table.probes)} probes, {stored - scored} pairs could not be scored",
        "Captions": f"subject {scope.subject}, language {scope.language}",
    }
    if scope.told:
        about["Items asked for"] = "; ".join(told_said(scope.told))
    if left_out := (*items_said(runs, scope.run_ids), *scope.left_out):
        about["Left out"] = " ".join(left_out)
    if labels := labels_said(runs, scope.run_ids):
        about["Labels"] = " ".join(labels)
    unfinished = [run.id for run in runs if run.status != COMPLETE]
    if unfinished:
        about["Not finished"] = f"{', '.join(unfinished)}: these numbers are not all there; start the audit again first"
    return about
