"""Runs written by hand for the tests of the analysis, and stored rows read without it.

Nothing here asks the store or the table of scores: :func:`raw` and :func:`shifts` are the independent way from the
Parquet files to a number.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from core.settings import results_dir
from core.store.schema import ADDED, ITEMS, SCHEMA_VERSION, schemas_of
from tests.manifests import edit_manifest

SHIPPED = results_dir() / "demo"
PAIR = ["run", "corpus", "item", "subject", "language", "rank", "evaluator"]
"""What a score and its baseline have in common."""

PROBES: Mapping[str, Mapping[str, Any]] = {
    "identity": {},
    "vflip": {"axis": "spatial", "family": "vertical-flip", "baseline": "identity"},
    "hflip": {"axis": "spatial", "family": "horizontal-flip", "baseline": "identity"},
    "rotate-5": {"axis": "spatial", "family": "rotation", "baseline": "identity"},
    "rotate+5": {"axis": "spatial", "family": "rotation", "baseline": "identity"},
    "blur-1": {"axis": "spatial", "family": "blur", "baseline": "identity", "control": True},
    "null:shift1": {"axis": "null", "family": "null", "baseline": "identity", "control": True},
    "base": {"axis": "societal", "family": "base", "baseline": "identity", "control": True},
    "gender:plain": {"axis": "societal", "family": "gender", "baseline": "base", "control": True, "modifier": "plain"},
    "gender:boy": {"axis": "societal", "family": "gender", "baseline": "gender:plain", "modifier": "boy"},
    "gender:girl": {"axis": "societal", "family": "gender", "baseline": "gender:plain", "modifier": "girl"},
    "jumble": {"axis": "semantic", "family": "jumble", "baseline": "identity", "expectation": "directional"},
    "mention:2": {"axis": "object", "family": "mention", "baseline": "identity", "expectation": "response"},
}
"""A few probes as an audit files them."""


def score(item: str, probe: str, value: float | None, **told: Any) -> dict[str, Any]:
    """One row of ``scores`` of evaluator ``e`` on the template caption of corpus ``c``; anything can be told apart."""
    about = {"control": False, "expectation": None if probe == "identity" else "invariant", **PROBES.get(probe, {})}
    usual = {
        "corpus": "c",
        "subject": "template",
        "language": "en",
        "rank": 0,
        "evaluator": "e",
        "category": "animal",
        "coverage_bin": "40-60",
        "label": "cat",
    }
    return {**usual, **about, "item": item, "probe": probe, "score": value, **told}


def scores_of(
    probes: Sequence[str], items: int, value: Callable[[str, int], float | None], **told: Any
) -> list[dict[str, Any]]:
    """Rows of every probe and item, whose score is ``value(probe, number of the item)``."""
    return [score(f"i{place:03d}", probe, value(probe, place), **told) for probe in probes for place in range(items)]


def audited(*probes: str, items: int = 24, seed: int = 0, **told: Any) -> list[dict[str, Any]]:
    """Rows of an audit of some of PROBES with the baselines that they need; scores are drawn, coverage rises."""
    rng = np.random.default_rng(seed)
    names = dict.fromkeys(["identity", *probes])
    while more := {str(PROBES[name]["baseline"]) for name in names if PROBES[name].get("baseline")} - set(names):
        names |= dict.fromkeys(sorted(more))
    return [
        score(f"i{place:03d}", name, float(rng.uniform(0.2, 0.9)), coverage=0.05 + place / 40, **told)
        for name in names
        for place in range(items)
    ]


def write_run(
    folder: Path,
    rows: Iterable[Mapping[str, Any]],
    *,
    items: Iterable[Mapping[str, Any]] | None = None,
    shards: int = 1,
    version: int = SCHEMA_VERSION,
    **manifest: Any,
) -> Path:
    """A run folder written by hand.

    Args:
        folder: its last part is the run's id, which every row gets.
        rows: of ``scores``.
        items: of the table ``items``; None: the items that the scores name.
        shards: files that the scores are spread over.
        version: schema of the files.
        manifest: entries beside the usual ones.
    """
    scores = [{**row, "run": folder.name} for row in rows]
    found = [{**row, "run": folder.name} for row in items] if items is not None else _items_of(scores)
    schemas = schemas_of(version)
    (folder / "scores").mkdir(parents=True)
    (folder / "items").mkdir()
    for place in range(shards):
        table = pa.Table.from_pylist(scores[place::shards], schema=schemas["scores"])
        pq.write_table(table, folder / "scores" / f"shard-{place:05d}.parquet")
    pq.write_table(pa.Table.from_pylist(found, schema=schemas["items"]), folder / "items" / "shard-00000.parquet")
    names = sorted({str(row["evaluator"]) for row in scores})
    told = {
        "schema_version": version,
        "run": folder.name,
        "status": "complete",
        "corpus": {},
        "counts": {},
        "evaluators": [{"name": name, "spec": {"score_range": [0.0, 1.0]}} for name in names],
    }
    (folder / "manifest.json").write_text(json.dumps(told | manifest), encoding="utf-8")
    return folder


def _items_of(scores: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    known = {(row["corpus"], row["item"]): row for row in scores}
    return [{name: row.get(name) for name in ITEMS.names if name in row} for row in known.values()]


def raw(folder: Path = SHIPPED, table: str = "scores") -> pd.DataFrame:
    """Stored rows as pandas reads them; what its version did not have means what the schema says."""
    files = sorted((folder / table).glob("*.parquet"))
    rows = pd.concat([pq.read_table(path).to_pandas() for path in files], ignore_index=True)
    for (held, name), added in ADDED.items():
        if table == held and name not in rows:
            rows[name] = math.nan if added.means is None else added.means
    text = [name for name in rows.columns if not pd.api.types.is_numeric_dtype(rows[name])]
    return rows.astype(dict.fromkeys(text, object))


FURTHER = ("reposition-hard", "reposition-telea", "reposition-true")
"""Families that are other readings of an edit, on another plate or cut hard: asked by name, in no table of families."""


def shifts(scores: pd.DataFrame, *, further: bool = False) -> pd.DataFrame:
    """Every row that has a baseline with baseline_score, delta and percent (none where |baseline| < 0.000 001).

    Rows of FURTHER are left out, but where single pairs are asked for.
    """
    scores = scores if further else scores[~scores["family"].isin(FURTHER)]
    probes = scores[[*PAIR, "probe", "score"]].rename(columns={"probe": "baseline", "score": "baseline_score"})
    found = scores[scores["baseline"].notna()].merge(probes, on=[*PAIR, "baseline"], how="left", validate="m:1")
    delta = found["score"] - found["baseline_score"]
    percent = (100 * delta / found["baseline_score"]).where(found["baseline_score"].abs() >= 1e-6)
    return found.assign(delta=delta, percent=percent)


def shuffled(folder: Path, into: Path, *, seed: int, shards: int = 3) -> Path:
    """The same run with the rows of every table in another order, in other files."""
    rng = np.random.default_rng(seed)
    for table in sorted({path.parent.name for path in folder.glob("*/*.parquet")}):
        rows = pa.concat_tables([pq.read_table(path) for path in sorted((folder / table).glob("*.parquet"))])
        rows = rows.take(pa.array(rng.permutation(len(rows))))
        (into / table).mkdir(parents=True)
        for place in range(shards):
            part = rows.take(pa.array(np.arange(place, len(rows), shards)))
            pq.write_table(part, into / table / f"shard-{place:05d}.parquet")
    told = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    (into / "manifest.json").write_text(json.dumps(told), encoding="utf-8")
    edit_manifest(into)
    return into
