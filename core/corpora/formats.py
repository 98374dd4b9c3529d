"""Files that captioners and their metrics exchange: clipscore's JSON, CaptionEvalKit's JSON lines."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.corpora.files import no_memory, read_text
from core.errors import BadCorpus

LINES = (".jsonl", ".ndjson")
"""Endings of files that hold one JSON object a line."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """One line of CaptionEvalKit's ``predictions.jsonl``.

    Args:
        image: path of the image as the line names it, None where it names none.
    """

    id: str
    caption: str
    image: str | None = None


MOST_BYTES = 64 << 20
"""Largest file of captions that is taken from an upload: about half a million captions."""


def read_candidates(path: Path) -> dict[str, str]:
    """Read clipscore's ``{image id: caption}``, in the order of the file.

    Raises:
        BadCorpus: if the file is no such object; the sentence names the first entry that is wrong.
    """
    return _candidates(read_text(path), f"{path}")


def parse_candidates(data: bytes, *, name: str) -> dict[str, str]:
    """Read clipscore's ``{image id: caption}`` from an upload; see :func:`read_candidates`.

    Args:
        data: what was uploaded, at most MOST_BYTES.
        name: what messages call it.

    Raises:
        BadCorpus: also if it is too large, or no UTF-8.
    """
    if len(data) > MOST_BYTES:
        raise BadCorpus(f"{name} has {len(data):,} bytes and at most {MOST_BYTES:,} are taken; upload a part of it")
    try:
        return _candidates(data.decode("utf-8-sig"), name)
    except UnicodeDecodeError as error:
        raise BadCorpus(f"{name} is not UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8") from error


def _candidates(text: str, where: str) -> dict[str, str]:
    candidates = {}
    for key, value in _object(text, where).items():
        if not isinstance(value, str):
            raise BadCorpus(f"{where}: the caption of {key!r} must be a text, got {shown(value)}")
        candidates[key] = value
    return candidates


def read_references(path: Path) -> dict[str, tuple[str, ...]]:
    """Read captions by people, as clipscore (``{image id: [captions]}``) or CaptionEvalKit (a line each) keeps them.

    Raises:
        BadCorpus: if the file has neither shape; the sentence names the first entry that is wrong.
    """
    if path.suffix.lower() not in LINES:
        return {key: _texts(path, key, value) for key, value in _object(read_text(path), f"{path}").items()}
    references: dict[str, tuple[str, ...]] = {}
    for number, record in _records(path):
        key = _identity(path, number, record, references)
        references[key] = _texts(path, key, record.get("references", record.get("captions")))
    return references


def read_predictions_jsonl(path: Path) -> tuple[Prediction, ...]:
    """Read CaptionEvalKit's lines ``{"id", "caption" or "prediction", "image" or "image_path"}``.

    Raises:
        BadCorpus: naming the first line that is wrong.
    """
    predictions: dict[str, Prediction] = {}
    for number, record in _records(path):
        key = _identity(path, number, record, predictions)
        caption = record.get("caption", record.get("prediction"))
        image = record.get("image", record.get("image_path"))
        if not isinstance(caption, str):
            raise BadCorpus(f"{path}, line {number}: caption or prediction must be a text, got {shown(caption)}")
        if image is not None and not isinstance(image, str):
            raise BadCorpus(f"{path}, line {number}: image must be a path, got {shown(image)}")
        predictions[key] = Prediction(key, caption, image)
    return tuple(predictions.values())


def _object(text: str, where: str) -> dict[str, Any]:
    value = parse_json(text, where, unique_keys=True)
    if not isinstance(value, dict):
        raise BadCorpus(f"{where} must hold one JSON object {{image id: …}}, got {shown(value)}")
    return value


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            record = parse_json(line, f"{path}, line {number}")
            if not isinstance(record, dict):
                raise BadCorpus(f"{path}, line {number} must be a JSON object, got {shown(record)}")
            yield number, record


def parse_json(text: str, where: str, *, unique_keys: bool = False) -> Any:
    """Read JSON that comes from outside.

    Args:
        where: what the text is called in a message.
        unique_keys: refuse an object that holds a key twice.

    Raises:
        BadCorpus: if it is no JSON, or a key stands twice where it must not.
    """

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if unique_keys and key in found:
                raise BadCorpus(f"{where} holds {key!r} twice; keep one")
            found[key] = value
        return found

    try:
        return json.loads(text, object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:  # also a number of thousands of digits
        raise BadCorpus(f"{where} is not JSON: {error}") from error
    except MemoryError as error:
        raise no_memory(where) from error


def _identity(path: Path, number: int, record: dict[str, Any], known: object) -> str:
    identity = record.get("id")
    if isinstance(identity, bool) or not isinstance(identity, str | int):
        raise BadCorpus(f"{path}, line {number}: id must be a text or a whole number, got {shown(identity)}")
    if str(identity) in known:  # type: ignore[operator]
        raise BadCorpus(f"{path}, line {number}: id {identity!r} was there before; keep one")
    return str(identity)


def _texts(path: Path, key: str, value: object) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise BadCorpus(f"{path}: the references of {key!r} must be a list of texts, got {shown(value)}")
    return tuple(texts)


def shown(value: object) -> str:
    """A value as it stands in a message, 60 characters of it at most."""
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "…"
