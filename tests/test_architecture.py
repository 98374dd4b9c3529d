"""The drawing of the rooms against the imports: what is drawn exists, what exists is drawn or follows from it."""

import re
from pathlib import Path

import pytest

from tests import test_house
from tools.rooms import ENDS, PAPER, ROOMS, ROOT, arrows, filled, imports_of_rooms

TEXT = (ROOT / PAPER).read_text(encoding="utf-8")
DRAWN = re.findall(r"^    (\w+) --> (\w+)$", TEXT, flags=re.M)
LISTED = {
    room: set(re.findall(r"`(\w+)`", others))
    for room, others in re.findall(r"^\| `(\w+)` \| (.*) \|$", TEXT, flags=re.M)
}


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A small house: evaluators knows probes, probes knows corpora."""
    for room in ("corpora", "probes", "evaluators"):
        (tmp_path / "core" / room).mkdir(parents=True)
        (tmp_path / "core" / room / "__init__.py").touch()
    (tmp_path / "core" / "probes" / "base.py").write_text("from core.corpora.schema import Item\n")
    (tmp_path / "core" / "evaluators" / "base.py").write_text("import core.probes.base\n")
    return tmp_path


def test_the_drawing_and_the_table_are_those_of_the_imports() -> None:
    assert filled(TEXT, imports_of_rooms()) == TEXT, "imports between rooms changed: python tools/rooms.py --write"


def test_every_arrow_drawn_is_an_import_that_exists() -> None:
    assert DRAWN
    assert all(start in LISTED[end] for start, end in DRAWN)


def test_every_import_follows_from_the_arrows() -> None:
    ways = {room: {start for start, end in DRAWN if end == room} for room in LISTED}
    for _ in LISTED:
        ways = {room: near.union(*(ways[each] for each in near)) for room, near in ways.items()}
    assert all(others <= ways[room] for room, others in LISTED.items())


def test_the_rooms_drawn_are_the_rooms_that_are_guarded_and_the_folders_that_exist() -> None:
    assert ROOMS == test_house.ROOMS
    folders = {path.parent.name for path in ROOT.glob("core/*/__init__.py")}
    assert {*ROOMS, *ENDS} == folders | {"pages"} == set(LISTED)


@pytest.mark.parametrize("folder", sorted({path.parent for path in ROOT.glob("core/**/*.py")} - {ROOT / "core"}))
def test_every_folder_of_the_core_is_explained(folder: Path) -> None:
    assert f"`{folder.relative_to(ROOT).as_posix()}/`" in TEXT


@pytest.mark.parametrize(
    "line",
    [
        "from core.evaluators.base import Evaluator",
        "import core.evaluators.base",
        "from core import evaluators",
        "from ..evaluators import base",
        "def late():\n    from core.evaluators.base import Evaluator",
    ],
)
def test_a_new_import_between_rooms_is_seen_however_it_is_written(house: Path, line: str) -> None:
    before = imports_of_rooms(house)
    (house / "core" / "corpora" / "folder.py").write_text(line + "\n")
    after = imports_of_rooms(house)
    assert (before["corpora"], after["corpora"]) == (frozenset(), {"evaluators"})
    blank = "".join(f"<!-- rooms: {name} -->\n<!-- end of rooms: {name} -->\n" for name in ("drawing", "table"))
    assert filled(blank, before) != filled(blank, after)


def test_an_arrow_that_follows_from_others_is_not_drawn(house: Path) -> None:
    (house / "core" / "evaluators" / "near.py").write_text("from core.corpora.schema import Item\n")
    found = imports_of_rooms(house)
    assert found["evaluators"] == {"corpora", "probes"}
    assert arrows(found) == [("corpora", "probes"), ("probes", "evaluators")]


def test_a_document_that_lost_the_place_of_the_drawing_is_told(house: Path) -> None:
    with pytest.raises(SystemExit, match="no place for the drawing"):
        filled("nothing here", imports_of_rooms(house))
