"""Steps of a walk through the app in a browser, waiting as a reader would."""

import contextlib
import re
import time
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

QUIET = """(asked) => {
  const running = document.querySelector('.stApp').dataset.testScriptState !== 'notRunning';
  if (running || window.quiet?.asked !== asked) window.quiet = { asked, since: performance.now() };
  return performance.now() - window.quiet.since > 400;
}"""
"""Whether no script has run for a while: one that ends may call for the next, which would close an open list."""


def settled(page: Page) -> Page:
    """Wait until the page has been drawn and no script runs any more, counted from now: a click's run starts late."""
    expect(page.locator("h1").first).to_be_visible(timeout=90_000)
    page.wait_for_function(QUIET, arg=time.monotonic(), timeout=90_000)
    expect(page.locator("[data-stale=true]")).to_have_count(0, timeout=90_000)
    return page


def shown(tab: Locator, what: Locator) -> None:
    """Open a tab until it shows something: a script that still ran may draw the tabs anew, the first one open."""
    for _ in range(8):
        tab.click()
        with contextlib.suppress(AssertionError):
            expect(what).to_be_visible(timeout=10_000)
            return
    expect(what).to_be_visible()


def choose(page: Page, box: Locator, option: Locator, url: re.Pattern[str], *, typed: str = "") -> None:
    """Choose an option that stands in the link; again where a script that still ran closed the list.

    What is typed shortens a list whose end is not drawn before somebody scrolls.
    """
    for _ in range(8):
        if url.search(page.url):
            return
        box.click()
        if typed:
            box.fill(typed)
        with contextlib.suppress(PlaywrightTimeout):
            option.click(timeout=10_000)
            page.wait_for_url(url, timeout=15_000)
        page.keyboard.press("Escape")
        settled(page)
    assert url.search(page.url), f"the choice never reached the link: {page.url}"


def clicked_until(page: Page, button: Locator, url: Callable[[str], bool]) -> None:
    """Click a button, again where a page that was being drawn lost the click, until the address is as it must be."""
    for _ in range(8):
        button.click()
        with contextlib.suppress(PlaywrightTimeout):
            page.wait_for_url(url, timeout=15_000)
            return
        settled(page)
    raise AssertionError(f"the click never reached the link: {page.url}")


def close_dialog(page: Page) -> None:
    """Close the dialog, again where a script that still ran opened it anew: what lies beneath takes no click."""
    dialog = page.get_by_role("dialog")
    for _ in range(8):
        with contextlib.suppress(PlaywrightTimeout):
            dialog.get_by_role("button", name="Close").click(timeout=10_000)
        settled(page)
        if not dialog.count():
            return
    expect(dialog).to_have_count(0)


def query(page: Page) -> dict[str, str]:
    """Parameters of the address, without those that name the view and say that it is one look."""
    return parameters(page.url)


def at_query(page: Page, wanted: dict[str, str]) -> None:
    """Wait until the address says what is chosen and nothing else: it is written once the page has been drawn."""
    with contextlib.suppress(PlaywrightTimeout):
        page.wait_for_url(lambda url: parameters(url) == wanted, timeout=30_000)
    assert query(page) == wanted


def parameters(url: str) -> dict[str, str]:
    found = parse_qs(urlsplit(url).query, keep_blank_values=True)
    return {name: values[-1] for name, values in found.items() if name not in ("view", "look")}


def to_view(page: Page, entry: str, view: str = "") -> None:
    """Open an entry of the menu, then turn to one of its views."""
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=entry, exact=True).click()
    at_view(page, entry)
    if view:
        settled(page)
        page.get_by_role("radio", name=view, exact=True).click()
        at_view(page, entry, view)


def at_view(page: Page, entry: str, view: str = "") -> None:
    """Wait until an entry shows, and the view to which its switch is turned."""
    expect(page.get_by_role("heading", name=entry, exact=True)).to_be_visible(timeout=60_000)
    if view:
        expect(page.get_by_role("radio", name=view, exact=True)).to_be_checked()


def until(page: Page, key: str, shown: Locator) -> None:
    """Press a key, again where the page was not listening yet, until something shows; an answer twice is one."""
    for _ in range(20):
        page.keyboard.press(key)
        with contextlib.suppress(AssertionError):
            expect(shown.first).to_be_visible(timeout=4_000)
            return
    raise AssertionError(f"{key} did nothing")


def eventually(page: Page, holds: Callable[[], bool]) -> None:
    """Wait until something holds that no locator sees: a cookie, what a provider was asked."""
    for _ in range(300):
        if holds():
            return
        page.wait_for_timeout(100)
    raise AssertionError("it never came to hold")


def open_page(page: Page, address: str) -> Page:
    page.goto(address)
    return page
