"""``calibrate --against cider-d``: a run of captions by people, held to the other captions of its images."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from core.commands._shared import Code
from tests.audit.squares import PAIRED
from tests.commands.calling import Invoke

NAME = "paired-histogram"
THINGS = ("red bed", "blue car", "green dog", "grey cat", "tall tree", "old boat", "small cup", "wide road")


def write_captions(root: Path, captions: dict[str, list[str]]) -> None:
    rows = [(f"{name}.png", caption) for name, texts in captions.items() for caption in texts]
    pd.DataFrame(rows, columns=["image", "caption"]).to_csv(root / "captions.csv", index=False)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    root = tmp_path / "photos"
    root.mkdir()
    for seed in range(16):
        pixels = np.random.default_rng(seed).integers(0, 255, (32, 40, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(root / f"{seed}.png")
    return root


def several(first: str = "A photo of a {} in a room") -> dict[str, list[str]]:
    things = {f"{seed}": THINGS[seed % 8] for seed in range(16)}
    more = "There is a {}, number {}.", "One {} of many, {}."
    return {
        name: [f"{first.format(thing)} {name}.", *(text.format(thing, name) for text in more if name != "3")]
        for name, thing in things.items()
    }


def test_a_caption_by_people_is_never_its_own_reference_and_one_alone_has_none(invoke: Invoke, photos: Path) -> None:
    write_captions(photos, several())
    corpus = ("--corpus", "folder", "--root", photos, "--subject", "human", "--probes", "vertical-flip")
    assert invoke("audit", *corpus, "--evaluators", PAIRED, "--run-id", "r").exit_code == Code.OK
    learn = ("calibrate", "learn", "r", "--evaluator", NAME, "--reading", "orbit")
    done = invoke(*learn, "--against", "rouge-l,cider-d", "--json")
    assert done.exit_code == Code.OK, done.stderr
    told = json.loads(done.stdout)
    assert (told["references"]["n"], told["references"]["items"]) == (15, 16)
    assert "2.0 each on average" in told["references"]["told"][0]
    assert "these 15 images" in told["references"]["told"][1]
    rows = [row for row in told["before_after"] if row["measure"] == "spearman"]
    assert {row["name"] for row in rows} == {"rouge-l", "cider-d"}
    # another caption in place of the one that was held: not the corpus of the run any more
    write_captions(photos, several("A picture of a {} in a room"))
    done = invoke(*learn, "--against", "cider-d")
    assert done.exit_code == Code.BAD_INPUT
    assert "16 items are gone or have another caption" in done.stderr
    # the held caption alone is left
    write_captions(photos, {name: texts[:1] for name, texts in several().items()})
    done = invoke(*learn, "--against", "cider-d")
    assert done.exit_code == Code.BAD_INPUT
    assert "0 of 16 items of corpus folder have another" in done.stderr
