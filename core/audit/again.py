"""The plan of a run that is there already, made again from its manifest and the corpus on this machine."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.audit.plan import SHARD_ITEMS, Plan, make_plan
from core.audit.record import differing, first_manifest
from core.audit.request import AuditRequest, choice_of
from core.corpora.registry import origin_of
from core.corpora.schema import Corpus, Origin
from core.errors import InvalidInput, InvariscopeError
from core.probes.base import ENGLISH, TEMPLATE
from core.probes.caption_labels import read_again
from core.registry import names_code
from core.store.manifest import Run
from core.store.run_sources import origin_of_run


def corpus_again(run: Run, *, root: Path | None = None, options: Mapping[str, str] | None = None) -> Corpus:
    """Read the corpus of a run anew, whole: neither its limit nor its sample is taken.

    Args:
        root: folder of the corpus; None: where the run read it, or where its corpus lies here.
        options: of the corpus, in place of those that the run had.

    Raises:
        NotAvailable: if the corpus is not here.
        InvariscopeError: if it cannot be read.
    """
    origin = _origin(run, root)
    return read_again(replace(origin, options={**origin.options, **options}) if options else origin)


def plan_again(run: Run, *, root: Path | None = None) -> Plan:
    """Plan the pairs of a run anew, without its evaluators.

    Args:
        root: folder of the corpus; None: where the run read it, or where its corpus lies here.

    Raises:
        NotAvailable: if the corpus is not here.
        InvalidInput: if corpus, probes or word lists are not those of the run any more, naming which.
    """
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
    """Refuse a plan that makes other pairs than a run.

    Raises:
        InvalidInput: naming what differs.
    """
    here = first_manifest(plan, run_id=run, key="", evaluators=[], device="", command=None)
    if differs := differing(told, here):
        raise InvalidInput(
            f"run {run} was made with other {', '.join(differs)} than are here, so its pairs cannot be made again; "
            "audit the corpus anew, or name it with --corpus and the probes"
        )


def _origin(run: Run, root: Path | None) -> Origin:
    if root is None:
        return origin_of_run(run)
    corpus = run.manifest["corpus"]
    name = str(corpus["name"])
    return replace(origin_of({"name": name, **corpus}) or Origin(name), root=root)
