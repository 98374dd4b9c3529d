"""A run with both halves of an audit, written by hand: meanings that break, and edits that should not matter."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from core.store.schema import REJECTIONS, VARIANTS
from tests.analysis.made_runs import score, write_run

HARMLESS: Mapping[str, Mapping[str, Any]] = {
    "vflip": {"axis": "spatial", "family": "vertical-flip"},
    "rotate-5": {"axis": "spatial", "family": "rotation"},
    "rotate+5": {"axis": "spatial", "family": "rotation"},
    "blur-1": {"axis": "spatial", "family": "blur", "control": True},
    "null:shift1": {"axis": "null", "family": "null", "control": True},
}

BROKEN: Mapping[str, Mapping[str, Any]] = {
    "shuffled": {"axis": "lexical", "family": "shuffled"},
    "masked": {"axis": "lexical", "family": "masked"},
    "denied": {"axis": "semantic", "family": "denied"},
    "swapped:near": {"axis": "semantic", "family": "swapped"},
    "swapped:far": {"axis": "semantic", "family": "swapped"},
    "size:large-mixed": {"axis": "object", "family": "size-mixed", "baseline": "size:large"},
}
"""Directional probes of the test; families that no other code knows."""

ANSWERED: Mapping[str, Mapping[str, Any]] = {
    "mention:1": {"axis": "object", "family": "mention"},
    "mention:2": {"axis": "object", "family": "mention", "baseline": "mention:1"},
    "size:small": {"axis": "object", "family": "size"},
    "nested:share": {"axis": "object", "family": "nested"},
    "nested:place": {"axis": "object", "family": "nested", "baseline": "nested:share"},
    "size:large": {"axis": "object", "family": "size", "baseline": "size:small"},
}
"""Probes both of whose sides are true."""

SHIFT: Mapping[str, tuple[float, float]] = {
    "identity": (0.0, 0.0),
    "vflip": (0.0, 0.03),
    "rotate-5": (0.0, 0.01),
    "rotate+5": (0.0, 0.01),
    "blur-1": (-0.02, 0.02),
    "null:shift1": (0.0, 0.001),
    "shuffled": (-0.01, 0.04),
    "masked": (-0.1, 0.05),
    "denied": (0.02, 0.03),
    "swapped:near": (-0.03, 0.05),
    "swapped:far": (-0.12, 0.05),
    "mention:1": (0.0, 0.02),
    "mention:2": (0.02, 0.02),
    "size:small": (0.0, 0.02),
    "nested:share": (0.01, 0.02),
    "nested:place": (0.02, 0.03),
    "size:large": (0.05, 0.03),
    "size:large-mixed": (0.03, 0.04),
}
"""Probe -> mean and spread of what it does to the score of evaluator ``e``."""

ITEMS = 24


def about(probe: str) -> dict[str, Any]:
    """What an audit files of a probe."""
    if probe == "identity":
        return {}
    told = {**HARMLESS, **BROKEN, **ANSWERED}[probe]
    expectation = "directional" if probe in BROKEN else "response" if probe in ANSWERED else "invariant"
    return {"baseline": "identity", "expectation": expectation, **told}


def rows_of(
    evaluators: Sequence[str] = ("e",),
    *,
    probes: Sequence[str] | None = None,
    items: int = ITEMS,
    seed: int = 0,
    **told: Any,
) -> list[dict[str, Any]]:
    """Rows of ``scores``: ``e`` is drawn around SHIFT, ``flat`` returns 0.5, ``truth`` 1 of a right pair and 0 else."""
    rng, found = np.random.default_rng(seed), []
    names = list(probes) if probes is not None else ["identity", *HARMLESS, *BROKEN, *ANSWERED]
    clean = rng.uniform(0.4, 0.9, size=items)
    for name in names:
        mean, spread = SHIFT[name]
        drawn = clean + rng.normal(mean, spread, size=items)
        for evaluator in evaluators:
            values = {"flat": np.full(items, 0.5), "truth": np.full(items, float(name not in BROKEN))}
            own = values.get(evaluator, drawn)
            found += [
                score(
                    f"i{place:03d}",
                    name,
                    float(own[place]),
                    subject="human",
                    evaluator=evaluator,
                    coverage=0.05 + place / 40,
                    caption=f"caption {place} under {name}",
                    **{**about(name), **told},
                )
                for place in range(items)
            ]
    return found


def facts_of(probes: Sequence[str], facts: Mapping[str, Sequence[str]], *, items: int = ITEMS) -> list[dict[str, Any]]:
    """Facts of some probes: every key's values in turn, item after item."""
    return [
        {
            "corpus": "c",
            "item": f"i{place:03d}",
            "probe": probe,
            "subject": "human",
            "language": "en",
            "rank": 0,
            "key": key,
            "value": values[place % len(values)],
        }
        for probe in probes
        for key, values in facts.items()
        for place in range(items)
    ]


def write_broken(
    folder: Path,
    rows: Sequence[Mapping[str, Any]],
    *,
    facts: Sequence[Mapping[str, Any]] = (),
    pairs: int = 0,
    source: str | None = None,
    refused: Sequence[tuple[str, str, str]] = (),
    **manifest: Any,
) -> Path:
    """A run folder with facts of its variants.

    Args:
        folder: its last part is the run's id.
        rows: of ``scores``.
        facts: of ``variants``.
        refused: item, probe and code of what has no rows.
        pairs: how many first items share their source with the next one; 0: each is its own source.
        source: that of every item; None: as ``pairs`` has it.
        manifest: as of :func:`tests.analysis.made_runs.write_run`.
    """
    known = {(row["corpus"], row["item"]): row for row in rows}
    items = [
        {
            "corpus": corpus,
            "item": item,
            "category": row.get("category"),
            "coverage": row.get("coverage"),
            "coverage_bin": row.get("coverage_bin"),
            "label": row.get("label"),
            "item_group": source or (f"source {place // 2}" if place < 2 * pairs else f"source of {item}"),
        }
        for place, ((corpus, item), row) in enumerate(known.items())
    ]
    made = write_run(folder, rows, items=items, corpus={"name": "c"}, **manifest)
    (folder / "variants").mkdir()
    told = [{**row, "run": folder.name} for row in facts]
    pq.write_table(pa.Table.from_pylist(told, schema=VARIANTS), folder / "variants" / "shard-00000.parquet")
    if refused:
        left = [
            {"run": folder.name, "corpus": "c", "item": item, "probe": probe, "code": code, "detail": ""}
            for item, probe, code in refused
        ]
        (folder / "rejections").mkdir(exist_ok=True)
        path = folder / "rejections" / "shard-00000.parquet"
        pq.write_table(pa.Table.from_pylist(left, schema=REJECTIONS), path)
    return made


def compared(scores: pd.DataFrame, probes: Sequence[str], evaluator: str = "e") -> pd.DataFrame:
    """Right and wrong scores of some probes from stored rows: columns item, probe, right, wrong."""
    rows = scores[scores["evaluator"] == evaluator]
    own = rows[rows["probe"].isin(list(probes))]
    sides = rows[["item", "probe", "score"]].rename(columns={"probe": "baseline", "score": "right"})
    found = own.merge(sides, on=["item", "baseline"], how="left", validate="m:1")
    return found.rename(columns={"score": "wrong"})[["item", "probe", "right", "wrong"]]
