"""Contrast tests in a real Chromium: from the matrix to one test, its link, and a narrow screen."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from tests.analysis.broken_runs import rows_of, write_broken
from tests.browser.conftest import PATIENCE_S, ROOT
from tests.browser.walk import at_query, choose, clicked_until, open_page, query, settled

pytestmark = pytest.mark.browser

EVALUATORS = ("conse-lite0", "conse-lite2", "grounding-judge", "conse-multilingual")
"""That scored the captions that ship."""


@pytest.fixture
def broken(data: Path) -> Iterator[None]:
    """A run with both halves of an audit, beside the run that ships."""
    write_broken(data / "runs" / "broken", rows_of(("e", "flat")))
    yield
    shutil.rmtree(data / "runs" / "broken")


@pytest.mark.usefixtures("broken")
def test_from_the_matrix_to_one_test_whose_link_reproduces_it(server: str, page: Page) -> None:
    settled(open_page(page, f"{server}/contrast_tests?corpus=c"))
    expect(page.get_by_text("How often each metric misses the error")).to_be_visible()
    expect(page.locator(".js-plotly-plot").first).to_contain_text("denied")
    choose(
        page,
        page.get_by_role("combobox", name=re.compile("Test")),
        page.get_by_role("option", name="swapped"),
        re.compile("test=swapped"),
    )
    settled(page)
    at_query(page, {"corpus": "c", "test": "swapped"})
    expect(page.get_by_text("swapped: mean scores of both sides")).to_be_visible()
    page.reload()
    settled(page)
    expect(page.get_by_text("swapped: mean scores of both sides")).to_be_visible()
    page.get_by_role("radio", name="Selectivity").or_(page.get_by_role("button", name="Selectivity")).first.click()
    expect(page.get_by_text("Which nuisance hides which error").first).to_be_visible()


@pytest.fixture
def photographs(data: Path, coco_root: Path) -> Iterator[None]:
    """A few of COCO's photographs with the captions of people, audited for this test."""
    command = [
        sys.executable,
        "-m",
        "core",
        "audit",
        "--corpus",
        "coco",
        "--root",
        str(coco_root),
        "--option",
        "split=val2017",
        "--option",
        "slice=all",
        "--limit",
        "6",
        "--subject",
        "human",
        "--probes",
        "jumble,foil,vflip",
        "--evaluators",
        "conse-lite0",
        "--out",
        str(data / "runs"),
        "--run-id",
        "photographs",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode in (0, 1), done.stderr  # 1: some caption has no score, with its reason
    yield
    shutil.rmtree(data / "runs" / "photographs")


@pytest.mark.whole
@pytest.mark.usefixtures("photographs")
def test_the_page_shows_tests_of_real_photographs_with_what_people_wrote(server: str, page: Page) -> None:
    settled(open_page(page, f"{server}/contrast_tests?corpus=coco&run=photographs&test=jumble"))
    matrix = page.locator(".js-plotly-plot").first
    expect(matrix).to_contain_text("Words shuffled")
    expect(matrix).to_contain_text("Wrong object (FOIL)")
    expect(page.get_by_text("Words shuffled: mean scores of both sides")).to_be_visible()
    expect(page.get_by_text(re.compile("of 6 items"))).to_be_visible()


@pytest.fixture
def shipped(data: Path) -> Iterator[None]:
    """The run of the demo corpus's captions that ships."""
    link = data / "results" / "demo-captions"
    link.symlink_to(ROOT / "data" / "results" / "demo-captions")
    yield
    link.unlink()


@pytest.mark.whole
@pytest.mark.usefixtures("shipped")
def test_a_worst_failure_of_the_shipped_captions_leads_to_its_picture_in_the_probe_lab(server: str, page: Page) -> None:
    settled(open_page(page, f"{server}/contrast_tests?corpus=demo&run=demo-captions&test=jumble"))
    matrix = page.locator(".js-plotly-plot").first
    for evaluator in EVALUATORS:
        expect(matrix).to_contain_text(evaluator)
    expect(page.get_by_text("Words shuffled: mean scores of both sides")).to_be_visible()
    expect(page.get_by_role("heading", name="Worst failures")).to_be_visible()
    card = page.locator(".st-key-contrast_card_0")
    expect(card.locator("img").first).to_be_visible()
    expect(card).to_contain_text("Words shuffled")
    link = card.get_by_role("link", name=re.compile("Open in Try a picture"))
    clicked_until(page, link, lambda url: "try_a_picture" in url)
    settled(page)
    told = query(page)
    assert (told["probes"], told["subject"]) == ("jumble", "human")
    assert set(told["evaluators"].split(",")) == {*EVALUATORS}
    rows = pd.read_parquet(ROOT / "data" / "results" / "demo-captions" / "scores")
    rows = rows[(rows["item"] == told["item"]) & (rows["language"] == "en") & (rows["subject"] == "human")]
    for probe in ("identity", "jumble"):
        (caption,) = set(rows.loc[rows["probe"] == probe, "caption"])
        expect(page.get_by_text(caption).locator("visible=true").first).to_be_visible()
    expect(page.get_by_text("Words shuffled").first).to_be_visible()


@pytest.mark.whole
@pytest.mark.usefixtures("broken")
def test_a_narrow_screen_shows_it_without_scrolling_sideways(server: str, page: Page) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    settled(open_page(page, f"{server}/contrast_tests?corpus=c&test=denied"))
    expect(page.get_by_text("Worst failures")).to_be_attached()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
