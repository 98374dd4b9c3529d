"""What every registered corpus must hold to, this project's or a stranger's."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from core.corpora.images import MIN_SIDE
from core.corpora.item_pictures import read_item
from core.corpora.registry import CorpusLoader, catalogue, corpus_loader
from core.corpora.schema import CATEGORIES, EXTRA_CATEGORIES, Corpus
from core.errors import BadCorpus, InvalidInput
from core.probes.rejections import LOADERS as LOADERS_CODES
from tests.corpora.coco_folder import CocoFolder
from tests.corpora.footage import moving, write_frames, write_video
from tests.corpora.objects365_folder import Objects365Folder
from tests.corpora.openimages_folder import OpenImagesFolder

LOADERS = tuple(catalogue())


def coco(root: Path) -> None:
    made = CocoFolder(root)
    for key in (1, 2, 3):
        made.image(key, saved=key != 3)
        made.instance(key, [20, 10, 50, 40])
        made.caption(key, "A cat.")
    made.write()


def folder(root: Path) -> None:
    for name in ("cat.jpg", "dog.png"):
        Image.new("RGB", (100, 80), "navy").save(root / name)
    (root / "empty.jpg").touch()
    (root / "captions.csv").write_text("image,caption,label,x,y,width,height\ncat,A cat.,cat,20,10,50,40\n")


def protobias(root: Path) -> None:
    for name in ("right.png", "wrong.png"):
        Image.new("RGB", (60, 40), "navy").save(root / name)
    lines = ["id,text,correct_image,adversarial_image", "a,A bird is here.,right.png,wrong.png", "b,A bird.,right.png,"]
    (root / "pairs.csv").write_text("\n".join(lines))


def pairs(root: Path) -> None:
    Image.new("RGB", (60, 40), "navy").save(root / "cat.png")
    (root / "pairs.csv").write_text("image,right,wrong\ncat.png,A cat.,A dog.\ngone.png,A cat.,A dog.\n")


def multi30k(root: Path) -> None:
    for name in ("1.jpg", "2.jpg"):
        Image.new("RGB", (60, 40), "navy").save(root / name)
    (root / "test_2016_flickr.txt").write_text("1.jpg\n2.jpg\n3.jpg\n")
    (root / "test_2016_flickr.de").write_text("Ein Hund.\nEine Katze.\nEin Haus.\n")


def objects365(root: Path) -> None:
    made = Objects365Folder(root)
    for key in (1, 2, 3):
        made.image(key, saved=None if key == 3 else "")
        made.instance(key, [20, 10, 50, 40], 2)
        made.instance(key, [90, 70, 30, 20])
    made.write()


def openimages(root: Path) -> None:
    made = OpenImagesFolder(root)
    for key in ("a", "b"):
        made.image(key)
        made.box(key, "Man")
        made.box(key, "Human face", (0.3, 0.6, 0.1, 0.3))
    made.box("gone", "Cat")
    made.write()


def rated(root: Path) -> None:
    for name in ("1.jpg", "2.jpg"):
        Image.new("RGB", (60, 40), "navy").save(root / name)
    given = {"image_path": "1.jpg", "caption": "A dog.", "rating": 4}
    lost = {"image_path": "gone.jpg", "caption": "A dog.", "rating": 4}
    held = {"1": {"image_path": "1.jpg", "ground_truth": [], "human_judgement": [given, lost]}}
    (root / "flickr8k.json").write_text(json.dumps(held))


def videos(root: Path) -> None:
    write_video(root / "a.mp4", moving("red", 6))
    write_frames(root / "b", moving("blue", 6))
    (root / "torn.mp4").write_bytes(b"no video")
    write_frames(root / "bare", moving("green", 2))
    captions = {"a": ["A red square.", "It moves."], "b.png": "Nothing.", "b": "A blue square.", "torn": "A square."}
    (root / "captions.json").write_text(json.dumps(captions))


BUILDERS: dict[str, Callable[[Path], None]] = {
    "coco": coco,
    "folder": folder,
    "multi30k": multi30k,
    "objects365": objects365,
    "openimages": openimages,
    "pairs": pairs,
    "protobias": protobias,
    "rated": rated,
    "videos": videos,
}


@pytest.fixture(scope="module", params=LOADERS, ids=lambda loader: loader.name)
def loader(request: pytest.FixtureRequest) -> CorpusLoader:
    return request.param


@pytest.fixture(scope="module")
def root(loader: CorpusLoader, tmp_path_factory: pytest.TempPathFactory) -> Path | None:
    if not loader.needs_root:
        return None
    path = tmp_path_factory.mktemp(loader.name)
    BUILDERS[loader.name](path)  # a new corpus adds its builder here, or this fails
    return path


@pytest.fixture(scope="module")
def corpus(loader: CorpusLoader, root: Path | None) -> Corpus:
    return loader.load(root)


def test_no_corpus_is_broken() -> None:
    assert catalogue().broken == ()
    assert {"coco", "demo", "folder"} <= set(catalogue().names())


def test_it_holds_items_with_ids_of_their_own(corpus: Corpus) -> None:
    ids = [item.id for item in corpus.items]
    assert ids
    assert len(set(ids)) == len(ids)
    assert all(ids)
    assert {item.corpus for item in corpus.items} == {corpus.name}
    assert corpus.description


def test_loading_again_gives_the_same_items(loader: CorpusLoader, root: Path | None, corpus: Corpus) -> None:
    assert loader.load(root) == corpus


def test_boxes_masks_and_sizes_fit_their_images(corpus: Corpus) -> None:
    for item in corpus.items:
        assert min(item.width, item.height) >= MIN_SIDE
        for box in [each.box for each in (item, *item.others) if each.box is not None]:
            assert box.inside(item.width, item.height) == box
        for mask in [each.mask for each in (item, *item.others) if each.mask is not None]:
            assert (mask.width, mask.height) == (item.width, item.height)
            assert mask.area > 0
        if item.box is not None:
            assert item.coverage_bin is not None


def test_categories_and_captions_are_well_formed(corpus: Corpus) -> None:
    for item in corpus.items:
        assert item.category in (None, *CATEGORIES, *EXTRA_CATEGORIES)
        assert item.label is None or item.label == item.label.strip() != ""
        assert all(captions for captions in item.captions.values())
        assert all(caption.strip() for captions in item.captions.values() for caption in captions)


def test_images_are_read_at_the_stated_size(corpus: Corpus) -> None:
    for item in corpus.items[:: max(len(corpus) // 12, 1)]:
        frames = (len(item.frames),) if item.frames else ()
        assert read_item(item).pixels.shape == (*frames, item.height, item.width, 3)


def test_what_is_left_out_has_a_code_and_a_sentence(corpus: Corpus) -> None:
    for rejection in corpus.rejected:
        assert rejection.subject
        assert rejection.code == rejection.code.lower().replace(" ", "-")
        assert len(rejection.detail.split()) > 2
    for remark in corpus.remarks:
        assert remark.count > 0
        assert remark.code in LOADERS_CODES
        assert len(remark.detail.split()) > 2


def test_an_item_is_left_out_once_and_none_that_is_kept(corpus: Corpus) -> None:
    subjects = [rejection.subject for rejection in corpus.rejected]
    assert len(set(subjects)) == len(subjects)
    assert not {item.id for item in corpus.items} & set(subjects)


def test_an_unknown_option_lists_the_known_ones(loader: CorpusLoader, root: Path | None) -> None:
    with pytest.raises(InvalidInput, match="has no option 'colour'; it has"):
        loader.load(root, colour="red")


def test_an_empty_folder_is_told_in_a_sentence(loader: CorpusLoader, tmp_path: Path) -> None:
    with pytest.raises(BadCorpus, match=re.escape(str(tmp_path))):
        loader.load(tmp_path)
    with pytest.raises(InvalidInput, match=r"no folder .*/absent for corpus"):
        loader.load(tmp_path / "absent")


def test_a_corpus_that_needs_a_folder_asks_for_it(loader: CorpusLoader) -> None:
    if loader.needs_root:
        with pytest.raises(InvalidInput, match=f"corpus '{loader.name}' needs a folder: give --root"):
            loader.load()


def test_a_decorated_function_is_a_loader() -> None:
    @corpus_loader(name="tiny", summary="Nothing.", needs_root=False, options={"size": "how many"})
    def load(root: Path | None, *, size: int = 0) -> Corpus:
        return Corpus("tiny", (), description=f"{size} items")

    assert (load.name, load.options) == ("tiny", {"size": "how many"})
    assert load.load(size=3).description == "3 items"
    assert load.load(size=3, text="none").description == "3 items"


def test_an_option_of_its_own_comes_before_that_of_every_corpus() -> None:
    @corpus_loader(name="tiny", summary="Nothing.", needs_root=False, options={"text": "which text"})
    def load(root: Path | None, *, text: str = "") -> Corpus:
        return Corpus("tiny", (), description=text)

    assert load.takes == {"text": "which text"}
    assert load.load(text="Ulysses").description == "Ulysses"


def test_every_corpus_can_be_asked_to_read_its_photographs(
    loader: CorpusLoader, root: Path | None, corpus: Corpus
) -> None:
    read = loader.load(root, text="read")
    assert [item.id for item in read.items] == [item.id for item in corpus.items]
    assert [item.read_text for item in read.items] == [not item.frames for item in corpus.items]
    assert not any(item.read_text for item in corpus.items)
