"""Arranging the table into arrays, and splitting by image."""

import hashlib
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycocoevalcap.cider.cider import Cider

from core.analysis.reading import read_table
from core.analysis.scope import Scope, narrow
from core.analysis.slices import Slice
from core.analysis.table import ScoreTable, View
from core.corpora.registry import catalogue
from core.errors import InvalidInput
from core.features.calibration.fit import fit
from core.features.calibration.orbits import dev_split, orbits
from core.features.calibration.reference_order import asked_for, reference_order, unedited_captions
from core.scoring.reference_metrics import tokens
from core.store.run_files import Run
from core.store.store import Store
from tests.analysis.made_runs import FURTHER, raw, score, write_run

Open = Callable[..., View]


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Open]:
    """View of a run written by hand."""
    opened: list[Store] = []

    def make(rows: list[dict[str, Any]]) -> View:
        opened.append(Store.open(write_run(tmp_path / f"r{len(opened)}", rows)))
        return read_table(opened[-1]).view()

    yield make
    for store in opened:
        store.close()


def rows() -> list[dict[str, Any]]:
    """Item a with a flip and a word, item b with a flip; evaluator f saw item a alone."""
    return [
        score("b", "identity", 0.5),
        score("b", "vflip", 0.6),
        score("a", "identity", 0.2),
        score("a", "vflip", 0.3),
        score("a", "gender:plain", 0.15),
        score("a", "gender:boy", 0.1),
        score("a", "blur-1", 0.7),
        score("a", "null:shift1", 0.7),
        score("a", "identity", 8.0, evaluator="f"),
        score("a", "vflip", 7.0, evaluator="f"),
    ]


def test_every_evaluator_stands_over_the_same_items(made: Open) -> None:
    view = made(rows())
    one, other = orbits(view, "e"), orbits(view, "f")
    assert one.items == other.items == (("c", "a"), ("c", "b"))
    np.testing.assert_array_equal(one.clean, [0.2, 0.5])
    np.testing.assert_array_equal(other.clean, [8.0, math.nan])
    assert list(other.families) == ["vertical-flip"]


def test_a_modifier_keeps_its_own_baseline_and_controls_and_null_edits_stay_out(made: Open) -> None:
    found = orbits(made(rows()), "e").families
    assert list(found) == ["gender", "vertical-flip"]
    assert (found["gender"].axis, found["gender"].probes) == ("societal", ("gender:boy",))
    np.testing.assert_allclose(found["gender"].shifts, [[-0.05, math.nan]])


def test_a_part_keeps_the_arrangement(made: Open) -> None:
    part = orbits(made(rows()), "e").part(np.array([False, True]))
    assert part.items == (("c", "b"),)
    np.testing.assert_array_equal(part.families["vertical-flip"].scores, [[0.6]])


def test_a_slice_leaves_its_own_items_families_and_evaluators(made: Open) -> None:
    table = made([row | {"category": "food" if row["item"] == "b" else "animal"} for row in rows()]).table
    food = orbits(table.view(Slice(categories=("food",))), "e")
    assert (food.items, list(food.families)) == ((("c", "b"),), ["vertical-flip"])
    assert list(orbits(table.view(Slice(axes=("societal",))), "e").families) == ["gender"]
    with pytest.raises(InvalidInput, match="no shift of evaluator 'f' is here; evaluators: e"):
        orbits(table.view(Slice(evaluators=("e",))), "f")


@pytest.mark.parametrize("chosen", [Slice(families=("blur",)), Slice(axes=("null",)), Slice(categories=("nothing",))])
def test_without_a_shift_there_is_nothing_to_calibrate_on(made: Open, chosen: Slice) -> None:
    with pytest.raises(InvalidInput, match="no shift of evaluator 'e' is here; audit some invariant probes"):
        orbits(made(rows()).table.view(chosen), "e")


def test_every_score_lies_where_a_pivot_of_the_raw_parquet_puts_it(store: Store) -> None:
    scores = raw()
    view = read_table(store).view()
    for name in view.evaluators:
        found, own = orbits(view, name), scores[scores["evaluator"] == name]
        items = sorted(set(zip(own["corpus"], own["item"], strict=True)))
        assert list(found.items) == items
        by_probe = own.pivot_table(index=["corpus", "item"], columns="probe", values="score").reindex(items)
        np.testing.assert_array_equal(found.clean, by_probe["identity"])
        plain = own[(own["expectation"] == "invariant") & ~own["control"].astype(bool) & ~own["family"].isin(FURTHER)]
        assert {family: each.probes for family, each in found.families.items()} == {
            family: tuple(sorted(rows["probe"].unique())) for family, rows in plain.groupby("family")
        }
        for family in found.families.values():
            np.testing.assert_array_equal(family.scores, by_probe[list(family.probes)].to_numpy().T)
            for place, probe in enumerate(family.probes):
                named = plain[plain["probe"] == probe].set_index(["corpus", "item"])["baseline"].reindex(items)
                before = [
                    by_probe.at[item, base] if isinstance(base, str) else math.nan for item, base in named.items()
                ]
                np.testing.assert_array_equal(family.baselines[place], before)


@given(st.lists(st.text(max_size=3), min_size=1, max_size=30), st.randoms())
def test_an_image_is_on_one_side_in_any_order(images: list[str], random) -> None:
    side = dict(zip(images, dev_split(images), strict=True))
    shuffled = list(images)
    random.shuffle(shuffled)
    assert [side[image] for image in shuffled] == dev_split(shuffled).tolist()


def test_a_source_s_side_is_worked_out_once_for_every_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    images = [f"{number} of a split made once" for number in range(50)]
    whole = dev_split(images)
    monkeypatch.setattr(hashlib, "sha256", None)
    assert dev_split(images[10:30]).tolist() == whole[10:30].tolist()


def test_the_split_has_the_share_asked_for() -> None:
    images = [str(number) for number in range(4000)]
    assert dev_split(images, share=0.3).mean() == pytest.approx(0.3, abs=0.03)
    assert (dev_split(images) != dev_split(images, seed=1)).any()
    with pytest.raises(InvalidInput, match="share"):
        dev_split(images, share=1.0)


def test_arrays_of_two_evaluators_share_nothing_that_can_be_written(store: Store) -> None:
    """A calibration works on its own copies: the table stays as it was read."""
    table = read_table(store)
    before = table.digest()
    for name in table.evaluators:
        part = orbits(table.view(), name).part(np.arange(len(table.items)) % 2 == 0)
        part.clean[:] = 9.0
        for family in part.families.values():
            family.scores[:] = 9.0
            family.baselines[:] = 9.0
    assert table.digest() == before


@pytest.fixture(scope="module")
def shipped(store: Store) -> tuple[ScoreTable, Run]:
    scope = narrow(store, Scope(runs=("demo",))).only()
    return read_table(store, scope), next(run for run in store.runs() if run.id == scope.run)


def lines(text: str) -> list[str]:
    return [" ".join(tokens(text))]


def test_the_values_are_those_of_the_package_with_the_references_of_the_whole_corpus(
    shipped: tuple[ScoreTable, Run],
) -> None:
    table, run = shipped
    captions = unedited_captions(table)
    found = reference_order(captions, table.scope, run, ("cider-d",))
    items = catalogue().get("demo").load(None).by_id()
    said = {row.item: lines(row.caption) for row in captions.itertuples()}
    people = {name: [line for text in items[name].captions["en"] for line in lines(text)] for name in said}
    expected = Cider().compute_score(people, said)[1]
    assert found.values["cider-d"].to_numpy() == pytest.approx(expected)
    assert (found.n, found.items) == (len(said), len(said))
    assert "252 of 252" in found.told[0]
    assert "the references of these 252 images" in found.told[1]


def test_it_is_an_h_of_the_calibration_on_both_halves(shipped: tuple[ScoreTable, Run]) -> None:
    table, run = shipped
    order = reference_order(unedited_captions(table), table.scope, run, ("rouge-l",))
    made = fit(table.view(), evaluator="conse-lite0", reading="orbit", against=("rouge-l",), judged=order.values)
    assert set(made.others) == {"rouge-l"}
    for scores, others in ((made.scores, made.others), (made.dev_scores, made.dev_others)):
        expected = order.values["rouge-l"].loc[list(scores.items)]
        assert (others["rouge-l"] == expected.to_numpy()).all()
    assert not np.isnan(made.dev.spearman["rouge-l"][0])


def test_an_evaluator_of_the_run_keeps_its_name() -> None:
    assert asked_for(("cider-d", "mine", "cider-d", "bleu-4"), ("bleu-4",)) == ("cider-d",)
    assert asked_for(None, ()) == ()


def test_other_languages_than_english_are_refused(shipped: tuple[ScoreTable, Run]) -> None:
    table, run = shipped
    with pytest.raises(InvalidInput, match="cut captions into English words, and these are ja"):
        reference_order(unedited_captions(table), replace(table.scope, language="ja"), run, ("bleu-4",))
