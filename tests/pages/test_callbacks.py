"""Which callbacks of the pages ask again who pressed: found in the pages' own code, not in a list."""

import ast
from collections.abc import Iterator

import pytest

from core.settings import ROOT
from pages.views.common import callbacks
from pages.views.common.callbacks import operators_only

KEPT = {"Study", "Story", "Pair", "JobRequest"}
"""Types of what callbacks change on the disk."""
WRITERS = {("core.analysis.suites.result", "store"), ("core.analysis.systems.file", "write_leaderboard")}
"""Functions by which a page writes what was asked for by a callback that takes nothing."""
ON = {"on_click", "on_change", "on_submit"}


def changing() -> Iterator[tuple[str, ast.FunctionDef]]:
    """Callbacks of every page that are given something that is kept, by the types of what they take; or nothing, where
    what they ask for is written."""
    trees = {
        str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8"))
        for path in (ROOT / "pages").rglob("*.py")
    }
    passed = {(_home(trees[path], path, name), name) for path, tree in trees.items() for name in _passed(tree)}
    for path, tree in trees.items():
        for each in tree.body:
            if isinstance(each, ast.FunctionDef) and (path, each.name) in passed:
                types = {word for one in each.args.args if one.annotation for word in _words(one.annotation)}
                acts = "Callable" in types and not types & {"PageState"}
                if types & KEPT or acts or (_asks(each) and _writes(tree)):
                    yield f"{path}:{each.name}", each


def _passed(tree: ast.Module) -> set[str]:
    calls = (each for each in ast.walk(tree) if isinstance(each, ast.Call))
    words = (word for call in calls for word in call.keywords if word.arg in ON)
    return {word.value.id for word in words if isinstance(word.value, ast.Name)}


def _asks(found: ast.FunctionDef) -> bool:
    return not found.args.args


def _writes(tree: ast.Module) -> bool:
    imported = {
        (each.module, alias.name) for each in tree.body if isinstance(each, ast.ImportFrom) for alias in each.names
    }
    return bool(imported & WRITERS)


def _home(tree: ast.Module, path: str, name: str) -> str:
    """File in which a function that a page passes is defined: the page's own, or the one it is imported from."""
    for each in tree.body:
        if isinstance(each, ast.ImportFrom) and each.module and name in {alias.name for alias in each.names}:
            return f"{each.module.replace('.', '/')}.py"
    return path


def _words(found: ast.expr) -> set[str]:
    return {each.id for each in ast.walk(found) if isinstance(each, ast.Name)}


def test_every_callback_that_changes_what_is_kept_asks_who_pressed() -> None:
    found = dict(changing())
    assert len(found) > 10
    assert {name.partition(":")[0].split("/")[-2] for name in found} >= {
        "stories", "failures", "human_validation", "suites", "systems",
    }  # fmt: skip
    open_to_all = [
        name for name, each in found.items()
        if "operators_only" not in {word for mark in each.decorator_list for word in _words(mark)}
    ]  # fmt: skip
    assert open_to_all == []


@pytest.mark.parametrize("right", [True, False])
def test_a_callback_does_nothing_for_who_lost_the_right(right: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callbacks, "may_operate", lambda: right)
    done = list[int]()
    operators_only(done.append)(1)
    assert done == [1] * right
