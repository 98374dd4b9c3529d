"""Prototypicality tests from a user's folder: a text, the picture that fits it, and prototypical ones that do not.

Source: paper E, section 3. A line is one triplet (text, correct picture, adversarial picture); it may also carry the
two pictures between them, so that the effect of the prototype and that of the wrong detail can be told apart.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.corpora.files import LeftOut, inside, whole_number
from core.corpora.folder_files import auditable_header
from core.corpora.image_header import ImageHeader
from core.corpora.kept_images import keep_image
from core.corpora.protobias_rows import FACTS, IMAGES, NEEDED, Line, read_lines
from core.corpora.registry import corpus_loader
from core.corpora.schema import Corpus, Item, Rejection, Rival
from core.errors import InvalidInput

_DESCRIPTION = (
    "Prototypicality test of folder {folder}: {n} texts, each with the picture that fits it and its rivals. The "
    "stereotypes of the domain demography are few and Western ones (paper E, Limitations) and serve as instruments: "
    "a failure there says something about an evaluator, and nothing about people."
)


@corpus_loader(
    name="protobias",
    summary="paper E's triplets, a text with right and wrong pictures: pairs.jsonl, pairs.csv or the hub's Parquet",
    options={
        "domain": "only lines of this domain: animal, object or demography as the file names it",
        "limit": "at most so many items, in the order of the file",
    },
)
def load_protobias(root: Path | None, *, domain: str | None = None, limit: Any = None) -> Corpus:
    """Read triplets or quadruples. Pictures inside Parquet are checked and kept as files in the cache.

    Columns: ``id``, ``text``, ``correct_image`` (or ``nonproto_right``), ``adversarial_image`` (or ``proto_wrong``),
    and where there are any ``nonproto_wrong``, ``proto_right``, ``domain``, ``subcategory``, ``knob``, ``socio_attr``,
    ``gender``, and ``correct``: the longer description, which becomes a second caption. Lines of one id and one text
    are items of one group, each with an adversary of its own.

    Args:
        root: the folder; paths of pictures are relative to it and stay inside.

    Raises:
        BadCorpus: if the folder holds no such file, or one is malformed as a whole.
        InvalidInput: if an option is wrong.
    """
    assert root is not None
    most = None if limit is None else whole_number(limit, name="limit")
    reader = _Reader(root)
    items: list[Item] = []
    for line in read_lines(root):
        if len(items) == most:
            break
        if domain is not None and line.words.get("domain") != domain:
            continue
        try:
            items.append(reader.item(line))
        except LeftOut as reason:
            reader.rejected.append(reason.rejection(line.id or line.where))
    description = _DESCRIPTION.format(folder=root.name, n=len(items))
    return Corpus("protobias", tuple(items), tuple(reader.rejected), description)


@dataclass(slots=True)
class _Reader:
    """Turns lines into items, and remembers the texts of the ids that it has seen."""

    root: Path
    rejected: list[Rejection] = field(default_factory=list)
    seen: dict[str, list[str]] = field(default_factory=dict)

    def item(self, line: Line) -> Item:
        """Return the item of a line.

        Raises:
            LeftOut: with the reason, where it cannot be used.
        """
        if line.id is None or "text" not in line.words:
            raise LeftOut("missing-cell", f"{line.where} has no {'id' if line.id is None else 'text'}; fill it in")
        lacking = [name for name in NEEDED if name not in line.images]
        if lacking:
            columns = " or ".join(IMAGES[lacking[0]])
            raise LeftOut("missing-cell", f"{line.where} has no picture in {columns}; fill it in")
        text, before = line.words["text"], self.seen.get(line.id, [])
        if any(other != text for other in before):
            raise LeftOut(
                "duplicate-id", f"{line.where}: id {line.id!r} was there before with another text; rename one"
            )
        files = {name: self._file(cell, f"{line.where}, {name}") for name, cell in line.images.items()}
        path, header, digest = files.pop("correct_image")
        self.seen[line.id] = [*before, text]
        facts = {name: line.words[name] for name in FACTS if name in line.words}
        return Item(
            id=f"{line.id}#{len(before) + 1}" if before else line.id,
            corpus="protobias",
            image_path=path,
            width=header.width,
            height=header.height,
            captions={"en": (text, *([line.words["correct"]] if "correct" in line.words else []))},
            source=line.where,
            group=line.id,
            bytes_sha256=digest,
            rivals=tuple(_rival(name, *files[name], own=header) for name in IMAGES if name in files),
            facts=facts,
        )

    def _file(self, cell: str | bytes, where: str) -> tuple[Path, ImageHeader, str | None]:
        """Path, header, and the hash that a file of the cache must have."""
        path, digest = (
            (self._path(cell, where), None) if isinstance(cell, str)
            else keep_image(cell, folder="protobias", where=where)
        )  # fmt: skip
        return path, auditable_header(path, where=where), digest

    def _path(self, name: str, where: str) -> Path:
        try:
            path = inside(self.root, name)
        except InvalidInput as error:
            raise LeftOut("unsafe-path", f"{where}: {error}") from error
        if not path.is_file():
            raise LeftOut("missing-image", f"{where}: there is no file {name!r} in {self.root}; put it there")
        return path


def _rival(role: str, path: Path, header: ImageHeader, digest: str | None, *, own: ImageHeader) -> Rival:
    """A rival, with its size where that is not the size of the item's own picture."""
    size = (header.width, header.height)
    return Rival(role, path, {}, digest, size=None if size == (own.width, own.height) else size)
