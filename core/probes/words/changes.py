"""What two captions share: how many words an edit changed, and whether a caption can be edited at all."""

from collections.abc import Sequence
from difflib import SequenceMatcher

from core.errors import ProbeRejected
from core.probes.base import ENGLISH, Subject
from core.probes.words.caption_words import LANGUAGES
from core.probes.words.languages import reads_as


def changed_words(before: Sequence[str], after: Sequence[str]) -> int:
    """How many words an edit changed.

    Of texts of one length, the places at which they differ; else the words in the stretches that differ, the longer
    side of each: 2 for two words that are said twice, or left out.
    """
    if len(before) == len(after):
        return sum(old != new for old, new in zip(before, after, strict=True))
    stretches = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return sum(max(i2 - i1, j2 - j1) for kind, i1, i2, j1, j2 in stretches if kind != "equal")


def check_language(subject: Subject, known: Sequence[str] = LANGUAGES) -> str:
    """Return the language of a caption.

    Raises:
        ProbeRejected: ``language-not-edited`` where no rule for it is known, or where the caption reads as another's.
    """
    if subject.language not in known:
        raise ProbeRejected(
            "language-not-edited", f"captions are edited in {', '.join(known)}, and this one is in {subject.language!r}"
        )
    if not reads_as(subject.caption, subject.language):
        told = f"{subject.caption!r} does not read as language {subject.language!r}, which the corpus names"
        raise ProbeRejected("language-not-edited", told)
    return subject.language


def check_english(subject: Subject) -> str:
    """Return the caption, which must be English.

    Raises:
        ProbeRejected: ``language-not-edited`` for another language.
    """
    check_language(subject, (ENGLISH,))
    return subject.caption
