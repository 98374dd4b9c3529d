"""The compatibility screen: which modifier-noun pairs make an acceptable caption, and why others do not.

Three sieves, in this order: what the family and the modifier apply to (animacy), a label that holds a word
of the family already, and the lines of ``assets/lexicons/compatibility.csv`` (part of speech, plausibility,
phrases that name a kind). Nothing is dropped in silence: every rejected pair has a code and a sentence.
Source: paper A, A.3.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from core.corpora.schema import Item, Rejection
from core.probes.tables import lexicon_path
from core.probes.words.compatibility import rule_out, rules
from core.probes.words.grammar import clean_label
from core.probes.words.lexicons import Family, Modifier, Scope, families, family


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

    Args:
        label: noun of the object, None or blank where the item has none.
        category: harmonised category, None where it is unknown.
        family_name: a family of the lexicon, e.g. ``emotion``.
        word: a modifier or a control of that family, e.g. ``angry``.

    Returns:
        None where the pair is accepted, else the rejection: pair, code (of :mod:`core.probes.rejections`) and sentence.

    Raises:
        UnknownName: if the lexicon has no such family or modifier.

    Example:
        >>> screen("chair", "furniture", "emotion", "angry").code
        'animacy'
    """
    owner = family(family_name)
    modifier = owner.get(word)
    if label is None or not label.split():
        return Rejection(word, "no-label", "the item has no label, so there is no noun to put the modifier before")
    noun = clean_label(label)
    found = _sieve(owner, modifier, category, noun)
    if found is None and modifier.control:
        found = _nothing_to_control(owner, category, noun)
    if found is None:
        return None
    code, reason = found
    pair = f"{word} {_shorten(noun)}"
    return Rejection(pair, code, f"'{pair}' is left out: {reason}")


def accepted_controls(label: str, family_name: str) -> tuple[Modifier, ...]:
    """Neutral controls of a family that are neutral before this noun, in the order of the lexicon."""
    return tuple(word for word in family(family_name).controls if _ruled_out(word, None, label) is None)


def rejected_pairs(items: Iterable[Item], *, defaults_only: bool = False) -> tuple[RejectedPair, ...]:
    """List every pair that the screen keeps out of a set of items.

    Args:
        items: items of a corpus; each distinct (label, category) is screened once.
        defaults_only: leave out the families that only targeted probes use.

    Returns:
        In the order of the lexicon, then by label: a table that a page can show as it is.
    """
    nouns = Counter((item.label, item.category) for item in items)
    ordered = sorted(nouns, key=lambda noun: (noun[0] or "", noun[1] or ""))
    words = [
        word for each in families().values() if each.default or not defaults_only for word in each.words
    ]  # fmt: skip
    found = []
    for word in words:
        for label, category in ordered:
            rejection = screen(label, category, word.family, word.word)
            if rejection is not None:
                found.append(
                    RejectedPair(
                        word.family,
                        word.word,
                        label,
                        category,
                        rejection.code,
                        rejection.detail,
                        nouns[label, category],
                    )
                )
    return tuple(found)


def _sieve(owner: Family, modifier: Modifier, category: str | None, noun: str) -> tuple[str, str] | None:
    return (
        _animacy(modifier, category)
        or _already_modified(owner, modifier, noun)
        or _ruled_out(modifier, category, noun)
    )  # fmt: skip


def _nothing_to_control(owner: Family, category: str | None, noun: str) -> tuple[str, str] | None:
    if any(_sieve(owner, modifier, category, noun) is None for modifier in owner.modifiers):
        return None
    return "no-modifier", f"no modifier of the family {owner.name} can be said of it"


def _animacy(modifier: Modifier, category: str | None) -> tuple[str, str] | None:
    if modifier.scope is Scope.ANYTHING:
        return None
    if category is None:
        return "no-category", f"it is said of {_WHOM[modifier.scope]}, and the item has no category; give it one"
    if modifier.scope.holds(category):
        return None
    return "animacy", f"it is said of {_WHOM[modifier.scope]}, not of the category {category}"


_WHOM = {
    Scope.NON_PERSON: "things and animals that are not persons",
    Scope.ANIMATE: "persons and animals",
    Scope.PERSON: "persons",
}


def _already_modified(owner: Family, modifier: Modifier, noun: str) -> tuple[str, str] | None:
    if modifier.control:
        return None
    held = set(noun.casefold().split())
    for other in owner.modifiers:
        # boy and girl are nouns as well: "a male boy" is a matter of lexical gender, which the table rules on
        if other.part_of_speech == "adjective" and other.word.casefold() in held:
            return "already-modified", f"the label says {other.word!r} already"
    return None


def _ruled_out(modifier: Modifier, category: str | None, noun: str) -> tuple[str, str] | None:
    return rule_out(rules(lexicon_path("compatibility.csv")), modifier, category, noun)


def _shorten(noun: str, limit: int = 60) -> str:
    return noun if len(noun) <= limit else f"{noun[:limit]}…"
