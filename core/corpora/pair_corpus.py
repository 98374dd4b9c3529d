"""Caption pairs from a user's folder: SugarCrepe(++), ARO, Winoground, VALSE, FOIL, VQA, paper D, or a table.

An item is one comparison: a picture, the caption that is right of it, and one that is wrong.
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from core.corpora.caption_tables import said_text
from core.corpora.corpus_files import Findings, LeftOut, inside, whole, whole_number
from core.corpora.folder_tables import NamedImages, choose_file, language_code
from core.corpora.images import ImageHeader, encode_png, read_header, read_image, require_auditable
from core.corpora.labels import caption_languages, stated_language
from core.corpora.packed_pictures import keep_image
from core.corpora.pair_layouts import (
    ENDINGS,
    LAYOUTS,
    PRESUMED,
    STATED,
    VERIFIED,
    VQA,
    PairLine,
    answered,
    joined,
    read_pairs,
)
from core.corpora.registry import corpus_loader
from core.corpora.schema import WRONG_PICTURE, Corpus, Item, Rival
from core.errors import BadCorpus, BadImage, InvalidInput
from core.yes_no import seen

FALSITIES = (STATED, VERIFIED, PRESUMED)
PAPER_D = "grounding-pairs"


@corpus_loader(
    name="pairs",
    summary="pairs of a right and a wrong caption: SugarCrepe, ARO, Winoground, VALSE, FOIL, VQA, paper D, pairs.csv",
    options={
        "file": "read this file alone (all *.csv, *.jsonl and *.json of the folder that hold pairs)",
        "images": "folder of the pictures, in the corpus' folder or by its absolute path (the folder itself)",
        "right": "paper D's file of right captions; needs wrong",
        "wrong": "paper D's file of wrong captions, joined with right by id",
        "questions": "VQA v2's file of questions; needs answers",
        "answers": "VQA v2's file of annotations: questions with their answer and one that is wrong",
        "language": "of captions that state none; by default that of their script, and English of Latin letters",
        "falsity": f"what is known of lines that do not say it: {', '.join(FALSITIES)} ({STATED})",
        "references": "keep at most so many further right captions of a picture (all)",
        "limit": "at most so many comparisons, in the order of the files",
        "name": "what runs call this corpus (the layout's name)",
    },
)
def load_pairs(
    root: Path,
    *,
    file: str | None = None,
    images: str | None = None,
    right: str | None = None,
    wrong: str | None = None,
    questions: str | None = None,
    answers: str | None = None,
    language: str | None = None,
    falsity: str = STATED,
    references: int | str | None = None,
    limit: int | str | None = None,
    name: str | None = None,
) -> Corpus:
    """Read comparisons; :mod:`core.corpora.pair_layouts` says from which layouts. Comparisons of one ``set``
    (Winoground's examples), else of one picture, are one source: they are resampled and judged together.
    Raises BadCorpus if no file holds pairs, files of several layouts lie side by side, or one is malformed as a whole;
    InvalidInput if an option is wrong."""
    code = stated_language(language)
    if falsity not in FALSITIES:
        raise InvalidInput(f"falsity must be one of {', '.join(FALSITIES)}, got {falsity!r}")
    most = None if limit is None else whole_number(limit, name="limit")
    kept = None if references is None else whole_number(references, name="references", least=0)
    pictures = NamedImages.of(root, images)
    two = _two_files(root, right=right, wrong=wrong)
    asked, found = _two_files(root, questions=questions, answers=answers), Findings()
    if asked:
        layout, lines = VQA, answered(*asked, pictures.holds, found)
    else:
        layout, lines = (PAPER_D, joined(*two)) if two else _lines(root, file)
    called = name or layout
    items = list[Item]()
    untold = [seen(line.right).strip() for line in lines if isinstance(line.right, str) and not line.language]
    reader = _Reader(called, pictures, caption_languages(untold, code, root.name, found), falsity, kept)
    for line in lines:
        if len(items) == most:
            break
        try:
            items.append(reader.item(line))
        except LeftOut as reason:
            twice = reason.code == "duplicate-id"  # the first of that id is kept
            found.leave_out(reason.rejection(line.where if twice else line.id))
    description = f"{len(items)} comparisons of a right and a wrong caption, layout {layout}, folder {root.name}"
    return Corpus(called, tuple(items), found.rejected, description, remarks=found.remarks)


def _two_files(root: Path, **given: str | None) -> tuple[Path, Path] | None:
    """The files that two options name, which belong together; None where neither is given."""
    (one, first), (other, second) = given.items()
    if (first is None) != (second is None):
        raise InvalidInput(f"{one} and {other} name two files that are joined; give both or neither")
    paths = [choose_file(root, name, (), option=option) for option, name in given.items()]
    found = [path for path in paths if path is not None]
    return (found[0], found[1]) if found else None


def _lines(root: Path, file: str | None) -> tuple[str, list[PairLine]]:
    known = f"{', '.join(dict.fromkeys(layout.name for layout in LAYOUTS))}, foil"
    chosen = choose_file(root, file, (), option="file")
    folders = (folder for folder in (root, root / "data") if folder.is_dir())
    candidates = (
        inside(root, path.relative_to(root).as_posix())
        for path in (path for folder in folders for path in sorted(folder.iterdir()))
        if path.suffix.lower() in ENDINGS and path.is_file() and not path.name.startswith(".")
    )
    found = {path: read_pairs(path) for path in ([chosen] if chosen else candidates)}
    read = {path: (layout, lines) for path, (layout, lines) in found.items() if layout}
    if not read:
        told = {
            path: next((each.refused[1] for each in lines if each.refused), path.name)
            for path, (_, lines) in found.items()
        }
        listed = "; ".join(told.values()) or f"no {', '.join(ENDINGS)} file"
        raise BadCorpus(f"{root} holds no file of pairs of the layouts {known}; it holds {listed}")
    layouts = {layout for layout, _ in read.values()}
    if len(layouts) > 1:
        listed = ", ".join(f"{path.name} ({layout})" for path, (layout, _) in read.items())
        raise BadCorpus(f"{root} holds files of several layouts: {listed}; say which to read with file=NAME")
    return layouts.pop(), [line for _, lines in read.values() for line in lines]


@dataclass(slots=True)
class _Reader:
    name: str
    images: NamedImages
    languages: Mapping[str, str]
    falsity: str
    references: int | None
    seen: set[str] = field(default_factory=set)
    headers: dict[Path, ImageHeader] = field(default_factory=dict)

    def item(self, line: PairLine) -> Item:
        if line.refused is not None:
            raise LeftOut(*line.refused)
        if line.id in self.seen:
            raise LeftOut("duplicate-id", f"{line.where}: id {line.id!r} was there before; rename one")
        right, wrong = (_text(each, line.where, side) for each, side in ((line.right, "right"), (line.wrong, "wrong")))
        if _alike(right) == _alike(wrong):
            raise LeftOut("equal-sides", f"{line.where}: right and wrong are one caption, {right!r}; mend one")
        language = language_code(line.language) if line.language else self.languages[right]
        if language is None:
            raise LeftOut("caption-bad-language", f"{line.where}: {line.language!r} is no code such as en or de")
        path, header, digest = self._picture(line.image, line)
        told = (seen(text).strip() for text in line.references if isinstance(text, str))
        more = [text for text in told if text not in ("", right)]
        self.seen.add(line.id)
        rivals: tuple[Rival, ...] = ()
        if line.wrong_image is not None:
            beside, its, hashed = self._picture(line.wrong_image, replace(line, crop=()))
            rivals = (Rival(WRONG_PICTURE, beside, {}, hashed, size=(its.width, its.height)),)
        known = line.falsity if line.falsity in FALSITIES else STATED
        facts = {name: value for name in ("kind", "group", "set") if (value := getattr(line, name))}
        alone = line.set or _plain(line.image)
        return Item(
            id=line.id,
            corpus=self.name,
            image_path=path,
            width=header.width,
            height=header.height,
            captions={language: (right, *dict.fromkeys(more[: self.references]))},
            wrong={language: wrong},
            source=line.where,
            group=(alone, line.second_group) if line.second_group else alone,
            bytes_sha256=digest,
            rivals=rivals,
            facts={**facts, "falsity": self.falsity if known == STATED else known},
        )

    def _picture(self, name: Any, line: PairLine) -> tuple[Path, ImageHeader, str | None]:
        """Path, header, and the hash that a picture of the cache must have."""
        where = line.where
        path = self.images.find(_plain(name), where)
        try:
            if path not in self.headers:
                self.headers[path] = read_header(path)
            header = self.headers[path]
            require_auditable(header.width, header.height, name=where)
            if not line.crop:
                return path, header, None
            x, y, width, height = line.crop
            if x <= 0 and y <= 0 and x + width >= header.width and y + height >= header.height:
                return path, header, None
            kept, digest = keep_image(_cut(path, line), folder="pairs", where=where)
            return kept, read_header(kept), digest
        except BadImage as error:
            raise LeftOut("bad-image", f"{where}: {error}") from error


def _cut(path: Path, line: PairLine) -> bytes:
    x, y, width, height = (round(side) for side in line.crop)
    pixels = read_image(path).pixels[max(y, 0) : y + height, max(x, 0) : x + width]
    if not pixels.size:
        raise LeftOut("annotation-box-outside", f"{line.where}: its box lies outside the picture; mend it")
    require_auditable(pixels.shape[1], pixels.shape[0], name=line.where)
    return encode_png(pixels)


def _plain(name: Any) -> str:
    """What a cell calls a picture: a whole number in JSON may have a point, a text stays as it is."""
    if isinstance(name, str):
        return name.strip()
    number = whole(name)
    return "" if number is None else str(number)


def _alike(text: str) -> str:
    """What a reader sees of a caption: accents composed, single blanks."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def _text(value: Any, where: str, side: str) -> str:
    text = (said_text(value) or "").strip() if isinstance(value, str) else ""
    if not text:
        raise LeftOut("missing-cell", f"{where} has no {side} caption, got {str(value)[:40]!r}; fill it in")
    return text
