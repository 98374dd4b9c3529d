"""Many systems on the same pictures: which caption goes to which picture, what is scored, what is told."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from core.corpora.caption_tables import System
from core.corpora.schema import Corpus, Item
from core.errors import InvalidInput
from core.features.systems.board_scores import PEOPLE, drawn_references, enter, score_board
from core.probes.registry import catalogue
from tests.scoring.handmade import handmade


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    items = []
    for number in range(4):
        path = tmp_path / f"p{number}.png"
        pixels = np.full((40, 40, 3), 60 * number, dtype=np.uint8)
        pixels[:20] = 255
        Image.fromarray(pixels).save(path)
        captions = {"en": (f"first {number}", f"second {number}")} if number < 3 else {}
        items.append(Item(f"deep/p{number}.png", "four", path, 40, 40, captions))
    return Corpus("four", tuple(items))


def mean_and_words(images: object, captions: object) -> np.ndarray:
    return np.array([x[:20].mean() / 255 + len(c.split()) for x, c in zip(images, captions, strict=True)])  # type: ignore[call-overload]


def test_keys_are_ids_names_or_stems_and_the_rest_is_told(corpus: Corpus) -> None:
    a = System("A", {"deep/p0.png": ("a",), "p1.png": ("b",), "p2": ("c",), "lost": ("d",), "p0": ("e",), "p3": (" ",)})
    b = System("B", {"nowhere": ("x",)}, "all.csv: not taken as systems: 'split' (by its name)")
    entered = enter(corpus, [a, b])
    assert entered.captions == {"A": {"deep/p0.png": ("a",), "deep/p1.png": ("b",), "deep/p2.png": ("c",)}}
    told = " ".join(entered.remarks)
    assert "1 entry names no picture of corpus 'four': 'lost'" in told
    assert "'p0'" in told
    assert "blank caption" in told
    assert "system 'B' captions no picture of corpus 'four' and is left out" in told
    assert entered.remarks[-1] == b.remark


def test_a_leaderboard_says_that_it_reckons_with_the_first_of_two_sources_where_the_second_joins_pictures(
    corpus: Corpus,
) -> None:
    system = System("A", {f"p{number}": ("a",) for number in range(4)})

    def remarks(*seconds: str) -> tuple[str, ...]:
        named = zip(corpus.items, seconds, strict=True)
        items = tuple(replace(item, group=(f"cut-out {item.id}", second)) for item, second in named)
        return enter(Corpus("four", items), [system]).remarks

    assert "by the first source alone" in remarks("sand", "sand", "sky", "sky")[0]
    assert not remarks("sand", "sea", "sky", "wall")
    assert not enter(corpus, [system]).remarks


def test_systems_of_other_pictures_are_refused_with_an_example(corpus: Corpus) -> None:
    with pytest.raises(InvalidInput, match="such as 'deep"):
        enter(corpus, [System("A", {"x": ("y",)})])


def test_a_name_that_two_pictures_share_is_told(corpus: Corpus) -> None:
    twin = Item("other/p0.png", "four", corpus.items[0].image_path, 40, 40)
    entered = enter(Corpus("five", (*corpus.items, twin)), [System("A", {"p0": ("a",), "p1": ("b",)})])
    assert set(entered.captions["A"]) == {"deep/p1.png"}
    assert "several pictures" in entered.remarks[0]


def test_people_are_a_system_of_drawn_references(corpus: Corpus) -> None:
    system = System("A", {"p0": ("a",), "p3": ("b",)})
    entered = enter(corpus, [system], people=True)
    assert set(entered.captions[PEOPLE]) == {"deep/p0.png"}
    assert entered.captions[PEOPLE]["deep/p0.png"][0] in ("first 0", "second 0")
    texts = {str(n): ("x", "y") for n in range(40)}
    drawn = drawn_references(texts)
    assert drawn == drawn_references(dict(reversed(texts.items())))
    assert {each[0] for each in drawn.values()} == {"x", "y"}
    assert drawn != drawn_references(texts, seed=1)
    with pytest.raises(InvalidInput, match="'human'"):
        enter(corpus, [System(PEOPLE, {"p0": ("a",)})], people=True)


def test_every_caption_is_scored_on_its_picture_and_first_ones_under_edits(corpus: Corpus) -> None:
    a = System("A", {"p0": ("one two", "three"), "p1": ("one",)})
    b = System("B", {"p0": ("one two three",)})
    probes = [catalogue().get("vflip")]
    found = score_board(handmade(mean_and_words), enter(corpus, [a, b]), probes)
    rows = found.rows.set_index(["item", "system", "place", "probe"])["score"].to_dict()
    assert rows == {
        ("deep/p0.png", "A", 0, ""): pytest.approx(3.0),
        ("deep/p0.png", "A", 1, ""): pytest.approx(2.0),
        ("deep/p0.png", "B", 0, ""): pytest.approx(4.0),
        ("deep/p0.png", "A", 0, "vflip"): pytest.approx(2.0),
        ("deep/p0.png", "B", 0, "vflip"): pytest.approx(3.0),
        ("deep/p1.png", "A", 0, ""): pytest.approx(2.0),
        ("deep/p1.png", "A", 0, "vflip"): pytest.approx(1.0 + 60 / 255),
    }
    assert found.left_out == ()
    assert found.rows["cut"].isna().all()


def test_an_edit_is_left_out_of_a_caption_that_it_would_make_untrue(corpus: Corpus) -> None:
    a = System("A", {"p0": ("A cat on the left.",), "p1": ("A cat.",)})
    found = score_board(handmade(mean_and_words), enter(corpus, [a]), [catalogue().get("hflip")])
    assert found.rows.query("probe == 'hflip'")["item"].tolist() == ["deep/p1.png"]
    assert found.edits[0].startswith("Mirrored (hflip) is left out 1 time, first of ")
    assert "left" in found.edits[0]


def test_a_picture_that_cannot_be_read_leaves_rows_without_scores(corpus: Corpus) -> None:
    path = corpus.items[1].image_path
    assert path is not None
    path.write_bytes(b"no picture")
    system = System("A", {"p0": ("a",), "p1": ("b",)})
    found = score_board(handmade(mean_and_words), enter(corpus, [system]))
    assert found.rows.set_index("item")["score"].isna().to_dict() == {"deep/p0.png": False, "deep/p1.png": True}
    assert "deep/p1.png" in found.left_out[0]


def test_equal_pictures_under_two_names_are_one_source(corpus: Corpus) -> None:
    first, second = corpus.items[0], corpus.items[1]
    assert first.image_path is not None
    copy = first.image_path.with_name("copy.png")
    copy.write_bytes(first.image_path.read_bytes())
    twice = Corpus("twice", (first, Item("copy.png", "twice", copy, 40, 40), second))
    entered = enter(twice, [System("A", {"deep/p0.png": ("a",), "copy.png": ("b",), "deep/p1.png": ("c",)})])
    sources = score_board(handmade(mean_and_words), entered).rows["source"]
    assert (sources.nunique(), sources[0]) == (2, sources[1])
