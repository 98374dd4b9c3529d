"""Multi-annotator competence estimation: who answers by knowing and who by guessing, and what the answers then are.

Every unit has one true answer, all alike likely beforehand. An annotator knows it with a probability of their own, and
says it; else they guess, by habits of their own. Both are found by variational Bayes from who agrees with whom [1].

References:
    [1] Hovy, Berg-Kirkpatrick, Vaswani and Hovy (2013), Learning whom to trust with MACE, NAACL-HLT, 1120-1130; priors
        as there: Beta(1/2, 1/2) for knowing, Dirichlet(10, ..., 10) for habits.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import digamma

from core.errors import InvalidInput
from core.seeds import RUN_SEED, stream

STARTS = 10
STEPS = 5000
CLOSE = 1e-9
"""Largest change of any parameter at which a run has come to rest."""

_KNOWING, _HABIT = 0.5, 10.0


@dataclass(frozen=True, slots=True)
class Competence:
    """What the model makes of some answers.

    Args:
        annotators: sorted by annotator; columns annotator, n (units answered), competence (posterior mean of the
            probability of knowing, in [0, 1]), low and high (the middle of the posterior that holds ``level`` of it).
        answers: sorted by unit; columns unit, answer (the likeliest) and probability (of it).
        weights: exp of the mean log probability of knowing, by annotator: what the steps of [1] work with.
    """

    annotators: pd.DataFrame
    answers: pd.DataFrame
    weights: np.ndarray


def competences(
    answers: pd.DataFrame, *, levels: Sequence[object], level: float = 0.95, seed: int = RUN_SEED
) -> Competence:
    """Fit the model; of STARTS runs from different places the one under which the answers are likeliest counts.

    Args:
        answers: columns annotator, unit, answer; one row an annotator and unit. Their order changes nothing.
        levels: every answer that could be given, two or more.
        level: of the posterior intervals. They are variational, and so somewhat too narrow.
        seed: of the starts.

    Raises:
        InvalidInput: for fewer than two levels, an answer that is none of them, or an annotator twice on a unit.
    """
    data = _Data.of(answers, levels)
    found = max((_run(data, stream(seed, "mace", str(start))) for start in range(STARTS)), key=lambda each: each.fit)
    known, guessed = found.known + _KNOWING, found.guessed + _KNOWING
    bounds = [stats.beta.ppf(share, known, guessed) for share in ((1 - level) / 2, (1 + level) / 2)]
    people = pd.DataFrame(
        {
            "annotator": data.annotators,
            "n": np.bincount(data.who, minlength=len(data.annotators)),
            "competence": known / (known + guessed),
            "low": bounds[0],
            "high": bounds[1],
        }
    )
    best = found.truth.argmax(axis=1)
    told = pd.DataFrame(
        {
            "unit": data.units,
            "answer": [levels[place] for place in best],
            "probability": found.truth[np.arange(len(best)), best] if len(best) else [],
        }
    )
    return Competence(people, told, found.weights)


@dataclass(frozen=True, slots=True)
class _Data:
    """Answers as places: annotator, unit and level of each, int [n]."""

    annotators: tuple[str, ...]
    units: tuple[str, ...]
    who: np.ndarray
    unit: np.ndarray
    said: np.ndarray
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
        return cls(tuple(annotators), tuple(units), who, unit, said.to_numpy(dtype=np.int64), len(levels))


@dataclass(frozen=True, slots=True)
class _Run:
    fit: float
    truth: np.ndarray
    known: np.ndarray
    guessed: np.ndarray
    weights: np.ndarray


def _run(data: _Data, rng: np.random.Generator) -> _Run:
    """One run from a start of its own until nothing moves."""
    people = len(data.annotators)
    knows = rng.uniform(0.3, 0.7, size=people)
    guesses, habits = 1 - knows, rng.dirichlet(np.full(data.levels, 20.0), size=people)
    for _ in range(STEPS):
        fit, truth, known, guessed, counts = _expected(data, knows, guesses, habits)
        together = digamma(known + guessed + 2 * _KNOWING)
        knows, before = np.exp(digamma(known + _KNOWING) - together), knows
        guesses = np.exp(digamma(guessed + _KNOWING) - together)
        total = digamma(counts.sum(axis=1, keepdims=True) + data.levels * _HABIT)
        habits = np.exp(digamma(counts + _HABIT) - total)
        if not people or np.abs(knows - before).max() < CLOSE:
            break
    return _Run(fit, truth, known, guessed, knows)


def _expected(
    data: _Data, knows: np.ndarray, guesses: np.ndarray, habits: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Log likelihood, probability of each answer of each unit, and expected counts, under these parameters."""
    guess = guesses[data.who] * habits[data.who, data.said]
    likely = guess[:, None] + knows[data.who, None] * (data.said[:, None] == np.arange(data.levels))
    logs = np.zeros((len(data.units), data.levels))
    np.add.at(logs, data.unit, np.log(likely))
    top = logs.max(axis=1, keepdims=True, initial=-np.inf)
    whole = top[:, 0] + np.log(np.exp(logs - top).sum(axis=1))
    truth = np.exp(logs - whole[:, None])
    spam = guess * (truth[data.unit] / likely).sum(axis=1)
    people = len(data.annotators)
    guessed = np.bincount(data.who, spam, minlength=people)
    counts = np.bincount(data.who * data.levels + data.said, spam, minlength=people * data.levels)
    known = np.bincount(data.who, 1 - spam, minlength=people)
    return float(whole.sum()), truth, known, guessed, counts.reshape(people, data.levels)
