"""Suites in a real Chromium: from the menu to a result, another measure and its link, on a narrow screen too."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.analysis.suites.made import pascal_result
from tests.browser.walk import at_query, choose, open_page, settled, to_view

pytestmark = [pytest.mark.browser, pytest.mark.whole]


@pytest.fixture
def kept(data: Path, tmp_path: Path) -> Iterator[str]:
    """The stored result of two evaluators."""
    result = pascal_result(tmp_path, "one", "two")
    folder = data / "suites"
    folder.mkdir()
    (folder / f"{result.id}.json").write_text(result.model_dump_json())
    yield result.id
    shutil.rmtree(folder)


@pytest.mark.usefixtures("kept")
def test_from_the_menu_to_a_number_whose_link_reproduces_it(server: str, page: Page) -> None:
    settled(open_page(page, server))
    to_view(page, "Does it notice?", "Suites")
    expect(page.get_by_text("Why is mine different?")).to_be_visible()
    settled(page)
    expect(page.locator(".js-plotly-plot").first).to_contain_text("one")
    strict = page.get_by_role("option", name="Accuracy %, a tie an error")
    choose(
        page, page.get_by_role("combobox", name=re.compile("Measure")), strict, re.compile("measure=accuracy_strict")
    )
    settled(page)
    at_query(page, {"measure": "accuracy_strict"})
    page.reload()
    settled(page)
    expect(page.locator("strong", has_text="Accuracy %, a tie an error")).to_be_visible()


@pytest.mark.usefixtures("kept")
def test_a_narrow_screen_shows_it_without_scrolling_sideways(server: str, page: Page) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    settled(open_page(page, f"{server}/suites"))
    expect(page.get_by_text("Why is mine different?")).to_be_attached()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
