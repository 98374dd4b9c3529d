"""Participants whom Prolific sends: one link for all, an id for each, and a code for those who are through.

Nothing of a participant is kept before they agree, or begin where no consent is asked. Their id is what Prolific puts
into the link; it is believed no further than that the same id is the same person.

Source: Prolific's guide to external studies (URL parameters, completion codes, return URL).
"""

import math
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from core.errors import InvalidInput
from core.features.human.entrance import digest, make_token, new_nonce, read_secret, well_formed
from core.features.human.first_steps import accepted, check_wording
from core.features.human.ledger import OPEN, Annotator, Ledger
from core.features.human.sharing import asked_items, queue_of_newcomer, waiting_items
from core.features.human.studies import ANNOTATOR_LIMIT, Refused, Study, free_ids

PID, STUDY_ID, SESSION_ID = "PROLIFIC_PID", "STUDY_ID", "SESSION_ID"
RETURN_URL = "https://app.prolific.com/submissions/complete?cc="
CODE = re.compile(r"[A-Za-z0-9_-]{4,40}")
FEWEST_ANSWERED = 0.5  # share of their items that participants answer, not skip, before the completion code is theirs
MOST_ITEMS = 1000
_PID = re.compile(r"[a-z0-9]{24}")
_OTHER = re.compile(r"[A-Za-z0-9_-]{1,64}")
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # no letter that is taken for a digit


@dataclass(frozen=True, slots=True)
class Visit:
    """What Prolific put into the link, checked."""

    pid: str  # id of the participant, 24 letters and digits
    study: str = ""  # of the study at Prolific, or empty
    session: str = ""  # of this submission, or empty


def read_visit(told: Mapping[str, str]) -> Visit | None:
    """Read the parameters of a link; None where it holds no id. Raises Refused for an id that cannot be one of
    Prolific's; the others are left out then."""
    if PID not in told:
        return None
    pid = str(told[PID]).strip().lower()
    if not _PID.fullmatch(pid):
        raise Refused("This link holds no valid Prolific ID; open the study from Prolific again.")
    study, session = (str(told.get(name, "")) for name in (STUDY_ID, SESSION_ID))
    return Visit(pid, *(each if _OTHER.fullmatch(each) else "" for each in (study, session)))


def new_code() -> str:
    """A completion code that nobody can guess: 8 letters and digits, 40 bits."""
    return "".join(secrets.choice(_LETTERS) for _ in range(8))


def check_code(code: str) -> str:
    """Return a code that is safe in an address; raises InvalidInput for anything else."""
    if not CODE.fullmatch(code):
        raise InvalidInput(f"a code has 4 to 40 letters, digits, dashes or underscores, got {code[:60]!r}")
    return code


def return_url(code: str) -> str:
    """Address at Prolific that takes a submission with a code."""
    return RETURN_URL + quote(code, safe="")


def open_link(study: Study, *, items: int, completion: str, screened_out: str = "") -> None:
    """Open the study's link for Prolific, or change what it gives; an open link stays the same.

    ``items``: how many each participant who comes from now on is asked about, known answers included; ``completion``
    and ``screened_out`` (of those whom practice turns away; empty where they return their submission) are codes. Raises
    InvalidInput if a code or the number is out of range, or both codes are the same.
    """
    if not 1 <= items <= MOST_ITEMS:
        raise InvalidInput(f"a participant is asked about 1 to {MOST_ITEMS} items, got {items}")
    codes = {"completion": check_code(completion), "screened_out": check_code(screened_out) if screened_out else ""}
    if completion == screened_out:
        raise InvalidInput(f"both codes are {completion!r}: who is turned away would be paid as one who answered")
    secret, nonce = study.secret(), new_nonce()

    def rows(ledger: Ledger) -> list[dict[str, Any]]:
        kept = ledger.prolific.nonce if ledger.prolific and ledger.prolific.digest else None
        own = kept or nonce
        token = digest(_token(secret, own))
        return [{"row": "prolific", "nonce": own, "token_sha256": token, "items": items, **codes}]

    study.record(rows)


def close_link(study: Study) -> None:
    """Stop the link: for those who joined too. Votes stay and count."""

    def rows(ledger: Ledger) -> list[dict[str, Any]]:
        if ledger.prolific is None:
            raise InvalidInput(f"study {study.id!r} has no link for Prolific to close")
        told = {name: getattr(ledger.prolific, name) for name in ("items", "completion", "screened_out")}
        return [{"row": "prolific", "nonce": None, "token_sha256": None, **told}]

    study.record(rows)


def link_query(study: Study) -> str | None:
    """The link's part after ``?``, with Prolific's placeholders; None where there is none or it cannot be shown."""
    told, secret = study.state().prolific, read_secret(study.folder)
    if told is None or told.nonce is None or secret is None:
        return None
    token = _token(secret, told.nonce)
    if digest(token) != told.digest:
        return None
    return "&".join((f"token={token}", *(f"{name}={{{{%{name}%}}}}" for name in (PID, STUDY_ID, SESSION_ID))))


def recruits(study: Study, token: object) -> bool:
    """Whether a token is that of the study's link for Prolific."""
    told = study.state().prolific
    return told is not None and well_formed(token) and digest(str(token)) == told.digest


def participant(study: Study, visit: Visit | None) -> str | None:
    """The annotator that a visitor of the study's link is; None for somebody new. Raises Refused without an id, and for
    one who was withdrawn."""
    if visit is None:
        raise Refused(
            "This link is for participants who come from Prolific, and it lacks your Prolific ID; open the "
            "study from Prolific again."
        )
    state = study.state()
    name = state.by_pid.get(visit.pid)
    if name is not None and not state.annotators[name].active:
        raise Refused("Your part in this study was ended by the researcher; please write to them through Prolific.")
    return name


def check_room(study: Study) -> None:
    """Raise Refused to a newcomer where nothing is left to do, before they read on."""
    state = study.state()
    if state.status == OPEN:
        _room(state, "a newcomer", study.now())


def join(study: Study, visit: Visit, *, agreed: str | None, begun: bool = False) -> str:
    """Take a participant in, with items of their own, and return their id; who is in already stays who they are.

    ``agreed``: digest of the consent that they agreed to, if any; ``begun``: whether they read the instructions
    already. Raises Refused if the study is not open, is full, or asks for consent to another wording.
    """

    def rows(ledger: Ledger) -> list[dict[str, Any]]:
        check_wording(ledger, agreed)
        if ledger.status != OPEN:
            raise Refused(f"The study is {ledger.status} now; please return your submission on Prolific.")
        name = ledger.by_pid.get(visit.pid)
        told = [accepted(name or "", agreed)] if agreed else []
        if name is None:
            (name,) = free_ids(ledger, 1)
            visited = {"pid": visit.pid, "prolific_study": visit.study, "prolific_session": visit.session}
            queue = _room(ledger, name, study.now())
            told = [{"row": "join", "annotator": name, **visited, "queue": list(queue)}, *told]
        told += [{"row": "begin"}] if begun else []
        return [{**row, "annotator": name} for row in told]

    study.record(rows, share=True)
    return study.state().by_pid[visit.pid]


def through(ledger: Ledger, annotator: Annotator) -> bool:
    """Whether a participant answered or skipped everything that was given to them."""
    return annotator.pid is not None and bool(annotator.queue) and not waiting_items(ledger, annotator)


def answered(ledger: Ledger, annotator: Annotator) -> tuple[int, int]:
    """How many of a participant's items they answered in full, and how many they need to for the code."""
    given = asked_items(ledger, annotator)
    done = sum(ledger.complete(ledger.entries.get((annotator.id, item))) for item in given)
    return done, max(math.ceil(len(given) * FEWEST_ANSWERED), 1)


def completion_code(ledger: Ledger, annotator: Annotator) -> str | None:
    """The completion code, for a participant who has earned it; None before."""
    if ledger.prolific is None or not through(ledger, annotator):
        return None
    done, needed = answered(ledger, annotator)
    return ledger.prolific.completion if done >= needed else None


def _room(ledger: Ledger, name: str, now: float) -> tuple[str, ...]:
    """Items for a newcomer; Refused if there are none, or too many annotators."""
    count = ledger.prolific.items if ledger.prolific else 0
    queue = queue_of_newcomer(ledger, name, count=count, now=now) if count else ()
    if not queue or len(ledger.annotators) >= ANNOTATOR_LIMIT:
        raise Refused(
            "This study has all the answers that it needs; thank you for coming. Nothing was stored about "
            "you. Please return your submission on Prolific (“Stop without completing”)."
        )
    return queue


def _token(secret: str, nonce: str) -> str:
    return make_token(secret, "prolific", nonce)
