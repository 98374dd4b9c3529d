"""Captions of a COCO split, found by the number of their picture, and by its name where tools numbered otherwise."""

import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path, PureWindowsPath
from typing import Any

from core.corpora.corpus_files import LeftOut
from core.corpora.findings import Findings
from core.corpora.json_stream import check_lists, entries
from core.corpora.schema import Rejection
from core.corpora.scripts import by_language, caption_languages
from core.corpora.stated import count, key, mark

_Told = tuple[int, str, str]
"""Where a caption stands among those of its picture, the picture's key, and the text."""


def read_captions(
    path: Path, split: str, images: Mapping[str, str], found: Findings, language: str | None
) -> dict[str, dict[str, tuple[str, ...]]]:
    """Read the captions of each image, by its key and by language, in the order of their ids; none where no file is.

    Args:
        images: file names by image key, as the file of instances states them.
        found: takes the entries that could not be used.
        language: of the captions; None: by their script, else English.

    Raises:
        BadCorpus: if the file is malformed as a whole.
    """
    if not path.exists():
        return {}
    told: list[_Told] = []
    named: dict[str, str] = {}
    counts: dict[str, int] = {}
    for part, entry in entries(path, counts):
        place = counts[part] - 1
        try:
            if part == "images" and isinstance(entry, dict) and isinstance(entry.get("file_name"), str):
                named[str(key(entry.get("id")))] = plain_name(entry["file_name"])
            elif part == "annotations":
                told.append(_caption(entry, place))
        except LeftOut as reason:
            found.remark(reason.rejection(f"{split} captions[{place}]"))
    check_lists(path, counts, ("annotations",), layout="a file in COCO's layout", empty=True)
    joined = _joined(sorted(told), _Pictures(images, named), split, found)
    languages = caption_languages([text for each in joined.values() for text in each], language, path.name, found)
    return {own: by_language(texts, languages) for own, texts in joined.items()}


def plain_name(name: str) -> str:
    """A picture's name without its folders, composed: the same however a tool wrote it.

    Example:
        >>> plain_name("images\\\\a.jpg"), plain_name("val2017/a.jpg")
        ('a.jpg', 'a.jpg')
    """
    return unicodedata.normalize("NFC", PureWindowsPath(name).name)


class _Pictures:
    """The key of a caption's picture among those of the instances."""

    def __init__(self, images: Mapping[str, str], named: Mapping[str, str]) -> None:
        self.names = {own: plain_name(name) for own, name in images.items()}
        self.named = named
        self.by_name: dict[str, str | None] = {}
        for own, name in self.names.items():
            self.by_name[name] = None if name in self.by_name else own

    def find(self, number: str) -> str:
        """Return the key that a number of the file of captions means.

        Raises:
            LeftOut: where it means none, or nobody can tell which.
        """
        name = self.named.get(number)
        if name is None or self.names.get(number) == name:
            if number in self.names:
                return number
            raise LeftOut("caption-no-image", f"no image has the id {number!r}")
        own = self.by_name.get(name)
        if own is None:
            several = "several images are" if name in self.by_name else "no image is"
            raise LeftOut(
                "caption-no-image", f"the captions say that image {number} is {name}, and {several} called so"
            )
        return own


def _joined(told: Iterable[_Told], pictures: _Pictures, split: str, found: Findings) -> dict[str, list[str]]:
    joined: dict[str, list[str]] = {}
    for place, number, text in told:
        where = f"{split} captions[{place}]"
        try:
            own = pictures.find(number)
        except LeftOut as reason:
            found.remark(reason.rejection(where))
            continue
        if own != number:
            detail = f"image {number} of the captions is image {own} of the instances by its name; joined by the name"
            found.remark(Rejection(where, "caption-by-name", detail))
        joined.setdefault(own, []).append(text)
    return joined


def _caption(entry: Any, place: int) -> _Told:
    number = key(entry.get("image_id")) if isinstance(entry, dict) else None
    if number is None:
        raise LeftOut("caption-bad-entry", "a caption needs an image_id")
    if mark(entry.get("is_rejected")) or mark(entry.get("is_precanned")):  # VizWiz: nobody described the picture
        raise LeftOut(
            "caption-refused", f"of image {number!r} the file says that its caption is rejected or ready-made"
        )
    if not isinstance(entry.get("caption"), str) or not entry["caption"].strip():
        raise LeftOut("caption-empty", f"image {number!r} has an empty caption")
    return count(entry.get("id")) or place, number, entry["caption"].strip()
