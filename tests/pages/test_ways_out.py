"""What is empty offers what fills it, and a filter is claimed where it filters alone."""

import re
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.opening import (
    CALIBRATION,
    COMPARE,
    CONTRAST,
    FLIP_RISK,
    GEOMETRY,
    RESULTS,
    Open,
    collected,
    led,
    link_of,
)


def labels(app: AppTest, part: str) -> dict[str, str]:
    """Keys of the buttons that hold a part -> what stands on them."""
    return {str(each.key): each.label for each in app.button if part in str(each.key)}


def drawn(app: AppTest) -> int:
    assert not app.exception
    return len(app.get("plotly_chart"))


def test_figures_that_the_filters_empty_offer_the_edits_that_they_leave_and_the_filters_back(
    open_page: Open, demo: Path
) -> None:
    app = open_page(RESULTS, modifiers="African")
    (told,) = (each.value for each in app.info)
    assert "The filters leave nothing of “Spatial edits" in told
    assert labels(app, ".show.") == {"results.show.words": "Show word edits (636)"}
    assert labels(app, ".relax.modifiers")["results.relax.modifiers"].startswith("Without modifier African · 20,091")
    app.button(key="results.show.words").click().run()
    assert link_of(app) == {"modifiers": "African", "question": "words"}
    assert not app.info
    assert drawn(app)
    app = open_page(RESULTS, modifiers="African")
    app.button(key="results.relax.all").click().run()
    assert not link_of(app)
    assert not app.info


def test_a_filter_without_which_it_stays_empty_is_no_way_out(open_page: Open, demo: Path) -> None:
    app = open_page(RESULTS, part="rotation", axes="societal", families="cultural", categories="animal")
    assert set(labels(app, ".relax.")) == {"results.relax.all"}


def test_a_filter_that_changes_nothing_of_a_figure_is_said_there_and_not_claimed(
    open_page: Open, own_folder: None, demo: Path
) -> None:
    app = open_page(RESULTS, modifiers="African", categories="animal")
    (told,) = (each.value for each in app.caption if "Not filtered here" in each.value)
    assert "modifier African" in told
    assert "animal" not in told
    slide = collected(app, "figure.F-blur")
    assert "category animal" in slide.of
    assert "African" not in slide.of


def test_what_the_scope_leaves_out_is_offered_with_its_count(open_page: Open, both_halves: Path) -> None:
    app = open_page(CONTRAST, run="template")
    (way,) = (each.proto for each in app.get("page_link") if each.proto.label.startswith("Show run broken"))
    assert re.fullmatch(r"Show run broken, subject human \([1-9]\d*\)", way.label.replace("\\", ""))
    assert led(way) == CONTRAST
    assert dict(parse_qsl(way.query_string)).items() >= {"run": "broken", "subject": "human"}.items()


@pytest.mark.parametrize(
    ("view", "asked", "out"),
    [
        (FLIP_RISK, {"axes": "societal", "families": "vertical-flip"}, "flips.relax.axes"),
        (GEOMETRY, {"families": "vertical-flip"}, "geometry.relax.families"),
        (CALIBRATION, {"axes": "societal", "families": "vertical-flip"}, "calibration.relax.axes"),
        (COMPARE, {"a_modifiers": "African", "a_families": "vertical-flip"}, "compare.relax.a_modifiers"),
    ],
)
def test_every_page_of_numbers_offers_the_filter_back(
    open_page: Open, demo: Path, view: str, asked: dict[str, str], out: str
) -> None:
    app = open_page(view, **asked)
    assert not drawn(app)
    way = out.partition(".relax.")[2]
    (key,) = (each for each in labels(app, ".relax.") if each.endswith(f".relax.{way}"))
    app.button(key=key).click().run()
    assert drawn(app)
    assert way not in link_of(app)


def test_a_contrast_test_that_the_filters_empty_offers_them_back(open_page: Open, both_halves: Path) -> None:
    app = open_page(CONTRAST, upheld="50")
    assert not drawn(app)
    clear, *_ = labels(app, ".relax.")
    assert "(24 items)" in labels(app, ".relax.")[clear]
    app.button(key=clear).click().run()
    assert drawn(app)
    assert "upheld" not in link_of(app)
