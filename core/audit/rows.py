"""From scored drafts to the rows of the stored tables: the same for scores made here and elsewhere."""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from core.audit.fingerprints import told_path
from core.audit.plan import Plan
from core.audit.render import Opened
from core.corpora.schema import Item
from core.errors import InvariscopeError
from core.evaluators.base import Evaluator
from core.evaluators.scoring import PairScores
from core.evaluators.video.video_evaluator import ORDER_FREE, asks
from core.probes.base import IDENTITY
from core.probes.pairs import Draft, LeftOut, baseline_name
from core.store.schema import ITEMS, REJECTIONS, SCORES, VARIANTS

Row = dict[str, Any]


class RowMaker:
    """Makes the rows of one evaluator; what depends on a caption or a mask alone is asked once.
    ``evaluator``: loaded; asked for tokens, truncation and crop only while its lease is held; None: it scores
    elsewhere, and nothing is known of these."""

    def __init__(self, run: str, plan: Plan, name: str) -> None:
        self._fixed = {"run": run, "corpus": plan.corpus.name, "evaluator": name}
        self._truncated: dict[str, bool | None] = {}
        self._tokens: dict[str, int | None] = {}
        self._baselines: dict[tuple[str, str, str, str | None], str | None] = {}

    def rows(
        self, evaluator: Evaluator | None, drafts: Sequence[Draft], scores: PairScores
    ) -> tuple[list[Row], list[LeftOut]]:
        """Return one row a draft, and the variants that have no baseline to stand beside."""
        rows, left_out = [], []
        share = None if evaluator is None else lru_cache(maxsize=256)(evaluator.object_inside)
        for draft, score, error in zip(drafts, scores.scores, scores.errors, strict=True):
            baseline: str | None = None
            try:
                baseline = self._baseline(evaluator, draft)
            except InvariscopeError as failure:
                assert draft.probe is not None
                left_out.append(LeftOut(draft.item.id, draft.probe.name, "no-baseline", str(failure)))
            row = {**self._fixed, **_item_columns(draft.item), **_probe_columns(draft)}
            row["baseline"] = baseline
            row["score"] = None if np.isnan(score) else float(score)
            row["error"] = error
            row["object_inside"] = None
            with suppress(InvariscopeError):  # a mask that cannot be decoded: the probes that need it say so
                row["object_inside"] = None if draft.mask is None or share is None else share(draft.mask)
            if draft.caption not in self._truncated:
                self._truncated[draft.caption] = None if evaluator is None else bool(evaluator.truncates(draft.caption))
            row["truncated"] = self._truncated[draft.caption]
            rows.append(row)
        return rows, left_out

    @staticmethod
    def readable(kind: type[Evaluator], drafts: Sequence[Draft]) -> tuple[list[Draft], list[LeftOut]]:
        """Drafts that an evaluator is given, and why it is not given the others."""
        told = [(draft, _unread(kind, draft)) for draft in drafts]
        return [draft for draft, reason in told if reason is None], [reason for _, reason in told if reason]

    def _baseline(self, evaluator: Evaluator | None, draft: Draft) -> str | None:
        key = (draft.probe.name if draft.probe else IDENTITY, draft.subject.caption, draft.caption, draft.item.label)
        if key not in self._baselines:
            self._baselines[key] = baseline_name(draft, count_tokens=lambda text: self._count(evaluator, text))
        return self._baselines[key]

    def _count(self, evaluator: Evaluator | None, text: str) -> int | None:
        if text not in self._tokens:
            self._tokens[text] = None if evaluator is None else evaluator.count_tokens(text)
        return self._tokens[text]


def _unread(kind: type[Evaluator], draft: Draft) -> LeftOut | None:
    """Why an evaluator is not given a pair: it does not read the language, or its score cannot move."""
    name, spec = draft.probe.name if draft.probe else IDENTITY, kind.spec
    if not spec.reads(draft.subject.language):
        told = f"{spec.unread(draft.subject.language)}: caption {draft.subject.rank} is not scored"
        return LeftOut(draft.item.id, name, "language-not-read", told)
    if not asks(kind, draft.probe):
        return LeftOut(draft.item.id, name, "order-free", ORDER_FREE.format(name=spec.name))
    return None


def rejections_table(run: str, corpus: str, left_out: Iterable[LeftOut]) -> pa.Table:
    """What was left out, each once, as a table of schema REJECTIONS."""
    rows = [
        {"run": run, "corpus": corpus, "item": each.item, "probe": each.probe, "code": each.code, "detail": each.detail}
        for each in dict.fromkeys(left_out)
    ]
    return pa.Table.from_pylist(rows, schema=REJECTIONS)


def _subject_columns(draft: Draft) -> Row:
    return {"subject": draft.subject.name, "language": draft.subject.language, "rank": draft.subject.rank}


def _item_columns(item: Item) -> Row:
    told = {name: getattr(item, name) for name in ("label", "category", "coverage", "coverage_bin")}
    return {"item": item.id, **told}


def _probe_columns(draft: Draft) -> Row:
    probe = draft.probe
    measured = {name: value for name, value in draft.diagnostics.items() if not np.isnan(value)}
    row: Row = {**_subject_columns(draft), "caption": draft.caption, **measured}
    if probe is None:
        return {**row, "family": IDENTITY, "probe": IDENTITY, "control": False}
    told = {name: getattr(probe, name) for name in ("family", "modifier", "control")}
    return {**row, **told, "probe": probe.name, "axis": probe.axis.value, "expectation": probe.expectation.value}


def _image_name(root: Path | None, path: Path | None) -> str | None:
    if path is None:
        return None
    if root is not None and (absolute := path.absolute()).is_relative_to(root.absolute()):
        return Path(os.path.relpath(absolute, root.absolute())).as_posix()
    return told_path(path)


@dataclass(slots=True)
class Gathered:
    """Rows, facts, items and reasons of one shard, added group by group.
    ``rows``: of the scores table, an evaluator's of a group one after the other.
    ``told``: drafts whose facts are kept."""

    rows: list[Row] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    told: list[Draft] = field(default_factory=list)
    items: list[Opened] = field(default_factory=list)

    def sort(self, items: Sequence[Item]) -> None:
        """Put everything into the order of the shard's items; within an item it stays as it came."""
        order = {item.id: rank for rank, item in enumerate(items)}
        self.rows.sort(key=lambda row: order[row["item"]])  # stable: probes in their order, evaluators in theirs
        self.left_out.sort(key=lambda each: order[each.item])
        for held in (self.told, self.items):
            held.sort(key=lambda each: order[each.item.id])

    def tables(self, run: str, plan: Plan, metadata: Mapping[bytes, bytes]) -> dict[str, pa.Table]:
        """The shard's four tables: items whose image was read, facts of variants and of unedited items among them."""
        corpus = plan.corpus.name
        items = [
            {
                "run": run,
                "corpus": corpus,
                **_item_columns(each.item),
                "image": _image_name(plan.root, each.item.image_path),
                **{name: getattr(each.item, name) for name in ("width", "height", "licence", "source")},
                "bytes_sha256": each.bytes_sha256,
                "pixels_sha256": each.pixels_sha256,
                "item_group": each.item.drawn_with(each.pixels_sha256),
                "second_group": each.item.second_source,
            }
            for each in self.items
        ]
        facts = [
            {"run": run, "corpus": corpus, "item": draft.item.id}
            | {"probe": draft.probe.name if draft.probe else IDENTITY}
            | {**_subject_columns(draft), "key": key, "value": str(value)}
            for draft in self.told
            for key, value in draft.facts.items()
        ]
        return {
            "scores": pa.Table.from_pylist(self.rows, schema=SCORES.with_metadata(dict(metadata))),
            "items": pa.Table.from_pylist(items, schema=ITEMS),
            "rejections": rejections_table(run, corpus, self.left_out),
            "variants": pa.Table.from_pylist(facts, schema=VARIANTS),
        }
