"""Loading an evaluator on a device that may have no memory left for it."""

import logging
from collections.abc import Callable

from core.errors import InvalidInput, NotAvailable
from core.evaluators.base import Evaluator
from core.evaluators.memory import give_back, out_of_memory
from core.settings import pool_budget_mb

_log = logging.getLogger("invariscope.evaluators")


def check_available(kind: type[Evaluator]) -> None:
    """Raise NotAvailable, with the command that gets what is missing, where an evaluator cannot be loaded here."""
    availability = kind.availability()
    if not availability.ready:
        raise NotAvailable(
            f"evaluator {kind.spec.name!r} is not available: {availability.reason}; get it with: {availability.command}"
        )


def load(kind: type[Evaluator], device: str, *, make_room: Callable[[], bool]) -> tuple[Evaluator, str, str]:
    """Load on a device; where that has no memory left, on the CPU, said aloud.

    Args:
        make_room: unloads what nobody uses; returns whether there was anything.

    Returns:
        The evaluator, the device that it was loaded on, and a sentence where that is another one.

    Raises:
        NotAvailable: if its weights are not here, or nothing has the memory for them.
        InvalidInput: if its code ends the process.
    """
    check_available(kind)
    name = kind.spec.name
    found = _attempt(kind, device)
    if found is None and make_room():
        found = _attempt(kind, device)
    if found is not None:
        return found, device, ""
    note = "" if device.startswith("cpu") else _leave_card(kind, device)
    found = _attempt(kind, "cpu") if note else None
    if found is None:
        raise NotAvailable(f"evaluator {name!r}: no memory left to load it, even on the CPU; free some and ask again")
    return found, "cpu", note


def _attempt(kind: type[Evaluator], device: str) -> Evaluator | None:
    """Load; None where memory ran out. Its error ends here: it would keep what the load had made."""
    try:
        return kind.load(device=device)
    except SystemExit as error:
        said = f"evaluator {kind.spec.name!r} ends the process that loads it (SystemExit: {error.code})"
        raise InvalidInput(f"{said}; take the exit out of its load") from error
    except Exception as error:
        if not out_of_memory(error):
            raise
    give_back()
    return None


def _leave_card(kind: type[Evaluator], device: str) -> str:
    """Say that it will be the CPU; refuse what the machine has no memory for."""
    name, needed, most = kind.spec.name, kind.needs_mb("cpu"), pool_budget_mb()
    if needed > most:
        raise NotAvailable(
            f"evaluator {name!r}: {device} has no memory left for it, and the CPU would need {needed:.0f} MB of at "
            f"most {most:.0f} MB; free the card or take a smaller evaluator"
        )
    note = f"{name}: {device} has no memory left to load it; going on on the CPU"
    _log.warning("%s", note)
    return f"{note}."
