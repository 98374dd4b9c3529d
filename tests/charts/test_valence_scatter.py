"""Labels of the scatter: beside their marks, on nothing else."""

import math

import numpy as np
import pandas as pd
import pytest

from core.charts.interactive import WIDTHS, plot
from core.charts.panels import placed
from core.features.geometry.geometry import valence_scatter


def boxes(marks: list[tuple[float, float]], texts: list[str], offsets: list[tuple[float, float]]) -> list[tuple]:
    return [
        (x + dx - 6.6 * len(text) / 2, y + dy - 7.5, x + dx + 6.6 * len(text) / 2, y + dy + 7.5)
        for (x, y), text, (dx, dy) in zip(marks, texts, offsets, strict=True)
    ]


def overlap(one: tuple, other: tuple) -> bool:
    return min(one[2], other[2]) > max(one[0], other[0]) and min(one[3], other[3]) > max(one[1], other[1])


@pytest.mark.parametrize("seed", range(5))
def test_no_label_covers_another_or_a_mark(seed: int) -> None:
    rng = np.random.default_rng(seed)
    marks = list(zip(rng.uniform(0, 600, 18), rng.uniform(0, 340, 18), strict=True))
    texts = [f"modifier{number}" for number in range(18)]
    dots = [(x - 6, y - 6, x + 6, y + 6) for x, y in marks]
    labels = boxes(marks, texts, placed([dots], texts))
    for number, label in enumerate(labels):
        assert not any(overlap(label, other) for other in labels[:number])
        assert not any(overlap(label, dot) for dot in dots)


def test_no_label_covers_a_line() -> None:
    dots = [(94.0, 94.0, 106.0, 106.0)]
    line = (102.0, 0.0, 180.0, 200.0)
    [label] = boxes([(100.0, 100.0)], ["word"], placed([dots], ["word"], [[line]]))
    assert not overlap(label, line)


def test_marks_at_one_place_still_get_labels_of_their_own() -> None:
    dots = [(94.0, 94.0, 106.0, 106.0)] * 4
    offsets = placed([dots], ["one", "two", "three", "four"])
    assert len(set(offsets)) == 4
    assert all(math.hypot(*offset) > 10 for offset in offsets)


def test_the_scatter_has_a_label_a_modifier_and_is_centred_on_neutral_words() -> None:
    points = pd.DataFrame(
        {
            "family": ["f", "f", "<b>g"],
            "modifier": ["up", "down", "<i>x"],
            "projection": [0.1, -0.2, 0.0],
            "median_percent": [1.0, -3.0, 0.5],
            "low": [0.5, -4.0, np.nan],
            "high": [1.5, -2.0, np.nan],
            "n_items": [9, 8, 1],
            "n_objects": [0, 0, 4],
        }
    )
    figure = plot(valence_scatter(points, "conse-lite0", neutral=-0.05, names={"f": "Eff"}))
    assert {each.text for each in figure.layout.annotations} == {"up", "down", "&lt;i&gt;x", "Eff", "&lt;b&gt;g"}
    assert "up, f" in figure.data[0].hovertext[0]  # the family's own name
    assert figure.data[0].x == pytest.approx([0.15, -0.15])  # from where the neutral words lie
    assert [trace.yaxis for trace in figure.data] == ["y", "y2"]
    assert "over 4 objects" in figure.data[0].hovertext[0] + figure.data[1].hovertext[0]
    assert figure.data[0].marker.symbol == "circle"  # the metric's own, as on every page
    alone = valence_scatter(points.iloc[:1], "conse-lite0")
    assert alone.frame["x"].tolist() == [0.1]
    assert alone.span[0] < 0 < alone.span[1]
    assert "neutral" not in alone.along.title
    assert min(WIDTHS) < 300


def test_labels_stay_inside_the_axes_off_their_numbers_and_the_panels_name() -> None:
    at = [
        (-0.157, -4.5),
        (-0.176, -14.1),
        (-0.095, -9.9),
        (-0.049, -7.5),
        (-0.098, -19.5),
        (-0.076, -19.0),
        (-0.041, -18.2),
        (-0.014, -19.6),
        (-0.034, -12.0),
        (-0.008, -12.5),
        (-0.076, -11.6),
        (0.298, -9.3),
    ]
    named = [
        "cheap",
        "expensive",
        "budget",
        "luxury",
        "African",
        "Russian",
        "Arab",
        "Oceanian",
        "European",
        "American",
        "Asian",
        "happy",
    ]
    points = pd.DataFrame(
        {
            "family": ["economic"] * 4 + ["cultural"] * 7 + ["emotion"],
            "modifier": named,
            "projection": [x for x, _ in at],
            "median_percent": [y for _, y in at],
            "low": [y - 2 for _, y in at],
            "high": [y + 2 for _, y in at],
            "n_items": 80,
            "n_objects": 0,
        }
    )
    figure = valence_scatter(points, "conse-lite0", neutral=-0.094)
    labels = [each for each in plot(figure).layout.annotations if each.showarrow]
    assert {each.text for each in labels} == set(named)
    for width in WIDTHS:
        for each in labels:
            x = np.interp(each.x, figure.along.span, [0, width]) + each.ax
            y = np.interp(each.y, figure.span, [figure.height, 0]) + each.ay
            half = 6.6 * len(each.text) / 2
            assert -2 <= x - half < x + half <= width + 2, each.text  # a letter is narrower than it is taken for
            assert 0 <= y - 7.5 < y + 7.5 <= figure.height, each.text
