"""The engine of the Probe lab: a few probes of one image under several evaluators, now."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.audit.lab_result import LabResult, LabRow, NullBand, null_band
from core.audit.workbench import Workbench
from core.errors import InvalidInput, InvariscopeError, ProbeRejected
from core.evaluators.base import Evaluator, Sight
from core.evaluators.cache import EmbeddingCache
from core.evaluators.pool import Pool
from core.evaluators.references import references_of
from core.evaluators.scoring import score_pairs_with_errors
from core.probes import registry
from core.probes.base import BASE_CAPTION, IDENTITY, LENGTH_MATCHED, Axis, Probe, Variant
from core.probes.captions import base_caption, length_matched

Progress = Callable[[str], None]
"""Called with a short sentence before each step that may take a while."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """What one row scores, and what it is compared with."""

    probe: Probe | None  # None: the identity
    caption: str
    image: str
    baseline: str
    baseline_caption: str
    variant: Variant | None = None


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
    cache: EmbeddingCache | None = None,
    progress: Progress | None = None,
) -> LabResult:
    """Score every chosen probe of one image under every chosen evaluator.

    The null probes are always scored too. An edit of the image keeps ``caption`` and is compared with the
    unedited image; an edit of the caption is compared with its family's length-matched neutral caption, or
    with the bare template, whichever its probe names. Each evaluator sees each image and each caption once.

    Args:
        bench: the item with its pixels.
        caption: the subject caption, held while the image is edited.
        probes: in the order of the rows; one that is named twice has one row.
        evaluators: names or ``path/to/file.py:Name`` references.
        pool: where loaded evaluators live.
        cache: embeddings of earlier calls.

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
    say("Making variants")
    for probe in shown:
        bench.make(probe)
    rows: list[LabRow] = []
    bands: dict[str, NullBand] = {}
    failures: dict[str, str] = {}
    fingerprints: dict[str, Mapping[str, Any]] = {}
    notes: dict[str, str] = {}
    for name in dict.fromkeys(evaluators):
        try:
            say(f"Loading {name}")
            own, fingerprints[name], note = _take_turn(bench, caption, shown, name, pool=pool, cache=cache, say=say)
        except InvariscopeError as error:
            failures[name] = str(error)
            continue
        notes |= {name: note} if note else {}
        bands[name] = null_band(name, own)
        rows += [_against(row, bands[name]) for row in own]
    return LabResult(
        bench.item.id, bench.item.corpus, bench.image(None)[0], caption, bench.seed, tuple(rows), bands, failures,
        fingerprints, notes,
    )  # fmt: skip


def see(bench: Workbench, variant: Variant | None, caption: str, evaluator: str, *, pool: Pool) -> Sight:
    """Return what an evaluator saw of a variant (None: of the unedited image) with a caption.

    Raises:
        NotAvailable: if the evaluator cannot be loaded.
    """
    with pool.lease(evaluator) as loaded:
        return loaded.see(bench.image(variant)[1], caption, object_mask=bench.object_mask(variant))


def _take_turn(
    bench: Workbench,
    caption: str,
    probes: Sequence[Probe],
    name: str,
    *,
    pool: Pool,
    cache: EmbeddingCache | None,
    say: Callable[[str], None],
) -> tuple[list[LabRow], Mapping[str, Any], str]:
    """Rows, fingerprint and note of one evaluator; nothing refers to it afterwards: the pool can unload it."""
    with pool.lease(name) as evaluator:
        say(f"Scoring with {name}")
        own = _score(bench, caption, probes, evaluator, name=name, cache=cache)
        return own, evaluator.fingerprint.as_dict(), pool.note(name)


def _score(
    bench: Workbench,
    caption: str,
    probes: Sequence[Probe],
    evaluator: Evaluator,
    *,
    name: str,
    cache: EmbeddingCache | None,
) -> list[LabRow]:
    pairs, rejections = _pairs(bench, caption, probes, evaluator)
    own = bench.image(None)[0]
    wanted = dict.fromkeys([(each.image, each.caption) for each in pairs])
    wanted |= dict.fromkeys([(own, each.baseline_caption) for each in pairs])
    images = {own: bench.pixels} | {each.image: bench.image(each.variant)[1] for each in pairs}
    others = references_of(bench.item.captions, caption)
    found = score_pairs_with_errors(evaluator, images, list(wanted), references=[others] * len(wanted), cache=cache)
    scores = {
        pair: _Score(None if np.isnan(value) else float(value), error or "")
        for pair, value, error in zip(wanted, found.scores, found.errors, strict=True)
    }
    by_probe = {each.probe.name if each.probe else IDENTITY: each for each in pairs}
    rows = [_row(bench, by_probe[IDENTITY], evaluator, name, scores)]
    for probe in probes:
        if probe.name in rejections:
            rows.append(_rejected(probe, name, rejections[probe.name]))
        else:
            rows.append(_row(bench, by_probe[probe.name], evaluator, name, scores))
    return rows


def _pairs(
    bench: Workbench, caption: str, probes: Sequence[Probe], evaluator: Evaluator
) -> tuple[list[_Pair], dict[str, str]]:
    own = bench.image(None)[0]
    pairs = [_Pair(None, caption, own, IDENTITY, caption)]
    rejections: dict[str, str] = {}
    for probe in probes:
        made = bench.make(probe)
        if isinstance(made, ProbeRejected):
            rejections[probe.name] = made.detail
            continue
        edited = caption if made.caption is None else made.caption
        try:
            baseline, baseline_caption = _baseline(bench, probe, edited, caption, evaluator)
        except ProbeRejected as rejection:
            rejections[probe.name] = rejection.detail
            continue
        pairs.append(_Pair(probe, edited, bench.image(made)[0], baseline, baseline_caption, made))
    return pairs, rejections


def _baseline(bench: Workbench, probe: Probe, edited: str, subject: str, evaluator: Evaluator) -> tuple[str, str]:
    """Name and caption of what a probe is compared with; the baseline's image is the unedited one."""
    if probe.baseline == IDENTITY:
        return IDENTITY, subject
    label = bench.item.label or ""
    if probe.baseline == BASE_CAPTION:
        return BASE_CAPTION, base_caption(label)
    name = probe.baseline
    if name == LENGTH_MATCHED:
        name = length_matched(probe.family, edited, label, count_tokens=evaluator.count_tokens)
    made = bench.make(registry.catalogue().get(name))
    if isinstance(made, ProbeRejected):
        raise made
    return name, subject if made.caption is None else made.caption


def _row(
    bench: Workbench,
    pair: _Pair,
    evaluator: Evaluator,
    name: str,
    scores: Mapping[tuple[str, str], _Score],
) -> LabRow:
    score = scores[pair.image, pair.caption]
    baseline = scores[bench.image(None)[0], pair.baseline_caption]
    probe = pair.probe
    variant = pair.variant
    return LabRow(
        probe=probe.name if probe else IDENTITY,
        family=probe.family if probe else IDENTITY,
        axis=probe.axis.value if probe else None,
        evaluator=name,
        caption=pair.caption,
        baseline=pair.baseline,
        baseline_caption=pair.baseline_caption,
        baseline_score=baseline.value,
        score=score.value,
        control=bool(probe and probe.control),
        object_inside=evaluator.object_inside(bench.object_mask(variant)),
        truncated=evaluator.truncates(pair.caption),
        reason=_reason(name, score, baseline),
        diagnostics=variant.diagnostics if variant else {},
        notes=variant.notes if variant else (),
    )


def _reason(name: str, score: _Score, baseline: _Score) -> str:
    if score.value is None:
        return f"{name} could not score this pair: {score.error or 'it gave no number'}"
    if baseline.value is None:
        return f"{name} could not score the baseline: {baseline.error or 'it gave no number'}"
    return ""


def _rejected(probe: Probe, evaluator: str, detail: str) -> LabRow:
    return LabRow(
        probe=probe.name, family=probe.family, axis=probe.axis.value, evaluator=evaluator, caption=None,
        baseline=probe.baseline, baseline_caption=None, baseline_score=None, score=None, control=probe.control,
        reason=detail, rejected=True,
    )  # fmt: skip


def _against(row: LabRow, band: NullBand) -> LabRow:
    if row.percent is None or not band.n or row.probe == IDENTITY:
        return row
    return replace(row, in_null_band=band.holds(row.percent))
