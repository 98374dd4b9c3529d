"""Several browsers at *Try a picture* on one server, each with another picture: nobody is shown another's scores.

Each picture is scored first by a lone session, then by all at once, several rounds; the numbers must be equal to the
last digit that the page's own file of data states.
"""

import shutil
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from bench.server import Server
from bench.visitor import PATIENCE_S
from siege.material import data_folder
from siege.pictures import rough_png
from siege.trials import Finding, Tally

PAGES = 6
"""Browser pages at once; more than two cores cannot draw. Thirty sessions without a browser are the kind crowd."""

ROUNDS = 3

QUIET = """() => {
  const running = document.querySelector('.stApp').dataset.testScriptState !== 'notRunning';
  window.quietSince = running ? undefined : window.quietSince ?? performance.now();
  return !running && performance.now() - window.quietSince > 600;
}"""
"""Whether no script has run for a while: one that ends may call for the next."""


def run(tally: Tally, seed: int, *, quick: bool) -> None:
    """Compare what sessions see at once with what each sees alone."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        tally.notes.append("sessions were not tried: there is no Chromium on the PATH")
        return
    count = 2 if quick else PAGES
    with data_folder() as data, Server(data) as server, sync_playwright() as playwright:
        address = f"http://{server.address}"
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        pictures = [data.parent / f"{number}.png" for number in range(count)]
        for number, picture in enumerate(pictures):
            picture.write_bytes(rough_png(seed + number))
        alone = []
        for picture in pictures:
            page = _opened(browser, address)
            _upload(page, picture)
            alone.append(_scores(page))
            page.close()
        before = server.resident_mb()
        for number in range(1 if quick else ROUNDS):
            _together(tally, browser, address, pictures, alone, number)
        grown = server.resident_mb() - before
        tally.note_growth(grown)
        tally.notes.append(f"{count} browser pages at once at Try a picture; the server grew by {grown:.0f} MB")
        browser.close()


def _together(
    tally: Tally, browser: Browser, address: str, pictures: list[Path], alone: list[bytes], number: int
) -> None:
    """All upload before any is read: their scripts run side by side in the server."""
    pages = [_opened(browser, address) for _ in pictures]
    for page, picture in zip(pages, pictures, strict=True):
        _upload(page, picture)
    for which, page in enumerate(pages):
        tally.attempt(f"round {number}, session {which}", partial(_same, page, alone[which]), timed=False)
        page.close()


def _same(page: Page, alone: bytes) -> None:
    found = _scores(page)
    if found != alone:
        raise Finding("lost", f"scores {found[:300]!r} where a lone session has {alone[:300]!r}")


def _opened(browser: Browser, address: str) -> Page:
    page = browser.new_page()
    page.set_default_timeout(1000 * PATIENCE_S)
    page.goto(f"{address}/try_a_picture?source=upload&evaluators=conse-lite0")
    page.get_by_role("heading", name="Try a picture").wait_for()
    return page


def _upload(page: Page, picture: Path) -> None:
    page.locator("input[type=file]").first.set_input_files(picture)
    page.get_by_text("640 × 480 px").first.wait_for()
    name = page.get_by_label("Object", exact=True)
    name.fill("bicycle")
    name.press("Enter")
    page.wait_for_function("location.search.includes('bicycle')")


def _scores(page: Page) -> bytes:
    """The file of results that the page offers: every score to its last digit."""
    files = page.get_by_role("tab", name="Downloads")
    files.wait_for()
    page.wait_for_function(QUIET)
    files.click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Results as CSV").click()
    found = Path(waiting.value.path()).read_bytes()
    if found.count(b"\n") < 3:
        raise Finding("lost", f"a session has no scores: {found[:300]!r}")
    return found
