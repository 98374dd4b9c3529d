"""A slice against the plain reading of its filters with pandas, on the shipped run."""

from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.analysis.contrasts import contrasts, slice_contrasts
from core.analysis.facets import facets
from core.analysis.slices import CHOICES, SIGNS, Slice, shifts
from core.audit.schema import VERDICTS
from core.audit.store import Store
from core.errors import InvalidInput
from core.settings import results_dir

COLUMNS = ("item", "probe", "evaluator", "delta", "object_inside")


@pytest.fixture(scope="module")
def everything(store: Store) -> pd.DataFrame:
    return store.query("select * from shifts where expectation = 'invariant'")


def kept(rows: pd.DataFrame, chosen: Slice) -> pd.DataFrame:
    for field, column in CHOICES.items():
        if values := getattr(chosen, field):
            rows = rows[rows[column].isin(values)]
    if not chosen.controls:
        rows = rows[~rows["control"] | (rows["axis"] == "null")]
    if chosen.sign:
        rows = rows[{"up": rows["delta"] > 0, "down": rows["delta"] < 0, "none": rows["delta"] == 0}[chosen.sign]]
    if chosen.inside:
        rows = rows[rows["object_inside"].between(*chosen.inside)]
    return rows


some = Slice(families=("vertical-flip", "cultural"), evaluators=("conse-lite0",))
slices = st.builds(
    Slice,
    families=st.lists(st.sampled_from(["vertical-flip", "rotation", "cultural", "nowhere"]), unique=True).map(tuple),
    categories=st.lists(st.sampled_from(["animal", "vehicle", "person"]), unique=True).map(tuple),
    coverage_bins=st.lists(st.sampled_from(["0-10", "90-100"]), unique=True).map(tuple),
    evaluators=st.sampled_from([(), ("conse-lite0",)]),
    sign=st.sampled_from([None, *SIGNS]),
    inside=st.sampled_from([None, (0.5, 1.0), (0.0, 0.9)]),
    controls=st.booleans(),
)


@settings(max_examples=25, deadline=None)
@given(chosen=slices)
def test_a_slice_keeps_what_its_filters_say(store: Store, everything: pd.DataFrame, chosen: Slice) -> None:
    found = shifts(store, chosen, columns=COLUMNS)
    expected = kept(everything, chosen)[list(COLUMNS)]
    key = ["item", "probe", "evaluator"]
    pd.testing.assert_frame_equal(
        found.sort_values(key, ignore_index=True), expected.sort_values(key, ignore_index=True)
    )


@settings(max_examples=8, deadline=None)
@given(chosen=slices)
def test_the_count_beside_a_value_is_what_choosing_it_would_leave(
    store: Store, everything: pd.DataFrame, chosen: Slice
) -> None:
    counts = facets(store, chosen)
    for field in ("families", "categories", "coverage_bins", "evaluators", "axes"):
        for value, count in counts[field].items():
            assert len(kept(everything, replace(chosen, **{field: (value,)}))) == count
    for sign, count in counts["sign"].items():
        assert len(kept(everything, replace(chosen, sign=sign))) == count


def test_every_value_of_the_store_has_a_count_even_where_nothing_is_left(store: Store) -> None:
    counts = facets(store, replace(some, categories=("nothing of the kind",)))
    assert counts["families"]["rotation"] == 0
    assert set(counts["evaluators"]) == {"conse-lite0", "conse-lite2", "grounding-judge"}


def test_a_value_is_data_and_never_part_of_the_question(store: Store) -> None:
    assert shifts(store, Slice(categories=("x') or 1=1 --",)), columns=("item",)).empty


@pytest.mark.parametrize("wrong", [{"sign": "sideways"}, {"inside": (0.9, 0.1)}, {"inside": (0, 2)}, {"accepted": 7}])
def test_a_slice_that_makes_no_sense_is_refused_with_the_value(wrong: dict) -> None:
    with pytest.raises(InvalidInput, match=str(next(iter(wrong.values()))).replace("(", r"\(").replace(")", r"\)")):
        Slice(**wrong)


def test_people_who_accepted_a_pair_keep_it_and_pairs_that_nobody_judged_are_left_out(everything: pd.DataFrame) -> None:
    first, second, third = everything[everything["probe"] == "vflip"]["item"].drop_duplicates().head(3)
    fixed = {"corpus": "demo", "probe": "vflip", "subject": "template", "votes": 5}
    said = [{**fixed, "item": first, "accepted": 0.8}, {**fixed, "item": second, "accepted": 0.2}]
    with Store.open(results_dir(), verdicts=pa.Table.from_pylist(said, schema=VERDICTS)) as judged:
        half = Slice(accepted=0.5)
        assert set(shifts(judged, half, columns=("item",))["item"]) == {first}
        assert set(shifts(judged, Slice(accepted=0.1), columns=("item",))["item"]) == {first, second}
        assert (
            facets(judged, half)["probes"]["vflip"]
            == (everything["item"].eq(first) & everything["probe"].eq("vflip")).sum()
        )
        assert third in set(shifts(judged, Slice(), columns=("item",))["item"])


@settings(max_examples=10, deadline=None)
@given(chosen=slices, by=st.sampled_from([("evaluator",), ("evaluator", "axis", "family"), ("modifier", "evaluator")]))
def test_contrasts_in_the_store_are_those_of_its_rows(store: Store, chosen: Slice, by: tuple[str, ...]) -> None:
    rows = shifts(store, chosen, columns=(*by, "corpus", "item", "percent", "delta"))
    pd.testing.assert_frame_equal(
        slice_contrasts(store, chosen, by=by), contrasts(rows, by=by), check_exact=True, check_dtype=not rows.empty
    )


def test_contrasts_by_a_column_that_is_not_there_are_refused(store: Store) -> None:
    with pytest.raises(InvalidInput, match="the store cannot answer"):
        slice_contrasts(store, Slice(), by=("evaluator", "nothing"))
