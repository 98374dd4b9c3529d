"""A JSON file that another version, or a stranger, may have written, read against what it must hold."""

from pathlib import Path
from typing import TypeVar, get_args

from pydantic import BaseModel, ValidationError

from core.corpora.corpus_files import parse_json, read_text
from core.errors import InvalidInput

Held = TypeVar("Held", bound=BaseModel)


def read_versioned(path: Path, model: type[Held], *, called: str, anew: str) -> Held:
    """Read a file whose ``format`` is the newest that ``model`` knows.
    ``model``: what it must hold; its field ``format`` is a ``Literal`` of whole numbers.
    ``called``: what the file is, e.g. ``a baseline of check --save-baseline``.
    ``anew``: what to do where it is none, e.g. ``save it anew``.
    Raises InvalidInput if it is cut off, of a newer version, or holds something else; one sentence."""
    held = parse_json(read_text(path), where=str(path))
    told = held.get("format") if isinstance(held, dict) else None
    newest = max(get_args(model.model_fields["format"].annotation))
    if isinstance(told, int) and told > newest:
        reads = f"this version reads up to {newest}; update Invariscope, or {anew}"
        raise InvalidInput(f"{path} is {called}, of format {told}, and {reads}")
    try:
        return model.model_validate(held)
    except ValidationError as error:
        raise InvalidInput(f"{path} is not {called}: {first_wrong(error)}; {anew}") from error


def read_small(path: Path, model: type[Held], *, most: int, called: str, anew: str) -> Held:
    """Read a file of at most ``most`` bytes; the rest as of :func:`read_versioned`.
    Raises InvalidInput if it cannot be read, is too large, or holds something else; the sentence says where."""
    try:
        if path.stat().st_size > most:
            raise InvalidInput(f"{path} is larger than {most >> 20} MB and not {called}; {anew}")
        return model.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}; {anew}") from error
    except ValidationError as error:
        raise InvalidInput(f"{path} is not {called}: {first_wrong(error)}; {anew}") from error


def first_wrong(error: ValidationError) -> str:
    """Where a model first does not hold, and what is wrong there."""
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))[:80] or 'the file'}: {first['msg'][:120]}"
