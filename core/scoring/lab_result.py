"""What the Probe lab shows of one image: a row a (probe, evaluator), and the evaluator's null band beside it."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

import pandas as pd

from core.probes.base import Axis, Expectation
from core.statistics.changes import SHIFT_FLOOR, NullBand, null_band, percent_change


@dataclass(frozen=True, slots=True)
class LabRow:
    """One probe under one evaluator.

    Args:
        axis: None for the identity row.
        baseline: name of the probe that the shift is measured against.
        score: None where the probe was rejected or the evaluator could not score; ``reason`` says why.
        delta: score - baseline_score, on the evaluator's own scale.
        percent: 100 · delta / baseline_score; None also where |baseline_score| < SHIFT_FLOOR.
        in_null_band: whether ``percent`` lies inside the evaluator's null band; None without either.
        object_inside: share of the object inside the evaluator's crop, in [0, 1].
        reason: why a value is missing; empty where nothing is.
        expectation: of the probe; None for the identity row.
        construction: what an edited caption is made of (:class:`core.probes.base.Construction`); None for an edit of
            the image and the identity.
        falsity: how sure it is that an edit that breaks the meaning is wrong, as the variant tells; empty: not told.
    """

    probe: str
    family: str
    axis: str | None
    evaluator: str
    caption: str | None
    baseline: str
    baseline_caption: str | None
    baseline_score: float | None
    score: float | None
    control: bool = False
    in_null_band: bool | None = None
    object_inside: float | None = None
    truncated: bool = False
    reason: str = ""
    rejected: bool = False
    expectation: str | None = None
    construction: str | None = None
    falsity: str = ""
    diagnostics: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    notes: tuple[str, ...] = ()

    @property
    def delta(self) -> float | None:
        """Score minus baseline score, or None without both."""
        return None if self.score is None or self.baseline_score is None else self.score - self.baseline_score

    @property
    def dropped(self) -> bool | None:
        """Whether the score fell where a probe breaks the meaning; None for other probes, and without both scores."""
        if self.expectation != Expectation.DIRECTIONAL or self.delta is None:
            return None
        return self.delta < 0

    @property
    def zero_baseline(self) -> bool:
        """Whether the percent change is undefined because the baseline is zero or below."""
        return self.delta is not None and (self.baseline_score or 0.0) < SHIFT_FLOOR

    @property
    def percent(self) -> float | None:
        """Percent change against the baseline, or None where it is undefined."""
        if self.score is None or self.baseline_score is None or self.zero_baseline:
            return None
        return float(percent_change(self.score, self.baseline_score))


def own_band(rows: Sequence[LabRow]) -> NullBand:
    """The null band of this picture's few edits alone, where no run tells the evaluator's."""
    shifts = [row.percent for row in rows if row.axis == Axis.NULL.value and row.percent is not None]
    return null_band(shifts)


@dataclass(frozen=True, slots=True)
class LabResult:
    """Everything of one image, one caption, some probes and some evaluators.

    Args:
        caption: the subject caption.
        rows: by evaluator, the identity first, then the null probes, then the chosen ones.
        bands: null band by evaluator.
        stored: evaluators whose band is that of a stored run; the others' is of this picture's null edits alone.
        failures: sentence by evaluator that could not be loaded or run.
        fingerprints: what the scores depend on and its key, by evaluator, as in a run's manifest.
        notes: where an evaluator's device had no memory left and what was done about it, by evaluator.
        known: (pictures and captions that had been encoded before, those that the scores needed), by evaluator; pairs,
            for one that reads pairs.
    """

    item: str
    corpus: str
    pixels_sha256: str
    caption: str
    seed: int
    rows: tuple[LabRow, ...]
    bands: Mapping[str, NullBand]
    failures: Mapping[str, str]
    fingerprints: Mapping[str, Mapping[str, Any]]
    notes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    stored: frozenset[str] = frozenset()
    known: Mapping[str, tuple[int, int]] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, evaluator: str) -> tuple[LabRow, ...]:
        """Rows of one evaluator."""
        return tuple(row for row in self.rows if row.evaluator == evaluator)

    @property
    def evaluators(self) -> tuple[str, ...]:
        """Evaluators that scored."""
        return tuple(self.bands)

    def table(self) -> pd.DataFrame:
        """One row a (probe, evaluator); the columns are LabRow's, + delta, percent and diagnostics."""
        return pd.DataFrame([_record(row) for row in self.rows])

    def shifts(self, evaluator: str) -> pd.DataFrame:
        """Rows of :meth:`table` of one evaluator, without the identity and the null probes."""
        rows = [row for row in self.of(evaluator) if row.axis not in (None, Axis.NULL.value)]
        return pd.DataFrame([_record(row) for row in rows])

    def as_json(self) -> str:
        """The result as JSON, with what is needed to compute it again."""
        bands = {
            name: {"reach": band.reach, "n": band.n, "of": "run" if name in self.stored else "picture"}
            for name, band in self.bands.items()
            if band.n
        }
        record = {
            "item": self.item,
            "corpus": self.corpus,
            "pixels_sha256": self.pixels_sha256,
            "caption": self.caption,
            "seed": self.seed,
            "null_bands_percent": bands,
            "failures": dict(self.failures),
            "evaluators": {name: dict(each) for name, each in self.fingerprints.items()},
            "rows": [_record(row) for row in self.rows],
        }
        return json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False)


def _record(row: LabRow) -> dict[str, Any]:
    record = {each.name: getattr(row, each.name) for each in fields(row)}  # asdict cannot copy a mapping proxy
    diagnostics, notes = record.pop("diagnostics"), record.pop("notes")
    derived = {"dropped": row.dropped, "delta": row.delta, "percent": row.percent, "zero_baseline": row.zero_baseline}
    measured = {name: value if math.isfinite(value) else None for name, value in diagnostics.items()}
    return {**record, **derived, **measured, "notes": " ".join(notes)}
