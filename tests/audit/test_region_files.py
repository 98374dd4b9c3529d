import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from core.corpora.images import pixel_hash, read_image
from core.corpora.registry import catalogue
from core.errors import InvalidInput
from core.evaluators.regions.region_folder import RegionFolder
from core.evaluators.regions.source import index_regions
from tests.tiny.uniter import made_regions, write_npz


@pytest.fixture
def corpus(tmp_path: Path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for number in (42, 7):
        pixels = np.random.default_rng(number).integers(0, 256, (40, 50, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"COCO_val2014_{number:012}.png")
    captions = {path.stem: "A cat." for path in folder.glob("*.png")}
    (folder / "candidates.json").write_text(json.dumps(captions))
    return catalogue().get("folder").load(folder)


def test_entries_of_the_authors_are_found_by_the_number_of_the_picture(corpus, tmp_path: Path) -> None:
    regions = tmp_path / "regions"
    regions.mkdir()
    for number in (42, 99):
        write_npz(regions / f"coco_val2014_{number:012}.npz", made_regions(number, 20, 15))
    assert index_regions(corpus, regions) == (1, 2)
    (item,) = [each for each in corpus.items if each.image_path.stem.endswith("42")]
    found = RegionFolder(regions).find(pixel_hash(read_image(item.image_path).pixels))
    assert found is not None
    assert len(found.features) == 20


def test_a_folder_of_other_pictures_is_said_to_be_one(corpus, tmp_path: Path) -> None:
    regions = tmp_path / "regions"
    regions.mkdir()
    write_npz(regions / "flickr30k_000000000001.npz", made_regions(1, 20, 15))
    with pytest.raises(InvalidInput, match="none of the 2 pictures"):
        index_regions(corpus, regions)
