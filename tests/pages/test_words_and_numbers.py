"""How pages write times and counts."""

import pytest

from pages.views.common.text import moment


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
