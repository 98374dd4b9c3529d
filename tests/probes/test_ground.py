"""Moves along the ground: sideways only, for what stands."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.corpora.demo_backgrounds import PLACES
from core.corpora.item_pictures import read_item
from core.corpora.registry import catalogue as corpora
from core.corpora.schema import Box
from core.errors import InvalidInput, ProbeRejected
from core.probes.base import Variant
from core.probes.families.ground import SIDES, groundless
from core.probes.registry import catalogue
from core.probes.scene import Scene
from core.probes.tables import BACKDROPS, read_table
from core.seeds import stream
from core.settings import assets_dir
from tests.probes.painted import SUBJECT, neighbour, paint


def move(scene: Scene, side: str, seed: int = 1) -> Variant:
    name = f"reposition-ground-{side}"
    return catalogue().get(name).make(scene, SUBJECT, stream(seed, scene.item.id, name))


@settings(max_examples=20, deadline=None)
@given(x=st.floats(20, 140), y=st.floats(64, 105), side=st.sampled_from(sorted(SIDES)))
def test_a_standing_object_moves_sideways_to_its_side_and_keeps_its_ground_line(x: float, y: float, side: str) -> None:
    scene = paint(centre=(x, y))
    way = (x - 39.5) if side == "left" else (119.5 - x)
    assume(abs(way - 16) > 2)  # at the least way itself, rounding decides
    if way < 16:
        with pytest.raises(ProbeRejected) as caught:
            move(scene, side)
        assert caught.value.code == "too-large"
        return
    variant = move(scene, side)
    before, after = scene.item.box, variant.object_box
    assert before is not None
    assert after is not None
    assert (after.y, after.height, after.width) == (before.y, before.height, before.width)
    assert (after.x < before.x) == (side == "left")
    assert abs(after.x - before.x) >= 16
    assert variant.facts["side"] == side


@pytest.mark.parametrize("centre", [(80.0, 30.0), (80.0, 116.0)], ids=["above the middle", "cut off below"])
def test_what_does_not_stand_is_rejected(centre: tuple[float, float]) -> None:
    with pytest.raises(ProbeRejected) as caught:
        move(paint(centre=centre), "left")
    assert caught.value.code == "no-ground"


def test_another_object_in_the_way_is_never_covered() -> None:
    scene = paint(centre=(110, 80), others=(neighbour(Box(30, 60, 24, 40)),))
    variant = move(scene, "left")
    assert variant.object_mask is not None
    assert not (variant.object_mask.to_array() & scene.obstacles).any()
    assert variant.facts["redrawn"] > 0
    np.testing.assert_array_equal(variant.pixels, move(scene, "left").pixels)
    with pytest.raises(ProbeRejected) as caught:
        move(paint(centre=(110, 80), others=(neighbour(Box(2, 50, 95, 60)),)), "left")
    assert caught.value.code == "collision"


def on(backdrop: str) -> Scene:
    scene = paint()
    return Scene(replace(scene.item, backdrop=backdrop), scene.pixels)


@pytest.mark.parametrize("backdrop", ["clouds", "night", "water", "sky", "foliage", "wall", "table", "lawn", "studio"])
def test_nothing_moves_along_the_ground_where_the_background_has_none(backdrop: str) -> None:
    with pytest.raises(ProbeRejected, match=f"{backdrop!r} shows .* stands on no ground") as caught:
        move(on(backdrop), "left")
    assert caught.value.code == "no-ground"


@pytest.mark.parametrize("backdrop", ["", "meadow", "table-edge", "of-another-corpus"])
def test_a_background_with_a_ground_or_that_nobody_named_goes_by_the_picture(backdrop: str) -> None:
    assert move(on(backdrop), "left").facts["side"] == "left"


def test_the_table_says_of_every_background_whether_it_has_a_ground() -> None:
    rows = read_table(assets_dir() / BACKDROPS / "ground.csv", ("backdrop", "ground", "shows"))
    named = [row["backdrop"] for row in rows]
    assert sorted(named) == sorted(PLACES)
    # a ground in perspective has something far behind it
    assert {name for name in PLACES if name not in groundless()} == {
        name for name, place in PLACES.items() if place.far is not None
    }


def test_no_flyer_swimmer_or_thing_seen_from_above_of_the_demo_corpus_moves_along_the_ground() -> None:
    items = {item.id: item for item in corpora().get("demo").load().items}
    for name in ("spacewalk-20-35", "apricot-35-50", "basketball-10-20", "no-entry-sign-10-20"):
        with pytest.raises(ProbeRejected) as caught:
            move(Scene(items[name], read_item(items[name]).pixels), "left")
        assert caught.value.code == "no-ground"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("moon,maybe,", "ground is 'maybe'; write one of yes, no"),
        ("moon,no,", "shows is empty"),
        ("sea,yes,", "the backdrop 'sea' stands twice"),
    ],
)
def test_a_slip_in_the_table_of_backgrounds_is_told_by_its_line(tmp_path: Path, line: str, told: str) -> None:
    table = tmp_path / "ground.csv"
    table.write_text(f"backdrop,ground,shows\nsea,no,water\n{line}\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=f"line 3: {told}"):
        groundless(table)
