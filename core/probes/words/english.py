"""The nouns and adjectives of an English caption, by a dictionary of word classes and the words that stand around.

Rules, so that each decision can be explained; the judge and the probes read captions by the same ones. Their lists are
those of ``assets/lexicons/caption_words.toml``.

1. Words of the closed classes (articles, prepositions, auxiliaries…), parts and amounts (*top*, *bunch*), possessives
   (*man's*) and words in -ing, but for *building* and its like, are no nouns.
2. A word that the dictionary knows as a noun, or does not know and that has no adjective's or verb's ending, may be
   one.
3. If it may be an adjective too, or is a colour, it is one where a noun follows, other adjectives between them passed
   over (*old red car*, *black and white cow*). Where none follows it is a noun after a determiner (*the elderly*).
4. If it may be a verb too, it is a noun at the beginning, after a determiner, preposition, adjective or verb, and in a
   list of nouns. After a noun it is the verb where a determiner follows (*snow covers the roof*), where its ending
   agrees with the noun (*a train stops*, *boats line*, but *a train stop*), after a person, an animal or a vehicle,
   and where it is hardly ever the noun (*smoke rises*).
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType

from core.probes.tables import LISTS, lexicon_path, read_table, words_path

NOUN, ADJECTIVE, OTHER = "noun", "adjective", ""  # what a word of a caption is

_NO_NOUN_ENDINGS = ("ly", "ing", "ed", "ian", "an", "ese", "ish", "ful", "less", "ous")
"""Of words that the dictionary does not know (*African*, *snowboarding*)…"""
_NOUN_ENDINGS = ("fish", "man", "woman")  # …unless they end in one of these (*lionfish*)
_SHARES = ("half", "third", "quarter", "fifth")  # before *of* they say how much, as amounts do
_AGENTS = ("person", "animal", "vehicle")  # categories of things that do something
_OPEN, _DETERMINER, _PREPOSITION, _JOINS, _BEING, _AUXILIARY, _CLOSED, _SIGN = range(8)  # kinds of words

_BEGINNING, _EXPECTED, _AFTER_NOUN, _AFTER_VERB, _AFTER_BEING, _AFTER_AUXILIARY, _PARTICLE = range(7)
"""Where a word stands: at its beginning, where a noun must come, or after a noun, a verb, *is*, *can*, *on*."""


@dataclass(frozen=True, slots=True)
class _Entry:
    kind: int
    noun: bool = False
    adjective: bool = False
    verb: bool = False
    colour: bool = False
    ending: bool = False  # whether it is a plural, or a verb's third person: *covers*
    plural: bool = False
    done: bool = False  # whether it is a noun in -ing, and what somebody does as well: *painting*
    amount: bool = False
    past: bool = False
    usually: str = OTHER  # ``adjective`` or ``verb`` where the noun is rare
    one: bool = False
    agent: bool = False
    crowd: bool = False


@lru_cache(maxsize=20_000)
def dictionary(word: str) -> Mapping[str, tuple[str, ...]]:
    """Parts of speech of an English word, in lower case, with its lemmas by lemminflect; empty where it is not known.

    >>> dict(dictionary("tied"))
    {'VERB': ('tie',)}
    """
    from lemminflect import getAllLemmas

    return MappingProxyType(getAllLemmas(word) if word else {})


@cache
def listed(name: str, language: str = "en") -> frozenset[str]:
    """A list of ``assets/lexicons/caption_words.toml``, or of ``kept_words.toml`` beside it."""
    return frozenset(next(lists for each in _lists() if (lists := each.get(language, {}).get(name))).split())


@cache
def _lists() -> tuple[Mapping[str, Mapping[str, str]], ...]:
    paths = map(lexicon_path, LISTS)
    return tuple(tomllib.loads(path.read_text(encoding="utf-8")) for path in paths)


@cache
def colours() -> tuple[str, ...]:
    """Colours of ``assets/words/colours.csv``."""
    return tuple(row.required("word").casefold() for row in read_table(words_path("colours.csv"), ("word",)))


@cache
def object_words() -> Mapping[str, str]:
    """Nouns of one word of ``assets/lexicons/object_nouns.csv``, in lower case, with their category."""
    rows = read_table(lexicon_path("object_nouns.csv"), ("noun", "category"))
    return MappingProxyType({row["noun"].casefold(): row["category"] for row in rows if " " not in row["noun"]})


def is_closed(word: str) -> bool:
    """Whether an English word, in lower case, is of the closed classes, as articles and prepositions are."""
    return word in _kinds()


def is_known(word: str) -> bool:
    """Whether a word, in lower case, is an English one by the lists and the dictionary."""
    return is_closed(word) or bool(dictionary(word)) or word in colours() or word in object_words()


def kinds(words: Sequence[str]) -> list[str]:
    """Say of each word of a caption whether it is a noun or an adjective.
    ``words``: in lower case, signs apart as their own words.
    Returns NOUN, ADJECTIVE or OTHER for each.

    >>> kinds("a light blue bus stops".split())
    ['', 'adjective', 'adjective', 'noun', '']
    """
    return list(_Reading(words).kinds())


class _Reading:
    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._entries = [_entry(word) for word in words]
        self._place = _BEGINNING
        self._one = False  # whether the noun that comes, or came last, is one thing's by its determiner
        self._listed = False  # whether a noun stood before the last comma or "and"

    def kinds(self) -> Iterator[str]:
        for index, entry in enumerate(self._entries):
            if entry.kind == _OPEN and not (entry.amount and self._words[index + 1 : index + 2] == ["of"]):
                kind = self._open(index, entry)
                if kind == NOUN:
                    self._place = _AFTER_NOUN
                elif kind == ADJECTIVE:
                    self._place = self._place if self._place in (_AFTER_BEING, _AFTER_NOUN) else _EXPECTED
                elif entry.verb and self._place != _EXPECTED:
                    self._place = _AFTER_VERB
                yield kind
            else:
                self._pass_closed(entry, index)
                yield OTHER

    def _pass_closed(self, entry: _Entry, index: int) -> None:
        if entry.kind == _DETERMINER:
            relative = self._words[index] == "that" and self._place == _AFTER_NOUN  # a bowl that looks full
            self._place, self._one = (_AFTER_AUXILIARY, False) if relative else (_EXPECTED, entry.one)
        elif entry.kind == _PREPOSITION:
            self._place = _PARTICLE if self._words[index] in listed("particles") else _EXPECTED
            self._one = False
        elif entry.kind == _JOINS:
            self._listed = self._place == _AFTER_NOUN or (self._listed and self._place == _BEGINNING)
            self._place = self._place if self._place in (_AFTER_VERB, _AFTER_BEING, _EXPECTED) else _BEGINNING
            self._one = False
        elif entry.kind == _BEING:
            there = "there" in self._words[max(0, index - 2) : index]
            self._place, self._one = (_EXPECTED if there else _AFTER_BEING), False
        elif entry.kind == _AUXILIARY:
            has = self._words[index] in ("has", "have", "had", "having")
            self._place = _AFTER_VERB if has else _AFTER_AUXILIARY
        elif entry.kind == _SIGN:
            self._place, self._one, self._listed = _BEGINNING, False, False
        elif self._place == _AFTER_NOUN:
            self._place, self._listed = _AFTER_AUXILIARY, False

    def _open(self, index: int, entry: _Entry) -> str:
        if (entry.adjective or entry.colour) and self._noun_follows(index):
            return ADJECTIVE
        if not entry.noun and not entry.colour:
            return self._alone(index, entry)
        if entry.colour or entry.usually == ADJECTIVE or (entry.adjective and self._place == _AFTER_BEING):
            return self._alone(index, entry)
        if entry.verb and self._is_verb(index, entry):
            return OTHER
        return NOUN

    def _alone(self, index: int, entry: _Entry) -> str:
        """An adjective that no noun follows is one after a determiner at the end of a phrase: *a cheap orange*."""
        if not entry.adjective and not entry.colour:
            return OTHER
        determined = self._place == _EXPECTED and self._determined(index)
        return NOUN if determined and self._phrase_ends(index + 1) else ADJECTIVE

    def _determined(self, index: int) -> bool:
        """Whether nothing but adjectives stands between a word and the determiner before it."""
        place = index - 1
        while place > 0 and self._entries[place].kind == _OPEN:
            place -= 1
        return place >= 0 and self._entries[place].kind == _DETERMINER

    def _phrase_ends(self, index: int) -> bool:
        if index >= len(self._words):
            return True
        entry = self._entries[index]
        return entry.kind in (_SIGN, _BEING) or self._words[index] == "there" or (entry.ending and entry.verb)

    def _noun_follows(self, index: int) -> bool:
        """Whether the word after an adjective is a noun that it tells more of, other adjectives passed over."""
        place, one = index + 1, self._one and self._place == _EXPECTED
        while place < len(self._entries):
            entry = self._entries[place]
            if entry.kind == _JOINS:
                place += 1
                if place == len(self._entries) or not (self._entries[place].adjective or self._entries[place].colour):
                    return False
                continue
            if entry.kind != _OPEN:
                return False
            if entry.noun and not entry.colour and entry.usually != ADJECTIVE:
                # what may be noun or verb may be the verb after what may be an adjective or a noun
                one = one and not any(
                    after.kind == _OPEN and after.noun for after in self._entries[place + 1 : place + 2]
                )
                rather = one or entry.usually == "verb" or self._determiner_follows(place)
                return not (entry.verb and entry.ending and rather)
            if not (entry.adjective or entry.colour or entry.past):
                return False
            place += 1
        return False

    def _determiner_follows(self, index: int) -> bool:
        """Whether *the*, *about a* or *most of* follows."""
        after = self._words[index + 1 : index + 3]
        if after[1:] == ["of"] and after[0] in ("most", "much", "little", "half", "part"):
            return True
        place = index + (2 if after[:1] in (["about"], ["almost"], ["nearly"]) else 1)
        return place < len(self._entries) and self._entries[place].kind == _DETERMINER

    def _is_verb(self, index: int, entry: _Entry) -> bool:
        place = self._place
        if place == _EXPECTED:
            to_do = index > 0 and self._words[index - 1] == "to" and not entry.ending  # an infinitive
            rather = entry.usually == "verb" or self._determiner_follows(index)
            # the verb of somebody who is *in black*, or of something *in blue and white*
            coloured = index > 0 and self._entries[index - 1].colour and not self._determined(index)
            return rather and (to_do or (entry.ending and coloured))
        if place == _AFTER_NOUN:
            return self._is_verb_after_noun(index, entry)
        if place == _PARTICLE:
            return entry.ending and entry.usually == "verb"
        if place in (_AFTER_AUXILIARY, _AFTER_BEING) or (place == _AFTER_VERB and self._determiner_follows(index)):
            return True
        if place == _BEGINNING:
            return self._determiner_follows(index) or (index > 0 and entry.ending and entry.usually == "verb")
        return False

    def _is_verb_after_noun(self, index: int, entry: _Entry) -> bool:
        before = self._entries[index - 1]
        if self._determiner_follows(index) or entry.past or (entry.done and before.agent):
            return True
        if before.kind != _OPEN:  # an adverb between them
            return True
        if entry.ending:
            return entry.usually == "verb" or (not before.ending and (self._one or before.agent))
        return before.plural or (before.crowd and entry.usually == "verb")


@lru_cache(maxsize=20_000)
def _entry(word: str) -> _Entry:
    if word.isdigit() or word.endswith(("'s", "’s", "s'", "s’")):
        kind: int | None = _DETERMINER
    elif not word[:1].isalpha():
        kind = _JOINS if word in (",", "&") else _SIGN
    else:
        kind = _kinds().get(word)
    if kind is not None:
        return _Entry(kind, one=word in listed("of_one"))
    if "-" not in word:
        return _open_entry(word)
    # *T-shirt* is a noun; *two-story*, *long-haired*, *black-and-white* tell of one where it follows
    first, last = word.split("-")[0], word.rpartition("-")[2]
    if len(first) == 1 or not last:
        return _open_entry(last or first)
    entry = _entry(last)
    return _Entry(_OPEN, noun=entry.noun, adjective=True, usually=ADJECTIVE if not entry.noun else OTHER)


@cache
def _kinds() -> Mapping[str, int]:
    lists = {
        "frames": _CLOSED,
        "others": _CLOSED,
        "prepositions": _PREPOSITION,
        "determiners": _DETERMINER,
        "of_one": _DETERMINER,
        "conjunctions": _JOINS,
        "being": _BEING,
        "auxiliaries": _AUXILIARY,
    }
    return MappingProxyType({word: kind for name, kind in lists.items() for word in listed(name)})


def _open_entry(word: str) -> _Entry:
    known = dictionary(word)
    if word in listed("things"):
        return _Entry(_OPEN, noun=True, verb="VERB" in known, done=word.endswith("ing"), plural=word.endswith("s"))
    ing = word.endswith("ing") and (not known or "VERB" in known)
    lemmas = known.get("NOUN", ()) + known.get("VERB", ())
    categories = [object_words()[lemma] for lemma in (word, *lemmas) if lemma in object_words()]
    unknown = word.endswith(_NOUN_ENDINGS) or not word.endswith(_NO_NOUN_ENDINGS)
    thing = bool(categories) and not word.endswith("ed") if known else unknown  # pans, but cooked food
    noun = not ing and ("NOUN" in known or thing)
    own = known.get("NOUN", ())
    plural = word == "people" or (noun and bool(own) and (word not in own or (word.endswith("s") and len(own) > 1)))
    usually = ADJECTIVE if word in listed("adjectives") else OTHER
    if "VERB" in known and listed("verbs").intersection(known["VERB"]) and word not in listed("adjectives"):
        usually = "verb"
    return _Entry(
        _OPEN,
        noun=noun,
        adjective=("ADJ" in known and not plural) or (not known and not noun and not ing),
        verb="VERB" in known or ing,
        colour=word in colours(),
        ending=word.endswith("s") and any(lemma != word for lemma in lemmas),
        plural=plural,
        amount=word in listed("amounts") or word in _SHARES,
        past=word in listed("pasts") or (word.endswith("ed") and not noun),
        usually=usually,
        agent=any(category in _AGENTS for category in categories),
        crowd=word in listed("crowds"),
    )
