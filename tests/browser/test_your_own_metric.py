"""A metric of one's own: the template is downloaded, named, checked in place, and has its column in the lab."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.walk import at_view, open_page, settled, to_view

pytestmark = [pytest.mark.browser, pytest.mark.whole]


def test_the_template_is_checked_and_has_its_column_in_the_lab(server: str, page: Page, tmp_path: Path) -> None:
    settled(open_page(page, server))
    to_view(page, "Try a picture")
    settled(page)
    page.get_by_role("button", name=re.compile("Evaluators:")).click()
    page.get_by_role("link", name="Bring your own metric").click()
    at_view(page, "Runs", "New run")
    settled(page)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download function.py").click()
    path = tmp_path / "brand_new.py"
    waiting.value.save_as(path)
    path.write_text(path.read_text().replace("def my_metric(images: list", "def brand_new(images: list"))

    field = page.get_by_placeholder("/path/to/my_metric.py")
    broken = tmp_path / "broken.py"
    broken.write_text("def score(img, text): ...\n")
    field.fill(str(broken))
    field.press("Enter")
    told = page.get_by_text("line 1, score takes (img, text)")
    expect(told).to_be_in_viewport()
    settled(page)
    field.fill(str(path))
    field.press("Enter")
    expect(told).to_have_count(0)
    settled(page)
    page.get_by_role("button", name="Check it").click()
    expect(page.get_by_text("It keeps all 9 promises.").first).to_be_in_viewport()
    settled(page)
    page.get_by_role("link", name="See its column in Try a picture").click()
    at_view(page, "Try a picture")
    settled(page)
    expect(page.get_by_text("brand_new", exact=True).first).to_be_visible()
    assert "evaluators=brand_new" in page.url
