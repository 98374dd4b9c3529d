"""Whether a picture holds text already: a detector and a recogniser of text, which come inside a package.

The two models are ONNX files of PaddleOCR (PP-OCRv6, small). They are taken from the package's own folder and only
where their bytes are the ones that were pinned, so that nothing is fetched.
Source: RapidOCR 3.10, https://github.com/RapidAI/RapidOCR; Cui et al. (2025), PaddleOCR 3.0 technical report.
"""

import hashlib
import importlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any, NamedTuple

import cv2
import numpy as np

from core.corpora.images import pixel_hash
from core.errors import NotAvailable

NAME = "rapidocr"

PINNED: Mapping[str, str] = MappingProxyType({"rapidocr": "3.10.0", "onnxruntime": "1.32.0"})
"""Distribution -> the version that the extra installs: another one reads otherwise."""

MODELS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "Det": ("PP-OCRv6_det_small.onnx", "090f04abcd9d9a7498bc4ebf677e4cb9bdce1fe4197ddb7e529f1ef44e1ff94f"),
        "Rec": ("PP-OCRv6_rec_small.onnx", "6f327246b50388f3c176ae304bd95767ea6dc0c9ae92153ef8cbe210b3c14884"),
    }
)
"""Step of the reader -> the file of its model in the package, and its sha256."""

INSTALL = "python -m pip install --no-deps --require-hashes -r requirements-reader.txt"

WRITTEN_IN = "typographic"
"""Family of the edits that write a word into the picture, whose variants say what it held before."""

HELD = "text_already"
"""Fact of such a variant: whether the photograph held legible text, HOLDS or HOLDS_NONE; absent where nobody asked."""

HOLDS, HOLDS_NONE = "some", "none"

SAID = "text_read"
"""Fact of such a variant: the line of that text that was read most surely, at most MOST_SAID signs of it."""

MOST_SAID = 60

CONFIDENCE = 0.8  # least confidence of the recogniser, in [0, 1], in a line that counts as text
LEAST_SIGNS = 2  # letters and digits that such a line has at least: a single one is as often the edge of something
LONGEST = 2000  # longest side in pixels at which a picture is read; a larger one is shrunk

NARROWEST = 4
"""A picture longer than so many times its width is padded to that: the detector enlarges by the shorter side."""

_MOST = 4096
_FORMS = {"Global.log_level": "error", "Global.use_cls": False}
_THREADS = {f"EngineConfig.onnxruntime.{each}_op_num_threads": 1 for each in ("intra", "inter")}


class Line(NamedTuple):
    """A line of text in a picture, with the recogniser's confidence in [0, 1]."""

    text: str
    confidence: float


class TextReader:
    """Reads the text in pictures; safe to share between threads, which take turns.
    Raises NotAvailable where the package is not here, is another version than the pinned one, or has other models."""

    def __init__(self) -> None:
        if reason := lacking():
            raise NotAvailable(reason)
        package: Any = importlib.import_module(NAME)
        paths = {
            step: _checked(Path(package.__file__).parent / "models" / name, known)
            for step, (name, known) in MODELS.items()
        }
        taken = {f"{step}.model_path": str(path) for step, path in paths.items()}
        self._engine: Any = package.RapidOCR(params={**_FORMS, **_THREADS, **taken})
        self._alone = Lock()
        self._kept: OrderedDict[str, tuple[Line, ...]] = OrderedDict()

    def lines(self, pixels: np.ndarray) -> tuple[Line, ...]:
        """Every line that is found, of any confidence; the same picture is read once.
        ``pixels``: uint8 RGB [H, W, 3]."""
        key = pixel_hash(pixels)
        with self._alone:
            if key not in self._kept:
                found = self._engine(np.ascontiguousarray(_framed(pixels)[:, :, ::-1]))  # it takes BGR, as OpenCV does
                read = zip(found.txts or (), found.scores or (), strict=True)
                self._kept[key] = tuple(Line(str(text), float(score)) for text, score in read)
                while len(self._kept) > _MOST:
                    self._kept.popitem(last=False)
            return self._kept[key]

    def facts(self, pixels: np.ndarray) -> dict[str, str]:
        """HELD and, where it holds some, SAID of a picture, uint8 RGB [H, W, 3]."""
        found = legible(self.lines(pixels))
        if not found:
            return {HELD: HOLDS_NONE}
        return {HELD: HOLDS, SAID: max(found, key=lambda line: line.confidence).text[:MOST_SAID]}


@cache
def text_reader() -> TextReader:
    """The reader of this process, loaded once. Raises NotAvailable, see :class:`TextReader`."""
    return TextReader()


def legible(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The lines that count as text: CONFIDENCE or more in LEAST_SIGNS letters and digits or more.

    >>> legible([Line("STOP", 0.99), Line("O", 0.99), Line("asiink", 0.51)])
    (Line(text='STOP', confidence=0.99),)
    """
    return tuple(
        line for line in lines if line.confidence >= CONFIDENCE and sum(map(str.isalnum, line.text)) >= LEAST_SIGNS
    )


def describe() -> dict[str, str]:
    """Versions of the packages, digests of the models and the thresholds: what a fact about text depends on."""
    models = dict(MODELS.values())
    return {"name": NAME, **PINNED, **models, "confidence": f"{CONFIDENCE:g}", "least_signs": str(LEAST_SIGNS)}


def lacking() -> str:
    """Why no text can be read here, with what to do; empty where the packages are as pinned. Loads no model."""
    for name, wanted in PINNED.items():
        try:
            found = version(name)
        except PackageNotFoundError:
            return (
                f"reading text in pictures needs the optional extra invariscope[reader] ({name} is not installed): "
                f"{INSTALL}"
            )
        if found != wanted:
            return f"text in pictures is read by {name} {wanted}, and {found} is here: {INSTALL}"
    return ""


def _checked(path: Path, known: str) -> Path:
    """The path of a model whose bytes are the pinned ones."""
    found = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
    if found != known:
        told = f"has the digest {found[:16]}… and not {known[:16]}…" if found else "is not there"
        raise NotAvailable(
            f"{path.name} of the package {NAME} {told}; install it again with: {INSTALL} --force-reinstall"
        )
    return path


def _framed(pixels: np.ndarray) -> np.ndarray:
    """The picture no longer than LONGEST, and padded with black where it is a narrow strip; uint8 [H, W, 3]."""
    height, width = pixels.shape[:2]
    scale = LONGEST / max(height, width)
    if scale < 1:
        size = max(1, round(width * scale)), max(1, round(height * scale))
        pixels = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
        height, width = pixels.shape[:2]
    least = -(-max(height, width) // NARROWEST)
    down, right = max(0, least - height), max(0, least - width)
    return np.pad(pixels, ((0, down), (0, right), (0, 0))) if down or right else pixels
