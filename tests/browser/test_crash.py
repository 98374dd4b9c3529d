"""A page that fails and a file that is refused, in a browser: what a reader sees and keeps."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ROOT, served

pytestmark = [pytest.mark.browser, pytest.mark.whole]

SECRET = "a dog on the sofa of Ann"

FAILING = f"""
import runpy, sys
sys.path.insert(0, {str(ROOT)!r})
import pages.views.common.text as found
whole = found.glossary
def glossary():
    caption = {SECRET!r}
    if sys._getframe(1).f_code.co_filename.endswith("words_view.py"):  # the hints of other pages ask for words too
        raise KeyError(caption)
    return whole()
found.glossary = glossary
runpy.run_path({str(ROOT / "app.py")!r}, run_name="__main__")
"""


@pytest.fixture
def failing_server(tmp_path: Path) -> Iterator[str]:
    """Address of the app with a fault in one of its pages."""
    (tmp_path / "pages").symlink_to(ROOT / "pages")
    (tmp_path / "app.py").write_text(FAILING)
    with served(tmp_path / "app.py", tmp_path) as address:
        yield address


def test_a_page_that_fails_offers_a_report_and_shows_nothing_else_of_the_fault(
    failing_server: str, page: Page, tmp_path: Path
) -> None:
    page.goto(failing_server)  # app.py runs here first; two sessions that import at once meet half-made modules
    expect(page.get_by_role("heading", name="Start")).to_be_visible(timeout=90_000)
    page.goto(f"{failing_server}/words")
    box = page.get_by_test_id("stException")
    expect(box).to_contain_text("fault of Invariscope itself", timeout=90_000)
    for hidden in (SECRET, "KeyError", "Traceback", str(ROOT), str(tmp_path)):
        expect(page.locator("body")).not_to_contain_text(hidden)
    expect(box.get_by_role("link")).to_have_count(0)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Crash report").click()
    written = Path(waiting.value.path()).read_text(encoding="utf-8")
    told = json.loads(written)
    assert told["page"] == "words"
    assert told["action"].startswith("pages/views/words_view.py:")
    assert not any(secret in written for secret in (SECRET, str(ROOT), str(tmp_path)))
    page.goto(f"{failing_server}/stories")
    expect(page.get_by_role("heading", name="Stories")).to_be_visible(timeout=60_000)
    expect(box).to_have_count(0)


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
