"""What several tests of the analysis read."""

from collections.abc import Iterator

import pytest

from core.audit.store import Store
from core.settings import results_dir


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    """The shipped run."""
    with Store.open(results_dir()) as opened:
        yield opened
