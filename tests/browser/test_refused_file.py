"""A file that is refused when its button is pressed, in a browser: what a reader sees, and that the next one comes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ROOT, served

pytestmark = [pytest.mark.browser, pytest.mark.whole]

SCRIPT = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
import streamlit as st
from core.errors import NotAvailable
from pages.views.common.crash import tell_refused_files

def refused():
    raise NotAvailable("there is time again in 40 s")

tell_refused_files()
st.download_button("Refused", refused, "refused.txt", on_click="ignore")
st.download_button("Made", lambda: b"made", "made.txt", on_click="ignore")
"""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    with served(script, tmp_path) as found:
        yield found


def test_a_refused_file_says_why_and_leaves_no_traceback(address: str, page: Page, tmp_path: Path) -> None:
    page.goto(address)
    page.get_by_role("button", name="Refused").click()
    expect(page.get_by_test_id("stDownloadButtonError")).to_have_text("There is time again in 40 s.")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Made").click()
    assert Path(waiting.value.path()).read_bytes() == b"made"
    assert "Traceback" not in (tmp_path / "log.txt").read_text()
