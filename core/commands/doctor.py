"""``doctor``: is this machine ready, and if not, what to do."""

import importlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib import metadata
from pathlib import Path
from typing import Annotated

import typer

from core import settings
from core.commands._shared import AsJson, Code, existing, exit_codes, listed, print_json, table
from core.errors import InvariscopeError, UnknownName
from core.features.feature import features, troubles

EPILOG = exit_codes(ok="no failure (there may be warnings)", failures="at least one failure")


def doctor(
    only: Annotated[list[str] | None, typer.Option(help="Only these checks, comma-separated, e.g. browser.")] = None,
    published: Annotated[
        bool, typer.Option("--published", help="Also score the publishers' own examples with the evaluators here.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check Python, packages, weights, the demo corpus, folders, disk, browser and GPU; say what to do."""
    found = examine(listed(only), published=published)
    if as_json:
        print_json([asdict(each) for each in found])
    else:
        rows = [
            (each.status.value, each.name, f"{each.detail}{f': {each.remedy}' if each.remedy else ''}")
            for each in found
        ]
        table(("", "check", "found"), rows)
    if any(each.status == "fail" for each in found):
        raise typer.Exit(Code.FAILURES)


OLDEST, NEWEST = (3, 11), (3, 14)
LOW_DISK_GB, NO_DISK_GB = 2.0, 0.2
PUBLISHED = "published"  # the check that loads large networks and may ask the network: run where it is asked for
AGAIN = f"run {'pip install --force-reinstall invariscope' if settings.INSTALLED else 'python3 tools/setup.py --force'}"
BROWSERS = (
    *("chromium-headless-shell", "chromium", "chromium-browser"),
    *("google-chrome", "google-chrome-stable", "chrome"),
)
"""The first on the PATH. Chromium's shell draws and listens as the whole browser does, and spares the windows that
nobody sees: a page took it three quarters of the processor's time."""


class Status(StrEnum):
    """``ok``; ``warn``: something optional is missing; ``fail``: Invariscope will not work as it should."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    name: str
    status: Status
    detail: str
    remedy: str = ""


def examine(only: Iterable[str] = (), *, published: bool = False) -> list[Finding]:
    """Run the checks that are named, else all but PUBLISHED, in the order of CHECKS; raises UnknownName."""
    wanted = (*(tuple(only) or (name for name in CHECKS if name != PUBLISHED)), *([PUBLISHED] if published else []))
    for name in wanted:
        if name not in CHECKS:
            raise UnknownName(f"no check is named {name!r}; there are {', '.join(CHECKS)}")
    return [finding for name in CHECKS if name in wanted for finding in CHECKS[name]()]


def check_python(version: tuple[int, ...] = sys.version_info[:3]) -> list[Finding]:
    """Is this a Python that Invariscope is tested with."""
    dotted = ".".join(map(str, version))
    if OLDEST <= version[:2] <= NEWEST:
        return [Finding("python", Status.OK, dotted)]
    return [Finding("python", Status.FAIL, f"{dotted} is not 3.11 to 3.14", "install it again with another Python")]


def check_packages(requirements: Path | None = None) -> list[Finding]:
    """Are the pinned packages there, in the pinned versions."""
    path = requirements or settings.ROOT / "requirements.txt"
    if not path.is_file():
        return [Finding("packages", Status.WARN, f"{path} is missing, versions are not checked", "use a full checkout")]
    pins = dict(re.findall(r"^([A-Za-z0-9_.\-]+)==([^\s;#]+)", path.read_text(encoding="utf-8"), re.MULTILINE))
    findings = []
    for package, pinned in pins.items():
        have = _installed(package)
        if have is None:
            findings.append(Finding("packages", Status.FAIL, f"{package} is missing", AGAIN))
        elif have != pinned:
            findings.append(Finding("packages", Status.WARN, f"{package} is {have}, tested with {pinned}", AGAIN))
    return findings or [Finding("packages", Status.OK, f"{len(pins)} packages, all as pinned")]


def check_torch() -> list[Finding]:
    """Do torch and torchvision come from the same build, and is there a GPU."""
    try:
        import torch

        box, sure = torch.tensor([[0.0, 0.0, 1.0, 1.0]]), torch.tensor([1.0])
        importlib.import_module("torchvision.ops").nms(box, sure, 0.5)  # the operator that a wrong pair lacks
    except Exception as error:  # a broken pair raises many kinds
        remedy = f"install the pinned pair together: {AGAIN}"
        return [Finding("torch", Status.FAIL, f"torch and torchvision do not work together ({error})", remedy)]
    pair = f"torch {_installed('torch')} with torchvision {_installed('torchvision')}"
    device = torch.cuda.get_device_name(0) if torch.cuda.is_available() else "no GPU, the CPU is used"
    return [Finding("torch", Status.OK, pair), Finding("gpu", Status.OK, device)]


def check_evaluators() -> list[Finding]:
    """Can the offline evaluators be loaded with the weights they name; how many of the others are ready."""
    from core.evaluators.registry import catalogue

    known = catalogue()
    findings = [
        Finding("evaluators", Status.FAIL, f"{each.where} could not be loaded ({each.error})", "repair or remove it")
        for each in known.broken
    ]
    others = [each for each in known if not each.spec.offline]
    for evaluator in known:
        if not (spec := evaluator.spec).offline:
            continue
        available = evaluator.availability()
        if not available.ready:
            told = f"{spec.name}: {available.reason}"
            findings.append(Finding("evaluators", Status.FAIL, told, available.command))
            continue
        try:  # loading reads the weights and compares their hashes
            told = f"{spec.name} loads; weights {evaluator.load().fingerprint.weights[:12]}"
            findings.append(Finding("evaluators", Status.OK, told))
        except Exception as error:  # whatever a damaged file of weights raises
            told = f"{spec.name} cannot be loaded ({error})"
            findings.append(Finding("evaluators", Status.FAIL, told, available.command or AGAIN))
    if others:
        ready = sum(each.availability().ready for each in others)
        detail = f"{ready} of {len(others)} published evaluators are ready; 'evaluators' says how to get the others"
        findings.append(Finding("evaluators", Status.OK, detail))
    return findings or [Finding("evaluators", Status.FAIL, "none is registered", "use a full checkout")]


def check_published() -> list[Finding]:
    """Do the published evaluators that are here give what their publishers print for their own examples."""
    from core.evaluators.pool import Pool
    from core.evaluators.registry import catalogue
    from core.evaluators.self_check import example_of, self_check

    known = [each for each in catalogue() if example_of(each.spec.name)]
    ready = [each.spec.name for each in known if each.availability().ready]
    findings = []
    for name in ready:
        try:
            with Pool().lease(name) as loaded:
                found = self_check(loaded)
        except InvariscopeError as error:
            findings.append(Finding(PUBLISHED, Status.FAIL, f"{name} cannot be loaded ({error})", "fetch it again"))
            continue
        assert found is not None
        remedy = {"passed": "", "failed": f"fetch it again: python -m core evaluators get {name}"}
        status = {"passed": Status.OK, "failed": Status.FAIL}.get(found.outcome, Status.WARN)
        findings.append(Finding(PUBLISHED, status, found.told, remedy.get(found.outcome, "try again with a network")))
    nobody = f"none of {', '.join(each.spec.name for each in known)} is on this machine; nothing was checked"
    return findings or [Finding(PUBLISHED, Status.WARN, nobody, "'evaluators' says how to get one")]


def check_demo() -> list[Finding]:
    """Is every image of the demo corpus the one that was recorded (its loader compares the hashes)."""
    from core.corpora.registry import catalogue

    rebuild = "restore data/demo from the checkout, or run 'make demo'"
    try:
        corpus = catalogue().get("demo").load()
    except InvariscopeError as error:
        return [Finding("demo", Status.FAIL, str(error), rebuild)]
    damaged = [Finding("demo", Status.FAIL, each.detail, rebuild) for each in corpus.rejected]
    return damaged or [Finding("demo", Status.OK, f"{len(corpus)} items, every hash right")]


def check_runs() -> list[Finding]:
    """Can every run that is on this machine be read."""
    from core.store.store import Store, run_paths

    with Store.open(run_paths()) as store:
        findings = [Finding("runs", Status.FAIL, problem) for problem in store.problems]
        return findings or [Finding("runs", Status.OK, f"{len(store.runs())} can be read")]


def check_folders() -> list[Finding]:
    """Can runs and caches be written."""
    folders = {"INVARISCOPE_DATA": settings.runs_dir(), "INVARISCOPE_CACHE": settings.cache_dir()}
    findings = []
    for variable, folder in folders.items():
        try:
            with tempfile.TemporaryFile(dir=existing(folder)) as probe:
                probe.write(b"invariscope")
            findings.append(Finding("folders", Status.OK, f"{folder} can be written"))
        except OSError as error:
            told = f"{folder} cannot be written ({error.strerror or error})"
            findings.append(Finding("folders", Status.FAIL, told, f"set {variable} to your own folder"))
    return findings


def check_features() -> list[Finding]:
    """Can everything be imported that features hand over: commands, questions, jobs."""
    found = [Finding("features", Status.FAIL, each, "repair or remove it") for each in troubles(followed=True)]
    return found or [Finding("features", Status.OK, f"{len(features())}, all whole")]


def check_settings() -> list[Finding]:
    """Is every variable that is named like a setting one, with a value that can be kept."""
    remedy = "correct or unset it; docs/command-line.md lists the settings"
    found = [Finding("settings", Status.WARN, said, remedy) for said in settings.unknown()]
    if why := settings.refused():
        found.append(Finding("settings", Status.FAIL, why, remedy))
    return found or [Finding("settings", Status.OK, "every one that is set is known")]


def check_disk() -> list[Finding]:
    """Is there room for runs and caches."""
    findings = []
    for folder in (settings.data_dir(), settings.cache_dir()):
        free = shutil.disk_usage(existing(folder)).free / 1e9
        status = Status.FAIL if free < NO_DISK_GB else Status.WARN if free < LOW_DISK_GB else Status.OK
        remedy = "" if status is Status.OK else f"free at least {LOW_DISK_GB:g} GB"
        findings.append(Finding("disk", status, f"{free:.1f} GB free for {folder}", remedy))
    return findings


def check_browser() -> list[Finding]:
    """Is there a Chromium for the browser tests (nothing else needs one)."""
    path = find_browser()
    if path:
        return [Finding("browser", Status.OK, path)]
    remedy = "for the browser tests: apt-get install chromium, or python -m playwright install chromium"
    return [Finding("browser", Status.WARN, "no Chromium; the browser tests will be skipped", remedy)]


def find_browser() -> str | None:
    """Path of a Chromium or Chrome: ``INVARISCOPE_BROWSER``, the PATH, then what playwright installed."""
    named = os.environ.get("INVARISCOPE_BROWSER")
    if named:
        return shutil.which(named)
    on_path = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if on_path:
        return on_path
    cache = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright")
    return next((str(path) for path in sorted(cache.glob("chromium-*/chrome-linux*/chrome"), reverse=True)), None)


CHECKS: Mapping[str, Callable[[], list[Finding]]] = {
    check.__name__.removeprefix("check_"): check
    for check in (
        *(check_python, check_packages, check_torch, check_features, check_evaluators, check_published),
        *(check_demo, check_runs, check_settings, check_folders, check_disk, check_browser),
    )
}
"""Every check by the name that ``--only`` takes."""


def _installed(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
