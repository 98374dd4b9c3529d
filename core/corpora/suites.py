"""Human-labelled caption suites, as their publishers lay them out; the files are brought by the reader.

- Flickr8k-Expert and -CF, clipscore's layout: ``{key: {"image_path", "human_judgement": [{"image_path", "caption",
  "rating"}], "ground_truth"}}``; and the raw ``ExpertAnnotations.txt`` or ``CrowdFlowerAnnotations.txt`` beside
  ``Flickr8k.token.txt``.
- Pascal-50S, FLEUR's layout: ``{"HC": [{"image", "captions": [a, b], "label": 0 or 1, "references"}], …}``.
- Composite, FLEUR's layout ``{corpus: [{"image", "caption", "human"}]}``, or the publisher's ``*_correctness.csv``
  (``;`` between columns, Input.image_url, Input.text1…, Answer.Q1Answer…).
- FOIL, the publisher's ``foilv1.0_*.json``: ``{"images": [{"id", "file_name"}], "annotations": [{"id", "image_id",
  "caption", "foil"}]}``; a foil is paired with the caption of its ``id`` that is none.
- M-CapEval1k, announced by paper B and not released, so in a layout of our own: CSV or JSON Lines with the columns
  image, language, caption, score (0 to 1) and, where there are any, references (a list; ``|`` between them in CSV).

Sources: jmhessel/clipscore, flickr8k_example/compute_metrics.py; Yebin46/FLEUR, fleur_pascal.py and fleur_com.py;
Hodosh et al., Flickr8k readme; Aditya et al. (2018), composite data; Shekhar et al. (2017), FOIL.
"""

import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.corpora.files import read_json, read_text
from core.corpora.folder_tables import language_code
from core.corpora.formats import LINES
from core.corpora.records import Record, csv_records, jsonl_records
from core.errors import BadCorpus

TAU_B, TAU_C, ACCURACY = "tau_b", "tau_c", "accuracy"

TOKENS = "Flickr8k.token.txt"
ENGLISH = "en"

CAPEVAL = "M-CapEval1k"
_CAPEVAL_NEEDED = ("image", "language", "caption", "score")
_CAPEVAL_KNOWN = (*_CAPEVAL_NEEDED, "references")


@dataclass(frozen=True, slots=True)
class Rated:
    """One caption of an image with one rating by people.

    Args:
        group: the part of the suite it belongs to.
        language: of the caption, ISO 639-1.
        references: further captions that are right of the image.
    """

    image: str
    caption: str
    rating: float
    group: str = ""
    language: str = ENGLISH
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Compared:
    """Two captions of an image, the one that is right or that people prefer first.

    ``references`` are further captions that are right of the image.
    """

    image: str
    preferred: str
    other: str
    group: str = ""
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite as it was read.

    Args:
        name: Flickr8k-Expert, Flickr8k-CF, Pascal-50S, Composite, FOIL or M-CapEval1k.
        convention: what the field reports of it: TAU_B or TAU_C (× 100), or ACCURACY.
        rated: ratings, for the conventions TAU_B and TAU_C.
        compared: pairs, for ACCURACY.
        left_out: entries without a usable rating or caption.
    """

    name: str
    convention: str
    rated: tuple[Rated, ...] = ()
    compared: tuple[Compared, ...] = ()
    left_out: int = 0


def read_suite(path: Path) -> Suite:
    """Read a suite; its layout is told by its name and what it holds.

    Raises:
        BadCorpus: if the file has none of the layouts, or an entry has another shape; the sentence names it.
    """
    name = path.name.casefold()
    if name == "expertannotations.txt":
        return _raw_flickr(path, expert=True)
    if name == "crowdflowerannotations.txt":
        return _raw_flickr(path, expert=False)
    if name.endswith(LINES):
        return _capeval(path, list(jsonl_records(path)))
    if name.endswith(".csv"):
        if is_capeval(path):
            return _capeval(path, list(csv_records(path, _capeval_columns)))
        return _composite_csv(path)
    held = read_json(path)
    if isinstance(held, dict) and isinstance(held.get("annotations"), list):
        return _foil(path, held)
    if isinstance(held, dict) and held and all(isinstance(each, dict) for each in held.values()):
        return _flickr(path, held)
    if isinstance(held, dict) and held and all(isinstance(each, list) for each in held.values()):
        first = next((entry for entries in held.values() for entry in entries), None)
        if isinstance(first, dict) and "captions" in first:
            return _pairs(path, held)
        return _composite(path, held)
    raise BadCorpus(
        f"{path} has none of the layouts of Flickr8k-Expert, Flickr8k-CF, Pascal-50S, Composite, FOIL or M-CapEval1k; "
        "give the file that its publisher ships"
    )


def is_capeval(path: Path) -> bool:
    """Whether the first line of a CSV file names M-CapEval1k's columns."""
    first = next(csv.reader(io.StringIO(read_text(path), newline="")), [])
    return {"image", "caption", "score"} <= {each.strip() for each in first}


def _capeval_columns(path: Path, columns: Sequence[str]) -> None:
    missing = [name for name in _CAPEVAL_NEEDED if name not in columns]
    if missing or set(columns) - set(_CAPEVAL_KNOWN):
        raise BadCorpus(
            f"{path} has the columns {', '.join(columns)}; M-CapEval1k needs {', '.join(_CAPEVAL_NEEDED)} and may have "
            "references"
        )


def _capeval(path: Path, records: Sequence[Record]) -> Suite:
    rated, left_out = [], 0
    for where, record in records:
        image, caption, language = (record.get(name) for name in ("image", "caption", "language"))
        score = _number(record.get("score"))
        if score is not None and not 0 <= score <= 1:
            raise BadCorpus(
                f"{path.parent / where}: score must lie between 0 and 1, got {score:g}; divide it by its range"
            )
        code = language_code(language) if isinstance(language, str) else None
        texts = [_spaced(each) if isinstance(each, str) else "" for each in (image, caption)]
        if score is None or code is None or not all(texts):
            left_out += 1
            continue
        references = tuple(text for each in _listed(record.get("references")) if (text := _spaced(each)))
        rated.append(Rated(str(image).strip(), texts[1], score, code, code, references))
    if not rated:
        raise BadCorpus(
            f"{path} holds no line with {', '.join(_CAPEVAL_NEEDED)}; it has {len(records)} lines, and JSON Lines are "
            "read as M-CapEval1k alone"
        )
    return Suite(CAPEVAL, TAU_C, tuple(rated), left_out=left_out)


def _listed(value: object) -> list[str]:
    """References of a record: a list of texts, or one text with ``|`` between them."""
    if isinstance(value, str):
        return value.split("|")
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _flickr(path: Path, held: dict[str, Any]) -> Suite:
    rated, left_out = [], 0
    for key, entry in held.items():
        judgements = entry.get("human_judgement")
        if not isinstance(judgements, list):
            raise BadCorpus(f"{path}: {key!r} has no list human_judgement; give clipscore's flickr8k.json")
        for judgement in judgements:
            image = _entry(path, key, judgement).get("image_path", entry.get("image_path"))
            caption, rating = judgement.get("caption"), _number(judgement.get("rating"))
            if rating is None or not isinstance(caption, str) or not isinstance(image, str):
                left_out += 1
            else:
                rated.append(Rated(image, _spaced(caption), rating))
    crowd = "crowdflower" in path.name.casefold() or path.stem.casefold().endswith("cf")
    return Suite(
        "Flickr8k-CF" if crowd else "Flickr8k-Expert", TAU_B if crowd else TAU_C, tuple(rated), left_out=left_out
    )


def _raw_flickr(path: Path, *, expert: bool) -> Suite:
    tokens = dict(_rows(path.with_name(TOKENS), least=2))
    captions = {key: values[0] for key, values in tokens.items()}
    rated, left_out = [], 0
    for image, values in _rows(path, least=5):
        ratings = values[1:4] if expert else values[1:2]
        numbers = [_number(each) for each in ratings]
        caption = captions.get(values[0])
        for number in numbers:
            if number is None or caption is None:
                left_out += 1
            else:
                rated.append(Rated(image, _spaced(caption), number))
    name, convention = ("Flickr8k-Expert", TAU_C) if expert else ("Flickr8k-CF", TAU_B)
    return Suite(name, convention, tuple(rated), left_out=left_out)


def _pairs(path: Path, held: dict[str, list[Any]]) -> Suite:
    compared, left_out = [], 0
    for group, entries in held.items():
        for entry in entries:
            image, captions, label = (_entry(path, group, entry).get(name) for name in ("image", "captions", "label"))
            texts = [each for each in captions if isinstance(each, str)] if isinstance(captions, list) else []
            if len(texts) != 2 or not isinstance(image, str) or label not in (0, 1):
                left_out += 1
                continue
            first, second = texts
            preferred, other = (second, first) if label == 1 else (first, second)
            compared.append(Compared(image, _spaced(preferred), _spaced(other), str(group)))
    name = "FOIL" if "foil" in path.name.casefold() else "Pascal-50S"
    return Suite(name, ACCURACY, compared=tuple(compared), left_out=left_out)


def _composite(path: Path, held: dict[str, list[Any]]) -> Suite:
    rated, left_out = [], 0
    for group, entries in held.items():
        for entry in entries:
            image, caption, human = (_entry(path, group, entry).get(name) for name in ("image", "caption", "human"))
            rating = _number(human)
            if rating is None or not isinstance(caption, str) or not isinstance(image, str):
                left_out += 1
            else:
                rated.append(Rated(image, _spaced(caption), rating, str(group)))
    return Suite("Composite", TAU_C, tuple(rated), left_out=left_out)


def _composite_csv(path: Path) -> Suite:
    rows = csv.DictReader(io.StringIO(read_text(path)), delimiter=";")
    names = rows.fieldnames or ()
    count = sum(name is not None and name.startswith("Input.text") for name in names)
    if "Input.image_url" not in names or not count:
        raise BadCorpus(f"{path} has no columns Input.image_url and Input.text1; give Composite's *_correctness.csv")
    rated, left_out = [], 0
    for row in rows:
        image = (row.get("Input.image_url") or "").rstrip("/").rpartition("/")[2]
        for place in range(1, count + 1):
            caption, rating = row.get(f"Input.text{place}"), _number(row.get(f"Answer.Q{place}Answer"))
            if rating is None or not caption or not image:
                left_out += 1
            else:
                rated.append(Rated(image, _spaced(caption), rating, path.stem))
    return Suite("Composite", TAU_C, tuple(rated), left_out=left_out)


def _foil(path: Path, held: dict[str, Any]) -> Suite:
    listed = held.get("images")
    entries = listed if isinstance(listed, list) else []
    images = {str(each.get("id")): each.get("file_name") for each in entries if isinstance(each, dict)}
    right: dict[str, str] = {}
    of_image: dict[str, list[str]] = {}
    foils: list[tuple[str, str, str]] = []
    left_out = 0
    for entry in held["annotations"]:
        caption = _entry(path, "annotations", entry).get("caption")
        if not isinstance(caption, str) or entry.get("foil") not in (True, False):
            left_out += 1
        elif entry["foil"]:
            foils.append((str(entry.get("id")), str(entry.get("image_id")), _spaced(caption)))
        else:
            right[str(entry.get("id"))] = _spaced(caption)
            of_image.setdefault(str(entry.get("image_id")), []).append(_spaced(caption))
    compared = []
    for key, image, caption in foils:
        file = images.get(image)
        if key in right and isinstance(file, str):
            others = tuple(text for text in dict.fromkeys(of_image.get(image, ())) if text != right[key])
            compared.append(Compared(file, right[key], caption, references=others))
        else:
            left_out += 1
    return Suite("FOIL", ACCURACY, compared=tuple(compared), left_out=left_out)


def _rows(path: Path, *, least: int) -> Iterator[tuple[str, list[str]]]:
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if line.strip():
            first, *values = line.split("\t")
            if len(values) < least - 1:
                raise BadCorpus(f"{path}, line {number} must have {least} columns with tabs between, got {line[:60]!r}")
            yield first, values


def _entry(path: Path, key: object, entry: object) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise BadCorpus(f"{path}: an entry of {key!r} must be an object, got {str(entry)[:60]!r}")
    return entry


def _number(value: object) -> float | None:
    """A finite number, also as text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _spaced(caption: str) -> str:
    return " ".join(caption.split())
