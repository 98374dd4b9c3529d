"""Quadruples: the text is true of the right pictures and false of the wrong ones, by the pixels."""

import csv
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from core import settings
from core.corpora.demo import load_demo_prototypes, pictures_of
from core.corpora.item_pictures import read_item, read_rival
from core.corpora.schema import Corpus, Item
from core.errors import BadCorpus
from tests.corpora.stamp_folder import stamp
from tools.demo_corpus.build import build_demo
from tools.demo_corpus.quadruples import read_quadruples, turned

ASSETS = settings.ROOT / "assets" / "demo"
PAIRS = settings.ROOT / "assets" / "prototypes.csv"
ROLES = ("nonproto-wrong", "proto-right", "proto-wrong")
KNOBS = ("count", "color", "layout_relation", "spatial", "scale_size")


@pytest.fixture(scope="module")
def quadruples() -> Corpus:
    return load_demo_prototypes.load(settings.ROOT / "data" / "demo")


def of_knob(corpus: Corpus, knob: str) -> list[Item]:
    return [item for item in corpus.items if item.facts["knob"] == knob]


def pictures(item: Item) -> dict[str, np.ndarray]:
    rivals = {rival.role: read_rival(item, rival).pixels.astype(int) for rival in item.rivals}
    return {"nonproto-right": read_item(item).pixels.astype(int), **rivals}


def changed(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Where two pictures differ by more than their JPEG does."""
    return np.abs(one - two).max(axis=2) > 60


def mask_of(item: Item) -> np.ndarray:
    assert item.mask is not None
    return item.mask.to_array()


def others_of(item: Item) -> list[np.ndarray]:
    return [other.mask.to_array() for other in item.others if other.mask is not None]


def test_about_two_hundred_quadruples_of_every_knob_domain_and_subcategory(quadruples: Corpus) -> None:
    assert len(quadruples) == 182
    assert quadruples.rejected == ()
    knobs = Counter(item.facts["knob"] for item in quadruples.items)
    assert set(knobs) == set(KNOBS)
    assert min(knobs.values()) >= 14
    assert {item.facts["domain"] for item in quadruples.items} == {"animal", "object"}
    assert {item.facts["subcategory"] for item in quadruples.items} == {
        "bird",
        "mammal",
        "other animal",
        "vehicle",
        "tableware",
    }
    assert all(tuple(rival.role for rival in item.rivals) == ROLES for item in quadruples.items)


def test_items_of_one_non_prototype_share_a_group(quadruples: Corpus) -> None:
    with (ASSETS / "quadruples.csv").open(encoding="utf-8", newline="") as file:
        stamps = {row["id"]: row["nonproto_stamp"] for row in csv.DictReader(file)}
    by_group: dict[str | None, set[str]] = {}
    for item in quadruples.items:
        by_group.setdefault(item.drawn_with(""), set()).add(stamps[item.id])
    assert "" not in by_group
    assert all(len(names) == 1 for names in by_group.values())
    assert len(by_group) == len(set(stamps.values())) >= 12


def test_texts_name_the_hypernym_and_neither_kind(quadruples: Corpus) -> None:
    for item in quadruples.items:
        (text,) = item.captions["en"]
        article = "An" if item.facts["hypernym"] == "animal" else "A"
        assert text.startswith(f"{article} {item.facts['hypernym']} is ")
        assert text.endswith(".")
        for kind in (item.facts["nonproto"], item.facts["proto"]):
            assert str(kind) not in text
        assert str(item.facts["auxiliary"]).split()[0].rstrip("y") in text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("proto-penguin-blackbird-count-1", "A bird is next to exactly two traffic cones on yellow sand."),
        ("proto-penguin-lark-color-2", "A bird is next to a blue post box in a meadow."),
        (
            "proto-little-penguin-blackbird-spatial-1",
            "A bird is on the savanna, with a traffic cone in the foreground.",
        ),
        ("proto-magellanic-penguin-lark-layout-1", "A bird is to the left of a post box on yellow sand."),
        ("proto-pitcher-small-mug-color-1", "A tableware item is next to a red apple on a table."),
    ],
)
def test_texts_come_out_as_a_person_read_them(quadruples: Corpus, name: str, text: str) -> None:
    assert quadruples.get(name).captions == {"en": (text,)}


def test_turning_the_knob_leaves_the_main_thing_and_its_place_alone(quadruples: Corpus) -> None:
    for item in quadruples.items[::3]:
        seen = pictures(item)
        inside = mask_of(item)
        assert not changed(seen["nonproto-right"], seen["nonproto-wrong"])[inside].mean() > 0.02, item.id
        assert changed(seen["nonproto-right"], seen["nonproto-wrong"]).any(), item.id


def test_changing_the_kind_leaves_the_other_things_alone(quadruples: Corpus) -> None:
    for item in quadruples.items[::3]:
        seen = pictures(item)
        beside = np.any(others_of(item), axis=0)
        assert not changed(seen["nonproto-right"], seen["proto-right"])[beside].mean() > 0.02, item.id
        assert changed(seen["nonproto-right"], seen["proto-right"])[mask_of(item)].mean() > 0.2, item.id


def test_the_difference_of_the_knob_is_the_same_for_both_kinds(quadruples: Corpus) -> None:
    for item in quadruples.items[::5]:
        seen = pictures(item)
        first = changed(seen["nonproto-right"], seen["nonproto-wrong"])
        second = changed(seen["proto-right"], seen["proto-wrong"])
        assert (first & second).sum() >= 0.8 * max(first.sum(), second.sum()), item.id


def test_nothing_hides_anything(quadruples: Corpus) -> None:
    for item in quadruples.items:
        assert sum(mask.astype(int) for mask in (mask_of(item), *others_of(item))).max() == 1, item.id


def test_counts_are_those_of_the_text(quadruples: Corpus) -> None:
    words = {"1": "exactly one ", "2": "exactly two ", "3": "exactly three ", "4": "exactly four "}
    for item in of_knob(quadruples, "count"):
        assert len(item.others) == int(str(item.facts["right"]))
        assert words[str(item.facts["right"])] in item.captions["en"][0]
        assert item.facts["wrong"] != item.facts["right"]


def hue(pixels: np.ndarray, inside: np.ndarray) -> str:
    """Name of the colour that most coloured pixels have."""
    red, green, blue = (pixels[inside][:, channel] for channel in range(3))
    names = np.select(
        [(red > 1.5 * green) & (red > 1.5 * blue), (green > 1.3 * red) & (green > 1.3 * blue), blue > 1.3 * red],
        ["red", "green", "blue"],
        np.where((red > 1.5 * blue) & (green > 1.2 * blue), "yellow", "grey"),
    )
    return Counter(name for name in names.tolist() if name != "grey").most_common(1)[0][0]


def test_colours_are_those_of_the_text_and_of_the_wrong_value(quadruples: Corpus) -> None:
    for item in of_knob(quadruples, "color"):
        (beside,) = others_of(item)
        for role, pixels in pictures(item).items():
            assert hue(pixels, beside) == item.facts["right" if role.endswith("right") else "wrong"], (item.id, role)
        assert f" a {item.facts['right']} {item.facts['auxiliary']} " in item.captions["en"][0]


def test_the_main_thing_is_on_the_side_that_the_text_says(quadruples: Corpus) -> None:
    for item in of_knob(quadruples, "layout_relation"):
        assert item.box is not None
        (other,) = item.others
        side = "left" if item.box.right <= other.box.x else "right" if other.box.right <= item.box.x else "nowhere"
        assert side == item.facts["right"]
        assert f" to the {side} of " in item.captions["en"][0]
        seen = pictures(item)
        moved = changed(seen["nonproto-right"], seen["nonproto-wrong"])
        assert moved[:, : item.width // 3].any()
        assert moved[:, -item.width // 3 :].any()


def test_things_in_the_foreground_are_lower_and_larger(quadruples: Corpus) -> None:
    feet: dict[str, list[tuple[float, float]]] = {"foreground": [], "background": []}
    for item in of_knob(quadruples, "spatial"):
        assert item.box is not None
        (other,) = item.others
        where = str(item.facts["right"])
        feet[where].append((other.box.bottom, other.box.height))
        assert (other.box.bottom > item.box.bottom) == (where == "foreground")
        assert f"in the {where}." in item.captions["en"][0]
    assert min(row for row, _ in feet["foreground"]) > max(row for row, _ in feet["background"])


def test_the_other_thing_is_shorter_or_taller_as_the_text_says(quadruples: Corpus) -> None:
    for item in of_knob(quadruples, "scale_size"):
        assert item.box is not None
        (other,) = item.others
        ratio = other.box.height / item.box.height
        assert (ratio < 0.8) if item.facts["right"] == "shorter" else (ratio > 1.2), (item.id, ratio)
        assert f" next to a {item.facts['right']} " in item.captions["en"][0]


def test_a_turned_stamp_keeps_its_shape_its_greys_and_gets_the_hue() -> None:
    pixels = np.zeros((20, 20, 4), np.uint8)
    pixels[..., 3] = 255
    pixels[:10] = (200, 30, 40, 255)
    pixels[10:] = (128, 128, 128, 255)
    for colour in ("red", "yellow", "green", "blue"):
        result = np.asarray(turned(Image.fromarray(pixels), colour)).astype(int)
        assert hue(result[..., :3], np.arange(20)[:, None] * np.ones((1, 20)) < 10) == colour
        assert (result[10:, :, :3] == 128).all()
        assert (result[..., 3] == 255).all()


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("quadruples.csv", ",count,", ",number,", "'number' must be one of count, color"),
        ("quadruples.csv", ",2,3,sand", ",2,2,sand", "right and wrong must be two of 1, 2, 3, 4"),
        ("quadruples.csv", ",2,3,sand", ",2,9,sand", "right and wrong must be two of 1, 2, 3, 4"),
        ("quadruples.csv", "town/roadsigns/traffic_cone.png", "town/cone.png", "auxiliaries.csv has no stamp"),
        ("quadruples.csv", "animals/birds/penguin.png", "animals/birds/emu.png", "no pair of prototypes.csv"),
    ],
)
def test_a_slip_in_a_list_is_named(tmp_path: Path, file: str, old: str, new: str, message: str) -> None:
    lists = Path(shutil.copytree(ASSETS, tmp_path / "lists"))
    text = (lists / file).read_text(encoding="utf-8")
    assert old in text
    (lists / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(BadCorpus, match=message) as told:
        read_quadruples(PAIRS, lists)
    assert file in str(told.value)


def test_building_a_quadruple_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    entry = read_quadruples(PAIRS, ASSETS)[2]
    folder = tmp_path / "stamps"
    stamp(folder, "animals/birds/owl.png")
    for name in (entry.pair.nonproto_stamp, entry.pair.proto_stamp, entry.auxiliary.stamp):
        stamp(folder, name, (90, 120))
    built = [build_demo(tmp_path / name, stamps=folder, only=[entry.id]) for name in ("one", "two")]
    first, second = ({path.name: path.read_bytes() for path in each.rglob("*") if path.is_file()} for each in built)
    assert first == second
    (item,) = load_demo_prototypes.load(built[0]).items
    assert [rival.path.name for rival in item.rivals] == [f"{entry.id}-{role}.jpg" for role in ROLES]


def test_a_rival_that_is_gone_or_changed_leaves_its_item_out(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    (folder / "images").mkdir(parents=True)
    for name in ("prototypes.jsonl", "SHA256SUMS"):
        shutil.copy(settings.ROOT / "data" / "demo" / name, folder / name)
    for path in (pictures_of(settings.ROOT / "data" / "demo") / "images").glob("proto-penguin-blackbird-*"):
        shutil.copy(path, folder / "images" / path.name)
    gone = folder / "images" / "proto-penguin-blackbird-count-1-proto-wrong.jpg"
    gone.unlink()
    other = folder / "images" / "proto-penguin-blackbird-count-2-proto-right.jpg"
    other.write_bytes(other.read_bytes()[:-5])
    corpus = load_demo_prototypes.load(folder)
    told = {each.subject: each.code for each in corpus.rejected}
    assert told["proto-penguin-blackbird-count-1"] == "missing-image"
    assert told["proto-penguin-blackbird-count-2"] == "changed-image"
    assert {item.id for item in corpus.items} == {
        path.stem for path in (folder / "images").glob("*-?.jpg") if "count" not in path.stem
    }
