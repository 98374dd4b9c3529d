"""A real Chromium in front of a real server, each with folders of its own."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from core.commands.doctor import find_browser
from tests.jobs.leftovers import end_all
from tests.plugins.gate import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser that ``doctor`` names; without one the tests skip, or fail where INVARISCOPE_REQUIRE_BROWSER=1."""
    found = find_browser()
    if found is None:
        reason = "no Chromium on the PATH; install the package chromium"
        if os.environ.get("INVARISCOPE_REQUIRE_BROWSER") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The server's data folder, with the corpora and the run of the template that ship."""
    folder = tmp_path_factory.mktemp("server") / "data"
    folder.mkdir()
    (folder / "results").mkdir()
    for shipped in ("demo", "results/demo"):
        if (ROOT / "data" / shipped).is_dir():
            (folder / shipped).symlink_to(ROOT / "data" / shipped)
    return folder


@pytest.fixture(scope="session")
def server(browser: Browser, data: Path) -> Iterator[str]:
    """Address of the app on a free port, with data and cache folders of its own; it has drawn a page already."""
    folder = data.parent
    port = free_port()
    address = f"http://localhost:{port}"
    command = [sys.executable, "-m", "streamlit", "run", "serve.py", "--server.port", str(port)]
    env = {**os.environ, "INVARISCOPE_DATA": str(data), "INVARISCOPE_CACHE": str(folder / "cache")}
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=log, stderr=log)
        try:
            wait_until_healthy(address, process, folder / "log.txt")
            _warm(browser, address)
            yield address
        finally:
            process.terminate()
            process.wait(PATIENCE_S)
            end_all(data)


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def served(script: Path, folder: Path) -> Iterator[str]:
    """Address of a script that Streamlit serves; its log and its data are in the folder."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)]
    env = {**os.environ, "INVARISCOPE_DATA": str(folder / "data")}
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=log, stderr=log)
        try:
            wait_until_healthy(f"http://localhost:{port}", process, folder / "log.txt")
            yield f"http://localhost:{port}"
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


def wait_until_healthy(address: str, process: subprocess.Popen, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urlopen(f"{address}/_stcore/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except (URLError, OSError):
            time.sleep(0.2)
    pytest.fail(f"the app did not start: {log.read_text()[-2000:]}")


def _warm(browser: Browser, address: str) -> None:
    """Let the first page import what all need: beside other work that takes longer than a test waits for a page."""
    page = browser.new_page()
    page.goto(address)
    page.locator("h1").wait_for(timeout=1000 * PATIENCE_S)
    page.close()


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        yield launched
        launched.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    opened = browser.new_context(viewport={"width": 1280, "height": 900})
    opened.set_default_timeout(180_000)
    expect.set_options(timeout=180_000)  # the first score waits for models that load, perhaps beside other work
    yield opened
    opened.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    path = tmp_path / "photo.jpg"
    rough = np.random.default_rng(3).integers(0, 255, (6, 8, 3), dtype=np.uint8)
    Image.fromarray(rough).resize((1600, 1200), Image.Resampling.BICUBIC).save(path, quality=90)
    return path
