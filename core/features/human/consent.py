"""Consent: the coordinator's text, and who agreed to which wording of it.

What annotators read before the first item: ``assets/studies/instructions.toml``.
"""

import tomllib
from dataclasses import dataclass
from typing import Any

from core import settings
from core.errors import InvalidInput, StoreError
from core.features.human.entrance import check_consent
from core.features.human.kinds import KINDS
from core.features.human.ledger import Ledger
from core.features.human.studies import Refused, Study


def set_consent(study: Study, text: str) -> None:
    """Ask everybody to agree to a text before anything else; an empty one asks for nothing. Who agreed to another
    wording is asked again before their next item. Raises InvalidInput if it cannot be shown as plain text."""
    clean = check_consent(text)
    study.record(lambda _: [{"row": "consent", "text": clean}])


def agree(study: Study, annotator: str, digest: str) -> None:
    """Note that an annotator agreed to the text of that digest; the log adds the time. Raises Refused if the text is
    another one by now, and InvalidInput if there is no such annotator."""

    def rows(ledger: Ledger) -> list[dict[str, Any]]:
        check_wording(ledger, digest)
        if annotator not in ledger.annotators:
            raise InvalidInput(f"study {study.id!r} has no annotator {annotator[:40]!r}")
        return [accepted(annotator, digest)]

    study.record(rows)


def accepted(annotator: str, digest: str) -> dict[str, Any]:
    """The row of an agreement."""
    return {"row": "accept", "annotator": annotator, "text_sha256": digest}


def check_wording(ledger: Ledger, digest: str | None) -> None:
    """Refuse an agreement to a wording that is not the present one."""
    if (ledger.consent.digest if ledger.consent else None) != digest:
        raise Refused("The text was changed while you read it; please read it again.")


@dataclass(frozen=True, slots=True)
class Instructions:
    """Words for one kind of study."""

    title: str  # one line
    steps: tuple[str, ...]  # what to do, in order
    rules: tuple[str, ...]  # how to judge


def instructions(kind: str) -> Instructions:
    """Read the instructions of a kind; raises StoreError if the file is gone or broken."""
    path = settings.assets_dir() / "studies" / "instructions.toml"
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
        found = {name: Instructions(str(told[name]["title"]), *_lists(told[name])) for name in KINDS}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{path} cannot be read ({error}); restore it from the checkout") from error
    return found[kind]


def _lists(told: dict[str, list[str]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(map(str, told["steps"])), tuple(map(str, told["rules"]))
