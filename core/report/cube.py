"""Every score of some runs as one dense array: evaluators × probes × items, aligned, without a string a row.

A report asks hundreds of questions of the same rows. Grouping a million rows by text for each of them takes
minutes; slicing this array takes none, and 5 evaluators × 40 probes × 6000 items are 10 MB.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from core.analysis.orbits import Family, Orbits, row_medians
from core.audit.schema import SHIFT_FLOOR
from core.audit.store import Store
from core.errors import InvalidInput
from core.probes.base import IDENTITY, Expectation

REFERENCE = "coco"
"""Corpus on which the paper reports what it reports on one only."""

SUBJECTS = ("template", "human")
"""Subjects in the order in which a report prefers them."""

_SCORES = """
select corpus, item, probe, baseline, evaluator, score from scores
where subject = $subject and list_contains($runs, run)
"""
_PROBES = """
select probe, any_value(axis) as axis, any_value(family) as family, any_value(modifier) as modifier,
       bool_or(control) as control, any_value(expectation) as expectation, count(distinct family) as families
from scores where subject = $subject and list_contains($runs, run) group by probe order by probe
"""
_ITEMS = """
select i.corpus, i.item, any_value(i.category) as category, any_value(i.coverage) as coverage,
       any_value(i.coverage_bin) as coverage_bin, any_value(i.label) as label,
       any_value(i.pixels_sha256) as pixels
from items i where list_contains($runs, i.run) group by i.corpus, i.item
"""
_DIAGNOSTICS = """
select corpus, item, probe, any_value(bg_delta) as bg_delta, any_value(seam_energy) as seam_energy,
       any_value(seam_ratio) as seam_ratio
from scores where subject = $subject and list_contains($runs, run) and seam_energy is not null
group by corpus, item, probe
"""


@dataclass(frozen=True, slots=True)
class Cube:
    """Scores of one subject.

    Args:
        subject: which caption is held: ``template`` or ``human``.
        evaluators: names, E of them, sorted.
        probes: columns axis, family, modifier, control, expectation; index probe; P of them, sorted.
        items: columns corpus, item, category, coverage, coverage_bin, label, pixels; N of them, sorted.
        scores: float64 [E, P, N]; NaN where there is no score.
        baselines: position of each score's baseline probe, int16 [E, P, N]; -1 where there is none.
        diagnostics: columns corpus, item, probe, bg_delta, seam_energy, seam_ratio of the composites.
    """

    subject: str
    evaluators: tuple[str, ...]
    probes: pd.DataFrame
    items: pd.DataFrame
    scores: np.ndarray
    baselines: np.ndarray
    diagnostics: pd.DataFrame

    @property
    def corpora(self) -> tuple[str, ...]:
        """Names, sorted."""
        return tuple(sorted(self.items["corpus"].unique()))

    @property
    def reference(self) -> str:
        """Corpus that the others are held against: REFERENCE where it is here, else the largest."""
        sizes = self.items["corpus"].value_counts(sort=True)
        return REFERENCE if REFERENCE in sizes.index else str(sizes.index[0])

    def of_corpus(self, corpus: str) -> np.ndarray:
        """Which items are of a corpus, bool [N]."""
        return (self.items["corpus"] == corpus).to_numpy()

    def clean(self, evaluator: str) -> np.ndarray:
        """Scores of the unedited items, float64 [N]."""
        if IDENTITY not in self.probes.index:
            return np.full(len(self.items), math.nan)
        return self.scores[self.evaluators.index(evaluator), self.probes.index.get_loc(IDENTITY)]

    def chosen(self, **wanted: object) -> tuple[str, ...]:
        """Probes of these values, e.g. ``family="cultural", control=False``; invariant ones only."""
        keep = np.array(self.probes["expectation"] == Expectation.INVARIANT.value)
        for name, value in wanted.items():
            keep &= (self.probes[name] == value).to_numpy()
        return tuple(self.probes.index[keep])

    def after(self, evaluator: str, probes: Sequence[str]) -> np.ndarray:
        """Scores under some probes, float64 [k, N]."""
        return self.scores[self.evaluators.index(evaluator), self._places(probes)]

    def before(self, evaluator: str, probes: Sequence[str]) -> np.ndarray:
        """Score of the baseline of each, float64 [k, N]."""
        which, places = self.evaluators.index(evaluator), self._places(probes)
        baseline = self.baselines[which, places]
        found = self.scores[which, baseline, np.arange(len(self.items))]
        return np.where(baseline < 0, math.nan, found)

    def orbits(self, evaluator: str) -> Orbits:
        """Scores as calibration takes them: every invariant family, controls left out."""
        families = {}
        for name in sorted(self.probes["family"].dropna().unique()):
            probes = self.chosen(family=name, control=False)
            if probes:
                axis = str(self.probes.loc[probes[0], "axis"])
                families[str(name)] = Family(
                    axis, probes, self.after(evaluator, probes), self.before(evaluator, probes)
                )
        items = tuple(zip(self.items["corpus"], self.items["item"], strict=True))
        return Orbits(evaluator, items, self.clean(evaluator), families)

    def digest(self) -> str:
        """Sixteen hexadecimal digits of everything in the array; the same scores give the same digits."""
        names = [*self.evaluators, *self.probes.index, *self.items["corpus"], *self.items["item"], self.subject]
        found = hashlib.sha256("\x1f".join(map(str, names)).encode())
        found.update(np.ascontiguousarray(self.scores + 0.0).astype("<f8").tobytes())
        found.update(np.ascontiguousarray(self.baselines).astype("<i2").tobytes())
        return found.hexdigest()[:16]

    def _places(self, probes: Sequence[str]) -> np.ndarray:
        names = self.probes.index.tolist()
        return np.array([names.index(name) for name in probes], dtype=np.intp)


def percent(after: np.ndarray, before: np.ndarray) -> np.ndarray:
    """%Δ = 100 · (after - before) / before; NaN where |before| is below SHIFT_FLOOR. Source: PROTOCOL section 3."""
    floor = np.where(np.abs(before) >= SHIFT_FLOOR, before, math.nan)
    return 100 * (after - before) / floor


def per_item(values: np.ndarray) -> np.ndarray:
    """Median over probes of each item, float64 [k, n] to [n]; NaN left out."""
    return row_medians(np.ascontiguousarray(values))


def read_cube(store: Store, runs: Sequence[str], *, subject: str | None = None) -> Cube:
    """Read the scores of some runs.

    Args:
        store: opened runs.
        runs: their ids.
        subject: which caption is held; None: the template's where it was scored, else the human one's.

    Raises:
        InvalidInput: if a run is not in the store, nothing was scored, or one (item, probe, evaluator) was scored by
            two of the runs.
    """
    known = {run.id for run in store.runs()}
    unknown = sorted(set(runs) - known)
    if unknown:
        raise InvalidInput(f"no run {unknown[0]!r} is open; there are: {', '.join(sorted(known)) or 'none'}")
    subject = subject or _subject(store, runs)
    params = {"runs": list(runs), "subject": subject}
    rows = store.table(_SCORES, params)
    if not len(rows):
        raise InvalidInput(f"the runs {', '.join(runs)} hold no score of subject {subject!r}; choose other runs")
    # a query binds every parameter that it is given, so each gets its own
    probes = store.query(_PROBES, params)
    items = store.query(_ITEMS, {"runs": list(runs)})
    diagnostics = store.query(_DIAGNOSTICS, params)
    _one_family(probes)
    probes = probes.drop(columns="families").set_index("probe")
    probes["control"] = probes["control"].fillna(value=False).astype(bool)
    return _cube(subject, rows, probes, items, diagnostics)


def _cube(subject: str, rows: pa.Table, probes: pd.DataFrame, items: pd.DataFrame, diagnostics: pd.DataFrame) -> Cube:
    evaluator, evaluators = _codes(rows["evaluator"])
    probe, _ = _codes(rows["probe"], list(probes.index))
    baseline, _ = _codes(rows["baseline"], list(probes.index))
    corpus, corpora = _codes(rows["corpus"])
    item, names = _codes(rows["item"])
    pairs = corpus * len(names) + item
    there = np.zeros(len(corpora) * len(names), dtype=bool)
    there[pairs] = True
    keys, place = np.flatnonzero(there), (np.cumsum(there) - 1)[pairs]
    found = pd.DataFrame(
        {"corpus": np.array(corpora, dtype=object)[keys // len(names)],
         "item": np.array(names, dtype=object)[keys % len(names)]}
    )  # fmt: skip
    shape = (len(evaluators), len(probes), len(found))
    flat = np.ravel_multi_index((evaluator, probe, place), shape)
    if np.bincount(flat).max() > 1:
        twice = found.iloc[int(place[_first_twin(flat)])]
        raise InvalidInput(
            f"item {twice['item']} of corpus {twice['corpus']} was scored twice by one evaluator under one probe; "
            "choose one run of a corpus and evaluator"
        )
    scores, baselines = np.full(shape, math.nan), np.full(shape, -1, dtype=np.int16)
    scores.ravel()[flat] = rows["score"].to_numpy(zero_copy_only=False)
    baselines.ravel()[flat] = baseline
    items = found.merge(items, on=["corpus", "item"], how="left").astype({"corpus": object, "category": object})
    return Cube(subject, tuple(evaluators), probes, items, scores, baselines, diagnostics)


def _codes(column: pa.ChunkedArray, order: list[str] | None = None) -> tuple[np.ndarray, list[str]]:
    """Number of each text in the sorted (or given) order, -1 for none; and the order."""
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    texts = encoded.dictionary.to_pylist()
    names = sorted(texts) if order is None else order
    position = {name: number for number, name in enumerate(names)}
    places = np.array([position.get(text, -1) for text in texts] + [-1], dtype=np.int64)
    indices = encoded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
    return places[indices], names


def _first_twin(flat: np.ndarray) -> int:
    order = np.argsort(flat, kind="stable")
    return int(order[np.flatnonzero(np.diff(flat[order]) == 0)[0]])


def _subject(store: Store, runs: Sequence[str]) -> str:
    sql = "select distinct subject from scores where list_contains($runs, run)"
    there = {str(name) for name in store.query(sql, {"runs": list(runs)})["subject"]}
    return next((name for name in SUBJECTS if name in there), next(iter(sorted(there)), SUBJECTS[0]))


def _one_family(probes: pd.DataFrame) -> None:
    mixed = probes[probes["families"] > 1]
    if len(mixed):
        raise InvalidInput(f"probe {mixed['probe'].iloc[0]!r} is of two families in these runs; report them apart")
