"""Runs and published files of a stranger that name code instead of an evaluator; the code tells that it ran."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from core.store.publishing import publish

EVIL = """from pathlib import Path
Path({mark!r}).write_text("ran")
"""


class Stranger:
    """A file of code, and names under which a stranger would have it run by who looks.

    Args:
        folder: where the file lies.
    """

    def __init__(self, folder: Path) -> None:
        self._mark = folder / "ran"
        self.code = folder / "evil.py"
        self.code.write_text(EVIL.format(mark=str(self._mark)), encoding="utf-8")
        calibrator = folder / "evil.json"
        calibrator.write_text("{}", encoding="utf-8")
        self.names = (
            f"{self.code}:Evil",
            f"{self.code}:Evil@label",
            f"{self.code}:bf16",
            str(calibrator),
            f"conse-lite0@{self.code}",
            f"clipscore@{self.code}",
            "torchmetrics:clip_score",
        )

    @property
    def ran(self) -> bool:
        """Whether the code was run by anybody."""
        return self._mark.exists()


def renamed(run: Path, old: str, new: str) -> Path:
    """Give an evaluator of a run another name, and take the seal out, as whoever hands a run over could.

    Args:
        run: folder of the run, which is changed.
        old: name of the evaluator.
        new: what its scores and the manifest call it and how it is asked.
    """
    for path in sorted((run / "scores").glob("*.parquet")):
        table = pq.read_table(path)
        place = table.column_names.index("evaluator")
        names = [new if name == old else name for name in table["evaluator"].to_pylist()]
        pq.write_table(table.set_column(place, table.schema.field(place), pa.array(names, pa.string())), path)
    manifest = run / "manifest.json"
    told: dict[str, Any] = json.loads(manifest.read_text(encoding="utf-8"))
    told.pop("seal", None)
    for each in told["evaluators"]:
        if each["name"] == old:
            each.update(name=new, reference=new)
            each.pop("file", None)
    manifest.write_text(json.dumps(told), encoding="utf-8")
    return run


def forged_file(run: Path, old: str, new: str, to: Path) -> Path:
    """A published file of the same; ``run`` is changed."""
    return publish([renamed(run, old, new)], to, overwrite=True)
