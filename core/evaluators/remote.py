"""An evaluator of a file that is described, and loaded, in its own process: here stands what asks that process.

A server never runs somebody's file in itself. What a plan asks of an evaluator before anything is scored (its spec, its
kind, whether it is ready) comes back as data; a stand-in class carries it. An audit is a job, which is another process
anyway; what is scored at once, as in the Probe lab, is asked of a process that ends with the evaluator, and with this
one. Arrays go between the two as JSON, shapes and types, and as bytes, the numbers; nothing is unpickled.
"""

import hashlib
import importlib
import json
import math
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import asdict, fields
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

import numpy as np

from core.corpora.decoding_apart import AskedProcess
from core.corpora.schema import Box, Mask
from core.errors import InvalidInput, InvariscopeError, NotAvailable, ScoringStopped
from core.evaluators.base import Availability, Evaluator, EvaluatorSpec, Fingerprint, Footprint, PartlyScored, Sight
from core.registry import PLUGIN

if TYPE_CHECKING:
    from torch import Tensor

_TYPES = ("uint8", "bool", "int64", "float32", "float64")


def pack(arrays: Sequence[np.ndarray]) -> tuple[list[dict[str, Any]], bytes]:
    """Type and shape of every array, and their bytes one after the other.
    Raises InvalidInput for an array of another type than uint8, bool, int64, float32 and float64."""
    told = [{"type": str(each.dtype), "shape": list(each.shape)} for each in arrays]
    if strange := [each["type"] for each in told if each["type"] not in _TYPES]:
        raise InvalidInput(f"arrays are of {', '.join(_TYPES)}, got {strange[0]}")
    return told, b"".join(np.ascontiguousarray(each).tobytes() for each in arrays)


def unpack(told: Sequence[dict[str, Any]], data: bytes | bytearray) -> list[np.ndarray]:
    """Arrays as :func:`pack` wrote them, each a copy that may be written to.
    Raises InvalidInput where types, shapes and bytes do not belong together."""
    found, start = [], 0
    for each in told:
        shape = tuple(each["shape"])
        if each["type"] not in _TYPES or not all(isinstance(side, int) and side >= 0 for side in shape):
            raise InvalidInput(f"arrays are of {', '.join(_TYPES)}, got {str(each)[:80]}")
        size = math.prod(shape) * np.dtype(each["type"]).itemsize
        if start + size > len(data):
            raise InvalidInput(f"{len(data)} bytes are too few for arrays such as {str(each)[:80]}")
        found.append(np.frombuffer(data, each["type"], math.prod(shape), start).reshape(shape).copy())
        start += size
    return found


LOAD_S, CALL_S = 300.0, 300.0  # seconds that one's own metric has to load, and to answer one call
_MODULE = "core.evaluators.remote_process"


class MetricFailed(InvariscopeError):
    """A metric of a file raised something; the text is what it said."""


class Remote(Evaluator):
    """Asks the process that holds the evaluator; mixed into a stand-in before the kinds of evaluator that it is. The
    methods are those of :class:`core.evaluators.base.Evaluator`, ``DualEncoder`` and the evaluators that compare with
    references; which of them are asked for depends on the kinds."""

    reference: ClassVar[str]
    _device: str
    _process: AskedProcess | None
    _told: dict[str, Any]

    def __new__(cls, *_: object, **__: object) -> NoReturn:
        """Refuse: :meth:`load` alone makes one."""
        raise NotAvailable(f"{cls.reference} is code of a file and runs in its own process; load it")

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        """Start the process and have the metric loaded there.
        Raises NotAvailable saying what the metric raised, or that it did not load in time."""
        made = object.__new__(cls)
        made._device, made._process, made._told = device, None, {}
        made._start()
        return made

    @classmethod
    def needs_mb(cls, device: str) -> float:
        """Size of the weights as its spec says, in MB: a base may count by what only its own classes have."""
        return float(cls.spec.memory_mb)

    def _start(self) -> None:
        self._process = AskedProcess(_MODULE, self.reference, self._device)
        weakref.finalize(self, self._process.end)
        try:
            self._told, _ = self._ask("load", seconds=LOAD_S)
        except InvariscopeError as error:
            self._process.end()
            raise NotAvailable(f"{self.reference} could not be loaded: {error}") from error

    def _ask(
        self, what: str, arrays: Sequence[np.ndarray] = (), *, seconds: float = CALL_S, **more: Any
    ) -> tuple[dict[str, Any], list[np.ndarray]]:
        if self._process is None or (self._process.spent and what != "load"):
            self._start()  # it ended over a pair before: the next one is asked of another
        assert self._process is not None
        told, data = pack(arrays)
        answer, back = self._process.ask({"do": what, "arrays": told, **more}, data, seconds)
        match answer.get("failed"):
            case None:
                return answer, unpack(answer["arrays"], back)
            case "partly":
                raise PartlyScored(unpack(answer["arrays"], back)[0], answer["errors"])
            case "stopped":
                raise ScoringStopped(_line(answer["sentence"]))
            case "late":
                raise ScoringStopped(
                    f"{self.reference} took more than {seconds:g} s for one call; its process was "
                    "ended, give it fewer or smaller pictures"
                )
            case "gone":
                raise ScoringStopped(
                    f"{self.reference} ended its process, as a crash or a lack of memory does; try "
                    "it alone: python -m core check"
                )
            case _:
                raise MetricFailed(_line(answer["sentence"]))

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint(**self._told["fingerprint"])

    @property
    def full_batch(self) -> int:
        return int(self._told["full_batch"])

    def footprint(self) -> Footprint | None:
        found = self._told["footprint"]
        return None if found is None else Footprint(**found)

    def forget(self) -> None:
        self._ask("forget")

    def score(
        self, images: Sequence[np.ndarray], captions: Sequence[str], references: Sequence[Sequence[str]] | None = None
    ) -> np.ndarray:
        others = None if references is None else [list(each) for each in references]
        return self._ask("score", list(images), captions=list(captions), references=others)[1][0]

    def encode_images(self, images: Sequence[np.ndarray]) -> "Tensor":
        """Encode n images there; float32 [n, d]."""
        return _tensor(self._ask("encode_images", list(images)))

    def encode_captions(self, captions: Sequence[str]) -> "Tensor":
        """Encode m captions there; float32 [m, d]."""
        return _tensor(self._ask("encode_captions", captions=list(captions)))

    def combine(self, image_embeddings: "Tensor", caption_embeddings: "Tensor") -> np.ndarray:
        """Score row by row there; float64 [n]."""
        return self._ask("combine", [image_embeddings.numpy(), caption_embeddings.numpy()])[1][0]

    def combine_with_references(
        self, image_embeddings: "Tensor", caption_embeddings: "Tensor", references: "Sequence[Tensor]"
    ) -> np.ndarray:
        """Score row by row there, each row with its own references; float64 [n]."""
        arrays = [image_embeddings.numpy(), caption_embeddings.numpy(), *(each.numpy() for each in references)]
        return self._ask("combine_with_references", arrays)[1][0]

    def crop(self, width: int, height: int) -> Box:
        return Box(*self._ask("crop", size=[width, height])[0]["box"])

    def count_tokens(self, caption: str) -> int | None:
        found = self._ask("count_tokens", captions=[caption])[0]["found"]
        return None if found is None else int(found)

    def truncates(self, caption: str) -> bool:
        return bool(self._ask("truncates", captions=[caption])[0]["found"])

    def see(self, image: np.ndarray, caption: str, *, object_mask: Mask | None = None) -> Sight:
        mask = [] if object_mask is None else [object_mask.to_array()]
        told, arrays = self._ask("see", [image, *mask], captions=[caption])
        if len(arrays) != len(told["titles"]):
            raise InvalidInput(f"{self.reference} names {len(told['titles'])} views and gives {len(arrays)}")
        return Sight(
            views=tuple(zip(map(str, told["titles"]), arrays, strict=True)),
            crop=None if told["crop"] is None else Box(*told["crop"]),
            prompt=str(told["prompt"]),
            truncated=str(told["truncated"]),
            tokens=told["tokens"],
            object_inside=told["object_inside"],
            evidence=tuple((str(label), float(value)) for label, value in told["evidence"]),
            notes=tuple(map(str, told["notes"])),
        )


def _tensor(answer: tuple[dict[str, Any], list[np.ndarray]]) -> "Tensor":
    import torch

    return torch.from_numpy(answer[1][0])


def _line(text: object) -> str:
    return " ".join(str(text).split())[:600]


WAIT_S = 60.0  # seconds that a file has to be imported and described
_HOUSE = "core.evaluators."
_VIDEOS = "core.evaluators.video."


def find_apart(reference: str) -> type[Evaluator]:
    """A stand-in for ``path/to/file.py:Name``, which can be asked what a plan asks and not loaded.
    Raises InvalidInput if the file cannot be imported, holds no such evaluator, or does not answer in time."""
    path = reference.rpartition(":")[0]
    try:
        return _described(reference, hashlib.sha256(Path(path).read_bytes()).hexdigest())
    except OSError as error:
        raise InvalidInput(f"no file {path} (from {reference!r}); give the path of an existing .py file") from error


@cache
def _described(reference: str, sha256: str) -> type[Evaluator]:  # noqa: ARG001  # the cache's key
    told = _ask(reference)
    try:
        tuples = {name: tuple(told["spec"][name]) for name in ("score_range", "languages")}
        spec = EvaluatorSpec(**{**told["spec"], **tuples})
        ready = Availability(**told["available"])
        bases = []
        for name in told["bases"]:
            module, _, own = str(name).partition(":")
            base = getattr(importlib.import_module(module), own) if module.startswith(_HOUSE) else None
            if not isinstance(base, type):
                raise ValueError(f"{name!r} is no kind of evaluator")
            bases.append(base)
    except (KeyError, TypeError, ValueError, AttributeError, ImportError) as error:
        raise InvalidInput(f"{reference} was described in a way that nobody can read: {error}") from error
    made: dict[str, Any] = {"spec": spec, "availability": classmethod(lambda _: ready), "reference": reference}
    made |= {"__doc__": spec.summary, "__module__": f"{PLUGIN}{Path(reference.rpartition(':')[0]).stem}"}
    if any(each.__module__.startswith(_VIDEOS) for base in bases for each in base.__mro__):
        made["load"] = classmethod(partial(_only_in_audits, reference))
    kind = type(str(told["name"]), (Remote, *bases), made)
    kind.__abstractmethods__ = frozenset()  # type: ignore[attr-defined]  # the process has what the house asks for
    return kind


def _ask(reference: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="invariscope-") as folder:
        answer = Path(folder) / "answer.json"
        command = [sys.executable, "-m", _MODULE, "describe", reference, str(answer)]
        try:
            done = subprocess.run(command, capture_output=True, timeout=WAIT_S, check=False, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired as error:
            raise InvalidInput(
                f"{reference} was not imported within {WAIT_S:g} seconds; does it wait for something?"
            ) from error
        try:
            told: dict[str, Any] = json.loads(answer.read_bytes())
        except (OSError, ValueError) as error:
            last = (done.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"])[-1]
            how = f"exit code {done.returncode}" if done.returncode >= 0 else f"signal {-done.returncode}"
            raise InvalidInput(
                f"{reference} ended the process that imported it ({how}): {last[:200]}; mend the file"
            ) from error
    if "problem" in told:
        raise InvalidInput(str(told["problem"])[:600])
    return told


def _only_in_audits(reference: str, *_: object, **__: object) -> NoReturn:
    raise NotAvailable(f"{reference} scores videos, which no page asks of code of a file; start an audit with it")


def describe(kind: type[Evaluator]) -> dict[str, Any]:
    """What a plan asks of an evaluator, as JSON takes it."""
    house = [each for each in kind.__mro__[1:] if each.__module__.startswith(_HOUSE)]
    nearest = [each for each in house if not any(other is not each and issubclass(other, each) for other in house)]
    ready = kind.availability()
    return {
        "name": kind.__name__,
        "bases": [f"{each.__module__}:{each.__qualname__}" for each in nearest],
        "spec": {each.name: getattr(kind.spec, each.name) for each in fields(EvaluatorSpec)},
        "available": asdict(ready),
    }
