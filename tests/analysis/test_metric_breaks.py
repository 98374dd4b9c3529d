"""The check's other half: broken meanings that escape a metric, and its selectivity, worked out from the lab's rows."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.corpora.registry import catalogue
from core.errors import InvalidInput
from core.features.lab.lab import LabRow
from core.features.metric_check.judged_families import broken
from core.features.metric_check.metric_check import MetricReport, check_metric
from core.probes.base import HUMAN, Axis, Edits, Expectation, Probe, Subject, Variant
from core.probes.registry import select
from core.probes.scene import Scene
from core.probes.words.lexical_edits import EDITS
from core.settings import assets_dir
from core.statistics.shares import share

TEMPLATE = f"{assets_dir() / 'templates' / 'metric.py'}:MyMetric"


def probe_of(name: str, *, falsity: str | None = "verified") -> Probe:
    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        words = EDITS[name](subject.caption, rng, language=subject.language)
        return Variant(name, caption=words, facts={} if falsity is None else {"falsity": falsity})

    return Probe(name, Axis.LEXICAL, name, Expectation.DIRECTIONAL, Edits.CAPTION, "Words.", make, subjects=(HUMAN,))


DOUBLED, LESS = probe_of("repetition"), probe_of("removal")


def checked(reference: str, probes: tuple[Probe, ...], **options: Any) -> MetricReport:
    items = catalogue().get("demo").load().items
    return check_metric(reference, items, probes, count=12, **options)


@pytest.fixture
def words(tmp_path: Path) -> str:
    """A metric that counts words: every removed word costs, a doubled one earns."""
    code = Path(TEMPLATE.split(":")[0]).read_text(encoding="utf-8")
    counted = code.replace(
        "        words = caption", "        return len(caption.split()) / 200\n        words = caption"
    )
    assert counted != code
    (tmp_path / "words.py").write_text(counted, encoding="utf-8")
    return f"{tmp_path / 'words.py'}:MyMetric"


def test_a_metric_that_counts_words_sees_removal_and_not_repetition(words: str) -> None:
    report = checked(words, (*select(["vertical-flip"]), DOUBLED, LESS), directional=True)
    assert report.broken is not None
    by_family = {each.family: each for each in report.broken.families}
    assert (by_family["repetition"].found.failure.estimate, by_family["repetition"].verdict) == (1.0, "beyond")
    assert by_family["repetition"].found.ties.estimate == 0.0
    assert by_family["removal"].verdict == "within"
    assert {each.family for each in report.families} == {"null", "vertical-flip"}
    assert not report.passed
    assert report.as_dict()["broken"]["most"] == 50.0
    # the flip moves nothing: a removed word costs more than it, a doubled one less
    assert report.broken.selectivity is not None
    assert report.broken.selectivity.value.estimate == pytest.approx(0.5, abs=0.1)


def test_fewer_failures_than_the_threshold_pass_and_a_selectivity_can_be_asked_for(words: str) -> None:
    probes = (*select(["rotation"]), LESS)
    passed = checked(words, probes, directional=True, most_failures=40.0)
    assert passed.passed
    assert passed.broken is not None
    assert passed.broken.selective == ""
    reached = passed.broken.selectivity
    assert reached is not None
    asked = checked(words, probes, directional=True, least_above=0.2)
    assert asked.passed
    assert asked.broken is not None
    assert asked.broken.selective == "within"
    most = checked(words, probes, directional=True, least_above=0.5)
    assert most.broken is not None
    assert reached.above.estimate == 0.5  # a rotation moves nothing: every drop is larger
    assert most.broken.selective == "undecided"  # twelve items cannot show that none is the other way


def test_what_proves_no_falsity_is_judged_by_its_failures_and_enters_no_selectivity(words: str) -> None:
    probes = (*select(["rotation"]), probe_of("removal", falsity=None), DOUBLED)
    found = checked(words, probes, directional=True).broken
    alone = checked(words, (*select(["rotation"]), DOUBLED), directional=True).broken
    assert found is not None
    assert alone is not None
    assert {each.family for each in found.families} == {"removal", "repetition"}
    assert found.selectivity == alone.selectivity  # every removed word costs this metric, and none of it counts
    none = checked(
        words, (*select(["rotation"]), probe_of("removal", falsity=None)), directional=True, least_above=0.5
    ).broken
    assert none is not None
    assert (none.selectivity, none.selective) == (None, "beyond")


def row(probe: str, item: int, score: float | None, baseline: float | None) -> LabRow:
    return LabRow(probe, probe, "lexical", "m", "b", "identity", "a", baseline, score, falsity="verified")


def test_failures_and_selectivity_are_those_of_the_rows() -> None:
    flip = select(["vertical-flip"])[0]
    rows = [
        [row("repetition", 0, 0.3, 0.5), row(flip.name, 0, 0.4, 0.5)],  # a drop of 0.2 against a harm of 0.1
        [row("repetition", 1, 0.5, 0.5), row(flip.name, 1, 0.5, 0.5)],  # a tie of nothing with nothing
        [row("repetition", 2, None, 0.5), row(flip.name, 2, 0.9, 0.5)],  # no score
        [row("repetition", 3, 0.6, 0.5), row(flip.name, 3, 0.4, 0.5)],  # it rises
    ]
    found = broken((flip, DOUBLED), rows, most=50.0, least_above=0.5)
    (family,) = found.families
    assert (family.found.n, family.missing) == (3, 1)
    assert family.found.failure.estimate == pytest.approx(2 / 3)
    assert family.found.ties.estimate == pytest.approx(1 / 3)
    assert family.verdict == "undecided"  # three comparisons have no interval
    assert found.selectivity is not None
    assert found.selectivity.value.estimate == pytest.approx((1 + 0.5 + 0) / 3)
    assert found.selective == "undecided"
    assert found.undecided == ("repetition", "selectivity")
    assert found.passed


@pytest.mark.parametrize(
    ("items", "sources", "verdicts"),
    [
        (6, 6, ("undecided", "undecided")),
        (12, 6, ("undecided", "undecided")),
        (12, 12, ("within", "beyond")),
    ],
)
def test_too_few_items_or_sources_decide_nothing_however_alike_they_are(
    items: int, sources: int, verdicts: tuple[str, str]
) -> None:
    rows = [[row("repetition", item, 0.3, 0.5), row("removal", item, 0.6, 0.5)] for item in range(items)]
    found = broken((DOUBLED, LESS), rows, most=50.0, least_above=None, sources=np.arange(items) % sources)
    assert [each.found.failure.estimate for each in found.families] == [0.0, 1.0]
    assert tuple(each.verdict for each in found.families) == verdicts


def test_a_family_of_many_is_judged_at_the_level_of_all_and_one_alone_at_its_own() -> None:
    """Failing in 60 of 96 items excludes one half at 95 %, not at 99.7 %; one that is clear leaves fewer to correct."""
    names = [f"edit-{place}" for place in range(20)]
    probes = [probe_of(name) for name in names]

    def score(name: str, item: int) -> float:
        failing = 60 if name == names[0] else 0 if name == names[1] else 48
        return 0.6 if item < failing else 0.4

    rows = [[row(name, item, score(name, item), 0.5) for name in names] for item in range(96)]
    (alone,) = broken(probes[:1], rows, most=50.0, least_above=None).families
    assert (alone.verdict, alone.held) == ("beyond", alone.found.failure)
    first, second, *others = broken(probes, rows, most=50.0, least_above=None).families
    assert (first.verdict, second.verdict) == ("undecided", "within")
    assert {each.verdict for each in others} == {"undecided"}
    assert second.held.level == pytest.approx(1 - 0.05 / len(names))
    assert first.held.level == pytest.approx(1 - 0.05 / (len(names) - 1))
    assert first.held.low <= 0.5 < first.found.failure.low


def test_of_families_that_are_all_at_the_threshold_one_in_twenty_checks_says_more() -> None:
    rng, wrong = np.random.default_rng(3), 0
    names = [f"edit-{place}" for place in range(10)]
    probes = [probe_of(name) for name in names]
    for _ in range(60):
        up = rng.random((len(names), 60)) < 0.5
        rows = [
            [row(name, item, 0.6 if up[place, item] else 0.4, 0.5) for place, name in enumerate(names)]
            for item in range(60)
        ]
        found = broken(probes, rows, most=50.0, least_above=None).families
        wrong += any(each.verdict != "undecided" for each in found)
    assert wrong <= 8  # 19 to 26 of them where each family was judged as if it were alone


def test_a_deaf_metric_has_nothing_above_its_chance_though_its_selectivity_is_one_half() -> None:
    flip = select(["vertical-flip"])[0]
    rows = [[row("repetition", item, 0.5, 0.5), row(flip.name, item, 0.5, 0.5)] for item in range(200)]
    found = broken((flip, DOUBLED), rows, most=100.0, least_above=0.1)
    assert found.selectivity is not None
    assert (found.selectivity.value.estimate, found.selectivity.above.estimate) == (0.5, 0.0)
    assert found.selective == "beyond"


def test_a_metric_whose_chance_is_a_quarter_is_judged_by_how_far_it_lies_above_that() -> None:
    flip, rng = select(["vertical-flip"])[0], np.random.default_rng(1)
    scores = 0.5 + 0.1 * rng.standard_normal((400, 2)) - [0.08, 0.0]
    rows = [[row("repetition", at, drop, 0.5), row(flip.name, at, harm, 0.5)] for at, (drop, harm) in enumerate(scores)]
    found = broken((flip, DOUBLED), rows, most=100.0, least_above=0.1)
    assert found.selectivity is not None
    assert 0.2 < found.selectivity.chance < 0.35
    assert found.selectivity.value.high < 0.6
    assert found.selective == "within"


def test_what_is_undecided_says_how_many_comparisons_and_items_would_decide_it() -> None:
    flip = select(["vertical-flip"])[0]
    rows = [
        [row("repetition", item, 0.6 if item % 5 < 2 else 0.3, 0.5), row(flip.name, item, 0.45, 0.5)]
        for item in range(30)
    ]
    found = broken((flip, DOUBLED), rows, most=50.0, least_above=0.1)
    (family,) = found.families
    assert found.undecided == ("repetition", "selectivity")
    rate, selective = family.found.failure, found.selectivity
    assert selective is not None
    together = broken((flip, DOUBLED), rows, most=50.0, least_above=0.1, sources=np.repeat(np.arange(15), 2))
    assert together.families[0].found.failure.estimate == rate.estimate
    paired = share([item % 5 < 2 for item in range(30)], groups=np.repeat(np.arange(15), 2))
    assert (together.families[0].found.failure.low, together.families[0].found.failure.high) == (
        paired.low,
        paired.high,
    )
    decided = broken((flip, DOUBLED), rows, most=90.0, least_above=0.4)
    assert decided.undecided == ()


def test_without_a_harmless_edit_there_is_no_selectivity_and_one_that_is_asked_for_is_not_reached() -> None:
    found = broken((DOUBLED,), [[row("repetition", 0, 0.3, 0.5)]], most=100.0, least_above=0.5)
    assert found.selectivity is None
    assert found.selective == "beyond"
    assert not found.passed


@pytest.mark.parametrize(
    ("probes", "options", "words"),
    [
        ((DOUBLED,), {}, "'repetition' expects the score to move; leave it out, or check the directional ones too"),
        (tuple(select(["null"])), {"directional": True}, "no probe is directional"),
        ((DOUBLED,), {"directional": True, "most_failures": 101.0}, "from 0 to 100, got 101"),
        ((DOUBLED,), {"directional": True, "least_above": 2.0}, "ask for 0 to 0.5, got 2"),
    ],
)
def test_what_cannot_be_checked_is_refused(probes: tuple[Probe, ...], options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        checked(TEMPLATE, probes, **options)
