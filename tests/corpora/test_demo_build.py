"""Building the demo corpus: the same bytes again, and never over something else."""

import csv
import json
import os
import shutil
from pathlib import Path

import pytest

from core import settings
from core.corpora.demo import load_demo, load_demo_prototypes, load_demo_scenes, pictures_of
from core.errors import BadCorpus, InvalidInput
from tests.corpora.stamp_folder import stamp
from tools.demo_corpus.build import build_demo
from tools.demo_corpus.plan import read_plan
from tools.demo_corpus.quadruples import read_quadruples, text
from tools.demo_corpus.scenes import captions, read_scenes

SHIPPED = settings.ROOT / "data" / "demo"
ASSETS = settings.ROOT / "assets" / "demo"
DEBIAN = Path("/usr/share/tuxpaint/stamps")
"""Where Debian's tuxpaint-stamps-default puts its stamps."""
PHOTOGRAPHS = ("astronaut", "cat", "coffee-cup", "dahlia", "motorcycle", "pagoda", "photographer", "rocket")


@pytest.fixture(scope="module")
def plan_rows() -> list[dict[str, str]]:
    with (ASSETS / "items.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def stamps(tmp_path: Path, plan_rows: list[dict[str, str]]) -> Path:
    """Drawn ellipses under the names of the first stamps of the plan."""
    folder = tmp_path / "stamps"
    for row in plan_rows[:12]:
        stamp(folder, row["stamp"], (int(row["width"]) * 3 // 4, int(row["height"]) * 3 // 4))
    return folder


@pytest.fixture
def few(plan_rows: list[dict[str, str]]) -> list[str]:
    return [row["id"] for row in plan_rows[:12] if row["coverage_bin"] in ("10-20", "20-35")]


@pytest.fixture(scope="module")
def real_stamps() -> Path:
    given = os.environ.get("INVARISCOPE_STAMPS", "")
    folder = Path(given) if given else DEBIAN
    if not given and not folder.is_dir():
        pytest.skip(f"no stamps at {DEBIAN}; install tuxpaint-stamps-default, or set INVARISCOPE_STAMPS to its stamps")
    return folder


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_building_twice_gives_the_same_bytes(tmp_path: Path, stamps: Path, few: list[str]) -> None:
    seen: list[tuple[int, int]] = []
    built = build_demo(tmp_path / "one", stamps=stamps, only=few, progress=lambda *done: seen.append(done))
    again = build_demo(tmp_path / "two", stamps=stamps, only=few)
    assert bytes_of(built) == bytes_of(again)
    assert seen == [(number, len(few)) for number in range(1, len(few) + 1)]
    assert [item.id for item in load_demo.load(built).items] == few


def test_one_item_does_not_depend_on_the_others(tmp_path: Path, stamps: Path, few: list[str]) -> None:
    all_of_them = build_demo(tmp_path / "all", stamps=stamps, only=few)
    last = build_demo(tmp_path / "last", stamps=stamps, only=few[-1:])
    one, other = (pictures_of(each) / "images" / f"{few[-1]}.jpg" for each in (all_of_them, last))
    assert one.read_bytes() == other.read_bytes()


def test_photographs_come_out_as_shipped(tmp_path: Path, stamps: Path) -> None:
    built = build_demo(tmp_path / "photographs", stamps=stamps, only=PHOTOGRAPHS)
    one, other = (pictures_of(each) / "images" for each in (built, SHIPPED))
    for name in PHOTOGRAPHS:
        assert (one / f"{name}.jpg").read_bytes() == (other / f"{name}.jpg").read_bytes()
    shipped = (SHIPPED / "items.jsonl").read_text(encoding="utf-8").splitlines()
    assert set((built / "items.jsonl").read_text(encoding="utf-8").splitlines()) <= set(shipped)


def test_everything_comes_out_as_shipped(tmp_path: Path, real_stamps: Path) -> None:
    built, shipped = bytes_of(build_demo(tmp_path / "demo", stamps=real_stamps)), bytes_of(SHIPPED)
    assert set(built) == set(shipped)
    assert [name for name, data in built.items() if data != shipped[name]] == []


def test_scenes_and_quadruples_say_what_the_lists_say_without_a_stamp() -> None:
    plan = read_plan(ASSETS)
    words = read_scenes(ASSETS, plan)
    scenes = {item.id: dict(item.captions) for item in load_demo_scenes.load(SHIPPED).items}
    assert scenes == {entry.id: captions(entry, plan, words) for entry in words.scenes}
    quadruples = {item.id: item.captions["en"] for item in load_demo_prototypes.load(SHIPPED).items}
    entries = read_quadruples(ASSETS.parent / "prototypes.csv", ASSETS)
    assert quadruples == {each.id: (text(each, plan.grammar.places),) for each in entries}


def test_what_ships_is_what_the_lists_name() -> None:
    plan = read_plan(ASSETS)
    records = [json.loads(line) for line in (SHIPPED / "items.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [record["id"] for record in records] == list(plan.ids)
    assert {item.stamp for item in plan.items} == set(plan.stamps)
    written = {entry.stamp for entry in plan.stamps.values() if entry.captions == "written"}
    assert set(plan.captions) == written | set(PHOTOGRAPHS)


def test_a_former_build_is_replaced(tmp_path: Path, stamps: Path, few: list[str]) -> None:
    output = build_demo(tmp_path / "demo", stamps=stamps, only=few)
    build_demo(output, stamps=stamps, only=few[:1])
    assert [path.name for path in (pictures_of(output) / "images").iterdir()] == [f"{few[0]}.jpg"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["demo", "stamps"]


def test_a_folder_of_something_else_is_never_replaced(tmp_path: Path, stamps: Path, few: list[str]) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.txt").write_text("years of work")
    with pytest.raises(InvalidInput, match="exists and is no demo corpus"):
        build_demo(tmp_path / "precious", stamps=stamps, only=few)
    assert (tmp_path / "precious" / "thesis.txt").read_text() == "years of work"


def test_a_build_that_fails_leaves_the_former_one(tmp_path: Path, stamps: Path, few: list[str]) -> None:
    output = build_demo(tmp_path / "demo", stamps=stamps, only=few)
    before = bytes_of(output)
    for path in stamps.rglob("*.txt"):
        path.unlink()
    with pytest.raises(BadCorpus, match=f"item {few[0]!r}: the text|has no text"):
        build_demo(output, stamps=stamps, only=few)
    assert bytes_of(output) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["demo", "stamps"]


def test_an_unknown_item_is_named(tmp_path: Path, stamps: Path) -> None:
    with pytest.raises(InvalidInput, match="has no item 'unicorn'"):
        build_demo(tmp_path / "demo", stamps=stamps, only=["unicorn"])


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("items.csv", ",0-10,", ",0-15,", "'0-15' must be one of 0-10"),
        ("items.csv", "id,stamp", "id,stempel", "the columns must be id,stamp"),
        ("items.csv", ",512,", ",wide,", "whole pixels"),
        ("stamps.csv", ",animal,", ",beast,", "'beast' must be one of person, animal"),
        ("stamps.csv", ",yes,", ",maybe,", "'maybe' must be one of yes, no"),
        ("stamps.csv", ",stand,", ",jump,", "'jump' must be one of stand, lie, float"),
        ("captions.csv", "A white toilet.", "", "every column needs one value"),
        ("photographs.csv", "bench 43 104 240 205", "bench 43 104", "must be a label and a box in pixels"),
    ],
)
def test_a_slip_in_a_list_is_named_with_its_line(tmp_path: Path, file: str, old: str, new: str, message: str) -> None:
    lists = Path(shutil.copytree(ASSETS, tmp_path / "lists"))
    text = (lists / file).read_text(encoding="utf-8")
    assert old in text
    (lists / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(BadCorpus, match=message) as told:
        read_plan(lists)
    assert file in str(told.value)


def test_a_list_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadCorpus, match=r"stamps\.csv cannot be read"):
        read_plan(tmp_path)


def test_two_items_of_one_name_are_told(tmp_path: Path) -> None:
    lists = Path(shutil.copytree(ASSETS, tmp_path / "lists"))
    rows = (lists / "items.csv").read_text(encoding="utf-8").splitlines()
    (lists / "items.csv").write_text("\n".join([*rows, rows[1]]) + "\n", encoding="utf-8")
    with pytest.raises(BadCorpus, match="two items are named"):
        read_plan(lists)
