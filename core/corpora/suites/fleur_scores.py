"""The text that FLEUR's scripts write: an image, a caption, and two scores, of which only the names stand before each.

::

    image file : Flickr8k_Dataset/1.jpg
    caption : A dog runs .
    model score : 0.85
    our score : 0.7841796875

``model`` is the number that the model wrote, ``our`` the smoothed one. A caption after which a score is missing has
none here; the scripts' own means repeat the score of the caption before it. Several of these files may stand in one, as
``cat`` leaves them. Source: Yebin46/FLEUR, results/ and fleur_pascal.py.
"""

import hashlib
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from core.corpora.suites.model import spaced
from core.errors import InvalidInput

MOST_BYTES = 256 << 20
COLUMNS = ("our", "model")

_CAPTION = re.compile(r"(caption) : (.*)$")
_LINE = re.compile(r"(image file|model score|our score) : (.*)$")


@dataclass(frozen=True, slots=True)
class TextScores:
    """Scores by image and caption."""

    name: str  # of the file, without its folder
    sha256: str
    column: str  # ``our`` or ``model``
    scores: Mapping[tuple[str, str], float]  # finite ones
    several: int  # captions that stand there more than once with different scores: the first one counts

    @property
    def told(self) -> str:
        """The file in words: its name, the first digits of its hash, which of its scores, and what it repeats."""
        more = f"; {self.several} captions stand there with several scores, the first counts" if self.several else ""
        return f"{self.name} (sha256 {self.sha256[:12]}…, {self.column} score{more})"


def read_text_scores(path: Path, *, column: str = "") -> TextScores:
    """Read FLEUR's text.
    Raises InvalidInput if it cannot be read, is too large, holds no such score, or the column is none of the two."""
    wanted = column or COLUMNS[0]
    if wanted not in COLUMNS:
        raise InvalidInput(f"{path} holds {' and '.join(COLUMNS)} scores, got --column {column!r}; name one of them")
    held = _bytes(path)
    try:
        text = held.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8 text ({error.reason} at byte {error.start}); save it so") from error
    scores, several = dict[tuple[str, str], float](), set[tuple[str, str]]()
    for key, value, number in _entries(text, wanted):
        score = _score(value, path, number)
        if scores.setdefault(key, score) != score:
            several.add(key)
    if not scores:
        raise InvalidInput(f"{path} holds no {wanted} score; .txt is read as what FLEUR's scripts write")
    return TextScores(path.name, hashlib.sha256(held).hexdigest(), wanted, scores, len(several))


def _bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InvalidInput(f"{path} is larger than {MOST_BYTES >> 20} MB; give it in parts")
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}; give a file of scores") from error


def _entries(text: str, wanted: str) -> Iterator[tuple[tuple[str, str], str, int]]:
    """Image and caption, the text of the score wanted, and the number of its line."""
    image, caption = "", ""
    for number, line in enumerate(text.splitlines(), start=1):
        # the last line of a file has no end: after `cat` the next file's first one goes on where it stands
        found = _CAPTION.match(line) or _LINE.search(line)
        if found is None:
            continue
        name, value = found.groups()
        if name == "image file":
            image, caption = value.strip(), ""
        elif name == "caption":
            caption = spaced(value)
        elif name.startswith(wanted) and image and caption:
            yield (image, caption), value, number


def _score(text: str, path: Path, number: int) -> float:
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise InvalidInput(f"{path}, line {number}: the score must be a number, got {text[:40]!r}")
    return score
