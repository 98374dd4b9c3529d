"""The first minute: from the first page to the shifts of one's own photograph, the actions counted."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.walk import open_page, settled

pytestmark = pytest.mark.browser

MOST = 2


def test_ones_own_photograph_moves_scores_in_two_actions_and_without_scrolling(
    server: str, page: Page, photo: Path
) -> None:
    actions = 0
    page.set_viewport_size({"width": 1280, "height": 900})
    settled(open_page(page, server))
    page.get_by_role("link", name="Try your picture").click()
    actions += 1
    expect(page.get_by_role("heading", name="Try a picture")).to_be_visible()
    page.locator("input[type=file]").set_input_files(photo)
    actions += 1
    expect(page.get_by_text("1024 × 768 px")).to_be_visible()
    settled(page)
    score = page.get_by_text(re.compile("^Score of the unedited pair")).first
    expect(score).to_be_visible()
    settled(page)
    bars = page.locator(".st-key-lab_stage .bar .shift").first
    expect(bars).to_be_visible()
    expect(bars).to_be_in_viewport()
    assert actions <= MOST
    page.get_by_role("button", name="Upside down", exact=True).click()
    expect(page.get_by_text(re.compile(r"^Upside down · score"))).to_be_visible()
