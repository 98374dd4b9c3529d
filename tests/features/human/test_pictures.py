"""A study shows the pictures of a corpus however the run read it: by a loader of another name, with options."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from core.audit.run import run_audit
from core.corpora.images import decode_image
from core.corpora.registry import catalogue
from core.errors import NotAvailable, StoreError
from core.evaluators.pool import Pool
from core.features.human.creation import create_study, make_pictures
from core.features.human.definition import DEFINITION, read_definition
from core.features.human.sampling import family_strata
from core.store.store import Store
from tests.audit.squares import HISTOGRAM
from tests.plans import make_plan


@pytest.fixture
def mine(tmp_path: Path) -> tuple[Path, Store]:
    """A folder of pairs under its own name, whose pictures lie elsewhere, and a run of it."""
    root, elsewhere = tmp_path / "pairs", tmp_path / "photographs"
    root.mkdir()
    elsewhere.mkdir()
    lines = []
    for number in range(12):
        pixels = np.random.default_rng(number).integers(0, 255, (40, 60, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(elsewhere / f"{number}.png")
        lines.append({"image": f"{number}.png", "right": f"A dog, {number}.", "wrong": f"A cat, {number}."})
    (root / "mine.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (root / "other.jsonl").write_text(json.dumps({"image": "gone.png", "right": "A.", "wrong": "B."}))
    options = {"file": "mine.jsonl", "images": str(elsewhere), "name": "my-pairs"}
    corpus = catalogue().get("pairs").load(root, **options)
    plan = make_plan(corpus, evaluators=[HISTOGRAM], probes=["given", "vflip"], subjects=("human",), root=root)
    run = run_audit(plan, tmp_path / "runs", run_id="mine", pool=Pool(100, "cpu"))
    return elsewhere, Store.open([run.path])


def test_a_study_makes_the_pictures_of_the_corpus_as_the_run_read_it(mine: tuple[Path, Store], tmp_path: Path) -> None:
    elsewhere, store = mine
    study = create_study(
        store,
        "mine",
        study_id="sides",
        title="Sides",
        kind="preference",
        total=8,
        per_item=2,
        attention_rate=0.0,
        seed=1,
        strata=family_strata(["vertical-flip"], ["given"]),
        parent=tmp_path / "studies",
    )
    assert {item.edits for item in study.definition.items} == {"image", "caption"}
    assert read_definition(tmp_path / "studies" / "sides") == study.definition
    corpus = (
        catalogue().get("pairs").load(tmp_path / "pairs", file="mine.jsonl", images=str(elsewhere), name="my-pairs")
    )
    for item in study.definition.items:
        made = make_pictures(study.definition, item)
        path = corpus.get(item.item).image_path
        assert path is not None
        stored = np.asarray(Image.open(path))
        assert np.array_equal(decode_image(made.original, name="o").pixels, stored)
        turned = stored if item.edits == "caption" else stored[::-1]
        assert np.array_equal(decode_image(made.variant, name="v").pixels, turned)


def test_a_study_from_before_options_were_kept_still_opens(mine: tuple[Path, Store], tmp_path: Path) -> None:
    _, store = mine
    study = create_study(
        store,
        "mine",
        study_id="sides",
        title="Sides",
        kind="preference",
        total=4,
        per_item=2,
        attention_rate=0.0,
        seed=1,
        strata=family_strata([], ["given"]),
        parent=tmp_path / "studies",
    )
    path = tmp_path / "studies" / "sides" / DEFINITION
    told = json.loads(path.read_text())
    del told["sha256"]
    assert told.pop("read_with")["options"]["file"] == "mine.jsonl"
    path.write_text(json.dumps(told))
    old = read_definition(path.parent)
    assert not old.read_with
    with pytest.raises(NotAvailable, match="my-pairs"):
        make_pictures(old, study.definition.items[0])
    path.write_text(json.dumps({**told, "read_with": 3}))
    with pytest.raises(StoreError, match="read_with must be an object"):
        read_definition(path.parent)
