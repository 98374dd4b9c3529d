"""A whole study in a real Chromium: created, three annotators by keyboard alone, re-analysed."""

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.walk import until

pytestmark = pytest.mark.browser

PAIRS = 4


def settled(page: Page) -> Page:
    page.wait_for_function("document.querySelector('.stApp')?.dataset.testScriptState === 'notRunning'", timeout=45_000)
    expect(page.locator("[data-stale=true]")).to_have_count(0, timeout=45_000)
    return page


def chosen(page: Page, question: str) -> Locator:
    """The chosen answer of a question."""
    return page.locator(f".st-key-study_answers_{question} button[kind=primary]")


def judge(page: Page, number: int) -> None:
    """Judge an item by three keys."""
    page.wait_for_timeout(400)  # faster than this nobody has looked
    until(page, "3", chosen(page, "A"))
    until(page, "6", chosen(page, "B"))
    expect(page.get_by_role("button", name=re.compile("equally good"))).to_be_enabled()
    after = f"Item {number + 1} of" if number < PAIRS else f"{PAIRS} done"
    until(page, "9", page.get_by_test_id("stProgress").get_by_text(after))
    settled(page)


def annotate(browser: Browser, link: str, *, kill_context_after: int = 0) -> None:
    """Finish everything behind a link, going on in a new browser after some items."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(link)
    expect(page.get_by_role("heading", name="Before you begin")).to_be_visible(timeout=45_000)
    expect(page.get_by_test_id("stSidebarNavLink")).to_have_count(0)
    settled(page)
    until(page, "Enter", page.get_by_test_id("stProgress").get_by_text("Item 1 of"))
    settled(page)
    for number in range(1, PAIRS + 1):
        expect(page.get_by_test_id("stProgress")).to_contain_text(f"Item {number} of {PAIRS}")
        if kill_context_after and number > kill_context_after:  # on a phone
            expect(page.locator(".st-key-study_screen img").first).to_be_visible()
            assert page.get_by_test_id("stMain").evaluate("each => each.scrollHeight <= each.clientHeight")
        judge(page, number)
        if number == kill_context_after:
            context.close()
            context = browser.new_context(viewport={"width": 400, "height": 800})
            page = context.new_page()
            page.goto(link)
            expect(page.get_by_test_id("stProgress")).to_contain_text(f"Item {number + 1} of", timeout=45_000)
            settled(page)
    expect(page.get_by_role("heading", name="Done, thank you")).to_be_visible()
    context.close()


def test_a_study_from_invitation_to_reanalysis_by_keyboard_alone(server: str, browser: Browser, page: Page) -> None:
    page.goto(server + "/human_validation")
    expect(page.get_by_text("No study is here yet")).to_be_visible(timeout=60_000)
    settled(page)
    page.get_by_role("spinbutton", name="Pairs").fill(str(PAIRS))
    page.keyboard.press("Enter")
    settled(page)
    rate = page.get_by_role("slider", name="Attention items")
    for _ in range(20):  # a key that comes while the page is drawn anew can be lost
        if rate.input_value() == "0":
            break
        rate.press("ArrowLeft")
        settled(page)
    expect(rate).to_have_value("0")
    expect(page.get_by_text(f"Sample: {PAIRS} items")).to_be_visible()
    page.get_by_role("button", name="Create the study").press("Enter")
    names = page.get_by_role("textbox", name="Invite annotators")
    expect(names).to_be_visible()
    settled(page)
    names.fill("Ada, Bo, Cy")
    names.press("Enter")
    links = page.get_by_text(re.compile("token="))
    expect(links).to_have_count(3)
    addresses = links.all_inner_texts()
    for number, address in enumerate(addresses):
        annotate(browser, address.strip(), kill_context_after=2 if number == 0 else 0)
    page.goto(server + "/human_validation?part=scores")
    expect(page.get_by_text(re.compile("the largest change of a median"))).to_have_count(2, timeout=60_000)
    drawn = page.locator(".stMainBlockContainer")
    expect(drawn).to_contain_text(f"0 pairs of {PAIRS} fall out", timeout=60_000)
    expect(drawn).to_contain_text(f"{PAIRS * 3} of {PAIRS * 3} wanted votes", timeout=60_000)
    page.goto(server + "/human_validation?part=agreement")
    expect(page.get_by_text(re.compile("Gwet AC1")).first).to_be_visible(timeout=60_000)


def test_an_annotator_who_knows_the_address_of_another_page_is_not_shown_the_votes(server: str, page: Page) -> None:
    page.goto(server + "/human_validation?token=" + "A" * 43)
    expect(page.get_by_text("This link is not valid")).to_be_visible(timeout=60_000)
    assert page.get_by_role("combobox", name="Study").count() == 0
