"""Failures: which pairs change the most, the same pair under every evaluator, and what counts as far.

A pair is one variant beside its baseline: (run, item, subject, probe). Every evaluator of the run scores it, so a
pair has one shift an evaluator; it is ranked by the largest of those in the slice.
"""

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.comparisons import DIRECTIONAL, families, pairs
from core.analysis.facts import keyed, looked_up
from core.analysis.ranking import check
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice, recorded, where
from core.analysis.table import ScoreTable, View
from core.evaluators.cache import IMAGE, EmbeddingCache
from core.probes.base import ENGLISH
from core.store.store import Store

PAIR = ("run", "item", "subject", "probe")  # Columns of ``shifts`` that name a pair; its run has one corpus

_COUNTS: Mapping[str, str] = {
    "percent": "case when abs(s.baseline_score) >= $floor * coalesce(c.typical, 0) then abs(s.percent) end",
    "absolute": "abs(s.delta)",
    "standardised": "abs(s.delta / nullif(c.sd, 0))",
    "disagreement": "s.delta / nullif(c.sd, 0)",
}
"""Order -> what a shift counts in it, as SQL: an export has more columns than the table of scores."""

EXPORT_ROWS = 200_000  # Most rows of an export; above it, the furthest ones are taken

EXPORTED = (
    "run", "corpus", "item", "label", "category", "coverage", "coverage_bin", "axis", "family", "probe", "modifier",
    "control", "subject", "baseline", "baseline_caption", "caption", "evaluator", "baseline_score", "score", "delta",
    "percent", "object_inside", "object_kept", "truncated", "bg_delta", "seam_energy", "seam_ratio",
    "fill_ratio", "texture_ratio", "error",
)  # fmt: skip

_SCALE = """left join (select unnest($c_run) as run, unnest($c_evaluator) as evaluator, unnest($c_sd) as sd,
                              unnest($c_typical) as typical) c on c.run = s.run and c.evaluator = s.evaluator"""


_NAMED = "(s.item, s.probe) in (select (unnest($named_item), unnest($named_probe)))"


def scales(table: ScoreTable) -> pd.DataFrame:
    """What is usual for every evaluator in the corpus in view: how its unedited scores spread, and its noise floor.

    Returns:
        One row an evaluator: run, evaluator, sd (:meth:`ScoreTable.spread`), typical (median absolute unedited score),
        null_percent (reach of :meth:`View.null_band`) and n_null, the edits behind it; NaN where nothing was scored.

    Source: PROTOCOL section 1 (null); ECOSYSTEM, deltas that compare across metrics.
    """
    corpus, view = table.scope.corpus, table.view()
    records = []
    for name in table.evaluators:
        clean = np.abs(table.clean(name)[table.of_corpus(corpus)])
        typical = float(np.nanmedian(clean)) if (~np.isnan(clean)).any() else math.nan
        null = view.null_band(name, corpus)
        records.append((table.scope.run, name, table.spread(name, corpus), typical, null.reach, null.n))
    return pd.DataFrame(records, columns=["run", "evaluator", "sd", "typical", "null_percent", "n_null"])


def under_every_evaluator(store: Store, scope: Narrowed, pairs: pd.DataFrame, usual: pd.DataFrame) -> pd.DataFrame:
    """Return every shift of some pairs, whatever the slice: the same pair under every evaluator of its run. ``scope``:
    whose language and caption are looked at. ``pairs``: has the columns PAIR. ``usual``: :func:`scales` under every
    evaluator of the run; what it lacks is NaN. Returns the columns of ``shifts`` + standardised (delta / sd) and the
    columns of ``usual``, in the order of the pairs, evaluators by name."""
    if pairs.empty:
        return store.query("select * from shifts where false")
    sought = pairs[["run", "item", "probe"]].itertuples(index=False, name=None)
    found = store.shifts(sought, language=scope.language, rank=scope.rank)
    # few rows of many columns: looked up here, since a merge of them takes longer than the question to the store
    place = {pair: number for number, pair in enumerate(keyed(pairs, PAIR))}
    at = [
        (place[pair], evaluator, row)
        for row, (pair, evaluator) in enumerate(zip(keyed(found, PAIR), found["evaluator"], strict=True))
        if pair in place
    ]
    others = [name for name in found.columns if name not in PAIR]
    found = found[[*PAIR, *others]].iloc[[row for *_, row in sorted(at)]].reset_index(drop=True)
    scaled = zip(keyed(usual, _SCALED), keyed(usual, _USUAL), strict=True)
    found = looked_up(found, keyed(found, _SCALED), scaled, dict.fromkeys(_USUAL, math.nan))
    return found.assign(standardised=found["delta"] / found["sd"].where(found["sd"] > 0))


_SCALED, _USUAL = ("run", "evaluator"), ("sd", "typical", "null_percent", "n_null")


def record(store: Store, scope: Narrowed, pair: Mapping[str, str], usual: pd.DataFrame) -> list[dict[str, Any]]:
    """Return everything that the store knows of one pair, a record an evaluator: the columns of
    :func:`under_every_evaluator` and those of ``items``, None where there is no value, as JSON has it; empty where it
    is not there."""
    found = under_every_evaluator(store, scope, pd.DataFrame([dict(pair)]), usual)
    if found.empty:
        return []
    about = store.query(
        "select image, width, height, bytes_sha256, pixels_sha256, licence, source from items "
        "where run = $run and item = $item limit 1",
        {"run": pair["run"], "item": pair["item"]},
    )
    described = about.to_dict("records")[0] if len(about) else {}
    records = ({**row, **described} for row in found.to_dict("records"))
    return [{str(name): None if pd.isna(value) else value for name, value in row.items()} for row in records]


def export(
    store: Store,
    scope: Narrowed,
    chosen: Slice,
    usual: pd.DataFrame,
    *,
    order: str,
    floor: float = 0.0,
    named: Collection[tuple[str, str]] | None = None,
) -> pd.DataFrame:
    """Return the slice's shifts in an order, the first :data:`EXPORT_ROWS` of them; arguments as of
    :func:`core.analysis.ranking.rank`. Returns EXPORTED + standardised and key (what the shift, or its pair,
    counts)."""
    check(order, floor, 1, 0)
    clause, params = where(scope, chosen, _ties(store, scope))
    if named is not None:
        clause = f"{clause} and {_NAMED}"
        params |= {"named_item": [item for item, _ in named], "named_probe": [probe for _, probe in named]}
    key, pair = _COUNTS[order], "(partition by s.run, s.item, s.subject, s.probe)"
    if order == "disagreement":
        key = f"case when count({key}) over {pair} > 1 then max({key}) over {pair} - min({key}) over {pair} end"
    columns = ", ".join(f"s.{name}" for name in EXPORTED)
    scaled = {name: usual[name].tolist() for name in _SCALED}
    scaled |= {name: [None if np.isnan(each) else float(each) for each in usual[name]] for name in _USUAL[:2]}
    return store.query(
        f"select {columns}, s.delta / nullif(c.sd, 0) as standardised, {key} as key from shifts s {_SCALE} {clause} "
        f"order by key desc nulls last, s.run, s.item, s.subject, s.probe, s.evaluator limit {EXPORT_ROWS}",
        params
        | {f"c_{name}": told for name, told in scaled.items()}
        | ({"floor": floor} if order == "percent" else {}),
    )


def relaxations(store: Store, scope: Narrowed, chosen: Slice) -> dict[str, int]:
    """Count the shifts that each choice of a slice would leave if it were taken back. Returns field of :class:`Slice`
    -> count, of the choices that keep less than everything; largest count first."""
    counts = {}
    for field in fields(Slice):
        if (freed := chosen.without(field.name)) != chosen:
            clause, params = where(scope, freed, _ties(store, scope))
            counts[field.name] = int(store.query(f"select count(*) as n from shifts s {clause}", params)["n"].iloc[0])
    return dict(sorted(counts.items(), key=lambda pair: -pair[1]))


def _ties(store: Store, scope: Narrowed) -> pd.DataFrame | None:
    return next((recorded(run) for run in store.runs() if run.id == scope.run), None)


def verdicts(store: Store, pairs: pd.DataFrame, *, language: str = ENGLISH, rank: int = 0) -> pd.DataFrame:
    """Return what people found of some pairs, where the store holds their verdicts; ``pairs``: corpus, item, subject,
    probe; both versions of each should be equally good. Returns the rows of the store's ``verdicts`` for the pairs:
    corpus, item, subject, probe, accepted (share who found both versions acceptable, in [0, 1]) and votes; empty where
    nobody judged one."""
    keys = ["corpus", "item", "subject", "probe"]
    found = store.query(
        "select * from verdicts v where list_contains($items, v.item) and v.language = $language and v.rank = $rank "
        "and v.accepted is not null",
        {"items": sorted(set(pairs["item"])), "language": language, "rank": rank},
    )
    return pairs[keys].drop_duplicates().merge(found, on=keys)


def as_json(records: Sequence[Mapping[str, Any]]) -> str:
    """Write the records of one pair as JSON, as :func:`record` returns them."""
    return json.dumps(list(records), ensure_ascii=False, indent=1, allow_nan=False)


def picture_hashes(store: Store, pairs: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Hash of the decoded picture that each pair's run scored, by (run, item); see ``items.pixels_sha256``."""
    found = store.query(
        "select run, item, pixels_sha256 from items where list_contains($items, item) and pixels_sha256 is not null",
        {"items": sorted(set(pairs["item"]))},
    )
    return {(str(run), str(item)): str(digest) for run, item, digest in found.itertuples(index=False)}


@dataclass(frozen=True, slots=True)
class Alike:
    """The items most like one, by the cosine of image embeddings that an evaluator has left in a cache: its own eye."""

    evaluator: str  # whose embeddings
    # with their cosines in [-1, 1], the item itself first, then the nearest; of equal ones the first by name
    items: tuple[tuple[str, float], ...]
    known: int  # items of the run whose embedding is kept, the item itself among them


def alike(
    item: str, pixels: Mapping[str, str], fingerprints: Mapping[str, Sequence[str]], cache: EmbeddingCache, *, most: int
) -> Alike | None:
    """Return the items most like one, by the evaluator that has kept most embeddings; of equal ones the first. None
    where no evaluator has kept the item's and another one's; ``pixels``: hash of every item's unedited picture,
    ``fingerprints``: keys of every evaluator, both by name."""
    every = ((name, _kept(pixels, key, cache)) for name, keys in fingerprints.items() for key in keys)
    found = [(name, kept) for name, kept in every if len(kept) > 1 and item in kept]
    if not found:
        return None
    evaluator, kept = max(found, key=lambda each: len(each[1]))
    near = {name: float(kept[item] @ row) for name, row in kept.items() if name != item}
    first = sorted(near.items(), key=lambda each: (-each[1], each[0]))[:most]
    return Alike(evaluator, ((item, 1.0), *first), len(kept))


def _kept(pixels: Mapping[str, str], fingerprint: str, cache: EmbeddingCache) -> dict[str, np.ndarray]:
    """Unit vectors that are kept, by item; embeddings of several rows, or without a length, are left out."""
    rows = cache.get_many(fingerprint, IMAGE, list(dict.fromkeys(pixels.values())))
    found = {name: rows[key].astype(np.float64) for name, key in pixels.items() if key in rows and rows[key].ndim == 1}
    return {name: row / length for name, row in found.items() if (length := np.linalg.norm(row)) > 0}


COLUMNS = ("run", "item", "subject", "probe", "corpus", "margin", "right", "wrong", "upheld")
"""PAIR of :mod:`core.analysis.failures`, corpus, then wrong minus right, both scores, and the share of people in [0, 1]
who uphold the comparison, NaN where no study asked."""


def worst_failures(
    view: View, evaluator: str, family: str, *, known: bool = False, limit: int = 12
) -> tuple[pd.DataFrame, int]:
    """The worst failures of one family under one evaluator, in the corpus in view; ``known``: of those alone whose
    wrong side is known to be wrong. Returns COLUMNS, the largest margin (wrong minus right) first, of equal ones the
    first by item and probe; and how many failures there are."""
    probes = families(view).get(family, ())
    table = view.table
    if not probes:
        return pd.DataFrame(columns=list(COLUMNS)), 0
    both = pairs(view, evaluator, probes, known=known)
    margin = np.where(table.of_corpus(table.scope.corpus), both.wrong - both.right, np.nan)
    which, item = np.nonzero(margin >= 0)
    pair = {"item": table.items["item"].to_numpy(dtype=object)[item], "probe": np.array(probes, dtype=object)[which]}
    of = {name: getattr(table.scope, name) for name in ("run", "subject", "corpus")}
    upheld = table.upheld[table.places(probes)]
    sides = {"margin": margin, "right": both.right, "wrong": both.wrong, "upheld": upheld}
    told = {name: each[which, item] for name, each in sides.items()}
    found = pd.DataFrame(pair | of | told, columns=list(COLUMNS))
    found = found.sort_values(["margin", "item", "probe"], ascending=[False, True, True], kind="stable")
    return found.head(limit).reset_index(drop=True), len(found)


def shortest_captions(store: Store, scope: Narrowed, families: Sequence[str]) -> list[tuple[str, str, str]]:
    """Of every directional family the comparison with the shortest caption: family, right caption, wrong caption."""
    sql = """
        select family, first(baseline_caption order by length(baseline_caption), item, probe) as right_side,
               first(caption order by length(baseline_caption), item, probe) as wrong_side
        from shifts
        where list_contains($runs, run) and subject = $subject and language = $language and caption is not null
              and baseline_caption is not null and expectation = $expected and list_contains($families, family)
        group by family"""
    told = {"runs": list(scope.run_ids), "subject": scope.subject, "language": scope.language}
    found = store.query(sql, {**told, "families": list(families), "expected": DIRECTIONAL})
    rows = {str(row[0]): (str(row[0]), str(row[1]), str(row[2])) for row in found.itertuples(index=False, name=None)}
    return [rows[name] for name in families if name in rows]
