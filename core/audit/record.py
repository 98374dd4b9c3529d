"""What a run says of itself: the manifest before its results, and the counts read back from them.

The plan of a run that is there already, made again from its manifest and the corpus on this machine.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

import core
from core.audit.fingerprints import constants, corpus_fingerprint, describe_machine, describe_probe, told_path, versions
from core.audit.plan import SHARD_ITEMS, Plan, make_plan
from core.audit.request import AuditRequest, choice_of
from core.audit.shards import CORPUS_REJECTIONS, Finished, RunFolder, ShardCounts
from core.corpora.labels import told_ties
from core.corpora.registry import origin_of
from core.corpora.schema import Corpus, Origin
from core.errors import InvalidInput, InvariscopeError
from core.evaluators.base import DualEncoder, Evaluator
from core.evaluators.self_check import for_manifest
from core.probes.base import ENGLISH, TEMPLATE
from core.probes.rejections import code_of
from core.probes.tables import lexicons_fingerprint
from core.probes.words.natural_captions import read_again
from core.registry import names_code
from core.settings import ROOT, cache_dir
from core.statistics.changes import SHIFT_FLOOR
from core.store.run_files import RUNNING, Run
from core.store.run_sources import code_sha256, origin_of_run
from core.store.schema import SCHEMA_VERSION

LISTED_REJECTIONS = 200  # most rejected items that a manifest lists; all of them stand in ``rejections``

DECIDES = (
    *("corpus", "probes", "lexicons", "words", "taggers", "reader"),
    *("subjects", "languages", "captions_each", "seed", "shard_items"),
)
"""Entries of a manifest that decide which pairs are made, beside the versions of what makes them."""


def first_manifest(
    plan: Plan,
    *,
    run_id: str,
    key: str,
    evaluators: Sequence[dict[str, Any]],
    device: str,
    command: str | None,
    workers: int = 1,
    threads: int | None = None,
) -> dict[str, Any]:
    """What is known before the first score.
    ``key``: digest of the plan and the evaluators' fingerprints.
    ``evaluators``: as :func:`describe_evaluator` tells them. ``workers``: processes of the last call that worked on it.
    ``threads``: for one operation, in each; None: scored elsewhere."""
    # pictures of the cache are unpacked anew for whoever reads them: it is no folder of theirs
    cached = plan.root is None or plan.root.absolute().is_relative_to(cache_dir().absolute())
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
            "root": None if plan.root is None or cached else told_path(plan.root),
            **_origin(plan.corpus.origin),
            "items": len(plan.corpus.items),
            "limit": plan.limit,
            **({} if plan.sample is None else {"sample": plan.sample}),
            **plan.labels,
            "tied": told_ties(plan.corpus),
            "fingerprint": corpus_fingerprint(plan.corpus),
        },
        "subjects": list(plan.subjects),
        "languages": list(plan.languages),
        "captions_each": plan.captions_each,
        "warnings": list(plan.warnings),
        "seed": plan.seed,
        "shard_items": plan.shard_items,
        "batch_size": plan.group_images,
        **({} if threads is None else {"workers": workers, "threads": threads}),
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
        **plan.readers,
        "constants": {"SHIFT_FLOOR": SHIFT_FLOOR, **constants(plan.probes)},
        "versions": versions(),
        "machine": describe_machine(device),
        "speed": {},
    }


def describe_evaluator(reference: str, evaluator: Evaluator) -> dict[str, Any]:
    """A loaded evaluator as a plain dictionary: how it was named, its spec, its fingerprint. Where its publisher prints
    values for an example, the result of that check on this machine stands there too; of an evaluator by path, which
    file it was."""
    fingerprint, checked, path = evaluator.fingerprint, for_manifest(evaluator), Path(reference.rpartition(":")[0])
    file: dict[str, Any] = {}
    if path.suffix == ".py":
        file = {"file": {"sha256": code_sha256(path), "text_encoder": isinstance(evaluator, DualEncoder)}}
    return {
        "name": evaluator.spec.name,
        "reference": _told_reference(reference),
        "spec": asdict(evaluator.spec),
        "fingerprint": {**fingerprint.as_dict(), "key": fingerprint.key},
        **({} if checked is None else {"published_example": checked}),
        **file,
    }


def _told_reference(reference: str) -> str:
    """A reference with the path that it holds told as paths are; ``family:argument`` holds none."""
    path, separator, name = reference.rpartition(":")
    if path.endswith(".py"):
        return f"{told_path(Path(path).absolute())}{separator}{name}"  # later pages look for the file from elsewhere
    return told_path(Path(reference)) if reference.endswith(".json") else reference


def check_same(earlier: Mapping[str, Any], manifest: Mapping[str, Any], path: Path) -> None:
    """Refuse to go on with a run that was begun differently. Raises InvalidInput naming what differs."""
    if earlier.get("key") == manifest["key"]:
        return
    differs = differing(earlier, manifest, (*DECIDES, "evaluators", "batch_size", "threads"))
    what = f"other {differs[0]}" if differs else "another version of its tables"
    raise InvalidInput(
        f"run {path.name} in {path.parent} was begun with {what}; choose another run id, or replace the run"
    )


def differing(earlier: Mapping[str, Any], manifest: Mapping[str, Any], names: Sequence[str] = DECIDES) -> list[str]:
    """Entries of two manifests that differ in what decides a run, among the given names."""
    return [name for name in names if _comparable(earlier.get(name)) != _comparable(manifest.get(name))]


def outcome(
    folder: RunFolder,
    finished: Iterable[Finished],
    *,
    shards: int,
    items: int,
    rejected_by_loader: int,
    before: ShardCounts | None = None,
) -> dict[str, Any]:
    """Counts and rejections of a complete run, read back from its own tables, one shard at a time.
    ``finished``: what the shards say of themselves. ``items``: that the run was to score.
    ``rejected_by_loader``: entries that the corpus's loader left out.
    ``before``: what the captions took before any shard; None: nothing."""
    told, counts = list(finished), before or ShardCounts()
    for each in told:
        counts = counts.plus(each.counts)
    kept, content, captions, listed = 0, hashlib.sha256(), set[bytes](), list[dict[str, str]]()
    rows, null, lost, variants = (Counter[str]() for _ in range(4))
    for name in (CORPUS_REJECTIONS, *range(shards)):
        for row in pq.read_table(folder.shard("rejections", name)).to_pylist():
            (lost if row["probe"] is None else variants)[row["code"]] += 1
            if row["probe"] is None and len(listed) < LISTED_REJECTIONS:
                listed.append({column: row[column] for column in ("item", "code", "detail")})
    for name in range(shards):
        read = pq.read_table(folder.shard("items", name), columns=["item", "bytes_sha256", "pixels_sha256"]).to_pylist()
        kept += len(read)
        for row in read:
            content.update(json.dumps(list(row.values())).encode())
        table = pq.read_table(folder.shard("scores", name), columns=["evaluator", "caption", "score", "error"])
        rows.update(table["evaluator"].to_pylist())
        null.update(map(code_of, table.filter(pc.is_null(table["score"]))["error"].to_pylist()))
        texts = table["caption"].unique().to_pylist()
        captions.update(hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts)
    return {
        "counts": {
            "items": items,
            "rejected_by_loader": rejected_by_loader,
            "items_kept": kept,
            **_coded("items_rejected", lost),
            **_coded("variants_rejected", variants),
            "rows": rows.total(),
            "pairs": max(rows.values(), default=0),
            **_coded("scores_null", null),
            "unique_images": len(np.unique(np.concatenate([each.images for each in told]))) if told else 0,
            "unique_captions": len(captions),
            **counts.as_dict(),
        },
        "content_sha256": content.hexdigest(),
        "rejected_items": listed,
    }


def now() -> str:
    """Time in UTC, e.g. ``2026-01-31T12:00:00Z``."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _coded(name: str, found: Counter[str]) -> dict[str, Any]:
    return {name: found.total(), f"{name}_by_code": dict(sorted(found.items(), key=lambda each: (-each[1], each[0])))}


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


def corpus_again(run: Run, *, root: Path | None = None, options: Mapping[str, str] | None = None) -> Corpus:
    """Read the corpus of a run anew, whole: neither its limit nor its sample is taken.
    ``root``: folder of the corpus; None: where the run read it, or where its corpus lies here.
    ``options``: of the corpus, in place of those that the run had.
    Raises NotAvailable if the corpus is not here; InvariscopeError if it cannot be read."""
    if root is None:
        origin = origin_of_run(run)
    else:
        corpus = run.manifest["corpus"]
        origin = replace(origin_of(corpus) or Origin(str(corpus["name"])), root=root)
    return read_again(replace(origin, options={**origin.options, **options}) if options else origin)


def plan_again(run: Run, *, root: Path | None = None) -> Plan:
    """Plan the pairs of a run anew, without its evaluators.
    ``root``: folder of the corpus; None: where the run read it, or where its corpus lies here.
    Raises NotAvailable if the corpus is not here; InvalidInput if corpus, probes or word lists are not those of the run
    any more, naming which."""
    told = run.manifest
    corpus = told["corpus"]
    try:
        names = [str(each["name"]) for each in told["probes"]]
        if any(map(names_code, names)):
            raise InvalidInput(f"the manifest of run {run.id} names a file as a probe; name the corpus and the probes")
        plan = make_plan(
            corpus_again(run, root=root),
            AuditRequest(
                corpus=str(corpus["name"]),
                root=None if root is None else str(root),
                probes=tuple(names),
                limit=corpus.get("limit"),
                sample=corpus.get("sample"),
                subject=choice_of(tuple(told.get("subjects") or (TEMPLATE,))),
                languages=told.get("languages") or (ENGLISH,),
                captions_each=told.get("captions_each") or 1,
                seed=told.get("seed"),
            ),
            shard_items=told.get("shard_items") or SHARD_ITEMS,
        )
    except InvariscopeError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InvalidInput(f"the manifest of run {run.id} does not say what its pairs are; name the corpus") from error
    check_again(plan, told, run.id)
    return plan


def check_again(plan: Plan, told: Mapping[str, Any], run: str) -> None:
    """Refuse a plan that makes other pairs than a run. Raises InvalidInput naming what differs."""
    here = first_manifest(plan, run_id=run, key="", evaluators=[], device="", command=None)
    if differs := differing(told, here):
        raise InvalidInput(
            f"run {run} was made with other {', '.join(differs)} than are here, so its pairs cannot be made again; "
            "audit the corpus anew, or name it with --corpus and the probes"
        )
