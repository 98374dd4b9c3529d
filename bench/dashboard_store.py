"""Run folders of any size without an evaluator: the shape of an audit's files, with made-up scores."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.audit.fingerprints import describe_probe
from core.corpora.schema import coverage_bin
from core.probes.base import (
    FALSITY,
    HUMAN,
    IDENTITY,
    KNOWN_WRONG,
    LENGTH_MATCHED,
    TEMPLATE,
    Edits,
    Expectation,
    Probe,
)
from core.probes.registry import select
from core.seeds import RUN_SEED
from core.store.run_files import AUDIT, with_seal
from core.store.schema import ITEMS as ITEM_COLUMNS
from core.store.schema import REJECTIONS, SCHEMA_VERSION, SCORES, VARIANTS
from core.store.whole import sealed_files

ITEMS: Mapping[str, int] = {"made-up-a": 8_300, "made-up-b": 300, "made-up-c": 100}
"""Items of each corpus: pages look at one corpus, so nearly all of the two million scores are of one."""
EVALUATORS = ("e-one", "e-two", "e-three", "e-four", "e-five")
SHARD_ITEMS = 24

CATEGORIES = (
    "animal",
    "person",
    "vehicle",
    "food",
    "furniture",
    "kitchen",
    "sports",
    "indoor",
    "outdoor",
    "electronics",
    "appliance",
    "accessory",
)
LABELS_EACH = 12

FALSITIES = {
    **dict.fromkeys(("foil", "grounding", "number-word", "negation", "template"), KNOWN_WRONG[0]),
    "colour-word": "presumed",
}
"""Family of broken captions -> what its edits tell of their falsity; the others tell nothing."""


def write_store(
    folder: Path, *, items: Mapping[str, int] = ITEMS, subject: str = TEMPLATE, shard_items: int = SHARD_ITEMS
) -> int:
    """Write one complete run a corpus: of the default probes, or of what breaks a human caption and harmless edits.

    Args:
        folder: where the run folders go; made when needed.
        items: corpus -> how many items it has.
        subject: of the captions, TEMPLATE or HUMAN.
        shard_items: items of a shard.

    Returns:
        Rows of all score tables.
    """
    chosen = select(("default",)) if subject == TEMPLATE else broken_and_harmless()
    return sum(
        _write_run(folder / name, name, count, chosen, rank, subject, shard_items)
        for rank, (name, count) in enumerate(items.items())
    )


def broken_and_harmless() -> tuple[Probe, ...]:
    """Probes of human captions: those that break one and are compared with it, and the default edits of the picture."""
    return tuple(
        each
        for each in select(("default", "directional"))
        if (each.edits is Edits.IMAGE and HUMAN in each.held and each.expectation is Expectation.INVARIANT)
        or (HUMAN in each.subjects and each.baseline == IDENTITY and each.expectation is Expectation.DIRECTIONAL)
    )


def _write_run(
    folder: Path, corpus: str, items: int, probes: tuple[Probe, ...], rank: int, subject: str, shard_items: int
) -> int:
    rng = np.random.default_rng((RUN_SEED, rank))
    about = _about_items(corpus, items, rng)
    clean = rng.beta(8, 3, size=(items, len(EVALUATORS)))
    rows = 0
    for index, start in enumerate(range(0, items, shard_items)):
        part = slice(start, min(start + shard_items, items))
        scores = _scores(
            folder.name,
            corpus,
            {name: values[part] for name, values in about.items()},
            clean[part],
            probes,
            rng,
            subject,
        )
        rows += scores.num_rows
        known = {name: about[name][part] for name in about}
        listed = _items(folder.name, corpus, known)
        facts = _facts(folder.name, corpus, known["item"], probes)
        for table, content in {
            "scores": scores,
            "items": listed,
            "rejections": REJECTIONS.empty_table(),
            "variants": facts,
        }.items():
            path = folder / table / f"shard-{index:05d}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(content, path, compression="zstd", write_page_checksum=True)
    manifest = _manifest(folder.name, corpus, items, rows, probes)
    sealed = with_seal(manifest, by=AUDIT, files=sealed_files(folder, SCHEMA_VERSION))
    (folder / "manifest.json").write_text(json.dumps(sealed, indent=2), encoding="utf-8")
    return rows


def _about_items(corpus: str, items: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    category = np.array(CATEGORIES)[rng.integers(len(CATEGORIES), size=items)]
    number = rng.integers(LABELS_EACH, size=items)
    coverage = rng.uniform(0.01, 0.99, size=items)
    return {
        "item": np.array([f"{corpus}-{index:06d}" for index in range(items)]),
        "label": np.char.add(np.char.add(category, " "), number.astype(str)),
        "category": category,
        "coverage": coverage,
        "coverage_bin": np.array([coverage_bin(share) for share in coverage]),
    }


def _scores(
    run: str,
    corpus: str,
    about: dict[str, np.ndarray],
    clean: np.ndarray,
    probes: tuple[Probe, ...],
    rng: np.random.Generator,
    subject: str,
) -> pa.Table:
    """Rows of one shard: item by item, probe by probe, evaluator by evaluator."""
    count, columns = len(about["item"]), 1 + len(probes)
    shape = (count, columns, len(EVALUATORS))
    moved = np.concatenate([[0.0], rng.normal(0, 0.04, size=len(probes))])[None, :, None]
    scores = clean[:, None, :] * (1 + moved) + rng.normal(0, 0.02, size=shape) * (np.arange(columns) > 0)[:, None]
    scores[:, 0] = np.where(rng.uniform(size=scores[:, 0].shape) < 0.002, 0.0, scores[:, 0])
    missing = rng.uniform(size=shape) < 0.003
    said = [_probe_columns(probe, probes) for probe in (None, *probes)]
    per_item = {name: np.repeat(values, columns * len(EVALUATORS)).tolist() for name, values in about.items()}
    per_probe = {
        name: np.tile(np.repeat(np.array([each[name] for each in said], dtype=object), len(EVALUATORS)), count)
        for name in said[0]
    }
    spatial = np.array([axis == "spatial" for axis in per_probe["axis"]])
    size = count * columns * len(EVALUATORS)
    composite = per_probe["family"] == "reposition"
    seam = np.where(composite, rng.gamma(2, 0.3, size), np.nan)
    return pa.Table.from_pydict(
        {
            "run": [run] * size,
            "corpus": [corpus] * size,
            **per_item,
            **{name: values.tolist() for name, values in per_probe.items() if name != "word"},
            "subject": [subject] * size,
            "language": ["en"] * size,
            "rank": [0] * size,
            "caption": [
                f"There is a {word}{label}." for word, label in zip(per_probe["word"], per_item["label"], strict=True)
            ],
            "evaluator": list(EVALUATORS) * (count * columns),
            "score": pa.array(scores.ravel(), mask=missing.ravel()),
            "error": ["no noun was found in the caption" if lost else None for lost in missing.ravel()],
            "object_inside": pa.array(np.where(spatial, rng.beta(6, 1, size), 1.0)),
            "truncated": [False] * size,
            "bg_delta": pa.array(np.where(composite, 0.0, np.nan), from_pandas=True),
            "seam_energy": pa.array(seam, from_pandas=True),
            "seam_ratio": pa.array(seam * 2.5, from_pandas=True),
            "fill_ratio": pa.array(seam / 0.6, from_pandas=True),
            "texture_ratio": pa.array(seam / 0.6, from_pandas=True),
            "object_kept": pa.array(np.where(per_probe["family"] == "rotation", 1.0, np.nan), from_pandas=True),
        },
        schema=SCORES,
    )


def _facts(run: str, corpus: str, items: np.ndarray, probes: tuple[Probe, ...]) -> pa.Table:
    """How sure it is that each broken caption of a shard is wrong, where its kind of edit tells it."""
    told = [
        (str(item), each.name, FALSITIES[each.family])
        for item in items
        for each in probes
        if each.expectation is Expectation.DIRECTIONAL and each.family in FALSITIES
    ]
    fixed = {"run": run, "corpus": corpus, "subject": HUMAN, "language": "en", "rank": 0, "key": FALSITY}
    rows = [{**fixed, "item": item, "probe": probe, "value": value} for item, probe, value in told]
    return pa.Table.from_pylist(rows, schema=VARIANTS)


def _probe_columns(probe: Probe | None, probes: tuple[Probe, ...]) -> dict[str, Any]:
    if probe is None:
        return {
            "axis": None,
            "family": IDENTITY,
            "probe": IDENTITY,
            "modifier": None,
            "control": False,
            "expectation": None,
            "baseline": None,
            "word": "",
        }
    baseline = probe.baseline
    if baseline == LENGTH_MATCHED:
        baseline = next(each.name for each in probes if each.family == probe.family and each.control)
    return {
        "axis": probe.axis.value,
        "family": probe.family,
        "probe": probe.name,
        "modifier": probe.modifier,
        "control": probe.control,
        "expectation": probe.expectation.value,
        "baseline": baseline,
        "word": f"{probe.modifier} " if probe.modifier else "",
    }


def _items(run: str, corpus: str, about: dict[str, np.ndarray]) -> pa.Table:
    count = len(about["item"])
    fixed = {
        "run": run,
        "corpus": corpus,
        "width": 640,
        "height": 480,
        "licence": "none",
        "source": "made up",
        "bytes_sha256": "0" * 64,
    }
    pixels = [sha256(name.encode()).hexdigest() for name in about["item"]]
    image = [f"{name}.jpg" for name in about["item"]]
    columns = {name: [value] * count for name, value in fixed.items()}
    own = {"image": image, "pixels_sha256": pixels, "item_group": pixels, "second_group": [None] * count}
    return pa.Table.from_pydict(
        {**columns, **{name: about[name].tolist() for name in about}, **own}, schema=ITEM_COLUMNS
    )


def _manifest(run: str, corpus: str, items: int, rows: int, probes: tuple[Probe, ...]) -> dict[str, Any]:
    return {
        "run": run,
        "status": "complete",
        "schema_version": SCHEMA_VERSION,
        "created": "2026-01-01T00:00:00Z",
        "corpus": {"name": corpus, "root": None, "items": items},
        "counts": {
            "items": items,
            "items_kept": items,
            "items_rejected": 0,
            "rows": rows,
            "pairs": rows // len(EVALUATORS),
            "scores_null": None,
        },
        "evaluators": [{"name": name, "spec": {"score_range": [0.0, 1.0]}} for name in EVALUATORS],
        "probes": [describe_probe(probe) for probe in probes],
    }
