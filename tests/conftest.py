"""Fixtures that several rooms share."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def coco_root() -> Path:
    """Folder of real COCO photographs in COCO's own layout, where the machine has one."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data" / "coco_mini"
    root = Path(os.environ.get("INVARISCOPE_COCO") or beside)
    if not (root / "annotations").is_dir():
        pytest.skip(f"no COCO photographs at {root}; set INVARISCOPE_COCO to a folder in COCO's layout")
    return root


@pytest.fixture(autouse=True)
def private_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test writes into the user's cache."""
    monkeypatch.setenv("INVARISCOPE_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
