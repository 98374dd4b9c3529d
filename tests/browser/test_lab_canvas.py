"""The object drawn on the picture itself: handles, brush, eraser, undo, keys; the variant that moves it follows."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.walk import eventually, open_page, query, settled

pytestmark = [pytest.mark.browser, pytest.mark.whole]

LINK = "/probe_lab?evaluators=&probes=reposition-TL&item=frog-1-10-20"


@pytest.fixture
def lab(server: str, page: Page) -> Page:
    settled(open_page(page, server + LINK))
    expect(page.locator(".stage .box")).to_be_visible()
    return page


def moved(page: Page) -> str:
    """Address of the repositioned variant's picture: Streamlit names it by its content."""
    return str(page.get_by_alt_text("frog after moved to top left").get_attribute("src"))


def drawn(page: Page, before: str) -> str:
    """The variant's picture once it is another than before."""
    expect(page.get_by_alt_text("frog after moved to top left")).not_to_have_attribute("src", before)
    settled(page)
    return moved(page)


def drag(page: Page, place: Locator, start: tuple[float, float], by: tuple[float, float]) -> None:
    """Drag from a place, given in shares of it, by so many px."""
    box = place.bounding_box()
    assert box is not None
    x, y = box["x"] + start[0] * box["width"], box["y"] + start[1] * box["height"]
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + by[0] / 2, y + by[1] / 2)
    page.mouse.move(x + by[0], y + by[1])
    page.mouse.up()


def numbers(page: Page) -> list[int]:
    said = str(page.locator(".stage .box").get_attribute("aria-label"))
    found = re.match(r"Box at (\d+), (\d+), (\d+) by (\d+) pixels", said)
    assert found is not None, said
    return [int(each) for each in found.groups()]


def test_a_handle_the_brush_and_the_eraser_change_what_is_moved(lab: Page) -> None:
    assert lab.locator(".stage .handle").count() == 8
    first, box = moved(lab), numbers(lab)
    drag(lab, lab.locator(".handle[data-at=se]"), (0.5, 0.5), (-30, -40))
    second = drawn(lab, first)
    assert numbers(lab)[:2] == box[:2]
    assert numbers(lab)[2] < box[2]
    assert numbers(lab)[3] < box[3]
    eventually(lab, lambda: query(lab).get("box") == ",".join(map(str, numbers(lab))))

    lab.get_by_role("button", name="Brush", exact=True).click()
    drag(lab, lab.locator(".stage"), (0.2, 0.2), (60, 20))
    third = drawn(lab, second)
    assert numbers(lab)[0] < box[0] - 100  # the box follows what is painted
    eventually(lab, lambda: query(lab).keys() >= {"mask"})
    eventually(lab, lambda: "box" not in query(lab))

    lab.get_by_role("button", name="Eraser", exact=True).click()
    drag(lab, lab.locator(".stage"), (0.15, 0.18), (100, 30))
    fourth = drawn(lab, third)
    assert len({first, second, third, fourth}) == 4

    lab.get_by_role("button", name="Undo").click()
    assert drawn(lab, fourth) == third
    lab.keyboard.press("Control+z")
    assert drawn(lab, third) == second
    lab.get_by_role("button", name="Clear").click()
    assert drawn(lab, second) == first
    eventually(lab, lambda: not query(lab).keys() & {"box", "mask"})


def test_the_arrow_keys_move_the_box_and_its_handles(lab: Page) -> None:
    box, before = numbers(lab), moved(lab)
    lab.locator(".stage .box").focus()
    lab.keyboard.press("ArrowLeft")
    lab.keyboard.press("ArrowUp")
    step = box[0] - numbers(lab)[0]
    assert step > 0
    assert numbers(lab) == [box[0] - step, box[1] - step, *box[2:]]
    before = drawn(lab, before)
    lab.keyboard.press("Shift+ArrowRight")
    drawn(lab, before)
    assert numbers(lab) == [box[0] - step, box[1] - step, box[2] + step, box[3]]
    eventually(lab, lambda: query(lab).get("box") == ",".join(map(str, numbers(lab))))


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 400, "height": 800}, has_touch=True, is_mobile=True)
    context.set_default_timeout(180_000)
    yield context.new_page()
    context.close()


def test_on_a_phone_a_finger_scrolls_until_a_tool_is_chosen_and_then_paints(server: str, phone: Page) -> None:
    settled(open_page(phone, server + LINK))
    stage = phone.locator(".stage")
    assert stage.evaluate("each => getComputedStyle(each).touchAction") == "auto"
    box = numbers(phone)
    phone.get_by_role("button", name="Brush", exact=True).tap()
    assert stage.evaluate("each => getComputedStyle(each).touchAction") == "none"
    stage.scroll_into_view_if_needed()
    stage.tap(position={"x": 60, "y": 60})
    phone.wait_for_url(re.compile("mask="))
    settled(phone)
    assert numbers(phone)[0] < box[0] - 100  # the box follows what is painted
    assert stage.evaluate("each => each.getBoundingClientRect().right") <= 400
