"""What comes before an annotator's first vote: consent, practice, and the link of a recruiting platform.

Each is set by a row of the log, so that it can be set in a study that is running, and what was set before is kept.
"""

import base64
import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from core.errors import InvalidInput, StoreError
from core.features.human.definition import ORIGINAL, VARIANT, Definition, StudyItem
from core.features.human.kinds import Kind, Value

CONSENT_LIMIT = 20_000
MOST_EXERCISES = 10
MOST_TRIES = 3
WHY_LIMIT = 300
PREFERRED = "preferred"  # what of an item is asked about, beside its versions


class Stage(StrEnum):
    """Where an annotator is: each comes before the next; ``screened`` is an end."""

    CONSENT = "consent"
    INSTRUCTIONS = "instructions"
    PRACTICE = "practice"
    SCREENED = "screened"
    VOTES = "votes"


@dataclass(frozen=True, slots=True)
class Consent:
    """What annotators agree to before anything of them is kept."""

    text: str  # as the coordinator wrote it; plain text
    digest: str  # its sha256, which an agreement names

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> "Consent | None":
        """Read a row of the log; an empty text asks for nothing."""
        text = check_consent(row["text"])
        return cls(text, hashlib.sha256(text.encode()).hexdigest()) if text else None


@dataclass(frozen=True, slots=True)
class Exercise:
    """One item for practice, with the answers that are right."""

    item: str  # id within the study
    # ``original``, ``variant`` or ``preferred`` -> answers that are right; what is not named may be anything
    right: Mapping[str, tuple[Value, ...]]
    why: str  # shown after the answer

    def misses(self, said: Mapping[str, Any]) -> tuple[str, ...]:
        """What was answered wrongly, as :func:`core.features.human.votes.resolve` has it: names of ``right``."""
        return tuple(name for name, values in self.right.items() if said.get(name) not in values)


@dataclass(frozen=True, slots=True)
class Practice:
    """Items that everybody judges first, with feedback; their answers enter no number."""

    exercises: tuple[Exercise, ...]  # in the order in which they are shown
    needed: int  # how many must be right to go on; 0: nobody is turned away
    tries: int  # how often an annotator may go through them

    @classmethod
    def read(cls, row: Mapping[str, Any], definition: Definition) -> "Practice | None":
        """Read a row of the log; without an exercise there is no practice. Raises InvalidInput if an item, an answer or
        a number is not one."""
        exercises = tuple(_exercise(each, definition) for each in row["exercises"])
        if len(exercises) > MOST_EXERCISES:
            raise InvalidInput(f"practice has at most {MOST_EXERCISES} items, got {len(exercises)}")
        if len({each.item for each in exercises}) < len(exercises):
            raise InvalidInput("practice names an item twice; leave one of them out")
        needed, tries = int(row["needed"]), int(row["tries"])
        if not 0 <= needed <= len(exercises):
            raise InvalidInput(f"of {len(exercises)} practice items 0 to {len(exercises)} can be needed, got {needed}")
        if not 1 <= tries <= MOST_TRIES:
            raise InvalidInput(f"practice takes 1 to {MOST_TRIES} tries, got {tries}")
        return cls(exercises, needed, tries) if exercises else None

    def told(self) -> dict[str, Any]:
        """As a row of the log holds it."""
        exercises = [
            {"item": each.item, "right": {name: list(values) for name, values in each.right.items()}, "why": each.why}
            for each in self.exercises
        ]
        return {"exercises": exercises, "needed": self.needed, "tries": self.tries}


@dataclass(frozen=True, slots=True)
class Prolific:
    """The one link by which everybody comes whom Prolific sends."""

    digest: str | None  # sha256 of its token; None where the link is closed
    nonce: str | None  # what the token is made of, with the study's secret
    items: int  # how many items each participant is asked about, items with a known answer included
    completion: str  # code of those who have answered
    screened_out: str  # code of those whom practice turned away; empty where they return their submission

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> "Prolific":
        """Read a row of the log."""
        digest, nonce = (None if row[name] is None else str(row[name]) for name in ("token_sha256", "nonce"))
        return cls(digest, nonce, int(row["items"]), str(row["completion"]), str(row["screened_out"]))


def check_consent(text: object) -> str:
    """Return a text of consent without the blanks around it; raises InvalidInput if it is no text, too long, or holds
    characters that cannot be read."""
    if not isinstance(text, str):
        raise InvalidInput("the consent is a text")
    clean = text.replace("\r\n", "\n").strip()
    if len(clean) > CONSENT_LIMIT:
        raise InvalidInput(f"the consent has at most {CONSENT_LIMIT} characters, got {len(clean)}; link to the rest")
    odd = next((each for each in clean if not (each.isprintable() or each in "\n\t")), None)
    if odd is not None:
        raise InvalidInput(f"the consent is plain text; it holds the unreadable character {odd!r}, leave it out")
    return clean


def by_construction(definition: Definition) -> tuple[Exercise, ...]:
    """Exercises of a study's items with a known answer: one caption names what the picture does not show."""
    kind = definition.asked
    levels = answers_to(VARIANT, kind)
    wrong = tuple(value for value in levels if kind.share(float(value)) < 0.5)
    fits = tuple(value for value in levels if value not in wrong)
    right: dict[str, tuple[Value, ...]] = {ORIGINAL: fits, VARIANT: wrong, PREFERRED: (ORIGINAL,)}
    found = []
    for item in (each for each in definition.items if each.attention):
        why = f"The picture does not show what this caption names: “{item.variant_caption}”"
        found.append(Exercise(item.id, {name: right[name] for name in asked_of(item, kind)}, why))
    return tuple(found)


def asked_of(item: StudyItem, kind: Kind) -> tuple[str, ...]:
    """What an item is asked about: the versions that it shows and, of two, which is preferred."""
    if item.shows != "pair":
        return (item.shows,)
    return (ORIGINAL, VARIANT, *((PREFERRED,) if kind.sides == 2 else ()))


def answers_to(what: str, kind: Kind) -> tuple[Value, ...]:
    """Every answer about a version, lowest first; or the versions and ``tie`` of a preference."""
    if what == PREFERRED:
        return (ORIGINAL, VARIANT, "tie")
    return tuple(range(kind.lowest, kind.lowest + len(kind.scale)))


def _exercise(told: Mapping[str, Any], definition: Definition) -> Exercise:
    item = definition.item(str(told["item"]))
    asked = asked_of(item, definition.asked)
    right: dict[str, tuple[Value, ...]] = {}
    for name, values in told["right"].items():
        known = answers_to(name, definition.asked) if name in asked else ()
        if not values or any(value not in known for value in values):
            raise InvalidInput(
                f"practice item {item.id} takes answers about {', '.join(asked)}, got {name!r}: {values!r}"
            )
        right[name] = tuple(values)
    if not right:
        raise InvalidInput(f"practice item {item.id} has no right answer; name one")
    return Exercise(item.id, right, " ".join(str(told["why"]).split())[:WHY_LIMIT])


# Personal links: a token that nobody can guess, kept nowhere in the clear.
#
# The log holds the sha256 of a token, so a log that is handed around opens nothing. A token is the HMAC of the
# annotator and a random nonce under the study's secret: whoever can read the secret (the coordinator's server) can
# show a link again, and nobody else can make one. The secret lies beside the log, readable by its owner only; without
# it the links still work, and only showing them needs a new one.
SECRET = "secret"
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")


def write_secret(folder: Path) -> None:
    """Make the secret of a new study, readable by its owner only; raises StoreError if it cannot be written, or there
    is one already."""
    path = folder / SECRET
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_urlsafe(32))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or error}; check the folder") from error


def read_secret(folder: Path) -> str | None:
    """The secret of a study, or None where it is gone."""
    try:
        return (folder / SECRET).read_text("ascii").strip() or None
    except (OSError, ValueError):
        return None


def new_nonce() -> str:
    """Random part of one invitation."""
    return secrets.token_urlsafe(16)


def make_token(secret: str, annotator: str, nonce: str) -> str:
    """Token of one invitation: 43 characters, 256 bits."""
    digest = hmac.new(secret.encode(), f"{annotator}\x1f{nonce}".encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def digest(token: str) -> str:
    """What the log keeps of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def well_formed(token: object) -> bool:
    """Whether a text could be a token at all."""
    return isinstance(token, str) and _TOKEN.fullmatch(token) is not None
