"""The page Geometry on the results that ship, through the real text encoder."""

import json
import re

import pytest

from tests.pages.opening import FAILURES, Open, click, marks_that_open, said, ways

PAGE = "geometry"


def test_without_a_run_the_page_says_what_to_do(open_page: Open) -> None:
    app = open_page(PAGE)
    assert not app.exception
    assert "python -m core audit" in said(app)


@pytest.mark.usefixtures("demo")
def test_the_page_says_rho_p_and_how_few_the_points_are(open_page: Open) -> None:
    app = open_page(PAGE, families="cultural")
    assert not app.exception
    assert not app.error
    words = said(app)
    assert "Spearman's ρ = **0.00**, p = 1.000 (permutation test, every order tried), n = 7 modifiers." in words
    assert "7 points are few" in words
    assert (
        "No link is found between how positive a word sounds to conse-lite0 and how much it changes the score" in words
    )
    assert re.search(r"With \d+ words a true correlation of 0\.\d\d would be found 80 % of the time", words)
    assert "how much it changes the score (7 words, rank correlation 0.00)" in words
    assert "Not applicable to **grounding-judge**" in words
    chart = app.get("plotly_chart")[0]
    assert "African" in chart.proto.alt
    table = app.dataframe[0].value
    assert len(table) == 7
    assert table["projection"].between(-1, 1).all()


@pytest.mark.usefixtures("demo")
def test_phrases_are_placed_over_the_run_s_objects(open_page: Open) -> None:
    app = open_page(PAGE, families="emotion", level="phrase", evaluator="conse-lite2")
    assert not app.exception
    assert not app.error
    table = app.dataframe[0].value
    assert table["modifier"].tolist() == ["angry", "happy", "sad"]
    assert (table["n_objects"] > 1).all()
    assert "cannot give a p below 0.333" in said(app)


@pytest.mark.usefixtures("demo")
def test_the_word_lists_can_be_edited_and_bad_ones_are_told(open_page: Open) -> None:
    app = open_page(PAGE, families="cultural")
    before = app.dataframe[0].value["projection"].tolist()
    app.text_area(key="geometry.positive").set_value("splendid").run()
    assert not app.exception
    assert app.query_params["positive"] in ("splendid", ["splendid"])
    assert app.dataframe[0].value["projection"].tolist() != before
    app.text_area(key="geometry.positive").set_value(" ").run()
    assert not app.exception
    assert "positive words is empty" in "".join(error.value for error in app.error)
    app.text_area(key="geometry.positive").set_value("bad").run()
    assert "both word lists" in "".join(error.value for error in app.error)


@pytest.mark.usefixtures("demo")
def test_a_slice_without_modifiers_says_so(open_page: Open) -> None:
    app = open_page(PAGE, families="rotation")
    assert not app.exception
    assert "have no modifier" in said(app)


@pytest.mark.usefixtures("demo")
def test_a_link_of_something_else_is_told_and_the_page_stands(open_page: Open) -> None:
    app = open_page(PAGE, level="sentence", evaluator="nobody", positive="x" * 3000)
    assert not app.exception
    assert "could not be restored" in said(app)


@pytest.mark.usefixtures("demo")
def test_a_point_opens_the_pairs_of_its_modifier(open_page: Open) -> None:
    app = open_page(PAGE, families="cultural", categories="animal", evaluator="conse-lite2")
    mark = next(each for each in marks_that_open(app, "geometry.scatter") if json.loads(each)["modifiers"] == "Arab")
    link = ways(click(app, "geometry.scatter", mark))["Open these pairs: conse-lite2 · Cultural words · Arab"]
    assert link == {
        "view": "failures",
        "categories": "animal",
        "families": "cultural",
        "modifiers": "Arab",
        "evaluators": "conse-lite2",
        "corpus": "demo",
    }
    shown = open_page(FAILURES, **{name: text for name, text in link.items() if name != "page"})
    assert "could not be restored" not in said(shown)
    assert shown.session_state["failures.modifiers"] == ["Arab"]
