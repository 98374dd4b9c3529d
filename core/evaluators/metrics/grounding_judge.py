"""The grounding judge: how many of a caption's nouns the image shows, on a scale from 0 to 10."""

import hashlib
import re
import threading
import tomllib
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Self

import numpy as np

from core.corpora.schema import Box, Mask
from core.errors import InvalidInput
from core.evaluators.base import Availability, Evaluator, Fingerprint, Sight, all_scored, check_lengths, evaluator
from core.evaluators.offline.class_texts import ClassTexts, shared_class_texts
from core.evaluators.offline.image_tower import BACKBONES, ImageTower, shared_image_tower, square
from core.evaluators.other_packages import MINILM, available, library_versions
from core.probes.rejections import coded
from core.probes.tables import lexicon_path
from core.probes.words.caption_language import MARKUP, reads_as
from core.probes.words.english import NOUN, kinds, listed
from core.probes.words.grammar import singular
from core.settings import assets_dir

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*['’]?|\d+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A noun and the nouns right before it."""

    head: str  # the noun itself, singular (``holder``)
    text: str  # with the nouns that modify it (``toilet paper roll holder``); adjectives are left out


def find_nouns(caption: str) -> tuple[NounPhrase, ...]:
    """Return the noun phrases of a caption, each once, in the order in which they first stand there.

    What a noun is: :mod:`core.probes.words.english`. Nouns in a row are one phrase, whose last word is the head; a
    phrase keeps its last four words. Tags, addresses and names of files are passed over.

    >>> find_nouns("Two dogs play with an expensive tennis ball.")
    (NounPhrase(head='dog', text='dog'), NounPhrase(head='ball', text='tennis ball'))
    """
    found: dict[str, NounPhrase] = {}
    words, first = [word.lower() for word in _WORD.findall(MARKUP.sub(" ", caption))], 0
    for noun, places in groupby(kinds(words), key=NOUN.__eq__):
        end = first + len(list(places))
        if noun:
            # the words around nouns in a row say whether they are several of one thing
            before, after = words[max(0, first - 1) : first], words[end : end + 1]
            counted = after == ["of"] or not listed("counts").isdisjoint(before)
            head = singular(words[end - 1], counted=counted)
            text = " ".join([*words[first:end][-4:-1], head])
            found.setdefault(text, NounPhrase(head, text))
        first = end
    return tuple(found.values())


BACKBONE = "lite0"
NO_NOUN = "no noun was found in the caption, so there is nothing to look for"
NOT_ENGLISH = "the caption does not read as English, whose nouns alone the judge can find"
_SHOWN = 40  # characters of a noun phrase
_REMEMBERED = 4096  # texts whose likeness to the classes is kept: 16 MB


@dataclass(frozen=True, slots=True)
class PeopleEvidence:
    """What stands for people, of whom ImageNet has hardly a class."""

    nouns: frozenset[str]  # heads of phrases that name a person (``woman``)
    classes: frozenset[str]  # names of classes of what people wear and hold (``jersey``)
    likeness: float  # least likeness of each of these classes to each of these nouns, in [0, 1]


@dataclass(frozen=True, slots=True)
class Rubric:
    """The judge's constants, with the hash of the files that they and the lists of words stand in."""

    classes: int
    root: float
    highest: float
    people: PeopleEvidence
    digest: str

    @classmethod
    def read(cls, folder: Path | None = None) -> "Rubric":
        """Read ``grounding-judge.toml`` and ``.md``.
        Raises InvalidInput if a file is missing, is no TOML, or lacks a value or has one too many."""
        folder = assets_dir() / "rubrics" if folder is None else folder
        try:
            values, text = (folder / f"grounding-judge.{ending}" for ending in ("toml", "md"))
            settings = tomllib.loads(values.read_text(encoding="utf-8"))
            nouns = (lexicon_path(name) for name in ("caption_words.toml", "object_nouns.csv"))  # find them
            files = (values, text, *nouns)
            digest = hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()[:16]
            told = settings["people"]  # nouns are words with blanks between them, classes a list
            lists = {"nouns": frozenset(told["nouns"].split()), "classes": frozenset(told["classes"])}
            people = PeopleEvidence(**{**told, **lists})
            return cls(people=people, digest=digest, **settings["matching"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            why = f"the grounding judge's rubric in {folder} cannot be used ({error}); restore its files"
            raise InvalidInput(why) from error


@dataclass(frozen=True, slots=True)
class Match:
    """One noun phrase and the class that it was assigned to; ``grounded`` lies in [0, 1], 0 without a class."""

    phrase: NounPhrase
    class_name: str | None
    grounded: float

    @property
    def label(self) -> str:
        """For a reader: ``cat → Egyptian cat``; a very long word is shortened."""
        text = self.phrase.text if len(self.phrase.text) <= _SHOWN else f"{self.phrase.text[:_SHOWN]}…"
        return f"{text} → {self.class_name or 'no class left'}"


@evaluator(
    name="grounding-judge",
    title="Grounding judge",
    summary="Fixed rubric, 0 to 10: how many of the caption's nouns are matched to what the image shows.",
    family="offline",
    score_range=(0.0, 10.0),
    memory_mb=285,
    offline=True,
    source="Rubric in assets/rubrics/grounding-judge.md; matching as in Petryk et al., ALOHa, NAACL 2024",
    licence="Apache-2.0",
    languages=("en",),
)
class GroundingJudge(Evaluator):
    """Deterministic judge: nouns matched to class evidence by text similarity; see the rubric. With p the image's
    evidence, t_c the class texts' embeddings and e(n) a noun's, likeness is ``l(n, c) = (e(n)·t_c − mean_c) / (max_c −
    mean_c)`` and a match is worth ``max(l, 0)·(p_c / max p)^0.25``. Where n names a person and c something that people
    wear or hold, l is 0.7 at least. The score is 10 × the mean over nouns of what the best assignment gives them. A
    caption without a noun, or in another language than English, has no score."""

    def __init__(self, image_tower: ImageTower, class_texts: ClassTexts, rubric: Rubric) -> None:
        self._image_tower, self._class_texts, self._rubric = image_tower, class_texts, rubric
        self._texts = class_texts.embeddings.numpy()
        known, worn = [each.name for each in class_texts.classes], rubric.people.classes
        if unknown := sorted(worn - set(known)):
            why = f"the grounding judge's rubric names {unknown[0]!r}, which is no class of ImageNet; mend it"
            raise InvalidInput(why)
        self._worn = np.flatnonzero([name in worn for name in known])  # two classes may have one name
        self._remembered: OrderedDict[str, np.ndarray] = OrderedDict()
        self._lock = threading.Lock()

    @classmethod
    def availability(cls) -> Availability:
        return available([BACKBONES[BACKBONE].weights, MINILM], ["timm", "tokenizers", "lemminflect"])

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        rubric = Rubric.read()
        return cls(shared_image_tower(BACKBONE, device), shared_class_texts(device), rubric)

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        """Judge n pairs; float64 [n] in [0, 10]. Raises PartlyScored where a caption has no noun or is not English."""
        check_lengths(images, captions)
        evidence = self._image_tower.evidence(images)
        phrases = {caption: _nouns(caption) for caption in dict.fromkeys(captions)}
        self._learn(text for found in phrases.values() for phrase in found for text in (phrase.head, phrase.text))
        scores = [self._judge(row, phrases[caption])[0] for row, caption in zip(evidence, captions, strict=True)]
        errors = [None if phrases[each] else coded(*_why(each)) for each in captions]
        return all_scored(np.array(scores, dtype=np.float64), errors)

    def forget(self) -> None:
        self._image_tower.forget()

    def crop(self, width: int, height: int) -> Box:
        return square(width, height)

    def count_tokens(self, caption: str) -> int:
        return self._class_texts.tower.read(caption).tokens

    def see(self, image: np.ndarray, caption: str, *, object_mask: Mask | None = None) -> Sight:
        score, matches = self._judge(self._image_tower.evidence([image])[0], _nouns(caption))
        side = self._image_tower.backbone.side
        why = _why(caption)[1]
        note = (
            f"{why[0].upper()}{why[1:]}."
            if np.isnan(score)
            else f"{self._rubric.highest:g} × the mean of these matches; each class is used at most once."
        )
        ordered = sorted(matches, key=lambda match: -match.grounded)
        return replace(
            super().see(image, caption, object_mask=object_mask),
            views=((f"{side} × {side} px into the network", self._image_tower.view(image)),),
            prompt=", ".join(match.phrase.text for match in matches),
            evidence=tuple((match.label, match.grounded) for match in ordered),
            notes=(note, "Adjectives, verbs and word order are not looked at."),
        )

    def _judge(self, evidence: np.ndarray, phrases: Sequence[NounPhrase]) -> tuple[float, tuple[Match, ...]]:
        from scipy.optimize import linear_sum_assignment

        if not phrases:
            return float("nan"), ()
        top = np.argsort(-evidence, kind="stable")[: self._rubric.classes]
        weights = (evidence[top].astype(np.float64) / evidence[top[0]]) ** self._rubric.root
        worth = np.stack([np.maximum(self._likeness(phrase)[top], 0.0) for phrase in phrases]) * weights
        chosen = dict(zip(*(indices.tolist() for indices in linear_sum_assignment(worth, maximize=True)), strict=True))
        names = self._class_texts.classes
        matches = tuple(
            Match(phrase, names[top[chosen[row]]].name, float(worth[row, chosen[row]]))
            if row in chosen
            else Match(phrase, None, 0.0)
            for row, phrase in enumerate(phrases)
        )
        return self._rubric.highest * sum(match.grounded for match in matches) / len(matches), matches

    def _likeness(self, phrase: NounPhrase) -> np.ndarray:
        known = self._learn((phrase.head, phrase.text))
        likeness: np.ndarray = np.maximum(known[phrase.head], known[phrase.text])
        people = self._rubric.people
        if phrase.head in people.nouns:
            likeness[self._worn] = np.maximum(likeness[self._worn], people.likeness)
        return likeness

    def _learn(self, texts: Iterable[str]) -> dict[str, np.ndarray]:
        """Return, for each text, its likeness to the classes: float64 [1000], at most 1."""
        wanted = list(dict.fromkeys(texts))
        with self._lock:
            known = {text: self._remembered[text] for text in wanted if text in self._remembered}
        new = [text for text in wanted if text not in known]
        for text in new:  # one by one: what is remembered must not depend on what it was met with
            cosines = self._class_texts.tower.encode([text]).numpy()[0].astype(np.float64) @ self._texts.T
            known[text] = (cosines - cosines.mean()) / (cosines.max() - cosines.mean())
        with self._lock:
            for text in wanted:
                self._remembered[text] = known[text]
                self._remembered.move_to_end(text)
            while len(self._remembered) > _REMEMBERED:
                self._remembered.popitem(last=False)
        return known

    @cached_property
    def fingerprint(self) -> Fingerprint:
        tower = self._image_tower
        versions = {**tower.versions, **self._class_texts.versions, **library_versions("lemminflect", "scipy")}
        weights = f"{tower.backbone.weights.sha256}+{MINILM.sha256}"
        settings = {"rubric": self._rubric.digest, "class_texts": self._class_texts.digest}
        return Fingerprint(self.spec.name, weights, tower.preprocessing, "float32", versions, settings)


def _nouns(caption: str) -> tuple[NounPhrase, ...]:
    return find_nouns(caption) if reads_as(caption, "en") else ()


def _why(caption: str) -> tuple[str, str]:
    return ("caption-no-noun", NO_NOUN) if reads_as(caption, "en") else ("caption-not-english", NOT_ENGLISH)
