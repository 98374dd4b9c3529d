"""Files of captioners: one system a file, or one system a column of a table; see :mod:`core.corpora.caption_tables`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.corpora.caption_tables import CaptionTable, parse_caption_table, read_caption_table, said_text
from core.corpora.ordinary_paths import ordinary
from core.corpora.packed_pictures import PACKED
from core.corpora.table_cells import MOST_BYTES
from core.errors import BadCorpus

MOST_SYSTEMS = 100
"""Systems of one leaderboard, at most: 4 950 pairs of them."""


@dataclass(frozen=True, slots=True)
class System:
    """The captions of one captioner.

    Args:
        name: unique on its leaderboard.
        captions: by the image as the file names it; the first is the system's caption, the others are further samples.
    """

    name: str
    captions: Mapping[str, tuple[str, ...]]


def read_systems(path: Path, *, name: str = "") -> tuple[System, ...]:
    """Read the systems of one file; see :func:`parse_systems`.

    Args:
        path: of the file.
        name: of its system; empty: the file's own without its ending. A table has its own names.

    Raises:
        BadCorpus: if the file cannot be read, or not as captions.
    """
    try:
        packed = path.suffix.lower() in PACKED
        if not packed and ordinary(path).stat().st_size > MOST_BYTES:
            raise BadCorpus(f"{path} has {path.stat().st_size:,} bytes and at most {MOST_BYTES:,} are taken; split it")
        table = read_caption_table(path) if packed else parse_caption_table(path.read_bytes(), name=path.name)
    except OSError as error:
        raise BadCorpus(f"{path} cannot be read ({error.strerror or error}); give a file of captions") from error
    return _systems(table, path.name, name)


def parse_systems(data: bytes, *, name: str) -> tuple[System, ...]:
    """Read the systems of one file from an upload.

    Args:
        data: what was uploaded, at most MOST_BYTES.
        name: of the file; its ending says how it is read.

    Raises:
        BadCorpus: in one sentence that names the file and the first entry that is wrong.
    """
    if len(data) > MOST_BYTES:
        raise BadCorpus(f"{name} has {len(data):,} bytes and at most {MOST_BYTES:,} are taken; split it")
    return _systems(parse_caption_table(data, name=name), name, "")


def _systems(table: CaptionTable, name: str, called: str) -> tuple[System, ...]:
    held: dict[str, dict[str, tuple[str, ...]]] = {}
    own, said, beside = called.strip() or Path(name.removesuffix(".gz")).stem, dict[str, tuple[str, ...]](), set[str]()
    for row in table.whole_rows():
        picture = row.image or row.key
        if picture in said or picture in beside:
            raise BadCorpus(f"{table.where(row.number)}: {picture!r} was there before; keep one")
        if row.captions:
            said[picture] = row.captions
            continue
        beside.add(picture)
        for column, cell in row.rest.items() if table.columns else ():
            texts = held.setdefault(table.columns[column], {})
            if (text := said_text(cell) or "").strip():
                texts[picture] = (text,)
    held |= {own: said} if said else {}
    if called and table.columns and set(held) != {own}:
        raise BadCorpus(f"{name} is a table whose columns name its systems; leave the name {called!r} out")
    if (beside or held) and not any(
        text.strip() for each in held.values() for texts in each.values() for text in texts
    ):
        raise BadCorpus(
            f"{name} holds no caption: there is no column of captions beside the image; add one for each "
            "system, or name it caption or prediction"
        )
    for column, captions in held.items():
        _no_numbers(column, captions, name)
    return tuple(System(column, captions) for column, captions in held.items())


def unlike(systems: Sequence[System]) -> tuple[System, ...]:
    """Return the systems after checking that no two share a name and that they are not too many.

    Raises:
        BadCorpus: otherwise, or if there is none.
    """
    if not systems:
        raise BadCorpus("there is no system; give at least one file of captions")
    if len(systems) > MOST_SYSTEMS:
        raise BadCorpus(f"at most {MOST_SYSTEMS} systems stand on one leaderboard, got {len(systems)}; leave some out")
    names = [each.name for each in systems]
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise BadCorpus(f"two systems are called {twice!r}; rename one, as in NAME=path/to/candidates.json")
    return tuple(systems)


def _no_numbers(column: str, held: Mapping[str, tuple[str, ...]], where: str) -> None:
    """A column of scores among those of captions is a slip that every later number would hide."""
    if held and all(_is_number(text) for texts in held.values() for text in texts):
        first = next(iter(held.values()))[0]
        raise BadCorpus(f"{where}: column {column!r} holds numbers such as {first!r} and no captions; leave it out")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
