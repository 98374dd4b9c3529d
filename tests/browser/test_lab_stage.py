"""The Probe lab on a laptop's screen and on a phone: what moves is seen while one edits."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.walk import open_page, settled, until

pytestmark = [pytest.mark.browser, pytest.mark.whole]

HEIGHT = 900


def bottom(page: Page, selector: str) -> float:
    return float(page.locator(selector).first.evaluate("each => each.getBoundingClientRect().bottom"))


@pytest.fixture
def lab(server: str, page: Page) -> Page:
    settled(open_page(page, f"{server}/probe_lab"))
    expect(page.locator(".beside")).to_be_visible()
    return settled(page)


def test_every_usual_evaluator_and_the_way_to_present_are_on_the_first_screen(lab: Page) -> None:
    assert lab.locator(".beside thead th").count() == 3
    assert 0 < bottom(lab, ".beside") <= HEIGHT
    assert lab.evaluate("document.querySelector('.stMain').scrollTop") == 0
    for name in ("Present", "Collect"):
        box = lab.get_by_role("button", name=name, exact=True).bounding_box()
        assert box is not None
        assert box["y"] < 200


def test_the_shifts_stay_in_view_while_the_caption_below_the_picture_is_edited(lab: Page) -> None:
    field = lab.get_by_label("Modifier", exact=True)
    field.evaluate("each => each.scrollIntoView({block: 'end'})")
    scrolled = lab.evaluate("document.querySelector('.stMain').scrollTop")
    lab.mouse.move(430, 700)
    lab.mouse.wheel(0, 250)
    lab.wait_for_function("before => document.querySelector('.stMain').scrollTop > before", arg=scrolled)
    expect(lab.locator(".beside table").first).to_be_in_viewport(ratio=0.95)
    assert lab.get_by_label("Modifier", exact=True).evaluate("each => each.getBoundingClientRect().top") < HEIGHT


def test_on_a_phone_every_label_has_its_bars_below_and_nothing_overflows(server: str, page: Page) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    settled(open_page(page, f"{server}/probe_lab"))
    expect(page.locator(".beside")).to_be_visible()
    row = page.locator(".beside tbody tr:has(.shift)").first
    label, cell = row.locator("th").bounding_box(), row.locator("td").first.bounding_box()
    assert label is not None
    assert cell is not None
    assert cell["y"] >= label["y"] + label["height"] - 1
    assert page.evaluate("document.querySelector('.stMain').scrollWidth <= 400")
    for name in ("Present", "Collect"):
        button = page.get_by_role("button", name=name, exact=True).bounding_box()
        assert button is not None
        assert button["x"] + button["width"] <= 400


def test_a_row_of_the_bars_chooses_what_the_metric_saw_and_brings_it_into_view(lab: Page) -> None:
    lab.get_by_role("tab", name="Table").click()
    picture = lab.get_by_alt_text("frog after upside down")
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    assert box is not None
    lab.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    lab.wait_for_url(re.compile("variant=vflip"))
    tab = lab.get_by_role("tab", name="What the metric saw")
    expect(tab).to_have_attribute("aria-selected", "true")
    expect(tab).to_be_in_viewport()
    expect(lab.get_by_label("How much of the variant is uncovered, in percent")).to_be_visible()
    expect(lab.locator("tr.chosen")).to_contain_text("Upside down")
    lab.get_by_role("button", name=re.compile("Mirrored$")).focus()
    lab.keyboard.press("Enter")
    lab.wait_for_url(re.compile("variant=hflip"))
    expect(lab.locator("tr.chosen")).to_contain_text("Mirrored")


def test_arrow_keys_turn_the_edits_and_the_evaluators_of_present(server: str, page: Page) -> None:
    settled(
        open_page(page, f"{server}/probe_lab?present=yes&probes=vflip%2Chflip&evaluators=conse-lite0%2Cconse-lite2")
    )
    stage = page.locator(".st-key-present")
    expect(stage.get_by_role("heading", name="Upside down")).to_be_visible()
    expect(stage.locator("img")).to_have_count(1)
    expect(stage.locator(".pair .one")).to_have_count(2)
    until(page, "ArrowRight", stage.get_by_role("heading", name="Mirrored"))
    until(page, "ArrowDown", stage.get_by_role("heading", name="conse-lite2"))
    page.wait_for_url(lambda url: {"variant=hflip", "looker=conse-lite2"} <= set(url.partition("?")[2].split("&")))
    until(page, "ArrowLeft", stage.get_by_role("heading", name="Upside down"))
    until(page, "ArrowUp", stage.get_by_role("heading", name="conse-lite0"))
    until(page, "o", stage.get_by_alt_text("frog, as it is"))
    with page.expect_download() as waiting:
        stage.get_by_role("button", name="Hand-out as HTML").click()
    assert Path(waiting.value.path()).read_text(encoding="utf-8").count("<section") == 2
