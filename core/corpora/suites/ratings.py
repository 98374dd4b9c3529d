"""Suites of ratings: Flickr8k-Expert and -CF, Composite and M-CapEval1k."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from core.corpora.corpus_files import read_text
from core.corpora.folder_tables import language_code
from core.corpora.record_lines import Record, csv_cells, csv_records
from core.corpora.suites.comparisons import entry_of, never_itself, number
from core.corpora.suites.model import TAU_B, TAU_C, Decision, Rated, Suite, own_references, spaced, texts
from core.errors import BadCorpus

TOKENS = "Flickr8k.token.txt"

CAPEVAL = "M-CapEval1k"
_CAPEVAL_NEEDED = ("image", "language", "caption", "score")
_CAPEVAL_KNOWN = (*_CAPEVAL_NEEDED, "references")


def capeval_columns(path: Path, columns: Sequence[str]) -> None:
    """Refuse columns that are not M-CapEval1k's.

    Raises:
        BadCorpus: naming them.
    """
    missing = [name for name in _CAPEVAL_NEEDED if name not in columns]
    if missing or set(columns) - set(_CAPEVAL_KNOWN):
        raise BadCorpus(
            f"{path} has the columns {', '.join(columns)}; M-CapEval1k needs {', '.join(_CAPEVAL_NEEDED)} and may have "
            "references"
        )


def capeval(path: Path, records: Sequence[Record]) -> Suite:
    """M-CapEval1k: a caption in a language, with one score between 0 and 1.

    Raises:
        BadCorpus: if a score lies outside, or no line can be used.
    """
    rated, left_out = [], 0
    for where, record in records:
        image, caption, language = (record.get(name) for name in ("image", "caption", "language"))
        score = number(record.get("score"))
        if score is not None and not 0 <= score <= 1:
            raise BadCorpus(
                f"{path.parent / where}: score must lie between 0 and 1, got {score:g}; divide it by its range"
            )
        code = language_code(language) if isinstance(language, str) else None
        two = [spaced(each) if isinstance(each, str) else "" for each in (image, caption)]
        if score is None or code is None or not all(two):
            left_out += 1
            continue
        references = tuple(text for each in _listed(record.get("references")) if (text := spaced(each)))
        rated.append(Rated(str(image).strip(), two[1], score, code, code, references))
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


@dataclass(slots=True)
class Judged:
    """Ratings while a file is read, and what became of them.

    Args:
        keep: ratings of a caption that is one of its image's own references are kept.
    """

    keep: bool = True
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

    def dropped(self) -> Decision:
        """The decision about ratings of a reference itself."""
        many = f", of {len(self.own_captions):,} captions" if self.own else ""
        done = "kept, although the field drops them" if self.keep else "dropped, as the field does"
        return Decision(
            "self-references",
            "self-references",
            f"ratings of a caption that is one of its image's own references are {done}",
            self.own,
            f"ratings{many}",
        )


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
    return _flickr(path, found, named=_named(path.stem.casefold()))


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


def _named(stem: str) -> bool | None:
    """Whether a file's name says Expert; None where it says neither Expert nor -CF."""
    if "crowd" in stem or stem.endswith("cf"):
        return False
    return True if "expert" in stem or stem == "flickr8k" else None


def _flickr(path: Path, found: Judged, *, named: bool | None) -> Suite:
    """The suite that the ratings tell; the name is asked only where they fit both, e.g. all are 1.

    Raises:
        BadCorpus: if the ratings fit neither, or both and the name says neither.
    """
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
        decisions.append(
            Decision(
                "votes",
                "votes",
                "a rating is the share of yes among a caption's votes, as the file has it",
                len(found.rated),
                "ratings",
            )
        )
    name, convention = ("Flickr8k-Expert", TAU_C) if expert else ("Flickr8k-CF", TAU_B)
    return Suite(name, convention, tuple(found.rated), (), found.left_out, tuple(decisions))


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
    return _composite(found)


def composite_csv(path: Path) -> Suite:
    """Composite as its publisher has it, the file with the correctness; it names no references."""
    names = csv_cells(path).header
    count = sum(name.startswith("input.text") for name in names)
    if "input.image_url" not in names or not count:
        raise BadCorpus(f"{path} has no columns Input.image_url and Input.text1; give Composite's *_correctness.csv")
    found = Judged()
    for _, row in csv_records(path):
        image = (row.get("input.image_url") or "").rstrip("/").rpartition("/")[2]
        for place in range(1, count + 1):
            caption, rating = row.get(f"input.text{place}"), number(row.get(f"answer.q{place}answer"))
            if rating is None or not caption or not image:
                found.left_out += 1
            else:
                found.add(Rated(image, spaced(caption), rating, path.stem), ())
    return _composite(found)


def _composite(found: Judged) -> Suite:
    decisions = (never_itself(found.own, "ratings"),)
    return Suite("Composite", TAU_C, tuple(found.rated), (), found.left_out, decisions)


def _rows(path: Path, *, least: int) -> Iterator[tuple[str, list[str]]]:
    for place, line in enumerate(read_text(path).splitlines(), 1):
        if line.strip():
            first, *values = line.split("\t")
            if len(values) < least - 1:
                raise BadCorpus(f"{path}, line {place} must have {least} columns with tabs between, got {line[:60]!r}")
            yield first, values
