"""The tests' own distribution over processes names what is there."""

import pytest

from core.settings import ROOT
from tests import spread


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
