"""A function that keeps to one thread, told by what counts the threads of NumPy's matrix library."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from core.statistics.arithmetic import one_thread


def _threads() -> set[int]:
    assert np.ones(1).any()  # which loads the library
    return {each["num_threads"] for each in threadpool_info() if each["internal_api"] == "openblas"}


def test_it_has_one_thread_inside_and_as_many_as_before_after_it() -> None:
    with threadpool_limits(2, user_api="blas"):
        before = _threads()
        assert one_thread(_threads)() == {1}
        assert _threads() == before

    @one_thread
    def broken() -> None:
        raise ValueError("broken")

    with threadpool_limits(2, user_api="blas"):
        with pytest.raises(ValueError, match="broken"):
            broken()
        assert _threads() == before


def test_it_hands_on_what_it_is_given() -> None:
    assert one_thread(divmod)(7, 2) == (3, 1)
    assert one_thread(np.full)(shape=2, fill_value=3.0).tolist() == [3.0, 3.0]
