"""Negation and its converse, and sets that must be right as a whole: joined item by item, worked out anew by pandas."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from core.analysis.questions import Options, Question, catalogue
from core.analysis.reading import read_table
from core.analysis.scope import Scope
from core.analysis.slices import Slice
from core.analysis.table import ScoreTable
from core.statistics.shares import share
from core.store.store import Store
from tests.analysis.broken_runs import write_broken
from tests.analysis.made_runs import raw, score, write_run

N = 30
SEMANTIC = {"axis": "semantic", "family": "absent-category"}
TOLD = {
    "affirmation:template": {"axis": "semantic", "family": "template", "expectation": "response", "control": True},
    "negation:template": {
        "axis": "semantic",
        "family": "template",
        "expectation": "directional",
        "baseline": "affirmation:template",
    },
    "negation": {"axis": "semantic", "family": "negation", "expectation": "directional"},
    "negation:absent": {**SEMANTIC, "expectation": "response"},
    "affirmation:absent": {**SEMANTIC, "expectation": "directional", "baseline": "negation:absent"},
}
HABIT = {"affirmation:template": 0.9, "negation:template": 0.2, "affirmation:absent": 0.8, "negation:absent": 0.3}
"""Scores of an evaluator that likes whatever is affirmed."""


def rows_of(probes: dict[str, str], *, language: str = "en", least: int = 0) -> list[dict[str, Any]]:
    """Rows of evaluators ``e`` and ``habit``: probe -> the subject that it is stored under; items from ``least`` on."""
    rng, rows = np.random.default_rng(5), []
    for probe, subject in {**dict.fromkeys([f"identity {each}" for each in probes.values()]), **probes}.items():
        name, _, of = probe.partition(" ")
        told = {"baseline": "identity", **TOLD.get(name, {})} if name != "identity" else {}
        for place in range(least if name != "identity" and "template" not in name else 0, N):
            drawn = round(float(rng.uniform(0.2, 0.9)), 2)
            rows += [
                score(
                    f"i{place:03d}", name, value, subject=subject or of, evaluator=evaluator, language=language, **told
                )
                for evaluator, value in (("e", drawn), ("habit", HABIT.get(name, 0.5)))
            ]
    return rows


HALVES = {
    "affirmation:template": "human",
    "negation:template": "human",
    "negation:absent": "template",
    "affirmation:absent": "template",
}


@pytest.fixture
def opened(tmp_path: Path):
    stores = []

    def open_run(rows: list[dict[str, Any]], **scope: Any) -> ScoreTable:
        stores.append(Store.open(write_broken(tmp_path / f"r{len(stores)}", rows, pairs=0)))
        return read_table(stores[-1], Scope(**scope))

    yield open_run
    for each in stores:
        each.close()


def both(table: ScoreTable) -> Question:
    return next(each for each in catalogue(table) if each.id == "C21-both")


def test_the_four_captions_are_joined_item_by_item_over_their_captions(opened) -> None:
    rows = rows_of(HALVES, least=4)
    table = opened(rows, subject="human", language="en")
    asked = {each.id: each for each in catalogue(table)}["C21-both"]
    frame = asked.compute(table.view(), Options()).set_index("evaluator")
    stored = pd.DataFrame(rows)
    wide = stored[stored["evaluator"] == "e"].pivot_table(index="item", columns="probe", values="score")
    four = wide.dropna(subset=[*HALVES])
    assert len(four) == N - 4
    there = four["affirmation:template"] > four["negation:template"]
    absent = four["negation:absent"] > four["affirmation:absent"]
    row = frame.loc["e"]
    assert row["n_items"] == N - 4
    assert (row["there"], row["absent"]) == (pytest.approx(100 * there.mean()), pytest.approx(100 * absent.mean()))
    assert row["both"] == pytest.approx(100 * (there & absent).mean())
    low, high = proportion_confint((there & absent).sum(), len(four), method="wilson")
    assert (row["both_low"], row["both_high"]) == (pytest.approx(100 * low), pytest.approx(100 * high))
    names = {
        "there_affirmed": "affirmation:template",
        "there_denied": "negation:template",
        "absent_denied": "negation:absent",
        "absent_affirmed": "affirmation:absent",
    }
    assert row[list(names)].tolist() == pytest.approx([four[probe].mean() for probe in names.values()])
    affirms = there & (four["affirmation:absent"] > four["negation:absent"])
    denies = (four["affirmation:template"] < four["negation:template"]) & absent
    for name, found in (("affirms", affirms), ("denies", denies)):
        ends = proportion_confint(found.sum(), len(four), method="wilson")
        assert row[name] == pytest.approx(100 * found.mean())
        assert (row[f"{name}_low"], row[f"{name}_high"]) == pytest.approx(tuple(100 * end for end in ends))
    assert row["captions"] == "human, en; template, en"
    assert "4 items without one of the four" in row["note"]


def test_who_likes_whatever_is_affirmed_has_one_order_right_and_never_both(opened) -> None:
    table = opened(rows_of(HALVES), subject="human", language="en")
    row = both(table).compute(table.view(), Options()).set_index("evaluator").loc["habit"]
    assert (row["there"], row["absent"], row["both"], row["affirms"], row["denies"]) == (100, 0, 0, 100, 0)


def test_items_of_one_source_count_together(tmp_path: Path) -> None:
    rows = rows_of(HALVES)
    ends = {}
    for pairs in (0, N // 2):
        with Store.open(write_broken(tmp_path / f"p{pairs}", rows, pairs=pairs)) as store:
            table = read_table(store, Scope(subject="human", language="en"))
            ends[pairs] = both(table).compute(table.view(), Options()).set_index("evaluator").loc["e"]
    assert ends[0]["both"] == ends[15]["both"]
    assert ends[0]["both_high"] != ends[15]["both_high"]


def test_the_template_denied_serves_where_no_other_caption_has_it_and_a_slice_holds(opened) -> None:
    rows = rows_of({"negation": "template", "negation:absent": "template", "affirmation:absent": "template"})
    for row in rows:
        row["category"] = "animal" if row["item"] < "i010" else "food"
    table = opened(rows, subject="template", language="en")
    frame = both(table).compute(table.view(Slice(categories=("animal",))), Options()).set_index("evaluator")
    wide = pd.DataFrame(rows).query("evaluator == 'e'").pivot_table(index="item", columns="probe", values="score")
    own = wide[wide.index < "i010"]
    right = (own["identity"] > own["negation"]) & (own["negation:absent"] > own["affirmation:absent"])
    assert (frame.loc["e", "n_items"], frame.loc["e", "both"]) == (10, pytest.approx(100 * right.mean()))
    assert frame.loc["e", "captions"] == "template, en"


def test_one_half_alone_and_halves_of_two_languages_say_what_is_lacking(opened) -> None:
    alone = opened(rows_of({name: "human" for name in HALVES if "template" in name}), subject="human", language="en")
    assert "(absent-category lacking); an audit with them" in both(alone).needs(alone)
    assert both(alone).compute(alone.view(), Options()).empty
    german = [each for each in rows_of(HALVES, language="de") if each["subject"] == "human"]
    english = [each for each in rows_of(HALVES) if each["subject"] == "template"]
    mixed = opened([*german, *english], subject="human", language="de")
    assert "of human, de, and of template, en: no language has both" in both(mixed).needs(mixed)


def test_the_figure_draws_each_order_and_both(opened) -> None:
    table = opened(rows_of(HALVES), subject="human", language="en")
    question = both(table)
    frame = question.compute(table.view(), Options())
    drawn = question.figures[0].figure(frame).frame
    own = drawn[drawn["label"] == "e"].set_index("series")
    row = frame.set_index("evaluator").loc["e"]
    for name, series in (("there", "what is there"), ("absent", "what is absent"), ("both", "both of an item")):
        assert own.loc[series, ["value", "low", "high"]].tolist() == row[[name, f"{name}_low", f"{name}_high"]].tolist()


def test_a_family_of_both_expectations_has_its_orders(opened) -> None:
    table = opened(rows_of(HALVES), subject="template", language="en")
    orders = next(each for each in catalogue(table) if each.id == "C18")
    frame = orders.compute(table.view(), Options())
    own = frame[(frame["evaluator"] == "habit") & (frame["family"] == "absent-category")]
    assert own["order"].tolist() == ["affirmation:absent > identity > negation:absent"]
    assert own["n"].tolist() == [N]


SETS = 15
PROBES = {"wrong-caption": "given", "wrong-picture": "given-picture"}


def rows(*, sets: int = SETS, seed: int = 3) -> list[dict[str, Any]]:
    """Two items a set, each with its own side and both wrong ones; one set with a tie, one with a gap."""
    rng, found = np.random.default_rng(seed), []
    for place in range(2 * sets):
        own = float(rng.uniform(0.4, 0.6))
        found.append(score(f"i{place:03d}", "identity", own, subject="human", evaluator="e"))
        for probe, family in PROBES.items():
            value: float | None = own - float(rng.normal(0.03, 0.05))
            if (place, probe) == (0, "wrong-caption"):
                value = own
            if (place, probe) == (2, "wrong-picture"):
                value = None
            found.append(
                score(
                    f"i{place:03d}",
                    probe,
                    value,
                    subject="human",
                    evaluator="e",
                    axis="semantic",
                    family=family,
                    baseline="identity",
                    expectation="directional",
                )
            )
    return found


def items(*, sets: int = SETS, alone: bool = False) -> list[dict[str, Any]]:
    return [
        {
            "corpus": "c",
            "item": f"i{place:03d}",
            "image": f"{place}.png",
            "width": 8,
            "height": 8,
            "item_group": None if alone else f"set {place // 2}",
            "pixels_sha256": f"{place:064d}",
        }
        for place in range(2 * sets)
    ]


def answered(folder: Path, id_: str) -> tuple[pd.DataFrame, str]:
    with Store.open(folder) as store:
        table = read_table(store)
        question = next(each for each in catalogue(table) if each.id == id_)
        lacking = question.needs(table)
        return (pd.DataFrame() if lacking else question.compute(table.view(), Options())), lacking


def test_a_set_is_right_where_every_side_of_it_is_strictly_higher(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", rows(), items=items())
    frame = answered(folder, "C-sets")[0].set_index("label")
    stored = raw(folder)
    wide = stored.pivot_table(index="item", columns="probe", values="score", aggfunc="first")
    sets = wide.index.str.slice(1).astype(int) // 2
    right = {probe: (wide["identity"] > wide[probe]).groupby(sets).all() for probe in PROBES}
    scored = {probe: wide[probe].notna().groupby(sets).all() for probe in PROBES}
    both = scored["wrong-caption"] & scored["wrong-picture"]
    wanted = {
        "given": right["wrong-caption"],
        "given-picture": right["wrong-picture"][scored["wrong-picture"]],
        "every comparison": (right["wrong-caption"] & right["wrong-picture"])[both],
    }
    assert list(frame.index) == list(wanted)
    for label, each in wanted.items():
        row = frame.loc[label]
        low, high = proportion_confint(int(each.sum()), len(each), method="wilson")
        assert (row["n_sets"], row["share"]) == (len(each), pytest.approx(100 * each.mean()))
        assert (row["low"], row["high"]) == (pytest.approx(100 * low), pytest.approx(100 * high))
        probes = [probe for probe, family in PROBES.items() if label in (family, "every comparison")]
        kept = sets.isin(each.index)
        alone = pd.concat([(wide["identity"] > wide[probe])[kept] for probe in probes])
        together = share(alone, groups=np.concatenate([sets[kept]] * len(probes)))
        assert (row["n"], row["each"]) == (len(alone), pytest.approx(100 * alone.mean()))
        assert (row["each_low"], row["each_high"]) == pytest.approx((100 * together.low, 100 * together.high))
    assert not right["wrong-caption"][0]  # the tie
    assert (frame.loc["given", "n_sets"], frame.loc["given-picture", "n_sets"]) == (SETS, SETS - 1)
    assert frame.loc["given-picture", "note"] == "no score for a comparison of 1 set"
    assert frame.loc["every comparison", "share"] <= frame.loc[["given", "given-picture"], "share"].min()


def test_pictures_with_one_comparison_each_are_no_sets(tmp_path: Path) -> None:
    _, lacking = answered(write_run(tmp_path / "r", rows(), items=items(alone=True)), "C-sets")
    assert lacking == "no two comparisons here share a picture or an example"


def test_a_run_without_given_pairs_says_how_to_make_one(tmp_path: Path) -> None:
    own = [row for row in rows() if row["probe"] == "identity"]
    _, lacking = answered(write_run(tmp_path / "r", own, items=items()), "C-sets")
    assert "no run has a directional probe" in lacking
