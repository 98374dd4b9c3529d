"""Who answers by knowing, and whether the answers change when those who do count more: MACE beside majorities."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.analysis.people.outcomes import FEWEST, version_name
from core.human.definition import ORIGINAL, VARIANT
from core.human.kinds import PREFERENCE, TIE, Kind
from core.statistics.agreement import ONE_ANSWER
from core.statistics.bootstrap import too_few
from core.statistics.mace import competences

FEWEST_ANNOTATORS = 3
"""Of two who differ nobody can say which one guesses."""

SKEWED = 0.8
"""Share of the commonest answer from which on MACE, to which all answers are alike likely, may take it for habit."""

PEOPLE = ("question", "annotator", "n", "competence", "low", "high", "with_others", "n_others", "note")
ANSWERS = ("question", "n", "same", "other", "tied", "note")


@dataclass(frozen=True, slots=True)
class Competences:
    """What MACE makes of a study's votes.

    Args:
        people: PEOPLE, a row a question and annotator: n units (versions of an item one by one) that others answered
            too; competence (estimated share of units that this annotator answers by knowing rather than guessing,
            under MACE) with the middle 95 % of the model's posterior; with_others (share of those n_others units on
            which the others have one commonest answer, that this annotator answered so too), all in percent; note.
        answers: ANSWERS, a row a question: n units with FEWEST votes or more, of which the likeliest answer is the
            commonest one (same), is another (other), or the commonest ones were tied.
    """

    people: pd.DataFrame
    answers: pd.DataFrame


def study_competence(votes: pd.DataFrame, kind: Kind) -> Competences:
    """Estimate the competence of every annotator of a study, question by question.

    Args:
        votes: :func:`core.human.votes.vote_table`; attention items are left out here.
        kind: of the study.
    """
    people, answers = list[pd.DataFrame](), list[dict[str, object]]()
    for question, rows, levels in _questions(votes[~votes["attention"]], kind):
        shared = rows[rows.groupby("unit")["unit"].transform("size") >= FEWEST]
        if shared.empty:
            continue
        why, skew = _obstacle(shared), _skew(shared)
        found = competences(shared, levels=levels)
        people.append(_people(shared, found.annotators, question, why, skew))
        answers.append(_answers(shared, found.answers, question, why) | {"note": why or skew})
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


def _obstacle(rows: pd.DataFrame) -> str:
    """Why competence cannot be told; empty where it can."""
    if rows["annotator"].nunique() < FEWEST_ANNOTATORS:
        return f"{FEWEST_ANNOTATORS} annotators are needed: of two who differ nobody can say which one guesses"
    return ONE_ANSWER if len(set(rows["answer"])) == 1 else ""


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
    few = [too_few(n, n) for n in table["n"]]
    table["note"] = why or pd.Series(["; ".join(filter(None, (each, skew))) for each in few], dtype=object)
    table[["competence", "low", "high"]] *= 100
    if why:
        table[["competence", "low", "high"]] = math.nan
    table.loc[[bool(each) for each in few], ["low", "high"]] = math.nan
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


def _answers(rows: pd.DataFrame, found: pd.DataFrame, question: str, why: str) -> dict[str, object]:
    commonest = _commonest(rows)
    likeliest = found.set_index("unit")["answer"]
    same = int((likeliest.loc[commonest.index].to_numpy() == commonest.to_numpy()).sum())
    n = len(likeliest)
    counts = (same, len(commonest) - same) if not why else (np.nan, np.nan)
    return {
        "question": question,
        "n": n,
        "same": counts[0],
        "other": counts[1],
        "tied": n - len(commonest),
    }
