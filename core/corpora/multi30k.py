"""Multi30k: captions of Flickr30k's photographs in English, German, French and Czech, one a line.

Layout, as the publisher ships it: ``test_2016_flickr.en``, ``.de``, ``.fr``, ``.cs`` (also with ``.gz``), whose lines
are those of ``test_2016_flickr.txt``, the names of the pictures; the photographs are Flickr30k's own.
Source: multi30k/dataset, data/task1; Elliott et al., Multi30K, 2016.
"""

import gzip
import zlib
from pathlib import Path
from typing import Any

from core.corpora.corpus_files import Findings, LeftOut, read_text, whole_number
from core.corpora.folder_tables import NamedImages
from core.corpora.image_places import auditable
from core.corpora.labels import OPTION, RULES, reader
from core.corpora.registry import corpus_loader
from core.corpora.schema import Corpus, Item
from core.errors import BadCorpus, InvalidInput

LANGUAGES = ("en", "de", "fr", "cs")
_BELOW = ("task1/raw", "task1/image_splits", "data/task1/raw", "data/task1/image_splits")
FOLDERS = ("", "raw", "tok", "image_splits", *_BELOW)
"""Where the files of a split may lie below the root; ``raw`` before the tokenised text."""

_MOST_BYTES = 64 << 20


@corpus_loader(
    name="multi30k",
    summary="Flickr30k's photographs with captions in English, German, French and Czech, line by line",
    options={
        "split": "which files: train, val, test_2016_flickr, test_2017_flickr, … (test_2016_flickr)",
        "images": "folder of the photographs, in the corpus' folder or by its absolute path (the folder itself)",
        "limit": "at most so many photographs, in the order of the file",
        **OPTION,
    },
)
def load_multi30k(
    root: Path, *, split: str = "test_2016_flickr", images: str | None = None, limit: Any = None, labels: str = RULES
) -> Corpus:
    """Read a split: one item a photograph, one caption a language. Raises BadCorpus if the list of pictures or every
    language is missing, or a file has another number of lines; InvalidInput if an option is wrong."""
    if not split or Path(split).name != split:
        raise InvalidInput(f"split must be the stem of the files, such as train or test_2016_flickr, got {split!r}")
    most = None if limit is None else whole_number(limit, name="limit")
    found = NamedImages.of(root, images)
    names = _lines(root, f"{split}.txt")
    if names is None:
        raise BadCorpus(f"{root} holds no {split}.txt, the names of the pictures; give the folder that does, or split=")
    texts = {language: lines for language in LANGUAGES if (lines := _lines(root, f"{split}.{language}")) is not None}
    if not texts:
        raise BadCorpus(f"{root} holds none of {', '.join(f'{split}.{language}' for language in LANGUAGES)}")
    for language, lines in texts.items():
        if len(lines) != len(names):
            told = f"{split}.{language} has {len(lines)} lines and {split}.txt {len(names)}; they belong together"
            raise BadCorpus(told)
    items, findings = dict[str, Item](), Findings()
    for number, line in enumerate(names):
        if len(items) == most:
            break
        name, where = line.partition("#")[0].strip(), f"{split}.txt, line {number + 1}"
        try:
            path = found.find(name, where)
            header = auditable(path, where=where)
            if name in items:
                raise LeftOut("duplicate-id", f"{where}: {name!r} was there before; one line is enough")
            captions = {language: (text,) for language, lines in texts.items() if (text := lines[number].strip())}
            items[name] = Item(name, "multi30k", path, header.width, header.height, captions, source=where)
        except LeftOut as reason:
            twice = reason.code == "duplicate-id"  # the first of that name is kept
            findings.leave_out(reason.rejection(f"line {number + 1}" if twice or not line else line))
    told = f"Multi30k, {split}, {', '.join(texts)}"
    return Corpus("multi30k", tuple(items.values()), findings.rejected, told, read_labels=reader(labels))


def _lines(root: Path, name: str) -> list[str] | None:
    """Lines of the first file of that name, also compressed; None where there is none."""
    for folder in FOLDERS:
        for path in (root / folder / name, root / folder / f"{name}.gz"):
            if path.is_file():
                text = read_text(path) if path.suffix != ".gz" else _unzipped(path)
                return text.removesuffix("\n").split("\n")
    return None


def _unzipped(path: Path) -> str:
    try:
        with gzip.open(path) as file:
            held = file.read(_MOST_BYTES + 1)
        if len(held) > _MOST_BYTES:
            raise BadCorpus(f"{path} holds more than {_MOST_BYTES >> 20} MB of text; give the publisher's file")
        return held.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise BadCorpus(f"{path} cannot be read ({error}); download it again") from error
