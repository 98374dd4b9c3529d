"""A reader ranks captioners in a real Chromium: captions of the corpus, scored, kept, one left out."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.walk import open_page, settled

pytestmark = [pytest.mark.browser, pytest.mark.whole]


def test_captions_become_a_leaderboard_that_a_link_finds_again(server: str, page: Page) -> None:
    settled(open_page(page, f"{server}/systems?view=new&source=captions&judges=conse-lite0&edits=vflip&count=12"))
    expect(page.get_by_text("3 systems, 12 pictures")).to_be_visible()
    page.get_by_role("button", name="Score and keep").click()
    expect(page.get_by_text("Caption health")).to_be_visible(timeout=180_000)
    settled(page)
    expect(page.get_by_text(re.compile("12 pictures that all systems caption")).first).to_be_visible()
    settled(open_page(page, f"{server}/systems?view=kept&without=template"))
    page.get_by_text("Pairwise differences").click()
    expect(page.get_by_text(re.compile("of 1 difference")).first).to_be_visible(timeout=60_000)
