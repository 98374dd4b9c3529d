"""From one's own photograph, and one's own metric, to the results of one's own audit, in one browser."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.audit.squares import GATED
from tests.browser.test_journey import LAB, score
from tests.browser.walk import at_query, at_view, choose, open_page, settled, to_view
from tests.plugins.gate import Gate

pytestmark = [pytest.mark.browser, pytest.mark.whole]

AUDIT = "/run_audit?evaluators=conse-lite0&probes=vflip%2Chflip&limit=12&run_id=walk"
LOADED = 240_000
"""Patience in ms for a process that loads its models beside others."""


def test_from_a_photograph_to_the_results_of_an_audit(
    server: str, data: Path, context: BrowserContext, page: Page, photo: Path
) -> None:
    settled(open_page(page, server + LAB))
    page.get_by_text("Upload", exact=True).click()
    page.locator("input[type=file]").set_input_files(photo)
    expect(page.get_by_text("1024 × 768 px")).to_be_visible()
    settled(page)
    page.get_by_text("Free text").click()
    caption = page.get_by_label("Caption to score")
    caption.fill("a rough pattern of colours")
    caption.press("Control+Enter")
    expect(page.get_by_text(re.compile("^Score of the unedited pair"))).to_be_visible()
    settled(page)
    assert re.search(r"\d", score(page))
    bars = page.locator(".beside tbody tr:not(.said) .number").all_text_contents()
    assert len(bars) == 2
    assert all("%" in bar for bar in bars)

    to_view(page, "Findings", "Pictures")
    settled(page)
    everything = page.get_by_text(re.compile(r"\d pairs")).first.inner_text()
    page.get_by_role("button", name="Filters").click()
    family = page.get_by_role("combobox", name="Family")
    flip = page.get_by_role("option", name=re.compile("^Upside down"))
    choose(page, family, flip, re.compile("families=vertical-flip"), typed="vertical-flip")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    settled(page)
    filtered = page.get_by_text(re.compile(r"\d pairs")).first
    expect(filtered).not_to_have_text(everything)
    shown = page.locator("[data-testid=stMain]").inner_text()
    assert "Upside down" in shown
    assert "Mirrored" not in shown

    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    at_query(page, {"families": "vertical-flip"})
    other = context.new_page()
    settled(open_page(other, link))
    expect(other.get_by_text(re.compile(r"\d pairs")).first).to_have_text(filtered.inner_text())
    first = other.get_by_text(re.compile(r"^1\. ")).first
    expect(first).to_have_text(page.get_by_text(re.compile(r"^1\. ")).first.inner_text())
    other.close()

    gate = Gate(data)
    gate.shut(0)  # or the audit may be complete before it is cancelled
    settled(open_page(page, server + AUDIT))
    page.get_by_text("Your own metric").first.click()
    own = page.get_by_placeholder("/path/to/my_metric.py")
    own.fill(GATED)
    own.press("Enter")
    settled(page)
    page.get_by_role("button", name="Start the audit").click()
    card = page.locator(".st-key-run_job_walk")
    expect(card).to_be_visible()
    card.get_by_role("button", name="Cancel").click()
    resume = card.get_by_role("button", name="Resume")
    expect(resume).to_be_visible(timeout=LOADED)
    gate.open()
    resume.click()
    results = card.get_by_role("link", name="See its results")
    expect(results).to_be_visible(timeout=LOADED)
    results.click()
    at_view(page, "Findings", "Figures")
    settled(page)
    at_query(page, {"run": "walk"})
    expect(page.locator("[data-testid=stMain]")).to_contain_text("Upside down")
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    to_view(page, "Findings", "Pictures")
    settled(page)
    at_query(page, {"run": "walk"})


def test_the_template_is_checked_and_has_its_column_in_the_lab(server: str, page: Page, tmp_path: Path) -> None:
    settled(open_page(page, server))
    to_view(page, "Try a picture")
    settled(page)
    page.get_by_role("button", name=re.compile("Metrics:")).click()
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
