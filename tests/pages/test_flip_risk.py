"""The page Flip risk on the results that ship, and on two systems scored now."""

import json
import re

import numpy as np
import pytest

from core.analysis.flip_cells import REVERSED
from core.analysis.questions import Options
from core.analysis.questions.papers import CONTRAST
from core.analysis.reading import read_table
from core.features.flips.flip_questions import questions
from core.probes.titles import CONTRASTS, family_title
from core.settings import results_dir
from core.store.store import Store
from tests.analysis.made_runs import scores_of, write_run
from tests.pages.opening import Open, click, marks_that_open, said, unfolded, ways

PAGE = "flip_risk"


def test_without_a_run_the_page_says_what_to_do(open_page: Open) -> None:
    app = open_page(PAGE)
    assert not app.exception
    assert "python -m core audit" in said(app)


@pytest.mark.usefixtures("demo")
def test_the_map_says_its_bound_its_gap_and_its_n(open_page: Open) -> None:
    app = unfolded(open_page(PAGE, gap="0.5"))
    assert not app.error
    assert "never above 50 %" in said(app)
    assert "at a gap of 0.5 %" in said(app)
    assert "n = 78 to 252 pictures a cell" in said(app)
    charts = app.get("plotly_chart")
    assert len(charts) == 2  # the map, and the curves under one legend
    assert all(chart.proto.alt for chart in charts)
    assert "highest" in charts[0].proto.alt


@pytest.mark.usefixtures("demo")
def test_the_map_begins_where_risks_differ_and_no_table_scrolls_by_itself(open_page: Open) -> None:
    app = unfolded(open_page(PAGE))
    risks = app.dataframe[0].value
    own = risks[risks["axis"] != "null"]
    below = (own["risk"] < 5).mean()
    assert 0.3 < below < 0.7
    assert own["risk"].max() - own["risk"].min() > 10
    assert "gap" not in app.query_params
    for frame in app.dataframe[:3:2]:
        assert "ends" in list(frame.proto.column_order)
        assert not {"low", "high"} & set(frame.proto.column_order)


@pytest.mark.usefixtures("demo")
def test_every_number_lies_inside_its_interval_and_under_the_bound(open_page: Open) -> None:
    table = unfolded(open_page(PAGE, unit="scale")).dataframe[0].value
    assert len(table) == 39 == table["risk"].notna().sum()
    assert (table["low"] <= table["risk"]).all()
    assert (table["risk"] <= table["high"]).all()
    assert (table["high"] <= 50).all()
    assert (table["n_items"] > 0).all()


@pytest.mark.usefixtures("demo")
def test_the_page_and_table_13_are_of_the_same_contrasts_and_families(open_page: Open, store: Store) -> None:
    shown = unfolded(open_page(PAGE, unit="scale", gap="0.7")).dataframe[0].value
    table = read_table(store)
    question = next(each for each in questions(table) if each.id == "T13")
    report = question.compute(table.view(), Options())
    assert "bottom right vs top left" in set(shown["family"])
    report["shown"] = report["label"].where(report["of"] == CONTRAST, report["family"])
    both = report.merge(shown, left_on=["evaluator", "corpus", "shown"], right_on=["evaluator", "corpus", "family"])
    assert len(both) == len(report) == len(shown)
    for name, page in (("value", "risk"), ("low_x", "low_y"), ("high_x", "high_y"), ("n_items_x", "n_items_y")):
        assert both[page].tolist() == pytest.approx(both[name].tolist())


@pytest.mark.usefixtures("demo")
def test_what_is_reversed_stands_in_words_beside_the_null_edits(open_page: Open) -> None:
    table = unfolded(open_page(PAGE)).dataframe[2].value
    assert len(table) == 39
    assert table["said"].str.contains(REVERSED).all()
    known = table.dropna(subset=["low"])
    assert len(known) >= 18
    assert table.loc[table["low"].isna(), "note"].str.startswith("no interval").all()
    assert ((known["low"] <= known["d"]) & (known["d"] <= known["high"])).all()
    assert table["null_d"].notna().all()


@pytest.mark.usefixtures("demo")
def test_the_unit_changes_the_sentence_and_the_distance(open_page: Open) -> None:
    app = unfolded(open_page(PAGE, gap="1"))
    wide = app.dataframe[0].value
    assert "interquartile range" in said(app)
    own = unfolded(open_page(PAGE, gap="1", unit="scale"))
    assert "span of the score's own scale" in said(own)
    assert set(own.dataframe[0].value["d"]) == {0.01, 0.1}
    assert set(wide["d"]) != {0.01, 0.1}


@pytest.mark.usefixtures("demo")
def test_one_of_the_paper_s_gaps_moves_the_slider(open_page: Open) -> None:
    app = open_page(PAGE)
    app.pills(key="flip.standard").set_value(0.003).run()
    assert not app.exception
    assert app.session_state["flip.gap"] == 0.003
    assert "at a gap of 0.3 %" in said(app)


@pytest.mark.usefixtures("demo")
def test_filters_make_every_number(open_page: Open) -> None:
    app = unfolded(open_page(PAGE, families="rotation", evaluators="conse-lite0"))
    assert app.dataframe[0].value["family"].tolist() == ["rotation by ±10°", "rotation"]
    assert app.dataframe[2].value["said"].str.startswith("differences below").all()
    app = unfolded(open_page(PAGE, gap="77", families="nothing"))
    assert "could not be restored" in said(app)
    assert "the usual one is shown" in said(app)


def test_where_a_run_holds_two_captions_of_a_picture_the_page_says_what_the_report_says(
    open_page: Open,
) -> None:
    probes, rng = ["identity", "vflip", "null:shift1"], np.random.default_rng(0)
    rows = [
        row
        for subject, clean in zip(("template", "human"), rng.uniform(0.2, 0.9, (2, 80)), strict=True)
        for row in scores_of(probes, 80, lambda _, item, of=clean: of[item] + rng.normal(0, 0.05), subject=subject)
    ]
    with Store.open(write_run(results_dir() / "r", rows)) as store:
        table = read_table(store)
        asked = {each.id: each for each in questions(table)}
        gaps, ties = (asked[name].compute(table.view(), Options()) for name in ("S24", "S-turned"))
    app = unfolded(open_page(PAGE))
    assert not app.exception
    shown, told = app.dataframe[2].value, said(app)
    for page, report in (("d", "value"), ("apart_d", "apart_d"), ("n_items", "n_items")):
        assert shown[page].tolist() == pytest.approx(gaps[report].tolist())
    assert shown["pairs"].tolist() == gaps["pairs"].tolist() == ["same picture"] * len(gaps)
    assert f"{REVERSED} by some kind of harmless edit" in told
    near = ties[(ties["family"] == "every family") & (ties["told_of"] == "5 % or more")].iloc[0]
    assert (
        f"of {near['n_pairs']} near ties of {near['n_items']} pictures **{near['turned']:.0f} %** really turned" in told
    )
    assert f"where {near['told']:.0f} % was told" in told
    assert "For captions of two different pictures" in told


@pytest.mark.usefixtures("demo")
def test_a_link_to_two_systems_of_the_readers_own_leads_to_where_captioners_are_ranked(open_page: Open) -> None:
    asked = {"source": "captions", "judge": "conse-lite0", "edits": "vflip", "count": "3", "ties": "no"}
    app = open_page(PAGE, show="systems", **asked)
    assert not app.exception
    assert "Rank your own captions" in [each.value for each in app.header]
    assert "3 systems, 3 pictures, 9 captions, 1 edit" in said(app)
    assert app.multiselect(key="systems.judges").value == ["conse-lite0"]
    assert "no part of this page's link" not in said(app)


def test_families_that_ask_for_the_same_gap_are_all_named(open_page: Open) -> None:
    probes = ["identity", "hflip", "rotate-5", "vflip"]
    rows = scores_of(
        probes,
        60,
        lambda probe, item: (
            item % 5 / 5 + (0.1 if probe == "vflip" and item % 3 else 0.2 * (probe != "identity" and item % 2))
        ),
    )
    write_run(results_dir() / "r", rows)
    app = unfolded(open_page(PAGE))
    assert not app.exception
    gaps = app.dataframe[2].value.set_index("family")["d"]
    assert gaps["horizontal-flip"] == gaps["rotation"] > gaps["vertical-flip"]
    assert app.dataframe[1].value["because"].tolist() == ["Mirrored and Turned"]


@pytest.mark.usefixtures("demo")
def test_the_page_says_how_often_and_the_gap_that_each_evaluator_needs(open_page: Open) -> None:
    app = unfolded(open_page(PAGE))
    found = app.dataframe[2].value
    shown = said(app)
    risks = app.dataframe[0].value
    most = risks[risks["family"] == "vertical-flip"]["risk"]
    assert len(most) == 3
    assert most.min().round() < most.max().round()  # their intervals overlap: no order is said
    span = f"{most.min():.0f} to {most.max():.0f} %"
    assert "Take two captions of different pictures, one ahead by" in shown
    assert f"*Upside down* puts the other ahead in **{span}** of pairs, under all 3 metrics." in shown
    largest = app.dataframe[1].value.set_index("evaluator")
    for name, own in found.groupby("evaluator"):
        worst = own.loc[own["d"].idxmax()]
        row = largest.loc[name]
        assert (row["d"], row["n_items"]) == (worst["d"], worst["n_items"])
        assert row["because"] == family_title(worst["family"])
        assert row["low"] < worst["low"] < worst["high"] < row["high"]  # it was picked after seeing them all
    assert shown.index("puts the other ahead") < shown.index(REVERSED)


@pytest.mark.usefixtures("demo")
def test_one_thing_has_one_name_and_what_the_paper_compares_says_that_it_is_the_papers(open_page: Open) -> None:
    app = open_page(PAGE)
    drawn = json.dumps([json.loads(chart.proto.spec) for chart in app.get("plotly_chart")], ensure_ascii=False)
    labels = {
        each
        for chart in app.get("plotly_chart")
        for name, axis in json.loads(chart.proto.spec)["layout"].items()
        if name.startswith("yaxis")
        for each in axis.get("ticktext") or ()
    }
    words = {each.replace("<br>", " ") for each in labels}
    assert {"Upside down", "Moved"} <= words
    assert not {*CONTRASTS, *CONTRASTS.values(), "reposition", "vertical-flip"} & words - {"Upside down"}
    named = unfolded(app).dataframe[0].proto.arrow_data.styler.display_values
    assert "Bottom right, not top left (paper’s contrast)".encode() in named
    assert "vertical flip" not in said(app)
    assert "Upside down" in drawn


@pytest.mark.usefixtures("demo")
def test_a_cell_and_a_line_open_the_pairs_of_their_family(open_page: Open) -> None:
    app = unfolded(open_page(PAGE, categories="animal"))
    for chart in ("flip.map", "flip.curves"):
        marks = {json.loads(each).get("families"): each for each in marks_that_open(app, chart)}
        assert {"vertical-flip", "reposition", "cultural", "null"} <= set(marks)
        (link,) = (link for label, link in ways(click(app, chart, marks["vertical-flip"])).items() if "Upside" in label)
        assert link["view"] == "failures"
        assert (link["families"], link["categories"], link["corpus"]) == ("vertical-flip", "animal", "demo")
    assert not [each for each in marks_that_open(app, "flip.map") if "probes" in json.loads(each)]


def test_metrics_that_flip_apart_are_told_one_by_one_and_one_that_never_does_flips_none(open_page: Open) -> None:
    probes, rows = ["identity", "vflip"], []
    for name, far in (("calm", 0.01), ("wild", 0.9)):
        rows += scores_of(
            probes, 60, lambda probe, item, far=far: item + (probe == "vflip") * far * 9 * (item % 4), evaluator=name
        )
    write_run(results_dir() / "r", rows)
    told = said(open_page(PAGE, gap="5"))
    assert re.search(
        r"puts the other ahead in \*\*\d+ %\*\* of pairs under wild and \*\*0 %\*\* of pairs under calm\.", told
    )
    assert "No harmless edit puts the other ahead in any pair." in said(open_page(PAGE, gap="5", evaluators="calm"))
