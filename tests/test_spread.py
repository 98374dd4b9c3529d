"""The tests' own tools: processes that what is there is spread over, and what ``make quick`` chooses for a change."""

import re
import subprocess
from pathlib import Path

import pytest

from core.settings import ROOT
from tests import spread, touched


@pytest.mark.parametrize("place", [*spread.LONGEST, *spread.TOGETHER])
def test_what_is_begun_first_or_kept_together_is_there(place: str) -> None:
    assert (ROOT / place).exists()


def test_rooms_get_several_processes_and_single_files_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for cores, several in ((1, 0), (2, 3), (64, spread.MOST_PROCESSES)):
        monkeypatch.setattr(spread.os, "cpu_count", lambda cores=cores: cores)
        assert spread.processes(["tests"]) == several
        assert spread.processes(["tests/audit", "tests/test_house.py"]) == several
        assert (
            spread.processes(["tests/test_house.py", "tests/audit/test_run.py::test_progress_counts_to_the_end"]) == 0
        )


def test_the_processes_together_compute_with_a_thread_a_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spread.os, "cpu_count", lambda: 8)
    assert [spread.threads(count) for count in (1, 2, 4, 16)] == [8, 4, 2, 1]


def test_files_that_share_what_takes_long_to_make_go_to_one_process() -> None:
    scheduler = object.__new__(spread.FilesLongestFirst)
    for place, shared in spread.TOGETHER.items():
        file = place if place.endswith(".py") else f"{place}/test_any.py"
        assert scheduler._split_scope(f"{file}::test_it[a::b]") == shared
    for alone in ("tests/reporting/test_any.py", "tests/pages/test_scope.py"):
        assert scheduler._split_scope(f"{alone}::test_it") == alone


def test_what_reads_the_report_of_the_shipped_run_goes_where_it_is_made() -> None:
    readers = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests").rglob("test_*.py")
        if re.search(r"def .*\bdemo_report\b", path.read_text(encoding="utf-8"))
    ]
    places = [place for place, shared in spread.TOGETHER.items() if shared == "the report of the shipped run"]
    assert len(readers) > 5
    assert not [each for each in readers if not any(f"{each}/".startswith(f"{place}/") for place in places)]


HOUSE = {
    "core/__init__.py": "",
    "core/shifts.py": "",
    "core/tables.py": "from core import shifts",
    "core/words.py": "def said():\n    import core.shifts",
    "pages/overview.py": "from core.tables import nothing",
    "tests/test_house.py": "",
    "tests/test_shifts.py": "from core.shifts import nothing",
    "tests/test_tables.py": "import core.tables",
    "tests/test_page.py": 'OVERVIEW = "pages/overview.py"',
    "tests/squares.py": "",
    "tests/test_squares.py": "from tests.squares import build",
}


@pytest.fixture
def house(tmp_path: Path) -> Path:
    for name, text in HOUSE.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("file", "tests"),
    [
        ("core/shifts.py", ["tests/test_shifts.py"]),  # nearer than those of what imports it
        ("core/tables.py", ["tests/test_tables.py"]),
        ("core/words.py", []),  # nobody reaches it
        ("pages/overview.py", ["tests/test_page.py"]),
        ("tests/squares.py", ["tests/test_squares.py"]),
        ("tests/test_tables.py", ["tests/test_tables.py"]),
        ("README.md", []),
    ],
)
def test_a_change_touches_what_is_nearest_to_it_and_the_house(file: str, tests: list[str], house: Path) -> None:
    assert touched.touched([file], house) == sorted(["tests/test_house.py", *tests])


def test_a_module_that_is_gone_is_missed_by_those_who_still_name_it(house: Path) -> None:
    (house / "core" / "shifts.py").unlink()
    assert "tests/test_shifts.py" in touched.touched(["core/shifts.py"], house)


def test_what_differs_from_main_is_committed_changed_new_or_gone(house: Path) -> None:
    def git(*words: str) -> None:
        who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *who, *words], cwd=house, check=True, capture_output=True)

    git("init", "--initial-branch", "main")
    git("add", ".")
    git("commit", "--message", "A house")
    assert touched.changed(house) == []
    git("switch", "--create", "work")
    (house / "core" / "tables.py").write_text("from core import words", encoding="utf-8")
    git("commit", "--all", "--message", "Words")
    (house / "core" / "shifts.py").unlink()
    (house / "core" / "words.py").write_text("", encoding="utf-8")
    (house / "new.md").write_text("new", encoding="utf-8")
    assert touched.changed(house) == ["core/shifts.py", "core/tables.py", "core/words.py", "new.md"]


def test_what_is_always_run_is_there() -> None:
    assert [each for each in touched.ALWAYS if not (touched.ROOT / each).is_file()] == []
