"""Fixtures that several rooms share."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# A property holds or does not; how long an example takes says how busy the machine is.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def coco_root() -> Path:
    """Folder of real COCO photographs in COCO's own layout, where the machine has one."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data" / "coco_mini"
    root = Path(os.environ.get("INVARISCOPE_COCO") or beside)
    if not (root / "annotations").is_dir():
        pytest.skip(f"no COCO photographs at {root}; set INVARISCOPE_COCO to a folder in COCO's layout")
    return root


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """A background shell hands its children an ignored Ctrl-C; the tests that press it need it heard."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def private_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test writes into the user's cache, or finds the user's weights."""
    monkeypatch.setenv("INVARISCOPE_WEIGHTS", str(tmp_path_factory.getbasetemp() / "weights"))
    monkeypatch.setenv("INVARISCOPE_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MB, to be filled."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = shutil.which("mount")
    made = mount and subprocess.run([mount, "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True)
    if not made or made.returncode:
        pytest.skip("only root may mount a small file system")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)
