"""What could not be made and what a reader must choose, each beside the sentence that says it."""

import pickle
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from core.analysis.comparisons import refusals
from core.analysis.lacks import Lack, no_family, no_probe
from core.analysis.questions import Options, catalogue
from core.analysis.reading import read_table
from core.analysis.scope import Scope
from core.analysis.slices import Slice
from core.analysis.table import ScoreTable
from core.store.store import Store
from tests.analysis.broken_runs import ITEMS, rows_of, write_broken
from tests.analysis.made_runs import audited, write_run

PROBES = ["identity", "vflip", "denied", "swapped:near", "swapped:far"]
REFUSED = [
    *((f"i{place:03d}", "denied", "no-negation") for place in range(6)),
    *((f"i{place:03d}", "denied", "language-not-edited") for place in range(ITEMS)),
    *((f"i{place:03d}", "swapped:near", "no-mention") for place in range(3)),
    ("i000", "swapped:near", "no-replacement"),
    *((f"i{place:03d}", "swapped:far", "no-replacement") for place in range(2)),
    ("gone", "denied", "no-negation"),
]


def _stored(language: str = "en") -> list[dict[str, Any]]:
    """Rows of what was not refused in English; in another language ``denied`` has none but for two items."""
    kept = []
    out = {(item, probe) for item, probe, code in REFUSED if code != "language-not-edited"}
    for row in rows_of(("e", "flat"), probes=PROBES, language=language):
        there = row["item"] > "i021" if language != "en" and row["probe"] == "denied" else True
        if there and not (language == "en" and (row["item"], row["probe"]) in out):
            kept.append({**row, "category": "animal" if row["item"] < "i012" else "food"})
    return kept


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_broken(tmp_path / "r", [*_stored(), *_stored("de")], refused=REFUSED)


def _told(table: ScoreTable, chosen: Slice | None = None) -> dict[str, tuple[int, str]]:
    found = refusals(table.view(chosen))
    return {row["family"]: (row["n_refused"], row["refused"]) for row in found.to_dict("records")}


def test_what_has_no_row_under_the_caption_is_counted_with_its_reasons(folder: Path) -> None:
    with Store.open(folder) as store:
        table = read_table(store, Scope(subject="human", language="en"))
        assert _told(table) == {"denied": (6, "no-negation 6"), "swapped": (5, "no-mention 3, no-replacement 3")}
        animals = _told(table, Slice(categories=("food",)))
        assert animals == {"denied": (0, ""), "swapped": (0, "")}


def test_in_another_language_it_is_the_language_that_was_not_edited(folder: Path) -> None:
    with Store.open(folder) as store:
        table = read_table(store, Scope(subject="human", language="de"))
        assert _told(table) == {"denied": (ITEMS - 2, f"language-not-edited {ITEMS - 2}"), "swapped": (0, "")}


def test_the_matrix_says_it_beside_the_n_of_the_family_and_of_no_kind(folder: Path) -> None:
    with Store.open(folder) as store:
        table = read_table(store, Scope(subject="human", language="en"))
        rates = next(each for each in catalogue(table) if each.id == "C-rates")
        frame = rates.compute(table.view(), Options()).set_index(["evaluator", "label"])
        assert {"n_refused", "refused"} <= {each.name for each in rates.columns}
    for evaluator in ("e", "flat"):
        row = frame.loc[(evaluator, "denied")]
        assert (row["n"], row["n_refused"], row["refused"]) == (ITEMS - 6, 6, "no-negation 6")
    asked = (frame["n"] + frame["n_refused"]).loc["e"]
    assert asked.to_dict() == {"denied": ITEMS, "swapped": 2 * ITEMS}


def test_only_the_most_frequent_reasons_are_named(tmp_path: Path) -> None:
    rows = [row for row in rows_of(("e",), probes=PROBES) if not (row["probe"] == "denied" and row["item"] < "i004")]
    codes = ["a", "b", "c", "d"]
    out = [(f"i{place:03d}", "denied", code) for place in range(4) for code in codes[: place + 1]]
    with Store.open(write_broken(tmp_path / "r", rows, refused=out)) as store:
        assert _told(read_table(store))["denied"] == (4, "a 4, b 3, c 2, and 1 more")


def test_a_run_that_refused_nothing_says_nothing(tmp_path: Path) -> None:
    with Store.open(write_broken(tmp_path / "r", rows_of(("e",), probes=PROBES))) as store:
        found = refusals(read_table(store).view())
    pd.testing.assert_series_equal(found["n_refused"], pd.Series([0, 0], name="n_refused"))


def test_the_run_and_caption_that_the_scope_leaves_out_are_those_to_choose(tmp_path: Path) -> None:
    write_run(tmp_path / "first", audited("vflip", "blur-1", items=12), corpus={"name": "c"})
    rows = [{**row, "subject": "human"} for row in audited("rotate-5", items=11)]
    write_run(tmp_path / "second", rows, corpus={"name": "c"})
    with Store.open(tmp_path) as store:
        table = read_table(store, Scope(("first",)))
        lack = no_family(table, "rotation", what="a rotation")
        assert lack.choose == {"run": "second", "subject": "human"}
        assert lack.endswith("not in this scope: a rotation; choose run second, caption human (not template)")
        wanted = no_probe(table, ["rotate-5"], what="a rotation").choose
        seen = read_table(store, Scope(runs=(wanted["run"],), subject=wanted["subject"]))
        assert "rotate-5" in seen.probes.index
        other = no_family(table, "cultural", what="a word")
        assert not other.choose
        assert other == f"{other.what}; an audit with it: {other.command}"


def test_another_caption_of_the_readers_own_run_comes_before_another_run(tmp_path: Path) -> None:
    rows = [{**row, "subject": "human"} for row in audited("vflip", items=11)]
    write_run(tmp_path / "mine", audited("gender:boy", items=12) + rows, corpus={"name": "c"})
    write_run(tmp_path / "another", audited("vflip", "blur-1", items=11), corpus={"name": "c"})
    with Store.open(tmp_path) as store:
        table = read_table(store, Scope(("mine",), subject="template"))
        assert no_probe(table, ["vflip"], what="a flip").choose == {"run": "mine", "subject": "human"}


@pytest.mark.parametrize("reason", ["", "no run has a word; an audit with it: python -m core audit"])
def test_a_reason_that_names_no_run_asks_for_none(reason: str) -> None:
    assert Lack.of(reason) == reason
    assert not Lack.of(reason).choose


def test_a_lack_is_the_same_after_it_was_written_and_read() -> None:
    lack = Lack("no run has a word", "an audit with it", command="python -m core audit", choose={"run": "r"})
    again = pickle.loads(pickle.dumps(lack))
    assert (again, vars(again)) == (lack, vars(lack))
