"""One's own photograph, from the upload to the map of its object's places; one of COCO's where one is here."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from core.corpora.registry import catalogue
from core.corpora.schema import Item
from core.scoring.workbench import format_box
from tests.browser.walk import open_page, settled, shown

pytestmark = [pytest.mark.browser, pytest.mark.whole]


@pytest.fixture
def giraffe(coco_root: Path) -> Item:
    """An item whose object has room to move: its photograph, label and box."""
    items = catalogue().get("coco").load(coco_root, split="val2017", slice="all").items
    return next(each for each in items if each.label == "giraffe" and each.box and each.box.width < each.width / 3)


def test_an_uploaded_photograph_of_coco_is_mapped_place_by_place(server: str, page: Page, giraffe: Item) -> None:
    assert giraffe.image_path is not None
    open_page(page, f"{server}/probe_lab?source=upload&evaluators=conse-lite0&probes=vflip")
    settled(page)
    page.locator("input[type=file]").first.set_input_files(giraffe.image_path)
    expect(page.get_by_text(f"{giraffe.width} × {giraffe.height} px").first).to_be_visible()
    settled(page)
    name = page.get_by_label("Object", exact=True)
    name.fill(giraffe.label)
    name.press("Enter")
    expect(page.get_by_text("Score of the unedited pair").first).to_be_visible()
    settled(page)
    page.get_by_text("Box in numbers").click()
    box = page.get_by_label("Box: x, y, width, height in px", exact=True)
    assert giraffe.box is not None
    box.fill(format_box(giraffe.box))
    box.press("Enter")
    settled(page)
    button = page.get_by_role("button", name="Map the places")
    shown(page.get_by_role("tab", name="Position map"), button)
    button.click()
    picture = page.get_by_alt_text("Percent change under conse-lite0 by the object's place")
    expect(picture).to_be_visible()
    settled(page)
    expect(page.get_by_role("button", name="Places as CSV")).to_be_visible()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Places as CSV").click()
    rows = Path(waiting.value.path()).read_text(encoding="utf-8-sig").splitlines()
    assert len(rows) == 1 + 49
