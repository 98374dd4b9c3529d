"""A scope that is chosen on one page and found again on every other, in a real Chromium."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.walk import at_query, at_view, clicked_until, eventually, open_page, query, settled, to_view
from tests.pages.scoped_runs import RUNS, write_runs

pytestmark = [pytest.mark.browser, pytest.mark.whole]

MENU = (
    ("Findings", "Pictures"),
    ("Findings", ""),
    ("Findings", "Compare"),
    ("Leaderboard", "Flip risk"),
    ("Calibrate", ""),
    ("Calibrate", "Geometry"),
)


@pytest.fixture
def runs(data: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two runs of one corpus and one of another, beside the run that ships."""
    monkeypatch.setenv("INVARISCOPE_DATA", str(data))
    write_runs()
    yield
    for run in RUNS:
        shutil.rmtree(data / "runs" / run)


def through_the_menu(page: Page, entry: str, view: str) -> None:
    to_view(page, entry, view)
    settled(page)


@pytest.mark.usefixtures("runs")
def test_a_scope_is_found_again_on_every_page_of_the_menu(server: str, page: Page) -> None:
    settled(open_page(page, f"{server}/failures?corpus=squares"))
    page.get_by_role("button", name="Run: first").click()
    page.get_by_role("combobox", name="Run").click()
    page.get_by_role("option", name=re.compile("^second")).click()
    page.keyboard.press("Escape")
    page.wait_for_url(re.compile("run=second"))
    settled(page)
    chosen = {"corpus": "squares", "run": "second"}
    at_query(page, chosen)
    for entry, view in MENU:
        through_the_menu(page, entry, view)
        at_query(page, chosen)
        expect(page.get_by_role("button", name="Run: second")).to_be_visible()
    to_view(page, "Start")
    settled(page)
    at_query(page, chosen)
    page.get_by_role("link", name="See its pairs").first.click()
    at_view(page, "Findings", "Pictures")
    settled(page)
    eventually(page, lambda: query(page).items() >= chosen.items())
    clicked_until(page, page.get_by_role("button", name="Reset scope"), lambda url: "run=" not in url)
    settled(page)
    eventually(page, lambda: set(query(page)) == {"families"})
    through_the_menu(page, "Leaderboard", "Flip risk")
    at_query(page, {})


@pytest.mark.usefixtures("runs")
def test_going_back_shows_the_page_as_it_was_before_a_choice(server: str, page: Page) -> None:
    settled(open_page(page, f"{server}/flip_risk"))
    page.get_by_role("button", name=re.compile("^Metrics: all")).click()
    page.get_by_role("combobox", name="Metrics").click()
    page.get_by_role("option", name="conse-lite2").click()
    page.keyboard.press("Escape")
    page.wait_for_url(re.compile("evaluators=conse-lite2"))
    settled(page)
    page.go_back()
    expect(page.get_by_role("button", name=re.compile("^Metrics: all"))).to_be_visible()
    settled(page)
    at_query(page, {})
