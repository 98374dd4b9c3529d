"""Pairs of videos written out: a folder of frames each, as the audit would score them, and the scores read back."""

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from core.audit.export import export_pairs, size_of
from core.audit.imports import Imported, import_scores
from core.audit.pair_folder import PairFolder
from core.audit.plan import Plan
from core.audit.run import run_audit
from core.corpora.images import pixel_hash
from core.corpora.score_files import read_scores
from core.errors import InvalidInput
from core.evaluators.pool import Pool
from tests.audit.filmed import build_videos
from tests.audit.squares import ORDERED
from tests.plans import make_plan

PROBES = ("frames:half", "frames:backwards", "hflip")


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    corpus = build_videos(tmp_path_factory.mktemp("videos") / "videos", 3)
    return make_plan(corpus, evaluators=None, subjects=("human",), probes=PROBES, shard_items=2)


@pytest.fixture(scope="module")
def folder(plan: Plan, tmp_path_factory: pytest.TempPathFactory) -> PairFolder:
    return export_pairs(plan, tmp_path_factory.mktemp("out") / "pairs")


def frames_of(path: Path) -> np.ndarray:
    return np.stack([np.asarray(Image.open(each)) for each in sorted(path.iterdir())])


def test_every_stack_is_a_folder_of_its_frames_named_by_its_hash(folder: PairFolder, plan: Plan) -> None:
    places = {pair.image for pair in folder.pairs()}
    assert len(places) == 3 * (1 + len(PROBES)) == folder.told["counts"]["images"]
    for place in places:
        assert pixel_hash(frames_of(folder.path / place)) == Path(place).name
    assert size_of(plan).bytes == 3 * 4 * 3 * 64 * 48 * 4


def test_a_metric_that_reads_the_order_gives_the_run_that_an_audit_of_it_gives(
    folder: PairFolder, plan: Plan, tmp_path: Path
) -> None:
    lines = ["id,score"]
    for line in (folder.path / "pairs.jsonl").read_text().splitlines():
        pair = json.loads(line)
        left = frames_of(folder.path / pair["image"])[:, :, :32].mean(axis=(1, 2, 3)) / 255
        lines.append(f"{pair['id']},{left[-1] - left[0]!r}".replace("np.float64(", "").replace(")", ""))
    (tmp_path / "scores.csv").write_text("\n".join(lines))
    told = Imported("mine", "by hand", (-1.0, 1.0), read_scores(tmp_path / "scores.csv"))
    run = import_scores(folder, [told], tmp_path / "runs", run_id="imported")
    own = make_plan(plan.corpus, evaluators=[ORDERED], subjects=("human",), probes=PROBES, shard_items=2)
    audited = run_audit(own, tmp_path / "runs", run_id="audited", pool=Pool(2000, "cpu"))
    keys = ["item", "probe", "score"]
    one, other = (
        pq.read_table(each.path / "scores").to_pandas()[keys].sort_values(keys[:2]).reset_index(drop=True)
        for each in (run, audited)
    )
    assert one[keys[:2]].equals(other[keys[:2]])
    np.testing.assert_allclose(one["score"], other["score"], atol=1e-9)
    assert (one.loc[one["probe"] == "frames:backwards", "score"].abs() > 1e-3).all()


def test_what_is_missing_is_made_again_and_links_by_pair_are_refused(
    plan: Plan, folder: PairFolder, tmp_path: Path
) -> None:
    lost = next((folder.path / "images").rglob("00001.png"))
    lost.unlink()
    export_pairs(plan, folder.path)
    assert lost.is_file()
    with pytest.raises(InvalidInput, match="the items are videos, each a folder of frames"):
        export_pairs(plan, tmp_path / "linked", by_pair=True)
