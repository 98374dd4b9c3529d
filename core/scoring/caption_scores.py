"""Scoring a captioner's output: one caption an image, as clipscore and CaptionEvalKit do it. What an evaluator cannot
score is told before its weights are loaded: no references, another language."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from core.corpora.images import read_image
from core.corpora.labels import languages_by_script
from core.errors import BadImage, InvalidInput
from core.evaluators.base import BATCH_SIZE, DualEncoder, Evaluator, EvaluatorSpec
from core.evaluators.pool import Pool
from core.evaluators.references import Referenced, with_closest
from core.evaluators.scoring import score_pairs_with_errors
from core.yes_no import seen


def unread_captions(spec: EvaluatorSpec, captions: Iterable[str]) -> dict[str, str]:
    """Captions in scripts of languages that an evaluator does not read, each with why; nothing else tells a language.
    ``captions``: of one file, which tells Chinese characters of Japanese from Chinese."""
    texts = list(dict.fromkeys(captions)) if spec.languages else []
    languages = languages_by_script(texts, "")
    return {
        text: spec.unread(language)
        for text, language in zip(texts, languages, strict=True)
        if language and not spec.reads(language)
    }


def check_scorable(spec: EvaluatorSpec, captions: Iterable[str], *, references: bool) -> None:
    """Refuse what no caption could be scored of; where some can, the others cost their own score.
    Raises InvalidInput if the evaluator needs references, or reads none of the captions."""
    if spec.takes_references and not references:
        raise InvalidInput(f"{spec.name} compares with reference captions; give --references or take another evaluator")
    said = {text for text in captions if seen(text).strip()}
    unread = unread_captions(spec, said)
    if unread and len(unread) == len(said):
        why = next(iter(unread.values()))
        raise InvalidInput(f"none of the {len(said):,} captions can be scored: {why}; choose an evaluator that does")


EMPTY = "the caption is empty"  # why an empty caption has no score


@dataclass(frozen=True, slots=True)
class CaptionedImage:
    """One line of a captioner's output; ``references``: captions by people, empty where there are none."""

    id: str
    caption: str
    image: Path
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CaptionScore:
    """The score of one line, or why there is none."""

    id: str
    score: float | None  # S(image, caption) on the evaluator's own scale; None where it cannot be had
    # harmonic mean of ``score`` and the closest reference; None without references
    with_references: float | None = None
    error: str = ""  # one sentence where ``score`` is None


def score_captions(
    evaluator: Evaluator,
    lines: Sequence[CaptionedImage],
    *,
    progress: Callable[[int, int], None] | None = None,
    batch_size: int | None = None,
) -> tuple[CaptionScore, ...]:
    """Score every line; an unreadable image or an unscorable caption costs that line alone. Images are decoded batch by
    batch, so that a folder of any size fits into memory. An empty caption and one in a language that is not read are
    not scored.
    ``evaluator``: a loaded evaluator; the caller holds its lease. ``lines``: in any order; the result has the same one.
    ``progress``: called with (done, total) after every batch.
    ``batch_size``: most lines in one call; None: as many as the evaluator asks for.
    Raises InvalidInput if references are given and the evaluator cannot compare two captions."""
    if any(line.references for line in lines) and not isinstance(evaluator, DualEncoder | Referenced):
        raise InvalidInput(f"{evaluator.spec.name} compares no captions with references; leave the references out")
    lost = unscored(evaluator.spec, lines)
    said = [line for line, reason in zip(lines, lost, strict=True) if not reason]
    found = score_pairs_with_errors(
        evaluator,
        {str(line.image): partial(_pixels, line.image) for line in said},
        [(str(line.image), line.caption) for line in said],
        references=[line.references for line in said],
        batch_size=batch_size,
        progress=progress,
    )
    pairs = zip(found.scores, found.errors, strict=True)
    scores = []
    for line, reason in zip(lines, lost, strict=True):
        score, error = (math.nan, reason) if reason else next(pairs)
        told = (error or "").removeprefix(f"{BadImage.__name__}: ")
        scores.append(CaptionScore(line.id, None if told else float(score), error=told))
    if isinstance(evaluator, DualEncoder) and not isinstance(evaluator, Referenced):
        return tuple(_with_references(evaluator, lines, scores))
    return tuple(scores)


def unscored(spec: EvaluatorSpec, lines: Sequence[CaptionedImage]) -> list[str]:
    """Why each caption is not given to an evaluator: it is empty, or in a language that is not read; else empty."""
    unread = unread_captions(spec, (line.caption for line in lines))
    return [unread.get(line.caption, "") if seen(line.caption).strip() else EMPTY for line in lines]


def mean(values: Sequence[float | None]) -> float | None:
    """Mean of the values that there are; None where there is none."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def _with_references(
    evaluator: DualEncoder, lines: Sequence[CaptionedImage], scores: Sequence[CaptionScore]
) -> list[CaptionScore]:
    """Add the harmonic mean with max over references of max(cos(caption, reference), 0)."""
    texts = sorted({text for line in lines if line.references for text in (line.caption, *line.references)})
    vectors: dict[str, np.ndarray] = {}
    for start in range(0, len(texts), BATCH_SIZE):
        part = texts[start : start + BATCH_SIZE]
        vectors |= zip(part, np.asarray(evaluator.encode_captions(part), dtype=np.float64), strict=True)
    found = []
    for line, score in zip(lines, scores, strict=True):
        if score.score is not None and line.references:
            cosines = np.array([vectors[line.caption] @ vectors[each] for each in line.references])
            both = with_closest(score.score, cosines)
            score = replace(score, with_references=None if math.isnan(both) else both)
        found.append(score)
    return found


def _pixels(path: Path) -> np.ndarray:
    return read_image(path).pixels


# How long an evaluator takes for a pair: paper E, Conclusion, says 2.67 s of ProtoScore and 28.08 s of GPT-5.


def pace_told(pool: Pool, reference: str, *, seconds: float, pairs: int) -> str:
    """Say the seconds a pair of an evaluator that a pool holds, with the device that it is on.
    ``pool``: that lent it; it is still lent or loaded.
    ``seconds``: that scoring took: reading and editing of pictures included, loading of the model not.
    ``pairs``: of picture and caption that have a score since."""
    if not pairs:
        return f"{reference}: no pair was scored, so none was timed"
    device = next((each.device for each in pool.loaded() if each.reference == reference), pool.device)
    counted = f"{pairs:,} pair" + "s" * (pairs > 1)
    return f"{reference}: {seconds / pairs:.3g} s a pair on {device}, over {counted}, without loading the model"
