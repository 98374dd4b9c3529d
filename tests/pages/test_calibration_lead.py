"""What one gets of a calibration, in words: true of the numbers beside them."""

import math
import re

import pandas as pd

from pages.views.calibration.calibration_sweep import lead
from tests.pages.opening import CALIBRATION, Open, said


def row(
    measure: str, name: str, before: float, after: float, *, n: int = 40, low: float = math.nan, high: float = math.nan
) -> dict[str, object]:
    return {
        "measure": measure,
        "axis": name,
        "name": name,
        "before": before,
        "after": after,
        "n": n,
        "ratio_low": low,
        "ratio_high": high,
    }


def told(*rows: dict[str, object]) -> str:
    return lead(pd.DataFrame(rows), 0.5, "measured").replace("\\", "")


def test_less_more_and_the_same_are_said_as_what_they_are() -> None:
    assert told(
        row("axis sensitivity", "spatial", 0.4, 0.3, low=0.6, high=0.9),
        row("axis sensitivity", "societal", 0.2, 0.25, low=0.9, high=1.4),
        row("axis sensitivity", "object", 0.3, 0.3, low=0.8, high=1.2),
        row("spearman", "people", 0.81, 0.79),
    ) == (
        "**Spatial edits change the score 25 % less (0.400 → 0.300 SD; after / before 0.60 to 0.90), societal edits "
        "change the score 25 % more, which may be chance (0.200 → 0.250 SD; after / before 0.90 to 1.40) and object "
        "edits change the score as far as before (0.300 → 0.300 SD; after / before 0.80 to 1.20)** at strength 0.5, "
        "measured, on 40 held-out items. Rank agreement (Spearman): with people −0.020 (0.810 → 0.790)."
    )


def test_axes_of_several_counts_name_the_range() -> None:
    first, second = row("axis sensitivity", "a", 1, 0.5, n=20), row("axis sensitivity", "b", 1, 0.5, n=1_200)
    assert "on 20 to 1,200 held-out items." in told(first, second)


def test_where_nothing_is_known_nothing_is_said() -> None:
    assert told(row("axis sensitivity", "a", math.nan, math.nan), row("axis sensitivity", "b", 0.0, 0.0)) == ""
    assert told(row("spearman", "people", 0.8, 0.8)) == ""
    assert told(row("axis sensitivity", "a", 0.3, math.nan)) == ""
    some = told(
        row("axis sensitivity", "a", 0.4, 0.2, n=12),
        row("axis sensitivity", "b", 0.4, math.nan, n=3),
        row("spearman", "people", math.nan, math.nan),
    )
    assert some == (
        "**A edits change the score 50 % less (0.400 → 0.200 SD; no interval)** at strength 0.5, measured, on 12 "
        "held-out items."
    )


def test_the_page_begins_with_it(open_page: Open, demo: object) -> None:
    first = said(open_page(CALIBRATION))
    assert "held-out items. Rank agreement (Spearman): with" in first


def test_the_page_opens_on_a_measured_reading_under_which_agreement_moves(open_page: Open, demo: object) -> None:
    told = said(open_page(CALIBRATION))
    assert "Calibrated for edits that need the picture alone: Mirrored, Turned and Upside down" in told
    assert "measured, every score scored" in told
    changes = [float(each) for each in re.findall(r"with \S+ [+−](0\.\d{3})", told)]
    assert changes
    assert min(changes) > 0


def test_options_are_folded_below_the_sentence_and_another_strength_has_its_own(open_page: Open, demo: object) -> None:
    app = open_page(CALIBRATION)
    (options,) = (each for each in app.expander if each.label.startswith("Method"))
    assert {each.label for each in options.get("button_group")} >= {"Reading", "Weights", "ε"}
    assert not options.proto.expanded
    inside = {each.value for each in options.markdown}
    sentences = [each for each in app.markdown if "held-out items. Rank agreement" in each.value]
    assert len(sentences) == 1
    assert sentences[0].value not in inside
    other = open_page(CALIBRATION, strength="0.05")
    assert len([each for each in other.markdown if "held-out items. Rank agreement" in each.value]) == 2


def test_few_held_out_items_are_said_before_any_number(open_page: Open, demo: object) -> None:
    app = open_page(CALIBRATION, categories="appliance")
    assert not app.exception
    drawn = [str(each.value).replace("\\", "") for each in app.main if each.type in ("warning", "markdown")]
    few = next(place for place, text in enumerate(drawn) if "items are held out" in text)
    first = next(place for place, text in enumerate(drawn) if "edits change the score" in text)
    assert few < first
