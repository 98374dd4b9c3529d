"""Drawings: the same bytes each time, whole files of the kind they say, names as they are."""

import io
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from xml.etree import ElementTree

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure
from PIL import Image

from core.charts import still
from tests.charts.drawings import EDGES, MAKERS

FIGURE = MAKERS["intervals"](EDGES["usual"])


def words(svg: bytes) -> list[str]:
    return ["".join(each.itertext()) for each in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_the_same_data_give_the_same_bytes(kind: str) -> None:
    assert still.drawing(FIGURE, kind=kind) == still.drawing(FIGURE, kind=kind)


def test_a_coordinate_that_differs_by_rounding_alone_gives_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, lay_out = still.drawing(FIGURE), still._lay_out

    def lay_out_elsewhere(canvas: Figure, kind: str) -> None:
        lay_out(canvas, kind)
        canvas.set_layout_engine("none")
        for axes in canvas.axes:
            place = axes.get_position()
            axes.set_position((place.x0 * (1 + 1e-15), place.y0 * (1 + 1e-15), place.width, place.height))

    monkeypatch.setattr(still, "_lay_out", lay_out_elsewhere)
    assert still.drawing(FIGURE) == drawn
    assert b"url(#clip-1)" in drawn
    assert drawn.count(b'<clipPath id="') == len(set(re.findall(rb"url\(#(clip-\d+)\)", drawn)))


def test_a_file_is_of_the_kind_that_it_says() -> None:
    assert still.drawing(FIGURE, kind="pdf").startswith(b"%PDF-")
    wide, tall = Image.open(io.BytesIO(still.drawing(FIGURE, kind="png"))).size
    assert wide == round(still.WIDTH * 200)
    assert tall > 100
    ElementTree.fromstring(still.drawing(FIGURE))


def test_several_kinds_are_drawn_from_one_layout() -> None:
    both = still.drawings(FIGURE, kinds=("svg", "pdf"))
    assert both["svg"] == still.drawing(FIGURE)
    assert both == still.drawings(FIGURE, kinds=("svg", "pdf"))


def test_labels_numbers_and_names_stand_in_the_drawing_as_text() -> None:
    said = words(still.drawing(FIGURE))
    assert {"vertical-flip", "n 40", "coco", "demo", "one", "two", "median"} <= set(said)
    assert any(each.endswith(" %") and each.startswith("−") for each in said)


def test_a_name_with_a_dollar_or_a_tag_is_drawn_as_it_is() -> None:
    said = words(still.drawing(MAKERS["dumbbell"](EDGES["long names"])))
    assert any(each.startswith("<b>$x_0$ a very") and "…" in each for each in said)


def test_a_file_of_its_own_has_its_title() -> None:
    titled = still.picture(FIGURE, kind="svg", title="How far $an$ edit <moves>")
    assert "How far $an$ edit <moves>" in words(titled)
    assert "How far" not in "".join(words(still.drawing(FIGURE)))


def test_a_denser_row_makes_a_lower_drawing_with_the_same_text() -> None:
    usual, dense = (still.drawing(FIGURE, row=row) for row in (still.ROW, still.ROW / 2))
    heights = [float(ElementTree.fromstring(each).get("height").removesuffix("pt")) for each in (usual, dense)]
    assert heights[1] < heights[0]
    assert {"vertical-flip", "rotation", "blur"} <= set(words(dense))


def test_two_drawings_on_one_page_share_no_id() -> None:
    from dataclasses import replace

    ids = []
    for name in ("one", "two"):
        root = ElementTree.fromstring(still.element(replace(FIGURE, id=name)).replace("xlink:", ""))
        own = [each.get("id") for each in root.iter() if each.get("id")]
        assert len(own) == len(set(own))
        linked = [each.get("href") for each in root.iter() if each.get("href")]
        assert linked
        assert {link.removeprefix("#") for link in linked} <= set(own)
        ids.append(set(own))
    assert not ids[0] & ids[1]


def test_drawing_leaves_the_settings_of_the_process_alone_even_from_several_threads() -> None:
    before = dict(mpl.rcParams)
    with ThreadPoolExecutor(4) as threads:
        drawn = list(threads.map(still.drawing, [FIGURE] * 4))
    assert len(set(drawn)) == 1
    assert dict(mpl.rcParams) == before


def test_what_a_figure_is_of_stands_below_it_and_covers_nothing() -> None:
    told = "Scores of run demo. invariscope:0.1.0|sha:0123456789abcdef " * 4
    drawn = still.canvas(FIGURE, titled=True, foot=told)
    still._lay_out(drawn, "png")
    drawn.canvas.draw()
    (foot,) = [each for each in drawn.texts if each.get_text().startswith("Scores of run demo")]
    top = foot.get_window_extent().y1
    assert foot.get_window_extent().y0 >= 0
    assert all(each.get_window_extent().y0 > top for each in drawn.legends)
    assert all(each.get_tightbbox().y0 > drawn.legends[0].get_window_extent().y1 for each in drawn.axes)


def test_a_long_label_is_folded_and_not_cut() -> None:
    figure = MAKERS["intervals"](EDGES["usual"])
    (first, *_) = figure.frame["label"]
    named = replace(figure, names={first: "Wrong object (FOIL), like Upside down or Mirrored"})
    said = words(still.drawing(named))
    assert {"Wrong object (FOIL), like Upside", "down or Mirrored"} <= set(said)


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_titles_stand_where_a_search_for_labels_above_the_axes_puts_them(name: str) -> None:
    drawn = still.canvas(MAKERS[name](EDGES["usual"]))
    still._lay_out(drawn, "svg")
    drawn.canvas.draw()
    there = [place._left_title.get_position() for place in drawn.axes]
    for place in drawn.axes:
        place._autotitlepos = True
    drawn.canvas.draw()
    assert [place._left_title.get_position() for place in drawn.axes] == there
