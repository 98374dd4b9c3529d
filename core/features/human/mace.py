"""Multi-annotator competence estimation: who answers by knowing and who by guessing, and what the answers then are.

Every unit has one true answer, all alike likely beforehand. An annotator knows it with their own probability, and
says it; else they guess, by habits of their own. Both are found from who agrees with whom. The answers are those of
variational Bayes [1]. Its posterior is far too narrow as an interval for what an annotator knows, since it holds one
explanation of the votes where few annotators have several (each of three alike may be the one who knows). So competence
is the likeliest value under the same model, and its interval what the profile of the likelihood does not rule out [2].
Where the likeliest value is 0 or 1, one end has all of the error, and lies where the likelihood has fallen to a
twentieth [3]: at the usual seventh it would rule out, in one of seven studies, what is true.

References:
    [1] Hovy, Berg-Kirkpatrick, Vaswani and Hovy (2013), Learning whom to trust with MACE, NAACL-HLT, 1120-1130; priors
        as there: Beta(1/2, 1/2) for knowing, Dirichlet(10, ..., 10) for habits.
    [2] Venzon and Moolgavkar (1988), A method for computing profile-likelihood-based confidence intervals, Applied
        Statistics 37, 87-94.
    [3] Hanley and Lippman-Hand (1983), If nothing goes wrong, is everything all right?, JAMA 249, 1743-1745.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import digamma

from core.errors import InvalidInput
from core.features.human.crossed_votes import FEWEST_PEOPLE
from core.features.human.definition import ORIGINAL, VARIANT
from core.features.human.kinds import PREFERENCE, TIE, Kind
from core.features.human.study_outcomes import FEWEST, version_name
from core.seeds import RUN_SEED, stream
from core.statistics.agreement import ONE_ANSWER
from core.statistics.bootstrap import LEAST_N, too_few

STARTS = 10
LEVEL = 0.95  # of the intervals; with few annotators they hold the truth more often
STEPS = 5000
CLOSE = 1e-9  # largest change of any parameter at which a run has come to rest
_KNOWING, _HABIT = 0.5, 10.0
_GRID = np.linspace(0, 1, 21)  # values of one annotator's competence at which the others' best is sought

_SPREADS = np.array([-8, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 8])
"""And these many standard errors about the likeliest value, so that much data is not lost between two of _GRID."""

_EXPLANATIONS = 6  # so many local maxima of the likelihood are followed along the profile


@dataclass(frozen=True, slots=True)
class Competence:
    """What the model makes of some answers."""

    # sorted by annotator; columns annotator, n (units answered), competence (likeliest probability of knowing, in [0,
    # 1]), low and high (the ends of its profile-likelihood interval of LEVEL; never empty, and from 0 to 1 where
    # the answers rule nothing out)
    annotators: pd.DataFrame
    answers: pd.DataFrame  # sorted by unit; columns unit, answer (the likeliest) and probability (of it)
    weights: np.ndarray  # exp of the mean log probability of knowing, by annotator: what the steps of [1] work with


def competences(answers: pd.DataFrame, *, levels: Sequence[object]) -> Competence:
    """Fit the model; of STARTS runs from different places the one under which the answers are likeliest counts. Raises
    InvalidInput for fewer than two levels, an answer that is none of them, or an annotator twice on a unit.

    Args:
        answers: columns annotator, unit, answer; one row an annotator and unit. Their order changes nothing.
        levels: every answer that could be given, two or more.
    """
    data = _Data.of(answers, levels)
    dice, many = [stream(RUN_SEED, "mace", str(start)) for start in range(STARTS)], len(data.annotators)
    # probabilities of knowing [STARTS, annotator] and habits [STARTS, annotator, level] to begin with
    knows = np.stack([rng.uniform(0.3, 0.7, size=many) for rng in dice])
    starts = knows, np.stack([rng.dirichlet(np.full(data.levels, 20.0), size=many) for rng in dice])
    truth, weights = _by_bayes(data, starts)
    likeliest, low, high = _profiled(data, starts)
    n = np.bincount(data.who, minlength=many)
    people = pd.DataFrame({"annotator": data.annotators, "n": n, "competence": likeliest, "low": low, "high": high})
    best = truth.argmax(axis=1)
    sure = truth[np.arange(len(best)), best] if len(best) else []
    told = pd.DataFrame({"unit": data.units, "answer": [levels[place] for place in best], "probability": sure})
    return Competence(people, told, weights)


@dataclass(frozen=True, slots=True)
class _Data:
    """Answers as places, sorted by unit: annotator, unit and level of each, int [n]; the first answer of each unit."""

    annotators: tuple[str, ...]
    units: tuple[str, ...]
    who: np.ndarray
    said: np.ndarray
    first: np.ndarray
    levels: int

    @classmethod
    def of(cls, answers: pd.DataFrame, levels: Sequence[object]) -> "_Data":
        if len(levels) < 2:
            raise InvalidInput(f"competence needs two answers or more to choose from, got {len(levels)}")
        rows = answers.assign(annotator=answers["annotator"].astype(str), unit=answers["unit"].astype(str))
        if rows.duplicated(["annotator", "unit"]).any():
            raise InvalidInput("an annotator answers a unit once; keep the latest answer")
        rows = rows.sort_values(["unit", "annotator"], kind="stable")
        place = {value: index for index, value in enumerate(levels)}
        said = rows["answer"].map(place)
        if said.isna().any():
            odd = rows.loc[said.isna(), "answer"].iloc[0]
            raise InvalidInput(f"answers are among {', '.join(map(str, levels))}, got {str(odd)[:40]!r}")
        who, annotators = pd.factorize(rows["annotator"], sort=True)
        unit, units = pd.factorize(rows["unit"], sort=True)
        first = np.flatnonzero(np.diff(unit, prepend=-1))
        return cls(tuple(annotators), tuple(units), who, said.to_numpy(dtype=np.int64), first, len(levels))

    @property
    def unit(self) -> np.ndarray:
        """Which unit each answer is of, int [n]."""
        return np.repeat(np.arange(len(self.first)), np.diff(self.first, append=len(self.who)))


@dataclass(frozen=True, slots=True)
class _Expected:
    """Under some parameters each: log likelihood [r], answers' probabilities [r, unit, level], counts of the rest."""

    fit: np.ndarray
    truth: np.ndarray
    known: np.ndarray
    guessed: np.ndarray
    habits: np.ndarray


def _by_bayes(data: _Data, starts: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Probability of each answer [unit, level] and weights [annotator] of the likeliest variational run."""
    knows, habits = starts
    guesses = 1 - knows
    for _ in range(STEPS):
        found = _expected(data, knows, guesses, habits)
        together = digamma(found.known + found.guessed + 2 * _KNOWING)
        knows, before = np.exp(digamma(found.known + _KNOWING) - together), knows
        guesses = np.exp(digamma(found.guessed + _KNOWING) - together)
        total = digamma(found.habits.sum(axis=-1, keepdims=True) + data.levels * _HABIT)
        habits = np.exp(digamma(found.habits + _HABIT) - total)
        if np.abs(knows - before).max(initial=0) < CLOSE:
            break
    best = found.fit.argmax()
    return found.truth[best], knows[best]


def _profiled(data: _Data, starts: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The likeliest competence of each annotator, and the ends of what the profile of the likelihood does not rule
    out."""
    people = len(data.annotators)
    if not people:
        return np.empty(0), np.empty(0), np.empty(0)
    crowned = np.where(np.eye(people, dtype=bool), 0.95, 0.1)  # each may be the one who knows
    knows = np.vstack([starts[0], crowned, np.full((1, people), 0.5)])
    habits = np.vstack([starts[1], np.full((people + 1, people, data.levels), 1 / data.levels)])
    fit, knows, habits = _likeliest(data, knows, habits, steps=STEPS, close=CLOSE)
    order = np.argsort(-fit, kind="stable")
    first = np.unique(knows[order].round(2), axis=0, return_index=True)[1]
    kept = order[np.sort(first)][:_EXPLANATIONS]  # the different maxima, the likeliest first
    likeliest = knows[kept[0]]
    answered = np.bincount(data.who)
    error = np.sqrt((likeliest * (1 - likeliest)).clip(1e-4) / answered)
    near = likeliest[:, None] + _SPREADS * error[:, None]
    values = np.sort(np.hstack([np.tile(_GRID, (people, 1)), near.clip(0, 1)]), axis=1)
    heights = np.maximum(
        _swept(data, values, knows[kept], habits[kept]),
        _swept(data, values[:, ::-1], knows[kept], habits[kept])[:, ::-1],
    )
    at_an_end = np.minimum(likeliest, 1 - likeliest) * answered < 0.5  # by less than half an answer
    drop = np.where(at_an_end, -np.log(1 - LEVEL), stats.chi2.ppf(LEVEL, 1) / 2)
    above = heights - max(fit.max(), heights.max()) + drop[:, None]
    ends = [_ends(own, over) for own, over in zip(values, above, strict=True)]
    low, high = np.array(ends).T
    return likeliest, np.minimum(low, likeliest), np.maximum(high, likeliest)


def _swept(data: _Data, values: np.ndarray, knows: np.ndarray, habits: np.ndarray) -> np.ndarray:
    """Largest log likelihood with one annotator's competence held, [annotator, value]; each value begins at the
    last."""
    people, many = len(values), len(knows)
    held = np.repeat(np.arange(people), many)
    knows, habits = np.tile(knows, (people, 1)), np.tile(habits, (people, 1, 1))
    heights = np.empty(values.shape)
    for place, column in enumerate(values.T):
        fit, knows, habits = _likeliest(data, knows, habits, steps=60, close=1e-4, held=(held, column[held]))
        heights[:, place] = fit.reshape(people, many).max(axis=1)
    return heights


def _likeliest(
    data: _Data,
    knows: np.ndarray,
    habits: np.ndarray,
    *,
    steps: int,
    close: float,
    held: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Climb to the largest log likelihood, with _HABIT guesses of each level more; one annotator may be held a row."""
    rows = np.arange(len(knows))
    for _ in range(steps):
        if held is not None:
            knows[rows, held[0]] = held[1].clip(1e-9, 1 - 1e-9)
        found = _expected(data, knows, 1 - knows, habits)
        fit = found.fit + _HABIT * np.log(habits).sum(axis=(1, 2))
        before = knows
        knows = (found.known / (found.known + found.guessed)).clip(1e-9, 1 - 1e-9)
        habits = (found.habits + _HABIT) / (found.habits + _HABIT).sum(axis=-1, keepdims=True)
        moved = np.abs(knows - before)
        if held is not None:
            moved[rows, held[0]] = 0
        if moved.max() < close:
            break
    return fit, knows, habits


def _ends(values: np.ndarray, over: np.ndarray) -> tuple[float, float]:
    """The outermost places at which a profile crosses nought, between two values along a straight line."""
    inside = np.flatnonzero(over >= 0)
    first, last = inside[0], inside[-1]
    low = values[0] if first == 0 else np.interp(0, over[[first - 1, first]], values[[first - 1, first]])
    high = values[-1] if last == len(values) - 1 else np.interp(0, over[[last + 1, last]], values[[last + 1, last]])
    return float(low), float(high)


def _expected(data: _Data, knows: np.ndarray, guesses: np.ndarray, habits: np.ndarray) -> _Expected:
    """What each row of parameters expects: knows and guesses [r, annotator], habits [r, annotator, level]."""
    runs, people = knows.shape
    if not len(data.who):
        none = np.zeros((runs, people))
        return _Expected(np.zeros(runs), np.zeros((runs, 0, data.levels)), none, none, np.zeros(habits.shape))
    guess = guesses[:, data.who] * habits[:, data.who, data.said]
    likely = guess[:, :, None] + knows[:, data.who, None] * (data.said[:, None] == np.arange(data.levels))
    logs = np.add.reduceat(np.log(likely), data.first, axis=1)
    top = logs.max(axis=-1, keepdims=True)
    whole = top[..., 0] + np.log(np.exp(logs - top).sum(axis=-1))
    truth = np.exp(logs - whole[..., None])
    spam = guess * (truth[:, data.unit] / likely).sum(axis=-1)
    whose = np.eye(people)[data.who]
    habit = np.eye(people * data.levels)[data.who * data.levels + data.said]
    return _Expected(whole.sum(axis=1), truth, (1 - spam) @ whose, spam @ whose, (spam @ habit).reshape(habits.shape))


WIDEST = 50.0
"""Points of a competence's interval beyond which the votes do not tell who knows. The number stands beside its interval
all the same: chosen by their width, intervals would hold the truth less often than they say."""

SKEWED = 0.8
"""Share of the commonest answer from which on MACE, to which all answers are alike likely, may take it for habit."""

PEOPLE = ("question", "annotator", "n", "competence", "low", "high", "with_others", "n_others", "note")
ANSWERS = ("question", "n", "same", "other", "tied", "note")


@dataclass(frozen=True, slots=True)
class Competences:
    """What MACE makes of a study's votes."""

    # PEOPLE, a row a question and annotator: n units (versions of an item one by one) that others answered too;
    # competence (estimated share of units that this annotator answers by knowing rather than guessing, under MACE) with
    # its 95 % profile-likelihood interval; with_others (share of those n_others units on which the others have one
    # commonest answer, that this annotator answered so too), all in percent; note
    people: pd.DataFrame
    # ANSWERS, a row a question: n units with FEWEST votes or more, of which the likeliest answer is the commonest one
    # (same), is another (other), or the commonest ones were tied
    answers: pd.DataFrame


def study_competence(votes: pd.DataFrame, kind: Kind) -> Competences:
    """Estimate the competence of every annotator of a study, question by question; attention items are left out."""
    people, answers = list[pd.DataFrame](), list[tuple[object, ...]]()
    for question, rows, levels in _questions(votes[~votes["attention"]], kind):
        shared = rows[rows.groupby("unit")["unit"].transform("size") >= FEWEST]
        if shared.empty:
            continue
        why, skew = ONE_ANSWER if len(set(shared["answer"])) == 1 else "", _skew(shared)
        if shared["annotator"].nunique() < FEWEST_PEOPLE:
            why = f"{FEWEST_PEOPLE} annotators are needed: of two who differ nobody can say which one guesses"
        found = competences(shared, levels=levels)
        people.append(_people(shared, found.annotators, question, why, skew))
        commonest, likeliest = _commonest(shared), found.answers.set_index("unit")["answer"]
        same, n = int((likeliest.loc[commonest.index].to_numpy() == commonest.to_numpy()).sum()), len(likeliest)
        counts = (same, len(commonest) - same) if not why else (np.nan, np.nan)
        answers.append((question, n, *counts, n - len(commonest), why or skew))
    frame = pd.concat(people, ignore_index=True) if people else pd.DataFrame(columns=list(PEOPLE))
    return Competences(frame[list(PEOPLE)], pd.DataFrame(answers, columns=list(ANSWERS)))


def _questions(votes: pd.DataFrame, kind: Kind) -> Iterator[tuple[str, pd.DataFrame, list[object]]]:
    long = votes.melt(id_vars=["annotator", "id"], value_vars=[ORIGINAL, VARIANT], value_name="answer").dropna()
    levels: list[object] = [kind.lowest + place for place in range(len(kind.scale))]
    rated = long.assign(unit=long["id"] + long["variable"], answer=long["answer"].astype(int))
    yield version_name(kind), rated[["annotator", "unit", "answer"]], levels
    if any(question.name == PREFERENCE for question in kind.questions):
        asked = votes.dropna(subset=["preferred"]).rename(columns={"id": "unit", "preferred": "answer"})
        yield PREFERENCE, asked[["annotator", "unit", "answer"]], [ORIGINAL, TIE, VARIANT]


def _skew(rows: pd.DataFrame) -> str:
    """A warning where nearly all answers are alike; empty where they are not."""
    top = float(rows["answer"].value_counts(normalize=True).iloc[0])
    if top < SKEWED:
        return ""
    return (
        f"{100 * top:.0f} % of the answers are one and the same; MACE expects all to be alike frequent and may take "
        "this for habit, so low numbers are no reproach here"
    )


def _people(rows: pd.DataFrame, found: pd.DataFrame, question: str, why: str, skew: str) -> pd.DataFrame:
    shares = pd.DataFrame([_with_others(rows, name) for name in found["annotator"]], columns=list(PEOPLE[6:8]))
    table = found.assign(question=question, with_others=100 * shares["with_others"], n_others=shares["n_others"])
    table[["competence", "low", "high"]] *= 100
    few = [
        too_few(n, n)
        or (f"these votes do not tell: anything from {low:.0f} to {high:.0f} %" if high - low > WIDEST else "")
        for n, low, high in zip(table["n"], table["low"], table["high"], strict=True)
    ]
    table["note"] = why or pd.Series(["; ".join(filter(None, (each, skew))) for each in few], dtype=object)
    table.loc[table["n"] < LEAST_N, ["low", "high"]] = math.nan
    if why:
        table[["competence", "low", "high"]] = math.nan
    return table


def _with_others(rows: pd.DataFrame, name: str) -> tuple[float, int]:
    """How often an annotator gives the one commonest answer of the others, and on how many units they have one."""
    own = rows[rows["annotator"] == name].set_index("unit")["answer"]
    others = rows[(rows["annotator"] != name) & rows["unit"].isin(own.index)]
    commonest = _commonest(others)
    both = own.loc[commonest.index]
    return (float((both == commonest).mean()) if len(both) else math.nan), len(both)


def _commonest(rows: pd.DataFrame) -> pd.Series:
    """The one commonest answer of each unit that has one."""
    counts = rows.groupby(["unit", "answer"], sort=True).size()
    top = counts[counts == counts.groupby("unit").transform("max")].reset_index()
    single = top[~top["unit"].duplicated(keep=False)]
    return single.set_index("unit")["answer"]
