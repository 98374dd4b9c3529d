"""Files of captioners: one system a file, a column of a table, or a value of its column ``system``.

See :mod:`core.corpora.caption_tables`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.corpora.caption_tables import CaptionTable, parse_caption_table, read_caption_table, said_text
from core.corpora.ordinary_paths import ordinary
from core.corpora.packed_pictures import PACKED
from core.corpora.table_cells import MOST_BYTES, plain_name
from core.errors import BadCorpus

MOST_SYSTEMS = 100
"""Systems of one leaderboard, at most: 4 950 pairs of them."""

TELLERS = ("system", "captioner", "model", "method")
"""Columns that say whose caption a row holds, where a table has a row for each picture and system."""

_METADATA = """
    split subset set fold category categories supercategory class classes label labels tag tags domain topic genre style
    type source origin dataset corpus url image_url coco_url flickr_url link license licence lang language locale
    country site width height size format date time timestamp author annotator annotator_id worker_id photographer
    prompt question instruction md5 sha256 hash note notes remark remarks
"""
METADATA = frozenset((*_METADATA.split(), *TELLERS))
"""Plain names of columns that stand beside captions and are no captioner's."""

LEAST, HANDFUL = 4, 12
"""Pictures from which a column is known by its values, and the most that are a handful."""


@dataclass(frozen=True, slots=True)
class System:
    """The captions of one captioner.
    ``name``: unique on its leaderboard.
    ``captions``: by the image as the file names it; the first is the system's caption, the others are further samples.
    ``remark``: which columns of its file were not taken as systems; empty: none."""

    name: str
    captions: Mapping[str, tuple[str, ...]]
    remark: str = ""


def read_systems(path: Path, *, name: str = "") -> tuple[System, ...]:
    """Read the systems of one file; see :func:`parse_systems`.
    ``name``: of its system; empty: the file's own without its ending. Of a table that names several, the one to take.
    Raises BadCorpus if the file cannot be read, or not as captions."""
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
    ``data``: what was uploaded, at most MOST_BYTES. ``name``: of the file; its ending says how it is read.
    Raises BadCorpus, in one sentence that names the file and the first entry that is wrong."""
    if len(data) > MOST_BYTES:
        raise BadCorpus(f"{name} has {len(data):,} bytes and at most {MOST_BYTES:,} are taken; split it")
    return _systems(parse_caption_table(data, name=name), name, "")


def _systems(table: CaptionTable, name: str, called: str) -> tuple[System, ...]:
    own = called.strip() or Path(name.removesuffix(".gz")).stem
    held, wide = _said(table, own)
    told = {column: why for column, texts in held.items() if wide and (why := _no_captions(column, texts))}
    if called and held:
        if own not in held:
            raise BadCorpus(
                f"{name} names its systems itself, {', '.join(held)[:200]}; leave the name {called!r} out or "
                "give one of these"
            )
        told, held = {}, {own: held[own]}
    remark = f"{name}: not taken as systems: {', '.join(told.values())}; NAME={name} takes the column NAME alone"
    held = {column: texts for column, texts in held.items() if column not in told}
    if (held or wide) and not any(text.strip() for each in held.values() for texts in each.values() for text in texts):
        raise BadCorpus(
            f"{name} holds no caption: there is no column of captions beside the image; add one for each "
            f"system, or name it caption or prediction{f'. {remark}' if told else ''}"
        )
    for column, captions in held.items():
        _no_numbers(column, captions, name)
    return tuple(System(column, captions, remark if told else "") for column, captions in held.items())


def _said(table: CaptionTable, own: str) -> tuple[dict[str, dict[str, tuple[str, ...]]], bool]:
    """Captions by system and picture, and whether the systems are columns; rows of one captioner are those of ``own``.
    Raises BadCorpus naming the first row of a picture that its system has captioned before."""
    held: dict[str, dict[str, tuple[str, ...]]] = {}
    known, wide = set[tuple[str, str]](), False
    for row in table.whole_rows():
        picture, wide = row.image or row.key, bool(table.columns) and not row.captions
        teller = next((str(row.rest[each] or "").strip() for each in TELLERS if each in row.rest), "")
        system = (not wide and teller) or own
        if (system, picture) in known:
            raise BadCorpus(f"{table.where(row.number)}: {picture!r} was there before; keep one")
        known.add((system, picture))
        if not wide:
            held.setdefault(system, {})
            held[system] |= {picture: row.captions} if row.captions else {}
        for column, cell in row.rest.items() if wide else ():
            texts = held.setdefault(table.columns[column], {})
            if (text := said_text(cell) or "").strip():
                texts[picture] = (text,)
    return ({own: held.popitem()[1]} if len(held) == 1 and not wide else held), wide


def _no_captions(column: str, held: Mapping[str, tuple[str, ...]]) -> str:
    """The column in words, where by its name or its few values it says what a picture is and not what it shows."""
    different = len(set(held.values()))
    if plain_name(column) in METADATA:
        return f"{column!r} (by its name)"
    few = len(held) >= LEAST and different <= min(HANDFUL, len(held) // 2)
    return f"{column!r} ({different} value{'s'[: different != 1]} for {len(held):,} pictures)" if few else ""


def unlike(systems: Sequence[System]) -> tuple[System, ...]:
    """Return the systems after checking that no two share a name and that they are not too many.
    Raises BadCorpus otherwise, or if there is none."""
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
