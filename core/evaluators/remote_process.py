"""The process that holds one evaluator of a file: ``python -m core.evaluators.remote_process REFERENCE DEVICE``. It
answers on standard output what :class:`core.evaluators.remote.Remote` asks on its input; what the metric prints goes
nowhere. With ``describe REFERENCE ANSWER`` it only writes into the file ANSWER what it is."""

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from core.corpora.schema import Box, Mask
from core.errors import InvalidInput, InvariscopeError, ScoringStopped
from core.evaluators.base import Evaluator, PartlyScored
from core.evaluators.registry import find
from core.evaluators.remote import describe, pack, unpack
from core.registry import STRANGERS

Answer = tuple[dict[str, Any], list[np.ndarray]]


def main(arguments: list[str]) -> None:
    """Answer until standard input ends, or describe."""
    if arguments[0] == "describe":
        try:
            said = describe(find(arguments[1]))
        except InvariscopeError as error:
            said = {"problem": str(error)}
        Path(arguments[2]).write_text(json.dumps(said), encoding="utf-8")
        return
    reference, device = arguments
    # the pipes of this process are for its answers alone: what a metric reads or prints must not mix with them
    asking, answering = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    holder = _Holder(reference, device)
    while line := asking.readline():
        asked = json.loads(line)
        told: dict[str, Any] = {"failed": "error"}
        arrays: list[np.ndarray] = []
        try:
            # no name is held here for the pictures: they are gone while the next ones are waited for
            told, arrays = getattr(holder, asked["do"])(asked, unpack(asked["arrays"], asking.read(asked["bytes"])))
        except PartlyScored as partly:
            told = {"failed": "partly", "errors": list(partly.errors)}
            arrays = [np.asarray(partly.scores, dtype=np.float64)]
        except ScoringStopped as error:
            told = {"failed": "stopped", "sentence": str(error)}
        except InvariscopeError as error:
            told["sentence"] = str(error)
        except STRANGERS as error:  # a stranger's code may raise anything; its reader gets the sentence
            told["sentence"] = f"{type(error).__name__}: {error}"
        described, data = pack(arrays)
        answering.write(json.dumps({**told, "arrays": described, "bytes": len(data)}).encode() + b"\n")
        answering.write(data)
        answering.flush()


class _Holder:
    """The evaluator, and a method for everything that it is asked: (question, arrays) to (answer, arrays)."""

    def __init__(self, reference: str, device: str) -> None:
        self._reference, self._device = reference, device
        self._evaluator: Any = None

    def load(self, _asked: dict[str, Any], _arrays: list[np.ndarray]) -> Answer:
        self._evaluator = found = find(self._reference).load(device=self._device)
        if not isinstance(found, Evaluator):
            raise InvalidInput(f"load of {self._reference} gave {type(found).__name__}, which is no evaluator")
        taken = found.footprint()
        return {
            "fingerprint": found.fingerprint.as_dict(),
            "full_batch": found.full_batch,
            "footprint": None if taken is None else asdict(taken),
        }, []

    def forget(self, _asked: dict[str, Any], _arrays: list[np.ndarray]) -> Answer:
        self._evaluator.forget()
        return {}, []

    def score(self, asked: dict[str, Any], arrays: list[np.ndarray]) -> Answer:
        others = [] if asked["references"] is None else [asked["references"]]
        return {}, [_numbers(self._evaluator.score(arrays, asked["captions"], *others))]

    def encode_images(self, _asked: dict[str, Any], arrays: list[np.ndarray]) -> Answer:
        return {}, [_numbers(self._evaluator.encode_images(arrays))]

    def encode_captions(self, asked: dict[str, Any], _arrays: list[np.ndarray]) -> Answer:
        return {}, [_numbers(self._evaluator.encode_captions(asked["captions"]))]

    def combine(self, _asked: dict[str, Any], arrays: list[np.ndarray]) -> Answer:
        return {}, [_numbers(self._evaluator.combine(*_tensors(arrays)))]

    def combine_with_references(self, _asked: dict[str, Any], arrays: list[np.ndarray]) -> Answer:
        images, captions, *others = _tensors(arrays)
        return {}, [_numbers(self._evaluator.combine_with_references(images, captions, others))]

    def crop(self, asked: dict[str, Any], _arrays: list[np.ndarray]) -> Answer:
        return {"box": _box(self._evaluator.crop(*asked["size"]))}, []

    def count_tokens(self, asked: dict[str, Any], _arrays: list[np.ndarray]) -> Answer:
        found = self._evaluator.count_tokens(asked["captions"][0])
        return {"found": None if found is None else int(found)}, []

    def truncates(self, asked: dict[str, Any], _arrays: list[np.ndarray]) -> Answer:
        return {"found": bool(self._evaluator.truncates(asked["captions"][0]))}, []

    def see(self, asked: dict[str, Any], arrays: list[np.ndarray]) -> Answer:
        mask = Mask.from_array(arrays[1].astype(bool)) if len(arrays) > 1 else None
        found = self._evaluator.see(arrays[0], asked["captions"][0], object_mask=mask)
        return {
            "titles": [title for title, _ in found.views],
            "crop": None if found.crop is None else _box(found.crop),
            "prompt": found.prompt,
            "truncated": found.truncated,
            "tokens": None if found.tokens is None else int(found.tokens),
            "object_inside": None if found.object_inside is None else float(found.object_inside),
            "evidence": [[label, float(value)] for label, value in found.evidence],
            "notes": list(found.notes),
        }, [np.asarray(view) for _, view in found.views]


def _box(box: Box) -> list[float]:
    return [float(box.x), float(box.y), float(box.width), float(box.height)]


def _numbers(values: Any) -> np.ndarray:
    """Scores or embeddings as an array, whatever tensor or array the metric gave; float32 stays float32."""
    detach = getattr(values, "detach", None)
    found = np.asarray(values if detach is None else detach().cpu())
    return found if found.dtype == np.float32 else found.astype(np.float64)


def _tensors(arrays: list[np.ndarray]) -> list[Any]:
    import torch

    return [torch.from_numpy(each) for each in arrays]


if __name__ == "__main__":
    main(sys.argv[1:])
