"""Suites of comparisons: Pascal-50S, FOIL and CapArena, two captions of an image each."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.corpora.suites.model import ACCURACY, Compared, Decision, Suite, own_references, spaced, texts
from core.errors import BadCorpus

if TYPE_CHECKING:
    from pathlib import Path


def entry_of(path: "Path", key: object, entry: object) -> dict[str, Any]:
    """An entry that is an object.

    Raises:
        BadCorpus: naming the file and the key otherwise.
    """
    if not isinstance(entry, dict):
        raise BadCorpus(f"{path}: an entry of {key!r} must be an object, got {str(entry)[:60]!r}")
    return entry


LABELS: Mapping[str, bool] = {"0": False, "0.0": False, "1": True, "1.0": True}
"""What stands for the first and the second of two, also as text."""


def either(value: object, *, where: str, rule: str, known: Mapping[str, bool] = LABELS) -> bool | None:
    """One of two choices; None where there is none: null, an empty text or *nan*.

    Args:
        where: what messages call the entry and its field.
        rule: what the value may be, in words.
        known: choices by their text in small letters.

    Raises:
        BadCorpus: for any other value, which may be a choice that is counted otherwise.
    """
    text = "" if value is None else str(value).strip().casefold()
    if text in ("", "nan"):
        return None
    if text not in known:
        raise BadCorpus(f"{where} must be {rule}, got {str(value)[:60]!r}; write it so")
    return known[text]


def number(value: object) -> float | None:
    """A finite number, also as text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


HUMAN = "human"
"""CapArena's name of the people who wrote captions."""

EVEN = ("equal", "tie")
"""CapArena's winner where people prefer neither; the second is a word for it, not the publisher's."""

_PREFERRED = "0 for the first caption, 1 for the second, or empty"
_FOILED = "true or false"
_FOILS = {**LABELS, "false": False, "true": True}


def pairs(path: Path, held: dict[str, list[Any]]) -> Suite:
    """Pascal-50S, or FOIL in FLEUR's layout."""
    compared, left_out, undecided, own = [], 0, 0, 0
    for group, entries in held.items():
        for place, entry in enumerate(entries, start=1):
            known = entry_of(path, group, entry)
            image, captions = known.get("image"), known.get("captions")
            label = either(known.get("label"), where=f"{path}, entry {place} of {group!r}: label", rule=_PREFERRED)
            two = [each for each in captions if isinstance(each, str)] if isinstance(captions, list) else []
            if len(two) != 2 or not isinstance(image, str):
                left_out += 1
                continue
            if label is None:
                undecided += 1
                continue
            first, second = map(spaced, two)
            given = texts(known.get("references"))
            kept = own_references(given, first, second)
            own += first in given or second in given
            preferred, other = (second, first) if label else (first, second)
            compared.append(Compared(image, preferred, other, str(group), kept))
    name = "FOIL" if "foil" in path.name.casefold() else "Pascal-50S"
    decisions = (
        Decision(
            "undecided",
            "people's ties",
            "pairs with an empty label are left out; how the publisher settled ties of people is not in the file",
            undecided,
            "pairs left out",
        ),
        never_itself(own, "pairs"),
    )
    return Suite(name, ACCURACY, (), tuple(compared), left_out + undecided, decisions)


def foil(path: Path, held: dict[str, Any]) -> Suite:
    """FOIL as its publisher has it, or an example that is laid out so and says what it is.

    An image's other right captions are its references.
    """
    listed = held.get("images")
    entries = listed if isinstance(listed, list) else []
    images = {str(each.get("id")): each.get("file_name") for each in entries if isinstance(each, dict)}
    right: dict[str, str] = {}
    of_image: dict[str, list[str]] = {}
    foils: list[tuple[str, str, str]] = []
    left_out = 0
    for place, entry in enumerate(held["annotations"], start=1):
        caption = entry_of(path, "annotations", entry).get("caption")
        foiled = either(
            entry.get("foil"), where=f"{path}, entry {place} of 'annotations': foil", rule=_FOILED, known=_FOILS
        )
        if not isinstance(caption, str) or foiled is None:
            left_out += 1
        elif foiled:
            foils.append((str(entry.get("id")), str(entry.get("image_id")), spaced(caption)))
        else:
            right[str(entry.get("id"))] = spaced(caption)
            of_image.setdefault(str(entry.get("image_id")), []).append(spaced(caption))
    compared = []
    for key, image, caption in foils:
        file = images.get(image)
        if key in right and isinstance(file, str):
            others = own_references(of_image.get(image, ()), right[key], caption)
            compared.append(Compared(file, right[key], caption, references=others))
        else:
            left_out += 1
    decision = Decision(
        "other-references",
        "references",
        "an image's right captions are references, without the one that is compared",
        sum(bool(each.references) for each in compared),
        "pairs",
    )
    named = held.get("example")
    name = spaced(named)[:60] if isinstance(named, str) and named.strip() else "FOIL"
    return Suite(name, ACCURACY, (), tuple(compared), left_out, (decision,))


def battles(path: Path, held: list[Any]) -> Suite:
    """CapArena: which of two captioners' captions of an image people prefer, or neither."""
    compared, left_out, by_people = [], 0, 0
    for place, entry in enumerate(held, start=1):
        known = entry_of(path, "the list", entry)
        image, one, other = (known.get(name) for name in ("img", "source1", "source2"))
        captions = [known.get(name) for name in ("caption1", "caption2")]
        if not all(isinstance(each, str) and each.strip() for each in (image, one, other, *captions)) or one == other:
            left_out += 1
            continue
        if HUMAN in (one, other):
            by_people += 1
            continue
        first, second = (spaced(str(each)) for each in captions)
        names, winner = (str(one), str(other)), known.get("winner")
        known_winners = {**dict.fromkeys(EVEN, False), str(one).casefold(): False, str(other).casefold(): True}
        rule = f"{one!r}, {other!r} or {EVEN[0]!r}"
        won = either(winner, where=f"{path}, entry {place}: winner", rule=rule, known=known_winners)
        if won is None:
            left_out += 1
            continue
        if won:
            first, second, names = second, first, (names[1], names[0])
        reference = known.get("ref")
        given = texts(reference if isinstance(reference, list) else [reference])
        compared.append(
            Compared(
                str(image),
                first,
                second,
                str(known.get("cluster") or ""),
                own_references(given, first, second),
                names,
                str(winner).strip().casefold() in EVEN,
            )
        )
    tied = sum(each.tied for each in compared)
    decisions = (
        Decision(
            "people-as-system",
            "people's own captions",
            "battles against a caption by people are left out, as the publisher does: it is the reference",
            by_people,
            "battles left out",
        ),
        Decision(
            "undecided",
            "people's ties",
            "battles that people call a tie count in no accuracy, and half a win "
            "for each side in the ranks of captioners",
            tied,
            "battles",
        ),
    )
    return Suite("CapArena", ACCURACY, (), tuple(compared), left_out + by_people, decisions)


def never_itself(count: int, of: str) -> Decision:
    """The decision that no caption is held against itself."""
    return Decision(
        "own-reference",
        "a caption among its references",
        "it is taken out of the references that it is held against",
        count,
        of,
    )
