"""Corpora held against each other: rows that are filled, the median over corpora, and how far they lie apart."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.meta_analysis import combine_effects

from core.analysis.questions import Options, catalogue
from core.analysis.questions.across import MEDIAN, between
from core.analysis.reading import read_table
from core.analysis.table import ScoreTable
from core.statistics.bootstrap import Interval, median_bca
from core.store.store import Store
from tests.analysis.made_runs import raw, score, shifts, write_run
from tests.analysis.questions_reference import of

CULTURAL = ("American", "European", "Asian", "African", "Russian")


def told(word: str) -> dict[str, object]:
    return {
        "axis": "societal",
        "family": "cultural",
        "baseline": "identity",
        "modifier": word,
        "expectation": "invariant",
    }


def rows_of(corpus: str, seed: int, *, lift: float, words: Sequence[str] = CULTURAL, items: int = 30) -> list[dict]:
    rng = np.random.default_rng(seed)
    rows = []
    for place in range(items):
        name, clean = f"i{place:02d}", float(rng.uniform(0.4, 0.9))
        edits = {"identity": (0.0, {}), "vflip": (lift, {})} | {f"cultural:{w}": (lift / 2, told(w)) for w in words}
        for probe, (shift, about) in edits.items():
            value = clean * (1 + shift + (0.03 * rng.normal() if probe != "identity" else 0))
            rows += [
                score(name, probe, value, corpus=corpus, evaluator=who, **about)
                for who in ("e", "f")
                if not (who == "f" and corpus == "third" and about)
            ]
    return rows


def opened(folder: Path, corpora: dict[str, dict]) -> Store:
    for seed, (name, how) in enumerate(corpora.items()):
        write_run(folder / f"run-{name}", rows_of(name, seed, **how), corpus={"name": name})
    return Store.open(folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("across")


@pytest.fixture(scope="module")
def three(folder: Path) -> Iterator[ScoreTable]:
    corpora = {"first": {"lift": 0.05}, "second": {"lift": 0.01}, "third": {"lift": -0.02, "words": CULTURAL[:2]}}
    with opened(folder / "three", corpora) as store:
        yield read_table(store)


@pytest.fixture(scope="module")
def two(folder: Path) -> Iterator[ScoreTable]:
    with opened(folder / "two", {"first": {"lift": 0.05}, "second": {"lift": 0.01}}) as store:
        yield read_table(store)


def ask(table: ScoreTable, id_: str, **options: object) -> pd.DataFrame:
    question = next(each for each in catalogue(table) if each.id == id_)
    return question.compute(table.view(), Options(**options))  # type: ignore[arg-type]


def percents(folder: Path, corpus: str, family: str, evaluator: str = "e") -> pd.Series:
    rows = of(shifts(raw(folder / f"run-{corpus}")), family=family, evaluator=evaluator)
    return rows.groupby("item")["percent"].median().dropna()


def test_a_row_that_no_score_can_fill_is_left_out_and_named(three: ScoreTable, folder: Path) -> None:
    found = ask(three, "T10")
    assert list(zip(found["evaluator"], found["corpus"], strict=True)) == [
        ("e", "first"),
        ("e", "second"),
        ("e", "third"),
        ("f", "first"),
        ("f", "second"),
    ]
    assert found["median_percent"].notna().all()
    notes = {each.id: each.note for each in catalogue(three)}
    assert notes["T10"].endswith(" Left out, for no % change here is of it: f on third.")
    assert "Left out" not in notes["T9"]
    rows = of(shifts(raw(folder / "three" / "run-first")), family="cultural", evaluator="e")
    four = rows[rows["modifier"].isin(CULTURAL[:4])].groupby("item")["percent"].mean()
    assert found["median_percent"].iloc[0] == pytest.approx(four.median())


def test_words_that_nobody_audited_are_named_too(folder: Path) -> None:
    with opened(folder / "few", {name: {"lift": 0.01, "words": CULTURAL[:2]} for name in ("first", "second")}) as store:
        table = read_table(store)
        note = next(each.note for each in catalogue(table) if each.id == "T10")
    assert note.endswith(" Not audited, and in no mean: cultural:Asian, cultural:African.")


def test_the_median_over_corpora_is_that_of_the_agreements_beside_the_reference(
    three: ScoreTable, folder: Path
) -> None:
    found = ask(three, "T12", reference="first")
    assert set(found["family"]) == {"vertical flip", "cultural subset", "cultural"}
    assert found["of"].tolist()[:3] == ["paper’s subset"] * 3
    flips = of(found, evaluator="e", family="vertical flip")
    assert flips["corpus"].tolist() == ["second", "third", MEDIAN]
    shares = []
    for corpus in ("second", "third"):
        own = percents(folder / "three", corpus, "vertical-flip")
        shares.append(100 * ((own > 0).mean() + (own == 0).mean() / 2))
    assert flips["agreement"].tolist() == pytest.approx([*shares, np.median(shares)])
    assert flips["same"].tolist() == ["same", "opposite", "mixed"]
    assert np.isnan(flips["low"].iloc[-1])
    lonely = of(found, evaluator="f", family="cultural subset")  # on the third corpus nobody scored it
    assert lonely["corpus"].tolist() == ["second"]
    assert "first − second" in lonely["between"].item()


def test_three_corpora_are_held_together_by_cochran_s_q(three: ScoreTable, folder: Path) -> None:
    row = of(ask(three, "T12"), evaluator="e", family="vertical flip", corpus=MEDIAN).iloc[0]
    medians = [median_bca(percents(folder / "three", name, "vertical-flip")) for name in ("first", "second", "third")]
    errors = np.array([(each.high - each.low) / (2 * 1.959964) for each in medians])
    expected = combine_effects(np.array([each.estimate for each in medians]), errors**2)
    said = re.fullmatch(r"Q = ([\d.]+), p < 0.001, I² = (\d+) % of 3 corpora: they differ", row["between"])
    assert said is not None
    assert float(said.group(1)) == pytest.approx(expected.q, abs=0.06)
    assert float(said.group(2)) == pytest.approx(100 * expected.i2, abs=0.6)


def test_two_corpora_have_a_difference_and_no_median_over_one(two: ScoreTable, folder: Path) -> None:
    found = ask(two, "T12")
    assert MEDIAN not in set(found["corpus"])
    row = of(found, evaluator="e", family="vertical flip").iloc[0]
    medians = [percents(folder / "two", name, "vertical-flip").median() for name in ("first", "second")]
    said = re.fullmatch(r"first − second: \+([\d.]+) \[\+([\d.]+), \+([\d.]+)\] points, they differ", row["between"])
    assert said is not None
    assert float(said.group(1)) == pytest.approx(medians[0] - medians[1], abs=0.006)


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ([(1.0, 0.0, 2.0)], "fewer than two corpora with an interval"),
        ([(1.0, 0.0, 2.0), (1.0, 1.0, 1.0)], "fewer than two corpora with an interval"),
        (
            [(1.0, 0.0, 2.0), (1.5, 0.0, 3.0)],
            "c0 − c1: −0.50 [−2.30, +1.30] points, no difference shown (a difference from 2.6 points on would have "
            "shown in four of five such runs)",
        ),
        (
            [(1.0, 0.0, 2.0)] * 3,
            "Q = 0.0, p = 1.000, I² = 0 % of 3 corpora: no difference shown (a spread from 0.9 points on would have "
            "shown)",
        ),
    ],
)
def test_what_is_said_between_corpora_follows_their_intervals(bounds: list, words: str) -> None:
    medians = {f"c{place}": Interval(*each, 20, 0.95) for place, each in enumerate(bounds)}
    assert between(medians) == words
