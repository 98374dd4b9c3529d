"""Curves of a training as JSON lines, and as one table."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import InvalidInput
from core.writing import write_bytes

if TYPE_CHECKING:
    import pandas as pd

FILE = "curves.jsonl"


class Curves:
    """A line a step (the losses) and one an epoch (what is held out), kept in memory until a checkpoint is written.

    A line and the checkpoint that it belongs to may be parted by a kill: :meth:`forget_after` drops what the
    checkpoint does not know.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self._lines: list[dict[str, Any]] = []

    def step(self, step: int, epoch: int, losses: dict[str, float]) -> None:
        """Add the losses of a step."""
        self._lines.append({"step": step, "kind": "losses", "epoch": epoch + 1, **losses})

    def held_out(self, step: int, found: Mapping[str, Any]) -> None:
        """Add a measurement on what is held out."""
        self._lines.append({"step": step, "kind": "held-out", **found})

    def forget_after(self, step: int) -> None:
        """Take up the lines of the file up to a step."""
        self._lines = [line for line in read_curves(self.path) if line["step"] <= step] if step >= 0 else []

    def flush(self) -> None:
        """Write the file as a whole.

        Raises:
            StoreError: if it cannot be written.
        """
        text = "".join(json.dumps(line) + "\n" for line in self._lines)
        write_bytes(self.path, text.encode())


def read_curves(path: Path) -> list[dict[str, Any]]:
    """Read the lines; none where there is no file.

    Raises:
        InvalidInput: naming the line that is damaged.
    """
    if not path.is_file():
        return []
    lines: list[dict[str, Any]] = []
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            line = json.loads(text)
            lines.append({**line, "step": int(line["step"])})
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidInput(f"{path}, line {number}, is no line of curves ({error}); delete the file") from error
    return lines


def table(path: Path) -> "pd.DataFrame":
    """The curves, long: columns step, kind, name, value."""
    import pandas as pd

    rows = []
    for line in read_curves(path):
        flat = {
            **line,
            **{
                f"{outer} {name}": value
                for outer, inner in line.items()
                if isinstance(inner, dict)
                for name, value in inner.items()
            },
        }
        rows += [
            {"step": line["step"], "kind": line.get("kind", ""), "name": name, "value": float(value)}
            for name, value in flat.items()
            if isinstance(value, int | float) and name not in ("step", "epoch")
        ]
    return pd.DataFrame(rows, columns=["step", "kind", "name", "value"])
