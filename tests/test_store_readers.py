"""Who asks the store for rows: numbers come from the one table of scores, and every other reader says why it is none.

A module that computes a median, an interval or its own count from ``scores`` or ``shifts`` would disagree with the
table on which rows count. So the modules that call ``.query``, ``.once`` or ``.table`` of a store are listed here,
with a reason.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

READERS = {
    "core/analysis/scope.py": "counts rows to choose among them",
    "core/analysis/reading.py": "reads the one table of scores",
    "core/analysis/failures.py": "lists pairs with their captions, one by one",
    "core/analysis/overview.py": "fetches the caption of the pair that the table named",
    "core/analysis/slices.py": "asks whether anybody judged a pair",
    "core/api/opened_run.py": "hands out stored rows as they are, to a notebook",
    "core/features/human/sampling.py": "draws pairs for people to judge",
    "core/features/systems/system_file.py": "enters a run's captions as systems of a leaderboard, pair by pair",
    "core/report/pair_slides.py": "fetches one caption beside its edits",
}
"""Module of core or pages -> what it asks the store for, if not numbers of scores or shifts."""

NOT_STORES = {"result", "found", "whole"}
"""Names of values with a method ``table`` or ``query`` that are no store."""


def modules() -> list[Path]:
    return sorted(path for room in ("core", "pages") for path in (ROOT / room).rglob("*.py"))


def asked(path: Path) -> Iterator[str]:
    """Every call of a method ``query``, ``once`` or ``table`` on something that may be a store."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("query", "table", "once")
        ):
            of = ast.unparse(node.func.value)
            if of.split(".")[-1] not in NOT_STORES:
                yield f"{of}.{node.func.attr}"


def readers() -> set[str]:
    return {path.relative_to(ROOT).as_posix() for path in modules() if path.name != "store.py" and any(asked(path))}


def test_only_the_named_modules_ask_the_store_for_rows() -> None:
    strangers = readers() - set(READERS)
    assert not strangers, f"read the scores by core.analysis.reading.read_table: {sorted(strangers)}"


def test_every_named_module_still_asks_the_store() -> None:
    idle = set(READERS) - readers()
    assert not idle, f"take these out of the list, they ask nothing: {sorted(idle)}"


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def test_the_files_of_runs_are_read_by_the_store_alone() -> None:
    found = {path for path in modules() if any(name.split(".")[0] == "duckdb" for name in imported(path))}
    assert found
    assert not {path for path in found if not path.is_relative_to(ROOT / "core" / "store")}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("store.query('select 1')", ["store.query"]),
        ("with Store.open(path) as s:\n    rows = s.table(sql)", ["s.table"]),
        ("rows = self._store.query(sql)", ["self._store.query"]),
        ("opened().query(sql)", ["opened().query"]),
        ("result.table()", []),
        ("frame.loc[0]", []),
    ],
)
def test_a_call_is_seen_whatever_the_store_is_called(tmp_path: Path, code: str, expected: list[str]) -> None:
    path = tmp_path / "module.py"
    path.write_text(code, encoding="utf-8")
    assert list(asked(path)) == expected
