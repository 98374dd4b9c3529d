"""Whole studies in a real Chromium: three annotators by keyboard alone, re-analysed; Prolific's way on a phone."""

import contextlib
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from core.features.human.creation import create_study
from core.features.human.entrance import by_construction
from core.features.human.first_steps import lesson, set_consent, set_practice
from core.features.human.prolific import link_query, open_link
from core.features.human.studies import Study
from core.features.human.votes import vote_table
from core.settings import ROOT
from core.store.store import Store
from tests.browser.walk import until

pytestmark = pytest.mark.browser

PAIRS = 4
FITS = """() => {
  const main = document.querySelector('[data-testid=stMain]');
  return main.querySelector('.st-key-study_moves') && main.scrollHeight <= main.clientHeight;
}"""
"""Whether an item stands whole on the screen, with the bar beneath."""


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
            page.wait_for_function(FITS, timeout=20_000)  # their size comes after the pictures
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
    expect(page.get_by_text("No studies yet")).to_be_visible(timeout=60_000)
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
    names = page.get_by_role("textbox", name="Invite people")
    expect(names).to_be_visible()
    settled(page)
    names.fill("Ada, Bo, Cy")
    names.press("Enter")
    # a reminder to copy holds the link too, behind a greeting
    links = page.get_by_test_id("stCode").filter(has_text=re.compile(r"^\s*http\S+token="))
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


@pytest.mark.whole
def test_an_annotator_who_knows_the_address_of_another_page_is_not_shown_the_votes(server: str, page: Page) -> None:
    page.goto(server + "/human_validation?token=" + "A" * 43)
    expect(page.get_by_text("This link is not valid")).to_be_visible(timeout=60_000)
    assert page.get_by_role("combobox", name="Study").count() == 0


@pytest.fixture
def recruiting(data: Path) -> Iterator[Study]:
    """A study of two items a participant, with consent, one practice item and a link for Prolific."""
    with Store.open(ROOT / "data" / "results") as store:
        study = create_study(
            store,
            "demo",
            study_id="recruiting",
            title="Recruiting",
            kind="acceptability",
            total=2,
            per_item=1,
            attention_rate=0.05,
            seed=1,
            parent=data / "studies",
        )
    set_consent(study, "You may stop at any time.")
    set_practice(study, by_construction(study.definition)[:1], needed=1, tries=2)
    open_link(study, items=2, completion="C0DE2026")
    yield study
    shutil.rmtree(study.folder)  # another walk begins without a study


@pytest.mark.whole
def test_a_participant_of_prolific_on_a_phone_from_the_link_to_the_completion_code(
    server: str, browser: Browser, recruiting: Study
) -> None:
    pid, query = "5f0c9a1b2c3d4e5f60718293", link_query(recruiting)
    assert query is not None
    for name, value in (("PROLIFIC_PID", pid), ("STUDY_ID", "64b0"), ("SESSION_ID", "64b1")):
        query = query.replace(f"{{{{%{name}%}}}}", value)
    context = browser.new_context(viewport={"width": 400, "height": 800}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(f"{server}/human_validation?{query}")
    tapped(page, "I agree", page.get_by_role("heading", name="Before you begin"))
    tapped(page, "Begin", page.get_by_text("Practice 1 of 1"))
    expect(page.locator("kbd").first).to_be_hidden()  # no keys to hint at
    (annotator,) = recruiting.state().by_pid.values()
    exercise = lesson(recruiting, annotator).exercise
    assert exercise is not None
    right = "A" if recruiting.definition.left_version(annotator, exercise.item) == "original" else "B"
    judge_by_touch(
        page,
        right,
        {"A": "fully correct", "B": "incorrect"} if right == "A" else {"A": "incorrect", "B": "fully correct"},
        shown=page.get_by_text("Right."),
    )
    tapped(page, "Go on", page.get_by_text("Item 1 of 2"))
    for number in (1, 2):
        assert page.get_by_text("C0DE2026").count() == 0
        page.wait_for_function(FITS, timeout=20_000)
        page.wait_for_timeout(400)  # faster than this nobody has looked
        after = page.get_by_text("Item 2 of 2") if number == 1 else page.get_by_role("heading", name="Done, thank you")
        judge_by_touch(page, "equally good", {"A": "fully correct", "B": "fully correct"}, shown=after)
    expect(page.get_by_text("C0DE2026")).to_be_visible()
    back = page.get_by_role("link", name="Return to Prolific")
    expect(back).to_have_attribute("href", "https://app.prolific.com/submissions/complete?cc=C0DE2026")
    context.close()
    votes = vote_table(recruiting)
    assert (set(votes["annotator"]), len(votes)) == ({annotator}, 2)


def tapped(page: Page, label: str, shown: Locator) -> None:
    """Tap a button, again where the page was not listening yet, until something shows."""
    for _ in range(10):
        settled(page)
        if shown.count():
            return
        with contextlib.suppress(PlaywrightTimeout):
            page.get_by_role("button", name=re.compile(f"^{label}")).tap(timeout=5_000)
        with contextlib.suppress(AssertionError):
            expect(shown.first).to_be_visible(timeout=10_000)
            return
    raise AssertionError(f"{label} did nothing")


def judge_by_touch(page: Page, preferred: str, sides: dict[str, str], *, shown: Locator) -> None:
    """Judge both versions and say which is better, until what comes next shows."""
    words = {**sides, "preference": preferred if preferred == "equally good" else f"{preferred} is better"}
    for question, label in words.items():
        button = page.locator(f".st-key-study_answers_{question}").get_by_role("button", name=re.compile(f"^{label}"))
        chosen_or_next = shown if question == "preference" else chosen(page, question).filter(has_text=label)
        for _ in range(10):
            settled(page)
            with contextlib.suppress(PlaywrightTimeout):
                button.tap(timeout=5_000)
            with contextlib.suppress(AssertionError):
                expect(chosen_or_next.first).to_be_visible(timeout=10_000)
                break
        else:
            raise AssertionError(f"{label} did nothing")
    settled(page)
