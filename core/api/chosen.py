"""What a caller in Python names: a corpus by name, folder or as it is, evaluators by name, file or as classes."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import InvalidInput, UnknownName

if TYPE_CHECKING:  # importing this must stay quick
    from core.corpora.schema import Corpus
    from core.evaluators.base import Evaluator

FOLDER = "folder"
"""Name of the corpus that any folder of pictures is."""


def corpus_of(
    given: "str | Path | Corpus", *, root: Path | str | None = None, options: Mapping[str, Any] | None = None
) -> "Corpus":
    """The corpus that somebody names.

    Args:
        given: a registered name, ``path/to/file.py:Name`` of a loader, else the path of a folder of pictures with what
            lies beside them; a Path is always a folder; a corpus is taken as it is.
        root: folder of a corpus that is named.
        options: of its loader.

    Raises:
        UnknownName: if it is neither a name nor a folder.
        InvalidInput: if a folder or an option is one too many, or cannot be used.
        BadCorpus: if the folder does not have the shape that its loader reads.
    """
    from core.corpora.registry import catalogue, find
    from core.corpora.schema import Corpus
    from core.registry import names_code

    said = dict(options or {})
    if isinstance(given, Corpus):
        if root is not None or said:
            raise InvalidInput(f"corpus {given.name!r} is given as it is; leave root and options out")
        return given
    if isinstance(given, str) and (given in catalogue() or names_code(given)):
        return find(given).load(None if root is None else Path(root), **said)
    if not isinstance(given, str | Path):
        raise InvalidInput(f"a corpus is a name, the path of a folder or a Corpus, got {_kind(given)}")
    if not Path(given).is_dir():
        names = ", ".join(catalogue().names())
        raise UnknownName(f"no corpus and no folder is named {str(given)!r}; corpora: {names}")
    if root is not None:
        raise InvalidInput(f"{given} is a folder itself; leave root={str(root)!r} out")
    return catalogue().get(FOLDER).load(Path(given), **said)


def references_of(given: "str | type[Evaluator] | Iterable[str | type[Evaluator]]") -> tuple[str, ...]:
    """Evaluators as an audit names them.

    Args:
        given: what :func:`core.evaluators.registry.find` takes, or classes; a class that no package offers is known
            by its name in this process from now on. One alone needs no list.

    Raises:
        InvalidInput: for anything else, or a class whose name another evaluator has.
    """
    several = [given] if isinstance(given, str | type) or not isinstance(given, Iterable) else given
    return tuple(_reference(each) for each in several)


def listed(given: str | Iterable[str]) -> tuple[str, ...]:
    """Names in their order; one alone needs no list."""
    return (given,) if isinstance(given, str) else tuple(given)


def _reference(given: object) -> str:
    from core.evaluators.base import Evaluator
    from core.evaluators.functions import is_metric
    from core.evaluators.registry import offer

    if isinstance(given, str):
        return given
    if isinstance(given, Evaluator):
        name = type(given).__name__
        raise InvalidInput(f"an audit loads its evaluators itself, on its device; give the class {name}, not {name}()")
    if isinstance(given, type) or is_metric(given):
        return offer(given)
    raise InvalidInput(f"an evaluator is a name, path/to/file.py:Name, a class or a function, got {_kind(given)}")


def _kind(given: object) -> str:
    return f"{type(given).__name__} {str(given)[:80]!r}"
