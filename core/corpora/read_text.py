"""The option of every corpus that asks whether its photographs hold text already.

What reads is known to the right of this room, by :mod:`core.probes.pixels.text_reader`; here it is only asked for.
"""

from dataclasses import replace

from core.corpora.schema import Corpus
from core.errors import InvalidInput

NONE, READ = "none", "read"

TEXT = "text"
"""Name of the option."""

OPTION = {
    TEXT: "whether edits that write a word first read what the photograph says already: none (default) or read",
}
"""Option of a loader -> what it means."""


def to_read(corpus: Corpus, asked: str) -> Corpus:
    """Mark the pictures of a corpus as ones to be read; none of them is opened.

    Args:
        asked: NONE leaves the corpus as it is, READ marks every item that is no video.

    Raises:
        InvalidInput: for another value.
    """
    if asked not in (NONE, READ):
        raise InvalidInput(f"{TEXT} must be {NONE} or {READ}, got {asked!r}")
    if asked == NONE:
        return corpus
    return replace(corpus, items=tuple(replace(item, read_text=not item.frames) for item in corpus.items))
