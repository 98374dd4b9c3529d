"""The fairness card on paper: nothing of its table is cut off, and what is folded on the screen can be read."""

import pytest
from playwright.sync_api import Page

from core.report.fairness_card import card_report
from core.store.store import Store

pytestmark = [pytest.mark.browser, pytest.mark.whole]

ACROSS = round((297 - 2 * 13) / 25.4 * 96)
"""Width in px of A4 on its side within the card's margins."""


def test_the_card_fits_a4_on_its_side_with_all_it_says(page: Page, store: Store) -> None:
    page.set_viewport_size({"width": ACROSS, "height": 700})
    page.emulate_media(media="print")
    page.set_content(card_report(store))
    wide, seen = page.evaluate("[document.querySelector('table').scrollWidth, document.body.clientWidth]")
    assert wide <= seen <= ACROSS
    for fold in page.locator("details > p, details > h2").all():
        assert fold.evaluate("each => each.getBoundingClientRect().height") > 0, fold.inner_text()[:60]
