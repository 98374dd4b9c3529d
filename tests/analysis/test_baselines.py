"""A word's shift against every baseline, from the raw Parquet; and what is said of it."""

import math
import re

import pytest

from core.analysis.questions import Options, catalogue
from core.analysis.questions.word_edits import BESIDE
from core.analysis.reading import read_table
from core.analysis.table import ScoreTable
from core.store.store import Store
from tests.analysis.made_runs import raw, shifts
from tests.analysis.questions_reference import of

NEUTRAL = ("ordinary", "plain", "typical")


@pytest.fixture(scope="module")
def table(store: Store) -> ScoreTable:
    return read_table(store)


@pytest.mark.parametrize(
    ("id_", "family"), [("T7", "cultural"), ("T8", "economic"), ("S4", "gender"), ("S5", "emotion")]
)
def test_every_word_stands_with_its_median_against_each_baseline(table: ScoreTable, id_: str, family: str) -> None:
    question = next(each for each in catalogue(table) if each.id == id_)
    found = question.compute(table.view(), Options())
    assert set(BESIDE) <= set(question.columns)
    scores, rows = raw(), of(shifts(raw()), family=family)
    persons = set(scores.loc[scores["category"] == "person", "item"]) if family == "economic" else set()
    for _, row in found.iterrows():
        if row["tests"] == "":
            assert (row["leads"], row["beside"]) == ("bare", "")
            assert math.isnan(row["bare_percent"])
            continue
        wide = of(scores, evaluator=row["evaluator"]).pivot_table(index="item", columns="probe", values="score")
        wide = wide[~wide.index.isin(persons)]
        word, wide = wide[f"{family}:{row['label']}"], wide.where(wide.abs() >= 1e-6)  # nothing is divided by 0
        against = {name: 100 * (word / wide[f"{family}:{name}"] - 1) for name in NEUTRAL}
        medians = {name: each.median() for name, each in against.items()}
        matched = of(rows, evaluator=row["evaluator"], modifier=row["label"])
        matched = matched[~matched["item"].isin(persons)]["percent"]
        assert row["leads"] == "matched"
        assert row["matched_percent"] == row["median_percent"] == pytest.approx(matched.median())
        assert row["bare_percent"] == pytest.approx((100 * (word / wide["base"] - 1)).median())
        assert (row["neutral_low"], row["neutral_high"]) == pytest.approx(
            (min(medians.values()), max(medians.values()))
        )
        assert row["neutral_n"] == min(each.notna().sum() for each in against.values())


def test_the_sentence_has_the_numbers_and_says_which_baseline_leads(table: ScoreTable) -> None:
    question = next(each for each in catalogue(table) if each.id == "S4")
    rows = {
        bare: question.compute(table.view(), Options(bare=bare)).set_index(["evaluator", "label"])
        for bare in (False, True)
    }
    matched, bare = (each.loc[("conse-lite0", "female")] for each in rows.values())
    said = (
        f"{matched['median_percent']:+.1f} vs matched; {matched['neutral_low']:+.1f} to "
        f"{matched['neutral_high']:+.1f} vs ordinary, plain, typical (n ≥ {matched['neutral_n']})"
    )
    assert matched["beside"] == f"{bare['median_percent']:+.1f} vs bare, {said}".replace("-", "−")
    assert (matched["leads"], bare["leads"]) == ("matched", "bare")
    assert bare["beside"] == matched["beside"]
    assert re.fullmatch(r"−12\.5 vs bare, −13\.7 vs matched; .*", matched["beside"])
