"""What a report has beside the questions to the scores: votes and the text encoders, as the pages have them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.questions.columns import EVALUATOR, NOTE, SAID, UNTOLD
from core.analysis.questions.question import Column, bounded
from core.analysis.table import ScoreTable
from core.charts.spec import Figure
from core.errors import InvalidInput, InvariscopeError
from core.features.feature import parts
from core.features.geometry.geometry import (
    LEVELS,
    concluded,
    geometry,
    modifier_objects,
    modifier_shifts,
    text_encoders,
    valence_words,
)
from core.features.human.judged_comparisons import evaluator_rows, in_scope, judged_comparisons, people_rows
from core.features.human.kinds import ACCEPTABILITY
from core.features.human.mace import study_competence
from core.features.human.people_figures import (
    COMPETENCE_NOTE,
    COMPETENCE_TITLE,
    KAPPA_NOTE,
    KAPPA_TITLE,
    POWERED_NOTE,
    POWERED_TITLE,
    competence_dots,
    kappa_map,
    powered_dots,
)
from core.features.human.powered_votes import powered_rows, what_more_votes_buy
from core.features.human.reanalysis import reanalyse
from core.features.human.studies import Study
from core.features.human.study_outcomes import aggregates, item_outcomes, study_agreement, study_kappas, vote_rates
from core.features.human.votes import vote_table
from core.report.document import Made, Missing, Table

Encode = Callable[[str, Sequence[str]], np.ndarray]
"""Evaluator and texts -> unit vectors, float [n, d]; see :func:`core.features.geometry.geometry.embed`."""

NOT_ASKED = "the text encoders were not asked for this report"

_STUDY = Column("study", "Study", kind="text")
_FAMILY = Column("family", "Family", kind="text")
_ABOUT = (
    "Intervals are about people like the annotators, three or more, and items like these, both as samples; "
    "those of a study that is not closed hold at every look and are wider."
)
PEOPLE = {
    "S-human-outcomes": ("What people found of the edited pairs", (
        _STUDY, Column("what", "Of the items", kind="text"),
        Column("n", "n", digits=0), Column("share", "Share % [95 % CI]", digits=1, low="low", high="high"),
        NOTE,
    ), "An answer of partially or fully correct is acceptable; a majority is two thirds of an item's votes. Every "
       "share counts items, each once; an item leans to the version that more of its votes prefer, ties aside. Items "
       f"with fewer than two votes are left out. {_ABOUT}"),
    "S-human-rates": ("How often do people answer so, and what would narrow it?", (
        _STUDY, Column("question", "Of the votes", kind="text"), Column("n", "n items", digits=0),
        Column("n_votes", "n votes", digits=0), Column("annotators", "n annotators", digits=0),
        Column("rate", "Rate % [95 % CI]", digits=1, low="low", high="high"),
        Column("more", "What would halve the interval", kind="text"),
    ), f"Each item counts alike; of three annotators or more those with one vote are left out. {_ABOUT}"),
    "S-human-agreement": ("How far people agree", (
        _STUDY, Column("question", "Question", kind="text"), Column("measure", "Measure", kind="text"),
        Column("n_items", "n items", digits=0), Column("n_votes", "n votes", digits=0),
        Column("estimate", "Agreement [95 % CI]", low="low", high="high"), NOTE,
    ), "Bootstrap intervals over items. With nearly all votes alike Fleiss’ κ is near 0 although all agree: no single "
       "measure is enough."),
    "S-human-kappa": (KAPPA_TITLE, (
        _STUDY, Column("one", "Annotator", kind="text"), Column("other", "and", kind="text"),
        Column("n_items", "n items judged by both", digits=0), Column("n", "n versions", digits=0),
        Column("kappa", "Weighted κ [95 % CI]", low="low", high="high"),
        NOTE,
    ), f"{KAPPA_NOTE} Annotators are numbered: a report names nobody."),
    "S-human-competence": (COMPETENCE_TITLE, (
        _STUDY, Column("question", "Question", kind="text"), Column("annotator", "Annotator", kind="text"),
        Column("n", "n judged by others too", digits=0),
        Column("competence", "By knowing % [95 % CI]", digits=0, low="low", high="high"),
        Column("n_others", "n with a commonest answer of the others", digits=0),
        Column("with_others", "Answered so too %", digits=0), NOTE,
    ), f"{COMPETENCE_NOTE} Annotators are numbered: a report names nobody."),
    "S-human-answers": ("Do answers change when those who know count more?", (
        _STUDY, Column("question", "Question", kind="text"), Column("n", "n with two votes", digits=0),
        Column("same", "Likeliest answer is the commonest", digits=0), Column("other", "is another", digits=0),
        Column("tied", "Commonest answers tied", digits=0), NOTE,
    ), "The likeliest answer under MACE beside the one that most votes gave, versions of an item one by one. Outcomes "
       "by majority stay as they are."),
    "S-human-scores": ("Do the findings stand without the pairs that people did not accept?", (
        _STUDY, EVALUATOR, _FAMILY, Column("analysis", "Analysis", kind="text"),
        Column("n_all", "n before", digits=0),
        Column("median_all", "Median % change, all judged [95 % CI]", signed=True, low="low_all", high="high_all"),
        Column("n_kept", "n after", digits=0),
        Column("median_kept", "of those kept [95 % CI]", signed=True, low="low_kept", high="high_kept"),
        Column("change", "Change, points", signed=True), Column("direction", "Direction", kind="text"),
        UNTOLD,
        NOTE,
    ), "Only pairs that people judged; an item counts once, and items of one source are resampled together. 95 % BCa "
       "intervals. Direction: same or turned where the interval of those kept lies on a side of 0, else unclear."),
    "S-human-powered": (POWERED_TITLE, (
        _STUDY, Column("question", "Question", kind="text"), Column("evaluator", "Scores of", kind="text"),
        Column("n", "n items with votes", digits=0), Column("n_votes", "n votes", digits=0),
        Column("n_all", "n items", digits=0), Column("n_missing", "Pairs without a score", digits=0),
        bounded("votes", "Votes alone % [95 % CI]", digits=1),
        bounded("joined", "Joined with scores % [95 % CI]", digits=1),
        Column("tuning", "λ"), Column("shorter", "Shorter by %", digits=1),
        Column("bought", "What 100 more votes would buy", kind="text"), NOTE,
    ), POWERED_NOTE),
    "S-human-comparisons": ("Do people prefer the right side?", (
        _STUDY, _FAMILY, Column("n", "n comparisons", digits=0), Column("n_votes", "n votes", digits=0),
        bounded("prefer", "Prefer the right one % [95 % CI]", digits=1),
        bounded("against", "the wrong one % [95 % CI]", digits=1),
        bounded("tied", "neither % [95 % CI]", digits=1),
        bounded("undecided", "no majority % [95 % CI]", digits=1),
        bounded("higher", "Right one rated higher % [95 % CI]", digits=1),
        Column("mean_right", "Mean rating, right"), Column("mean_wrong", "wrong"),
        bounded("gap", "Δ [95 % CI]", signed=True),
        NOTE,
    ), "Comparisons of the scope's caption whose two sides have two votes or more each. A majority is two thirds of "
       f"the votes; ratings lie between 0, the worst answer of the study's scale, and 1. {_ABOUT}"),
    "S-human-failures": ("How often do the evaluators fail where people were asked?", (
        _STUDY, _FAMILY, EVALUATOR, Column("n", "n comparisons", digits=0),
        Column("n_missing", "No score", digits=0),
        bounded("failure", "Failures % [95 % CI]", digits=1),
        bounded("ties", "Ties % [95 % CI]", digits=1),
        NOTE,
    ), "The wrong side scores at least as high, on exactly the comparisons of the table before; ties are among the "
       "failures. Wilson intervals over comparisons, those of one source together."),
}  # fmt: skip

_KAPPA = "S-human-kappa"
_FIGURES: Mapping[str, Callable[[pd.DataFrame], Figure]] = {
    _KAPPA: kappa_map,
    "S-human-powered": powered_dots,
    "S-human-competence": competence_dots,
}
_PAPERS = {"S-human-kappa": "E, Figure 4", "S-human-comparisons": "E, 5.2", "S-human-failures": "E, 5.2"}


@dataclass(slots=True)
class Beyond(Made):
    """Tables beside those of the questions; whether people judged a pair of these runs, and the studies whose votes
    could be taken in."""

    studied: bool = False
    studies: list[Study] = field(default_factory=list)


def beyond(table: ScoreTable, *, studies: Sequence[Study] = (), encode: Encode | None = None) -> Beyond:
    """Make what the pages Human validation and Geometry show of a scope; studies of other runs are passed over;
    ``encode`` asks an evaluator's text encoder; None: none is asked."""
    found = Beyond()
    _people(found, table, studies)
    _geometry(found, table, encode)
    found.missing += [Missing(each.name, "", each.reason) for each in parts().values() if each.reason]
    return found


def _people(found: Beyond, table: ScoreTable, studies: Sequence[Study]) -> None:
    runs = {run: corpus for corpus, run in table.scope.runs}
    frames: dict[str, list[pd.DataFrame]] = {name: [] for name in PEOPLE}
    said = dict.fromkeys(PEOPLE, "no study was run of these runs; People draws one")
    for study in (each for each in studies if each.definition.run in runs):
        try:
            votes, own = vote_table(study), table.only(runs[study.definition.run])
            told = [] if votes[~votes["attention"]].empty else list(_of_study(study, votes, own))
        except Exception as error:  # a study of another hand may be odd in any way; it takes no report down
            said = dict.fromkeys(PEOPLE, f"study {study.id} is left out, for it cannot be used: {error!r:.300}")
            continue
        found.studies.append(study)
        found.studied |= bool(told)
        if not told:
            said = dict.fromkeys(PEOPLE, f"study {study.id} has no vote yet")
        for name, frame, reason in told:
            if reason:
                said[name] = reason
            elif len(frame):
                frames[name].append(frame.assign(study=study.id))
    for name, (title, columns, note) in PEOPLE.items():
        if frames[name]:
            whole = pd.concat(frames[name], ignore_index=True)
            found.tables.append(Table(name, title, note, whole, columns, "" if name != _KAPPA else _PAPERS[name]))
            if name in _FIGURES:
                found.figures.append(_FIGURES[name](whole))
        else:
            found.missing.append(Missing(name, _PAPERS.get(name, "A.11"), said[name]))


def _of_study(study: Study, votes: pd.DataFrame, table: ScoreTable) -> Iterator[tuple[str, pd.DataFrame, str]]:
    """Name of a table, its frame, and why it is not given."""
    kind, nothing = study.definition.asked, pd.DataFrame()
    rows = pd.DataFrame([row for each in study_agreement(votes, kind) for row in each.rows()])
    yield "S-human-agreement", rows, ""
    rates = vote_rates(votes, kind, live=study.live)
    yield "S-human-rates", rates, "" if len(rates) else f"no item of study {study.id} has two votes yet"
    names = sorted(votes["annotator"].astype(str).unique())
    pairs = _numbered(study_kappas(votes, kind), names, ("one", "other")).dropna(subset=["kappa"])
    yield _KAPPA, pairs, "" if len(pairs) else f"no two annotators of study {study.id} judged the same things yet"
    found, reason = study_competence(votes, kind), f"no item of study {study.id} has two votes yet"
    yield "S-human-competence", _numbered(found.people, names, ("annotator",)), "" if len(found.people) else reason
    yield "S-human-answers", found.answers, "" if len(found.answers) else reason
    judged = in_scope(judged_comparisons(votes, kind, live=study.live)[0], table)
    reason = "" if len(judged) else f"study {study.id} has no comparison of this scope with two votes on both sides"
    yield "S-human-comparisons", people_rows(judged), reason
    yield "S-human-failures", evaluator_rows(judged, [table]), reason
    yield _over_all(study, table)
    if kind is not ACCEPTABILITY:
        reason = f"study {study.id} asks for ratings; majorities of acceptability take a study that asks for it"
        yield from ((name, nothing, reason) for name in ("S-human-outcomes", "S-human-scores"))
        return
    whole = aggregates(votes, live=study.live)
    if not whole.n_items:
        yield "S-human-outcomes", nothing, f"no item of study {study.id} has two votes yet"
    else:
        shares = whole.table()
        yield "S-human-outcomes", shares.assign(**{name: 100 * shares[name] for name in ("share", "low", "high")}), ""
    try:
        again = reanalyse(table, item_outcomes(votes)).table
    except InvalidInput as error:
        yield "S-human-scores", nothing, str(error)
        return
    yield "S-human-scores", again, "" if len(again) else f"study {study.id} judged controls alone"


def _over_all(study: Study, table: ScoreTable) -> tuple[str, pd.DataFrame, str]:
    try:
        rows = powered_rows(study, table)
    except InvalidInput as error:
        return "S-human-powered", pd.DataFrame(), str(error)
    return "S-human-powered", rows.assign(bought=[what_more_votes_buy(row) for row in rows.to_dict("records")]), ""


def _numbered(rows: pd.DataFrame, names: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """Rows about annotators without their names; the same one has the same number in every table."""
    numbers = {name: f"A{place}" for place, name in enumerate(names, start=1)}
    return rows.assign(**{each: rows[each].astype(str).map(numbers) for each in columns})


def _geometry(found: Beyond, table: ScoreTable, encode: Encode | None) -> None:
    name, paper = "S-geometry", "A.13"
    if encode is None:
        found.missing.append(Missing(name, paper, NOT_ASKED))
        return
    view, words = table.only(table.scope.corpus).view(), valence_words()
    tests, points, barred = list[pd.DataFrame](), list[pd.DataFrame](), dict[str, str]()
    objects, controls = modifier_objects(view)
    told_of_words: dict[str, Any] = {"positive": words.positive, "negative": words.negative}
    told_of_words |= {"objects": objects, "controls": controls}
    for evaluator, obstacle in text_encoders(table.evaluators).items():
        shifts = pd.DataFrame() if obstacle else modifier_shifts(view, evaluator=evaluator)
        if obstacle or shifts.empty:
            barred[evaluator] = obstacle or "the runs have no word before a noun for it"
            continue
        try:
            for level in LEVELS:
                made = geometry(partial(encode, evaluator), shifts, level=level, **told_of_words)
                told = {"evaluator": evaluator, "corpus": table.scope.corpus, "level": level}
                tests.append(made.tests.assign(**told, said=concluded(made, evaluator)))
                points.append(made.points.assign(**told))
        except InvariscopeError as error:
            barred[evaluator] = str(error)
    left = " ".join(f"{evaluator}: {why}." for evaluator, why in barred.items())
    if not tests:
        found.missing.append(Missing(name, paper, left or "no evaluator is here"))
        return
    of = Column("evaluator", "Text encoder of", kind="text"), Column("level", "Level", kind="text"), _FAMILY
    rho = Column("n", "n words", digits=0), Column("rho", "Spearman’s ρ", signed=True), Column("p", "p", kind="p")
    columns = (*of, *rho, SAID, Column("method", "Permutations", kind="text"), NOTE)
    note = (
        "Does the text encoder's sense of good and bad say how much a word changes the score? Rank correlation of each "
        "word's place on the encoder's valence direction with its median % change; permutation test; the usual word "
        f"lists. Few words prove little. {left}"
    ).strip()
    whole, every = (pd.concat(frames, ignore_index=True) for frames in (tests, points))
    found.tables.append(Table(name, "Geometry: sense of good and bad against shift", note, whole, columns, paper))
    found.details.append(Table("S-geometry-words", "Geometry: every word", note, every, (), paper))
