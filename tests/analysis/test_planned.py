"""What a planned audit could show, from the spread of a stored run that is named."""

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from scipy import stats

from core.analysis.effects import effects, family_groups
from core.analysis.planned import drifting, planned, prior
from core.analysis.reading import read_table
from core.probes.registry import select
from core.statistics.power import smallest_effect
from core.store.store import Store
from tests.analysis.made_runs import audited, scores_of, write_run

EDITS = ("vflip", "rotate-5", "rotate+5", "blur-1", "null:shift1")
ASKED = {"evaluators": ("e", "f"), "families": ("vertical-flip", "rotation", "occupational")}


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[Store]:
    """Evaluator e in a run of corpus c, and in a larger one of corpus d; nobody stored f."""
    write_run(tmp_path / "small", audited(*EDITS, evaluator="e", items=24), corpus={"name": "c"})
    rows = [{**row, "corpus": "d"} for row in audited(*EDITS, evaluator="e", items=40, seed=5)]
    write_run(tmp_path / "large", rows, corpus={"name": "d"})
    with Store.open(tmp_path) as store:
        yield store


def test_the_run_of_the_same_corpus_counts_and_the_drift_falls_with_the_root_of_n(stored: Store) -> None:
    known = prior(stored, **ASKED, corpus="c")
    assert set(known["run"]) == {"small"}
    found = planned(known, **ASKED, n=96)
    view = read_table(stored, None).only("c").view()
    own = effects(view, family_groups(view)).set_index("label")["detectable"]
    for row in found.table.itertuples():
        assert row.n_items == 96
        assert row.detectable == pytest.approx(own[row.family] / 2)
        assert row.n_prior == 24
        # two one-sided tests at 5 %, the truth being 0; the reach of a median, at the level of two tests, tells its
        # standard error
        error = own[row.family] / (stats.norm.ppf(1 - 0.025 / 2) + stats.norm.ppf(0.8))
        assert row.needed == math.ceil(24 * ((stats.norm.ppf(0.95) + stats.norm.ppf(0.9)) * error) ** 2)


def test_another_corpus_has_the_largest_run_of_the_evaluator(stored: Store) -> None:
    assert set(prior(stored, **ASKED, corpus="elsewhere")["run"]) == {"large"}


def test_of_two_runs_of_one_corpus_the_one_that_holds_the_families_counts_whatever_its_name(tmp_path: Path) -> None:
    for run, edits in (("all", EDITS), ("then-half", ("vflip", "null:shift1"))):
        write_run(tmp_path / run, audited(*edits, evaluator="e", items=24), corpus={"name": "c"})
    with Store.open(tmp_path) as store:
        known = prior(store, **ASKED, corpus="c")
    assert set(zip(known["run"], known["family"], strict=True)) == {("all", "vertical-flip"), ("all", "rotation")}


def test_what_no_run_knows_is_named_and_said_in_standard_deviations(stored: Store) -> None:
    found = planned(prior(stored, **ASKED, corpus="c"), **ASKED, n=50)
    assert found.unknown == {"e": ("occupational",), "f": ASKED["families"]}
    known, needed, unknown = found.sentences()
    assert "as in run small." in known
    assert needed.startswith(
        "To say of a family that does not drift that it stays within ±1 %, in four of five such runs, takes "
    )
    assert "of e (occupational), f: 50 items" in unknown
    assert f"{smallest_effect(50):.2f} standard deviations" in unknown


def test_a_family_of_half_the_items_is_expected_of_half_the_planned_ones(tmp_path: Path) -> None:
    rows = audited("vflip", evaluator="e", items=40)
    rows = [row for row in rows if row["probe"] != "vflip" or row["item"] < "i020"]
    write_run(tmp_path / "half", rows, corpus={"name": "c"})
    with Store.open(tmp_path) as store:
        known = prior(store, evaluators=("e",), families=("vertical-flip",), corpus="c")
    found = planned(known, evaluators=("e",), families=("vertical-flip",), n=10)
    assert found.table["n_items"].tolist() == [5]
    assert found.table["needed"].tolist() == [2 * known["needed"].iloc[0]]  # a family of half of the items
    assert found.table["detectable"].iloc[0] == pytest.approx(known["detectable"].iloc[0] * math.sqrt(20 / 5))


def test_a_family_without_spread_is_no_drift_of_0_percent_and_not_unknown_either(tmp_path: Path) -> None:
    """Every item falls by the same: the run knows it, and there is no smallest drift to tell of it."""
    rows = scores_of(["identity", "vflip"], 24, lambda probe, item: 0.5 * (0.9 if probe == "vflip" else 1.0))
    write_run(tmp_path / "flat", rows, corpus={"name": "c"})
    asked = {"evaluators": ("e",), "families": ("vertical-flip", "rotation")}
    with Store.open(tmp_path) as store:
        known = prior(store, **asked, corpus="c")
    found = planned(known, **asked, n=50)
    assert found.table.empty
    assert (found.still, found.unknown) == ({"e": ("vertical-flip",)}, {"e": ("rotation",)})
    flat, unknown = found.sentences()
    assert flat.startswith("Smallest drift of e (vertical-flip): cannot be estimated")
    assert "knows the scatter of e (rotation)" in unknown


def test_equal_ends_are_said_once_with_how_many_share_them(stored: Store) -> None:
    known = prior(stored, **ASKED, corpus="c").assign(detectable=0.004, needed=70.0)
    found = planned(known, **ASKED, n=24)
    said, needed, _ = found.sentences()
    assert "an 80 % chance to detect a median change of 0.004 % (" in said
    assert "and 1 more alike)" in said
    assert "easiest" not in said
    assert "takes 70 items (" in needed


def test_without_a_run_everything_is_unknown() -> None:
    with Store.open([]) as store:
        found = planned(prior(store, **ASKED, corpus="c"), **ASKED, n=10)
    assert found.table.empty
    assert set(found.unknown) == {"e", "f"}
    assert len(found.sentences()) == 1


def test_a_drift_is_planned_for_families_that_are_more_than_controls() -> None:
    assert drifting(select(["vflip", "rotation", "blur", "null", "gender"])) == (
        "gender",
        "vertical-flip",
        "rotation",
    )
