"""A reader's way through the app, in a real Chromium."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.walk import at_query, at_view, eventually, open_page, query, settled, until

pytestmark = pytest.mark.browser

OTHERS = (
    "failures",
    "results",
    "compare",
    "flip_risk",
    "systems",
    "calibration",
    "geometry",
    "run_audit",
    "human_validation",
    "stories",
    "contrast_tests",
    "suites",
    "video",
    "words",
)
LAB = "/probe_lab?evaluators=conse-lite0&probes=vflip%2Crotate%2B10"


def score(page: Page) -> str:
    return page.get_by_role("row", name=re.compile("^Score of the unedited pair")).inner_text()


@pytest.mark.whole
def test_upload_then_caption_then_shift_then_reload_shows_the_same(server: str, page: Page, photo: Path) -> None:
    settled_page = settled(open_page(page, server + LAB))
    settled_page.get_by_text("Upload", exact=True).click()
    page.locator("input[type=file]").set_input_files(photo)
    expect(page.get_by_text("1024 × 768 px")).to_be_visible()
    settled(page)  # a click on a page that is being redrawn can be lost
    page.get_by_text("Free text").click()
    caption = page.get_by_label("Caption to score")
    caption.fill("colours without an object, مرحبا")
    caption.press("Control+Enter")
    expect(page.get_by_text(re.compile("^Score of the unedited pair"))).to_be_visible()
    settled(page)
    eventually(page, lambda: query(page).get("caption") == "colours without an object, مرحبا")
    before = score(page)
    bars = page.locator(".beside tbody tr:not(.said) .number").all_text_contents()
    assert len(bars) == 2
    address = page.url
    page.reload()
    settled(page)
    expect(page.get_by_text("1024 × 768 px")).to_be_visible()
    expect(page.get_by_label("Caption to score")).to_have_value("colours without an object, مرحبا")
    expect(page.get_by_text(re.compile("^Score of the unedited pair"))).to_be_visible()
    assert page.url == address
    assert score(page) == before
    assert page.locator(".beside tbody tr:not(.said) .number").all_text_contents() == bars


@pytest.mark.whole
def test_a_word_stands_marked_in_the_readers_own_sentence(server: str, page: Page) -> None:
    link = "/probe_lab?evaluators=&probes=cultural%3AAmerican%2Cbase&label=dog&subject=free"
    settled(open_page(page, f"{server}{link}&caption=A%20dog%20is%20tied%20to%20a%20fire%20hydrant."))
    row = page.locator("tr[data-edit='inserted-cultural:American']")
    expect(row).to_contain_text("An American dog is tied to a fire hydrant.")
    shades = [row.locator(each).evaluate("e => getComputedStyle(e).backgroundColor") for each in ("mark", "button")]
    assert shades[0] != shades[1]
    expect(page.get_by_text("and the like, not of the caption beside: Bare template.")).to_be_visible()


@pytest.mark.whole
def test_a_box_drawn_on_the_picture_becomes_the_object(server: str, page: Page) -> None:
    settled(open_page(page, server + LAB))
    place = page.locator(".st-key-lab-canvas .stage").bounding_box()
    assert place is not None
    page.mouse.move(place["x"] + place["width"] * 0.25, place["y"] + place["height"] * 0.25)
    page.mouse.down()
    page.mouse.move(place["x"] + place["width"] * 0.75, place["y"] + place["height"] * 0.75, steps=8)
    page.mouse.up()
    page.wait_for_url(re.compile("box="))
    settled(page)
    x, y, width, height = (int(part) for part in query(page)["box"].split(","))
    assert min(x, y, width, height) > 0
    expect(page.locator(".st-key-lab-canvas .box")).to_have_attribute(
        "aria-label", re.compile(f"^Box at {x}, {y}, {width} by {height} ")
    )
    page.reload()
    settled(page)
    eventually(page, lambda: query(page).get("box") == f"{x},{y},{width},{height}")


@pytest.mark.whole
def test_a_link_straight_into_the_lab_has_navigation_and_theme(server: str, page: Page) -> None:
    settled(open_page(page, server + LAB))
    expect(page.get_by_role("link", name="Start")).to_be_visible()
    here = page.get_by_test_id("stSidebarNav").get_by_role("link", name="Try a picture")
    expect(here).to_have_attribute("aria-current", "page")
    assert page.get_by_role("link", name="app", exact=True).count() == 0


WIDTHS = {400: ("light", "dark"), 1280: ("dark", "light")}
"""What a page is opened in and what it changes to, as for a reader whose system changes at dusk, or at dawn."""

IN_THEME = """dark => {
  const parts = getComputedStyle(document.querySelector('.stApp')).backgroundColor.match(/\\d+/g).slice(0, 3);
  return (parts.reduce((sum, part) => sum + Number(part), 0) < 200) === dark;
}"""

OVERFLOW = """() => [
  document.documentElement, ...document.querySelectorAll('[data-testid=stMain], .stMainBlockContainer')
].map(each => each.scrollWidth - each.clientWidth)"""


@pytest.fixture(scope="module")
def reader(browser: Browser) -> Callable[[int], BrowserContext]:
    """A reader for each width, who goes from page to page with what the browser keeps of the app's code."""

    @cache
    def opened(width: int) -> BrowserContext:
        return browser.new_context(viewport={"width": width, "height": 900}, color_scheme=WIDTHS[width][0])  # type: ignore[arg-type]

    return opened


@pytest.mark.whole
@pytest.mark.parametrize("path", ["/", LAB, *(f"/{page}" for page in OTHERS)], ids=["overview", "lab", *OTHERS])
@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_fits_its_width_in_both_themes(
    reader: Callable[[int], BrowserContext], server: str, path: str, width: int
) -> None:
    page = settled(open_page(reader(width).new_page(), server + path))
    for scheme in WIDTHS[width]:
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.wait_for_function(IN_THEME, arg=scheme == "dark")
        settled(page)
        assert max(page.evaluate(OVERFLOW)) <= 1, scheme
        if width == 1280:
            for _ in range(5):  # a page that is drawn part by part is whole after the last of them
                if not (found := serious(page)):
                    break
                page.wait_for_timeout(1_000)
            assert not found, scheme
    page.close()


def serious(page: Page) -> list[str]:
    """What axe finds that is serious, or a heading out of order; Streamlit's own menu, whose list it marks, aside."""
    found = Axe().run(page, context={"exclude": [["[data-testid=stSidebarNavItems]"]]})
    return [
        f"{each['id']}: {[node['html'][:200] for node in each['nodes'][:3]]}"
        for each in found.response["violations"]
        if each["impact"] in ("serious", "critical") or each["id"] == "heading-order"
    ]


@pytest.mark.whole
def test_what_scrolls_on_a_phone_is_not_seen_beneath_the_bar(
    reader: Callable[[int], BrowserContext], server: str
) -> None:
    page = settled(open_page(reader(400).new_page(), server + "/words"))
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 300)")
    bar = page.get_by_test_id("stHeader")
    assert re.fullmatch(r"rgb\(\d+, \d+, \d+\)", bar.evaluate("bar => getComputedStyle(bar).backgroundColor"))
    assert bar.evaluate("bar => bar.contains(document.elementFromPoint(200, 20))")
    page.close()


@pytest.mark.whole
def test_an_axis_of_sizes_begins_at_zero_where_its_words_need_room(
    server: str, reader: Callable[[int], BrowserContext]
) -> None:
    page = settled(open_page(reader(400).new_page(), server + "/findings"))
    chart = page.locator(".js-plotly-plot").first
    expect(chart).to_contain_text("unchanged")
    assert chart.evaluate("each => each._fullLayout.xaxis.range[0]") == 0


def test_the_lab_can_be_reached_and_used_by_keyboard(server: str, page: Page) -> None:
    settled(open_page(page, server + LAB))
    expect(page.get_by_text(re.compile("^Score of the unedited pair"))).to_be_visible()
    expect(page.get_by_role("button", name="Start over")).to_be_enabled()
    for name in ("Start over", "Browse", "Edits"):
        tab_to(page, name)
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("stPopoverBody")).to_be_visible()
    tab_to(page, "Upside down")


def tab_to(page: Page, name: str) -> None:
    said = []
    for _ in range(150):
        page.keyboard.press("Tab")
        said.append(page.evaluate("document.activeElement.innerText || document.activeElement.ariaLabel || ''"))
        if name in said[-1]:
            return
    raise AssertionError(f"no {name} among {said}")


def test_nothing_is_fetched_from_anywhere_else(server: str, page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    settled(open_page(page, server + LAB))
    strangers = {urlsplit(url).netloc for url in asked if urlsplit(url).scheme in ("http", "https", "ws", "wss")}
    assert strangers == {urlsplit(server).netloc}


@pytest.mark.whole
def test_the_page_says_no_error_to_the_console(server: str, page: Page) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    settled(open_page(page, server + LAB))
    settled(open_page(page, server + "/"))
    assert not errors


@pytest.mark.whole
def test_a_download_holds_the_rows_of_the_page(server: str, page: Page, tmp_path: Path) -> None:
    settled(open_page(page, server + LAB))
    page.get_by_role("tab", name="Downloads").click()
    with page.expect_download() as started:
        page.get_by_role("button", name="Results as CSV").click()
    started.value.save_as(tmp_path / "rows.csv")
    text = (tmp_path / "rows.csv").read_text("utf-8-sig")
    assert text.splitlines()[0].startswith("probe,family,axis,evaluator,caption")
    assert {"identity", "vflip", "rotate+10"} <= {line.split(",")[0] for line in text.splitlines()[1:]}


@pytest.mark.whole
def test_a_key_opens_find_from_any_page_and_what_is_chosen_is_shown(server: str, page: Page) -> None:
    settled(open_page(page, server + "/flip_risk"))
    box = page.get_by_role("dialog").get_by_role("combobox")
    until(page, "Control+k", box)
    expect(box).to_be_focused()
    page.keyboard.type("noise band")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Words", exact=True)).to_be_visible()
    settled(page)
    at_query(page, {"find": "noise band"})
    expect(page.get_by_text("Noise band", exact=True)).to_be_visible()


@pytest.mark.whole
def test_a_mark_that_is_clicked_leads_to_the_pairs_that_it_stands_for(server: str, page: Page) -> None:
    settled(open_page(page, server + "/results?question=words"))
    mark = page.locator(".js-plotly-plot .scatterlayer .point").first
    mark.scroll_into_view_if_needed()
    around = mark.bounding_box()
    assert around
    page.mouse.move(around["x"] + 2, around["y"] + 2)
    page.mouse.click(around["x"] + around["width"] / 2, around["y"] + around["height"] / 2)
    way = page.get_by_role("link", name=re.compile("^Open these pairs"))
    expect(way).to_be_visible()
    way.click()
    at_view(page, "Findings", "Pictures")
    settled(page)
    at_query(page, {"evaluators": "conse-lite0", "corpus": "demo", "families": "cultural"})


@pytest.mark.whole
def test_what_is_collected_is_a_slide_that_can_be_taken_home(server: str, page: Page, tmp_path: Path) -> None:
    settled(open_page(page, server + "/failures?families=vertical-flip"))
    page.get_by_role("button", name="Collect").first.click()
    box = page.get_by_role("dialog")
    box.get_by_label("Title of the story").fill("What turns over")
    box.get_by_role("button", name="Collect").click()
    expect(page.get_by_text("Collected in What turns over")).to_be_visible()
    expect(box).to_have_count(0)
    settled(open_page(page, server + "/stories"))
    expect(page.get_by_role("heading", name=re.compile("^1. Upside down: "))).to_be_visible()
    with page.expect_download() as begun:
        page.get_by_role("button", name="HTML").click()
    begun.value.save_as(tmp_path / "story.html")
    page.get_by_role("button", name="Present").click()
    expect(page.get_by_role("dialog").get_by_text("1 of 1")).to_be_visible()
    page.goto((tmp_path / "story.html").as_uri())
    expect(page.get_by_role("heading", name="What turns over")).to_be_visible()
    assert page.evaluate("[...document.images].every((each) => each.naturalWidth > 0) && document.images.length") == 2


@pytest.mark.whole
def test_tab_goes_from_filter_to_filter_and_their_help_is_told_with_them(server: str, page: Page) -> None:
    settled(open_page(page, server + "/findings?view=compare"))
    first = page.get_by_role("combobox", name="A row for each", exact=True)
    helped = "The levels that both sides have; all together stand above them."
    expect(first).to_have_attribute("aria-description", helped)
    icon = page.get_by_role("button", name="Help for A row for each")
    expect(icon).to_have_attribute("aria-description", helped)
    icon.hover()
    expect(page.get_by_role("tooltip")).to_contain_text(helped)  # the icon's own words, not others
    page.mouse.move(0, 0)
    first.focus()
    stops = []
    for _ in range(12):
        stops.append(page.evaluate("document.activeElement.getAttribute('aria-label') || ''"))
        page.keyboard.press("Tab")
    assert stops[0] == "A row for each"
    assert not [each for each in stops if each.startswith("Help for")]
    settled(open_page(page, server + "/geometry"))
    page.get_by_text("How words are placed").click()
    expect(page.get_by_role("radiogroup", name="Level")).to_have_attribute(
        "aria-description", re.compile("^Words: the modifier alone")
    )
