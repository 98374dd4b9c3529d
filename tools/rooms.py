"""The rooms of the house as their imports are: a drawing and a table for docs/architecture.md.

python tools/rooms.py            # print both
python tools/rooms.py --write    # put them into docs/architecture.md
"""

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAPER = Path("docs") / "architecture.md"

ROOMS = (
    "charts",
    "statistics",
    "corpora",
    "probes",
    "evaluators",
    "store",
    "stories",
    "audit",
    "jobs",
    "scoring",
    "analysis",
    "report",
    "api",
)
"""The rooms of ``core/`` in their order: none imports one to its right."""

ENDS = ("commands", "features", "pages")
"""What stands at the right end: the command line, the features and the pages."""

FEATURE = ["core", "features", "feature"]
"""What a feature is and how they are found: no room, every room may ask it."""

Imports = Mapping[str, frozenset[str]]
"""Room -> the other rooms that one of its modules imports."""


def imports_of_rooms(root: Path = ROOT) -> Imports:
    """Read which room imports which, imports inside functions included.

    Args:
        root: folder that holds ``core/`` and ``pages/``.

    Returns:
        One entry a room, in the order of ROOMS and ENDS. What every room may import (``errors``, ``registry``,
        ``seeds``, ``settings``) is no room and is left out. Only pages are shown to import features: a room that still
        does is named in ``tests/features/test_walls.py``.
    """
    known = (*ROOMS, *ENDS)
    found: dict[str, set[str]] = {room: set() for room in known}
    for path in sorted([*root.glob("core/**/*.py"), *root.glob("pages/**/*.py")]):
        dotted = path.relative_to(root).with_suffix("").parts
        if (room := _room(dotted)) in found:
            found[room] |= {_room(name.split(".")) for name in _imported(path, dotted)} & set(known) - {room}
    for room in known[:-1]:
        found[room].discard("features")
    return {room: frozenset(others) for room, others in found.items()}


def arrows(imports: Imports) -> list[tuple[str, str]]:
    """The fewest arrows (imported, importing) from which every import follows along the way of the arrows."""
    return [
        (other, room)
        for room, others in imports.items()
        for other in imports
        if other in others and not any(other in _reached(between, imports) for between in others - {other})
    ]


def drawing(imports: Imports) -> str:
    """The arrows as a Mermaid diagram, which GitHub draws."""
    lines = [f"    {start} --> {end}" for start, end in arrows(imports)]
    return "\n".join(["```mermaid", "flowchart TD", *lines, "```"])


def table(imports: Imports) -> str:
    """Every import there is, a row a room."""
    rows = [
        f"| `{room}` | {', '.join(f'`{each}`' for each in imports if each in others) or 'no other room'} |"
        for room, others in imports.items()
    ]
    return "\n".join(["| room | imports |", "| --- | --- |", *rows])


def filled(text: str, imports: Imports) -> str:
    """The document with its drawing and its table made anew.

    Raises:
        SystemExit: if the document has no place for one of them.
    """
    for name, made in (("drawing", drawing(imports)), ("table", table(imports))):
        begin, end = f"<!-- rooms: {name} -->\n", f"<!-- end of rooms: {name} -->"
        before, found, rest = text.partition(begin)
        _, ended, after = rest.partition(end)
        if not found or not ended:
            raise SystemExit(f"{PAPER} has no place for the {name}; put {begin.strip()} and {end} back")
        text = f"{before}{begin}{made}\n{end}{after}"
    return text


def _room(dotted: list[str] | tuple[str, ...]) -> str:
    if [*dotted[:3]] in (FEATURE, FEATURE[:2]):
        return FEATURE[-1]
    return dotted[1] if dotted[0] == "core" and len(dotted) > 1 else dotted[0]


def _imported(path: Path, dotted: tuple[str, ...]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = dotted[: len(dotted) - node.level] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def _reached(room: str, imports: Imports) -> set[str]:
    found: set[str] = set()
    waiting = [room]
    while waiting:
        new = imports[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def main() -> None:
    """Print the drawing and the table, or write them into the document."""
    imports = imports_of_rooms()
    if sys.argv[1:] == ["--write"]:
        paper = ROOT / PAPER
        paper.write_text(filled(paper.read_text(encoding="utf-8"), imports), encoding="utf-8")
    elif sys.argv[1:]:
        raise SystemExit(f"rooms.py takes --write or nothing, got {' '.join(sys.argv[1:])}")
    else:
        print(drawing(imports), table(imports), sep="\n\n")


if __name__ == "__main__":
    main()
