"""Suites of images: ratings of a caption, and comparisons of two.

Ratings are Flickr8k-Expert and -CF, Composite and M-CapEval1k; comparisons are Pascal-50S, FOIL and CapArena.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from core.corpora.corpus_files import Record, csv_cells, csv_records, decimal, read_text
from core.corpora.folder_tables import language_code
from core.corpora.suites.model import (
    ACCURACY,
    TAU_B,
    TAU_C,
    Compared,
    Decision,
    Rated,
    Suite,
    own_references,
    spaced,
    texts,
)
from core.corpora.table_cells import listed_texts
from core.errors import BadCorpus


def entry_of(path: Path, key: object, entry: object) -> dict[str, Any]:
    """An entry that is an object. Raises BadCorpus naming the file and the key otherwise."""
    if not isinstance(entry, dict):
        raise BadCorpus(f"{path}: an entry of {key!r} must be an object, got {str(entry)[:60]!r}")
    return entry


LABELS: Mapping[str, bool] = {"0": False, "0.0": False, "1": True, "1.0": True}
"""What stands for the first and the second of two, also as text."""


def either(value: object, *, where: str, rule: str, known: Mapping[str, bool] = LABELS) -> bool | None:
    """One of two choices; None where there is none: null, an empty text or *nan*.
    ``rule``: what the value may be, in words. ``known``: choices by their text in small letters.
    Raises BadCorpus for any other value, which may be a choice that is counted otherwise."""
    text = "" if value is None else str(value).strip().casefold()
    if text in ("", "nan"):
        return None
    if text not in known:
        raise BadCorpus(f"{where} must be {rule}, got {str(value)[:60]!r}; write it so")
    return known[text]


def number(value: object) -> float | None:
    """A finite number, also as text; None for anything else."""
    try:
        found = decimal(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


HUMAN = "human"  # CapArena's name of the people who wrote captions

EVEN = ("equal", "tie")
"""CapArena's winner where people prefer neither; the second is a word for it, not the publisher's."""

_PREFERRED = "0 for the first caption, 1 for the second, or empty"
_FOILED = "true or false"
_FOILS = {**LABELS, "false": False, "true": True}


def pairs(path: Path, held: dict[str, list[Any]]) -> Suite:
    """Pascal-50S, or FOIL in FLEUR's layout."""
    compared, left_out, undecided, own = [], 0, 0, 0
    for group, entries in held.items():
        for place, entry in enumerate(entries, start=1):
            known = entry_of(path, group, entry)
            image, captions = known.get("image"), known.get("captions")
            label = either(known.get("label"), where=f"{path}, entry {place} of {group!r}: label", rule=_PREFERRED)
            two = [each for each in captions if isinstance(each, str)] if isinstance(captions, list) else []
            if len(two) != 2 or not isinstance(image, str):
                left_out += 1
                continue
            if label is None:
                undecided += 1
                continue
            first, second = map(spaced, two)
            given = texts(known.get("references"))
            kept = own_references(given, first, second)
            own += first in given or second in given
            preferred, other = (second, first) if label else (first, second)
            compared.append(Compared(image, preferred, other, str(group), kept))
    name = "FOIL" if "foil" in path.name.casefold() else "Pascal-50S"
    done = "pairs with an empty label are left out; how the publisher settled ties of people is not in the file"
    ties = Decision("undecided", "people's ties", done, undecided, "pairs left out")
    decisions = (ties, never_itself(own, "pairs"))
    return Suite(name, ACCURACY, (), tuple(compared), left_out + undecided, decisions)


def foil(path: Path, held: dict[str, Any]) -> Suite:
    """FOIL as its publisher has it, or an example that is laid out so and says what it is.
    An image's other right captions are its references."""
    listed = held.get("images")
    entries = listed if isinstance(listed, list) else []
    images = {str(each.get("id")): each.get("file_name") for each in entries if isinstance(each, dict)}
    right: dict[str, str] = {}
    of_image: dict[str, list[str]] = {}
    foils: list[tuple[str, str, str]] = []
    left_out = 0
    for place, entry in enumerate(held["annotations"], start=1):
        caption = entry_of(path, "annotations", entry).get("caption")
        foiled = either(
            entry.get("foil"), where=f"{path}, entry {place} of 'annotations': foil", rule=_FOILED, known=_FOILS
        )
        if not isinstance(caption, str) or foiled is None:
            left_out += 1
        elif foiled:
            foils.append((str(entry.get("id")), str(entry.get("image_id")), spaced(caption)))
        else:
            right[str(entry.get("id"))] = spaced(caption)
            of_image.setdefault(str(entry.get("image_id")), []).append(spaced(caption))
    compared = []
    for key, image, caption in foils:
        file = images.get(image)
        if key in right and isinstance(file, str):
            others = own_references(of_image.get(image, ()), right[key], caption)
            compared.append(Compared(file, right[key], caption, references=others))
        else:
            left_out += 1
    done = "an image's right captions are references, without the one that is compared"
    count = sum(bool(each.references) for each in compared)
    decision = Decision("other-references", "references", done, count, "pairs")
    named = held.get("example")
    name = spaced(named)[:60] if isinstance(named, str) and named.strip() else "FOIL"
    return Suite(name, ACCURACY, (), tuple(compared), left_out, (decision,))


def battles(path: Path, held: list[Any]) -> Suite:
    """CapArena: which of two captioners' captions of an image people prefer, or neither."""
    compared, left_out, by_people = [], 0, 0
    for place, entry in enumerate(held, start=1):
        known = entry_of(path, "the list", entry)
        image, one, other = (known.get(name) for name in ("img", "source1", "source2"))
        captions = [known.get(name) for name in ("caption1", "caption2")]
        if not all(isinstance(each, str) and each.strip() for each in (image, one, other, *captions)) or one == other:
            left_out += 1
            continue
        if HUMAN in (one, other):
            by_people += 1
            continue
        first, second = (spaced(str(each)) for each in captions)
        names, winner = (str(one), str(other)), known.get("winner")
        known_winners = {**dict.fromkeys(EVEN, False), str(one).casefold(): False, str(other).casefold(): True}
        rule = f"{one!r}, {other!r} or {EVEN[0]!r}"
        won = either(winner, where=f"{path}, entry {place}: winner", rule=rule, known=known_winners)
        if won is None:
            left_out += 1
            continue
        if won:
            first, second, names = second, first, (names[1], names[0])
        told = known.get("ref")
        given = texts(told if isinstance(told, list) else [told])
        tied, group = str(winner).strip().casefold() in EVEN, str(known.get("cluster") or "")
        references = own_references(given, first, second)
        compared.append(Compared(str(image), first, second, group, references, names, tied))
    reference = "battles against a caption by people are left out, as the publisher does: it is the reference"
    half = (
        "battles that people call a tie count in no accuracy, and half a win for each side in the ranks of captioners"
    )
    ties = sum(each.tied for each in compared)
    decisions = (
        Decision("people-as-system", "people's own captions", reference, by_people, "battles left out"),
        Decision("undecided", "people's ties", half, ties, "battles"),
    )
    return Suite("CapArena", ACCURACY, (), tuple(compared), left_out + by_people, decisions)


def never_itself(count: int, of: str) -> Decision:
    """The decision that no caption is held against itself."""
    done = "it is taken out of the references that it is held against"
    return Decision("own-reference", "a caption among its references", done, count, of)


TOKENS = "Flickr8k.token.txt"

CAPEVAL = "M-CapEval1k"
_CAPEVAL_NEEDED = ("image", "language", "caption", "score")
_CAPEVAL_KNOWN = (*_CAPEVAL_NEEDED, "references")


def capeval_columns(path: Path, columns: Sequence[str]) -> None:
    """Refuse columns that are not M-CapEval1k's. Raises BadCorpus naming them."""
    missing = [name for name in _CAPEVAL_NEEDED if name not in columns]
    if missing or set(columns) - set(_CAPEVAL_KNOWN):
        told = f"M-CapEval1k needs {', '.join(_CAPEVAL_NEEDED)} and may have references"
        raise BadCorpus(f"{path} has the columns {', '.join(columns)}; {told}")


def capeval(path: Path, records: Sequence[Record]) -> Suite:
    """M-CapEval1k: a caption in a language, with one score between 0 and 1.
    Raises BadCorpus if a score lies outside, or no line can be used."""
    rated, left_out = [], 0
    for where, record in records:
        image, caption, language = (record.get(name) for name in ("image", "caption", "language"))
        score = number(record.get("score"))
        if score is not None and not 0 <= score <= 1:
            told = f"{path.parent / where}: score must lie between 0 and 1, got {score:g}; divide it by its range"
            raise BadCorpus(told)
        code = language_code(language) if isinstance(language, str) else None
        two = [spaced(each) if isinstance(each, str) else "" for each in (image, caption)]
        if score is None or code is None or not all(two):
            left_out += 1
            continue
        references = tuple(text for each in listed_texts(record.get("references")) if (text := spaced(each)))
        rated.append(Rated(str(image).strip(), two[1], score, code, code, references))
    if not rated:
        told = f"it has {len(records)} lines, and JSON Lines are read as M-CapEval1k alone"
        raise BadCorpus(f"{path} holds no line with {', '.join(_CAPEVAL_NEEDED)}; {told}")
    return Suite(CAPEVAL, TAU_C, tuple(rated), left_out=left_out)


@dataclass(slots=True)
class Judged:
    """Ratings while a file is read, and what became of them."""

    keep: bool = True  # ratings of a caption that is one of its image's own references are kept
    rated: list[Rated] = field(default_factory=list)
    left_out: int = 0
    own: int = 0
    own_captions: set[tuple[str, str]] = field(default_factory=set)

    def add(self, rated: Rated, references: Sequence[str]) -> None:
        """Take a rating, or drop it where its caption is an own reference and such are dropped."""
        if rated.caption in references:
            self.own += 1
            self.own_captions.add((rated.image, rated.caption))
            if not self.keep:
                return
        self.rated.append(replace(rated, references=own_references(references, rated.caption)))

    def suite(self, name: str, convention: str, *decisions: Decision) -> Suite:
        """The suite of the ratings that were kept."""
        return Suite(name, convention, tuple(self.rated), (), self.left_out, decisions)

    def dropped(self) -> Decision:
        """The decision about ratings of a reference itself."""
        many = f", of {len(self.own_captions):,} captions" if self.own else ""
        what = "kept, although the field drops them" if self.keep else "dropped, as the field does"
        done = f"ratings of a caption that is one of its image's own references are {what}"
        return Decision("self-references", "self-references", done, self.own, f"ratings{many}")


def flickr(path: Path, held: dict[str, Any], *, keep: bool = False) -> Suite:
    """Flickr8k-Expert or -CF in clipscore's layout."""
    found = Judged(keep)
    for key, entry in held.items():
        judgements = entry.get("human_judgement")
        if not isinstance(judgements, list):
            raise BadCorpus(f"{path}: {key!r} has no list human_judgement; give clipscore's flickr8k.json")
        references = texts(entry.get("ground_truth"))
        for judgement in judgements:
            image = entry_of(path, key, judgement).get("image_path", entry.get("image_path"))
            caption, rating = judgement.get("caption"), number(judgement.get("rating"))
            if rating is None or not isinstance(caption, str) or not isinstance(image, str):
                found.left_out += 1
            else:
                found.add(Rated(image, spaced(caption), rating), references)
    stem = path.stem.casefold()
    if "crowd" in stem or stem.endswith("cf"):
        return _flickr(path, found, named=False)
    return _flickr(path, found, named=True if "expert" in stem or stem == "flickr8k" else None)


def raw_flickr(path: Path, *, expert: bool, keep: bool = False) -> Suite:
    """Flickr8k-Expert or -CF as Hodosh et al. published them, beside the file of all captions."""
    captions = {key: spaced(values[0]) for key, values in _rows(path.with_name(TOKENS), least=2)}
    of_image: dict[str, list[str]] = {}
    for key, caption in captions.items():
        of_image.setdefault(key.rpartition("#")[0], []).append(caption)
    found = Judged(keep)
    for image, values in _rows(path, least=5):
        caption = captions.get(values[0], "")
        for rating in map(number, values[1:4] if expert else values[1:2]):
            if rating is None or not caption:
                found.left_out += 1
            else:
                found.add(Rated(image, caption, rating), of_image.get(image, ()))
    return _flickr(path, found, named=expert)


def _flickr(path: Path, found: Judged, *, named: bool | None) -> Suite:
    """The suite that the ratings tell; where they fit both, e.g. all are 1, the name: whether it says Expert.
    Raises BadCorpus if the ratings fit neither, or both and the name says neither."""
    ratings = {each.rating for each in found.rated}
    whole, shares = ratings <= {1.0, 2.0, 3.0, 4.0}, all(0 <= each <= 1 for each in ratings)
    expert = whole if whole != shares else named
    if expert is None or not (whole or shares):
        listed = ", ".join(f"{each:g}" for each in sorted(ratings)[:5]) or "no rating"
        raise BadCorpus(
            f"{path} holds {listed}; ratings of Flickr8k-Expert are whole, 1 to 4, those of Flickr8k-CF shares of "
            "votes, 0 to 1: give one of the two, called flickr8k.json or crowdflower_flickr8k.json where all are 1"
        )
    decisions = [found.dropped()]
    if not expert:
        done = "a rating is the share of yes among a caption's votes, as the file has it"
        decisions.append(Decision("votes", "votes", done, len(found.rated), "ratings"))
    return found.suite(*(("Flickr8k-Expert", TAU_C) if expert else ("Flickr8k-CF", TAU_B)), *decisions)


def composite(path: Path, held: dict[str, list[Any]]) -> Suite:
    """Composite in FLEUR's layout: the corpora of its pictures are its groups."""
    found = Judged()
    for group, entries in held.items():
        for entry in entries:
            known = entry_of(path, group, entry)
            image, caption, rating = known.get("image"), known.get("caption"), number(known.get("human"))
            if rating is None or not isinstance(caption, str) or not isinstance(image, str):
                found.left_out += 1
            else:
                found.add(Rated(image, spaced(caption), rating, str(group)), texts(known.get("references")))
    return found.suite("Composite", TAU_C, never_itself(found.own, "ratings"))


CORRECTNESS, THOROUGHNESS = "correctness", "thoroughness"
_THOROUGH = "through", "thorough"
"""In the names of the files with the thoroughness; the first is how the publisher spells it."""


def composite_csv(path: Path) -> Suite:
    """Composite as its publisher has it, a file with the correctness or one with the thoroughness, as its name says.
    It names no references."""
    thorough = any(each in path.stem.casefold() for each in _THOROUGH)
    dimension = THOROUGHNESS if thorough else CORRECTNESS
    corpus = path.stem.partition("_")[0]
    names = csv_cells(path).header
    count = sum(name.startswith("input.text") for name in names)
    if "input.image_url" not in names or not count:
        told = "give Composite's *_correctness.csv or *_throughness.csv"
        raise BadCorpus(f"{path} has no columns Input.image_url and Input.text1; {told}")
    found = Judged()
    for _, row in csv_records(path):
        image = (row.get("input.image_url") or "").rstrip("/").rpartition("/")[2]
        for place in range(1, count + 1):
            caption, rating = row.get(f"input.text{place}"), number(row.get(f"answer.q{place}answer"))
            if rating is None or not caption or not image:
                found.left_out += 1
            else:
                found.add(Rated(image, spaced(caption), rating, corpus, dimension=dimension), ())
    return found.suite("Composite", TAU_C, never_itself(found.own, "ratings"))


def _rows(path: Path, *, least: int) -> Iterator[tuple[str, list[str]]]:
    for place, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip():
            first, *values = line.split("\t")
            if len(values) < least - 1:
                raise BadCorpus(f"{path}, line {place} must have {least} columns with tabs between, got {line[:60]!r}")
            yield first, values
