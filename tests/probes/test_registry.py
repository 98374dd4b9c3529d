"""What words select which probes."""

from dataclasses import replace

import numpy as np
import pytest

from core.errors import UnknownName
from core.probes import registry
from core.probes.base import Axis, Edits, Expectation, Probe, Subject, Variant
from core.probes.scene import Scene
from core.registry import Catalogue


def _same(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
    return Variant("p", caption=f"{subject.caption} {rng.integers(1000)}")


FALLS = Probe(
    "fall",
    Axis.SEMANTIC,
    "fall",
    Expectation.DIRECTIONAL,
    Edits.CAPTION,
    "It falls.",
    _same,
    default=False,
)
PROBES = (
    FALLS,
    replace(FALLS, name="fall:2", selector="semantic-sweep"),
    replace(FALLS, name="answer", family="answer", expectation=Expectation.RESPONSE),
    replace(FALLS, name="stay", family="stay", expectation=Expectation.INVARIANT, default=True),
)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Catalogue("probe", {probe.name: probe for probe in PROBES}, ())
    monkeypatch.setattr(registry, "catalogue", lambda: found)


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("directional", ["fall", "answer"]),
        ("default", ["stay"]),
        ("fall", ["fall"]),
        ("semantic", ["fall", "answer", "stay"]),
        ("semantic-sweep", ["fall:2"]),
        ("fall:2", ["fall:2"]),
        ("all", ["fall", "fall:2", "answer", "stay"]),
    ],
)
def test_a_point_of_a_sweep_is_chosen_by_its_own_words_alone(pattern: str, names: list[str]) -> None:
    assert [probe.name for probe in registry.select([pattern])] == names


@pytest.mark.usefixtures("known")
def test_a_word_that_selects_nothing_is_refused() -> None:
    with pytest.raises(UnknownName, match="sideways"):
        registry.select(["sideways"])
