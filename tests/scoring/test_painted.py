from base64 import b64encode
from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from core.audit.render import render
from core.corpora.images import pixel_hash
from core.corpora.item_pictures import read_item
from core.corpora.schema import Corpus
from core.errors import BadImage, InvalidInput, ProbeRejected
from core.probes import registry as probes
from core.scoring.workbench import MOST_MASK_BYTES, at_size, open_bench, read_painted, replay
from tests.audit.squares import HISTOGRAM
from tests.plans import make_plan

SHOWN = (60, 80)


def address(pixels: np.ndarray, kind: str = "PNG", media: str = "png") -> str:
    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, kind)
    return f"data:image/{media};base64,{b64encode(buffer.getvalue()).decode()}"


def white(mask: np.ndarray) -> np.ndarray:
    return (mask[..., None] * np.full(3, 255)).astype(np.uint8)


@pytest.fixture
def before() -> np.ndarray:
    """A rough mask three times as large as it is shown: what it loses on its way to the browser would be seen."""
    mask = np.zeros((180, 240), bool)
    mask[30:120, 40:150] = np.random.default_rng(0).random((90, 110)) > 0.4
    return mask


def test_what_was_not_painted_over_stays_as_it_was_to_the_pixel(before: np.ndarray) -> None:
    shown = at_size(before, SHOWN)
    painted = shown.copy()
    painted[50:58, 5:15] = True
    found = read_painted(address(white(painted)), before=before, shown=SHOWN)
    assert found[152:172, 18:42].all()
    assert (found[:140] == before[:140]).all()


def test_the_eraser_takes_away_and_nothing_else_moves(before: np.ndarray) -> None:
    shown = at_size(before, SHOWN)
    erased = shown.copy()
    erased[:, :30] = False
    found = read_painted(address(white(erased)), before=before, shown=SHOWN)
    assert found[:, 95:].sum() == before[:, 95:].sum()
    assert found[:, :80].sum() < 0.6 * before[:, :80].sum()


def test_the_soft_edge_of_a_brush_is_cut_at_its_half() -> None:
    grey = np.zeros((*SHOWN, 3), np.uint8)
    grey[10, 10:13] = [[127] * 3, [128] * 3, [255] * 3]
    found = read_painted(address(grey), before=np.zeros(SHOWN, bool), shown=SHOWN)
    assert found[10, 10:13].tolist() == [False, True, True]
    assert found.sum() == 2


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ("javascript:alert(1)", BadImage),
        ("data:image/svg+xml;base64,PHN2Zz4=", BadImage),
        ("data:image/png;base64,!!!", BadImage),
        ("data:image/png;base64,AAAA", BadImage),
        ("data:image/png;base64," + "A" * (MOST_MASK_BYTES * 2), BadImage),
        (address(np.full((600, 800, 3), 255, np.uint8)), BadImage),
        (address(np.full((60, 40, 3), 255, np.uint8)), InvalidInput),
        (address(np.zeros((*SHOWN, 3), np.uint8)), InvalidInput),
    ],
    ids=["a script", "another kind", "no base64", "no picture", "too long", "too many pixels", "another size", "empty"],
)
def test_what_cannot_be_a_mask_painted_here_is_refused_in_a_sentence(given: str, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"mask|picture|image"):
        read_painted(given, before=np.zeros(SHOWN, bool), shown=SHOWN)


def test_a_replayed_variant_has_the_pixels_that_the_run_scored(squares: Corpus) -> None:
    names = ["vflip", "rotate+10", "reposition-TL", "reposition-BR", "blur-2"]
    plan = make_plan(squares, evaluators=[HISTOGRAM], probes=names, seed=77)
    benches = {
        item.id: open_bench(item, pixels_sha256=read_item(item).pixels_sha256, seed=77) for item in squares.items[:3]
    }
    compared = 0
    for group in render(plan, squares.items[:3]):
        for draft in group.drafts:
            if draft.probe is None or draft.probe.name not in names:
                continue
            found = replay(benches[draft.item.id], draft.probe)
            assert found.after is not None
            assert pixel_hash(found.after) == draft.image_key
            compared += 1
    assert compared >= 4 * len(benches)


def test_another_seed_is_another_variant_where_the_probe_draws(squares: Corpus) -> None:
    item = squares.items[0]
    benches = [open_bench(item, pixels_sha256=None, seed=seed) for seed in (1, 1, 2)]
    assert [bench.seed for bench in benches] == [1, 1, 2]
    flips = [replay(bench, probes.catalogue().get("vflip")).after for bench in benches]
    np.testing.assert_array_equal(flips[0], flips[2])


def test_a_moved_object_has_its_old_and_its_new_box(squares: Corpus) -> None:
    item = squares.items[0]
    found = replay(open_bench(item, pixels_sha256=None, seed=1), probes.catalogue().get("reposition-BR"))
    assert found.box_before == item.box
    assert found.box_after is not None
    assert found.box_after.x > item.box.x
    assert found.box_after.width == item.box.width


def test_a_picture_that_changed_since_the_run_is_refused(squares: Corpus) -> None:
    item = squares.items[0]
    recorded = read_item(item).pixels_sha256
    Image.fromarray(np.zeros((64, 80, 3), np.uint8)).save(item.image_path)
    with pytest.raises(BadImage, match=r"'item-0' is not the one that the run scored.*audit the corpus again"):
        open_bench(item, pixels_sha256=recorded, seed=1)


def test_a_file_saved_anew_with_the_same_pixels_is_the_same_picture(squares: Corpus) -> None:
    item = squares.items[0]
    image = read_item(item)
    Image.fromarray(image.pixels).save(item.image_path, compress_level=0)
    again = open_bench(item, pixels_sha256=image.pixels_sha256, seed=1)
    assert again.item.bytes_sha256 != image.bytes_sha256
    np.testing.assert_array_equal(again.pixels, image.pixels)


def test_a_file_that_is_gone_is_named(squares: Corpus) -> None:
    item = replace(squares.items[0], image_path=squares.items[0].image_path.with_name("gone.png"))
    with pytest.raises(BadImage, match=r"item-0.*gone\.png"):
        open_bench(item, pixels_sha256=None, seed=1)


def test_a_probe_that_no_longer_fits_says_so(squares: Corpus) -> None:
    item = replace(squares.items[0], box=None, mask=None)
    with pytest.raises(ProbeRejected, match="no mask"):
        replay(open_bench(item, pixels_sha256=None, seed=1), probes.catalogue().get("reposition-BR"))
