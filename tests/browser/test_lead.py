"""An evaluation lead in a real Chromium: thresholds of their own, captioners from a file, and what to hand on."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from core.corpora.registry import catalogue
from pages.views.systems.new_board import example_table
from tests.browser.walk import eventually, open_page, query, settled, to_view

pytestmark = [pytest.mark.browser, pytest.mark.whole]

PICTURES = 12


@pytest.fixture
def kept(data: Path) -> Iterator[None]:
    """Nothing is kept before and after."""
    for name in ("stories", "leaderboards"):
        shutil.rmtree(data / name, ignore_errors=True)
    yield
    for name in ("stories", "leaderboards"):
        shutil.rmtree(data / name, ignore_errors=True)


@pytest.fixture
def captioners(tmp_path: Path) -> Path:
    """Captions of three systems of the same pictures in one file."""
    path = tmp_path / "captioners.csv"
    example_table(catalogue().get("demo").load()).head(PICTURES).to_csv(path, index=False)
    return path


@pytest.mark.usefixtures("kept")
def test_from_thresholds_to_ranks_under_edits_to_a_file_to_hand_on(
    server: str, page: Page, captioners: Path, tmp_path: Path
) -> None:
    settled(open_page(page, server))
    page.get_by_text("Other findings, and the least stable pictures").click()
    settled(page)
    page.get_by_role("button", name="Thresholds").click()
    margin = page.get_by_role("spinbutton", name="Margin, ± %")
    margin.fill("5")
    margin.press("Enter")
    page.wait_for_url(re.compile("margin=5"))
    settled(page)
    expect(page.get_by_text(re.compile("Stable and sensitive|Change under harmless edits")).first).to_be_visible()
    expect(page.get_by_text("held against a margin of ±5 %")).to_be_visible()
    page.keyboard.press("Escape")
    to_view(page, "Leaderboard", "Systems")
    settled(page)
    page.locator("input[type=file]").set_input_files(captioners)
    expect(page.get_by_text(f"3 systems, {PICTURES} pictures")).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Score and keep").click()
    expect(page.get_by_role("heading", name=re.compile("^How often does an edit swap"))).to_be_visible()
    settled(page)
    eventually(page, lambda: query(page).get("board") == "demo")
    expect(page.get_by_text(re.compile("is first for sure|leads, but not for sure")).first).to_be_visible()
    page.get_by_role("button", name="Collect").first.click()
    box = page.get_by_role("dialog")
    box.get_by_label("Title of the story").fill("Who leads")
    box.get_by_role("button", name="Collect").click()
    expect(page.get_by_text("Collected in Who leads")).to_be_visible()
    settled(open_page(page, f"{server}/stories"))
    expect(page.get_by_role("heading", name=re.compile("^1. Systems, conse-lite0"))).to_be_visible()
    with page.expect_download() as begun:
        page.get_by_role("button", name="HTML").click()
    begun.value.save_as(tmp_path / "story.html")
    told = (tmp_path / "story.html").read_text()
    assert all(name in told for name in ("Who leads", "template", "conse-lite0, fingerprint"))


def test_captions_become_a_leaderboard_that_a_link_finds_again(server: str, page: Page) -> None:
    settled(open_page(page, f"{server}/systems?view=new&source=captions&judges=conse-lite0&edits=vflip&count=12"))
    expect(page.get_by_text("3 systems, 12 pictures")).to_be_visible()
    page.get_by_role("button", name="Score and keep").click()
    expect(page.get_by_text("More checks")).to_be_visible(timeout=180_000)
    settled(page)
    expect(page.get_by_text(re.compile("12 pictures that all systems caption")).first).to_be_visible()
    settled(open_page(page, f"{server}/systems?view=kept&without=template"))
    page.get_by_text("Which differences are sure?").click()
    expect(page.get_by_text(re.compile("of 1 difference")).first).to_be_visible(timeout=60_000)
