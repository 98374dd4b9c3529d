"""What a report holds beside the questions to the scores: people's votes and the text encoders, as the pages have them.

And where each part of every page is found in a report, or why it is not in one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd

from core.analysis.geometry import (
    LEVELS,
    concluded,
    geometry,
    modifier_objects,
    modifier_shifts,
    text_encoders,
    valence_words,
)
from core.analysis.judged_comparisons import evaluator_rows, in_scope, judged_comparisons, people_rows
from core.analysis.powered_votes import powered_rows, what_more_votes_buy
from core.analysis.questions.question import Column
from core.analysis.reanalysis import reanalyse
from core.analysis.study_outcomes import aggregates, item_outcomes, study_agreement, study_competence, study_kappas
from core.analysis.table import ScoreTable
from core.charts.people_figures import (
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
from core.charts.spec import Figure
from core.errors import InvalidInput, InvariscopeError
from core.human.kinds import ACCEPTABILITY
from core.human.studies import Study
from core.human.votes import vote_table
from core.report.document import Missing, Table

Encode = Callable[[str, Sequence[str]], np.ndarray]
"""Evaluator and texts -> unit vectors, float [n, d]; see :func:`core.analysis.geometry.embed`."""

NOT_ASKED = "the text encoders were not asked for this report"

_STUDY = Column("study", "Study", kind="text")
_FAMILY = Column("family", "Family", kind="text")
_PEOPLE = {
    "S-human-outcomes": ("What people found of the edited pairs", (
        _STUDY, Column("what", "Of the items", kind="text"),
        Column("n", "n", digits=0), Column("share", "Share % [95 % CI]", digits=1, low="low", high="high"),
    ), "An answer of partially or fully correct is acceptable; a majority is two thirds of an item's votes. Every "
       "share counts items, each once, with its Wilson interval; an item leans to the version that more of its votes "
       "prefer, ties aside. Items with fewer than two votes are left out."),
    "S-human-agreement": ("How far people agree", (
        _STUDY, Column("question", "Question", kind="text"), Column("measure", "Measure", kind="text"),
        Column("n_items", "n items", digits=0), Column("n_votes", "n votes", digits=0),
        Column("estimate", "Agreement [95 % CI]", low="low", high="high"), Column("note", "Remark", kind="text"),
    ), "Bootstrap intervals over items. With nearly all votes alike Fleiss’ κ is near 0 although all agree: no single "
       "measure is enough."),
    "S-human-kappa": (KAPPA_TITLE, (
        _STUDY, Column("one", "Annotator", kind="text"), Column("other", "and", kind="text"),
        Column("n_items", "n items judged by both", digits=0), Column("n", "n versions", digits=0),
        Column("kappa", "Weighted κ [95 % CI]", low="low", high="high"),
        Column("note", "Remark", kind="text"),
    ), f"{KAPPA_NOTE} Annotators are numbered: a report names nobody."),
    "S-human-competence": (COMPETENCE_TITLE, (
        _STUDY, Column("question", "Question", kind="text"), Column("annotator", "Annotator", kind="text"),
        Column("n", "n judged by others too", digits=0),
        Column("competence", "By knowing % [95 % CI]", digits=0, low="low", high="high"),
        Column("n_others", "n with a commonest answer of the others", digits=0),
        Column("with_others", "Answered so too %", digits=0), Column("note", "Remark", kind="text"),
    ), f"{COMPETENCE_NOTE} Annotators are numbered: a report names nobody."),
    "S-human-answers": ("Do answers change when those who know count more?", (
        _STUDY, Column("question", "Question", kind="text"), Column("n", "n with two votes", digits=0),
        Column("same", "Likeliest answer is the commonest", digits=0), Column("other", "is another", digits=0),
        Column("tied", "Commonest answers tied", digits=0), Column("note", "Remark", kind="text"),
    ), "The likeliest answer under MACE beside the one that most votes gave, versions of an item one by one. Outcomes "
       "by majority stay as they are."),
    "S-human-scores": ("Do the findings stand without the pairs that people did not accept?", (
        _STUDY, Column("evaluator", "Evaluator", kind="text"), _FAMILY, Column("analysis", "Analysis", kind="text"),
        Column("n_all", "n before", digits=0),
        Column("median_all", "Median %Δ of all judged pairs [95 % CI]", signed=True, low="low_all", high="high_all"),
        Column("n_kept", "n after", digits=0),
        Column("median_kept", "of those kept [95 % CI]", signed=True, low="low_kept", high="high_kept"),
        Column("change", "Change, points", signed=True), Column("direction", "Direction", kind="text"),
        Column("power", "Where it cannot be told", kind="text"),
        Column("note", "Remark", kind="text"),
    ), "Only pairs that people judged; an item counts once, and items of one source are resampled together. 95 % BCa "
       "intervals. Direction: same or turned where the interval of those kept lies on a side of 0, else it cannot be "
       "told."),
    "S-human-powered": (POWERED_TITLE, (
        _STUDY, Column("question", "Question", kind="text"), Column("evaluator", "Scores of", kind="text"),
        Column("n", "n items with votes", digits=0), Column("n_votes", "n votes", digits=0),
        Column("n_all", "n items", digits=0), Column("n_missing", "Pairs without a score", digits=0),
        Column("votes", "Votes alone % [95 % CI]", digits=1, low="votes_low", high="votes_high"),
        Column("joined", "Joined with scores % [95 % CI]", digits=1, low="joined_low", high="joined_high"),
        Column("tuning", "λ"), Column("shorter", "Shorter by %", digits=1),
        Column("bought", "What 100 more votes would buy", kind="text"), Column("note", "Remark", kind="text"),
    ), POWERED_NOTE),
    "S-human-comparisons": ("Do people prefer the right side?", (
        _STUDY, _FAMILY, Column("n", "n comparisons", digits=0), Column("n_votes", "n votes", digits=0),
        Column("prefer", "Prefer the right one % [95 % CI]", digits=1, low="prefer_low", high="prefer_high"),
        Column("against", "the wrong one % [95 % CI]", digits=1, low="against_low", high="against_high"),
        Column("tied", "neither % [95 % CI]", digits=1, low="tied_low", high="tied_high"),
        Column("undecided", "no majority % [95 % CI]", digits=1, low="undecided_low", high="undecided_high"),
        Column("higher", "Right one rated higher % [95 % CI]", digits=1, low="higher_low", high="higher_high"),
        Column("mean_right", "Mean rating, right"), Column("mean_wrong", "wrong"),
        Column("gap", "Δ [95 % CI]", signed=True, low="gap_low", high="gap_high"),
        Column("note", "Remark", kind="text"),
    ), "Comparisons of the scope's caption whose two sides have two votes or more each. A majority is two thirds of "
       "the votes; ratings lie between 0, the worst answer of the study's scale, and 1. Wilson intervals over "
       "comparisons, those of one source together."),
    "S-human-failures": ("How often do the evaluators fail where people were asked?", (
        _STUDY, _FAMILY, Column("evaluator", "Evaluator", kind="text"), Column("n", "n comparisons", digits=0),
        Column("n_missing", "No score", digits=0),
        Column("failure", "Failures % [95 % CI]", digits=1, low="failure_low", high="failure_high"),
        Column("ties", "Ties % [95 % CI]", digits=1, low="ties_low", high="ties_high"),
        Column("note", "Remark", kind="text"),
    ), "The wrong side scores at least as high, on exactly the comparisons of the table before; ties are among the "
       "failures. Wilson intervals as there."),
}  # fmt: skip

_KAPPA = "S-human-kappa"
_FIGURES: Mapping[str, Callable[[pd.DataFrame], Figure]] = {
    _KAPPA: kappa_map,
    "S-human-powered": powered_dots,
    "S-human-competence": competence_dots,
}
_PAPERS = {"S-human-kappa": "E, Figure 4", "S-human-comparisons": "E, 5.2", "S-human-failures": "E, 5.2"}


@dataclass(slots=True)
class Beyond:
    """Tables beside those of the questions, and what could not be given.

    Args:
        tables: to be shown.
        details: as data only.
        figures: of these tables.
        missing: with their reasons.
        studied: whether people judged a pair of these runs.
        studies: those whose votes could be taken in.
    """

    tables: list[Table] = field(default_factory=list)
    details: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    studied: bool = False
    studies: list[Study] = field(default_factory=list)


def beyond(table: ScoreTable, *, studies: Sequence[Study] = (), encode: Encode | None = None) -> Beyond:
    """Make what the pages Human validation and Geometry show of a scope.

    Args:
        table: the scores.
        studies: that are here; those of other runs are passed over.
        encode: asks an evaluator's text encoder; None: none is asked.
    """
    found = Beyond()
    _people(found, table, studies)
    _geometry(found, table, encode)
    found.missing += [Missing(each.name, "", each.reason) for each in PARTS if each.reason]
    return found


def _people(found: Beyond, table: ScoreTable, studies: Sequence[Study]) -> None:
    runs = {run: corpus for corpus, run in table.scope.runs}
    frames: dict[str, list[pd.DataFrame]] = {name: [] for name in _PEOPLE}
    said = dict.fromkeys(_PEOPLE, "no study was run of these runs; the page Human validation draws one")
    for study in (each for each in studies if each.definition.run in runs):
        try:
            told = _voted(study, table.only(runs[study.definition.run]))
        except Exception as error:  # a study of another hand may be odd in any way; it takes no report down
            said = dict.fromkeys(_PEOPLE, f"study {study.id} is left out, for it cannot be used: {error!r:.300}")
            continue
        found.studies.append(study)
        found.studied |= bool(told)
        if not told:
            said = dict.fromkeys(_PEOPLE, f"study {study.id} has no vote yet")
        for name, frame, reason in told:
            if reason:
                said[name] = reason
            elif len(frame):
                frames[name].append(frame.assign(study=study.id))
    for name, (title, columns, note) in _PEOPLE.items():
        if frames[name]:
            whole = pd.concat(frames[name], ignore_index=True)
            found.tables.append(Table(name, title, note, whole, columns, "" if name != _KAPPA else _PAPERS[name]))
            if name in _FIGURES:
                found.figures.append(_FIGURES[name](whole))
        else:
            found.missing.append(Missing(name, _PAPERS.get(name, "A.11"), said[name]))


def _voted(study: Study, table: ScoreTable) -> list[tuple[str, pd.DataFrame, str]]:
    """What :func:`_of_study` tells of a study; nothing where nobody voted."""
    votes = vote_table(study)
    return [] if votes[~votes["attention"]].empty else list(_of_study(study, votes, table))


def _of_study(study: Study, votes: pd.DataFrame, table: ScoreTable) -> Iterator[tuple[str, pd.DataFrame, str]]:
    """Name of a table, its frame, and why it is not given."""
    kind, nothing = study.definition.asked, pd.DataFrame()
    rows = pd.DataFrame([row for each in study_agreement(votes, kind) for row in each.rows()])
    yield "S-human-agreement", rows, ""
    names = sorted(votes["annotator"].astype(str).unique())
    pairs = _numbered(study_kappas(votes, kind), names, ("one", "other")).dropna(subset=["kappa"])
    yield _KAPPA, pairs, "" if len(pairs) else f"no two annotators of study {study.id} judged the same things yet"
    found, reason = study_competence(votes, kind), f"no item of study {study.id} has two votes yet"
    yield "S-human-competence", _numbered(found.people, names, ("annotator",)), "" if len(found.people) else reason
    yield "S-human-answers", found.answers, "" if len(found.answers) else reason
    yield from _of_comparisons(study, votes, table)
    yield _over_all(study, table)
    if kind is not ACCEPTABILITY:
        reason = f"study {study.id} asks for ratings; majorities of acceptability take a study that asks for it"
        yield from ((name, nothing, reason) for name in ("S-human-outcomes", "S-human-scores"))
        return
    whole = aggregates(votes)
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


def _of_comparisons(study: Study, votes: pd.DataFrame, table: ScoreTable) -> Iterator[tuple[str, pd.DataFrame, str]]:
    judged = in_scope(judged_comparisons(votes, study.definition.asked)[0], table)
    reason = "" if len(judged) else f"study {study.id} has no comparison of this scope with two votes on both sides"
    yield "S-human-comparisons", people_rows(judged), reason
    yield "S-human-failures", evaluator_rows(judged, [table]), reason


def _geometry(found: Beyond, table: ScoreTable, encode: Encode | None) -> None:
    name, paper = "S-geometry", "A.13"
    if encode is None:
        found.missing.append(Missing(name, paper, NOT_ASKED))
        return
    view, words = table.only(table.scope.corpus).view(), valence_words()
    tests, points, barred = list[pd.DataFrame](), list[pd.DataFrame](), dict[str, str]()
    objects, controls = modifier_objects(view)
    for evaluator, obstacle in text_encoders(table.evaluators).items():
        shifts = pd.DataFrame() if obstacle else modifier_shifts(view, evaluator=evaluator)
        if obstacle or shifts.empty:
            barred[evaluator] = obstacle or "the runs hold no word before a noun for it"
            continue
        try:
            for level in LEVELS:
                made = geometry(
                    partial(encode, evaluator),
                    shifts,
                    positive=words.positive,
                    negative=words.negative,
                    level=level,
                    objects=objects,
                    controls=controls,
                )
                told = {"evaluator": evaluator, "corpus": table.scope.corpus, "level": level}
                tests.append(made.tests.assign(**told, said=concluded(made, evaluator)))
                points.append(made.points.assign(**told))
        except InvariscopeError as error:
            barred[evaluator] = str(error)
    left = " ".join(f"{evaluator}: {why}." for evaluator, why in barred.items())
    if not tests:
        found.missing.append(Missing(name, paper, left or "no evaluator is here"))
        return
    columns = (
        Column("evaluator", "Text encoder of", kind="text"),
        Column("level", "Level", kind="text"),
        _FAMILY,
        Column("n", "n words", digits=0),
        Column("rho", "Spearman’s ρ", signed=True),
        Column("p", "p", kind="p"),
        Column("said", "In words", kind="text"),
        Column("method", "Permutations", kind="text"),
        Column("note", "Remark", kind="text"),
    )
    note = (
        "Does the text encoder's sense of good and bad say which way a word moves the score? Rank correlation of each "
        "word's place on the encoder's valence direction with its median %Δ; permutation test; the usual word lists. "
        f"Few words prove little. {left}"
    ).strip()
    found.tables.append(
        Table(name, "Geometry: sense of good and bad against shift", note, _whole(tests), columns, paper)
    )
    found.details.append(Table("S-geometry-words", "Geometry: every word", note, _whole(points), (), paper))


def _whole(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(frames, ignore_index=True)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a page.

    Args:
        page: its file in ``pages/``, without the suffix.
        part: as the page calls it.
        held: ids of what a report has of it; ``section:`` names a section of questions.
        name: what it is called where a report says that it is not given.
        reason: why a report does not hold it; empty where it does. With ``held``: why one that has none of these does
            not.
    """

    page: str
    part: str
    held: tuple[str, ...] = ()
    name: str = ""
    reason: str = ""


PARTS = (
    Part("overview", "findings", ("S1",)),
    Part("overview", "card", ("S1", "T13")),
    Part("overview", "plane", ("C-plane",)),
    Part("overview", "runs", ("about",)),
    Part("probe_lab", "lab", (), "Probe lab", "it scores a picture that a reader brings, which is of no run"),
    Part("failures", "gallery", (), "Failures", "single pairs with their pictures are on the page, and in its export"),
    *(
        Part("results", name, (f"section:{name}",))
        for name in ("space", "object", "words", "corpora", "natural", "surface", "strength", "summary")
    ),
    Part("compare", "sides", (), "Compare", "which two sides are held against each other is a reader's choice"),
    Part("flip_risk", "gap", ("T13", "S10", "S-turned")),
    Part("flip_risk", "systems", (), "Two systems", "a run holds no captions of two systems; the page Flip risk scores "
         "two files of them"),
    Part("systems", "standings", ("C13", "C14", "C15"), "Leaderboards of captioners", "a run holds no captions of "
         "several systems; the page Systems and the command leaderboard rank files of them"),
    Part("calibration", "orbit", ("T14", "T15", "T16", "F12a", "F12b")),
    Part("calibration", "measured", ("S37",)),
    Part("calibration", "readings", (), "Other readings of the calibration", "the report has the readings shift and "
         "orbit with uniform weights in T14 to T16 and every reading and weighting in S30; the page Calibration has "
         "the sweeps and bands of each"),
    Part("calibration", "plane", (), "Selectivity of a calibration", "it is of a strength that a reader sets; an audit "
         "with the calibrator file has it in the plane of nuisance and signal"),
    Part("contrast_tests", "tests", ("section:contrast",)),
    Part("contrast_tests", "selectivity", ("section:selectivity",)),
    Part("contrast_tests", "tables", ("section:contrast",)),
    Part("contrast_tests", "failures", (), "Worst failures", "single comparisons with their pictures are on the page"),
    Part("geometry", "scatter", ("S-geometry",)),
    Part("suites", "reached", ("C9", "C10", "C11", "C12", "S-caparena")),
    Part("suites", "calibrated", ("T17",)),
    Part("suites", "captioners", ("S-suite-ranks",)),
    Part("suites", "decisions", ("S-suite-decisions",)),
    Part("suites", "upload", (), "Scores held to a suite", "they are brought to the page Suites, which keeps what they "
         "reach"),
    Part("video", "edits", (), "Videos", "a run holds images; the page Video scores a video that a reader picks, the "
         "commands score and suite those of a folder"),
    Part("run_audit", "cost", (), "Run an audit", "costs and power are of an audit that is still to be run"),
    Part("human_validation", "people", (), "Annotators", "how well each annotator worked is for the coordinator alone"),
    Part("human_validation", "entrance", (), "Taking part", "consent, practice and links are set on the page; practice "
         "enters no number"),
    Part("human_validation", "outcomes", ("S-human-outcomes",)),
    Part("human_validation", "comparisons", ("S-human-comparisons", "S-human-failures")),
    Part("human_validation", "agreement", ("S-human-agreement", "S-human-kappa", "S-human-competence",
                                           "S-human-answers")),
    Part("human_validation", "powered", ("S-human-powered",)),
    Part("human_validation", "scores", ("S-human-scores",)),
    Part("human_validation", "gallery", (), "Disagreements", "single items with people's comments are on the page"),
    Part("human_validation", "files", (), "Votes", "they are exported from the page, by those who may read them"),
)  # fmt: skip
"""Every part of every page, in the order of the menu."""

OF_PAGES: Mapping[tuple[str, str], Part] = {(each.page, each.part): each for each in PARTS}
