"""What a run says of itself: the manifest before its results, and the counts read back from them."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import core
from core.audit.machine import constants, describe_machine, versions
from core.audit.plan import Plan, corpus_fingerprint, describe_probe, told_path
from core.audit.shards import CORPUS_REJECTIONS, RunFolder, ShardCounts
from core.corpora.schema import Origin
from core.errors import InvalidInput
from core.evaluators.base import Evaluator, describe
from core.evaluators.self_check import for_manifest
from core.probes.rejections import code_of
from core.probes.tables import lexicons_fingerprint
from core.settings import ROOT
from core.statistics.changes import SHIFT_FLOOR
from core.store.manifest import RUNNING
from core.store.schema import SCHEMA_VERSION

LISTED_REJECTIONS = 200
"""Most rejected items that a manifest lists; all of them stand in ``rejections``."""

DECIDES = (
    "corpus", "probes", "lexicons", "words", "taggers", "subjects", "languages", "captions_each", "seed", "shard_items",
)  # fmt: skip
"""Entries of a manifest that decide which pairs are made, beside the versions of what makes them."""


def first_manifest(
    plan: Plan, *, run_id: str, key: str, evaluators: Sequence[dict[str, Any]], device: str, command: str | None
) -> dict[str, Any]:
    """What is known before the first score.

    Args:
        key: digest of the plan and the evaluators' fingerprints.
        evaluators: as :func:`describe_evaluator` tells them.
        device: where the evaluators run.
        command: the command line, or None.
    """
    rejected = [{"item": each.subject, "code": each.code, "detail": each.detail} for each in plan.corpus.rejected]
    return {
        "run": run_id,
        "status": RUNNING,
        "schema_version": SCHEMA_VERSION,
        "invariscope": core.__version__,
        "created": now(),
        "finished": None,
        "elapsed_seconds": 0.0,
        "key": key,
        "command": None if command is None else command.replace(f"{ROOT}/", ""),
        "corpus": {
            "name": plan.corpus.name,
            "description": plan.corpus.description,
            "root": None if plan.root is None else told_path(plan.root),
            **_origin(plan.corpus.origin),
            "items": len(plan.corpus.items),
            "limit": plan.limit,
            **({} if plan.sample is None else {"sample": plan.sample}),
            "fingerprint": corpus_fingerprint(plan.corpus),
        },
        "subjects": list(plan.subjects),
        "languages": list(plan.languages),
        "captions_each": plan.captions_each,
        "warnings": list(plan.warnings),
        "seed": plan.seed,
        "shard_items": plan.shard_items,
        "batch_size": plan.group_images,
        "counts": {"items": len(plan.corpus.items), "rejected_by_loader": len(rejected)},
        "rejected_items": rejected[:LISTED_REJECTIONS],
        "remarks": [
            {"code": each.code, "count": each.count, "subject": each.subject, "detail": each.detail}
            for each in plan.corpus.remarks
        ],
        "evaluators": list(evaluators),
        "probes": [describe_probe(probe) for probe in plan.probes],
        "lexicons": lexicons_fingerprint(),
        **plan.words,
        **plan.taggers,
        "constants": {"SHIFT_FLOOR": SHIFT_FLOOR, **constants(plan.probes)},
        "versions": versions(),
        "machine": describe_machine(device),
        "speed": {},
    }


def describe_evaluator(reference: str, evaluator: Evaluator) -> dict[str, Any]:
    """A loaded evaluator as a plain dictionary: how it was named, its spec, its fingerprint.

    Where its publisher prints values for an example, the result of that check on this machine stands there too.
    """
    fingerprint = evaluator.fingerprint
    checked = for_manifest(evaluator)
    return {
        "name": evaluator.spec.name,
        "reference": _told_reference(reference),
        "spec": describe(evaluator.spec),
        "fingerprint": {**fingerprint.as_dict(), "key": fingerprint.key},
        **({} if checked is None else {"published_example": checked}),
    }


def _told_reference(reference: str) -> str:
    """A reference with the path that it holds told as paths are; ``family:argument`` holds none."""
    path, separator, name = reference.rpartition(":")
    if path.endswith(".py"):
        return f"{told_path(Path(path))}{separator}{name}"
    return told_path(Path(reference)) if reference.endswith(".json") else reference


def check_same(earlier: Mapping[str, Any], manifest: Mapping[str, Any], path: Path) -> None:
    """Refuse to go on with a run that was begun differently.

    Raises:
        InvalidInput: naming what differs.
    """
    if earlier.get("key") == manifest["key"]:
        return
    differs = differing(earlier, manifest, (*DECIDES, "evaluators", "batch_size"))
    what = f"other {differs[0]}" if differs else "another version of its tables"
    raise InvalidInput(
        f"run {path.name} in {path.parent} was begun with {what}; choose another run id, or replace the run"
    )


def differing(earlier: Mapping[str, Any], manifest: Mapping[str, Any], names: Sequence[str] = DECIDES) -> list[str]:
    """Entries of two manifests that differ in what decides a run, among the given names."""
    return [name for name in names if _comparable(earlier.get(name)) != _comparable(manifest.get(name))]


def outcome(
    folder: RunFolder, counts: ShardCounts, *, shards: int, items: int, rejected_by_loader: int
) -> dict[str, Any]:
    """Counts and rejections of a complete run, read back from its own tables.

    Args:
        items: that the run was to score.
        rejected_by_loader: entries that the corpus's loader left out.
    """
    names = range(shards)
    kept_items = pa.concat_tables(pq.read_table(folder.shard("items", name)) for name in names)
    kept = ["evaluator", "score", "error"]
    scores = pa.concat_tables(pq.read_table(folder.shard("scores", name), columns=kept) for name in names)
    rejections = [
        row
        for name in (CORPUS_REJECTIONS, *names)
        for row in pq.read_table(folder.shard("rejections", name)).to_pylist()
    ]
    null = scores.filter(pc.is_null(scores["score"]))
    whole = [row for row in rejections if row["probe"] is None]
    variants = [row for row in rejections if row["probe"] is not None]
    return {
        "counts": {
            "items": items,
            "rejected_by_loader": rejected_by_loader,
            "items_kept": kept_items.num_rows,
            "items_rejected": len(whole),
            "items_rejected_by_code": _by_code(whole),
            "variants_rejected": len(variants),
            "variants_rejected_by_code": _by_code(variants),
            "rows": scores.num_rows,
            "pairs": max(Counter(scores["evaluator"].to_pylist()).values(), default=0),
            "scores_null": null.num_rows,
            "scores_null_by_code": _by_code([{"code": code_of(error)} for error in null["error"].to_pylist()]),
            **counts.as_dict(),
        },
        "content_sha256": _content(kept_items),
        "rejected_items": [{name: row[name] for name in ("item", "code", "detail")} for row in whole][
            :LISTED_REJECTIONS
        ],
    }


def now() -> str:
    """Time in UTC, e.g. ``2026-01-31T12:00:00Z``."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _content(items: pa.Table) -> str:
    digest = hashlib.sha256()
    for row in items.select(["item", "bytes_sha256", "pixels_sha256"]).to_pylist():
        digest.update(json.dumps(list(row.values())).encode())
    return digest.hexdigest()


def _by_code(found: list[dict[str, Any]]) -> dict[str, int]:
    return dict(sorted(Counter(row["code"] for row in found).items(), key=lambda each: (-each[1], each[0])))


def _comparable(value: Any) -> Any:
    if isinstance(value, dict):
        return value.get("fingerprint", value)
    return [_comparable(each) for each in value] if isinstance(value, list) else value


def _origin(found: Origin | None) -> dict[str, Any]:
    """What reads the corpus again, for the pages that show its pictures; empty where nobody knows."""
    if found is None:
        return {}
    folder = None if found.root is None else told_path(found.root)
    options = {name: str(value) for name, value in found.options.items()}
    return {"loader": found.loader, "folder": folder, "options": options}
