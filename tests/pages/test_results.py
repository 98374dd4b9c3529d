"""The results page on the shipped run: every part, every switch, what the filters do, and links of any kind."""

import json
import re
import shutil
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from core.settings import ROOT, results_dir
from tests.manifests import edit_manifest
from tests.pages.opening import RESULTS, Open, said, texts

PARTS = [
    {"question": "space"}, {"part": "contrasts"}, {"part": "reposition"}, {"part": "rotation"}, {"part": "distance"},
    {"question": "object"}, {"question": "object", "part": "category"}, {"question": "object", "part": "map"},
    {"whole": "yes"}, {"question": "words", "part": "not audited"},
    {"question": "words"}, {"question": "words", "part": "cultural"}, {"question": "words", "part": "economic"},
    {"question": "words", "part": "gender"}, {"question": "words", "part": "emotion"},
    {"question": "words", "part": "crossed"}, {"question": "words", "part": "crossed", "under": "economic"},
    {"question": "corpora"}, {"question": "summary"}, {"question": "summary", "part": "agreement"},
    {"question": "summary", "part": "controls"}, {"question": "summary", "part": "runs"},
]  # fmt: skip


def tables(app: AppTest) -> list:
    return [each.value for each in app.dataframe]


@pytest.mark.parametrize("query", PARTS, ids=lambda query: "-".join(query.values()))
def test_every_part_is_drawn(open_page: Open, demo: Path, query: dict[str, str]) -> None:
    app = open_page(RESULTS, **query)
    assert not app.exception
    assert not app.error
    assert not [each.value for each in app.warning]
    for chart in app.get("plotly_chart"):
        assert chart.proto.alt
    for table in app.get("arrow_data_frame"):
        assert table.proto.alt


def test_numbers_come_with_n_interval_test_and_verdict(open_page: Open, demo: Path) -> None:
    app = open_page(RESULTS)
    table, control, filling = tables(app)
    assert set(control["evaluator"]) == set(filling["evaluator"]) == set(table["evaluator"])
    assert {"value", "interval", "n_items", "drift", "scatter", "test", "p", "p_holm", "cliffs_delta"} <= set(table)
    assert "Holm's correction is over the families of its axis: 5 tests" in said(app)
    assert set(table.loc[table["m_tests"] > 0, "m_tests"]) == {5}


def test_filters_of_the_link_drive_the_numbers(open_page: Open, demo: Path) -> None:
    everything = tables(open_page(RESULTS))[0]
    animals = tables(open_page(RESULTS, categories="animal", evaluators="conse-lite0"))[0]
    assert set(animals["evaluator"]) == {"conse-lite0"}
    assert animals["n_items"].max() < everything["n_items"].max()


@pytest.mark.parametrize(
    ("part", "row", "chosen"),
    [
        ({}, "label", {"families": "vertical-flip,rotation"}),
        ({"question": "words", "part": "gender"}, "label", {"modifiers": "female"}),
        ({"question": "object", "part": "category"}, "level", {"categories": "animal,food"}),
    ],
)
def test_a_filter_of_rows_changes_no_corrected_p_value(
    open_page: Open, demo: Path, part: dict[str, str], row: str, chosen: dict[str, str]
) -> None:
    """The family of tests is that of the question, whatever a reader looks at: p and its m stay."""
    shared = 0
    for every, own in zip(
        tables(open_page(RESULTS, **part)), tables(open_page(RESULTS, **part, **chosen)), strict=False
    ):
        if row not in own or "m_tests" not in own:
            continue
        both = own.merge(every, on=["evaluator", row], suffixes=("", "_every"))
        assert len(own) < len(every)
        assert len(both) == len(own)
        assert list(both["p_holm"]) == list(both["p_holm_every"])
        assert list(both["m_tests"]) == list(both["m_tests_every"])
        shared += int((both["m_tests"] > 1).sum())
    assert shared >= 2


def test_a_filter_that_leaves_nothing_says_so(open_page: Open, demo: Path) -> None:
    assert "The filters leave nothing of “Reposition: how much each probe changes the score”" in said(
        open_page(RESULTS, part="reposition", axes="societal")
    )


@pytest.mark.parametrize("measure", ["standardised", "delta"])
def test_the_measure_can_be_changed_and_the_claims_stay(open_page: Open, demo: Path, measure: str) -> None:
    percent, other = tables(open_page(RESULTS))[0], tables(open_page(RESULTS, measure=measure))[0]
    assert list(percent["drift"]) == list(other["drift"])
    assert list(percent["value"]) != list(other["value"])


def test_raw_scales_never_share_an_axis(open_page: Open, demo: Path) -> None:
    figure = json.loads(open_page(RESULTS, measure="delta").get("plotly_chart")[0].proto.spec)
    axes = {trace["xaxis"] for trace in figure["data"]}
    assert len(axes) == 3
    assert not any(figure["layout"][name.replace("x", "xaxis")].get("matches") for name in axes)


def test_the_margin_decides_what_is_called_invariant(open_page: Open, demo: Path) -> None:
    narrow, wide = (tables(open_page(RESULTS, margin=margin))[0]["drift"] for margin in ("0.1", "20"))
    small = "no drift beyond the margin", "drifts one way, within the margin"
    assert narrow.isin(small).sum() < wide.isin(small).sum()


def test_a_word_can_be_held_against_the_bare_caption(open_page: Open, demo: Path) -> None:
    neutral = tables(open_page(RESULTS, question="words", part="cultural"))[0]
    app = open_page(RESULTS, question="words", part="cultural", against="bare")
    assert app.session_state["results.against"] == "bare"
    assert list(neutral["value"]) != list(tables(app)[0]["value"])


def test_few_items_have_no_verdict(open_page: Open, demo: Path) -> None:
    (table,) = tables(open_page(RESULTS, question="words", part="crossed", under="economic"))
    few = table["n_items"] < 10
    assert few.any()
    assert set(table.loc[few, "drift"]) == {"too few items"}


def test_mixed_effects_stand_beside_the_contrasts_of_the_paper(open_page: Open, demo: Path) -> None:
    app = open_page(RESULTS, part="contrasts", evaluators="conse-lite0")
    assert not app.exception
    fitted = [table for table in tables(app) if "beta" in table]
    assert [len(table) for table in fitted] == [1, 2, 5]
    for table in fitted:
        ends = table["beta_interval"].str.replace("−", "-").str.split(" to ", expand=True).astype(float)
        assert ends[0].lt(ends[1]).all()


def test_one_corpus_cannot_answer_the_question_on_corpora(open_page: Open, demo: Path) -> None:
    app = open_page(RESULTS, question="corpora")
    assert "It compares corpora and the scope has one, demo" in said(app)
    assert any("core audit --corpus coco" in each.value for each in app.code)


def test_two_corpora_are_held_against_each_other(open_page: Open, demo: Path) -> None:
    second_corpus(demo)
    app = open_page(RESULTS, question="corpora")
    assert not app.exception
    (effects,) = tables(app)
    assert set(effects["corpus"]) == {"demo", "other"}
    for reference, held in (("demo", "other"), ("other", "demo")):
        (agreement,) = tables(open_page(RESULTS, question="corpora", part="directions", reference=reference))
        assert set(agreement["corpus"]) == {held}
        assert agreement["agreement"].dropna().between(0, 100).all()
    assert len(tables(open_page(RESULTS, question="corpora", part="subsets"))) == 3


def test_no_run_says_what_to_do(open_page: Open) -> None:
    text = texts(open_page(RESULTS))
    assert "No runs yet" in text
    assert "python -m core audit" in text


def test_nonsense_in_a_link_is_told_and_the_usual_view_shown(open_page: Open, demo: Path) -> None:
    app = open_page(
        RESULTS, margin="-4", question="life", measure="taste", against="time", of="nobody", part="x" * 4000
    )
    assert not app.exception
    assert "Part of the link could not be restored" in texts(app)
    assert tables(app)


def test_a_view_is_pinned_for_the_comparison(open_page: Open, demo: Path) -> None:
    app = open_page(RESULTS, question="words", part="cultural", evaluators="conse-lite2")
    next(button for button in app.button if button.label == "Pin as A").click()
    app.run()
    assert app.session_state["compare.pinned"] == {
        "a_run": "demo",
        "a_corpus": "demo",
        "a_subject": "template",
        "a_language": "en",
        "a_families": "cultural",
        "a_evaluator": "conse-lite2",
    }


def second_corpus(demo: Path) -> None:
    """Write the demo run once more under the name of another corpus."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    other = demo.with_name("other")
    shutil.copytree(demo, other)
    told = json.loads((other / "manifest.json").read_text("utf-8"))
    edit_manifest(other, run="other", corpus=told["corpus"] | {"name": "other"})
    for file in other.glob("*/*.parquet"):
        table = pq.read_table(file)
        for column in ("run", "corpus"):
            place = table.schema.get_field_index(column)
            table = table.set_column(place, table.schema.field(column), pa.array(["other"] * len(table), pa.string()))
        pq.write_table(table, file, write_page_checksum=True)


def test_a_family_s_evaluators_stand_beneath_each_other_on_bands(open_page: Open, demo: Path) -> None:
    drawn = open_page(RESULTS).dataframe[0]
    table = drawn.value
    assert list(table.columns[:2]) == ["label", "evaluator"]
    blocks = table["label"].ne(table["label"].shift()).cumsum()
    assert blocks.max() == table["label"].nunique() > 2
    assert set(table.groupby(blocks)["evaluator"].nunique()) == {3}
    banded = set(re.findall(r"row(\d+)_col0\b", drawn.proto.arrow_data.styler.styles))
    assert {int(each) for each in banded} == set(table.index[blocks % 2 == 0])


def test_evaluators_can_have_a_panel_each(open_page: Open, demo: Path) -> None:
    one, other = (
        json.loads(open_page(RESULTS, **query).get("plotly_chart")[0].proto.spec) for query in ({}, {"facets": "yes"})
    )
    assert len([each for each in one["layout"] if each.startswith("xaxis")]) == 1
    assert len([each for each in other["layout"] if each.startswith("xaxis")]) == 3
    assert len(one["data"]) == len(other["data"]) == 3


def test_what_another_run_holds_is_one_click_away_and_what_was_not_audited_stands_last(open_page: Open) -> None:
    for run in ("demo", "demo-scenes"):
        shutil.copytree(ROOT / "data/results" / run, results_dir() / run)
    app = open_page(RESULTS, question="surface")
    assert not app.exception
    parts = next(each for each in app.button_group if "Not audited" in each.options).options
    assert parts[-1] == "Not audited"
    (way,) = [each.proto for each in app.get("page_link") if each.proto.label.startswith("Show run")]
    there = open_page(RESULTS, **dict(parse_qsl(way.query_string)))
    assert not there.exception
    assert not [each for each in there.info if "leaves out" in each.value]
    assert there.get("plotly_chart")


def test_what_compares_corpora_is_filled_from_the_runs_that_ship(open_page: Open) -> None:
    for run in ("demo", "demo-scenes"):
        shutil.copytree(ROOT / "data/results" / run, results_dir() / run)
    app = open_page(RESULTS, question="corpora", part="subsets")
    assert not app.exception
    assert {f"collect.figure.{name}" for name in ("F9", "F10")} <= {each.key for each in app.button}
    told = [each.value for each in app.dataframe]
    assert [set(each["corpus"]) for each in told] == [{"demo", "demo-scenes"}] * 3  # tables 9 to 11
    (agreement,) = (each.value for each in open_page(RESULTS, question="corpora", part="directions").dataframe)
    assert {"vertical flip", "cultural subset", "economic subset"} <= set(agreement["family"])
    assert set(agreement["corpus"]) == {"demo-scenes"}


def test_the_first_figure_shows_how_far_scores_move_as_the_sentence_above_says(open_page: Open, demo: Path) -> None:
    """A signed median near 0 hides edits that move every score, half up and half down."""
    app = open_page(RESULTS)
    assert "collect.figure.F-spatial-size" in {each.key for each in app.button}
    (measure,) = (each for each in app.button_group if each.label == "Measure")
    measure.set_value("percent").run()
    keys = {each.key for each in app.button}
    assert "collect.figure.F-spatial" in keys
    assert "collect.figure.F-spatial-size" not in keys
    assert app.query_params["measure"] == "percent"
