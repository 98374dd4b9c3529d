"""Items that show one picture cost its encodings once, and their rows are those of items with their own pictures."""

import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from core.audit.plan import Plan
from core.audit.render import render
from core.audit.run import RunStopped, run_audit
from core.corpora import item_pictures
from core.corpora.schema import Corpus, Item
from core.evaluators.pool import Pool
from core.store.run_files import Run
from tests.audit.squares import HISTOGRAM, SHORT_MEMORY, build_corpus
from tests.plans import make_plan

PICTURES = 3
SHOWN = 4
"""Items that show each picture, one after the other in the order of the files."""


def shared(root: Path, *, own_files: bool = False) -> Corpus:
    corpus = build_corpus(root, PICTURES)
    items = [item for again in range(SHOWN) for item in (_again(item, again, own_files) for item in corpus.items)]
    return replace(corpus, items=tuple(items), rejected=())


def _again(item: Item, again: int, own_files: bool) -> Item:
    path = item.image_path
    if own_files and path is not None:
        path = path.with_name(f"{path.stem}-{again}.png")
        shutil.copy(item.image_path, path)  # type: ignore[arg-type]
    captions = {"en": (f"{item.captions['en'][0]} Said in {again} other words.",)}
    return replace(item, id=f"{item.id}-{again}", captions=captions, image_path=path)


def plan_of(corpus: Corpus, **options: object) -> Plan:
    given = {"probes": ["rotation", "null", "jumble"], "subjects": ("human",), "evaluators": [HISTOGRAM, SHORT_MEMORY]}
    return make_plan(corpus, **{**given, "batch_size": 4, **options})  # type: ignore[arg-type]


def tables(run: Run) -> dict[str, pd.DataFrame]:
    return {name: pq.read_table(run.path / name).to_pandas() for name in ("scores", "items", "variants", "rejections")}


@pytest.mark.parametrize("batch", [1, 4, 5, 64])
def test_every_image_of_a_shared_picture_is_encoded_once(tmp_path: Path, batch: int) -> None:
    pool = Pool(100, "cpu")
    run = run_audit(plan_of(shared(tmp_path / "in"), batch_size=batch), tmp_path, run_id="r", pool=pool)
    unique = run.manifest["counts"]["unique_images"]
    assert unique == PICTURES * (1 + 4 + 3)  # unedited, rotations, invisible edits
    with pool.lease(HISTOGRAM) as dual, pool.lease(SHORT_MEMORY) as pairwise:
        assert sum(dual.image_calls) == unique  # type: ignore[attr-defined]
        assert len(pairwise.encoded) == len(set(pairwise.encoded)) == unique  # type: ignore[attr-defined]


def test_a_dual_encoder_encodes_it_once_in_each_shard(tmp_path: Path) -> None:
    pool = Pool(100, "cpu")
    plan = plan_of(shared(tmp_path / "in"), evaluators=[HISTOGRAM], shard_items=PICTURES)
    run = run_audit(plan, tmp_path, run_id="r", pool=pool)
    counts = run.manifest["counts"]
    assert counts["image_encodings"] == len(plan.shards) * counts["unique_images"]
    with pool.lease(HISTOGRAM) as dual:
        assert sum(dual.image_calls) == counts["image_encodings"]  # type: ignore[attr-defined]


def test_the_rows_are_those_of_items_with_files_of_their_own(tmp_path: Path) -> None:
    runs = [
        run_audit(
            plan_of(shared(tmp_path / name, own_files=own), shard_items=7),
            tmp_path / name,
            run_id="r",
            pool=Pool(100, "cpu"),
        )
        for name, own in (("one", False), ("own", True))
    ]
    one, own = (tables(run) for run in runs)
    key = ["item", "probe", "evaluator"]
    pd.testing.assert_frame_equal(
        one["scores"].sort_values(key, ignore_index=True), own["scores"].sort_values(key, ignore_index=True)
    )
    assert list(one["items"]["item"]) == list(own["items"]["item"])
    pd.testing.assert_frame_equal(one["items"].drop(columns="image"), own["items"].drop(columns="image"))
    for name in ("variants", "rejections"):
        pd.testing.assert_frame_equal(one[name], own[name])


def test_a_stopped_run_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    plan = plan_of(shared(tmp_path / "in"), shard_items=5)
    whole = run_audit(plan, tmp_path / "whole", run_id="r", pool=Pool(100, "cpu"))
    finished: list[int] = []
    with pytest.raises(RunStopped):
        run_audit(
            plan,
            tmp_path / "parts",
            run_id="r",
            pool=Pool(100, "cpu"),
            progress=lambda told: finished.append(told.shard),
            stop=lambda: finished[-1] >= 1,
        )
    again = run_audit(plan, tmp_path / "parts", run_id="r", pool=Pool(100, "cpu"))
    names = sorted(each.relative_to(whole.path) for each in whole.path.rglob("*.parquet"))
    assert names
    assert all((again.path / name).read_bytes() == (whole.path / name).read_bytes() for name in names)


def test_a_shared_file_is_decoded_once_a_shard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(shared(tmp_path / "in"))
    opened: list[str] = []
    read = item_pictures.read_image
    monkeypatch.setattr(
        item_pictures, "read_image", lambda path, **options: opened.append(path.name) or read(path, **options)
    )
    groups = list(render(plan, plan.corpus.items))
    assert sorted(opened) == [f"{index:03d}.png" for index in range(PICTURES)]
    assert {each.item.id for group in groups for each in group.items} == {item.id for item in plan.corpus.items}


def test_an_item_that_records_another_hash_costs_itself_alone(tmp_path: Path) -> None:
    corpus = shared(tmp_path / "in")
    changed = replace(corpus.items[PICTURES], pixels_sha256="0" * 64)
    items = (*corpus.items[:PICTURES], changed, *corpus.items[PICTURES + 1 :])
    run = run_audit(plan_of(replace(corpus, items=items)), tmp_path, run_id="r", pool=Pool(100, "cpu"))
    found = tables(run)
    assert len(found["items"]) == len(items) - 1
    left = found["rejections"]
    assert list(left[left.probe.isna()]["item"]) == [changed.id]
    assert "its pixels have another hash" in left[left.item == changed.id].detail.iloc[0]
