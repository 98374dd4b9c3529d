"""Photographs of one's own: a zip is uploaded, previewed, audited, and its results open."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.walk import at_view, open_page, settled
from tests.corpora.test_brought import CAPTIONS, archive, png

pytestmark = pytest.mark.browser


def test_a_zip_of_photographs_is_previewed_and_audited_and_its_results_open(
    server: str, page: Page, tmp_path: Path
) -> None:
    path = tmp_path / "mine.zip"
    path.write_bytes(archive({"mine/a.png": png(), "mine/b.png": png(1), "mine/captions.csv": CAPTIONS}))
    settled(open_page(page, f"{server}/run_audit?evaluators=blind-length&probes=vflip,hflip,cultural"))
    page.get_by_text("Bring photographs").click()
    page.locator("input[type=file]").first.set_input_files(path)
    expect(page.get_by_text("2 pictures in")).to_be_visible(timeout=60_000)
    settled(page)
    expect(page.get_by_text("A grey wall.", exact=True)).to_be_visible()
    expect(page.get_by_text("A door.", exact=True)).to_be_visible()
    page.get_by_role("button", name="Start the audit").click()
    card = page.locator("[class*='st-key-run_job_folder-']").first  # other tests' jobs stand on the page as well
    results = card.get_by_role("link", name="See its results")
    expect(results).to_be_visible(timeout=120_000)
    settled(page)
    results.click()
    at_view(page, "Findings", "Figures")
    settled(page)
    assert "run=folder-" in page.url
    expect(page.get_by_role("button", name="Caption: from the corpus")).to_be_visible()
    expect(page.get_by_text("Spatial edits: how far the score moves, up or down")).to_be_visible()
