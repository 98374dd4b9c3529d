"""Fixtures that several rooms share."""

import gc
import os
import shutil
import signal
import subprocess
import sys
import tarfile
from collections.abc import Callable, Generator, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer

from core.corpora.schema import Corpus
from core.settings import ROOT, results_dir
from core.store.store import Store
from tests import spread
from tests.audit.squares import build_corpus

if TYPE_CHECKING:
    from core.report.document import Report

# A property holds or does not; how long an example takes says how busy the machine is. Where a change waits to land
# the examples are the same each time: what falls is the change's own doing. Elsewhere each run looks at new ones.
settings.register_profile(
    "untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.load_profile("untimed")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Several processes for rooms, this one for single files; ``-n 0`` or ``-n 3`` say otherwise."""
    return spread.processes(config.args)


def pytest_configure(config: pytest.Config) -> None:
    """Let the processes share the cores; they inherit the variable."""
    if count := config.getoption("numprocesses", None):
        os.environ.setdefault("OMP_NUM_THREADS", str(spread.threads(count)))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import nothing for ``make whole`` of what it has nothing of."""
    named = config.option.markexpr == "whole" and collection_path.suffix == ".py"
    return True if named and "mark.whole" not in collection_path.read_text(encoding="utf-8") else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among what is imported and collected: all of it stays, and each process has it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> spread.FilesLongestFirst | None:
    """Whole files, the longest first; another ``--dist`` says otherwise."""
    return spread.FilesLongestFirst(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.fixture(scope="module", autouse=True)
def nothing_older_to_collect() -> None:
    """Leave what libraries and other tests made out of every collection: what unloads models collects each time."""
    gc.collect()
    gc.freeze()


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


@pytest.fixture(scope="session", autouse=True)
def private_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test, and nothing that tests share, writes into the user's cache, or finds the user's weights."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INVARISCOPE_WEIGHTS", str(tmp_path_factory.getbasetemp() / "weights"))
        patch.setenv("INVARISCOPE_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
        yield


@pytest.fixture(scope="session", autouse=True)
def one_meteor() -> Iterator[None]:
    """METEOR reads its tables for seconds at each start: the tests of a process ask one program."""
    from tests.scoring.asked_meteor import AskedMeteor  # statistics, which who starts the processes does without

    with AskedMeteor() as asked, pytest.MonkeyPatch.context() as patch:
        asked.stands_in(patch)
        yield


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


@pytest.fixture(scope="session")
def store() -> Iterator[Store]:
    """The shipped run."""
    with Store.open(results_dir() / "demo") as opened:
        yield opened


@pytest.fixture(scope="session")
def demo_report(store: Store) -> "Iterator[Report]":
    """The whole report of the shipped run, text encoders asked, for reading alone."""
    from core.evaluators.pool import Pool
    from core.features.geometry.geometry import embed  # a second of imports that most files do without
    from core.report.build import build

    report = build(store, encode=partial(embed, Pool(device="cpu")))
    written = [each.frame.to_csv() for each in (*report.tables, *report.figures, *report.details)]
    yield report
    assert [each.frame.to_csv() for each in (*report.tables, *report.figures, *report.details)] == written


@pytest.fixture(scope="session")
def paper_report(store: Store) -> "Report":
    """What is written of the shipped run where nobody asks for more."""
    from core.report.build import build

    return build(store, whole=False, figures=False)


@pytest.fixture(scope="session")
def versions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of every schema version with its published file, as they were written then."""
    folder = tmp_path_factory.mktemp("old")
    with tarfile.open(ROOT / "tests" / "store" / "versions.tar.gz") as packed:
        packed.extractall(folder, filter="data")
    return folder / "versions"


@pytest.fixture
def squares(tmp_path: Path) -> Corpus:
    """A small corpus of coloured squares."""
    return build_corpus(tmp_path / "corpus")


@pytest.fixture
def make_squares(tmp_path: Path) -> Callable[[int], Corpus]:
    """Make such a corpus of any size."""
    return lambda count: build_corpus(tmp_path / "corpus", count)


@pytest.fixture(autouse=True)
def process_of_before() -> Iterator[None]:
    """A page makes its process a server and takes ``__main__``, and Python may offer it an evaluator.

    The next test starts without them.
    """
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main
    if "core.registry" in sys.modules:
        sys.modules["core.registry"]._apart = False
    if "core.evaluators.registry" in sys.modules:
        sys.modules["core.evaluators.registry"]._OFFERED.clear()
