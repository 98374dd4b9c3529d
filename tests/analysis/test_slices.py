"""A slice against the plain reading of its filters with pandas, on the shipped run: as SQL, as masks, as counts."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.analysis.ranking import FIELDS, facets
from core.analysis.reading import read_table
from core.analysis.scope import Narrowed, Scope, narrow
from core.analysis.slices import CHOICES, SIGNS, Slice, is_cut, judged, where
from core.analysis.table import ScoreTable, View
from core.errors import InvalidInput
from core.settings import results_dir
from core.store.schema import VERDICTS
from core.store.store import Store
from tests.analysis.made_runs import FURTHER, raw, scores_of, shifts, write_run

COLUMNS = ["item", "probe", "evaluator", "delta", "object_inside"]
KEY = COLUMNS[:3]


@pytest.fixture(scope="module")
def scope(store: Store) -> Narrowed:
    return narrow(store)


@pytest.fixture(scope="module")
def table(store: Store, scope: Narrowed) -> ScoreTable:
    return read_table(store, scope)


@pytest.fixture(scope="module")
def everything() -> pd.DataFrame:
    rows = shifts(raw(), further=True)
    return rows[rows["expectation"] == "invariant"]


def kept(rows: pd.DataFrame, chosen: Slice) -> pd.DataFrame:
    for field, column in CHOICES.items():
        if values := getattr(chosen, field):
            rows = rows[rows[column].isin(values)]
    if not chosen.controls:
        rows = rows[~rows["control"].astype(bool) | (rows["axis"] == "null")]
    if chosen.sign:
        rows = rows[{"up": rows["delta"] > 0, "down": rows["delta"] < 0, "none": rows["delta"] == 0}[chosen.sign]]
    if chosen.inside:
        rows = rows[rows["object_inside"].astype(float).between(*chosen.inside)]
    if chosen.whole:
        rows = rows[~(rows["object_kept"].astype(float) < 0.98)]
    return rows


def found_in(store: Store, scope: Narrowed, chosen: Slice) -> pd.DataFrame:
    clause, params = where(scope, chosen, None)
    return store.query(f"select {', '.join(f's.{name}' for name in COLUMNS)} from shifts s {clause}", params)


def seen(view: View) -> set[tuple[str, str, str]]:
    """(item, probe, evaluator) of every shift with a score that the masks of a view leave."""
    found = set()
    names = view.table.items["item"].to_numpy()
    for evaluator in view.evaluators:
        for family, probes in view.families().items():
            if view.table.is_control(family) and view.table.axis_of(family) != "null" and not view.chosen.controls:
                continue  # blur and the bare caption are left to those who ask the question
            delta, _ = view.shifts(evaluator, probes)
            for place, item in zip(*np.nonzero(~np.isnan(delta) & view.items), strict=True):
                found.add((str(names[item]), probes[place], evaluator))
    return found


some = Slice(families=("vertical-flip", "cultural"), evaluators=("conse-lite0",))
few = {
    "families": ["vertical-flip", "rotation", "cultural", "gender", "null", "blur", "nowhere"],
    "categories": ["animal", "vehicle", "person"],
    "coverage_bins": ["0-10", "40-60", "90-100"],
    "axes": ["spatial", "societal", "null"],
    "probes": ["vflip", "rotate+5", "gender:boy", "null:shift1"],
    "modifiers": ["African", "boy", "plain"],
    "evaluators": ["conse-lite0", "grounding-judge"],
}
slices = st.builds(
    Slice,
    **{field: st.lists(st.sampled_from(values), unique=True, max_size=2).map(tuple) for field, values in few.items()},
    sign=st.sampled_from([None, None, *SIGNS]),
    inside=st.sampled_from([None, None, (0.5, 1.0), (0.0, 0.9)]),
    controls=st.booleans(),
)


@settings(max_examples=40, deadline=None)
@given(chosen=slices)
def test_a_slice_keeps_what_its_filters_say(
    store: Store, scope: Narrowed, everything: pd.DataFrame, chosen: Slice
) -> None:
    found, expected = found_in(store, scope, chosen), kept(everything, chosen)[COLUMNS]
    assert len(found) == len(expected)
    pd.testing.assert_frame_equal(
        found.sort_values(KEY, ignore_index=True), expected.sort_values(KEY, ignore_index=True), check_dtype=False
    )


@settings(max_examples=25, deadline=None)
@given(chosen=slices)
def test_the_masks_of_a_view_leave_the_same_shifts(table: ScoreTable, everything: pd.DataFrame, chosen: Slice) -> None:
    expected = kept(everything, chosen).dropna(subset="delta")
    expected = expected[~expected["family"].isin(FURTHER)]  # no family that a table shows
    assert seen(table.view(chosen)) == set(expected[KEY].itertuples(index=False, name=None))


@pytest.mark.parametrize(("field", "values"), few.items())
def test_each_choice_on_its_own_leaves_something_and_not_all(
    table: ScoreTable, everything: pd.DataFrame, field: str, values: list[str]
) -> None:
    """So that the comparisons above are not of nothing with nothing."""
    chosen = Slice(**{field: (values[0],)})
    left = kept(everything, chosen)
    assert 0 < len(left) < len(everything)
    assert {key[1] for key in seen(table.view(chosen))} <= set(left["probe"])


@settings(max_examples=25, deadline=None)
@given(chosen=slices)
def test_the_count_beside_a_value_is_what_choosing_it_would_leave(
    table: ScoreTable, everything: pd.DataFrame, chosen: Slice
) -> None:
    counts = facets(table, chosen)
    assert set(counts) == set(FIELDS)
    for field, column in CHOICES.items():
        left = kept(everything, chosen.without(field))[column].value_counts()
        assert {name: count for name, count in counts[field].items() if count} == left.to_dict(), field
    left = kept(everything, chosen.without("sign"))["delta"]
    assert counts["sign"] == {"up": (left > 0).sum(), "down": (left < 0).sum(), "none": (left == 0).sum()}


@settings(max_examples=15, deadline=None)
@given(chosen=slices, by=st.sampled_from(["families", "evaluators", "sign"]))
def test_counts_are_of_every_shift_that_the_store_would_show(
    store: Store, scope: Narrowed, table: ScoreTable, chosen: Slice, by: str
) -> None:
    for value, count in facets(table, chosen)[by].items():
        narrowed = replace(chosen, **{by: value if by == "sign" else (value,)})
        assert len(found_in(store, scope, narrowed)) == count


def test_every_value_of_the_table_has_a_count_even_where_nothing_is_left(table: ScoreTable) -> None:
    for chosen in (replace(some, categories=("nothing of the kind",)), replace(some, inside=(0.0, 0.0))):
        counts = facets(table, chosen)
        assert counts["families"]["rotation"] == 0
        assert set(counts["evaluators"]) == {"conse-lite0", "conse-lite2", "grounding-judge"}
        assert set(counts["sign"]) == set(SIGNS)


def test_a_value_is_data_and_never_part_of_the_question(store: Store, scope: Narrowed) -> None:
    assert found_in(store, scope, Slice(categories=("x') or 1=1 --",))).empty


def test_pairs_are_of_the_scope_alone(tmp_path: Path) -> None:
    rows = [
        *scores_of(["identity", "vflip", "jumble", "mention:2"], 2, lambda probe, place: 0.5),
        *scores_of(["identity", "vflip"], 1, lambda probe, place: 0.5, subject="human"),
        *scores_of(["identity", "vflip"], 1, lambda probe, place: 0.5, language="de"),
        *scores_of(["identity", "vflip"], 1, lambda probe, place: 0.5, rank=1),
        *scores_of(["identity", "vflip"], 1, lambda probe, place: 0.5, evaluator="f"),
    ]
    write_run(tmp_path / "runs" / "big", rows)
    write_run(tmp_path / "runs" / "small", scores_of(["identity", "vflip"], 1, lambda probe, place: 0.5))
    with Store.open(tmp_path / "runs") as store:
        found = found_in(store, narrow(store, Scope(subject="template", evaluators=("e",))), Slice())
        human = found_in(store, narrow(store, Scope(subject="human")), Slice())
        both = found_in(store, narrow(store, Scope(subject="template")), Slice())
    assert found[KEY].to_numpy().tolist() == [["i000", "vflip", "e"], ["i001", "vflip", "e"]]
    assert human[KEY].to_numpy().tolist() == [["i000", "vflip", "e"]]
    assert sorted(both["evaluator"]) == ["e", "e", "f"]


@pytest.mark.parametrize("wrong", [{"sign": "sideways"}, {"inside": (0.9, 0.1)}, {"inside": (0, 2)}, {"accepted": 7}])
def test_a_slice_that_makes_no_sense_is_refused_with_the_value(wrong: dict) -> None:
    with pytest.raises(InvalidInput, match=str(next(iter(wrong.values()))).replace("(", r"\(").replace(")", r"\)")):
        Slice(**wrong)


def test_taking_a_choice_back_leaves_the_others() -> None:
    chosen = replace(some, sign="up", inside=(0.5, 1.0))
    assert chosen.without("families") == Slice(evaluators=("conse-lite0",), sign="up", inside=(0.5, 1.0))
    assert chosen.without("sign").without("inside") == some


@pytest.fixture(scope="module")
def three(everything: pd.DataFrame) -> list[str]:
    """Items of which the first was accepted by most people, the second by few, and the third judged by nobody."""
    return list(everything[everything["probe"] == "vflip"]["item"].drop_duplicates().head(3))


@pytest.fixture
def voted(three: list[str]) -> Iterator[Store]:
    fixed = {"corpus": "demo", "probe": "vflip", "subject": "template", "language": "en", "rank": 0, "votes": 5}
    said = [{**fixed, "item": three[0], "accepted": 0.8}, {**fixed, "item": three[1], "accepted": 0.2}]
    with Store.open(results_dir(), verdicts=pa.Table.from_pylist(said, schema=VERDICTS)) as opened:
        yield opened


def test_people_who_accepted_a_pair_keep_it_and_pairs_that_nobody_judged_are_left_out(
    voted: Store, everything: pd.DataFrame, three: list[str]
) -> None:
    first, second, third = three
    scope = narrow(voted)
    table = read_table(voted, scope)
    half, some_people = Slice(accepted=0.5), Slice(accepted=0.1)
    for chosen, items in ((half, {first}), (some_people, {first, second})):
        assert set(found_in(voted, scope, chosen)["item"]) == items
        assert {key[0] for key in seen(table.view(chosen))} == items
        counted = everything["item"].isin(items) & everything["probe"].eq("vflip")
        assert facets(table, chosen)["probes"]["vflip"] == counted.sum()
        assert facets(table, chosen)["probes"]["hflip"] == 0
    assert third in set(found_in(voted, scope, Slice())["item"])


def test_a_store_knows_whether_people_judged_anything(store: Store, voted: Store) -> None:
    assert judged(voted)
    assert not judged(store)


def test_whole_objects_only_is_the_same_as_sql_as_masks_and_as_counts(
    store: Store, scope: Narrowed, table: ScoreTable, everything: pd.DataFrame
) -> None:
    chosen = Slice(families=("rotation", "vertical-flip"), whole=True)
    expected = kept(everything, chosen)
    expected = expected[expected["delta"].notna()]
    assert len(expected) < len(kept(everything, chosen.without("whole")))
    wanted = set(expected[KEY].itertuples(index=False, name=None))
    clause, params = where(scope, chosen, None)
    found = store.query(f"select s.item, s.probe, s.evaluator from shifts s {clause} and s.delta is not null", params)
    assert set(found.itertuples(index=False, name=None)) == wanted
    assert seen(table.view(chosen)) == wanted
    counted = facets(table, chosen)["probes"]
    every = kept(everything, chosen.without("families"))
    for probe in ("rotate-10", "rotate+5", "vflip"):
        assert counted.get(probe, 0) == (kept(every, chosen)["probe"] == probe).sum()


def test_what_was_not_measured_is_not_cut() -> None:
    assert is_cut(np.array([0.5, 0.9799, 0.98, 1.0, np.nan])).tolist() == [True, True, False, False, False]
