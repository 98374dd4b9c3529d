"""What the tests of the Python API share: folders of their own, and a process that knows no class of before."""

from pathlib import Path

import pytest

from core.evaluators import registry


@pytest.fixture(autouse=True)
def nothing_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_OFFERED", {})


@pytest.fixture(autouse=True)
def own_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"
