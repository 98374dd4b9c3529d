"""Only comparisons that people uphold: what is left is what a run without the other comparisons would give."""

import math
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from core.analysis.comparisons import capabilities, comparison_rows, pairs
from core.analysis.failures import worst_failures
from core.analysis.questions import Options, catalogue
from core.analysis.reading import read_table
from core.analysis.selectivity import duels
from core.analysis.slices import Slice, judged
from core.analysis.table import ScoreTable
from core.errors import InvalidInput
from core.store.schema import VERDICTS
from core.store.store import Store
from tests.analysis.broken_runs import BROKEN, ITEMS, about, facts_of, rows_of, write_broken
from tests.analysis.made_runs import score

PICTURES = ("made:nonproto_wrong", "made:prototype", "made:adversary")
SHARES = (1.0, 0.5, 0.4, None)
"""What people say of the comparisons of an item, item after item: the last were not asked about."""


def rows() -> list[dict[str, Any]]:
    found = rows_of(("e", "flat"))
    rng = np.random.default_rng(3)
    for name in PICTURES:
        expectation = "invariant" if name == "made:prototype" else "directional"
        told = {"axis": "object", "family": "made", "baseline": "identity", "expectation": expectation}
        found += [
            score(f"i{place:03d}", name, float(rng.uniform(0.3, 0.9)), subject="human", evaluator="e", **told)
            for place in range(ITEMS)
        ]
    return found


def share_of(row: Mapping[str, Any]) -> float | None:
    return SHARES[int(row["item"][1:]) % len(SHARES)]


def compared(row: Mapping[str, Any]) -> bool:
    return row["expectation"] == "directional"


def verdicts() -> pa.Table:
    fixed = {"corpus": "c", "subject": "human", "language": "en", "rank": 0, "votes": 5}
    pairs_ = {(row["item"], row["probe"]): share_of(row) for row in rows() if compared(row)}
    said = [
        {**fixed, "item": item, "probe": probe, "upheld": share}
        for (item, probe), share in pairs_.items()
        if share is not None
    ]
    other = [
        {**fixed, "item": "i000", "probe": "denied", "upheld": 0.0, **told}
        for told in ({"language": "de"}, {"rank": 1}, {"subject": "template"}, {"corpus": "d"})
    ]
    harmless = [{**fixed, "item": "i000", "probe": "vflip", "accepted": 0.0}]
    return pa.Table.from_pylist([*said, *other, *harmless], schema=VERDICTS)


FACTS = facts_of(["denied"], {"falsity": ["verified", "presumed"], "kind": ["near", "far", "far"]})


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ScoreTable, Mapping[float, ScoreTable]]]:
    """A run that people judged, and by share the runs that lack what fewer people uphold."""
    folder = tmp_path_factory.mktemp("runs")
    with ExitStack() as stack:
        whole = write_broken(folder / "whole" / "r", rows(), facts=FACTS, pairs=3)
        judged_ = stack.enter_context(Store.open(whole, verdicts=verdicts()))
        less = {}
        for least in (0.45, 1.0):
            kept = [row for row in rows() if not compared(row) or (share_of(row) or 0) >= least]
            fewer = write_broken(folder / str(least) / "r", kept, facts=FACTS, pairs=3)
            less[least] = read_table(stack.enter_context(Store.open(fewer)))
        yield read_table(judged_), less


@pytest.mark.parametrize("least", [0.45, 1.0])
def test_every_table_of_the_page_is_that_of_a_run_without_the_comparisons_that_fell_out(
    opened: tuple[ScoreTable, Mapping[float, ScoreTable]], least: float
) -> None:
    table, less = opened
    asked = {each.id: each for each in catalogue(table) if each.section in ("contrast", "selectivity")}
    same = {each.id: each for each in catalogue(less[least])}
    assert {"C-rates", "C29", "C18", "C-crossed", "C-selectivity"} <= set(asked)
    view, whole, changed = table.view(Slice(upheld=least)), table.view(), 0
    for id_, question in asked.items():
        if question.needs(table):
            continue
        for known in (False, True):
            found = question.compute(view, Options(known=known))
            expected = same[id_].compute(less[least].view(), Options(known=known))
            pd.testing.assert_frame_equal(found, expected, obj=id_)
            changed += not found.equals(question.compute(whole, Options(known=known)))
    assert changed > 20


def test_what_is_no_comparison_stays_and_what_nobody_judged_goes(
    opened: tuple[ScoreTable, Mapping[float, ScoreTable]],
) -> None:
    table, _ = opened
    view, whole = table.view(Slice(upheld=0.5)), table.view()
    some, every = duels(view, "e"), duels(whole, "e")
    np.testing.assert_array_equal(some.ranks, every.ranks)
    shares = np.array([SHARES[place % len(SHARES)] or 0 for place in range(ITEMS)])
    left = ~np.isnan(some.drops)
    np.testing.assert_array_equal(left, ~np.isnan(every.drops) & (shares >= 0.5))
    none = table.view(Slice(upheld=0.0))
    assert pairs(none, "e", ("denied",)).asked.sum() == ITEMS * 3 / 4


def test_a_share_that_is_just_reached_is_enough(opened: tuple[ScoreTable, Mapping[float, ScoreTable]]) -> None:
    table, _ = opened
    counts = {
        least: int(pairs(table.view(Slice(upheld=least)), "e", ("denied",)).asked.sum())
        for least in (0.4, 0.41, 0.5, 0.51, 1.0)
    }
    assert counts == {0.4: 18, 0.41: 12, 0.5: 12, 0.51: 6, 1.0: 6}


def test_worst_failures_are_of_upheld_comparisons(opened: tuple[ScoreTable, Mapping[float, ScoreTable]]) -> None:
    table, less = opened
    found, n = worst_failures(table.view(Slice(upheld=1.0)), "flat", "denied", limit=99)
    expected, m = worst_failures(less[1.0].view(), "flat", "denied", limit=99)
    assert n == m == 6
    assert set(found["upheld"]) == {1.0}
    pd.testing.assert_frame_equal(found.drop(columns="upheld"), expected.drop(columns="upheld"))


def test_a_share_of_no_comparison_leaves_nothing_and_breaks_nothing(tmp_path: Path) -> None:
    with Store.open(write_broken(tmp_path / "r", rows_of())) as store:
        table = read_table(store)
        assert np.isnan(table.upheld).all()
        assert not judged(store)
    view = table.view(Slice(upheld=0.5))
    assert comparison_rows(view, capabilities(view)).empty
    for question in catalogue(table):
        if question.section in ("contrast", "selectivity") and not question.needs(table):
            assert isinstance(question.compute(view, Options()), pd.DataFrame)


def test_verdicts_of_comparisons_open_no_filter_of_accepted_pairs(tmp_path: Path) -> None:
    said = [
        {
            "corpus": "c",
            "subject": "human",
            "language": "en",
            "rank": 0,
            "votes": 5,
            "item": "i000",
            "probe": "denied",
            "upheld": 1.0,
        }
    ]
    folder = write_broken(tmp_path / "r", rows_of())
    with Store.open(folder, verdicts=pa.Table.from_pylist(said, schema=VERDICTS)) as store:
        table = read_table(store)
        assert not judged(store)
    assert (~np.isnan(table.upheld)).sum() == 1
    assert np.isnan(table.accepted).all()


def test_a_worst_failure_tells_the_share_of_people_who_uphold_it(
    opened: tuple[ScoreTable, Mapping[float, ScoreTable]],
) -> None:
    table, _ = opened
    found, _ = worst_failures(table.view(), "flat", "denied", limit=ITEMS)
    assert len(found) == ITEMS
    for row in found.to_dict("records"):
        share = SHARES[int(row["item"][1:]) % len(SHARES)]
        assert math.isnan(row["upheld"]) if share is None else row["upheld"] == pytest.approx(share)


@pytest.mark.parametrize("share", [-0.1, 1.1, math.nan])
def test_a_share_out_of_range_is_refused(share: float) -> None:
    with pytest.raises(InvalidInput, match=r"upheld must be a share in \[0, 1\]"):
        Slice(upheld=share)


def test_the_run_of_the_test_holds_every_kind_of_probe() -> None:
    assert {row["probe"] for row in rows() if compared(row)} == {*BROKEN, "made:nonproto_wrong", "made:adversary"}
    assert about("mention:2")["expectation"] == "response"
