"""One item is no items: remarks are read as English."""

import numpy as np
import pytest

from core.statistics.bootstrap import lacks_sources, median_bca, too_few
from core.statistics.factors import factor_test
from core.statistics.shift_tests import paired_test
from core.statistics.standings import order_agreement
from core.statistics.wording import counted


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 items"), (1, "1 item"), (1.0, "1 item"), (2, "2 items"), (12345, "12,345 items")]
)
def test_a_count_has_its_noun(count: float, said: str) -> None:
    assert counted(count, "item") == said


def test_remarks_on_one_thing_speak_of_one() -> None:
    assert too_few(30, 1) == "no interval (30 items of 1 source, below 10)"
    one = median_bca(np.arange(30.0), groups=np.zeros(30))
    assert lacks_sources(one)  # what is said does not change what is found
    assert paired_test([0] * 10, [0, 1, 2, 3, 4, 5, 6, 7, 8, 60]).note == "1 pair without a difference"
    assert (
        "1 level of fewer than 5 items left out"
        in factor_test(np.arange(14.0), [0] * 6 + [1] * 6 + [2] * 2, np.arange(14)).kruskal.note
    )
    systems = order_agreement(np.arange(12.0)[:, None], np.arange(12.0)[:, None])
    assert systems.tau.note == "1 system, below 3"
