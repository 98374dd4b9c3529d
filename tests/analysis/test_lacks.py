"""What a reader must choose stands beside the sentence that says it."""

import pickle
from pathlib import Path

import pytest

from core.analysis.lacks import Lack, no_family, no_probe
from core.analysis.reading import read_table
from core.analysis.scope import Scope
from core.store.store import Store
from tests.analysis.made_runs import audited, write_run


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
