from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from core.audit.render import render
from core.corpora.images import pixel_hash
from core.corpora.item_pictures import read_item
from core.corpora.schema import Corpus
from core.errors import BadImage, ProbeRejected
from core.probes import registry as probes
from core.scoring.workbench import open_bench, replay
from tests.audit.squares import HISTOGRAM
from tests.plans import make_plan


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
