"""What a report has of what is kept beside the scores: leaderboards, measured calibrations, suites."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import pandas as pd

from core.analysis.questions.columns import EVALUATOR, NOTE
from core.analysis.questions.papers import ELSEWHERE
from core.analysis.questions.question import Column, bounded
from core.analysis.slices import Slice
from core.analysis.table import ScoreTable
from core.errors import InvalidInput, InvariscopeError
from core.evaluators.references import BY_WORDS
from core.features.calibration.effect import before_after
from core.features.calibration.fit import Fit, fit
from core.features.calibration.measured import Measured, measured, settled, unfit
from core.features.calibration.measurement import Measurement, read_all
from core.features.calibration.questions import EPSILON, MEASURED_TABLE
from core.features.calibration.readings import EACH, UNIFORM
from core.features.suites import suite_tables as tables
from core.features.suites.suite_result import SuiteResult
from core.features.systems.board_scores import RANKED, SHOWN
from core.features.systems.system_board import board, systems_of
from core.features.systems.system_captions import health, scales, told_as
from core.features.systems.system_figures import scale_shares
from core.features.systems.system_file import Kept, Leaderboard
from core.features.systems.system_tables import COLUMNS, worded
from core.report.document import Made, Missing, Table
from core.store.run_files import Run

SYSTEMS, HEALTH, SCALES = "C13", "C14", "C15"
DIFFERENCES, LEVELS = f"{SYSTEMS}-differences", f"{SCALES}-scales"

_BOARD, _N = Column("leaderboard", "Leaderboard", kind="text"), Column("n_items", "n pictures", digits=0)
_CAPTIONS = Column("n_captions", "n captions", digits=0)
_OWN = Column("own_mean", "Own mean", digits=4), Column("own_n", "Own n", digits=0)
_SYSTEMS = (_BOARD, EVALUATOR, *COLUMNS["standings"], _N, *_OWN, NOTE)
_MEASURE = Column("system", "System", kind="text"), Column("told", "Measure", kind="text")
_HEALTH = (_BOARD, *_MEASURE, Column("value", "Value [95 % CI]", low="low", high="high"), _CAPTIONS, NOTE)
_NUMBERS = (
    Column("mean", "Mean [95 % CI]", digits=4, low="low", high="high"),
    Column("p5", "5th percentile", digits=4),
    Column("p50", "Median", digits=4),
    Column("p95", "95th percentile", digits=4),
    bounded("over", "Above 1, % [95 % CI]", digits=1),
)
_SCALE = Column("w", "w", digits=2), Column("used", "Used by", kind="text")
_LEVELS = (_BOARD, EVALUATOR, *_SCALE, *_NUMBERS, _CAPTIONS, _N, NOTE)

_SYSTEMS_NOTE = (
    "Captioners by their mean score on the pictures that all systems of the leaderboard have a score of (n pictures); "
    "the own mean is over all pictures of the system itself and ranks nobody. BCa intervals over pictures. The rank "
    "interval holds the middle 95 % of the ranks in bootstrap samples of pictures; sure ranks count only differences "
    "that are sure after Holm's correction over the pairs of one evaluator that differ at all; first is the share of "
    "samples in which nobody is above. The pairwise differences are in the data."
)
_HEALTH_NOTE = (
    "Of the systems' own captions, on the pictures that all systems of the leaderboard caption. Means have BCa "
    "intervals, shares Wilson's, over pictures. Measures that cannot be had say why in the data."
)
_SCALES_NOTE = (
    "Scores of all systems' captions on unedited pictures as they would be at other scales w, for evaluators whose "
    "score is w · max(cos, 0): score · v / w at a scale v. Another scale moves means and differences and no rank. "
    "“here”: the scale of the evaluator in Invariscope. Intervals over pictures: BCa of means, Wilson's of shares."
)
_SHARES_NOTE = "Bins of 0.05 at every scale; the dotted line stands at 1. The numbers are in C15-scales."


def board_tables(found: Kept, evaluators: Collection[str], prints: Mapping[str, Collection[str]]) -> Made:
    """Every table that kept leaderboards of these evaluators allow, with the numbers of the page Leaderboard;
    ``prints``: fingerprints of each in its runs; a leaderboard that was scored with another is told in the note.
    ROUGE-L and CIDEr-D stand beside them where one of them ranks the same systems. All systems of a leaderboard are
    compared, at 95 %."""
    made, frames = Made(), dict[str, list[pd.DataFrame]]()
    left_out = [f"{name}: the file cannot be read" for name in found.unread]
    remarks = []
    for each in found.boards:
        names = [name for name in each.evaluators if name in evaluators]
        if not names:
            continue
        try:
            parts = _parts(each, names)
        except InvariscopeError as error:
            left_out.append(f"{each.name}: {error}")
            continue
        remarks.append(_of(each, names, prints))
        for id_, frame in parts.items():
            if len(frame):
                frames.setdefault(id_, []).append(frame.assign(leaderboard=each.name, corpus=each.corpus))
    if left_out:
        remarks.append(f"Left out: {'; '.join(left_out)}.")
    _tell(made, {id_: pd.concat(own, ignore_index=True) for id_, own in frames.items()}, " ".join(remarks))
    if found.boards or found.unread:
        made.missing += _missing({each.id for each in made.tables} | {each.id for each in made.figures}, left_out)
    return made


def _parts(each: Leaderboard, names: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Frames of one leaderboard by the id of their table."""
    ranked, systems = [*names, *(name for name in each.evaluators if name in RANKED)], systems_of(each.rows)
    tops, pairs = board(each.rows, ranked, systems)
    captions = health(each.rows, systems)
    captions = captions[~captions["measure"].isin([f"cut {name}" for name in each.evaluators if name not in names])]
    levels, bins = scales(each.rows, names, systems)
    return {
        SYSTEMS: worded("standings", tops),
        DIFFERENCES: pairs,
        HEALTH: captions.assign(told=captions["measure"].map(told_as)),
        LEVELS: levels,
        SCALES: bins,
    }


def _of(each: Leaderboard, names: Sequence[str], prints: Mapping[str, Collection[str]]) -> str:
    """What a leaderboard is of, and which of its evaluators is another than that of the runs."""
    told = f"{each.name}: corpus {each.corpus}, scored {each.created}."
    others = [name for name in names if prints.get(name) and each.evaluators[name] not in prints[name]]
    if others:
        told += f" {', '.join(others)} scored it with another fingerprint than these runs:"
        told += " other weights, precision or versions."
    return " ".join([told, *(f"{said[0].upper()}{said[1:]}." for said in each.remarks[:SHOWN] if said)])


def _tell(made: Made, frames: Mapping[str, pd.DataFrame], remarks: str) -> None:
    paper = {id_: ELSEWHERE[id_][0] for id_ in (SYSTEMS, HEALTH, SCALES)}
    told = {
        SYSTEMS: ("Captioners: who stands above whom", _SYSTEMS_NOTE, _SYSTEMS, paper[SYSTEMS]),
        HEALTH: ("Captioners: the health of their captions", _HEALTH_NOTE, _HEALTH, paper[HEALTH]),
        LEVELS: ("Captioners: their scores at other scales", _SCALES_NOTE, _LEVELS, paper[SCALES]),
        DIFFERENCES: ("Captioners: every pairwise difference", _SYSTEMS_NOTE, (), paper[SYSTEMS]),
    }
    for id_, (title, note, columns, of) in told.items():
        if id_ in frames:
            frame = frames[id_]
            if id_ == HEALTH:
                made.details.append(Table(f"{HEALTH}-all", title, note, frame, (), of))
                frame = frame.dropna(subset=["value"]).reset_index(drop=True)
            table = Table(id_, title, f"{note} {remarks}", frame, columns, of)
            (made.tables if columns else made.details).append(table)
    if SCALES in frames:
        bins = frames[SCALES].assign(panel=frames[SCALES]["leaderboard"] + ", " + frames[SCALES]["evaluator"])
        title = "Captioners: scores by the scale of the cosine"
        made.figures.append(scale_shares(bins, id_=SCALES, title=title, note=_SHARES_NOTE, paper=paper[SCALES]))


def _missing(given: Collection[str], left_out: Sequence[str]) -> list[Missing]:
    why = "no kept leaderboard has scores by an evaluator of these runs"
    if left_out:
        why += f" that can be ranked; left out: {'; '.join(left_out)}"
    reasons = {SYSTEMS: why, HEALTH: why, SCALES: why}
    if SYSTEMS in given:
        reasons[SCALES] = "none of these evaluators' scores is w · max(cos, 0) with a w that is known"
    return [Missing(id_, ELSEWHERE[id_][0], reason) for id_, reason in reasons.items() if id_ not in given]


WEIGHTS = (UNIFORM, EACH)  # Weightings of the table: the one of tables 14 to 16, and w = 1 for every family

_TITLE = "Calibration as measured: sensitivity before, by construction and as scored, held out"
_NOTE = (
    "Reading orbit, over the families that were measured: the evaluator scored the variants and their own variants, so "
    "that nothing rests on the formula. λ is chosen on the dev split by what was measured, where the measurement holds "
    "it. Sensitivity: median over items of an item's median |Δ|, in standard deviations of the unedited scores of the "
    "same side, of the held-out half of the sources; 95 % intervals, of the ratio by bootstrap samples of both sides. "
    "By construction: the same ratio as the formula says it (tables 14 to 16). Clean SD: what is left of the spread "
    "of the unedited scores, that much of a fall would be no gain."
)
_FITTED = (
    Column("weights", "Weights", kind="text"),
    Column("name", "Family", kind="text"),
    Column("n", "n", digits=0),
    Column("strength", "λ"),
    Column("whence", "λ is", kind="text"),
    bounded("before", "Median |Δ|, SD, held out, before → after [95 % CI]", digits=4, to="after"),
    bounded("ratio", "Measured / before [95 % CI]", digits=3),
    Column("constructed", "By construction / before", digits=3),
    Column("spread", "Clean SD, %", digits=1),
    Column("made", "Measured on", kind="text"),
)


def measured_tables(table: ScoreTable, runs: Sequence[Run]) -> Made:
    """The table of every stored measurement of the reference corpus' run, a row a measurement, weighting and family, or
    why there is none. Of several of one evaluator and the same families the latest that serves is taken."""
    run = next((each for each in runs if each.id == dict(table.scope.runs)[table.reference]), None)
    files, said = read_all(run.id) if run is not None else ((), ())
    frames, told, known = list[pd.DataFrame](), list(said), set[tuple[str, tuple[str, ...]]]()
    for file in (each for each in files if each.evaluator in table.evaluators):
        of = (file.evaluator, tuple(sorted(file.families)))
        if run is None or of in known:
            continue
        try:
            frames += list(_rows_of(table, run, file))
        except InvalidInput as error:
            told.append(f"A measurement of {file.made} is not shown. {error}")
            continue
        known.add(of)
    if frames:
        return Made(
            [Table(MEASURED_TABLE, _TITLE, _NOTE, pd.concat(frames, ignore_index=True), (EVALUATOR, *_FITTED, NOTE))]
        )
    nothing = "no calibration of these runs was measured; Calibrate and calibrate --measure do it"
    return Made(missing=[Missing(MEASURED_TABLE, "", " ".join(told) or nothing)])


def _rows_of(table: ScoreTable, run: Run, file: Measurement) -> Iterator[pd.DataFrame]:
    """Rows of a measurement under every weighting. Raises InvalidInput if it serves no calibration of these scores."""
    view = table.only(table.reference).view(Slice(families=tuple(file.families)))
    for weights in WEIGHTS:
        found = fit(view, evaluator=file.evaluator, reading="orbit", weights=weights, epsilon=EPSILON)
        if why := unfit(found, file, run, subject=table.scope.subject, language=table.scope.language):
            raise InvalidInput(why)
        rows = _rows(found, measured(found, file)).assign(weights=weights, made=file.made)
        yield rows.assign(evaluator=file.evaluator, corpus=table.reference)


def _rows(found: Fit, own: Measured) -> pd.DataFrame:
    """Each family before and after at the λ that is chosen, and what the formula says of it."""
    usual, asked = settled(found, own), ("sensitivity",)
    scored = own.effect(usual.strength, measures=asked)
    built = before_after(found.scores, found.terms, usual.strength, found.others, measures=asked)
    of_formula = built.set_index("name")["ratio"]
    at = own.sweep.lambdas.index(usual.strength)
    return scored.drop(columns=["measure", "gap"]).assign(
        constructed=scored["name"].map(of_formula),
        strength=usual.strength,
        whence=usual.whence,
        spread=100 * own.sweep.spread[at] / own.sweep.spread[0],
        note=" ".join(filter(None, (usual.choice.note, *own.caveats(usual.strength)))),
    )


_SUITE = Column("suite", "Suite", kind="text")
_FOIL = "FOIL: the right caption and the one with a wrong word"
_OF = {
    "Pascal-50S": ("C10", "Pascal-50S: which of two captions people prefer", "C, Table 3"),
    "FOIL": ("C11", _FOIL, "C, Table 4"),
    "ActivityNet-FOIL": ("C11", _FOIL, "C, Table 4"),
    "VATEX-EVAL": ("C12", "VATEX-EVAL: ratings of captions of videos", "C, Table 2"),
    "CapArena": ("S-caparena", "CapArena: which of two captioners people prefer", ""),
}
_TWO_PICTURES = ("S-two-pictures", "Two pictures of one text: which of them people prefer", "")
_RATED = ("C9", "Suites of ratings: agreement with people", "C, Tables 1, 5 and 8")

_LANGUAGES = ("C4", "Ratings in several languages: agreement with people", "B, Tables 3, 4 and 6")

_PAPERS = {
    _LANGUAGES[0]: _LANGUAGES[2],
    "T17": "Table 17",
    **{id_: paper for id_, _, paper in (_RATED, *_OF.values()) if paper},
}
OTHERS = (*_PAPERS, "S-suite-decisions", "S-suite-ranks", "S-suite-risks", "S-caparena", _TWO_PICTURES[0])
"""Tables that are named as missing where there is no result."""

_HELD = "no evaluator of these runs was held to ratings in several languages"
NO_LANGUAGES = f"{_HELD}; python -m core suite does, of a file whose captions name theirs"
NONE = "no evaluator of these runs was held to a suite; python -m core suite FILE IMAGES --evaluator NAME does"


def suite_tables(results: Sequence[SuiteResult], evaluators: Collection[str]) -> Made:
    """Every table that stored results (:func:`core.features.suites.suite_result.stored`) of these evaluators allow.
    BLEU-4, METEOR, ROUGE-L and CIDEr-D stand beside them where one of them was held to the same suite; a calibration
    changes none of these, so table 17 is without."""
    known = {*evaluators, *BY_WORDS}
    held = [each for each in results if any(entry.evaluator in evaluators for entry in each.reached)]
    kept = [tuple(entry for entry in each.reached if entry.evaluator in known) for each in held]
    own = [each.model_copy(update={"reached": reached}) for each, reached in zip(held, kept, strict=True)]
    made = [*_reached(own), *_further(own)]
    found = {each.id for each in made}
    lacking = {each: NO_LANGUAGES if each == _LANGUAGES[0] else NONE for each in OTHERS if each not in found}
    return Made(made, missing=[Missing(each, _PAPERS.get(each, ""), why) for each, why in lacking.items()])


def _reached(own: Sequence[SuiteResult]) -> list[Table]:
    kinds: dict[tuple[str, str, str], list[SuiteResult]] = {}
    for each in own:
        # a suite of two captions of an image with a name of its own has the layout of FOIL, which alone may bring one
        other = _RATED if each.rated else _TWO_PICTURES if each.by_text else _OF["FOIL"]
        kinds.setdefault(_OF.get(each.suite, other), []).append(each)
    made = []
    for (id_, title, paper), held in kinds.items():
        columns = (_SUITE, *(each for each in tables.reached_columns(held) if each.name != "suite"))
        made.append(Table(id_, title, tables.NOTE, tables.reached_table(held), columns, paper))
    return made


def _further(own: Sequence[SuiteResult]) -> list[Table]:
    both = tables.before_and_after(own)
    both = both[~both["evaluator"].isin(BY_WORDS)].reset_index(drop=True)
    id_, title, paper = _LANGUAGES
    preferences = "Calibration: people's preferences, before and after"
    found = [
        Table(id_, title, tables.LANGUAGE_NOTE, tables.language_table(own), tables.LANGUAGE_COLUMNS, paper),
        Table("T17", preferences, tables.BEFORE_NOTE, both, tables.BEFORE_COLUMNS, _PAPERS["T17"]),
    ]
    risks = "Two pictures of one text: how easily a comparison turns"
    orders = "Captioners: the order of people and of evaluators"
    of_suites: tuple[tuple[str, str, Callable[[SuiteResult], pd.DataFrame], str, tuple[Column, ...]], ...] = (
        (
            "decisions",
            "Suites: why is mine different?",
            tables.decision_table,
            tables.DECISION_NOTE,
            tables.DECISION_COLUMNS,
        ),
        ("risks", risks, tables.risk_table, tables.RISK_NOTE, tables.RISK_COLUMNS),
        ("ranks", orders, tables.agreement_table, tables.RANK_NOTE, tables.AGREEMENT_COLUMNS),
    )
    for name, title, make, note, columns in of_suites:
        if frames := [frame.assign(suite=each.suite) for each in own if len(frame := make(each))]:
            whole = pd.concat(frames, ignore_index=True)
            found.append(Table(f"S-suite-{name}", title, note, whole, (_SUITE, *columns)))
    return [each for each in found if len(each.frame)]
