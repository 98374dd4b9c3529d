"""A metric's report: what it promises, and how far edits that change no meaning move it."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from core.analysis.metric_contract import Finding, check_contract
from core.corpora.images import read_item
from core.corpora.schema import Item
from core.errors import InvalidInput
from core.evaluators.cache import EmbeddingCache
from core.evaluators.pool import Pool
from core.probes.base import IDENTITY, Expectation, Probe
from core.scoring.lab import run_lab
from core.scoring.lab_result import LabRow
from core.scoring.workbench import Workbench
from core.statistics.bootstrap import Interval, median_bca
from core.statistics.changes import item_medians
from core.statistics.power import side_needed

ITEMS = 24
WITHIN, BEYOND, UNDECIDED, NOTHING = "within", "beyond", "undecided", "nothing scored"
"""What is found of a family beside the threshold; by its interval, never by the estimate alone."""

THRESHOLD = 5.0
"""Percent; the least that a metric developer may want to hear of, not a constant of any paper."""
PROBES = ("null", "vertical-flip", "horizontal-flip", "rotation", "blur", "cultural", "economic", "gender", "emotion")

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class FamilyShift:
    """How far one family moves the metric.

    Args:
        size: median over items of an item's median |%Δ|, with its BCa interval over items.
        shift: median over items of an item's median %Δ, signed, likewise.
        missing: pairs without a %Δ: rejected, unscored, or with a baseline of 0.
        verdict: WITHIN or BEYOND, where the interval of ``size`` lies on that side of the threshold; UNDECIDED where
            it lies astride or there is none; NOTHING where no pair has a %Δ.
        needed: items that would decide it with 80 % power, were the size as found; NaN where it is decided or
            nothing can be said.
    """

    family: str
    axis: str
    size: Interval
    shift: Interval
    missing: int
    verdict: str
    needed: float


@dataclass(frozen=True, slots=True)
class MetricReport:
    """The whole report.

    Args:
        threshold: most that a family may move the metric, in percent.
        failure: why it could not be run at all; empty otherwise.
    """

    evaluator: str
    fingerprint: Mapping[str, Any]
    contract: tuple[Finding, ...]
    families: tuple[FamilyShift, ...]
    items: int
    threshold: float
    failure: str = ""

    @property
    def passed(self) -> bool:
        """Whether every promise was kept and no family is shown to move it further than the threshold."""
        kept = all(each.passed for each in self.contract)
        return kept and not self.failure and all(each.verdict != BEYOND for each in self.families)

    @property
    def undecided(self) -> tuple[FamilyShift, ...]:
        """Families of which these items show neither that they stay within the threshold nor that they do not."""
        return tuple(each for each in self.families if each.verdict == UNDECIDED)

    def as_dict(self) -> dict[str, Any]:
        """Plain dictionary for JSON."""
        return {**asdict(self), "passed": self.passed, "undecided": [each.family for each in self.undecided]}


def check_metric(
    reference: str,
    items: Sequence[Item],
    probes: Sequence[Probe],
    *,
    threshold: float = THRESHOLD,
    count: int = ITEMS,
    pool: Pool | None = None,
    progress: Progress | None = None,
) -> MetricReport:
    """Check one evaluator.

    Args:
        reference: a name, ``path/to/file.py:Name``, or any other reference.
        items: of a corpus; those with an English caption serve, evenly spread, ``count`` of them.
        probes: those that expect the score to stay.
        threshold: percent; a family fails where the interval of its median |%Δ| lies above.

    Raises:
        InvalidInput: if the threshold, the count, the probes or the items cannot be used.
        NotAvailable: if its weights are not here.
    """
    if not threshold > 0 or count < 3:
        raise InvalidInput(f"threshold must be positive and count at least 3, got {threshold:g} and {count}")
    directional = [probe.name for probe in probes if probe.expectation is not Expectation.INVARIANT]
    if directional:
        raise InvalidInput(f"probe {directional[0]!r} expects the score to move; only invariance probes are tried here")
    usable = [item for item in items if item.captions.get("en")]
    if len(usable) < 3:
        raise InvalidInput(f"the corpus has {len(usable)} items with an English caption; at least 3 are needed")
    places = np.linspace(0, len(usable) - 1, min(count, len(usable))).round().astype(int)
    chosen = [usable[place] for place in places]
    pool = Pool(device="cpu") if pool is None else pool
    benches = [Workbench(item, read_item(item).pixels) for item in chosen]
    with pool.lease(reference) as evaluator:
        contract = check_contract(
            evaluator, [bench.pixels for bench in benches[:5]], [item.captions["en"][0] for item in chosen[:5]]
        )
        fingerprint, name = evaluator.fingerprint.as_dict(), evaluator.spec.name
    rows, failure = _shifts(reference, benches, probes, pool, progress)
    families = tuple(_family(probe_family, rows, threshold) for probe_family in _families(probes))
    return MetricReport(name, fingerprint, tuple(contract), families, len(chosen), threshold, failure)


def _shifts(
    reference: str, benches: Sequence[Workbench], probes: Sequence[Probe], pool: Pool, progress: Progress | None
) -> tuple[list[list[LabRow]], str]:
    """Every probe's rows, an item at a time, and why there are none where the metric cannot be run."""
    rows: list[list[LabRow]] = []
    cache = EmbeddingCache()
    for index, bench in enumerate(benches):
        found = run_lab(bench, bench.item.captions["en"][0], probes, [reference], pool=pool, cache=cache)
        if found.failures:
            return rows, next(iter(found.failures.values()))
        rows.append([row for row in found.rows if row.probe != IDENTITY and not _is_baseline(row)])
        if progress is not None:
            progress(index + 1, len(benches))
    return rows, ""


def _families(probes: Sequence[Probe]) -> list[tuple[str, str]]:
    pairs = [("null", "null"), *((probe.family, probe.axis.value) for probe in probes)]
    return list(dict.fromkeys(pairs))


def _family(family: tuple[str, str], rows: Sequence[Sequence[LabRow]], threshold: float) -> FamilyShift:
    own = [[row for row in item if row.family == family[0]] for item in rows]
    probes = sorted({row.probe for item in own for row in item})
    percent = np.full((len(probes), len(own)), np.nan)
    for place, item in enumerate(own):
        for row in item:
            percent[probes.index(row.probe), place] = np.nan if row.percent is None else row.percent
    size, shift = median_bca(item_medians(np.abs(percent))), median_bca(item_medians(percent))
    verdict = _verdict(size, threshold)
    needed = side_needed(size, bound=threshold) if verdict == UNDECIDED else math.nan
    missing = sum(map(len, own)) - int((~np.isnan(percent)).sum())
    return FamilyShift(family[0], family[1], size, shift, missing, verdict, needed)


def _verdict(size: Interval, threshold: float) -> str:
    if not size.n:
        return NOTHING
    if size.high <= threshold:
        return WITHIN
    return BEYOND if size.low > threshold else UNDECIDED


def _is_baseline(row: LabRow) -> bool:
    """Whether a row is one of a caption family's neutral controls, which the others are compared with."""
    return row.control and row.baseline != IDENTITY
