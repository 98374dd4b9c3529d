import math
import re
from html.parser import HTMLParser

import pandas as pd
import pytest

from core.charts.spec import Figure
from core.features.lab.lab_figures import (
    A_TABLE,
    DROPS,
    STAYS,
    Edit,
    answer,
    bars_beside,
    pair_of_bars,
    round_top,
    shift_bars,
    where_apart,
)

BLUE = "#0079BD"


class Cells(HTMLParser):
    """Text of every row's cells."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def bars(percent: list[float], *, reach: float = 2.0, inside: bool | None = None, **more: list[object]) -> Figure:
    count = len(percent)
    rows = pd.DataFrame(
        {
            "probe": [f"probe-{place}" for place in range(count)],
            "caption": "",
            "score": 0.5,
            "baseline_score": 0.6,
            "delta": -0.1,
            "percent": percent,
            "in_null_band": [inside] * count,
            "verdict": "",
            "reason": "",
            **more,
        }
    )
    return shift_bars(rows, low=-reach, high=reach, colour=BLUE)


def drawn(
    figures: dict[str, Figure],
    edits: list[Edit] | None = None,
    chosen: str = "",
    bands: dict[str, str] | None = None,
) -> str:
    labels = next(iter(figures.values())).frame["label"] if figures else []
    said = {"heads": dict.fromkeys(figures, "0.6"), "bands": dict.fromkeys(figures, "±2") if bands is None else bands}
    return bars_beside(edits or [Edit(each, each) for each in labels], figures, **said, alt="shifts", chosen=chosen)


def places(html: str, kind: str) -> list[tuple[float, float]]:
    found = re.findall(rf'class="{kind}" style="left:([\d.]+)%;width:([\d.]+)%', html)
    return [(float(left), float(width)) for left, width in found]


def test_each_evaluator_is_a_column_and_each_probe_a_row() -> None:
    told = Cells(drawn({"one": bars([-8.0, 2.0]), "other": bars([1.0, math.nan])})).rows
    assert told[0] == ["", "one", "other"]
    assert told[1] == ["Score of the unedited pair", "0.6", "0.6"]
    assert told[2] == ["Noise, in grey", "±2", "±2"]
    assert told[3:5] == [["probe-0", "−8.0 %", "+1.0 %"], ["probe-1", "+2.0 %", "—"]]
    assert told[5:] == [["Scale: each column has its own", "−8 to +2 %", "−1.5 to +1.5 %"]]


def test_edits_stand_alone_until_something_is_scored() -> None:
    assert Cells(drawn({}, [Edit("vflip", "Upside down")])).rows == [[""], ["Upside down"]]


def test_a_row_has_its_picture_or_its_caption_with_the_word_marked_and_is_told_where_it_is_chosen() -> None:
    edits = [
        Edit("vflip", "Upside down", picture="data:image/jpeg;base64,AA==", alt="frog after upside down"),
        Edit("<a>", "b", caption="A <red> dog & a cat", word=(2, 7), against="A <dull> dog"),
    ]
    html = drawn({"one": bars([1.0, 2.0])}, edits, chosen="vflip")
    assert '<img src="data:image/jpeg;base64,AA==" alt="frog after upside down">' in html
    assert '">A <mark>&lt;red&gt;</mark> dog &amp; a cat</button><small>against: A &lt;dull&gt; dog</small>' in html
    assert re.findall(r'<tr data-edit="(.*?)"(.*?)>', html) == [("vflip", ' class="chosen"'), ("&lt;a&gt;", "")]
    assert re.findall(r'aria-pressed="(\w+)"', html) == ["true", "false"]


@pytest.mark.parametrize(
    ("caption", "other", "said"),
    [
        (
            "On the right, a plain frog on grey stones.",
            "On the right, a happy frog on grey stones.",
            "… a plain frog …",
        ),
        ("There is a plain frog.", "There is an African frog.", "There is a plain frog."),
        ("A plain frog on grey stones.", "A happy frog on grey stones.", "A plain frog …"),
        ("A frog.", "A frog.", "A frog."),
        ("Frogs", "", "Frogs"),
    ],
)
def test_a_long_caption_is_shown_where_it_differs(caption: str, other: str, said: str) -> None:
    assert where_apart(caption, other) == said


def test_what_is_beyond_the_noise_counts_harmless_edits_with_a_change_alone() -> None:
    one, two = bars([-3.0, 2.0]), bars([1.0, 2.0], inside=True)
    assert answer({"a": one, "b": two}, {"b": "maximum"}) == (
        "Changed by more than noise: a on 2 of 2 edits, b on none (at its maximum: only a fall could show)."
    )
    assert answer({"a": bars([1.0]), "b": two}, {}) == "Changed by more than noise: a on 1 of 1 edit, b on none of 2."
    assert answer({"a": bars([-3.0, 2.0, 1.0], dropped=[True, False, None])}, {}) == (
        "Changed by more than noise: a on 1 of 1 edit. Broken meanings lower the score by more than noise: a on 1 of 2."
    )
    beside = bars([-3.0, 2.0], control=[True, False])
    assert answer({"a": beside}, {}) == "Changed by more than noise: a on 1 of 1 edit."
    assert answer({"a": bars([math.nan], reach=math.nan), "b": bars([math.nan])}, {}) == ""
    assert (
        answer({"a": bars([math.nan, 1.0], dropped=[True, None])}, {})
        == "Changed by more than noise: a on 1 of 1 edit."
    )


def test_without_a_noise_band_the_answer_is_the_largest_change_and_says_nothing_of_noise() -> None:
    one, told = {"reach": math.nan}, {"a": "minimum"}
    assert answer({"a": bars([1.0, -3.0, 2.0], **one)}, {}) == "Largest change: a −3.0 % (probe-1)."
    assert answer({"a": bars([1.0, -1.0], **one)}, {}) == "Largest change: a +1.0 % (probe-0 and 1 more as far)."
    assert answer({"a": bars([0.0], **one)}, told) == "Largest change: a none (at its minimum: only a rise could show)."
    assert answer({"a": bars([-3.0, 2.0, 1.0], dropped=[True, False, None], **one)}, {}) == (
        "Largest change: a +1.0 % (probe-2). Broken meanings lower the score: a on 1 of 2."
    )
    assert answer({"a": bars([1.0], **one), "b": bars([9.0])}, {}) == (
        "Changed by more than noise: b on 1 of 1 edit. Largest change: a +1.0 % (probe-0)."
    )
    assert "oise" not in drawn({"a": bars([1.0], **one)}, bands={})
    assert Cells(drawn({"a": bars([1.0], **one), "b": bars([9.0])}, bands={"b": "±2"})).rows[2] == [
        "Noise, in grey",
        "not known",
        "±2",
    ]


def test_groups_of_edits_stand_under_their_names() -> None:
    edits = [Edit(f"probe-{place}", f"probe-{place}", group) for place, group in enumerate("xxy")]
    told = Cells(drawn({"one": bars([1.0, 2.0, 3.0])}, edits)).rows
    assert [row[0] for row in told[3:8]] == ["x", "probe-0", "probe-1", "y", "probe-2"]


def test_evaluators_share_a_scale_unless_one_moves_over_three_times_as_far() -> None:
    near = places(drawn({"one": bars([-8.0]), "other": bars([-4.0])}), "shift")
    assert [width for _, width in near] == [80.0, 40.0], "from −8 to the band's end at 2"
    assert "each column has its own" not in drawn({"one": bars([-8.0]), "other": bars([-4.0])})
    assert "each column has its own" in drawn({"one": bars([-80.0]), "other": bars([-4.0])})
    far = places(drawn({"one": bars([-80.0]), "other": bars([-4.0])}), "shift")
    assert far[1] == (0.0, pytest.approx(100 * 4 / 6, abs=0.01)), "its own: from −4 to 2"


def test_a_column_in_which_nothing_is_drawn_takes_the_scale_of_the_others() -> None:
    still = bars([0.0, 0.0], reach=math.nan)
    told = Cells(drawn({"still": still, "one": bars([-8.0, 1.0], reach=math.nan)}, bands={})).rows
    assert told[-1] == ["Scale of all bars", "−8.0 to +1.0 %"]
    assert Cells(drawn({"still": still}, bands={})).rows[-1] == ["Scale of all bars", "−1.0 to +1.0 %"]


def test_bars_and_band_lie_on_the_evaluators_own_scale() -> None:
    """From −8 to 2 the whole is 10: −8 fills the left four fifths, the band of ±2 lies at 60 to 100 %."""
    html = drawn({"one": bars([-8.0, 1.0])})
    assert places(html, "shift") == [(0.0, 80.0), (80.0, 10.0)]
    assert places(html, "band") == [(60.0, 40.0)] * 2
    assert places(drawn({"one": bars([0.0], reach=math.nan)}), "shift") == [(50.0, 0.0)]


def test_no_percent_change_has_no_bar_and_inside_the_band_is_faint() -> None:
    assert places(drawn({"one": bars([math.nan])}), "shift") == []
    assert "rgba(0,121,189,0.2)" in drawn({"one": bars([1.0], inside=True)})
    assert "rgba(0,121,189,0.2)" not in drawn({"one": bars([1.0], inside=False)})


def test_more_evaluators_than_have_room_stand_below_under_labels_of_their_own() -> None:
    html = drawn({f"e{place}": bars([1.0]) for place in range(A_TABLE + 1)})
    assert html.count("<table") == 2
    assert html.count(">probe-0</button>") == 2


def test_colours_of_broken_meanings_are_explained_and_the_evaluators_own_is_not() -> None:
    html = drawn({"one": bars([-3.0, 2.0, 1.0], dropped=[True, False, None])})
    assert html.count(DROPS) == html.count(STAYS) == 1
    assert 'class="key"' not in drawn({"one": bars([1.0])})


def test_names_that_are_markup_stay_text() -> None:
    edits = [Edit('" onclick="x', "<img src=x>", "<b>", caption='" onmouseover="x')]
    html = drawn({"<script>": bars([1.0], reason=['" onmouseover="x'])}, edits)
    assert "<script>" not in html
    assert "<img" not in html
    assert '" onmouseover' not in html
    assert '" onclick' not in html
    assert "<b>" not in html


@pytest.mark.parametrize(("top", "widths"), [(1.0, [80.0, 20.0]), (0.5, [100.0, 40.0])])
def test_a_pair_of_bars_is_drawn_from_zero_to_the_top_and_cut_there(top: float, widths: list[float]) -> None:
    html = pair_of_bars((0.8, 0.2), top=top, colour=BLUE, words=("As it is", "Edited"), said=("0.800", "0.200"))
    assert [float(each) for each in re.findall(r"width:([\d.]+)%", html)] == widths
    assert html.index("As it is") < html.index("0.800") < html.index("Edited") < html.index("0.200")
    assert re.findall(r"<span>([\d.]+)</span>", html) == ["0", f"{top / 2:.3g}", f"{top:.3g}"]


@pytest.mark.parametrize(
    ("value", "end"), [(0.357, 0.4), (0.4, 0.4), (1.0, 1.0), (10.0, 10.0), (1.01, 2.0), (0.072, 0.1), (3e-7, 4e-7)]
)
def test_an_axis_ends_on_a_round_number_that_holds_the_score(value: float, end: float) -> None:
    assert round_top(value) == end
