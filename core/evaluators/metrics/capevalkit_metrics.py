"""Metrics of CaptionEvalKit by their names there: ``capevalkit:clipscore``, ``capevalkit:polos``."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import ClassVar, Self

import numpy as np

from core.errors import InvalidInput, NotAvailable, UnknownName
from core.evaluators.base import Availability, Evaluator, Fingerprint, all_scored, check_lengths, evaluator, family
from core.evaluators.other_packages import Package, as_files
from core.evaluators.references import Referenced, among_referenced, check_references
from core.evaluators.towers.preprocessing import encodable

PACKAGE = Package("capevalkit", "capevalkit", programs=("uv", "git"))
SOURCE = "https://github.com/YuigaWada/CaptionEvalKit-for-VLMs"
PAIRS = 512  # pairs of one call: each call starts a process of the metric's own, which loads its model anew


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of the kit."""

    key: str  # name of its score in the kit's output
    high: float  # end of its range, which begins at 0
    references: bool = False  # whether it needs references


METRICS: Mapping[str, Metric] = {
    "clipscore": Metric("CLIPScore", 2.5),
    "clipscore-vitl": Metric("CLIPScore", 2.5),
    "clipscoreavg": Metric("CLIPScoreavg", 2.5),
    "pacscore": Metric("PAC-S", 2.0),
    "pacscore-vitl": Metric("PAC-S", 2.0),
    "pacscoreavg": Metric("PAC-Savg", 2.0),
    "pacscorepp": Metric("PAC-S++", 2.0),
    "pacscoreppavg": Metric("PAC-S++avg", 2.0),
    "polos": Metric("Polos", 1.0, references=True),
    "fleur": Metric("FLEUR", 1.0),
    "reffleur": Metric("RefFLEUR", 1.0, references=True),
}
"""Those that see the picture, score a pair by itself, and lie in a known range."""

REFUSED: Mapping[str, str] = {
    "expert": "it scores 0 where the model's answer holds no score",
    "vela": "it has several scores and no stated range",
    "refclipscore": "it leaves the cosine of two captions unclipped and has no bounds; the evaluator refclipscore has",
    "refpacscore": "it leaves the cosine of two captions unclipped and has no bounds; the evaluator refpac-s has",
    **dict.fromkeys(
        ("bleu", "rouge", "meteor", "cider", "spice", "jaspice"), "it sees no picture; 'python -m core score' has words"
    ),
}
"""Those that are no evaluators of pairs, each with its reason."""

_BREAKS = ("\x85", "\u2028", "\u2029")  # where the kit's metrics end a line of their input although JSON does not


class KitMetric(Evaluator):
    """A metric that CaptionEvalKit runs in its own environment, by ``capevalkit.evaluate_captions``.
    The kit fetches the metric's code and weights the first time, with git and uv.
    Source: https://github.com/YuigaWada/CaptionEvalKit-for-VLMs"""

    metric: ClassVar[str]

    @classmethod
    def availability(cls) -> Availability:
        """Whether the kit and the programs that it calls are here; what it fetches is known when it is loaded."""
        return PACKAGE.availability()

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        """Score one small picture, which shows whether the metric runs here; the kit chooses the device itself.
        Raises NotAvailable if it does not run."""
        cls.check_available()
        loaded = cls()
        try:
            loaded.ask([np.full((64, 64, 3), 128, dtype=np.uint8)], ["A grey square."], [["A square."]])
        except Exception as error:  # git, uv, a download, a missing Java: the kit does not tell them apart
            why = f"{cls.spec.name} does not run here ({error!s:.300}); see why with: capevalkit doctor"
            raise NotAvailable(why) from error
        return loaded

    @property
    def full_batch(self) -> int:
        return PAIRS

    @property
    def fingerprint(self) -> Fingerprint:
        """What the scores depend on, as far as the kit tells: the revisions of every metric's code."""
        lock = files(PACKAGE.module).joinpath("resources", "upstreams.lock.json").read_bytes()
        weights, preprocessing = f"upstreams {hashlib.sha256(lock).hexdigest()}", "of CaptionEvalKit, from PNG"
        settings = {"metric": self.metric, "score": METRICS[self.metric].key}
        return Fingerprint(self.spec.name, weights, preprocessing, "its own", PACKAGE.versions(), settings)

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        check_lengths(images, captions)
        return self.ask(images, captions, [()] * len(images))

    def ask(
        self, images: Sequence[np.ndarray], captions: Sequence[str], references: Sequence[Sequence[str]]
    ) -> np.ndarray:
        """Scores of n pairs by the kit; float64 [n]. Raises PartlyScored where a caption cannot be handed over, or the
        kit's answer lacks a pair; RuntimeError if the kit's process ends with an error."""
        from capevalkit import evaluate_captions

        told = [_why_not(caption) for caption in captions]
        kept = [place for place, why in enumerate(told) if not why]
        scores, errors = np.full(len(images), np.nan), list[str | None](told)
        if kept:
            with as_files([images[place] for place in kept]) as (folder, paths):
                found = evaluate_captions(
                    metrics=[self.metric],
                    ids=[str(place) for place in kept],
                    images=paths,
                    captions=[encodable(captions[place]) for place in kept],
                    references=[[encodable(text) for text in references[place]] for place in kept],
                    output_dir=folder / "out",
                    quiet=True,
                )
            answers = read_answer(found[self.metric], METRICS[self.metric].key)
            for place in kept:
                scores[place] = answers.get(str(place), np.nan)
                errors[place] = None if np.isfinite(scores[place]) else "CaptionEvalKit gave no score of this pair"
        return all_scored(scores, errors)


class KitMetricWithReferences(KitMetric, Referenced):
    """A metric of the kit that compares with references."""

    def score(
        self, images: Sequence[np.ndarray], captions: Sequence[str], references: Sequence[Sequence[str]] | None = None
    ) -> np.ndarray:
        """Score n pairs against n lists of references in one call of the kit; float64 [n].
        Raises PartlyScored where there is no reference, or the kit gave no score."""
        check_lengths(images, captions)
        checked = check_references(self.spec.name, references, len(captions))

        def ask(places: list[int]) -> np.ndarray:
            return self.ask(
                [images[place] for place in places],
                [captions[place] for place in places],
                [checked[place] for place in places],
            )

        return among_referenced(self.spec.name, checked, ask)


def read_answer(output: Mapping[str, object], key: str) -> dict[str, float]:
    """Scores by id, from what the kit writes: ``per_item`` of every score, or of one under its key.
    Raises InvalidInput if it has neither form."""
    own = output.get(key)
    rows = own.get("per_item") if isinstance(own, Mapping) else output.get("per_item")
    if not isinstance(rows, Mapping):
        raise InvalidInput(f"CaptionEvalKit's output has no per_item scores of {key}, it has {', '.join(output)}")
    found = {str(name): row.get(key) if isinstance(row, Mapping) else row for name, row in rows.items()}
    return {name: float(value) for name, value in found.items() if isinstance(value, int | float)}


@family("capevalkit", form="capevalkit:METRIC, e.g. capevalkit:polos")
@cache
def capevalkit_metric(argument: str) -> type[Evaluator]:
    """Make the evaluator of one metric by its name in CaptionEvalKit. Raises InvalidInput if it is no metric that an
    audit can hold its scores to, with the reason; UnknownName if it is none that is known here."""
    if argument in REFUSED:
        raise InvalidInput(f"CaptionEvalKit's {argument} is no evaluator here: {REFUSED[argument]}")
    if argument not in METRICS:
        raise UnknownName(f"no metric of CaptionEvalKit is known as {argument!r}; known: {', '.join(METRICS)}")
    told = METRICS[argument]
    marked = evaluator(
        name=f"capevalkit:{argument}",
        title=f"CaptionEvalKit, {told.key} ({argument})",
        summary=f"CaptionEvalKit's {argument}, run by that kit in its own environment.",
        family="capevalkit",
        score_range=(0.0, told.high),
        memory_mb=0,  # the model lies in the kit's own process
        offline=False,
        source=SOURCE,
        licence="BSD-3-Clause-Clear; that of the metric's own code and weights",
        takes_references=told.references,
        languages=("en",),
    )
    base = KitMetricWithReferences if told.references else KitMetric
    return marked(type(base.__name__, (base,), {"metric": argument}))


def _why_not(caption: str) -> str | None:
    if not caption.strip():
        return "the caption is blank"
    if any(mark in caption for mark in _BREAKS):
        return "the caption holds a line separator, at which CaptionEvalKit cuts its input"
    return None
