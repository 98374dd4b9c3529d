"""Corpora by name: ``@corpus_loader(...)`` marks a function, :func:`catalogue` finds it.

The option of every corpus that asks whether its photographs hold text already.

What reads is known to the right of this room, by :mod:`core.probes.pixels.text_reader`; here it is only asked for.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from core import settings
from core.corpora.ordinary_paths import ordinary
from core.corpora.schema import Corpus, Origin
from core.errors import InvalidInput, NotAvailable
from core.registry import Catalogue, absolute_code, discover, load_object, names_code

NONE, READ = "none", "read"

TEXT = "text"  # name of the option

OPTION = {TEXT: "whether edits that write a word first read what the photograph says already: none (default) or read"}
"""Option of a loader -> what it means."""


@dataclass(frozen=True, slots=True)
class CorpusLoader:
    """How one kind of corpus is read."""

    name: str
    summary: str
    load_function: Callable[..., Corpus]
    needs_root: bool  # whether the user must point to a folder
    options: dict[str, str]  # keyword options of the function that loads beside ``root``, name -> what it means
    reference: str = ""  # ``path/to/file.py:Name`` of one that a user brings; empty where it is registered

    @property
    def takes(self) -> dict[str, str]:
        """Every option, name -> what it means: those of its own, and those of every corpus behind them."""
        return {**self.options, **{name: said for name, said in OPTION.items() if name not in self.options}}

    def load(self, root: Path | None = None, **options: Any) -> Corpus:
        """Read the corpus. Raises InvalidInput if the folder is missing or an option is unknown; BadCorpus if the
        folder does not have the shape that the loader reads."""
        if self.needs_root and root is None:
            raise InvalidInput(f"corpus {self.name!r} needs a folder: give --root path/to/{self.name}")
        if root is not None and not ordinary(Path(root)).is_dir():
            raise InvalidInput(f"no folder {root} for corpus {self.name!r}; give the path of an existing folder")
        unknown = sorted(set(options) - set(self.takes))
        if unknown:
            raise InvalidInput(f"corpus {self.name!r} has no option {unknown[0]!r}; it has {sorted(self.takes)}")
        folder = Path(root) if root is not None else None
        own = {name: value for name, value in options.items() if name in self.options}
        text = NONE if TEXT in own else options.get(TEXT, NONE)
        origin = Origin(self.reference or self.name, folder, options)
        corpus = replace(self.load_function(folder, **own), origin=origin)
        if text not in (NONE, READ):
            raise InvalidInput(f"{TEXT} must be {NONE} or {READ}, got {text!r}")
        if text == NONE:
            return corpus
        # every picture that is no video is marked as one to be read; none is opened
        return replace(corpus, items=tuple(replace(item, read_text=not item.frames) for item in corpus.items))


def corpus_loader(
    *, name: str, summary: str, needs_root: bool = True, options: dict[str, str] | None = None
) -> Callable[[Callable[..., Corpus]], CorpusLoader]:
    """Mark ``def load(root: Path | None, **options) -> Corpus`` as the loader of a corpus."""
    return lambda function: CorpusLoader(name, summary, function, needs_root, dict(options or {}))


@cache
def catalogue() -> Catalogue[CorpusLoader]:
    """Every corpus loader of this machine."""
    return discover(
        "corpus",
        package="core.corpora",
        group="invariscope.corpora",
        accept=lambda value: [(value.name, value)] if isinstance(value, CorpusLoader) else [],
    )


_BROUGHT: dict[str, CorpusLoader] = {}
"""Loaders of files that this process was told to use; what only a stored run names is never followed."""


def find(reference: str) -> CorpusLoader:
    """Return the loader that a user names: registered, or ``path/to/file.py:Name``. Raises UnknownName if none is
    registered under that name; InvalidInput if the file, or what it has, is no loader of a corpus."""
    if not names_code(reference):
        return catalogue().get(reference)
    ordinary(Path(reference.rpartition(":")[0]))
    kind = "a function marked with @corpus_loader(...)"
    found = load_object(reference, among=lambda value: isinstance(value, CorpusLoader), kind=kind)
    assert isinstance(found, CorpusLoader)
    path = absolute_code(reference)
    return _BROUGHT.setdefault(path, replace(found, reference=path))


def load_again(origin: Origin) -> Corpus:
    """Read a corpus as it was read before. Raises InvariscopeError if it cannot be read here, or not so any more."""
    loader = _BROUGHT.get(origin.loader) or catalogue().get(origin.loader)
    return loader.load(origin.root, **origin.options)


def origin_of(told: Mapping[str, Any]) -> Origin | None:
    """What read the corpus of a run, as its manifest tells of the corpus; None where it does not say, as older ones. A
    run of before options were kept has its corpus' name for the loader, and its folder alone."""
    loader, folder, options = told.get("loader"), told.get("folder"), told.get("options")
    if not isinstance(loader, str) or not isinstance(options, dict):
        loader, folder, options = told.get("name"), told.get("root"), {}
    if not isinstance(loader, str) or not isinstance(folder, str) or "\0" in folder:
        return None
    return Origin(loader, settings.ROOT / folder, {str(name): str(value) for name, value in options.items()})


def origin_here(name: str, told: Mapping[str, Any]) -> Origin:
    """Say what reads a corpus of a run here: its folder is ``data/corpora/<name>``, else where the run read it.
    ``told``: what the run's manifest tells of it: ``loader``, ``folder`` and ``options``, or ``root`` alone.
    Raises NotAvailable if its loader is not here, or it needs a folder and none is."""
    origin = origin_of({"name": name, **told}) or Origin(name)
    known = (*catalogue(), *_BROUGHT.values())
    loader = next((each for each in known if origin.loader in (each.name, each.reference)), None)
    if loader is not None and not loader.needs_root:
        return replace(origin, root=None)
    places = [settings.data_dir() / "corpora" / name, *([origin.root] if origin.root else [])]
    for place in places:
        if loader is not None and place.is_dir():
            return replace(origin, root=place)
    raise NotAvailable(f"the pictures of corpus {name} are missing; put its folder at {places[0]}")
