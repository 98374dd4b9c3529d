"""Regions of an image as a bottom-up-attention detector found them, read from the files of UNITER's authors.

A folder of regions holds one ``.npz`` a picture, or LMDB folders as UMIC's authors ship them (``data.mdb`` with
entries in msgpack or npz). A picture is found by the hash of its pixels: as ``<sha256>.npz``, or through
``index.json`` (hash -> name of the entry), which ``python -m core regions index`` writes.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any, Protocol
from weakref import WeakValueDictionary

import numpy as np

from core.errors import InvalidInput

INDEX = "index.json"
DETECTOR_FILE = "detector.json"  # in a folder that ``regions extract`` wrote: the detector that found them all
MOST_BYTES = 64 << 20  # bytes that the entry of one picture may have; a hundred regions take less than 1 MB
_LAYOUTS = ("feat_th0.2_max100_min10", "feat_th0.2_max100_min10_compressed", "all", "all_compressed", "")


@dataclass(frozen=True, slots=True, eq=False)
class Regions:
    """What a detector found in a picture, the surest first."""

    features: np.ndarray  # float32 [n, d], d = 2048 for bottom-up attention
    boxes: np.ndarray  # float32 [n, 6]: x1, y1, x2, y2, width, height, each as a share of the picture's side
    confidence: np.ndarray  # float32 [n], in [0, 1]

    def __post_init__(self) -> None:
        n = len(self.features)
        if self.features.ndim != 2 or n == 0 or self.boxes.shape != (n, 6) or self.confidence.shape != (n,):
            raise InvalidInput(
                f"regions need features [n, d], boxes [n, 6] and confidence [n], got {self.features.shape}, "
                f"{self.boxes.shape} and {self.confidence.shape}"
            )
        if not (np.isfinite(self.features).all() and np.isfinite(self.boxes).all()):
            raise InvalidInput("regions hold a value that is no finite number; extract them again")

    def kept(self, *, confidence: float, least: int, most: int) -> "Regions":
        """The first regions: as many as are surer than ``confidence``, between ``least`` and ``most``."""
        count = int(np.clip((self.confidence > confidence).sum(), least, most))
        return Regions(self.features[:count], self.boxes[:count], self.confidence[:count])

    @property
    def positions(self) -> np.ndarray:
        """float32 [n, 7]: the boxes and their area."""
        return np.concatenate([self.boxes, self.boxes[:, 4:5] * self.boxes[:, 5:6]], axis=1)


class RegionDetector(Protocol):
    """What finds regions in pixels; one of the user's own is named by ``INVARISCOPE_UMIC_DETECTOR=file.py:Name``."""

    digest: str  # hash of its weights, for the fingerprint

    def regions(self, image: np.ndarray) -> Regions:
        """Find regions in uint8 RGB [H, W, 3]."""
        ...


class RegionFolder:
    """Regions on disk, by the hash of a picture's pixels. Raises InvalidInput if there is none, or a damaged index."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise InvalidInput(f"there is no folder of regions at {folder}; check the path")
        self.folder = folder
        path = folder / INDEX
        found = _json(path, "make it again with: python -m core regions")
        if not isinstance(found, dict) or not all(isinstance(name, str) for name in found.values()):
            raise InvalidInput(f"{path} must map hashes to names; make it again with: python -m core regions")
        self.index: dict[str, str] = found  # names of entries by the hash of their picture
        self._database = _database(folder)

    def find(self, pixels_sha256: str) -> Regions | None:
        """Return the regions of a picture, or None where the folder has none."""
        named = self.index.get(pixels_sha256)
        for name in (pixels_sha256, named) if named else (pixels_sha256,):
            stem = name.removesuffix(".npz")
            path = self.folder / f"{stem}.npz"
            if "/" not in stem and path.is_file():
                size = path.stat().st_size
                if size > MOST_BYTES:
                    raise InvalidInput(f"{path} has {size:,} bytes; regions take less than {MOST_BYTES:,}")
                content: Mapping[str, Any] | None = _npz(path.read_bytes(), path)
            else:
                content = self._database.read(f"{stem}.npz") if self._database else None
            if content is not None:
                return _regions(content, self.folder / name)
        return None

    @property
    def detector(self) -> str | None:
        """Digest of the detector that found all of these regions; None where the folder does not say."""
        found = _json(self.folder / DETECTOR_FILE, "extract the regions into another folder")
        digest = found.get("detector") if isinstance(found, dict) else None
        return digest if isinstance(digest, str) else None

    def names(self) -> tuple[str, ...]:
        """Names of all entries."""
        files = {path.name for path in self.folder.glob("*.npz")}
        return tuple(sorted(files | set(self._database.names() if self._database else ())))

    def digest(self) -> str:
        """Hash over names and sizes of what the folder holds: regions that are added or replaced change it."""
        files = sorted(path for path in self.folder.rglob("*") if path.is_file() and path.name != "lock.mdb")
        told = "\n".join(f"{path.relative_to(self.folder)} {path.stat().st_size}" for path in files)
        return hashlib.sha256(told.encode()).hexdigest()[:16]


def _json(path: Path, remedy: str) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} cannot be read ({error}); {remedy}") from error


class _Lmdb:
    """An LMDB folder as UNITER's authors write it, opened read-only; a process may open it once."""

    def __init__(self, folder: Path) -> None:
        import lmdb

        self.folder = folder
        try:
            self._file = lmdb.open(str(folder), readonly=True, create=False, lock=False, readahead=False)
        except lmdb.Error as error:
            raise InvalidInput(f"{folder} cannot be read as LMDB ({error}); fetch it again") from error

    def names(self) -> tuple[str, ...]:
        with self._file.begin() as reading:
            return tuple(key.decode("utf-8", "replace") for key, _ in reading.cursor() if key != b"__keys__")

    def read(self, name: str) -> Mapping[str, Any] | None:
        with self._file.begin() as reading:
            content = reading.get(name.encode())
        if content is None:
            return None
        where = self.folder / name
        if content[:2] == b"PK":
            return _npz(content, where)
        import msgpack

        try:
            found = msgpack.unpackb(content, raw=False, strict_map_key=False, object_hook=_array)
        except (ValueError, TypeError, msgpack.exceptions.UnpackException) as error:
            raise InvalidInput(f"{where} is no msgpack of plain arrays ({error}); fetch it again") from error
        if not isinstance(found, dict):
            raise InvalidInput(f"{where} holds a {type(found).__name__}, not named arrays; fetch it again")
        return found


_OPEN: WeakValueDictionary[tuple[int, int], _Lmdb] = WeakValueDictionary()
_OPENING = Lock()


def _database(folder: Path) -> _Lmdb | None:
    found = next((folder / name for name in _LAYOUTS if (folder / name / "data.mdb").is_file()), None)
    if found is None:
        return None
    facts = (found / "data.mdb").stat()
    with _OPENING:
        opened = _OPEN.get((facts.st_dev, facts.st_ino)) or _Lmdb(found)
        return _OPEN.setdefault((facts.st_dev, facts.st_ino), opened)


def _npz(content: bytes, path: Path) -> Mapping[str, Any]:
    try:
        with np.load(BytesIO(content), allow_pickle=False) as found:
            return {name: found[name] for name in found.files if name in ("features", "norm_bb", "conf")}
    except (ValueError, OSError, EOFError, KeyError) as error:
        raise InvalidInput(f"{path} is no npz of plain arrays ({error}); extract its regions again") from error


def _array(found: dict[Any, Any]) -> Any:
    """Undo msgpack_numpy for plain numbers; its object arrays are pickles and are refused."""
    told = {key.decode() if isinstance(key, bytes) else key: value for key, value in found.items()}
    if not told.get("nd"):
        return found
    kind = np.dtype(told["type"])
    if kind.kind not in "fiu":
        raise ValueError(f"arrays of type {kind} are not numbers")
    return np.frombuffer(told["data"], dtype=kind).reshape(told["shape"])


def _regions(content: Mapping[str, Any], path: Path) -> Regions:
    missing = [name for name in ("features", "norm_bb") if not isinstance(content.get(name), np.ndarray)]
    if missing:
        raise InvalidInput(f"{path} has no array {missing[0]!r}; extract its regions again")
    features = content["features"].astype(np.float32)
    confidence = content.get("conf")
    sure = np.ones(len(features)) if confidence is None else np.asarray(confidence).reshape(len(features), -1).max(1)
    try:
        return Regions(features, content["norm_bb"][:, :6].astype(np.float32), sure.astype(np.float32))
    except (InvalidInput, IndexError) as error:
        raise InvalidInput(f"{path}: {error}") from error
