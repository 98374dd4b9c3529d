"""A JSON file that another version may have written, read against what it must hold."""

from pathlib import Path
from typing import TypeVar, get_args

from pydantic import BaseModel, ValidationError

from core.corpora.corpus_files import parse_json, read_text
from core.errors import InvalidInput

Held = TypeVar("Held", bound=BaseModel)


def read_versioned(path: Path, model: type[Held], *, called: str, anew: str) -> Held:
    """Read a file whose ``format`` is the newest that ``model`` knows.

    Args:
        path: of the file.
        model: what it must hold; its field ``format`` is a ``Literal`` of whole numbers.
        called: what the file is, e.g. ``a baseline of check --save-baseline``.
        anew: what to do where it is none, e.g. ``save it anew``.

    Raises:
        InvalidInput: if it is cut off, of a newer version, or holds something else; one sentence.
    """
    held = parse_json(read_text(path), where=str(path))
    told, newest = (
        held.get("format") if isinstance(held, dict) else None,
        max(get_args(model.model_fields["format"].annotation)),
    )
    if isinstance(told, int) and told > newest:
        raise InvalidInput(
            f"{path} is {called}, of format {told}, and this version reads up to {newest}; update Invariscope, or "
            f"{anew}"
        )
    try:
        return model.model_validate(held)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))[:80] or "the file"
        raise InvalidInput(f"{path} is not {called}: {where}: {first['msg'][:120]}; {anew}") from error
