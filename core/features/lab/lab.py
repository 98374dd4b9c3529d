"""The engine of the Probe lab: a few probes of one image under several evaluators, now; and what it found.

A row a (probe, evaluator), and beside it the noise band of the evaluator's run, where it has one: the edits of one
picture cannot tell how far a score moves by itself.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from core.errors import InvalidInput, InvariscopeError, ProbeRejected
from core.evaluators.base import Evaluator, Fingerprint, Sight
from core.evaluators.cache import EmbeddingCache, cache_for
from core.evaluators.pool import Pool
from core.evaluators.references import references_of
from core.evaluators.scoring import score_pairs_with_errors
from core.evaluators.video.video_evaluator import ORDER_FREE, asks, for_item
from core.probes.base import FALSITY, IDENTITY, Expectation, Probe, Subject, Variant
from core.probes.pairs import Draft, subject_of
from core.scoring.workbench import Workbench
from core.statistics.changes import SHIFT_FLOOR, NullBand, percent_change


@dataclass(frozen=True, slots=True)
class LabRow:
    """One probe under one evaluator."""

    probe: str
    family: str
    axis: str | None  # None for the identity row
    evaluator: str
    caption: str | None
    baseline: str  # name of the probe that the shift is measured against
    baseline_caption: str | None
    baseline_score: float | None
    score: float | None  # None where the probe was rejected or the evaluator could not score; ``reason`` says why
    control: bool = False
    in_null_band: bool | None = None  # whether ``percent`` lies inside the evaluator's noise band; None without either
    object_inside: float | None = None  # share of the object inside the evaluator's crop, in [0, 1]
    truncated: bool = False
    reason: str = ""  # why a value is missing; empty where nothing is
    rejected: bool = False
    expectation: str | None = None  # of the probe; None for the identity row
    # what an edited caption is made of (:class:`core.probes.base.Construction`); None for an edit of the image and the
    # identity
    construction: str | None = None
    # how sure it is that an edit that breaks the meaning is wrong, as the variant tells; empty: not told
    falsity: str = ""
    diagnostics: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    notes: tuple[str, ...] = ()

    @property
    def delta(self) -> float | None:
        """Score minus baseline score, or None without both."""
        return None if self.score is None or self.baseline_score is None else self.score - self.baseline_score

    @property
    def dropped(self) -> bool | None:
        """Whether the score fell where a probe breaks the meaning, beyond the noise band where there is one.

        A fall that an invisible edit brings about as well is none. None for other probes, and without both scores.
        """
        if self.expectation != Expectation.DIRECTIONAL or self.delta is None:
            return None
        return self.delta < 0 and self.in_null_band is not True

    @property
    def verdict(self) -> str:
        """What the change is in words, of noise only what a band tells; empty where there is nothing to say."""
        if self.dropped is None:
            return {True: "within noise", False: "more than noise", None: ""}[self.in_null_band]
        beyond = {True: " by no more than noise", False: " by more than noise", None: ""}[self.in_null_band]
        return "broken meaning: " + (f"drops{beyond}" if (self.delta or 0.0) < 0 else "does not drop")

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


@dataclass(frozen=True, slots=True)
class LabResult:
    """Everything of one image, one caption, some probes and some evaluators."""

    item: str
    corpus: str
    pixels_sha256: str
    caption: str  # the subject caption
    seed: int
    rows: tuple[LabRow, ...]  # by evaluator, the identity first, then the chosen ones
    bands: Mapping[str, NullBand]  # noise band of those evaluators that a stored run tells it of
    failures: Mapping[str, str]  # sentence by evaluator that could not be loaded or run
    # what the scores depend on and its key, by evaluator, as in a run's manifest
    fingerprints: Mapping[str, Mapping[str, Any]]
    # where an evaluator's device had no memory left and what was done about it, by evaluator
    notes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    # (pictures and captions that had been encoded before, those that the scores needed), by evaluator; pairs, for one
    # that reads pairs
    known: Mapping[str, tuple[int, int]] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, evaluator: str) -> tuple[LabRow, ...]:
        """Rows of one evaluator."""
        return tuple(row for row in self.rows if row.evaluator == evaluator)

    @property
    def evaluators(self) -> tuple[str, ...]:
        """Evaluators that scored."""
        return tuple(self.fingerprints)

    def table(self) -> pd.DataFrame:
        """One row a (probe, evaluator); the columns are LabRow's, + delta, percent and diagnostics."""
        return pd.DataFrame([_record(row) for row in self.rows])

    def shifts(self, evaluator: str) -> pd.DataFrame:
        """Rows of :meth:`table` of one evaluator, without the identity."""
        rows = [row for row in self.of(evaluator) if row.probe != IDENTITY]
        return pd.DataFrame([_record(row) for row in rows])

    def compared_with(self, probe: str) -> str:
        """The caption that a probe's is compared with, where that is not the one that was chosen; else empty.

        How many tokens the neutral word has decides which one it is, so evaluators may differ: each then has its own.
        """
        told: dict[str, list[str]] = {}
        for row in self.rows:
            if row.probe == probe and row.baseline_caption not in (None, self.caption):
                told.setdefault(str(row.baseline_caption), []).append(row.evaluator)
        return (
            next(iter(told), "") if len(told) < 2 else "; ".join(f"{each} ({', '.join(told[each])})" for each in told)
        )

    def as_json(self) -> str:
        """The result as JSON, with what is needed to compute it again."""
        bands = {name: {"reach": band.reach, "n": band.n} for name, band in self.bands.items()}
        record = {
            **{name: getattr(self, name) for name in ("item", "corpus", "pixels_sha256", "caption", "seed")},
            "null_bands_percent": bands,
            "failures": dict(self.failures),
            "evaluators": {name: dict(each) for name, each in self.fingerprints.items()},
            "rows": [_record(row) for row in self.rows],
        }
        return json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False)


def _record(row: LabRow) -> dict[str, Any]:
    record = {each.name: getattr(row, each.name) for each in fields(row)}  # asdict cannot copy a mapping proxy
    diagnostics, notes = record.pop("diagnostics"), record.pop("notes")
    derived = {name: getattr(row, name) for name in ("dropped", "verdict", "delta", "percent", "zero_baseline")}
    measured = {name: value if math.isfinite(value) else None for name, value in diagnostics.items()}
    return {**record, **derived, **measured, "notes": " ".join(notes)}


Progress = Callable[[str], None]  # called with a short sentence before each step that may take a while


@dataclass(frozen=True, slots=True)
class _Pair:
    """What one row scores, and what it is compared with."""

    draft: Draft
    pixels: np.ndarray
    baseline: str
    baseline_caption: str

    @property
    def name(self) -> str:
        """Of the probe, or the identity."""
        return self.draft.probe.name if self.draft.probe else IDENTITY


def run_lab(
    bench: Workbench,
    caption: str,
    probes: Sequence[Probe],
    evaluators: Sequence[str],
    *,
    pool: Pool,
    cache: EmbeddingCache | Callable[[str], EmbeddingCache] | None = None,
    progress: Progress | None = None,
    band_of: Callable[[str], NullBand | None] | None = None,
    show: Callable[[LabResult], None] | None = None,
) -> LabResult:
    """Score every chosen probe of one image under every chosen evaluator.

    An edit of the image keeps ``caption`` and is compared with the unedited image; an edit of the caption is compared
    with its family's length-matched neutral caption, the bare template or ``caption``, whichever its probe names. Each
    evaluator sees each image and each caption once. A rejected probe has a row with its reason, an evaluator that
    cannot run has a sentence in ``failures``, and everything else still stands. Raises InvalidInput if the caption is
    empty.

    Args:
        caption: held while the image is edited; one of the item's captions counts as of its language, any other text
            as English.
        probes: in the order of the rows; one that is named twice has one row.
        cache: embeddings of earlier calls, or what gives those of an evaluator.
        band_of: gives the noise band that a stored run tells, by the key of the evaluator's fingerprint.
        show: given what is known after each evaluator but the last.
    """
    if not caption.strip():
        raise InvalidInput("the caption is empty; type one, or use the template")
    say = progress or (lambda _: None)
    shown = tuple({probe.name: probe for probe in probes}.values())
    subject = subject_of(bench.item, caption)
    say("Making variants")
    for probe in shown:
        bench.make(probe, subject)
    found = LabResult(bench.item.id, bench.item.corpus, bench.image(None)[0], caption, bench.seed, (), {}, {}, {})
    names = tuple(dict.fromkeys(evaluators))
    for name in names:
        try:
            say(f"Loading {name}")
            kept = cache_for(cache, name)
            turn = _take_turn(bench, subject, shown, name, pool=pool, cache=kept, say=say)
        except InvariscopeError as error:
            found = replace(found, failures={**found.failures, name: str(error)})
        else:
            own, fingerprint, note, known = turn
            band = band_of(fingerprint.key) if band_of else None
            found = replace(
                found,
                rows=(*found.rows, *(_against(row, band) for row in own)),
                bands={**found.bands, **({name: band} if band else {})},
                fingerprints={**found.fingerprints, name: {**fingerprint.as_dict(), "key": fingerprint.key}},
                notes={**found.notes, **({name: note} if note else {})},
                known={**found.known, name: known},
            )
        if show is not None and name != names[-1]:
            show(found)
    return found


def see(bench: Workbench, variant: Variant | None, caption: str, evaluator: str, *, pool: Pool) -> Sight:
    """Return what an evaluator saw of a variant (None: of the unedited image) with a caption; raises NotAvailable if
    the evaluator cannot be loaded."""
    with pool.lease(evaluator) as loaded:
        looks = for_item(loaded, bench.item)
        return looks.see(bench.image(variant)[1], caption, object_mask=bench.object_mask(variant))


def _take_turn(
    bench: Workbench,
    subject: Subject,
    probes: Sequence[Probe],
    name: str,
    *,
    pool: Pool,
    cache: EmbeddingCache | None,
    say: Callable[[str], None],
) -> tuple[list[LabRow], Fingerprint, str, tuple[int, int]]:
    """Rows, fingerprint, note and reuse of one evaluator; nothing refers to it afterwards: the pool can unload it."""
    with pool.lease(name) as loaded:
        evaluator = for_item(loaded, bench.item)
        if not evaluator.spec.reads(subject.language):
            raise InvalidInput(f"{evaluator.spec.unread(subject.language)}; choose a caption in another language")
        say(f"Scoring with {name}")
        pairs, rejections = _pairs(bench, subject, probes, evaluator)
        own = bench.image_key
        wanted = dict.fromkeys([(each.draft.image_key, each.draft.caption) for each in pairs])
        wanted |= dict.fromkeys([(own, each.baseline_caption) for each in pairs])
        images = {own: bench.pixels} | {each.draft.image_key: each.pixels for each in pairs}
        others = references_of(bench.item.captions, subject.caption)
        found = score_pairs_with_errors(evaluator, images, list(wanted), references=[others] * len(wanted), cache=cache)
        scores = {
            pair: (None if np.isnan(value) else float(value), error or "it gave no number")
            for pair, value, error in zip(wanted, found.scores, found.errors, strict=True)
        }
        by_probe = {each.name: each for each in pairs}
        rows = [_row(bench, by_probe[IDENTITY], evaluator, name, scores)]
        for probe in probes:
            if probe.name in rejections:
                none: dict[str, Any] = dict.fromkeys(("caption", "baseline_caption", "baseline_score", "score"))
                none |= {"baseline": probe.baseline, "reason": rejections[probe.name], "rejected": True}
                rows.append(LabRow(**_of_probe(probe, name), **none))
            else:
                rows.append(_row(bench, by_probe[probe.name], evaluator, name, scores))
        return rows, evaluator.fingerprint, pool.note(name), (found.known, found.asked)


def _pairs(
    bench: Workbench, subject: Subject, probes: Sequence[Probe], evaluator: Evaluator
) -> tuple[list[_Pair], dict[str, str]]:
    pairs = [_Pair(bench.unedited(subject), bench.pixels, IDENTITY, subject.caption)]
    rejections: dict[str, str] = {}
    for probe in probes:
        if not asks(type(evaluator), probe):
            rejections[probe.name] = ORDER_FREE.format(name=evaluator.spec.name)
            continue
        edited = bench.edited(probe, [subject])
        if edited.reasons:
            rejections[probe.name] = edited.reasons[0].detail
        try:
            for draft in edited.drafts:
                baseline = bench.baseline(draft, count_tokens=evaluator.count_tokens)
                assert edited.pixels is not None
                pairs.append(_Pair(draft, edited.pixels, *baseline))
        except ProbeRejected as rejection:
            rejections[probe.name] = rejection.detail
    return pairs, rejections


def _row(
    bench: Workbench,
    pair: _Pair,
    evaluator: Evaluator,
    name: str,
    scores: Mapping[tuple[str, str], tuple[float | None, str]],
) -> LabRow:
    draft = pair.draft
    score, error = scores[draft.image_key, draft.caption]
    baseline, lack = scores[bench.image_key, pair.baseline_caption]
    reason = "" if baseline is not None else f"{name} could not score the baseline: {lack}"
    if score is None:
        reason = f"{name} could not score this pair: {error}"
    return LabRow(
        **_of_probe(draft.probe, name),
        caption=draft.caption,
        baseline=pair.baseline,
        baseline_caption=pair.baseline_caption,
        baseline_score=baseline,
        score=score,
        object_inside=evaluator.object_inside(draft.mask),
        truncated=evaluator.truncates(draft.caption),
        reason=reason,
        diagnostics=draft.diagnostics,
        notes=draft.notes,
        falsity=str(draft.facts.get(FALSITY, "")),
    )


def _of_probe(probe: Probe | None, evaluator: str) -> dict[str, Any]:
    """What a row says of its probe, or of the identity."""
    if probe is None:
        return {"probe": IDENTITY, "family": IDENTITY, "axis": None, "evaluator": evaluator}
    made = None if probe.construction is None else probe.construction.value
    about = {"probe": probe.name, "family": probe.family, "axis": probe.axis.value, "evaluator": evaluator}
    return {**about, "control": probe.control, "expectation": probe.expectation.value, "construction": made}


def _against(row: LabRow, band: NullBand | None) -> LabRow:
    if row.percent is None or band is None or row.probe == IDENTITY:
        return row
    return replace(row, in_null_band=band.holds(row.percent))
