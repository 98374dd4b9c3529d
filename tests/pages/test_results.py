"""The results page on the shipped run: every part, every switch, what the filters do, and links of any kind."""

import json
import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.opening import RESULTS, Open, texts

PARTS = [
    {"question": "space"}, {"part": "quadrants"}, {"part": "angles"}, {"part": "distance"}, {"question": "object"},
    {"question": "object", "part": "category"}, {"question": "object", "part": "map"}, {"question": "words"},
    {"question": "words", "part": "economic"}, {"question": "words", "part": "gender"},
    {"question": "words", "part": "emotion"}, {"question": "words", "part": "crossed"},
    {"question": "words", "part": "crossed", "under": "economic"}, {"question": "corpora"},
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
    (table,) = tables(app)
    assert {"value", "low", "high", "n_items", "verdict", "test", "p", "p_holm", "cliffs_delta"} <= set(table)
    assert "Holm's correction is over the 18 tests of this table" in texts(app)


def test_filters_of_the_link_drive_the_numbers(open_page: Open, demo: Path) -> None:
    (everything,) = tables(open_page(RESULTS))
    (animals,) = tables(open_page(RESULTS, categories="animal", evaluators="conse-lite0"))
    assert set(animals["evaluator"]) == {"conse-lite0"}
    assert animals["n_items"].max() < everything["n_items"].max()


def test_a_filter_that_leaves_nothing_says_so(open_page: Open, demo: Path) -> None:
    said = texts(open_page(RESULTS, axes="societal"))
    assert "The filters leave no spatial shift" in said


@pytest.mark.parametrize("measure", ["standardised", "delta"])
def test_the_measure_can_be_changed_and_the_verdicts_stay(open_page: Open, demo: Path, measure: str) -> None:
    (percent,), (other,) = tables(open_page(RESULTS)), tables(open_page(RESULTS, measure=measure))
    assert list(percent["verdict"]) == list(other["verdict"])
    assert list(percent["value"]) != list(other["value"])


def test_raw_scales_never_share_an_axis(open_page: Open, demo: Path) -> None:
    figure = json.loads(open_page(RESULTS, measure="delta").get("plotly_chart")[0].proto.spec)
    axes = {trace["xaxis"] for trace in figure["data"]}
    assert len(axes) == 3
    assert not any(figure["layout"][name.replace("x", "xaxis")].get("matches") for name in axes)


def test_the_margin_decides_what_is_called_invariant(open_page: Open, demo: Path) -> None:
    narrow, wide = (tables(open_page(RESULTS, margin=margin))[0]["verdict"] for margin in ("0.1", "20"))
    small = "invariant within the margin", "moves, but within the margin"
    assert narrow.isin(small).sum() < wide.isin(small).sum()


def test_a_word_can_be_held_against_the_bare_caption(open_page: Open, demo: Path) -> None:
    neutral = tables(open_page(RESULTS, question="words"))[0]
    app = open_page(RESULTS, question="words", against="bare")
    assert "the caption without the word" in texts(app)
    assert list(neutral["value"]) != list(tables(app)[0]["value"])


def test_few_items_have_no_verdict(open_page: Open, demo: Path) -> None:
    (table,) = tables(open_page(RESULTS, question="words", part="crossed", under="economic"))
    few = table["n_items"] < 10
    assert few.any()
    assert set(table.loc[few, "verdict"]) == {"too few items"}


def test_mixed_effects_are_fitted_when_asked_for(open_page: Open, demo: Path) -> None:
    assert len(tables(open_page(RESULTS, mixed="yes", evaluators="conse-lite0"))) == 2


def test_one_corpus_cannot_answer_the_question_on_corpora(open_page: Open, demo: Path) -> None:
    said = texts(open_page(RESULTS, question="corpora"))
    assert "needs runs of at least two corpora" in said


def test_two_corpora_are_held_against_each_other(open_page: Open, demo: Path) -> None:
    second_corpus(demo)
    app = open_page(RESULTS, question="corpora")
    assert not app.exception
    effects, agreement = tables(app)
    assert set(effects["corpus"]) == {"demo", "other"}
    assert set(agreement["corpus"]) == {"other"}
    assert agreement["agreement"].between(0, 1).all()


def test_no_run_says_what_to_do(open_page: Open) -> None:
    said = texts(open_page(RESULTS))
    assert "No run is here yet" in said
    assert "python -m core audit" in said


def test_nonsense_in_a_link_is_told_and_the_usual_view_shown(open_page: Open, demo: Path) -> None:
    app = open_page(
        RESULTS, margin="-4", question="life", measure="taste", mixed="perhaps", of="nobody", part="x" * 4000
    )
    assert not app.exception
    said = texts(app)
    assert "Part of the link could not be restored" in said
    assert tables(app)


def test_a_view_is_pinned_for_the_comparison(open_page: Open, demo: Path) -> None:
    app = open_page(RESULTS, question="words", part="cultural", evaluators="conse-lite2")
    next(button for button in app.button if button.label == "Pin as A").click()
    app.run()
    assert app.session_state["compare.pinned"] == {"a_families": "cultural", "a_evaluator": "conse-lite2"}


def second_corpus(demo: Path) -> None:
    """Write the demo run once more under the name of another corpus."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    other = demo.with_name("other")
    shutil.copytree(demo, other)
    path = other / "manifest.json"
    told = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(told | {"run": "other", "corpus": told["corpus"] | {"name": "other"}}), "utf-8")
    for file in other.glob("*/*.parquet"):
        table = pq.read_table(file)
        for column in ("run", "corpus"):
            place = table.schema.get_field_index(column)
            table = table.set_column(place, table.schema.field(column), pa.array(["other"] * len(table), pa.string()))
        pq.write_table(table, file, write_page_checksum=True)
