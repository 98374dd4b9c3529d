"""What a tagger reads off captions that people wrote: societal words that modify an object, and labels.

A caption is used where a modifier of the lexicon modifies a noun of ``assets/lexicons/object_nouns.csv``. The default
reads by rules: the modifier stands directly before the noun and the noun group ends there. See
:mod:`core.probes.words.taggers` for the other one. Names of the probes of natural captions: which lexicon's family,
which tagger, which rewrite, which word.

Items to which nobody gave a label get a noun of their caption, so that both constructions of a societal word apply to a
rated caption: the word before the noun, and the template of the noun. Where the tagger cannot tell what a caption is
about, its item keeps no label. Such a label is a word of the caption and no annotation: nothing is known of what else
the picture shows, or how often.
Source: paper A, 5.4 (its suites) and A.12, extended.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from core.corpora.labels import load_labels
from core.corpora.registry import load_again
from core.corpora.schema import Corpus, Item, Origin, Rejection, Remark
from core.probes.base import ENGLISH
from core.probes.words.categories import WORD
from core.probes.words.grammar import article_like, capital_like
from core.probes.words.screening import Family, Modifier, accepted_controls, families, screen
from core.probes.words.taggers import RULES, TAGGERS, Tagger, stands_alone, tagger

NEUTRALISED, SWAPPED = "neutralised", "swapped"
"""Rewrites beside the caption as it was written: the control, and the word's contrast in its place."""

PREFIX = "natural-"


@dataclass(frozen=True, slots=True)
class NaturalName:
    """What the name of a probe says."""

    family: str  # of the lexicon, e.g. ``economic``.
    tagger: str  # that reads the captions
    rewrite: str  # NEUTRALISED, SWAPPED, or empty for the caption as it was written
    word: str  # that the caption then says; empty for the neutral one


def family_of(owner: str, reader: str = RULES) -> str:
    """Name of the natural probes of a lexicon's family as a tagger reads captions, e.g. ``natural-economic-spacy``."""
    return f"{PREFIX}{owner}" if reader == RULES else f"{PREFIX}{owner}-{reader}"


def families_of() -> dict[str, tuple[str, str]]:
    """Family of probes -> (family of the lexicon, tagger); by tagger, then in the lexicon's order."""
    return {family_of(owner, reader): (owner, reader) for reader in TAGGERS for owner in families()}


def read_name(probe: str) -> NaturalName | None:
    """Read the name of a probe; None where it is none of a natural caption."""
    family, colon, rest = probe.partition(":")
    known = families_of().get(family)
    if known is None or not colon:
        return None
    if rest == NEUTRALISED:
        return NaturalName(*known, NEUTRALISED, "")
    swapped = rest.startswith(f"{SWAPPED}-")
    return NaturalName(*known, SWAPPED if swapped else "", rest.removeprefix(f"{SWAPPED}-") if swapped else rest)


@dataclass(frozen=True, slots=True)
class NaturalCaption:
    """A human caption with one modifier of an object noun.
    ``start``, ``end``: where the modifier stands in it."""

    text: str  # the caption as it was written
    start: int
    end: int
    modifier: Modifier  # the lexicon's entry
    noun: str
    category: str

    def with_word(self, word: str) -> str:
        """Return the caption with another word in the modifier's place, its casing and its article fitted."""
        found = self.text[self.start : self.end]
        before, opens = self.text[: self.start], not self.text[: self.start].strip(" \"'")
        fitted = capital_like(word.lower() if found.islower() else word, found if opens else "")
        leading = re.search(r"\b(an?)(\s+)$", before, re.IGNORECASE)
        if leading:
            before = before[: leading.start()] + article_like(leading[1], word) + leading[2]
        made = before + fitted + self.text[self.end :]
        return made.upper() if self.text.isupper() else made

    @property
    def neutral(self) -> Modifier:
        """The neutral control whose caption is the closest in characters, then the first in the alphabet."""
        return min(
            accepted_controls(self.noun, self.modifier.family),
            key=lambda word: (abs(len(self.with_word(word.word)) - len(self.text)), word.word),
        )


def find(item: Item, owner: Family, reader: Tagger | None = None) -> NaturalCaption | None:
    """Return the first English caption of an item that one modifier of a family can be replaced in.
    ``reader``: says what modifies what; None: the rules."""
    return next((found for text in item.captions.get("en", ()) if (found := find_in(text, owner, reader))), None)


def find_in(text: str, owner: Family, reader: Tagger | None = None) -> NaturalCaption | None:
    """Return a caption with the one modifier of a family that can be replaced in it; see :func:`find`.
    A caption that names two words of the family is passed over, and so is a pair that the compatibility
    screen keeps out (*African elephant* names a species)."""
    found = _said_once(text, owner, reader)
    if found is None or screen(found.noun, found.category, owner.name, found.modifier.word) is not None:
        return None
    return found


def why_none(item: Item, owner: Family, reader: Tagger | None = None) -> Rejection:
    """Why :func:`find` finds no caption: what the screen says of the first word before a noun, or that none is."""
    for text in item.captions.get("en", ()):
        found = _said_once(text, owner, reader)
        if found and (screened := screen(found.noun, found.category, owner.name, found.modifier.word)):
            return screened
    told = f"no English caption of item {item.id!r} has one {owner.name} word before a noun of the table"
    return Rejection(item.id, "no-natural-caption", told)


def _said_once(text: str, owner: Family, reader: Tagger | None) -> NaturalCaption | None:
    """A caption that says one word of a family, with the object that the tagger finds it modifies, and no other object
    where it asks so."""
    known = {word.word.casefold(): word for word in owner.modifiers}
    hits = [match for match in WORD.finditer(text) if match.group().casefold() in known]
    if len(hits) != 1:
        return None
    (start, end), modifier, reader = hits[0].span(), known[hits[0].group().casefold()], reader or tagger(RULES)
    noun = reader.modified(text, start, end, noun=modifier.part_of_speech == "noun")
    if noun is None or (reader.single and len(reader.objects(text)) != 1):
        return None
    return NaturalCaption(text, start, end, modifier, noun.noun, noun.category)


SOURCES = ("coco", "openimages", "objects365")
"""Maps of labels to the harmonised categories, in the order in which a noun is looked up."""

REMARK = "label-from-caption"  # code of the remark that counts these labels


def labelled(corpus: Corpus) -> Corpus:
    """Give each item without a label the noun that its English captions tell, where its loader asks for that.
    Raises UnknownName if the reader that is asked for is no tagger; NotAvailable if it is not here, with the command
    that installs it."""
    if not corpus.read_labels:
        return corpus
    reader = tagger(corpus.read_labels)
    items = tuple(_labelled(item, reader) for item in corpus.items)
    remarks, read = corpus.remarks, [item for item in items if item.label_by]
    if read:
        told = (
            f"{len(read):,} of {len(items):,} items have a noun of their caption for a label, read by {reader.name}; "
            f"here {read[0].label!r} of {read[0].captions[ENGLISH][0]!r}"
        )
        remarks = (*remarks, Remark(REMARK, len(read), read[0].id, told))
    return replace(corpus, items=items, remarks=remarks, read_labels="")


def read_again(origin: Origin) -> Corpus:
    """Read a corpus as it was read before, with the labels that its captions give.
    Raises InvariscopeError if it cannot be read here, or not so any more."""
    return labelled(load_again(origin))


def origins(items: Sequence[Item]) -> dict[str, int]:
    """How many items have a label of the source (``annotation``), of each tagger, or none (``none``).

    >>> origins([Item("1", "c", None, 9, 9, label="dog", label_by="rules"), Item("2", "c", None, 9, 9)])
    {'rules': 1, 'none': 1}
    """
    return dict(Counter(item.label_by or ("none" if item.label is None else "annotation") for item in items))


@cache
def category_of(noun: str) -> str | None:
    """The harmonised category of a noun that is a label of one of the sources; None where it is none."""
    found = (load_labels(source).category_of_word(noun) for source in SOURCES)
    return next((each for each in found if each), None)


def _labelled(item: Item, reader: Tagger) -> Item:
    texts = item.captions.get(ENGLISH, ())
    if not texts or item.label is not None:
        return item
    head = reader.head(texts[0])
    noun = head.noun if head else ""
    if not head:  # the object noun before which a caption has a societal word that can be replaced
        said = (find(item, owner, reader) for owner in families().values())
        noun = next((each.noun for each in said if each and stands_alone(each.text, each.noun)), "")
    if not noun:
        return item
    return replace(item, label=noun, category=item.category or category_of(noun), label_by=reader.name)
