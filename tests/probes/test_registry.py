"""What words select which probes, and the titles that each has for a reader."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from core.analysis.questions import papers
from core.errors import UnknownName
from core.probes import registry
from core.probes.base import Axis, Edits, Expectation, Probe, Subject, Variant
from core.probes.scene import Scene
from core.probes.titles import CONTRASTS, family_title, title
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


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("vflip", "Upside down"),
        ("hflip", "Mirrored"),
        ("rotate-10", "Turned by −10°"),
        ("rotate+5", "Turned by +5°"),
        ("reposition-TL", "Moved to top left"),
        ("reposition-true-BR", "Moved to bottom right, true background"),
        ("blur-2", "Blurred, σ 2 px"),
        ("cultural:African", "African …"),
        ("inserted-emotion:happy", "… happy …"),
        ("natural-gender-spacy:swapped-male", "Social word: male, swapped in"),
        ("masking:draw2", "Words masked, draw 2"),
        ("removal:p0.3", "Words removed, p = 0.3"),
        ("zoom:zoom15", "Zoomed by 15 %"),
        ("identity", "Unedited"),
        ("distance:0.4@045", "40 % of the way to the edge, at 45°"),
        ("distance:0.0", "At the centre"),
        ("mention:1-negated", "1 thing named, denied"),
        ("mention:3-absent", "3 things named, the last absent"),
        ("size:large-share-shuffled", "The larger one named, by share, words shuffled"),
        ("foil:3", "Wrong object (FOIL), sibling 3"),
        ("hollow-tail:len1", "Meaningless ending of 1 word"),
        ("verbosity:we-see-that", "Words around it: we see that"),
        ("order:trigrams", "Threes change places"),
        ("masking:printed", "Words masked, as printed"),
        ("my-own:probe", "my-own:probe"),
    ],
)
def test_a_probe_is_called_by_what_it_does(name: str, said: str) -> None:
    assert title(name) == said


def test_the_usual_probes_all_have_a_title_and_none_shares_it() -> None:
    usual = [probe.name for probe in registry.catalogue() if probe.default and probe.axis.value in ("spatial", "null")]
    assert usual
    assert all(title(name) != name for name in usual)
    assert max(Counter(map(title, usual)).values()) == 1


def test_every_probe_has_a_title() -> None:
    assert not [probe.name for probe in registry.catalogue() if title(probe.name) == probe.name]


def test_only_the_same_edit_under_two_names_shares_a_title_in_its_family() -> None:
    by_family: dict[str, Counter[str]] = {}
    for probe in registry.catalogue():
        by_family.setdefault(probe.family, Counter())[title(probe.name)] += 1
    shared = {family: {said for said, count in own.items() if count > 1} for family, own in by_family.items()}
    assert {family: said for family, said in shared.items() if said} == {
        "compression": {"JPEG, quality 75", "JPEG, quality 60"},
        "blur": {"Blurred, σ 1 px", "Blurred, σ 2 px"},
    }


def test_every_family_has_a_title_and_no_two_share_it() -> None:
    families = {probe.family for probe in registry.catalogue()}
    said = Counter(family_title(name) for name in families)
    assert not [name for name in families if family_title(name) == name]
    assert not [title for title, count in said.items() if count > 1]
    assert family_title("somebody-elses") == "somebody-elses"


def test_what_the_paper_compares_has_a_title_that_is_the_familys_or_says_that_it_is_the_papers() -> None:
    assert {each.label for each in papers.CONTRASTS} | {*papers.SUBSET_LABELS.values()} == set(CONTRASTS)
    for name, said in CONTRASTS.items():
        assert said == family_title(name)
        assert said == family_title(papers.FLIP) or said.endswith("(paper’s contrast)")
    assert len(set(CONTRASTS.values())) == len(CONTRASTS)
