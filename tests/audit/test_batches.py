"""An audit's batches follow its evaluators and a bound of bytes, and none of it changes a score."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from PIL import Image

from core.audit import render as rendering
from core.audit.plan import Plan
from core.audit.render import LEAST_BYTES, MB, MOST_BYTES, group_bytes, render, settle
from core.audit.run import Progress, RunStopped, run_audit
from core.corpora.schema import Corpus, Item
from core.errors import InvalidInput
from core.evaluators.pool import Pool
from tests.audit.squares import HISTOGRAM, PAIRED, build_corpus
from tests.plans import make_plan

LOG: list[tuple[int, int]] = []
"""(images, bytes) of every call of ``Wide``."""

WIDE = """
from tests.audit.test_batches import LOG
from tests.plugins.histogram import SPEC, Histogram
from core.evaluators.base import evaluator

@evaluator(name="wide", title="Asks for large batches", **SPEC)
class Wide(Histogram):
    full_batch = {size}

    def encode_images(self, images):
        LOG.append((len(images), sum(image.nbytes for image in images)))
        return super().encode_images(images)
"""


@pytest.fixture
def pool() -> Pool:
    return Pool(100, "cpu")


def wide(folder: Path, size: int) -> str:
    LOG.clear()
    path = folder / f"wide_{size}.py"
    path.write_text(WIDE.format(size=size), encoding="utf-8")
    return f"{path}:Wide"


def rows(folder: Path) -> pd.DataFrame:
    return pq.read_table(folder / "scores").to_pandas()


def plan_of(corpus: Corpus, evaluators: Sequence[str], **options: object) -> Plan:
    return make_plan(corpus, evaluators=evaluators, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [1, 32, 256])
def test_every_size_that_an_evaluator_asks_for_gives_the_same_scores_to_the_bit(
    size: int, tmp_path: Path, pool: Pool
) -> None:
    corpus = build_corpus(tmp_path / "corpus", 17)
    plain = run_audit(plan_of(corpus, [HISTOGRAM]), tmp_path / "plain", run_id="r", pool=pool)
    run = run_audit(plan_of(corpus, [wide(tmp_path, size)]), tmp_path / "wide", run_id="r", pool=pool)
    assert run.manifest["batch_size"] == size
    assert max(count for count, _ in LOG) == size
    assert run.manifest["counts"]["unique_images"] == plain.manifest["counts"]["unique_images"]
    pd.testing.assert_frame_equal(
        rows(run.path).drop(columns="evaluator"), rows(plain.path).drop(columns="evaluator"), check_exact=True
    )


def test_evaluators_that_ask_for_nothing_are_given_what_they_always_were(squares: Corpus, pool: Pool) -> None:
    plan = plan_of(squares, [HISTOGRAM, PAIRED])
    with pool.lease(HISTOGRAM) as one, pool.lease(PAIRED) as two:
        settled, batches = settle(plan, [one.full_batch, two.full_batch])
    assert set(batches.values()) == {32}
    assert settled.fingerprint() == plan.fingerprint() == plan_of(squares, [HISTOGRAM], batch_size=32).fingerprint()
    assert group_bytes(settled) == LEAST_BYTES


def test_each_evaluator_of_a_run_has_its_own_batches(squares: Corpus, tmp_path: Path, pool: Pool) -> None:
    reference = wide(tmp_path, 100)
    run_audit(plan_of(squares, [reference, PAIRED]), tmp_path / "runs", run_id="r", pool=pool)
    with pool.lease(PAIRED) as paired:
        assert max(paired.calls) == 32  # type: ignore[attr-defined]
    assert max(count for count, _ in LOG) == 100


def test_a_size_that_was_chosen_stands(squares: Corpus, tmp_path: Path, pool: Pool) -> None:
    run_audit(plan_of(squares, [wide(tmp_path, 100)], batch_size=5), tmp_path / "runs", run_id="r", pool=pool)
    assert max(count for count, _ in LOG) == 5


def test_a_run_is_resumed_with_the_groups_that_it_began_with(tmp_path: Path, pool: Pool) -> None:
    corpus = build_corpus(tmp_path / "corpus", 9)
    evaluator = wide(tmp_path, 8)
    plan = plan_of(corpus, [evaluator], shard_items=3)
    whole = run_audit(plan, tmp_path / "whole", run_id="r", pool=pool)
    finished: list[int] = []
    with pytest.raises(RunStopped):
        run_audit(
            plan,
            tmp_path / "runs",
            run_id="r",
            pool=pool,
            progress=lambda told: finished.append(told.shard),
            stop=lambda: finished[-1] >= 1,
        )
    path = Path(evaluator.rpartition(":")[0])
    path.write_text(WIDE.format(size=256), encoding="utf-8")
    run = run_audit(plan, tmp_path / "runs", run_id="r", pool=Pool(100, "cpu"))
    assert run.manifest["counts"] == whole.manifest["counts"]
    assert max(count for count, _ in LOG) == run.manifest["batch_size"] == 8
    names = sorted(each.relative_to(whole.path) for each in whole.path.rglob("*.parquet"))
    assert all((run.path / name).read_bytes() == (whole.path / name).read_bytes() for name in names)


def test_a_long_group_is_told_of_batch_by_batch(squares: Corpus, tmp_path: Path, pool: Pool) -> None:
    told: list[Progress] = []
    plan = plan_of(squares, [wide(tmp_path, 1000), PAIRED])
    run_audit(plan, tmp_path / "runs", run_id="r", pool=pool, progress=told.append)
    with pool.lease(PAIRED) as paired:
        calls = len(paired.calls)  # type: ignore[attr-defined]
    assert calls > 5
    assert len({each.done for each in told}) > calls
    assert [each.done for each in told] == sorted(each.done for each in told)


def test_an_evaluator_that_asks_for_nothing_sensible_ends_the_run_before_it_begins(
    squares: Corpus, tmp_path: Path, pool: Pool
) -> None:
    with pytest.raises(InvalidInput, match="asks for batches of 0; its full_batch must be at least 1"):
        run_audit(plan_of(squares, [wide(tmp_path, 0)]), tmp_path / "runs", run_id="r", pool=pool)
    assert not (tmp_path / "runs" / "r").exists()


def large_pictures(root: Path, count: int, side: int) -> Corpus:
    root.mkdir()
    items = []
    for index in range(count):
        Image.new("RGB", (side, side), (index, 40, 90)).save(root / f"{index}.png")
        items.append(
            Item(
                id=f"{index}",
                corpus="large",
                image_path=root / f"{index}.png",
                width=side,
                height=side,
                captions={"en": ("A flat colour.",)},
                licence="CC0-1.0",
                source="made by a test",
            )
        )
    return Corpus("large", tuple(items))


def test_large_pictures_close_a_group_by_their_bytes_and_stay_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = large_pictures(tmp_path / "large", 6, 300)
    plan = plan_of(corpus, [HISTOGRAM], subjects=("human",), probes=["rotation"], batch_size=256)
    one, bound = 300 * 300 * 3, MB
    whole = list(render(plan, corpus.items))
    monkeypatch.setattr(rendering, "group_bytes", lambda plan: bound)
    parts = list(render(plan, corpus.items))
    held = [sum(image.nbytes for image in group.images.values()) for group in parts]
    assert len(whole) == 1
    assert all(bound <= size < bound + one for size in held[:-1])
    assert [draft.image_key for group in parts for draft in group.drafts] == [d.image_key for d in whole[0].drafts]


@pytest.mark.parametrize(
    ("images", "most"), [(1, LEAST_BYTES), (32, LEAST_BYTES), (200, 200 * MB), (256, MOST_BYTES), (100_000, MOST_BYTES)]
)
def test_the_bound_of_bytes_grows_with_the_batch_and_ends(squares: Corpus, images: int, most: int) -> None:
    assert group_bytes(plan_of(squares, [HISTOGRAM], batch_size=images)) == most


def test_photographs_of_common_size_fill_a_card_s_batch(squares: Corpus) -> None:
    assert 256 * np.zeros((480, 640, 3), np.uint8).nbytes <= group_bytes(plan_of(squares, [HISTOGRAM], batch_size=256))
