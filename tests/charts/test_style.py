import math
import tomllib
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.charts.spec import (
    _FIXED,
    AROUND,
    AROUND_DARK,
    CHALK,
    COLUMNS,
    INK,
    ON_DARK,
    PALETTE,
    SYMBOLS,
    UPWARD,
    UPWARD_DARK,
    Figure,
    Style,
    colours,
    faded,
    on_dark,
    plain,
    signed,
    symbols,
)
from core.evaluators.registry import catalogue

CONFIG = tomllib.loads((Path(__file__).resolve().parents[2] / ".streamlit" / "config.toml").read_text("utf-8"))


def luminance(colour: str) -> float:
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("colour", PALETTE)
def test_every_colour_can_be_told_from_both_backgrounds(theme: str, colour: str) -> None:
    assert contrast(colour, CONFIG["theme"][theme]["backgroundColor"]) >= 3


@pytest.mark.parametrize("colour", [*ON_DARK])
def test_a_colour_that_is_dim_on_a_dark_page_has_a_lighter_one_there(colour: str) -> None:
    dark = CONFIG["theme"]["dark"]["backgroundColor"]
    assert contrast(colour, dark) < 6 <= contrast(ON_DARK[colour], dark)
    assert colour in PALETTE
    assert len({ON_DARK.get(each, each) for each in PALETTE}) == len(PALETTE)
    marks = pd.DataFrame([("a", "e", "", 1.0, 0.5, 2.0, 7)], columns=list(COLUMNS))
    figure = on_dark(Figure("f", "", "", marks, "x", styles={"e": Style(colour, "square", width=2.4)}))
    assert figure.styles == {"e": Style(ON_DARK[colour], "square", width=2.4)}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_and_links_can_be_read_on_both_backgrounds(theme: str) -> None:
    chosen = CONFIG["theme"][theme]
    for ground in ("backgroundColor", "secondaryBackgroundColor"):
        for ink in ("textColor", "linkColor", "grayTextColor"):
            assert contrast(chosen[ink], chosen[ground]) >= 4.5, (ink, ground)


def test_the_theme_and_the_figures_share_one_palette() -> None:
    assert tuple(CONFIG["theme"]["chartCategoricalColors"]) == PALETTE


@given(st.lists(st.text(min_size=1), unique=True, max_size=len(PALETTE)))
def test_names_get_different_colours_while_colours_last(names: list[str]) -> None:
    assert len(set(colours(names).values())) == len(names)


def test_a_colour_does_not_depend_on_the_order_of_the_names() -> None:
    names = ["conse-lite0", "conse-lite2", "grounding-judge"]
    assert colours(names) == colours(reversed(names))


def test_more_names_than_colours_still_get_one() -> None:
    assert set(colours([str(number) for number in range(30)]).values()) == set(PALETTE)


@pytest.mark.parametrize(
    ("value", "text"),
    [(2.34, "+2.3 %"), (-2.34, "−2.3 %"), (0.0, "0.0 %"), (-0.001, "0.0 %"), (None, "—"), (math.nan, "—")],
)
def test_a_change_is_written_with_its_sign(value: float | None, text: str) -> None:
    assert signed(value) == text


def test_a_faded_colour_keeps_its_channels() -> None:
    assert faded("#0079BD", 0.25) == "rgba(0,121,189,0.25)"


def test_markup_in_a_label_is_shown_and_not_obeyed() -> None:
    assert plain("<b>&") == "&lt;b&gt;&amp;"


def test_markers_repeat_only_after_all_were_used() -> None:
    names = [f"e{place}" for place in range(len(SYMBOLS))]
    assert len(set(symbols(names).values())) == len(SYMBOLS)
    assert symbols(names) == symbols(reversed(names))


@pytest.mark.parametrize("colour", [*AROUND, *UPWARD])
def test_a_number_can_be_read_on_every_colour_of_a_map(colour: str) -> None:
    assert contrast(INK, colour) >= 5.5


@pytest.mark.parametrize("colour", [*AROUND_DARK, *UPWARD_DARK])
def test_a_number_can_be_read_on_every_colour_of_a_map_of_a_dark_page(colour: str) -> None:
    assert contrast(CHALK, colour) >= 5.5


@pytest.mark.parametrize(
    ("theme", "least"), [("light", [AROUND[1], UPWARD[0]]), ("dark", [AROUND_DARK[1], UPWARD_DARK[0]])]
)
def test_the_cells_of_least_value_are_close_to_the_page(theme: str, least: list[str]) -> None:
    assert all(contrast(colour, CONFIG["theme"][theme]["backgroundColor"]) <= 1.25 for colour in least)


def test_an_evaluator_that_comes_with_the_house_keeps_its_colour_whoever_arrives() -> None:
    known = [kind.spec.name for kind in catalogue()]
    alone = {name: colours([name])[name] for name in known}
    for others in (known, ["aaa", "zzz", *known], [str(number) for number in range(9)]):
        seen = colours([*others, *known])
        assert {name: seen[name] for name in known} == alone
    assert set(alone) == set(known)


@pytest.mark.parametrize(
    "together",
    [
        (
            "conse-lite0",
            "conse-lite2",
            "grounding-judge",
            "conse-multilingual",
            "offline-ensemble",
            "blind-length",
            "blind-typicality",
        ),
        ("clipscore", "pac-s", "umic", "fleur", "judge", "vqascore", "siglip", "pickscore"),
    ],
)
def test_evaluators_that_are_seen_together_differ(together: tuple[str, ...]) -> None:
    assert len(set(colours(together).values())) == len(together)


def test_every_evaluator_of_the_house_has_a_colour_of_its_own_in_the_table() -> None:
    assert {kind.spec.name for kind in catalogue()} <= set(_FIXED)
