"""The engine of the Probe lab: a few probes of one image under several evaluators, now."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.errors import InvalidInput, InvariscopeError, ProbeRejected
from core.evaluators.base import Evaluator, Fingerprint, Sight
from core.evaluators.cache import EmbeddingCache
from core.evaluators.pool import Pool
from core.evaluators.references import references_of
from core.evaluators.scoring import score_pairs_with_errors
from core.evaluators.video.items import ORDER_FREE, asks, for_item
from core.probes import registry
from core.probes.base import FALSITY, IDENTITY, Axis, Probe, Subject, Variant
from core.probes.pairs import Draft, subject_of
from core.scoring.lab_result import LabResult, LabRow, own_band
from core.scoring.workbench import Workbench
from core.statistics.changes import NullBand

Progress = Callable[[str], None]
"""Called with a short sentence before each step that may take a while."""


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


@dataclass(frozen=True, slots=True)
class _Score:
    """A pair's score, or why there is none."""

    value: float | None
    error: str


def null_probes() -> tuple[Probe, ...]:
    """Every registered edit that nobody can see; the lab always scores them, for the null band."""
    return tuple(probe for probe in registry.catalogue() if probe.axis is Axis.NULL)


def run_lab(
    bench: Workbench,
    caption: str,
    probes: Sequence[Probe],
    evaluators: Sequence[str],
    *,
    pool: Pool,
    cache: EmbeddingCache | Callable[[str], EmbeddingCache] | None = None,
    progress: Progress | None = None,
    bands: Mapping[str, NullBand] | None = None,
) -> LabResult:
    """Score every chosen probe of one image under every chosen evaluator.

    The null probes are always scored too. An edit of the image keeps ``caption`` and is compared with the
    unedited image; an edit of the caption is compared with its family's length-matched neutral caption, the bare
    template or ``caption``, whichever its probe names. Each evaluator sees each image and each caption once.

    Args:
        bench: the item with its pixels.
        caption: the subject caption, held while the image is edited; one of the item's captions counts as of its
            language, any other text as English.
        probes: in the order of the rows; one that is named twice has one row.
        evaluators: names or ``path/to/file.py:Name`` references.
        pool: where loaded evaluators live.
        cache: embeddings of earlier calls, or what gives those of an evaluator.
        bands: null bands of stored runs, by the key of the evaluator's fingerprint; an evaluator without one is held
            against this picture's own null edits.

    Returns:
        The rows; a rejected probe has a row with its reason, an evaluator that cannot run has a sentence in
        ``failures``, and everything else still stands.

    Raises:
        InvalidInput: if the caption is empty.
    """
    if not caption.strip():
        raise InvalidInput("the caption is empty; type one, or use the template")
    say = progress or (lambda _: None)
    shown = tuple({probe.name: probe for probe in (*null_probes(), *probes)}.values())
    subject = subject_of(bench.item, caption)
    say("Making variants")
    for probe in shown:
        bench.make(probe, subject)
    rows: list[LabRow] = []
    held: dict[str, NullBand] = {}
    stored: set[str] = set()
    failures: dict[str, str] = {}
    fingerprints: dict[str, Mapping[str, Any]] = {}
    notes: dict[str, str] = {}
    known: dict[str, tuple[int, int]] = {}
    for name in dict.fromkeys(evaluators):
        try:
            say(f"Loading {name}")
            kept = cache if cache is None or isinstance(cache, EmbeddingCache) else cache(name)
            turn = _take_turn(bench, subject, shown, name, pool=pool, cache=kept, say=say)
        except InvariscopeError as error:
            failures[name] = str(error)
            continue
        own, fingerprint, note, known[name] = turn
        notes |= {name: note} if note else {}
        fingerprints[name] = {**fingerprint.as_dict(), "key": fingerprint.key}
        band = (bands or {}).get(fingerprint.key)
        held[name] = band or own_band(own)
        stored |= {name} if band else set()
        rows += [_against(row, held[name]) for row in own]
    return LabResult(
        bench.item.id,
        bench.item.corpus,
        bench.image(None)[0],
        caption,
        bench.seed,
        tuple(rows),
        held,
        failures,
        fingerprints,
        notes,
        frozenset(stored),
        known,
    )


def see(bench: Workbench, variant: Variant | None, caption: str, evaluator: str, *, pool: Pool) -> Sight:
    """Return what an evaluator saw of a variant (None: of the unedited image) with a caption.

    Raises:
        NotAvailable: if the evaluator cannot be loaded.
    """
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
        own, known = _score(bench, subject, probes, evaluator, name=name, cache=cache)
        return own, evaluator.fingerprint, pool.note(name), known


def _score(
    bench: Workbench,
    subject: Subject,
    probes: Sequence[Probe],
    evaluator: Evaluator,
    *,
    name: str,
    cache: EmbeddingCache | None,
) -> tuple[list[LabRow], tuple[int, int]]:
    pairs, rejections = _pairs(bench, subject, probes, evaluator)
    own = bench.image_key
    wanted = dict.fromkeys([(each.draft.image_key, each.draft.caption) for each in pairs])
    wanted |= dict.fromkeys([(own, each.baseline_caption) for each in pairs])
    images = {own: bench.pixels} | {each.draft.image_key: each.pixels for each in pairs}
    others = references_of(bench.item.captions, subject.caption)
    found = score_pairs_with_errors(evaluator, images, list(wanted), references=[others] * len(wanted), cache=cache)
    scores = {
        pair: _Score(None if np.isnan(value) else float(value), error or "")
        for pair, value, error in zip(wanted, found.scores, found.errors, strict=True)
    }
    by_probe = {each.name: each for each in pairs}
    rows = [_row(bench, by_probe[IDENTITY], evaluator, name, scores)]
    for probe in probes:
        if probe.name in rejections:
            rows.append(_rejected(probe, name, rejections[probe.name]))
        else:
            rows.append(_row(bench, by_probe[probe.name], evaluator, name, scores))
    return rows, (found.known, found.asked)


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
    scores: Mapping[tuple[str, str], _Score],
) -> LabRow:
    draft = pair.draft
    score = scores[draft.image_key, draft.caption]
    baseline = scores[bench.image_key, pair.baseline_caption]
    probe = draft.probe
    return LabRow(
        probe=pair.name,
        family=probe.family if probe else IDENTITY,
        axis=probe.axis.value if probe else None,
        evaluator=name,
        caption=draft.caption,
        baseline=pair.baseline,
        baseline_caption=pair.baseline_caption,
        baseline_score=baseline.value,
        score=score.value,
        control=bool(probe and probe.control),
        object_inside=evaluator.object_inside(draft.mask),
        truncated=evaluator.truncates(draft.caption),
        reason=_reason(name, score, baseline),
        diagnostics=draft.diagnostics,
        notes=draft.notes,
        expectation=probe.expectation.value if probe else None,
        construction=_made_of(probe),
        falsity=str(draft.facts.get(FALSITY, "")),
    )


def _reason(name: str, score: _Score, baseline: _Score) -> str:
    if score.value is None:
        return f"{name} could not score this pair: {score.error or 'it gave no number'}"
    if baseline.value is None:
        return f"{name} could not score the baseline: {baseline.error or 'it gave no number'}"
    return ""


def _rejected(probe: Probe, evaluator: str, detail: str) -> LabRow:
    return LabRow(
        probe=probe.name,
        family=probe.family,
        axis=probe.axis.value,
        evaluator=evaluator,
        caption=None,
        baseline=probe.baseline,
        baseline_caption=None,
        baseline_score=None,
        score=None,
        control=probe.control,
        reason=detail,
        rejected=True,
        expectation=probe.expectation.value,
        construction=_made_of(probe),
    )


def _made_of(probe: Probe | None) -> str | None:
    return probe.construction.value if probe is not None and probe.construction is not None else None


def _against(row: LabRow, band: NullBand) -> LabRow:
    if row.percent is None or not band.n or row.probe == IDENTITY:
        return row
    return replace(row, in_null_band=band.holds(row.percent))
