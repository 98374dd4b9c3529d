"""What one gets of a calibration, in words: true of the numbers beside them."""

import math
import re

import pandas as pd

from pages.views.calibration.measured_calibration import lead, rests_on, surely
from tests.pages.opening import CALIBRATION, Open, said, unfolded


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
    return plain(lead(pd.DataFrame(rows), "e"))


def plain(text: str) -> str:
    return text.replace("\\", "").replace("\N{NO-BREAK SPACE}", " ").replace("\N{WORD JOINER}", "")


def under(*rows: dict[str, object]) -> str:
    return rests_on(pd.DataFrame(rows), 0.5, "measured").replace("\\", "")


def test_a_word_that_may_be_true_is_not_called_harmless() -> None:
    rows = (row("axis sensitivity", "societal", 0.4, 0.3, low=0.6, high=0.9), row("sensitivity", "gender", 0.4, 0.3))
    named = pd.DataFrame([rows[0], {**rows[1], "axis": "societal"}])
    assert plain(lead(named, "e")) == "Societal edits (Gender words) move e 25 % less (95 % interval 10–40 %)."


def test_less_more_and_the_same_are_said_as_what_they_are() -> None:
    rows = (
        row("axis sensitivity", "spatial", 0.4, 0.3, low=0.6, high=0.9),
        row("axis sensitivity", "societal", 0.2, 0.25, low=0.9, high=1.4),
        row("axis sensitivity", "object", 0.3, 0.3, low=0.8, high=1.2),
        row("axis sensitivity", "surface", 0.2, 0.3, low=1.2, high=1.8),
        row("spearman", "human ratings", 0.81, 0.79),
        row("spearman", "f", 0.9, 0.91),
    )
    assert told(*rows) == (
        "Harmless spatial edits move e 25 % less (95 % interval 10–40 %), societal edits 25 % more (10 % less to 40 % "
        "more, which may be chance), object edits as far as before (20 % less to 20 % more, which may be chance), "
        "surface edits 50 % more (20–80 %); rank agreement with 1 other metric and human ratings changes by about "
        "−0.02 to +0.01."
    )
    assert under(*rows) == (
        "Strength 0.5, measured, on 40 pictures not used for fitting. Typical change: spatial 0.400 → 0.300 SD, "
        "societal 0.200 → 0.250 SD, object 0.300 → 0.300 SD and surface 0.200 → 0.300 SD. Rank agreement (Spearman) "
        "with human ratings 0.810 → 0.790; with f 0.900 → 0.910."
    )


def test_kinds_of_edits_are_sure_by_the_interval_of_what_is_left() -> None:
    axis = row("axis sensitivity", "a", 0.4, 0.2)
    kinds = [
        row("sensitivity", name, 0.4, 0.2, low=low, high=high)
        for name, low, high in (("vertical-flip", 0.2, 1.0), ("rotation", 0.3, 0.9), ("null", 1.1, 1.4))
    ]
    first = "Compared picture by picture, "
    sure = "the fall is clear for Turned and a rise is clear for Invisible edits, neither for Upside down."
    assert plain(surely(pd.DataFrame([axis, *kinds]))) == first + sure
    assert surely(pd.DataFrame([axis, *kinds[:1]])) == ""
    assert plain(surely(pd.DataFrame([axis, *kinds, *kinds[1:]]))) == first + (
        "the fall is clear for 2 of 5 kinds of edits and a rise is clear for 2 of 5 kinds of edits, neither for "
        "1 of 5 kinds of edits."
    )
    assert plain(surely(pd.DataFrame(kinds[:2]))) == first + "the fall is clear for Turned, not for Upside down."
    unsure = first + "neither a fall nor a rise is clear for any of them."
    assert plain(surely(pd.DataFrame([kinds[0], kinds[0]]))) == unsure


def test_agreement_is_said_to_a_hundredth_as_a_fall_a_rise_or_neither() -> None:
    axis = row("axis sensitivity", "a", 0.4, 0.2)

    def ends(*pairs: tuple[float, float]) -> str:
        return told(axis, *(row("spearman", f"f{place}", *pair) for place, pair in enumerate(pairs))).partition("; ")[2]

    assert ends((0.8, 0.9)) == "rank agreement with 1 other metric rises by about 0.10."
    assert ends((0.8, 0.8)) == "rank agreement with 1 other metric hardly changes."
    assert ends((0.944, 0.937), (0.837, 0.827)) == "rank agreement with 2 other metrics falls by about 0.01."
    assert ends((0.9, 0.9), (0.8, 0.77)) == "rank agreement with 2 other metrics falls by about 0.00 to 0.03."


def test_up_to_four_kinds_of_edits_are_named() -> None:
    axis = row("axis sensitivity", "spatial", 0.4, 0.2)
    kind = {**row("sensitivity", "rotation", 0.4, 0.2), "axis": "spatial"}
    assert told(axis, kind) == "Harmless spatial edits (Turned) move e 50 % less (no interval)."
    assert told(axis, *[kind] * 5) == "Harmless spatial edits move e 50 % less (no interval)."


def test_axes_of_several_counts_name_the_range() -> None:
    first, second = row("axis sensitivity", "a", 1, 0.5, n=20), row("axis sensitivity", "b", 1, 0.5, n=1_200)
    assert "on 20 to 1,200 pictures not used for fitting." in under(first, second)


def test_where_nothing_is_known_nothing_is_said() -> None:
    for nothing in (
        (row("axis sensitivity", "a", math.nan, math.nan), row("axis sensitivity", "b", 0.0, 0.0)),
        (row("spearman", "people", 0.8, 0.8),),
        (row("axis sensitivity", "a", 0.3, math.nan),),
    ):
        assert told(*nothing) == under(*nothing) == ""
    some = (
        row("axis sensitivity", "a", 0.4, 0.2, n=12),
        row("axis sensitivity", "b", 0.4, math.nan, n=3),
        row("spearman", "people", math.nan, math.nan),
    )
    assert told(*some) == "Harmless a edits move e 50 % less (no interval)."
    assert under(*some) == (
        "Strength 0.5, measured, on 12 pictures not used for fitting. Typical change: a 0.400 → 0.200 SD."
    )


def test_the_page_begins_with_it(open_page: Open, demo: object) -> None:
    app = open_page(CALIBRATION)
    first = said(app).replace("\N{WORD JOINER}", "")
    assert re.search(
        r"\*\*Harmless spatial edits \(Mirrored, Turned, Upside down\) move conse-lite0 \d+\s% less "
        r"\(95\s% interval \d+–\d+\s%\); "
        r"rank agreement with 2 other metrics falls by about 0\.01\.",
        first,
    )
    assert "Compared picture by picture, the fall is clear for Mirrored and Turned, not for Upside down." in first
    assert "Scoring takes 7 times as long: each picture and 6 variants of it." in first
    [below] = [each for each in app.caption if each.value.startswith("Pictures not used for fitting")]
    assert "Best: the largest fall in change that keeps agreement within 0.01" in below.value
    assert "Not tested: whether it still notices wrong captions." in first
    assert "To test it, run `python -m core audit" in first
    assert "--evaluators conse-lite0,conse-lite0-calibrator.json" in first


def test_the_page_opens_on_a_measured_reading_under_which_agreement_moves(open_page: Open, demo: object) -> None:
    told = said(unfolded(open_page(CALIBRATION), "Each kind of edit"))
    assert "Calibrated for edits that need the picture alone: Mirrored, Turned and Upside down" in told
    assert "measured, on 116 pictures not used for fitting" in told
    changes = re.findall(r"with \S+ (0\.\d{3}) → (0\.\d{3})", told)
    assert changes
    assert all(before != after for before, after in changes)


def test_options_are_folded_and_another_strength_has_its_own_sentence(open_page: Open, demo: object) -> None:
    app = open_page(CALIBRATION)
    (options,) = (each for each in app.expander if each.label.startswith("Method"))
    assert {each.label for each in options.get("button_group")} >= {"Reading", "Weights", "ε"}
    assert not options.proto.expanded
    usual, other = (
        [each.value for each in one.markdown if each.value.startswith("**Harmless spatial edits")]
        for one in (app, open_page(CALIBRATION, strength="0.05"))
    )
    assert len(usual) == len(other) == 1
    assert usual != other


def test_few_held_out_items_are_said_before_any_number(open_page: Open, demo: object) -> None:
    app = open_page(CALIBRATION, categories="appliance")
    assert not app.exception
    drawn = [str(each.value).replace("\\", "") for each in app.main if each.type in ("warning", "markdown")]
    few = next(place for place, text in enumerate(drawn) if "items are held out" in text)
    first = next(place for place, text in enumerate(drawn) if "Harmless" in text and " move " in text)
    assert few < first
