"""The blur control against the raw rows of the shipped run, and its words."""

import math
from html import escape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core.analysis.questions import Options, catalogue
from core.analysis.questions.controls import FAILS, OPEN, PASSES, said, sentences
from core.analysis.reading import read_table
from core.analysis.verdicts import TOO_FEW, untold
from core.charts.spec import colours, series_styles
from core.report.document import Report
from core.report.fairness_card import card_report
from core.statistics.bootstrap import Interval
from core.store.store import Store
from pages.views.results_view import SHOWN
from tests.analysis import two_sources
from tests.analysis.made_runs import audited, raw, shifts, write_run


def test_the_control_compares_each_item_with_itself_as_the_raw_rows_do(store: Store) -> None:
    question = next(each for each in catalogue(read_table(store)) if each.id == "S22")
    found = question.compute(read_table(store).view(), Options()).set_index("evaluator")
    rows = shifts(raw())
    rows = rows[rows["family"].isin(["reposition", "blur"])].assign(size=lambda frame: frame["percent"].abs())
    each = rows.pivot_table(index=["evaluator", "item"], columns="family", values="size", aggfunc="median")
    sizes = each.dropna()
    for evaluator, own in sizes.groupby("evaluator"):
        row = found.loc[str(evaluator)]
        difference = (own["reposition"] - own["blur"]).to_numpy()
        assert row["n_items"] == len(own)
        assert row["moved"] == pytest.approx(own["reposition"].median())
        assert row["blurred"] == pytest.approx(own["blur"].median())
        assert row["value"] == pytest.approx(np.median(difference))
        assert row["low"] <= row["value"] <= row["high"]
        items = own.index.get_level_values("item")
        means = own.groupby(raw(table="items").set_index("item")["item_group"][items].to_numpy()).mean()
        apart = means["reposition"] - means["blur"]
        ranks = row["test"].startswith("Wilcoxon")
        p = stats.wilcoxon(apart).pvalue if ranks else stats.ttest_1samp(apart, 0).pvalue
        of_items = (own[name].set_axis(items) for name in ("blur", "reposition"))
        assert row["p"] == pytest.approx(two_sources.paired(p, *of_items, ranks=ranks))
        assert row["test"].endswith(", by source")
        assert bool(row["power"]) == (row["said"] == OPEN)


@pytest.mark.parametrize(
    ("low", "high", "n", "words"),
    [
        (0.1, 2.0, 40, PASSES),
        (-2.0, -0.1, 40, FAILS),
        (-1.0, 1.0, 40, OPEN),
        (0.1, 2.0, 9, TOO_FEW),
        (math.nan, math.nan, 40, OPEN),
    ],
)
def test_the_words_follow_the_interval(low: float, high: float, n: int, words: str) -> None:
    assert said(Interval((low + high) / 2, low, high, n, 0.95)) == words


def test_each_evaluator_has_a_sentence_with_its_numbers(store: Store) -> None:
    table = read_table(store)
    found = next(each for each in catalogue(table) if each.id == "S22").compute(table.view(), Options())
    told = sentences(table.view())
    assert set(told) == set(found["evaluator"])
    opening = {
        PASSES: "Blur control: repositioning changes it more than blur",
        FAILS: "Blur control fails: blur changes it more than repositioning",
        OPEN: "Blur control does not pass: which changes it more is unclear",
    }
    for _, row in found.iterrows():
        said_here = told[row["evaluator"]]
        assert said_here.startswith(f"{opening[row['said']]}. Median |% change|: {row['moved']:.1f} moved, ")
        assert f"{row['value']:+.1f} ({row['low']:+.1f} to {row['high']:+.1f}) points".replace("-", "−") in said_here
        power = f". {row['power'][0].upper()}{row['power'][1:]}" if row["power"] else ""
        assert said_here.endswith(f", n = {row['n_items']}{power}.")


def test_what_cannot_be_told_says_what_would_have_shown() -> None:
    # a standard error of 0.5 points from 100 items: found from (1.96 + 0.84) · 0.5 on
    found = untold(Interval(0.35, 0.35 - 0.98, 0.35 + 0.98, 100, 0.95), unit="points")
    assert found == "a difference from 1.4 points on would have shown in four of five such runs"
    assert untold(Interval(0.0, 0.0, 0.0, 100, 0.95), unit="points") == ""


def test_without_one_of_the_two_edits_the_sentence_says_which(tmp_path: Path) -> None:
    write_run(tmp_path / "r", audited("vflip", "blur-1"), corpus={"name": "c"})
    with Store.open(tmp_path) as opened:
        assert sentences(read_table(opened).view()) == {"e": "Blur control: no run has a moved object."}


def test_the_control_is_on_page_report_and_card(store: Store, demo_report: Report) -> None:
    table = read_table(store)
    question = next(each for each in catalogue(table) if each.id == "S22")
    assert question.section in SHOWN
    assert not question.part_of
    frame = question.compute(table.view(), Options())
    pd.testing.assert_frame_equal(next(each.frame for each in demo_report.tables if each.id == "S22"), frame)
    assert "F-blur" in {each.id for each in demo_report.figures}
    card = card_report(store)
    for sentence in sentences(table.view()).values():
        assert escape(sentence) in card


def test_evaluators_that_are_labels_have_their_own_colours_on_lines_of_their_own(store: Store) -> None:
    table = read_table(store)
    question = next(each for each in catalogue(table) if each.id == "S22")
    figure = question.figures[0].figure(question.compute(table.view(), Options()))
    assert figure.overlay
    assert figure.frame["series"].tolist() == figure.frame["label"].tolist()
    assert {name: style.colour for name, style in series_styles(figure).items()} == colours(table.evaluators)
