"""Fixtures of the audit's tests."""

from collections.abc import Callable
from pathlib import Path

import pytest

from core.corpora.schema import Corpus
from tests.audit.squares import build_corpus


@pytest.fixture
def squares(tmp_path: Path) -> Corpus:
    return build_corpus(tmp_path / "corpus")


@pytest.fixture
def make_squares(tmp_path: Path) -> Callable[[int], Corpus]:
    return lambda count: build_corpus(tmp_path / "corpus", count)
