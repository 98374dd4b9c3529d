"""What a reader must choose is read out of the sentence that says it."""

from pathlib import Path

import pytest

from core.analysis.questions.needs import choice, no_family, no_probe
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
        assert choice(no_family(table, "rotation", what="a rotation")) == {"run": "second", "subject": "human"}
        wanted = choice(no_probe(table, ["rotate-5"], what="a rotation"))
        seen = read_table(store, Scope(runs=(wanted["run"],), subject=wanted["subject"]))
        assert "rotate-5" in seen.probes.index
        assert choice(no_family(table, "cultural", what="a word")) == {}


@pytest.mark.parametrize("reason", ["", "no run holds a word; an audit with it: python -m core audit"])
def test_a_reason_that_names_no_run_asks_for_none(reason: str) -> None:
    assert choice(reason) == {}
