"""How pages write times and counts."""

import pytest

from pages.views.common.text import as_percent, moment, safe
from tests.pages.opening import COMPARE, RESULTS, RUN, SYSTEMS, Open


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("2026-11-21T06:03:53Z", "2026-11-21 06:03 UTC"),
        ("2026-11-21T06:03:53+02:00", "2026-11-21 04:03 UTC"),
        ("2026-11-21T06:03:53.123456+00:00", "2026-11-21 06:03 UTC"),
        ("—", "—"),
        ("yesterday", "yesterday"),
    ],
)
def test_a_time_of_a_file_is_written_for_a_reader(written: str, said: str) -> None:
    assert moment(written) == said


def test_text_from_data_is_one_line_whose_numbers_stay_with_their_units() -> None:
    assert safe(f"a\n b\t\u2028 c  covers {as_percent(0.39)} ") == "a b c covers 39\u00a0%"
    assert safe("\u00a0 \n") == ""


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize(
    ("page", "query", "box", "told", "machine"),
    [
        (RESULTS, {"question": "object"}, "Family", "Upside down", "vertical-flip"),
        (COMPARE, {}, "Family", "Upside down", "vertical-flip"),
        (SYSTEMS, {"show": "new", "source": "captions"}, "Harmless edits", "Upside down", "vflip"),
        (RUN, {}, "Families", "Upside down", "vertical-flip"),
    ],
)
def test_what_can_be_chosen_is_called_by_its_title(
    open_page: Open, page: str, query: dict[str, str], box: str, told: str, machine: str
) -> None:
    app = open_page(page, **query)
    assert not app.exception
    offered = [set(each.options) for each in (*app.selectbox, *app.multiselect) if each.label == box]
    assert offered
    assert all(any(name.startswith(told) for name in each) and machine not in each for each in offered)
