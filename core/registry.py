"""Finding plugins: one file in a room registers itself, nothing else is edited.

A decorator only *marks* an object; nothing global is mutated when a module is imported. A
:class:`Catalogue` is built by an explicit call that imports every module of the room, reads the
entry points of installed packages and collects the marked objects. A plugin that fails to import is
kept by name with its error, and the rest still load.
"""

import difflib
import importlib
import importlib.util
import pkgutil
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from importlib.metadata import entry_points
from pathlib import Path
from types import CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Generic, TypeVar

from core.errors import InvalidInput, UnknownName

T = TypeVar("T")
STRANGERS = (Exception, SystemExit)  # what others' code may raise: ``exit()`` may not end whoever asked it
PLUGIN = "invariscope_plugin_"  # begins the name of the module that a file by path becomes
_apart = False


def only_described() -> None:
    """From now on no file of code is imported in this process, as befits a server."""
    global _apart  # what a process is, a server or not, is decided once
    _apart = True


def is_apart() -> bool:
    """Whether this process imports no file of code."""
    return _apart


def names_code(reference: str) -> bool:
    """Whether a reference is of the form ``path/to/file.py:Name``, which runs code where it is followed."""
    return ".py:" in reference


def absolute_code(reference: str) -> str:
    """The same reference from any folder; any other one as it is."""
    file, colon, name = reference.rpartition(":")
    return f"{Path(file).expanduser().absolute()}:{name}" if colon and file.endswith(".py") else reference


@dataclass(frozen=True, slots=True)
class BrokenPlugin:
    """A plugin that could not be loaded, and why."""

    where: str
    error: str


@dataclass(frozen=True, slots=True)
class Catalogue(Generic[T]):
    """An immutable, ordered set of named plugins of one kind."""

    kind: str
    entries: Mapping[str, T]
    broken: tuple[BrokenPlugin, ...] = ()

    def __iter__(self) -> Iterator[T]:
        return iter(self.entries.values())

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, name: object) -> bool:
        return name in self.entries

    def names(self) -> tuple[str, ...]:
        """Every registered name, in the order of registration."""
        return tuple(self.entries)

    def get(self, name: str) -> T:
        """Return the plugin of that name. Raises UnknownName with the closest registered names."""
        if name in self.entries:
            return self.entries[name]
        close = difflib.get_close_matches(name, self.entries, n=3)
        hint = f"did you mean {', '.join(close)}?" if close else f"known: {', '.join(self.entries)}"
        raise UnknownName(f"no {self.kind} is named {name!r}; {hint}")


def discover(kind: str, *, package: str, group: str, accept: Callable[[object], list[tuple[str, T]]]) -> Catalogue[T]:
    """Collect every plugin of one kind.
    ``kind``: word for messages, e.g. ``evaluator``. ``package``: dotted name of the room whose modules are imported.
    ``group``: entry-point group for plugins installed by pip.
    ``accept``: maps a module's attribute to the (name, plugin) pairs it holds, or to nothing.
    Returns the catalogue, with the modules and entry points that failed listed in ``broken``.
    Raises InvalidInput if two different plugins claim one name."""
    found: dict[str, T] = {}
    broken: list[BrokenPlugin] = []

    def add(where: str, value: object) -> None:
        for name, plugin in accept(value):
            if found.setdefault(name, plugin) is not plugin:
                raise InvalidInput(f"two {kind}s are named {name!r}, the second in {where}; rename one")

    for info in pkgutil.iter_modules(importlib.import_module(package).__path__, prefix=f"{package}."):
        try:
            module = importlib.import_module(info.name)
        except STRANGERS as error:  # one broken file must not take the whole room down
            broken.append(BrokenPlugin(info.name, sentence(error)))
            continue
        for value in list(vars(module).values()):
            add(module.__name__, value)
    for point in entry_points(group=group):
        try:
            value = point.load()
        except STRANGERS as error:  # a stranger's plugin may raise anything; name it and go on
            broken.append(BrokenPlugin(f"{group}:{point.name}", sentence(error)))
            continue
        add(f"{group}:{point.name}", value)
    return Catalogue(kind, MappingProxyType(found), tuple(broken))


def load_object(reference: str, *, among: Callable[[object], bool] | None = None, kind: str = "") -> object:
    """Return the object that ``path/to/file.py:Name`` points to: one that a user gave, never a stored one.
    ``among``: what the file is read for; a message lists such objects alone. None: all that it defines.
    Raises InvalidInput if the reference has another shape, file or name are missing, or no code is imported here."""
    if is_apart():
        raise InvalidInput(f"{reference!r} is code, which a server does not run in itself; start it as a job")
    path_text, separator, name = reference.rpartition(":")
    path = Path(path_text)
    if not separator or path.suffix != ".py":
        raise InvalidInput(f"{reference!r} is not of the form path/to/file.py:Name")
    if not path.is_file():
        raise InvalidInput(f"no file {path} (from {reference!r}); give the path of an existing .py file")
    module_name = f"{PLUGIN}{path.stem}"
    spec = importlib.util.spec_from_file_location(module_name, path, loader=_AsWritten(module_name, str(path)))
    assert spec is not None  # a .py suffix always has a loader
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except STRANGERS as error:
        raise InvalidInput(f"{path} cannot be imported: {sentence(error)}{line_of(error, str(path))}") from error
    if not hasattr(module, name) or (among is not None and not among(getattr(module, name))):
        public = [each for each in vars(module) if not each.startswith("_")]
        found = ", ".join(each for each in public if among is None or _own(module, each, among))
        what = f"no {name!r} that is {kind}" if kind else f"no {name!r}"
        raise InvalidInput(f"{path} has {what}; it {'has' if kind else 'defines'} {found or 'none'}")
    return getattr(module, name)


class _AsWritten(SourceFileLoader):
    """Compiles the file as it stands: kept bytecode is told apart by whole seconds, and its author saves more often."""

    def get_code(self, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def _own(module: ModuleType, name: str, among: Callable[[object], bool]) -> bool:
    """Whether a file itself makes what it is read for under a name: what it imported is no choice."""
    value = getattr(module, name)
    imported = isinstance(value, type | FunctionType) and value.__module__ != module.__name__
    return among(value) and not imported


def sentence(error: BaseException) -> str:
    """What somebody else's code raised, in a few words."""
    if isinstance(error, SystemExit):
        return f"it ends the process that imports it (SystemExit: {error.code}); take the exit out of it"
    return f"{type(error).__name__}: {error}"


def line_of(error: BaseException, file: str) -> str:
    """Where in a file an error arose, as the end of a sentence: `` (line 7: return 1 / 0)``; empty where elsewhere."""
    frames = traceback.extract_tb(error.__traceback__)
    last = next((each for each in reversed(frames) if each.filename == file), None)
    if last is None or last.lineno is None:
        return ""
    return f" (line {last.lineno}{f': {last.line[:80]}' if last.line else ''})"
