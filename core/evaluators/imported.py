"""Evaluators whose scores were made elsewhere: how they are named, what is known of them. No model comes with them."""

from collections.abc import Mapping

from core.errors import InvalidInput
from core.evaluators.base import EvaluatorSpec, Fingerprint

MARK = "imported"  # label of every evaluator whose scores were imported; no checkpoint may have it
IMPORTED = f"@{MARK}"  # ends the stored name: wherever it stands, a reader sees where the scores are from
FAMILY = "imported"
_MOST = 100


def stored_name(name: str) -> str:
    """Name under which imported scores of a metric are stored, e.g. ``stored_name("clipscore")``.
    Raises InvalidInput for an empty name, one that is too long or holds what no name has.

    >>> stored_name("clipscore")
    'clipscore@imported'
    """
    plain = name.strip().removesuffix(IMPORTED)
    if not plain or len(plain) > _MOST or "," in plain or plain.startswith("-") or not plain.isprintable():
        raise InvalidInput(f"an evaluator's name has 1 to {_MOST} printable characters and no comma, got {name!r}")
    return f"{plain}{IMPORTED}"


def is_imported(name: str) -> bool:
    """Whether a stored name is one of imported scores."""
    return name.endswith(IMPORTED)


def imported_spec(name: str, score_range: tuple[float, float | None], *, told: str) -> EvaluatorSpec:
    """What is known of an evaluator whose scores were imported. ``told``: fingerprint, as the reader gave it."""
    return EvaluatorSpec(
        name=name,
        title=f"{name.removesuffix(IMPORTED)}, imported scores",
        summary="Scores that were made elsewhere; nothing new can be scored.",
        family=FAMILY,
        score_range=score_range,
        memory_mb=0,
        offline=True,
        source=told,
        licence="unknown",
    )


def imported_fingerprint(name: str, *, told: str, sha256: str, pairs: str) -> Fingerprint:
    """What the scores depend on, as far as it is known: what the reader says, the file, and the pairs that were scored.
    ``told``: fingerprint, as the reader gave it. ``sha256``: of the scores file. ``pairs``: digest of the pairs."""
    return Fingerprint(name, MARK, MARK, MARK, settings={"told": told, "scores_sha256": sha256, "pairs": pairs})


def told_origin(entry: object) -> str:
    """Where the scores of an evaluator are from, in one sentence without its full stop.
    ``entry``: what a manifest says of an evaluator, still unchecked.
    Returns an empty text for scores that were made by the run itself."""
    origin = entry.get("imported") if isinstance(entry, Mapping) else None
    if not isinstance(origin, Mapping):
        return ""
    file, digest, told, date = (str(origin.get(name, "")) for name in ("file", "sha256", "fingerprint", "date"))
    missing, without, pairs = (origin.get(name) for name in ("missing", "without_number", "pairs"))
    lacking = f"; of {pairs} pairs {missing} are not in the file and {without} have no number there"
    said = f"scores imported from {file} (sha256 {digest[:12]}…) on {date[:10]}, not made here"
    return f"{said}; fingerprint as told: {told}{lacking if missing or without else ''}"


def refuse(name: str) -> InvalidInput:
    """The error of asking imported scores for a new one."""
    return InvalidInput(
        f"{name} stands for scores that were imported; no model comes with them, so nothing new can be scored: choose "
        "another evaluator, or export the pairs and score them where the metric runs"
    )
