"""Scenes of several things: counts, masks and captions, each against the pixels and the list."""

import csv
import hashlib
import json
import re
import shutil
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as tries
from hypothesis import strategies as st

from core import settings
from core.corpora.demo import load_demo_scenes, load_demo_scenes_one, pictures_of
from core.corpora.demo_plan import LANGUAGES
from core.corpora.labels import load_taxonomy
from core.corpora.schema import Corpus, Item, SceneObject
from core.errors import BadCorpus
from core.probes.words.categories import named_in
from core.seeds import stream
from tests.corpora.stamp_folder import ellipse, stamp
from tools.demo_corpus.build import build_demo
from tools.demo_corpus.plan import Plan, read_plan
from tools.demo_corpus.scenes import Kind, ScenePlan, arrange, read_scenes

ASSETS = settings.ROOT / "assets" / "demo"
NUMBERS = {"a": 1, "an": 1, "two": 2, "three": 3, "four": 4}


@pytest.fixture(scope="module")
def scenes() -> Corpus:
    return load_demo_scenes.load(settings.ROOT / "data" / "demo")


def things(item: Item) -> list[SceneObject]:
    assert item.label is not None
    assert item.box is not None
    return [SceneObject(item.label, item.box, item.mask), *item.others]


def by_label(item: Item) -> dict[str, list[SceneObject]]:
    found = defaultdict(list)
    for thing in things(item):
        found[thing.label].append(thing)
    return dict(found)


def listed() -> dict[str, dict[str, str]]:
    with (ASSETS / "scenes.csv").open(encoding="utf-8", newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def test_there_are_at_least_sixty_and_every_count_from_one_to_four_occurs(scenes: Corpus) -> None:
    assert len(scenes) >= 60
    assert scenes.rejected == ()
    counts = Counter(len(each) for item in scenes.items for each in by_label(item).values())
    assert set(counts) == {1, 2, 3, 4}
    assert min(counts.values()) >= 15
    assert Counter(len(by_label(item)) for item in scenes.items)[3] >= 30


def test_the_annotated_things_are_those_of_the_list(scenes: Corpus, plan: Plan) -> None:
    rows = listed()
    assert [item.id for item in scenes.items] == list(rows)
    for item in scenes.items:
        kinds = [rows[item.id][name].split() for name in ("first", "second", "third") if rows[item.id][name] != "none"]
        wanted = {plan.stamps[name].label: int(count) for name, count, _ in kinds}
        assert {label: len(each) for label, each in by_label(item).items()} == wanted


def test_nothing_covers_anything_and_every_box_fits_its_mask(scenes: Corpus) -> None:
    for item in scenes.items:
        taken = np.zeros((item.height, item.width), int)
        for thing in things(item):
            assert thing.mask is not None
            inside = thing.mask.to_array()
            taken += inside
            rows, columns = np.nonzero(inside)
            assert (thing.box.x, thing.box.y) == (columns.min(), rows.min())
            assert (thing.box.right, thing.box.bottom) == (columns.max() + 1, rows.max() + 1)
            assert inside.mean() > 0.004, (item.id, thing.label)
        assert taken.max() == 1, item.id


def test_the_items_object_is_the_one_with_the_most_pixels(scenes: Corpus) -> None:
    for item in scenes.items:
        assert item.mask is not None
        assert item.mask.area == max(thing.mask.area for thing in things(item) if thing.mask is not None)


def test_large_and_small_kinds_differ_by_five_percent_of_the_image_in_most(scenes: Corpus) -> None:
    clear = 0
    for item in scenes.items:
        areas = [
            sum(thing.mask.area for thing in each if thing.mask) / (item.width * item.height)
            for each in by_label(item).values()
        ]
        clear += max(areas) - min(areas) >= 0.05
    assert clear >= 45


def test_the_english_caption_counts_and_orders_what_the_masks_hold(
    scenes: Corpus, plan: Plan, words: ScenePlan
) -> None:
    plurals = {texts["en"]: label for label, texts in words.plurals.items()}
    singulars = {texts["en"].split(" ", 1)[1]: label for label, texts in plan.grammar.nouns.items()}
    for item in scenes.items:
        said = re.findall(
            r"(?:^|, | and )(\w+) ([\w -]+?) (?:on the left|in the middle|on the right)", item.captions["en"][0]
        )
        assert len(said) == len(by_label(item)), item.captions["en"][0]
        last = -1.0
        for number, noun in said:
            count = NUMBERS[number.lower()]
            label = singulars[noun] if count == 1 else plurals[noun]
            boxes = [thing.box for thing in by_label(item)[label]]
            assert len(boxes) == count
            assert min(box.x for box in boxes) >= last
            last = max(box.right for box in boxes)


def test_captions_name_every_kind_in_five_languages(scenes: Corpus, plan: Plan, words: ScenePlan) -> None:
    for item in scenes.items:
        assert set(item.captions) == set(LANGUAGES)
        for language in LANGUAGES:
            text = item.captions[language][0]
            for label, each in by_label(item).items():
                plural = words.plurals[label][language]
                noun = plan.grammar.nouns[label][language] if len(each) == 1 and language != "ja" else plural
                assert noun.lower() in text.lower()


def test_the_second_caption_counts_one_kind_and_places_it_as_its_masks_do(
    scenes: Corpus, plan: Plan, words: ScenePlan
) -> None:
    plurals = {texts["en"]: label for label, texts in words.plurals.items()}
    singulars = {texts["en"].split(" ", 1)[1]: label for label, texts in plan.grammar.nouns.items()}
    for item in scenes.items:
        assert {len(texts) for texts in item.captions.values()} == {2}
        found = re.match(r"(\w+) ([\w -]+?) (on the left|in the middle|on the right), ", item.captions["en"][1])
        assert found, item.captions["en"][1]
        number, noun, where = found.groups()
        count = NUMBERS[number.lower()]
        label = singulars[noun] if count == 1 else plurals[noun]
        kinds = by_label(item)
        order = sorted(kinds, key=lambda name: min(thing.box.x for thing in kinds[name]))
        assert len(kinds[label]) == count
        assert where == {0: "on the left", len(order) - 1: "on the right"}.get(order.index(label), "in the middle")


def test_the_second_caption_names_a_category_of_coco_where_one_is_there(scenes: Corpus) -> None:
    known = load_taxonomy("coco").entries
    for item in scenes.items:
        there = {label for label in by_label(item) if label in known}
        assert len(named_in(item.captions["en"][1]) & there) == min(len(there), 1)


def test_second_captions_are_a_corpus_of_their_own_on_the_same_pictures(scenes: Corpus) -> None:
    one = load_demo_scenes_one.load(settings.ROOT / "data" / "demo")
    assert [(item.id, item.pixels_sha256, item.group) for item in one.items] == [
        (item.id, item.pixels_sha256, item.group) for item in scenes.items
    ]
    assert all(
        item.captions == {language: texts[1:] for language, texts in scenes.get(item.id).captions.items()}
        for item in one.items
    )


def test_a_build_of_one_caption_a_scene_is_told_to_be_made_anew(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    folder.mkdir()
    lines = (settings.ROOT / "data" / "demo" / "scenes.jsonl").read_text(encoding="utf-8").splitlines()[:1]
    (record,) = map(json.loads, lines)
    (folder / "images").mkdir()
    shutil.copy(pictures_of(settings.ROOT / "data" / "demo") / record["file"], folder / record["file"])
    record["captions"] = {language: texts[:1] for language, texts in record["captions"].items()}
    (folder / "scenes.jsonl").write_text(json.dumps(record, ensure_ascii=False) + "\n", encoding="utf-8")
    digest = hashlib.sha256((folder / "scenes.jsonl").read_bytes()).hexdigest()
    (folder / "SHA256SUMS").write_text(f"{digest}  scenes.jsonl\n", encoding="utf-8")
    with pytest.raises(BadCorpus, match="scene-dog-hen-1' has no second caption; rebuild it"):
        load_demo_scenes_one.load(folder)


READ = {
    "scene-cow-rooster-1": {
        "en": (
            "Three cows on the left, a rooster in the middle and a wheel on the right, in a field.",
            "Three cows on the left, in a field.",
        ),
        "de": (
            "Drei Kühe links, ein Hahn in der Mitte und ein Rad rechts auf einem Feld.",
            "Drei Kühe links auf einem Feld.",
        ),
        "fr": (
            "Trois vaches à gauche, un coq au milieu et une roue à droite, dans un champ.",
            "Trois vaches à gauche, dans un champ.",
        ),
        "es": (
            "Tres vacas a la izquierda, un gallo en el centro y una rueda a la derecha, en un campo.",
            "Tres vacas a la izquierda, en un campo.",
        ),
        "ja": (
            "野原に、三頭の雌牛が左側に、一羽のおんどりが中央に、一本の車輪が右側に写っている。",
            "野原に、三頭の雌牛が左側に写っている。",
        ),
    },
    "scene-mouse-corn-1": {
        "en": (
            "Two mice on the left and a corn cob on the right, on grey pebbles.",
            "Two mice on the left, on grey pebbles.",
        ),
        "de": (
            "Zwei Mäuse links und ein Maiskolben rechts auf grauen Kieselsteinen.",
            "Zwei Mäuse links auf grauen Kieselsteinen.",
        ),
        "fr": (
            "Deux souris à gauche et un épi de maïs à droite, sur des cailloux gris.",
            "Deux souris à gauche, sur des cailloux gris.",
        ),
        "es": (
            "Dos ratones a la izquierda y una mazorca de maíz a la derecha, sobre guijarros grises.",
            "Dos ratones a la izquierda, sobre guijarros grises.",
        ),
        "ja": (
            "灰色の小石の上に、二匹のネズミが左側に、一本のトウモロコシが右側に写っている。",
            "灰色の小石の上に、二匹のネズミが左側に写っている。",
        ),
    },
}


@pytest.mark.parametrize("name", READ)
def test_captions_come_out_as_a_person_read_them(scenes: Corpus, name: str) -> None:
    assert dict(scenes.get(name).captions) == READ[name]


def test_scenes_of_the_same_cut_outs_share_a_group_and_no_others_do(scenes: Corpus) -> None:
    groups = defaultdict(set)
    for item in scenes.items:
        groups[item.drawn_with("")].add(frozenset(by_label(item)))
    assert "" not in groups
    assert all(len(labels) == 1 for labels in groups.values())
    together = [next(iter(labels)) for labels in groups.values()]
    assert sum(len(each) for each in together) == len(frozenset().union(*together))


def test_images_are_small() -> None:
    folder = pictures_of(settings.ROOT / "data" / "demo") / "images"
    assert max(path.stat().st_size for path in folder.glob("scene-*.jpg")) <= 40_000


@tries(max_examples=60, deadline=None)
@given(
    counts=st.lists(st.integers(1, 4), min_size=2, max_size=3),
    shares=st.lists(st.sampled_from((0.02, 0.05, 0.12, 0.25)), min_size=3, max_size=3),
    horizon=st.sampled_from((0, 90, 130)),
    shape=st.tuples(st.integers(40, 260), st.integers(40, 260)),
    seed=st.integers(0, 10**6),
)
def test_things_stand_from_left_to_right_and_apart(
    counts: list[int], shares: list[float], horizon: int, shape: tuple[int, int], seed: int
) -> None:
    cut = ellipse(*shape, border=0)
    kinds = [Kind(cut, True, count, share) for count, share in zip(counts, shares, strict=False)]
    spots = arrange(kinds, (448, 320), horizon, stream(seed))
    assert [sum(spot.kind == index for spot in spots) for index in range(len(kinds))] == counts
    taken = np.zeros((320, 448), int)
    for spot in spots:
        assert min(spot.left, spot.top) >= 0
        assert spot.left + spot.width <= 448
        assert spot.top + spot.height <= 320
        taken[spot.top : spot.top + spot.height, spot.left : spot.left + spot.width] += 1
        assert not horizon or spot.top + spot.height > horizon
    assert taken.max() == 1
    for index in range(len(kinds) - 1):
        right = max(spot.left + spot.width for spot in spots if spot.kind == index)
        assert right <= min(spot.left for spot in spots if spot.kind == index + 1)


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("scenes.csv", "dog.png 1 22", "dog.png one 22", "must be a stamp of stamps.csv, how many"),
        ("scenes.csv", "dog.png 1 22", "dog.png 5 22", "must have 1 to 4 copies"),
        ("scenes.csv", "animals/birds/hen.png 1 5", "animals/mammals/dogs/dog.png 1 5", "kinds of different labels"),
        ("scenes.csv", ",448,", ",wide,", "whole pixels"),
        ("plurals.csv", "\nhen,", "\ndog,", "'dog' was there before"),
    ],
)
def test_a_slip_in_a_list_is_named(tmp_path: Path, file: str, old: str, new: str, message: str) -> None:
    lists = Path(shutil.copytree(ASSETS, tmp_path / "lists"))
    text = (lists / file).read_text(encoding="utf-8")
    assert old in text
    (lists / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(BadCorpus, match=message) as told:
        read_scenes(lists, read_plan(lists))
    assert file in str(told.value)


def test_building_a_scene_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    row = next(iter(listed().values()))
    folder = tmp_path / "stamps"
    stamp(folder, "animals/birds/owl.png")
    for name in ("first", "second", "third"):
        stamp(folder, row[name].split()[0], (160, 120))
    built = [build_demo(tmp_path / name, stamps=folder, only=[row["id"]]) for name in ("one", "two")]
    first, second = ({path.name: path.read_bytes() for path in each.rglob("*") if path.is_file()} for each in built)
    assert first == second
    assert [item.id for item in load_demo_scenes.load(built[0]).items] == [row["id"]]
