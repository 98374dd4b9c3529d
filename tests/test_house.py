"""What holds for the whole house: who may import whom, and that importing does nothing."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOUNDATION = {"errors", "registry", "seeds", "settings"}
ROOMS = ("corpora", "probes", "evaluators", "audit", "training", "human", "analysis", "charts", "report")
HEAVY = ("torch", "timm", "transformers", "sentence_transformers", "streamlit", "statsmodels", "skimage", "sklearn")


def modules() -> list[Path]:
    return sorted((ROOT / "core").rglob("*.py"))


def room_of(dotted: str) -> str | None:
    parts = dotted.split(".")
    return parts[1] if parts[0] == "core" and len(parts) > 1 else None


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names if node.module == "core")


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_room_imports_one_to_its_right(path: Path) -> None:
    room = path.relative_to(ROOT / "core").parts[0]
    if room in ROOMS:
        allowed = FOUNDATION | set(ROOMS[: ROOMS.index(room) + 1])
    elif room.removesuffix(".py") in FOUNDATION | {"__init__"}:
        allowed = FOUNDATION
    else:  # the command line stands at the right end, like the pages
        allowed = FOUNDATION | set(ROOMS) | {"commands", "__version__"}
    used = {found for name in imports(path) if (found := room_of(name))} - {"__version__"}
    assert used <= allowed, f"{path.relative_to(ROOT)} imports {sorted(used - allowed)}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_core_knows_no_page(path: Path) -> None:
    assert not [name for name in imports(path) if name.split(".")[0] in ("pages", "streamlit", "app")]


@pytest.mark.parametrize("path", sorted((ROOT / "pages").glob("*.py")), ids=lambda path: path.name)
def test_pages_hold_no_sql_no_tensors_no_statistics(path: Path) -> None:
    forbidden = ("torch", "duckdb", "scipy", "statsmodels", "sklearn")
    assert not [name for name in imports(path) if name.split(".")[0] in forbidden]


def test_listing_every_plugin_loads_no_model_library() -> None:
    code = f"""
import sys, threading
from core.corpora import registry as corpora
from core.probes import registry as probes
from core.evaluators import registry as evaluators
import core.__main__
for room in (corpora, probes, evaluators):
    catalogue = room.catalogue()
    assert len(catalogue) > 0, room
    assert not catalogue.broken, catalogue.broken
heavy = [name for name in {HEAVY!r} if name in sys.modules]
assert not heavy, f"listing imported {{heavy}}"
assert threading.active_count() == 1
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def tracked_text() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    suffixes = {".py", ".md", ".toml", ".txt", ".json", ".jsonl", ".csv", ".yml", ".css", ""}
    return [ROOT / name for name in listed.stdout.splitlines() if Path(name).suffix in suffixes]


def test_nothing_tracked_names_a_folder_of_one_machine() -> None:
    pattern = re.compile(r"(?<![\w.])/(?:work|root|home/\w+)/[\w.]+")
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in tracked_text()
        if path.is_file() and path.name != "test_house.py"
        for match in [pattern.search(path.read_text(encoding="utf-8", errors="ignore"))]
        if match
    ]
    assert not found
