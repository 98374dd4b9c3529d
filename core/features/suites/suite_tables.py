"""The tables of stored suites: what evaluators reached, why a number is what it is, captioners, before and after.

Command, page and report print these frames; none of them works anything out.
"""

from collections.abc import Iterable, Sequence

import pandas as pd

from core.analysis.preferences import PEARSON, PEARSON_RATERS, RHO, RHO_RATERS
from core.analysis.questions.columns import EVALUATOR
from core.analysis.questions.question import Column
from core.corpora.suites.model import ACCURACY, TAU_B, TAU_B_RATERS, TAU_C
from core.evaluators.references import BY_WORDS
from core.features.suites.suite_measures import ALL, AVERAGED, LENGTH, LENGTH_RATED, MEAN, STRICT, otherwise
from core.features.suites.suite_result import Reached, Row, SuiteResult
from core.probes.base import ENGLISH
from core.statistics.standings import DRAWS

MEASURES = {
    TAU_B: "τ_b × 100",
    TAU_C: "τ_c × 100",
    TAU_B_RATERS: "τ_b × 100, mean over annotators",
    RHO_RATERS: "ρ × 100, mean over annotators",
    PEARSON_RATERS: "Pearson’s r × 100, mean over annotators",
    RHO: "Spearman’s ρ × 100",
    PEARSON: "Pearson’s r × 100",
    AVERAGED[TAU_B]: "τ_b × 100, ratings averaged",
    AVERAGED[TAU_C]: "τ_c × 100, ratings averaged",
    ACCURACY: "Accuracy %",
    STRICT: "Accuracy %, a tie an error",
    LENGTH: "ρ × 100 of score and words",
    LENGTH_RATED: "ρ × 100 of score and words, ratings held",
}
"""Measure -> what a reader sees."""

GROUPS = {ALL: "all", MEAN: "mean of groups"}
_BOUNDS = ("", "_low", "_high")
_SUITE, _EVALUATOR = Column("suite", "Suite", kind="text"), EVALUATOR
_WHO = (_EVALUATOR, Column("references", "References", kind="text"), Column("group", "Of", kind="text"))

NOTE = (
    "Agreement with people, 95 % intervals over images, videos, or texts with several pictures. τ: Kendall's, over all "
    "ratings, as are ρ and r. What was rated (relevance, fluency) is never pooled, and a rater who is named has a row. "
    "Accuracy: of two captions of one image or video, or two pictures of one text, how often the one that people "
    "prefer has the higher score; a tie counts one half."
)

BEFORE_NOTE = (
    "Preference accuracy, ties one half, 95 % Wilson intervals over images; after: with the calibrator. Only "
    "evaluators of this report, on suites that python -m core suite held them to."
)

DECISION_NOTE = (
    "Every decision between the suite's file and the number, with how many ratings, pairs or captions it concerns; "
    "where the other choice has its own number, it stands beside the one reported."
)

RANK_NOTE = (
    "Ranks by Bradley–Terry strength, natural log odds of winning a battle with mean 0, a tie half a win; by win rate "
    "where no finite strengths exist. Win rates: 95 % Wilson intervals over images. The evaluator wins a battle for "
    "the caption that it scores higher. Ranks and the agreement of both orders: 95 % intervals of these captioners "
    f"over other images, both sides ranked anew in {DRAWS:,} bootstrap samples of images, as battles of one image "
    "share it and its captions. They are on the safe side: simulated, 97 to 100 of 100 hold the agreement."
)

DECISION_COLUMNS = (
    Column("decision", "Decision", kind="text"),
    Column("done", "What was done", kind="text"),
    Column("count", "Count", digits=0),
    Column("of", "Of", kind="text"),
    _EVALUATOR,
    Column("measure", "Number", kind="text"),
    Column("value", "As reported", digits=1),
    Column("otherwise", "Other choice", digits=1),
    Column("difference", "Δ", digits=1, signed=True),
)

RANK_COLUMNS = (
    _EVALUATOR,
    Column("system", "Captioner", kind="text"),
    Column("n", "n battles", digits=0),
    Column("people_rank", "Rank, people [95 % CI]", digits=0, low="people_rank_low", high="people_rank_high"),
    Column("metric_rank", "Rank, evaluator [95 % CI]", digits=0, low="metric_rank_low", high="metric_rank_high"),
    Column("people", "People: wins % [95 % CI]", digits=1, low="people_low", high="people_high"),
    Column("metric", "Evaluator: wins % [95 % CI]", digits=1, low="metric_low", high="metric_high"),
    Column("people_strength", "Strength, people", signed=True),
    Column("metric_strength", "Strength, evaluator", signed=True),
)

AGREEMENT_COLUMNS = (
    _EVALUATOR,
    Column("references", "References", kind="text"),
    Column("systems", "n captioners", digits=0),
    Column("battles", "n battles", digits=0),
    Column("images", "n images", digits=0),
    Column("spearman", "Spearman’s ρ of the ranks [95 % CI]", digits=3, low="spearman_low", high="spearman_high"),
    Column("kendall", "Kendall’s τ_b [95 % CI]", digits=3, low="kendall_low", high="kendall_high"),
    Column("note", "Remark", kind="text"),
)

RISK_NOTE = (
    "A run of the same evaluator says how far edits of pictures that should not matter move its score. Risk: how often "
    "an edit of the family to each picture alone would turn a comparison over, the mean over the comparisons at their "
    "own gaps, never above 50 %; near: comparisons whose scores lie closer together than the trustworthy gap, the "
    "smallest whose risk is below 5 %. 95 % Wilson intervals over texts, the run's shifts as they are; of the "
    "trustworthy gap, over the run's sources."
)

RISK_COLUMNS = (
    _EVALUATOR,
    Column("family", "Family of edits", kind="text"),
    Column("n", "n comparisons", digits=0),
    Column("n_items", "n items of the run", digits=0),
    Column("gap", "Median gap", digits=4),
    Column("evident", "Trustworthy gap [95 % CI]", digits=4, low="evident_low", high="evident_high"),
    Column("near", "Nearer than that, % [95 % CI]", digits=1, low="near_low", high="near_high"),
    Column("risk", "Risk % [95 % CI]", digits=1, low="risk_low", high="risk_high"),
    Column("of", "Shifts of", kind="text"),
)

BEFORE_COLUMNS = (
    _SUITE,
    _EVALUATOR,
    Column("references", "References", kind="text"),
    Column("n", "n pairs", digits=0),
    Column("before", "Before % [95 % CI]", digits=1, low="before_low", high="before_high"),
    Column("after", "After % [95 % CI]", digits=1, low="after_low", high="after_high"),
    Column("change", "Δ, points", digits=1, signed=True),
    Column("calibrated", "Calibrator", kind="text"),
)


LANGUAGE_NOTE = (
    "Kendall's τ_c and Pearson's r × 100 of scores and people's ratings, each language alone: their scores have no "
    "common order. The mean of the others gives each language the same weight; it has no interval, since languages "
    "share images."
)

LANGUAGE_COLUMNS = (
    _SUITE,
    _EVALUATOR,
    Column("references", "References", kind="text"),
    Column("n", "n ratings, English", digits=0),
    Column("english", "τ_c × 100, English [95 % CI]", digits=1, low="english_low", high="english_high"),
    Column("others", "τ_c, mean of the other languages", digits=1),
    Column("english_r", "r × 100, English [95 % CI]", digits=1, low="english_r_low", high="english_r_high"),
    Column("others_r", "r, mean of the other languages", digits=1),
    Column("languages", "τ_c of each", kind="text"),
)


def reached_columns(results: Iterable[SuiteResult]) -> tuple[Column, ...]:
    """Columns of :func:`reached_table`: τ where a suite has ratings, the suite where there are several.

    The number that the suite is known by comes first.
    """
    held = tuple(results)
    rated = any(each.rated for each in held)
    unknown = any(_why_none(entry.rows) for each in held for entry in each.reached)
    measures: tuple[str, ...] = (TAU_B, TAU_C, RHO, PEARSON) if rated else ()
    if any(row.measure == TAU_B_RATERS for each in held for entry in each.reached for row in entry.rows):
        measures = (TAU_B_RATERS, RHO_RATERS, PEARSON_RATERS, *measures)
    own = {each.convention for each in held}
    measures = tuple(sorted(measures, key=lambda name: name not in own))
    taus = (*map(_measure, measures), *((Column("n_ratings", "n ratings", digits=0),) if rated else ()))
    lengths = tuple(Column(name, MEASURES[name], digits=1) for name in (LENGTH, LENGTH_RATED)) if rated else ()
    return (
        *((_SUITE,) if len(held) > 1 else ()),
        *_WHO,
        *taus,
        _measure(ACCURACY),
        _measure(STRICT),
        Column("n_pairs", "n pairs", digits=0),
        Column("ties", "Ties", digits=0),
        *lengths,
        Column("unscored", "Unscored", digits=0),
        *((Column("remark", "No correlation", kind="text"),) if unknown else ()),
    )


def _why_none(rows: Iterable[Row]) -> str:
    """Why these rows have no correlation, in words; empty where they have one."""
    return next((each.note for each in rows if each.measure == TAU_B and each.value is None), "")


def reached_table(results: Iterable[SuiteResult]) -> pd.DataFrame:
    """One row an evaluator, its references and a group: every measure with its interval."""
    rows = [row for result in results for entry in result.reached for row in _rows(result, entry)]
    names = [f"{name}{end}" for name in MEASURES for end in _BOUNDS]
    front = ["suite", "evaluator", "references", "group"]
    columns = [*front, *names, "n_ratings", "n_pairs", "ties", "unscored", "note", "remark", "made_with"]
    return _as_numbers(pd.DataFrame(rows, columns=columns), (*front, "note", "remark", "made_with"))


_DECISION = ("decision", "done", "count", "of", "evaluator")


def decision_table(result: SuiteResult) -> pd.DataFrame:
    """Every decision; where another choice has its own number, a row for each evaluator with both."""
    rows, judged = list[dict[str, object]](), (result.judgements, "judgements")
    choices = otherwise(result.convention)
    for decision in result.decisions:
        told = {"decision": decision.what, "done": decision.done, "count": decision.count, "of": decision.of}
        pair = choices.get(decision.id)
        numbered = (
            [_choice(entry, *pair, each) for entry in result.reached for each in _dimensions(entry)] if pair else []
        )
        rows += [told | each for each in numbered if each] or [told]
    for entry in result.reached:
        own = [("unscored", "captions without a score are left out", entry.unscored, "captions")]
        if entry.evaluator in BY_WORDS:
            own = [("words", f"captions are compared by words alone, {entry.made_with}", *judged), *own]
        if entry.references:
            own = [("references", f"captions are compared with {entry.references}", *judged), *own]
        rows += [dict(zip(_DECISION, (*each, _with(entry)), strict=True)) for each in own]
    frame = pd.DataFrame(rows, columns=[each.name for each in DECISION_COLUMNS])
    return _as_numbers(frame, ("decision", "done", "of", "evaluator", "measure"))


def rank_table(result: SuiteResult) -> pd.DataFrame:
    """One row an evaluator and captioner of a suite of battles; empty of any other suite."""
    rows = [{"evaluator": _with(entry)} | each.model_dump() for entry in result.reached for each in entry.ranks]
    frame = pd.DataFrame(rows, columns=[*dict.fromkeys(["evaluator", *_names(RANK_COLUMNS)])])
    return _as_numbers(frame, ("evaluator", "system"))


def agreement_table(result: SuiteResult) -> pd.DataFrame:
    """One row an evaluator: how far its order of captioners is that of people."""
    held = [each for each in result.reached if each.ranks]
    rows = [{**each.model_dump(), "evaluator": named(each), "systems": len(each.ranks)} for each in held]
    return _as_numbers(pd.DataFrame(rows, columns=_names(AGREEMENT_COLUMNS)), ("evaluator", "references", "note"))


def risk_table(result: SuiteResult) -> pd.DataFrame:
    """One row an evaluator and family of edits, where a run was given; empty of any other result."""
    rows = [
        {"evaluator": _with(entry), "of": entry.risks_of} | each.model_dump()
        for entry in result.reached
        for each in entry.risks
    ]
    return _as_numbers(pd.DataFrame(rows, columns=_names(RISK_COLUMNS)), ("evaluator", "family", "of"))


def before_and_after(results: Iterable[SuiteResult]) -> pd.DataFrame:
    """Preference accuracy of every evaluator, and with its calibrators: a row each, one without where it has none."""
    rows = list[dict[str, object]]()
    for result in results:
        for entry in result.reached:
            if not entry.calibrated:
                same = (entry.evaluator, entry.references)
                later = [each for each in result.reached if each.calibrated and each.key[:2] == same]
                rows += [row for each in _dimensions(entry) for row in _calibrated(result, entry, later, each)]
    frame = pd.DataFrame(rows, columns=[*dict.fromkeys(_names(BEFORE_COLUMNS))])
    return _as_numbers(frame, ("suite", "evaluator", "references", "calibrated"))


def _calibrated(
    result: SuiteResult, entry: Reached, later: Sequence[Reached], dimension: str
) -> list[dict[str, object]]:
    """Preference accuracy in one dimension: a row a calibrator, or one without."""
    first = _number(entry, ACCURACY, ALL, dimension)
    if first is None:
        return []
    suite = f"{result.suite}, {dimension}" if dimension else result.suite
    told = {"suite": suite, "evaluator": entry.evaluator, "references": entry.references, "n": first["n"]}
    told |= _bounded("before", first)
    rows = []
    for each in later:
        after = _number(each, ACCURACY, ALL, dimension) or {}
        change = _less(after.get("value"), first["value"])
        rows.append(told | _bounded("after", after) | {"change": change, "calibrated": each.calibrated})
    return rows or [told]


def language_table(results: Iterable[SuiteResult]) -> pd.DataFrame:
    """Kendall's τ_c and Pearson's r × 100 of ratings in several languages: in English, and the mean of the others.

    A row an evaluator and what was rated. Suites of one language have no row: their ratings are pooled, and the
    table of suites holds them.
    """
    rows = list[dict[str, object]]()
    for result in results:
        for entry in result.reached:
            for dimension in _dimensions(entry):
                known = [_by_language(entry, measure, dimension) for measure in (TAU_C, PEARSON)]
                if ALL in known[0] or len(known[0]) < 2:
                    continue
                taus, pearsons = ({key: held for key, held in each.items() if key != ENGLISH} for each in known)
                english, english_r = (_number(entry, each, ENGLISH, dimension) or {} for each in (TAU_C, PEARSON))
                suite = f"{result.suite}, {dimension}" if dimension else result.suite
                told = ", ".join(f"{name} {value:.1f}" for name, value in sorted(taus.items()) if value is not None)
                about = {"suite": suite, "evaluator": named(entry), "references": entry.references}
                others = {"others": _mean(taus.values()), "others_r": _mean(pearsons.values()), "languages": told}
                own = _bounded("english", english) | _bounded("english_r", english_r)
                rows.append({**about, "n": english.get("n"), **own, **others})
    frame = pd.DataFrame(rows, columns=[*dict.fromkeys(_names(LANGUAGE_COLUMNS))])
    return _as_numbers(frame, ("suite", "evaluator", "references", "languages"))


def _by_language(entry: Reached, measure: str, dimension: str) -> dict[str, float | None]:
    return {
        each.group: each.value
        for each in entry.rows
        if (each.measure, each.dimension, each.rater) == (measure, dimension, "")
    }


def _mean(values: Iterable[float | None]) -> float | None:
    known = [each for each in values if each is not None]
    return sum(known) / len(known) if known else None


def _dimensions(entry: Reached) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.dimension for each in entry.rows))


def named(entry: Reached) -> str:
    """An evaluator, with its calibrator where it has one."""
    return f"{entry.evaluator}, calibrated ({entry.calibrated})" if entry.calibrated else entry.evaluator


def _rows(result: SuiteResult, entry: Reached) -> list[dict[str, object]]:
    found = list[dict[str, object]]()
    parts = {(each.dimension, each.group, each.rater): None for each in entry.rows}
    for part in parts:
        own = [each for each in entry.rows if (each.dimension, each.group, each.rater) == part]
        row: dict[str, object] = {"suite": result.suite, "evaluator": named(entry), "references": entry.references}
        dimension, group, rater = part  # of which judgements a row is, in words
        told = [dimension, "" if group == ALL else GROUPS.get(group, group), f"by {rater}" if rater else ""]
        row |= {"group": ", ".join(filter(None, told)) or GROUPS[ALL]}
        row |= {"unscored": entry.unscored, "made_with": entry.made_with}
        row["remark"] = _why_none(own)
        for each in own:
            row |= {each.measure: each.value, f"{each.measure}_low": each.low, f"{each.measure}_high": each.high}
            row |= {"n_ratings": each.n} if each.measure in (TAU_B, TAU_C) else {}
            row |= {"n_pairs": each.n, "ties": each.ties} if each.measure == ACCURACY else {}
            row |= {"note": each.note} if each.note else {}
        found.append(row)
    return found


def _choice(entry: Reached, reported: tuple[str, str], other: tuple[str, str], dimension: str) -> dict[str, object]:
    one, two = _number(entry, *reported, dimension), _number(entry, *other, dimension)
    if one is None or two is None:
        return {}
    said = (
        (f"{dimension}: " if dimension else "")
        + MEASURES[reported[0]]
        + (f" → {GROUPS[other[1]]}" if other[1] != reported[1] else f" → {MEASURES[other[0]]}")
    )
    values = {"value": one["value"], "otherwise": two["value"], "difference": _less(two["value"], one["value"])}
    tied = {"count": one["ties"], "of": "pairs that tie"} if other[0] == STRICT else {}
    return {"evaluator": _with(entry), "measure": said, **values, **tied}


def _with(entry: Reached) -> str:
    return f"{named(entry)}, {entry.references}" if entry.references else named(entry)


def _number(entry: Reached, measure: str, group: str, dimension: str = "") -> dict[str, object] | None:
    wanted = (measure, group, dimension, "")
    return next(
        (each.model_dump() for each in entry.rows if (each.measure, each.group, each.dimension, each.rater) == wanted),
        None,
    )


def _bounded(name: str, row: dict[str, object]) -> dict[str, object]:
    return {name: row.get("value"), f"{name}_low": row.get("low"), f"{name}_high": row.get("high")}


def _less(one: object, other: object) -> float | None:
    return one - other if isinstance(one, float) and isinstance(other, float) else None


def _names(columns: Sequence[Column]) -> list[str]:
    return [name for each in columns for name in (each.name, each.low, each.high) if name]


def _as_numbers(frame: pd.DataFrame, texts: Sequence[str]) -> pd.DataFrame:
    """None becomes NaN, so that columns of numbers are numbers."""
    others = [name for name in frame if name not in texts]
    return frame.assign(**{str(name): pd.to_numeric(frame[name]) for name in others})


def _measure(name: str) -> Column:
    return Column(name, f"{MEASURES[name]} [95 % CI]", digits=1, low=f"{name}_low", high=f"{name}_high")
