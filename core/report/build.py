"""The whole report of a scope: every question of the catalogue, asked once of one table of scores."""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

import pandas as pd

from core.analysis.both_demands import demands_figure
from core.analysis.comparisons import axes
from core.analysis.lacks import Lack
from core.analysis.questions import Options, Question, catalogue, papers
from core.analysis.reading import read_table
from core.analysis.scope import Narrowed, Scope, labels_said, narrow
from core.analysis.slices import told_said
from core.analysis.table import ScoreTable
from core.analysis.true_words import may_be_true
from core.charts.spec import Figure
from core.features.feature import parts
from core.features.human.judged_comparisons import BESIDE, with_baseline, with_columns, with_people
from core.features.human.studies import Study
from core.features.human.study_outcomes import accepted_by_people
from core.features.suites.suite_result import SuiteResult
from core.features.systems.system_file import Kept
from core.report.beyond import Encode, beyond
from core.report.document import Missing, Report, Table
from core.report.kept_results import board_tables, measured_tables, suite_tables
from core.report.opening_words import NEEDED, opening
from core.report.pair_slides import edited_caption
from core.report.short_tables import SHORT, short_tables
from core.report.signature import fingerprints, signature_of
from core.store.manifest import COMPLETE, Run
from core.store.store import Store

EVERY_FAMILY = ("S16",)
"""Questions of one family that a report asks of every family: the intersections."""

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
        store: opened runs.
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
    made = _Made(whole=whole, figures=figures)
    answers = made.answer(table)
    more = beyond(table, studies=studies, encode=encode if whole else None)
    made.tables = _peopled(made.tables, table, more.studies)
    made.take(more.tables, more.details, more.figures, more.missing)
    runs = [run for run in store.runs() if run.id in table.scope.run_ids]
    if whole:
        scored, unscored = measured_tables(table, runs)
        made.take(scored, missing=unscored)
    judged = suite_tables(suites, table.evaluators)
    ranked = board_tables(boards or Kept(), table.evaluators, fingerprints(runs))
    card = edited_caption(store, table)
    shown = [card] if isinstance(card, Table) else []
    lacked = [*judged.missing, *ranked.missing, *(() if isinstance(card, Table) or not axes(table) else (card,))]
    given = {each.id for each in (*judged.tables, *ranked.tables, *shown)} | {each.id for each in ranked.figures}
    made.take([*shown, *judged.tables, *ranked.tables], ranked.details, ranked.figures)
    words = may_be_true(table, accepted_by_people(more.studies, table.scope.run_ids))
    missing = tuple(sorted(_still_missing(made.missing, given, lacked), key=_order))
    plane, tables = demands_figure(table.view()), tuple(sorted(made.tables, key=_order))
    return Report(
        title=f"Invariance report: {', '.join(table.scope.run_ids)}",
        signature=signature_of(table, runs),
        about=_about(table, runs),
        tables=tables,
        figures=tuple(sorted(made.drawn, key=_order)),
        missing=missing,
        details=tuple(sorted(made.details, key=_order)),
        opening=opening(table, answers, studied=more.studied, words=words),
        plane=plane if len(plane.frame) else None,
        short=tuple(short_tables(tables, corpus=table.scope.corpus)),
        lacks=_by_reason(missing),
        unmade=made.unmade,
    )


@dataclass(slots=True)
class _Made:
    """What a report is put together of, as it grows; see :func:`build`."""

    whole: bool
    figures: bool
    tables: list[Table] = field(default_factory=list)
    details: list[Table] = field(default_factory=list)
    drawn: list[Figure] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    unmade: dict[str, str] = field(default_factory=dict)

    def take(
        self,
        tables: Sequence[Table] = (),
        details: Sequence[Table] = (),
        drawn: Sequence[Figure] = (),
        missing: Sequence[Missing] = (),
    ) -> None:
        """Take in what was made elsewhere."""
        self.tables += tables
        self.details += details
        self.drawn += drawn if self.figures else ()
        self.missing += missing

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
                self.missing += [each for each in why if self.figures or each.id == question.id]
                continue
            if question.columns:
                one = Table(question.id, question.title, question.note, frame, question.columns, question.paper)
                (self.details if question.part_of else self.tables).append(one)
            if question.id in EVERY_FAMILY:
                self.tables += _other_families(question, table)
            if self.figures:
                self._draw(question, frame, table)
        return answers

    def _draw(self, question: Question, frame: pd.DataFrame, table: ScoreTable) -> None:
        for drawing in question.figures:
            each = drawing.figure(frame)
            if len(each.frame):
                self.drawn.append(each)
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


def _still_missing(said: Sequence[Missing], given: Set[str], instead: Sequence[Missing]) -> list[Missing]:
    """What is missing once other tables are given, with what these say where they are not."""
    known = given | {each.id for each in instead} | {each.name for each in parts().values() if given & set(each.held)}
    return [*(each for each in said if each.id not in known), *instead]


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
    about = {
        "Runs": "; ".join(
            f"{run.id} (corpus {run.manifest['corpus'].get('name')}, {run.status}, "
            f"Invariscope {run.manifest.get('invariscope', 'unknown')})"
            for run in runs
        ),
        "Items": ", ".join(f"{int(table.of_corpus(name).sum())} of {name}" for name in table.corpora),
        "Evaluators": ", ".join(table.evaluators),
        "Scores": f"{scored} scores under {len(table.probes)} probes, {stored - scored} pairs could not be scored",
        "Captions": f"subject {scope.subject}, language {scope.language}",
    }
    if scope.told:
        about["Items asked for"] = "; ".join(told_said(scope.told))
    if scope.left_out:
        about["Left out"] = " ".join(scope.left_out)
    if labels := labels_said(runs, scope.run_ids):
        about["Labels"] = " ".join(labels)
    unfinished = [run.id for run in runs if run.status != COMPLETE]
    if unfinished:
        about["Not finished"] = f"{', '.join(unfinished)}: these numbers are not all there; start the audit again first"
    return about
