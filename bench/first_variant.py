"""Probe lab in a browser: from the name of an uploaded photo's object to the first variant on screen, models warm."""

import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, sync_playwright

from bench.probe_lab import PROBES, REPEATS, photo
from bench.report import row
from bench.server import Server
from core.settings import ROOT

PATIENCE_MS = 120_000
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
NAMES = ("chromium", "chromium-browser", "google-chrome")

IDLE = "document.querySelector('.stApp')?.dataset.testScriptState === 'notRunning'"
"""Whether the page's script has come to its end."""

SHOWN = """label => [...document.images].some(
  each => each.alt.startsWith(label + ' after ') && each.complete && each.naturalWidth > 0)"""
"""Whether an edited picture of the object with that name has been drawn."""


def measured(browser: Browser, address: str, index: int, folder: Path) -> float:
    """Seconds from the Enter key behind the name to the first edited picture, of a photo that nobody saw before."""
    data, _, label, _ = photo(index)
    taken = folder / f"photo-{index}.jpg"
    taken.write_bytes(data)
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    try:
        page.goto(f"http://{address}/probe_lab?source=upload&probes={','.join(PROBES)}")
        page.locator("h1").wait_for()
        page.wait_for_function(IDLE)
        page.locator("input[type=file]").first.set_input_files(taken)
        name = page.get_by_label("Object", exact=True)
        name.wait_for()
        page.wait_for_function(IDLE)
        name.fill(label)
        begun = time.perf_counter()
        name.press("Enter")
        page.wait_for_function(SHOWN, arg=label, polling="raf")
        return time.perf_counter() - begun
    finally:
        context.close()


def main() -> None:
    """Print the median over photographs; the first one warms up."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        raise SystemExit("no Chromium on the PATH; install the package chromium")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "data").mkdir()
        (folder / "data" / "demo").symlink_to(ROOT / "data" / "demo")
        with Server(folder / "data") as server, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
            took = [measured(browser, server.address, index, folder) for index in range(REPEATS + 1)]
            browser.close()
    seconds = np.array(took[1:])
    n = f"{len(PROBES)} probes, all offline evaluators, {REPEATS} photos of 12 Mpx in Chromium on the server's machine"
    told = f"{np.median(seconds):.2f} s (slowest {seconds.max():.2f} s)"
    row("Probe lab in a browser, models warm: first variant on screen after the object's name", told, n, "< 1.5 s")


if __name__ == "__main__":
    main()
