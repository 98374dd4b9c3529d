"""Find: a page, a finding, an evaluator, an item or a word, from any page."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from pages.views.common.text import glossary
from tests.pages.opening import FLIP_RISK, HUMAN, OVERVIEW, Open


def opened(app: AppTest) -> AppTest:
    app.button(key="find").click().run()
    assert not app.exception
    return app


def offered(app: AppTest) -> list[str]:
    return list(app.selectbox(key="find.chosen").options)


def test_every_kind_is_offered(open_page: Open, demo: Path) -> None:
    names = offered(opened(open_page(FLIP_RISK)))
    assert "Page · Calibrate · Calibration" in names
    assert "Evaluator · grounding-judge" in names
    assert sum(name.startswith("Item · ") for name in names) == 252
    assert sum(name.startswith("Finding · ") for name in names) == 3
    assert sum(name.startswith("Word · ") for name in names) == len(glossary())


def test_without_a_run_pages_and_words_are_left(open_page: Open) -> None:
    kinds = {name.partition(" · ")[0] for name in offered(opened(open_page(OVERVIEW)))}
    assert kinds == {"Page", "Word"}


def test_an_annotator_has_no_box(open_page: Open, demo: Path) -> None:
    app = open_page(HUMAN, token="nobody")
    assert not [each for each in app.button if each.key == "find"]


def test_the_box_stays_open_when_the_page_runs_again(open_page: Open) -> None:
    app = opened(open_page(OVERVIEW))
    assert offered(app.run())
    place = next(name for name in offered(app) if name.startswith("Word · "))
    app.selectbox(key="find.chosen").select(place).run()
    assert not app.exception
    assert not [each for each in app.run().selectbox if each.key == "find.chosen"]
