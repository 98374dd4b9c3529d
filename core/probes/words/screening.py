"""The compatibility screen: which modifier-noun pairs make an acceptable caption, and why others do not.

Three sieves, in this order: what the family and the modifier apply to (animacy), a label that holds a word
of the family already, and the lines of ``assets/lexicons/compatibility.csv`` (part of speech, plausibility,
phrases that name a kind). Nothing is dropped in silence: every rejected pair has a code and a sentence.
Source: paper A, A.3.

The societal lexicon: families, their modifiers and their neutral controls.

Read from ``assets/lexicons/families.csv`` and ``societal.csv``, which a person may edit.
Source: paper A, A.3.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import MappingProxyType

from core.corpora.schema import ANIMATE_CATEGORIES, CATEGORIES, EXTRA_CATEGORIES, Item, Rejection
from core.errors import UnknownName
from core.probes.tables import WILDCARD, Row, lexicon_path, read_table
from core.probes.words.grammar import clean_label, head_endings

_FAMILY_COLUMNS = ("family", "applies_to", "default", "summary", "source")
_MODIFIER_COLUMNS = ("family", "modifier", "role", "part_of_speech", "applies_to", "contrast")


class Scope(StrEnum):
    """What a family or a modifier can be said of."""

    ANYTHING = "anything"
    NON_PERSON = "non-person"
    ANIMATE = "animate"
    PERSON = "person"

    def holds(self, category: str) -> bool:
        """Whether objects of a category are within the scope."""
        return {
            Scope.ANYTHING: True,
            Scope.NON_PERSON: category != "person",
            Scope.ANIMATE: category in ANIMATE_CATEGORIES,
            Scope.PERSON: category == "person",
        }[self]


@dataclass(frozen=True, slots=True)
class Modifier:
    """One word that is put before the noun."""

    family: str
    word: str
    control: bool  # whether it is a neutral control of its family
    part_of_speech: str  # ``adjective``, or ``noun`` for a noun used attributively (*a luxury car*)
    scope: Scope  # what it can be said of; never wider than its family's
    contrast: str | None = None  # the modifier of the same family that replaces it in a swapped caption, or None

    @property
    def probe(self) -> str:
        """Name of its probe, e.g. ``cultural:African``."""
        return f"{self.family}:{self.word}"


@dataclass(frozen=True, slots=True)
class Family:
    """Modifiers of one meaning, in the order of the file; ``default``: part of the standard grid."""

    name: str
    scope: Scope
    default: bool
    summary: str
    source: str
    words: tuple[Modifier, ...]

    @property
    def modifiers(self) -> tuple[Modifier, ...]:
        """The words under test."""
        return tuple(word for word in self.words if not word.control)

    @property
    def controls(self) -> tuple[Modifier, ...]:
        """The neutral words that hold the length."""
        return tuple(word for word in self.words if word.control)

    def get(self, word: str) -> Modifier:
        """Return a modifier or control by its word. Raises UnknownName if the family has no such word."""
        for each in self.words:
            if each.word == word:
                return each
        known = ", ".join(each.word for each in self.words)
        raise UnknownName(f"family {self.name!r} has no modifier {word!r}; it has {known}")


def families() -> Mapping[str, Family]:
    """The families that come with Invariscope, by name, in the order of the file.
    Raises InvalidInput where a table has been edited into something that cannot be read."""
    return read_families(lexicon_path("families.csv"), lexicon_path("societal.csv"))


def family(name: str) -> Family:
    """Return one family. Raises UnknownName if there is none of that name."""
    known = families()
    if name not in known:
        raise UnknownName(f"no societal family is named {name!r}; known: {', '.join(known)}")
    return known[name]


@cache
def read_families(families_path: Path, modifiers_path: Path) -> Mapping[str, Family]:
    """Read and check the two tables. Raises InvalidInput with the file, the line and the remedy."""
    heads: dict[str, Row] = {}
    for row in read_table(families_path, _FAMILY_COLUMNS):
        if heads.setdefault(row.required("family"), row) is not row:
            row.fail(f"the family {row['family']!r} stands twice; keep one line")
    words: dict[str, list[tuple[Row, Modifier]]] = {name: [] for name in heads}
    for row in read_table(modifiers_path, _MODIFIER_COLUMNS):
        name = row.one_of("family", heads)
        words[name].append((row, _modifier(row, _scope(heads[name]))))
    return MappingProxyType({name: _family(row, words[name]) for name, row in heads.items()})


def _scope(row: Row) -> Scope:
    return Scope(row.one_of("applies_to", Scope))


def _modifier(row: Row, widest: Scope) -> Modifier:
    word = row.required("modifier")
    if ":" in word or "|" in word or word.split() != [word]:
        row.fail(f"the modifier {word!r} must be one word without ':' or '|'; join words with a hyphen")
    control = row.one_of("role", ("modifier", "control")) == "control"
    scope = _scope(row) if row["applies_to"] else widest
    if control and row["applies_to"]:
        row.fail(f"the control {word!r} must apply to what its family applies to; leave applies_to empty")
    speech = row.one_of("part_of_speech", ("adjective", "noun"))
    return Modifier(row["family"], word, control, speech, scope, row["contrast"] or None)


def _family(head: Row, words: list[tuple[Row, Modifier]]) -> Family:
    default = head.one_of("default", ("yes", "no")) == "yes"
    every = tuple(word for _, word in words)
    made = Family(head["family"], _scope(head), default, head.required("summary"), head["source"], every)
    if not made.controls or not made.modifiers:
        head.fail(f"the family {made.name!r} needs at least one modifier and one control; add them to societal.csv")
    under_test = {word.word for word in made.modifiers}
    seen: set[str] = set()
    for row, word in words:
        if word.word in seen:
            row.fail(f"{word.probe} stands twice; keep one line")
        seen.add(word.word)
        if word.contrast is not None and (
            word.contrast not in under_test or word.contrast == word.word or word.control
        ):
            row.fail(f"contrast is {word.contrast!r}; write another modifier of {made.name}, and none for a control")
    return made


RULE_CODES = (
    "part-of-speech",
    "animacy",
    "implausible",
    "lexicalised",
    "false-origin",
    "colloquial",
    "lexical-gender",
    "literal-sense",
)
"""Codes that a line may give; what each means stands in :mod:`core.probes.rejections`."""

_COLUMNS = ("decision", "family", "modifier", "category", "label", "code", "reason")


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of ``compatibility.csv``; an empty tuple matches anything, but never a control by accident."""

    accepts: bool
    families: tuple[str, ...]
    modifiers: tuple[str, ...]
    categories: tuple[str, ...]
    labels: tuple[str, ...]
    code: str
    reason: str

    def matches(self, modifier: Modifier, category: str | None, endings: frozenset[str]) -> bool:
        """Whether the line is about this modifier before this noun."""
        return (
            (not self.families or modifier.family in self.families)
            and (modifier.word in self.modifiers or (not self.modifiers and not modifier.control))
            and (not self.categories or category in self.categories)
            and (not self.labels or not endings.isdisjoint(self.labels))
        )


def rule_out(every: tuple[Rule, ...], modifier: Modifier, category: str | None, noun: str) -> tuple[str, str] | None:
    """Return the code and the sentence of the line that keeps a pair out, or None where it is accepted."""
    endings = frozenset(head_endings(noun))
    for rule in every:
        if rule.matches(modifier, category, endings):
            return None if rule.accepts else (rule.code, rule.reason)
    return None


@cache
def rules(path: Path) -> tuple[Rule, ...]:
    """Read and check ``compatibility.csv``. Raises InvalidInput with the file, the line and the remedy."""
    rows = read_table(path, _COLUMNS)
    found = tuple(_rule(row, families()) for row in rows)
    controls = {word.word for each in families().values() for word in each.controls}
    for row, rule in zip(rows, found, strict=True):
        if controls.intersection(rule.modifiers):
            _leave_a_control(row, rule, found)
    return found


def _rule(row: Row, known: Mapping[str, Family]) -> Rule:
    accepts = row.one_of("decision", ("accept", "reject")) == "accept"
    code = "" if accepts else row.one_of("code", RULE_CODES)
    labels = tuple(label.casefold() for label in row.alternatives("label"))
    owners, words, categories = map(row.alternatives, ("family", "modifier", "category"))
    rule = Rule(accepts, owners, words, categories, labels, code, row.required("reason"))
    _known_words(row, "family", owners, known)
    named = [known[name] for name in owners] or list(known.values())
    _known_words(row, "modifier", words, dict.fromkeys(word.word for each in named for word in each.words))
    _known_words(row, "category", categories, CATEGORIES + EXTRA_CATEGORIES)
    for label in labels:
        if label not in head_endings(label):
            row.fail(f"the label {label!r} can match nothing; write the last one to four words of a noun")
    return rule


def _known_words(row: Row, column: str, words: Iterable[str], known: Iterable[str]) -> None:
    allowed = tuple(known)
    for word in words:
        if word not in allowed:
            row.fail(f"{column} {word!r} is not known; write {WILDCARD}, or some of {', '.join(allowed)} split by '|'")


def _leave_a_control(row: Row, rule: Rule, every: tuple[Rule, ...]) -> None:
    """Check that a modified caption always finds a length-matched baseline.
    Labels are matched by nested endings, so it is enough to look at the labels that the table names."""
    if rule.categories or not rule.labels:
        row.fail("it is about a control, so the category must be * and the labels must be named")
    for label in rule.labels:
        for each in families().values():
            if all(rule_out(every, word, None, label) is not None for word in each.controls):
                row.fail(f"no control of {each.name} is left before {label!r}; leave one to it")


@dataclass(frozen=True, slots=True)
class RejectedPair:
    """A modifier-noun pair that the screen keeps out, and how many items it concerns."""

    family: str
    modifier: str
    label: str | None
    category: str | None
    code: str
    detail: str
    items: int


def screen(label: str | None, category: str | None, family_name: str, word: str) -> Rejection | None:
    """Decide on one modifier or control before one noun.
    Returns None where the pair is accepted, else the rejection: pair, code (of :mod:`core.probes.rejections`) and
    sentence.
    Raises UnknownName if the lexicon has no such family or modifier.

    >>> screen("chair", "furniture", "emotion", "angry").code
    'animacy'
    """
    owner = family(family_name)
    modifier = owner.get(word)
    if label is None or not label.replace("_", " ").split():
        return Rejection(word, "no-label", "the item has no label, so there is no noun to put the modifier before")
    noun = clean_label(label)
    found = _sieve(owner, modifier, category, noun)
    if found is None and modifier.control and all(_sieve(owner, each, category, noun) for each in owner.modifiers):
        found = "no-modifier", f"no modifier of the family {owner.name} can be said of it"
    if found is None:
        return None
    code, reason = found
    pair = f"{word} {noun if len(noun) <= 60 else f'{noun[:60]}…'}"
    return Rejection(pair, code, f"'{pair}' is left out: {reason}")


def accepted_controls(label: str, family_name: str) -> tuple[Modifier, ...]:
    """Neutral controls of a family that are neutral before this noun, in the order of the lexicon."""
    return tuple(word for word in family(family_name).controls if _ruled_out(word, None, label) is None)


def rejected_pairs(items: Iterable[Item]) -> tuple[RejectedPair, ...]:
    """List every pair that the screen keeps out of a set of items.
    Returns them in the order of the lexicon, then by label: a table that a page can show as it is."""
    nouns = Counter((item.label, item.category) for item in items)
    ordered = sorted(nouns, key=lambda noun: (noun[0] or "", noun[1] or ""))
    found = []
    for word in (word for each in families().values() for word in each.words):
        for label, category in ordered:
            rejection = screen(label, category, word.family, word.word)
            if rejection is not None:
                told = rejection.code, rejection.detail, nouns[label, category]
                found.append(RejectedPair(word.family, word.word, label, category, *told))
    return tuple(found)


def _sieve(owner: Family, modifier: Modifier, category: str | None, noun: str) -> tuple[str, str] | None:
    whom = _WHOM.get(modifier.scope)
    if whom and category is None:
        return "no-category", f"it is said of {whom}, and the item has no category; give it one"
    if whom and not (category and modifier.scope.holds(category)):
        return "animacy", f"it is said of {whom}, not of the category {category}"
    held = set() if modifier.control else set(noun.casefold().split())
    for other in owner.modifiers:
        # boy and girl are nouns as well: "a male boy" is a matter of lexical gender, which the table rules on
        if other.part_of_speech == "adjective" and other.word.casefold() in held:
            return "already-modified", f"the label says {other.word!r} already"
    return _ruled_out(modifier, category, noun)


_WHOM = {
    Scope.NON_PERSON: "things and animals that are not persons",
    Scope.ANIMATE: "persons and animals",
    Scope.PERSON: "persons",
}


def _ruled_out(modifier: Modifier, category: str | None, noun: str) -> tuple[str, str] | None:
    return rule_out(rules(lexicon_path("compatibility.csv")), modifier, category, noun)
