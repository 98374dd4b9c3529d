"""Where the weights of a published evaluator lie on this machine, and whether they are the known ones."""

import hashlib
import json
import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

from core import settings
from core.errors import InvalidInput, NotAvailable
from core.evaluators.base import BATCH_SIZE, Availability, Evaluator, Footprint
from core.evaluators.imported import MARK
from core.evaluators.memory import Runner, weights_mb
from core.evaluators.weights.catalogue import Description, Weights, weights
from core.file_contents import known_sha256
from core.writing import write_bytes

KEPT = "kept.json"  # in the folder of weights: the paths that the user named
INDEX = "model.safetensors.index.json"  # in the folder of a large model: which of its numbered parts holds which tensor
OLD_INDEX = "pytorch_model.bin.index.json"
FETCHED = ("hub", "https")  # kinds of weights that need no person to fetch them
_MADE: dict[str, Weights] = {}
_LABEL = re.compile(r"^[\w.+-]+$")


@dataclass(frozen=True, slots=True)
class Place:
    """A set of weights and where it lies here."""

    weights: Weights
    path: Path  # the file of a set of one file, the folder of any other; it may not exist
    own: bool = False  # whether the user named the path; then it need not be the publisher's file

    @property
    def missing(self) -> tuple[str, ...]:
        """Names of the files that are not there."""
        if self.path.is_file():
            return ()
        if len(self.weights.files) == 1 and not self.path.is_dir():
            return (self.weights.files[0].name,)
        kinds = ("pytorch_model.bin", OLD_INDEX, "model.safetensors", INDEX)  # the later ones stand in for the earlier
        lacking = []
        for path in (self.path / each.name for each in self.weights.files if not each.optional):
            twins = [path.with_name(kind) for kind in kinds if path.name in kinds]
            if not any(each.is_file() for each in (path, *twins)):
                lacking.append(path.relative_to(self.path).as_posix())
        return (*lacking, *(name for name in numbered_parts(self.path) if not (self.path / name).is_file()))

    def files(self) -> tuple[Path, ...]:
        """Every file that is loaded, in the catalogue's order; for a folder of the user's own, all that it holds.
        Raises NotAvailable if one is missing."""
        if self.missing:
            raise NotAvailable(f"{self.weights.title}: no {', '.join(self.missing)} at {self.path}")
        if self.path.is_file():
            return (self.path,)
        inside = (each for each in self.path.rglob("*") if each.is_file())  # the hub's client has a hidden folder
        return tuple(
            sorted(e for e in inside if not any(part.startswith(".") for part in e.relative_to(self.path).parts))
        )

    def digest(self) -> str:
        """sha256 of the file, or over names and hashes of the folder's files, after checking what is published.
        Raises NotAvailable if a file is missing, or is not the one that the publisher describes."""
        files = self.files()
        hashes = {path: known_sha256(path) for path in files}
        for path, found in hashes.items():
            name = path.relative_to(self.path).as_posix()
            # the user's copy of a single file may have another name
            meant = (each.sha256 for each in self.weights.files if len(self.weights.files) == 1 or each.name == name)
            published = next(meant, None)
            if published and found != published and not self.own:
                raise NotAvailable(
                    f"{path} has sha256 {found[:16]}…, published {published[:16]}…: it is damaged or another file; "
                    f"delete it and fetch it again"
                )
        if len(files) == 1:
            return hashes[files[0]]
        told = "\n".join(f"{path.relative_to(self.path)} {value}" for path, value in hashes.items())
        return hashlib.sha256(told.encode()).hexdigest()


def places(entry: Description, at: Path | None = None) -> tuple[Place, ...]:
    """Where each set of weights of an evaluator lies.
    ``at``: the user's own file or folder: the first set. A folder may hold the further sets too, each in a folder (or,
    for a set of one file, a file) of the catalogue's name for it; what it lacks is looked for in the usual place."""
    found = []
    for rank, known in enumerate(sets(entry)):
        place = Place(known, kept().get(known.id, usual(known)))
        if at is not None:
            own = within(known, at)
            inside = at / known.id  # incomplete, but there: what it lacks is what the reader wants to hear
            chosen = inside if inside.exists() else at if rank == 0 else None
            place = own or (Place(known, chosen, own=True) if chosen else place)
        found.append(place)
    return tuple(found)


def optional_within(known: Weights, path: Path) -> Place | None:
    """Find a set that an evaluator can do without at a path of the user's own; a file counts by its name alone."""
    if path.is_file():
        named = any(path.name == each.name for each in known.files if not each.optional)
        return Place(known, path if len(known.files) == 1 else path.parent, own=True) if named else None
    return within(known, path)


def sets(entry: Description) -> tuple[Weights, ...]:
    """The sets of weights of an evaluator."""
    return tuple(_MADE.get(identifier) or weights(identifier) for identifier in entry.weights)


def optional_sets(entry: Description) -> tuple[Weights, ...]:
    """The sets of weights that an evaluator can do without."""
    return tuple(weights(identifier) for identifier in entry.optional_weights)


def within(known: Weights, path: Path) -> Place | None:
    """Find a set of weights at a path of the user's own: the path itself, or in the folder that it is."""
    single = len(known.files) == 1
    tried = (path / known.id, path / known.files[0].name) if single else (path / known.id, path)
    every = [Place(known, each, own=True) for each in ((path, *tried) if path.is_file() and single else tried)]
    return next((each for each in every if not each.missing), None)


def register(known: Weights) -> None:
    """Make a set of weights known that stands in no file of the catalogue, because a name was given on demand."""
    _MADE[known.id] = known


def usual(known: Weights) -> Path:
    """Where ``python -m core evaluators get`` puts a set of weights."""
    folder = settings.weights_dir() / known.id
    return folder / known.files[0].name if len(known.files) == 1 else folder


def numbered_parts(folder: Path) -> tuple[str, ...]:
    """Files that the index of weights in several parts names; empty where the folder has no index.
    Raises NotAvailable if the index is damaged, or names anything but files of its folder."""
    path = next((folder / name for name in (INDEX, OLD_INDEX) if (folder / name).is_file()), None)
    if path is None:
        return ()
    try:
        names = sorted(set(json.loads(path.read_text(encoding="utf-8"))["weight_map"].values()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotAvailable(f"{path} is no index of weights ({error!r}); delete it and fetch it again") from error
    if not all(isinstance(name, str) and _LABEL.match(name) for name in names):
        raise NotAvailable(f"{path} names files outside its folder and is not used; fetch it again")
    return tuple(names)


def kept() -> dict[str, Path]:
    """Paths of the user's own: of a set of weights by its id, of a further checkpoint by ``name@label``.
    Raises InvalidInput if the file that lists them is damaged."""
    path = settings.weights_dir() / KEPT
    if not path.is_file():
        return {}
    return dict(_read_kept(path, path.stat().st_mtime_ns))


def keep(name: str, path: Path) -> None:
    """Remember a path of the user's own, under the id of a set of weights or ``name@label``."""
    every = {**{key: str(value) for key, value in kept().items()}, name: str(path.absolute())}
    write_bytes(settings.weights_dir() / KEPT, f"{json.dumps(every, indent=2, sort_keys=True)}\n".encode())


def checked_label(label: str) -> str:
    """Return a label that may stand behind an ``@``.
    Raises InvalidInput for one that holds anything but letters, digits and ``. _ + -``, or marks imported scores."""
    if label == MARK:
        raise InvalidInput(f"the label {MARK!r} marks imported scores; choose another")
    if not _LABEL.match(label):
        raise InvalidInput(f"a label holds letters, digits and . _ + - only, got {label!r}")
    return label


@cache
def _read_kept(path: Path, _modified_ns: int) -> dict[str, Path]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InvalidInput(f"{path} is not JSON ({error}); correct or delete it") from error
    if not isinstance(content, dict) or not all(isinstance(value, str) for value in content.values()):
        raise InvalidInput(f"{path} must map names to paths; correct or delete it")
    return {name: Path(value) for name, value in content.items()}


class Published(Evaluator):
    """An evaluator of the catalogue; mark subclasses with ``@described(name)``. ``name@path`` makes a subclass whose
    ``at`` is the path of the user's own checkpoint."""

    entry: ClassVar[Description]
    at: ClassVar[Path | None] = None
    any_precision: ClassVar[bool] = False  # whether its networks run in any precision that its description is given

    @classmethod
    def availability(cls) -> Availability:
        missing = [place for place in cls.places() if place.missing]
        for place in sorted(missing, key=lambda place: place.weights.kind in FETCHED):  # first what no command fetches
            known, get = place.weights, f"python -m core evaluators get {cls.entry.name}"
            lacking = ", ".join(place.missing[:2]) + (" …" if len(place.missing) > 2 else "")
            if place.own:
                return Availability(False, f"no {lacking} at {place.path}", f"{get} --weights PATH")
            if known.kind == "made":
                get = known.command or ""
            elif known.kind not in FETCHED:
                get += " --weights PATH"
            return Availability(False, f"{known.title} is not here ({lacking})", get)
        return Availability(True)

    @classmethod
    def needs_mb(cls, device: str) -> float:
        return cls.entry.memory_mb(device)

    @abstractmethod
    def runners(self) -> Sequence[Runner]:
        """The networks that are loaded."""

    def footprint(self) -> Footprint:
        runners = list(dict.fromkeys(self.runners()))
        devices = list(dict.fromkeys(runner.device for runner in runners))
        notes = dict.fromkeys(runner.note for runner in runners if runner.note)
        return Footprint(weights_mb(runner.network for runner in runners), "+".join(devices), " ".join(notes))

    @property
    def full_batch(self) -> int:
        """What fills the card that its networks lie on; on a CPU, and for smaller batches, the usual one."""
        return max(BATCH_SIZE, *(runner.full_batch for runner in self.runners()))

    @classmethod
    def places(cls) -> tuple[Place, ...]:
        """Where each set of weights lies, in the order of the description."""
        return places(cls.entry, cls.at)

    @classmethod
    def optional_places(cls) -> tuple[Place, ...]:
        """Where each set of weights lies that it can do without; the files may be missing. What a folder of the user's
        own lacks is looked for in the usual place."""
        found = []
        for known in optional_sets(cls.entry):
            own = None if cls.at is None else optional_within(known, cls.at)
            found.append(own or Place(known, kept().get(known.id, usual(known))))
        return tuple(found)

    @classmethod
    def try_optional(cls, place: Place) -> None:
        """Load a set of weights that it can do without, by itself, to see that it can be used.
        Raises NotAvailable if a file is missing, damaged, or of another network."""
        place.digest()
