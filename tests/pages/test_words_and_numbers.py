"""How pages write times and counts."""

import pytest

from pages.views.common.text import as_percent, moment, safe


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
