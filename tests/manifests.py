"""Manifests of runs on disk, changed by a test as nobody but a test should."""

import json
from pathlib import Path


def edit_manifest(folder: Path, /, **changes: object) -> None:
    """Change entries of a run's manifest and take its seal out: the run is unverified from then on."""
    path = folder / "manifest.json"
    told = json.loads(path.read_text(encoding="utf-8")) | changes
    told.pop("seal", None)
    path.write_text(json.dumps(told), encoding="utf-8")
