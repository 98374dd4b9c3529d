"""What one did in Try a picture is there on return by the menu, and what was asked for went on meanwhile."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.walk import open_page, settled, shown

pytestmark = pytest.mark.browser


def test_upload_caption_and_a_running_map_are_there_on_return_by_the_menu(server: str, page: Page, photo: Path) -> None:
    settled(open_page(page, f"{server}/probe_lab?source=upload&evaluators=conse-lite0&probes=vflip"))
    page.locator("input[type=file]").first.set_input_files(photo)
    expect(page.get_by_text("1024 × 768 px")).to_be_visible()
    expect(page.get_by_text("proposed: ").first).to_be_visible()  # shifts without a word typed
    expect(page.locator(".beside .bar .shift").first).to_be_visible()
    settled(page)
    page.get_by_text("Box in numbers").click()
    box = page.get_by_label("Box: x, y, width, height in px", exact=True)
    box.fill("300,200,200,200")
    box.press("Enter")
    settled(page)
    page.get_by_text("Free text").click()
    caption = page.get_by_label("Caption to score")
    expect(caption).to_have_value(re.compile("^There is a"))  # not an empty field: what was scored so far
    settled(page)
    button = page.get_by_role("button", name="Map the places")
    shown(page.get_by_role("tab", name="Position map"), button)
    button.click()
    picture = page.get_by_alt_text("Percent change under conse-lite0 by the object's place")
    expect(page.get_by_text(re.compile("left; it goes on")).or_(picture).first).to_be_visible()
    page.get_by_role("link", name="Words").first.click()
    expect(page.get_by_role("heading", name="Words")).to_be_visible()
    page.get_by_role("link", name="Try a picture").first.click()
    expect(page.get_by_text("1024 × 768 px")).to_be_visible()
    expect(page.get_by_label("Caption to score")).to_have_value(re.compile("^There is a"))
    expect(picture).to_be_visible()
    expect(page.get_by_role("button", name="Places as CSV")).to_be_visible()
