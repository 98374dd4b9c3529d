"""Prints the tests that a change touches: those nearest to what differs from main, and those of house and documents.

python -m tests.touched    # make quick hands them to pytest
"""

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ALWAYS = ("tests/test_house.py", "tests/test_architecture.py", "tests/test_documents.py")
"""What a change may break wherever it is, in seconds."""


def changed(root: Path = ROOT) -> list[str]:
    """Files that differ from main's last common commit, those that git does not know yet included.

    Raises:
        subprocess.CalledProcessError: where there is no checkout.
    """
    named = _git(root, "for-each-ref", "--format=%(refname)", "refs/heads/main", "refs/remotes/origin/main")
    base = _git(root, "merge-base", "HEAD", named[0])[0] if named else "HEAD"
    new = _git(root, "ls-files", "--others", "--exclude-standard")
    return sorted({*_git(root, "diff", "--name-only", "--no-renames", base), *new})


def touched(files: Iterable[str], root: Path = ROOT) -> list[str]:
    """Choose the test files for changed files.

    Args:
        files: paths below the root, of files that may be gone.
        root: folder of the checkout.

    Returns:
        For a module the tests that import it, else those the fewest imports away; for any other file the tests that
        name it; for a test itself; and ALWAYS.
    """
    files = list(files)
    users = _users(root, {_dotted(file): file for file in files if file.endswith(".py")})
    tests = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in _tests(root)}
    found = {*ALWAYS}
    for file in files:
        if file in tests:
            found.add(file)
        elif file.endswith(".py"):
            found |= _nearest(file, users, tests)
        found |= {test for test, text in tests.items() if f'"{file}"' in text}
    return sorted(found & tests.keys())


def _nearest(file: str, users: Mapping[str, set[str]], tests: Mapping[str, str]) -> set[str]:
    """Tests that reach a module over the fewest imports."""
    seen, edge = {file}, {file}
    while edge:
        edge = {user for each in edge for user in users.get(each, ())} - seen
        if found := edge & tests.keys():
            return found
        seen |= edge
    return set()


def _users(root: Path, gone: Mapping[str, str]) -> dict[str, set[str]]:
    """File -> the files whose imports, wherever in their text, name it."""
    sources = [path for top in ("core", "pages", "tests") for path in sorted((root / top).rglob("*.py"))]
    paths = [path.relative_to(root).as_posix() for path in (*sources, *root.glob("*.py"))]
    modules = {**gone, **{_dotted(path): path for path in paths}}
    users: dict[str, set[str]] = {}
    for path in paths:
        for name in _imported((root / path).read_text(encoding="utf-8")):
            if name in modules:
                users.setdefault(modules[name], set()).add(path)
    return users


def _imported(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _dotted(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _tests(root: Path) -> list[Path]:
    return sorted((root / "tests").rglob("test_*.py"))


def _git(root: Path, *words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


if __name__ == "__main__":
    sys.stdout.write("\n".join(touched(changed())) + "\n")
