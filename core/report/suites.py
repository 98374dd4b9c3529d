"""What a report holds of suites: the stored results of its evaluators, and table 17."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import pandas as pd

from core.analysis.questions.base import Column
from core.analysis.suites import tables
from core.analysis.suites.result import SuiteResult
from core.evaluators.references import BY_WORDS
from core.report.model import Missing, Table

_SUITE = Column("suite", "Suite", kind="text")
_FOIL = "FOIL: the right caption and the one with a wrong word"
_OF = {"Pascal-50S": ("C10", "Pascal-50S: which of two captions people prefer", "C, Table 3"),
       "FOIL": ("C11", _FOIL, "C, Table 4"), "ActivityNet-FOIL": ("C11", _FOIL, "C, Table 4"),
       "VATEX-EVAL": ("C12", "VATEX-EVAL: ratings of captions of videos", "C, Table 2"),
       "CapArena": ("S-caparena", "CapArena: which of two captioners people prefer", "")}  # fmt: skip
_RATED = ("C9", "Suites of ratings: agreement with people", "C, Tables 1, 5 and 8")

_LANGUAGES = ("C4", "Ratings in several languages: agreement with people", "B, Tables 3, 4 and 6")

_PAPERS = {
    _LANGUAGES[0]: _LANGUAGES[2],
    "T17": "Table 17",
    **{id_: paper for id_, _, paper in (_RATED, *_OF.values()) if paper},
}
OTHERS = (*_PAPERS, "S-suite-decisions", "S-suite-ranks", "S-caparena")
"""Tables that are named as missing where there is no result."""

NO_LANGUAGES = ("no evaluator of these runs was held to ratings in several languages; python -m core suite does, of a "
                "file whose captions name theirs")  # fmt: skip
NONE = "no evaluator of these runs was held to a suite; python -m core suite FILE IMAGES --evaluator NAME does"


@dataclass(frozen=True, slots=True)
class Suites:
    """Tables of suites, and what could not be given."""

    tables: tuple[Table, ...]
    missing: tuple[Missing, ...]


def suite_tables(results: Sequence[SuiteResult], evaluators: Collection[str]) -> Suites:
    """Every table that stored results of these evaluators allow.

    BLEU-4, METEOR, ROUGE-L and CIDEr-D stand beside them where one of them was held to the same suite; a calibration
    changes none of these, so table 17 is without.

    Args:
        results: see :func:`core.analysis.suites.result.stored`.
        evaluators: of the report.
    """
    known = {*evaluators, *BY_WORDS}
    own = [
        each.model_copy(update={"reached": tuple(entry for entry in each.reached if entry.evaluator in known)})
        for each in results if any(entry.evaluator in evaluators for entry in each.reached)
    ]  # fmt: skip
    made = [*_reached(own), *_further(own)]
    found = {each.id for each in made}
    lacking = {each: NO_LANGUAGES if each == _LANGUAGES[0] else NONE for each in OTHERS if each not in found}
    return Suites(tuple(made), tuple(Missing(each, _PAPERS.get(each, ""), why) for each, why in lacking.items()))


def _reached(own: Sequence[SuiteResult]) -> list[Table]:
    kinds: dict[tuple[str, str, str], list[SuiteResult]] = {}
    for each in own:
        kinds.setdefault(_OF.get(each.suite, _RATED if each.rated else _OF["CapArena"]), []).append(each)
    return [
        Table(id_, title, tables.NOTE, tables.reached_table(held),
              (_SUITE, *(each for each in tables.reached_columns(held) if each.name != "suite")), paper)
        for (id_, title, paper), held in kinds.items()
    ]  # fmt: skip


def _further(own: Sequence[SuiteResult]) -> list[Table]:
    both = tables.before_and_after(own)
    both = both[~both["evaluator"].isin(BY_WORDS)].reset_index(drop=True)
    id_, title, _ = _LANGUAGES
    frames = {
        id_: (tables.language_table(own), title, tables.LANGUAGE_NOTE, tables.LANGUAGE_COLUMNS),
        "T17": (both, "Calibration: people's preferences, before and after",
                tables.BEFORE_NOTE, tables.BEFORE_COLUMNS),
        "S-suite-decisions": (_all(own, tables.decision_table), "Suites: why is mine different?",
                              tables.DECISION_NOTE, (_SUITE, *tables.DECISION_COLUMNS)),
        "S-suite-ranks": (_all(own, tables.agreement_table), "Captioners: the order of people and of evaluators",
                          tables.RANK_NOTE, (_SUITE, *tables.AGREEMENT_COLUMNS)),
    }  # fmt: skip
    return [
        Table(id_, title, note, frame, columns, _PAPERS.get(id_, ""))
        for id_, (frame, title, note, columns) in frames.items()
        if len(frame)
    ]


def _all(own: Sequence[SuiteResult], make: Callable[[SuiteResult], pd.DataFrame]) -> pd.DataFrame:
    frames = [frame.assign(suite=each.suite) for each in own if len(frame := make(each))]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
