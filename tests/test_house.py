"""What holds for the whole house: who may import whom, and that importing does nothing."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOUNDATION = {"errors", "feature", "file_contents", "registry", "seeds", "settings", "writing", "yes_no"}
ROOMS = (
    "charts", "statistics", "corpora", "probes", "evaluators", "store", "stories", "audit", "jobs", "scoring",
    "analysis", "report", "api",
)  # fmt: skip
FORMER = {"human": ("studies",)}
"""Feature -> modules that scripts may still ask for where they stood before."""

ENDS = ("commands", "features")
"""What stands at the right end of core, like the pages: it may import every room."""

NOT_IN_PAGES = ("torch", "duckdb", "scipy", "statsmodels", "sklearn", "pyarrow", "core.store.sql")
STATEMENT = re.compile(
    r"\s*(select\b.*\bfrom|with\b.*\bas\s*\(|insert\s+into|copy\b.*\bto|create\s+(table|view|macro))\b", re.I | re.S
)
"""How a statement of SQL begins."""

TOLD_BY_THEIR_ROOM = {
    "app.py",
    "base.py",
    "comparisons.py",
    "registry.py",
    "request.py",
    "runs.py",
    "schema.py",
    "selectivity.py",
}
"""Names of files that several rooms have: each is the same thing, as its room sees it."""

HEAVY = ("torch", "timm", "transformers", "sentence_transformers", "streamlit", "statsmodels", "skimage", "sklearn")


def modules() -> list[Path]:
    return sorted((ROOT / "core").rglob("*.py"))


def page_modules() -> list[Path]:
    return [ROOT / "app.py", ROOT / "serve.py", *sorted((ROOT / "pages").rglob("*.py"))]


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def room_of(name: str) -> str | None:
    """Room or module of core; ``feature`` is what a feature is and how they are found, which every room may ask."""
    parts = name.split(".")
    if name == "core.features" or parts[:3] == ["core", "features", "feature"]:
        return "feature"
    return parts[1] if parts[0] == "core" and len(parts) > 1 else None


@cache
def imports(path: Path) -> tuple[str, ...]:
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
    return tuple(found)


def rooms_used(path: Path) -> set[str]:
    return {found for name in imports(path) if (found := room_of(name))}


def allowed(room: str) -> set[str]:
    """What a room or a file of core may import."""
    if room in ROOMS:  # which features, tests/features/test_walls.py says
        return FOUNDATION | {"__version__", "features", *ROOMS[: ROOMS.index(room) + 1]}
    if room.removesuffix(".py") in FOUNDATION | {"__init__"}:
        return FOUNDATION | {"__version__"}
    return FOUNDATION | {*ROOMS, *ENDS, "__version__"}


def offenders(found: Mapping[Path, Collection[str]]) -> dict[str, list[str]]:
    """File -> what it should not have; of the files that have such."""
    return {str(path.relative_to(ROOT)): sorted(wrong) for path, wrong in found.items() if wrong}


def test_no_room_imports_one_to_its_right() -> None:
    assert len(modules()) > 100
    assert not offenders(
        {path: rooms_used(path) - allowed(path.relative_to(ROOT / "core").parts[0]) for path in modules()}
    )


def test_core_knows_no_page() -> None:
    outside = ("pages", "streamlit", "app")
    assert not offenders(
        {path: [name for name in imports(path) if name.split(".")[0] in outside] for path in modules()}
    )


def test_charts_import_nothing_of_the_house_but_the_foundation() -> None:
    charts = sorted((ROOT / "core" / "charts").glob("*.py"))
    assert charts
    assert not offenders({path: rooms_used(path) - FOUNDATION - {"charts"} for path in charts})


def test_the_report_as_data_knows_none_of_its_writers() -> None:
    used = set(imports(ROOT / "core" / "report" / "document.py"))
    assert not [name for name in used if name.startswith("core.report")]


def test_a_page_draws_its_figures_in_one_place() -> None:
    drawing = {
        path.relative_to(ROOT / "pages")
        for path in (ROOT / "pages").rglob("*.py")
        if "st.plotly_chart(" in path.read_text(encoding="utf-8")
    }
    assert drawing == {Path("views/common/page_drawings.py")}


def test_a_page_draws_its_tables_in_one_place() -> None:
    drawing = {
        path.relative_to(ROOT / "pages")
        for path in (ROOT / "pages").rglob("*.py")
        if re.search(r"\bst\.(dataframe|table|data_editor)\(", path.read_text(encoding="utf-8"))
    }
    assert drawing == {Path("views/common/page_drawings.py")}


def test_pages_hold_no_sql_no_tensors_no_statistics() -> None:
    assert len(page_modules()) > 50
    roots = tuple(f"{root}." for root in NOT_IN_PAGES)
    assert not offenders(
        {path: [name for name in imports(path) if f"{name}.".startswith(roots)] for path in page_modules()}
    )
    assert not offenders({path: [text for text in strings(path) if STATEMENT.match(text)] for path in page_modules()})


def strings(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_the_rooms_are_the_folders_of_core() -> None:
    folders = {path.parent.name for path in (ROOT / "core").glob("*/*.py")}
    assert folders == {*ROOMS, *ENDS}
    rest = {"__init__", "__main__", *FORMER}
    assert {path.stem for path in (ROOT / "core").glob("*.py")} == FOUNDATION - {"feature"} | rest


def test_a_former_address_gives_the_module_itself() -> None:
    for name, modules in FORMER.items():
        for module in modules:
            assert importlib.import_module(f"core.{name}.{module}") is importlib.import_module(
                f"core.features.{name}.{module}"
            )


@pytest.mark.parametrize("room", [*ROOMS, *ENDS])
def test_a_room_says_what_it_gives_what_it_may_import_and_where_to_start(room: str) -> None:
    path = ROOT / "core" / room / "__init__.py"
    told = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    assert len(re.findall(r"\.(?=\s|$)", told)) >= 3, told
    assert "may import" in told
    assert f"Start at :mod:`core.{room}." in told
    assert not list(imports(path))  # entering a room must cost nothing
    for name in re.findall(r":mod:`(core[\w.]*)`", told):
        assert find_spec(name), f"core/{room}/__init__.py speaks of {name}, which is not there"


@pytest.mark.parametrize("room", [*ROOMS, *ENDS])
def test_a_room_lists_its_doors(room: str) -> None:
    module = importlib.import_module(f"core.{room}")
    assert module.__all__ == sorted(module.__all__)
    for name in module.__all__:
        assert find_spec(f"core.{room}.{name}"), f"core.{room}.__all__ lists {name}, which is not there"


@cache
def imported() -> Mapping[str, frozenset[str]]:
    """Module of core or pages -> those that it imports, wherever in its text: at the top, in a function, for types."""
    paths = {dotted(path): path for path in (*modules(), *page_modules())}
    found = {}
    for name, path in paths.items():
        used = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                used |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                parts = {f"{node.module}.{alias.name}" for alias in node.names}
                used |= {part if part in paths else node.module for part in parts}
        found[name] = frozenset(used & paths.keys() - {name})
    return found


def circles() -> set[frozenset[str]]:
    """Sets of modules of which each leads to all others."""
    leads_to = {name: reached(name) for name in imported()}
    return {
        frozenset(other for other in leads_to[name] if name in leads_to[other])
        for name in leads_to
        if name in leads_to[name]
    }


def reached(start: str) -> set[str]:
    found: set[str] = set()
    left = [start]
    while left:
        new = imported()[left.pop()] - found
        found |= new
        left += new
    return found


def test_no_import_runs_in_a_circle() -> None:
    assert not [sorted(circle) for circle in circles()]


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
    suffixes = {".py", ".md", ".toml", ".txt", ".json", ".jsonl", ".csv", ".yml", ".css", ".ipynb", ""}
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


def test_the_formatter_alone_lays_the_code_out_but_for_some_tables_of_constants() -> None:
    """A skip is for a module's table that is read as a table; else a change of one value moves no other line."""
    kept = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for folder in ("core", "pages", "invariscope", "tests", "tools", "bench", "siege")
        for path in (ROOT / folder).rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.endswith("# fmt" + ": skip")
    ]
    assert len(kept) < 50, kept


def test_a_function_fits_a_screen_and_a_file_one_concept() -> None:
    """Statements are counted: a command's options and a description stand above them."""
    found = []
    for path in (*modules(), *page_modules()):
        text = path.read_text(encoding="utf-8")
        found += [path.name] if text.count("\n") > 500 else []
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = node.body[1:2] if ast.get_docstring(node, clean=False) else node.body[:1]
                length = (node.end_lineno or 0) - first[0].lineno + 1 if first else 0
                found += [f"{path.name}: {node.name}, {length} lines"] if length > 60 else []
    assert not found


def test_a_file_is_found_by_its_name() -> None:
    names = Counter(path.name for path in (*modules(), *page_modules()) if path.name != "__init__.py")
    assert {name for name, count in names.items() if count > 1} <= TOLD_BY_THEIR_ROOM


@pytest.mark.parametrize("room", ["evaluators", "jobs", "audit/workers"])
def test_every_public_method_is_described_by_itself_or_by_a_base_class(room: str) -> None:
    """Ruff's rule for methods is off in these rooms, for it does not see what is inherited."""
    bare = []
    for path in sorted((ROOT / "core" / room).rglob("*.py")):
        if path.stem.endswith("_process"):  # a program
            continue
        module = importlib.import_module(dotted(path))
        kinds = [each for each in vars(module).values() if inspect.isclass(each) and each.__module__ == module.__name__]
        for kind in (each for each in kinds if not each.__name__.startswith("_")):
            own = [name for name, value in vars(kind).items() if not name.startswith("_") and _is_method(value)]
            bare += [f"{kind.__qualname__}.{name}" for name in own if not _described(kind, name)]
    assert not bare, bare


def _is_method(value: object) -> bool:
    return inspect.isfunction(value) or isinstance(value, property | cached_property | classmethod | staticmethod)


def _described(kind: type, name: str) -> bool:
    return any(getattr(vars(each)[name], "__doc__", None) for each in kind.__mro__ if name in vars(each))
