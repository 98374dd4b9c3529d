"""The whole report of a scope: every question of the catalogue, asked once of one table of scores."""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

import pandas as pd

from core.analysis.comparisons import axes
from core.analysis.judged_comparisons import BESIDE, with_baseline, with_columns, with_people
from core.analysis.questions import Options, Question, catalogue, papers
from core.analysis.reading import read_table
from core.analysis.scope import Narrowed, Scope, labels_said, narrow
from core.analysis.slices import told_said
from core.analysis.suite_result import SuiteResult
from core.analysis.system_file import Kept
from core.analysis.table import ScoreTable
from core.charts.drawing_process import Drawings
from core.charts.spec import Figure
from core.features.feature import parts
from core.human.studies import Study
from core.report.beyond import Encode, beyond
from core.report.document import Missing, Report, Table
from core.report.kept_results import board_tables, measured_tables, suite_tables
from core.report.opening_words import opening
from core.report.pair_slides import edited_caption
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
    studies: Sequence[Study] = (),
    encode: Encode | None = None,
    suites: Sequence[SuiteResult] = (),
    boards: Kept | None = None,
    drawings: Drawings | None = None,
) -> Report:
    """Make every table and figure that a scope allows, and name those that it does not.

    Args:
        store: opened runs.
        scope: what the reader chose; None: everything is usual.
        studies: whose votes are reported where they are of these runs.
        encode: asks an evaluator's text encoder, for the geometry; None: none is asked.
        suites: stored results of suites; those of the scope's evaluators are reported.
        boards: leaderboards that are kept; those that one of the scope's evaluators ranks are reported.
        drawings: begun of every figure as soon as it is made, for :func:`core.report.report_files.write`.

    Raises:
        InvalidInput: if the store holds no score of the scope.
    """
    table = read_table(store, scope if isinstance(scope, Narrowed) else narrow(store, scope))
    asked = catalogue(table)
    answers = dict[str, pd.DataFrame]()
    tables, details, figures, missing = list[Table](), list[Table](), list[Figure](), list[Missing]()
    for question, frame in answered(table, asked):
        if frame is not None:
            answers[question.id] = frame
        if frame is None or frame.empty:
            missing += _missing(question, question.needs(table) or _no_row(table))
            continue
        if question.columns:
            made = Table(question.id, question.title, question.note, frame, question.columns, question.paper)
            (details if question.part_of else tables).append(made)
        if question.id in EVERY_FAMILY:
            tables += _other_families(question, table)
        drawn = [(drawing, drawing.figure(frame)) for drawing in question.figures]
        own = [each for _, each in drawn if len(each.frame)]
        figures += own
        if drawings is not None:
            for each in own:
                drawings.begin(each)
        missing += [
            Missing(each.id, each.paper, drawing.needs(table) or _no_row(table))
            for drawing, each in drawn
            if each.frame.empty
        ]
    more = beyond(table, studies=studies, encode=encode)
    tables = _peopled(tables, table, more.studies)
    tables, details, missing = tables + more.tables, details + more.details, missing + more.missing
    figures += more.figures
    runs = [run for run in store.runs() if run.id in table.scope.run_ids]
    scored, unscored = measured_tables(table, runs)
    tables, missing = tables + scored, missing + unscored
    judged = suite_tables(suites, table.evaluators)
    ranked = board_tables(boards or Kept(), table.evaluators, fingerprints(runs))
    card = edited_caption(store, table)
    shown = [card] if isinstance(card, Table) else []
    lacked = [*judged.missing, *ranked.missing, *(() if isinstance(card, Table) or not axes(table) else (card,))]
    given = {each.id for each in (*judged.tables, *ranked.tables, *shown)} | {each.id for each in ranked.figures}
    tables += shown
    tables, details = [*tables, *judged.tables, *ranked.tables], details + ranked.details
    figures += ranked.figures
    missing = _still_missing(missing, given, lacked)
    return Report(
        title=f"Invariance report: {', '.join(table.scope.run_ids)}",
        signature=signature_of(table, runs),
        about=_about(table, runs),
        tables=tuple(sorted(tables, key=_order)),
        figures=tuple(sorted(figures, key=_order)),
        missing=tuple(sorted(missing, key=_order)),
        details=tuple(sorted(details, key=_order)),
        opening=opening(table, answers, studied=more.studied),
    )


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
