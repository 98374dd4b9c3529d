"""The shipped run as an audit of two corpora, and a small one of several places: what the shipped run cannot answer."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from core.audit.run import run_audit
from core.evaluators.pool import Pool
from tests.analysis.made_runs import SHIPPED, raw
from tests.audit.squares import HISTOGRAM, build_corpus
from tests.manifests import edit_manifest
from tests.plans import make_plan

REFERENCE, OTHER = "coco", "demo"
"""Corpora of the shipped items; the smaller has the name of the paper's, which the others are held against."""

EVALUATORS = ("conse-lite0", "grounding-judge")


def split_shipped(folder: Path) -> dict[str, pd.DataFrame]:
    """Write the shipped items as runs of two corpora, and a second, smaller run of one with other scores.

    Returns:
        Run -> its stored scores: ``first`` and ``second``, one a corpus, and ``again``, which is to be left out.
    """
    items = sorted(raw(table="items")["item"].unique())
    written = {
        "first": (REFERENCE, items[::3]),
        "second": (OTHER, [each for each in items if each not in items[::3]]),
        "again": (OTHER, items[1:40:3]),
    }
    for run, (corpus, own) in written.items():
        _write(folder / run, corpus, own, factor=0.5 if run == "again" else 1.0)
    return {run: raw(folder / run) for run in written}


def _write(folder: Path, corpus: str, items: list[str], *, factor: float) -> None:
    for table in ("scores", "items", "rejections"):
        rows = pa.concat_tables([pq.read_table(path) for path in sorted((SHIPPED / table).glob("*.parquet"))])
        keep = pc.is_in(rows["item"], pa.array(items))
        if table == "scores":
            keep = pc.and_(keep, pc.is_in(rows["evaluator"], pa.array(EVALUATORS)))
        rows = rows.filter(keep)
        told = {"run": folder.name, "corpus": corpus}
        for name, value in told.items():
            rows = rows.set_column(rows.schema.get_field_index(name), name, pa.array([value] * len(rows)))
        if table == "scores" and factor != 1.0:
            moved = np.where(rows["axis"].is_null(), 1.0, factor) * rows["score"].to_numpy()
            rows = rows.set_column(rows.schema.get_field_index("score"), "score", pa.array(moved, from_pandas=True))
        (folder / table).mkdir(parents=True)
        pq.write_table(rows, folder / table / "shard-00000.parquet")
    manifest = json.loads((SHIPPED / "manifest.json").read_text(encoding="utf-8"))
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    edit_manifest(folder, run=folder.name, corpus={**manifest["corpus"], "name": corpus}, counts={})


def audit_distance(folder: Path) -> pd.DataFrame:
    """Audit a corpus of a few items over the grid of places; returns its stored scores."""
    plan = make_plan(build_corpus(folder / "corpus", 5), evaluators=[HISTOGRAM], probes=["distance"])
    run_audit(plan, folder / "runs", run_id="grid", pool=Pool(100, "cpu"))
    return raw(folder / "runs" / "grid")
