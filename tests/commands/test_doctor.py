"""The doctor finds what is wrong, says what to do, and fails only where Invariscope would."""

import json
import shutil
from importlib import metadata
from pathlib import Path

import pytest

from core import settings
from core.commands import doctor
from core.commands._shared import Code
from core.commands.doctor import CHECKS, Finding, Status, examine, find_browser
from core.corpora.demo import PACK, pictures_of
from core.errors import UnknownName
from tests.commands.calling import Invoke


def statuses(findings: list[Finding]) -> list[Status]:
    return [each.status for each in findings]


@pytest.mark.parametrize(
    ("version", "status"),
    [((3, 10, 9), Status.FAIL), ((3, 11, 0), Status.OK), ((3, 14, 2), Status.OK), ((3, 15, 0), Status.FAIL)],
)
def test_only_the_tested_pythons_pass(version: tuple[int, ...], status: Status) -> None:
    assert statuses(doctor.check_python(version)) == [status]


def test_packages_are_compared_with_their_pins(tmp_path: Path) -> None:
    numpy = metadata.version("numpy")
    (tmp_path / "r.txt").write_text(f"# pins\nnumpy=={numpy}  # arrays\nTyper==0.0.1\nno-such-package-anywhere==1\n")
    findings = doctor.check_packages(tmp_path / "r.txt")
    assert statuses(findings) == [Status.WARN, Status.FAIL]
    assert "tested with 0.0.1" in findings[0].detail
    assert findings[1].detail == "no-such-package-anywhere is missing"
    assert all(each.remedy for each in findings)
    (tmp_path / "r.txt").write_text(f"numpy=={numpy}\n")
    assert statuses(doctor.check_packages(tmp_path / "r.txt")) == [Status.OK]


def test_every_pin_of_this_checkout_is_read() -> None:
    lines = (settings.ROOT / "requirements.txt").read_text().splitlines()
    pinned = [line for line in lines if line.strip() and not line.startswith("#")]
    assert all("==" in line for line in pinned)
    (found,) = doctor.check_packages()
    assert found.detail == f"{len(pinned)} packages, all as pinned"


def test_torch_and_torchvision_of_this_environment_work_together() -> None:
    findings = doctor.check_torch()
    assert [each.name for each in findings] == ["torch", "gpu"]
    assert statuses(findings) == [Status.OK, Status.OK]


def test_a_folder_that_cannot_be_written_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "file"))
    monkeypatch.setenv("INVARISCOPE_CACHE", str(tmp_path / "cache" / "new"))
    findings = doctor.check_folders()
    assert statuses(findings) == [Status.FAIL, Status.OK]
    assert findings[0].remedy == "set INVARISCOPE_DATA to your own folder"
    assert not (tmp_path / "cache").exists()  # looking changes nothing


@pytest.mark.parametrize(("free_gb", "status"), [(0.1, Status.FAIL), (1.0, Status.WARN), (50.0, Status.OK)])
def test_a_disk_that_fills_up_is_noticed(monkeypatch: pytest.MonkeyPatch, free_gb: float, status: Status) -> None:
    usage = shutil.disk_usage("/")._replace(free=int(free_gb * 1e9))
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: usage)
    assert statuses(doctor.check_disk()) == [status, status]


def test_a_browser_is_found_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INVARISCOPE_BROWSER", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "ms"))
    assert find_browser() is None
    assert statuses(doctor.check_browser()) == [Status.WARN]
    bundled = tmp_path / "ms" / "chromium-1200" / "chrome-linux64" / "chrome"
    bundled.parent.mkdir(parents=True)
    for path in (bundled, tmp_path / "chromium", tmp_path / "mine"):
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    (tmp_path / "chromium").rename(tmp_path / "later")
    assert find_browser() == str(bundled)
    (tmp_path / "later").rename(tmp_path / "chromium")
    assert find_browser() == str(tmp_path / "chromium")
    monkeypatch.setenv("INVARISCOPE_BROWSER", str(tmp_path / "mine"))
    assert find_browser() == str(tmp_path / "mine")


def test_a_broken_run_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path))
    (tmp_path / "runs" / "torn").mkdir(parents=True)
    (tmp_path / "runs" / "torn" / "manifest.json").write_text('{"run": ')
    (found,) = doctor.check_runs()
    assert found.status is Status.FAIL
    assert "torn" in found.detail


def test_every_image_of_the_demo_corpus_is_the_one_that_was_shipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (found,) = doctor.check_demo()
    assert found.status is Status.OK, found.detail
    shutil.copytree(settings.data_dir() / "demo", tmp_path / "demo")
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path))
    image = min((pictures_of(tmp_path / "demo") / "images").iterdir())
    pack = tmp_path / "demo" / PACK
    pack.write_bytes(pack.read_bytes().replace(image.read_bytes()[-99:], bytes(99)))
    (found,) = doctor.check_demo()
    assert found.status is Status.FAIL
    assert image.name in found.detail


def test_without_a_demo_corpus_the_way_to_one_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "demo").mkdir()
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path))
    (found,) = doctor.check_demo()
    assert found.status is Status.FAIL
    assert "make demo" in found.remedy


def test_the_offline_evaluators_load_with_the_weights_that_they_name() -> None:
    findings = doctor.check_evaluators()
    assert Status.FAIL not in statuses(findings), findings
    assert any(each.detail.startswith("conse-lite0 loads; weights ") for each in findings)


def test_one_check_can_be_asked_for(invoke: Invoke) -> None:
    result = invoke("doctor", "--only", "python,disk", "--json")
    assert {each["name"] for each in json.loads(result.stdout)} == {"python", "disk"}
    assert result.exit_code == Code.OK


def test_a_failure_ends_with_1_and_says_what_to_do(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "data" / "demo").mkdir(parents=True)
    result = invoke("doctor", "--only", "demo")
    assert result.exit_code == Code.FAILURES
    assert result.stdout.splitlines()[1].startswith(" fail  demo")
    assert "make demo" in result.stdout


def test_a_check_that_does_not_exist_is_bad_input(invoke: Invoke) -> None:
    result = invoke("doctor", "--only", "weather")
    assert result.exit_code == Code.BAD_INPUT
    assert all(name in result.stderr for name in CHECKS)
    with pytest.raises(UnknownName):
        examine(["weather"])
