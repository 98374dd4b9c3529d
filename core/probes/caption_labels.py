"""Labels for items to which nobody gave one: a noun of a caption that somebody wrote, as a tagger reads it.

So both constructions of a societal word apply to a rated caption: the word before the noun, and the template of the
noun. Where the tagger cannot tell what a caption is about, its item keeps no label. Such a label is a word of the
caption and no annotation: nothing is known of what else the picture shows, or how often.
Source: paper A, 5.4 (its suites) and A.12, extended.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from core.corpora.labels import load_labels
from core.corpora.registry import load_again
from core.corpora.schema import Corpus, Item, Origin, Remark
from core.probes.base import ENGLISH
from core.probes.words.natural_captions import find
from core.probes.words.screening import families
from core.probes.words.taggers import Tagger, stands_alone, tagger

SOURCES = ("coco", "openimages", "objects365")
"""Maps of labels to the harmonised categories, in the order in which a noun is looked up."""

REMARK = "label-from-caption"
"""Code of the remark that counts these labels."""


def labelled(corpus: Corpus) -> Corpus:
    """Give each item without a label the noun that its English captions tell, where its loader asks for that.
    Raises UnknownName if the reader that is asked for is no tagger; NotAvailable if it is not here, with the command
    that installs it."""
    if not corpus.read_labels:
        return corpus
    reader = tagger(corpus.read_labels)
    items = tuple(_labelled(item, reader) for item in corpus.items)
    return replace(corpus, items=items, remarks=(*corpus.remarks, *_remarks(items, reader.name)), read_labels="")


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
    noun = head.noun if head else _modified(item, reader)
    if not noun:
        return item
    return replace(item, label=noun, category=item.category or category_of(noun), label_by=reader.name)


def _modified(item: Item, reader: Tagger) -> str:
    """The object noun before which a caption has a societal word that can be replaced; empty where none has."""
    found = (find(item, owner, reader) for owner in families().values())
    return next((each.noun for each in found if each and stands_alone(each.text, each.noun)), "")


def _remarks(items: Sequence[Item], name: str) -> tuple[Remark, ...]:
    """How many items got a label, with the first as an example."""
    found = [item for item in items if item.label_by]
    if not found:
        return ()
    first = found[0]
    told = (
        f"{len(found):,} of {len(items):,} items have a noun of their caption for a label, read by {name}; "
        f"here {first.label!r} of {first.captions[ENGLISH][0]!r}"
    )
    return (Remark(REMARK, len(found), first.id, told),)
