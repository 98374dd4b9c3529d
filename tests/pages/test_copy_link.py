"""What *Copy link* hands out is the view that the reader sees, not the one before."""

from pathlib import Path

from tests.pages.opening import Open

FAILURES = "pages/failures.py"


def test_the_link_holds_a_filter_as_soon_as_it_is_chosen(open_page: Open, demo: Path) -> None:
    app = open_page(FAILURES)
    families = next(each for each in app.multiselect if each.label == "Family")
    families.set_value(["vertical-flip"]).run()
    (link,) = [each.value for each in app.code if each.value.startswith("http") or "=" in each.value][:1]
    assert link.endswith("?families=vertical-flip")
