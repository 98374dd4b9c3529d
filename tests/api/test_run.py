"""A run that Python opens gives the numbers of the page and of the report, from one definition."""

from pathlib import Path

import pandas as pd
import pytest

from core.analysis.questions.directional import RATES
from core.analysis.scope import Scope, narrow
from core.analysis.verdicts import MARGIN
from core.commands._shared import Code
from core.errors import InvalidInput, StoreError, UnknownName
from core.report.build import build
from core.report.document import FORMATS, Report, parse_signature
from core.store.publishing import publish
from core.store.store import Store
from invariscope import Run, open_run
from tests.analysis.made_runs import SHIPPED, audited, raw, scores_of, shifts, write_run
from tests.commands.calling import Invoke
from tests.commands.conftest import invoke as invoke  # a fixture
from tests.manifests import edit_manifest


@pytest.fixture(scope="module")
def demo() -> Run:
    return open_run(SHIPPED)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    rows = [*audited("vflip", "rotate-5", "rotate+5", items=12), *audited("vflip", items=8, subject="human")]
    return write_run(tmp_path / "small", rows, corpus={"name": "c"})


@pytest.fixture
def written(small: Path) -> Report:
    """What the report of that run says."""
    with Store.open(small) as store:
        return build(store, narrow(store, Scope(subject="template")))


def test_every_table_is_the_one_of_the_report(small: Path, written: Report) -> None:
    run = open_run(small)
    tables = {each.id: each.frame for each in (*written.tables, *written.details)}
    asked = run.questions().set_index("id")
    compared = [name for name in asked.index[asked["missing"] == ""] if name in tables]
    assert {"S1", "S1-spatial", "T3"} <= set(compared)
    for name in compared:
        pd.testing.assert_frame_equal(run.table(name), tables[name], obj=name)
    pd.testing.assert_frame_equal(run.table(), tables["S1"])
    assert run.signature() == written.signature


def test_what_can_be_asked_and_what_cannot_is_what_the_report_says(small: Path, written: Report) -> None:
    run = open_run(small)
    asked = run.questions().set_index("id")
    missing = {each.id: each.reason for each in written.missing}
    told = asked.loc[asked.index.isin(missing) & (asked["missing"] != ""), "missing"].to_dict()
    assert told
    assert told == {name: missing[name] for name in told}
    name, reason = next(iter(told.items()))
    with pytest.raises(InvalidInput) as refused:
        run.table(name)
    assert str(refused.value) == f"run small cannot answer {name}: {reason}"


def test_every_file_of_its_report_is_the_one_of_the_command_line(small: Path, tmp_path: Path, invoke: Invoke) -> None:
    mine = open_run(small).report(tmp_path / "mine", formats=["md", "html"], encoders=False)
    told = ("--no-encoders", "--format", "md,html", "-o", tmp_path / "theirs")
    assert invoke("report", small, *told).exit_code == Code.OK
    names = sorted(path.relative_to(mine) for path in mine.rglob("*") if path.is_file())
    assert Path("data/S1.csv") in names
    assert names == sorted(path.relative_to(tmp_path / "theirs") for path in (tmp_path / "theirs").rglob("*.*"))
    for name in names:
        if name.suffix != ".html":  # plotly numbers its divisions by chance
            assert (mine / name).read_bytes() == (tmp_path / "theirs" / name).read_bytes(), name


def test_a_report_is_whole_unless_told_and_harms_no_files(small: Path, tmp_path: Path) -> None:
    run = open_run(small)
    folder = run.report(tmp_path / "out", drawings=True, encoders=False)
    assert {path.name for path in folder.glob("report.*")} == set(FORMATS.values())
    with pytest.raises(InvalidInput, match=r"holds files; choose another folder.*overwrite=True"):
        run.report(folder)
    with pytest.raises(InvalidInput, match="formats are md, html, latex, got pdf"):
        run.report(tmp_path / "other", formats="pdf", encoders=False)
    assert run.report(folder, formats="md", encoders=False, overwrite=True) == folder


def test_rows_are_the_stored_ones(small: Path) -> None:
    run = open_run(small)
    stored = raw(small)
    assert sorted(run.scores()["score"]) == sorted(stored["score"])
    keys = ["item", "subject", "evaluator", "probe"]
    theirs, ours = shifts(stored).set_index(keys), run.shifts().set_index(keys)
    pd.testing.assert_series_equal(ours["percent"].sort_index(), theirs["percent"].sort_index(), check_index_type=False)


def test_a_scope_is_chosen_by_name(small: Path) -> None:
    run = open_run(small)
    assert run.table()["n_items"].max() == 12
    assert run.table(subject="human")["n_items"].max() == 8
    assert parse_signature(run.signature(subject="human"))["subject"] == "human"
    with pytest.raises(InvalidInput, match="no evaluator 'f' is open; there are: e"):
        run.table(evaluators="f")
    with pytest.raises(UnknownName, match="no question is named 'S999'; there are: S1"):
        run.table("S999")


def test_the_margin_is_the_one_that_was_given(small: Path) -> None:
    run = open_run(small)
    usual, wide = run.table("S1", margin=MARGIN), run.table("S1", margin=10_000.0)
    pd.testing.assert_frame_equal(run.table("S1"), usual)
    assert (usual["beyond"] > 0).any()
    assert (wide["beyond"] == 0).all()


def test_a_run_that_only_breaks_meanings_is_headed_by_what_breaks(tmp_path: Path) -> None:
    rows = scores_of(["identity", "jumble"], 12, lambda probe, place: 0.5 + (probe == "jumble") * (place - 3) / 100)
    rows = [{**row, "baseline": None if row["probe"] == "identity" else "identity"} for row in rows]
    run = open_run(write_run(tmp_path / "broken", rows, corpus={"name": "c"}))
    pd.testing.assert_frame_equal(run.table(), run.table(RATES))
    assert run.table()["failure"].tolist() == [pytest.approx(75.0)]


def test_what_was_left_out_is_named_with_its_reason(demo: Run) -> None:
    rows = demo.left_out()
    assert len(rows) == sum(demo.manifest["counts"]["variants_rejected_by_code"].values()) + sum(
        demo.manifest["counts"]["items_rejected_by_code"].values()
    )
    assert (rows["meaning"].str.len() > 0).all()


def test_a_run_is_opened_by_id_folder_and_file(small: Path, tmp_path: Path, own_data: Path) -> None:
    other = write_run(tmp_path / "other", audited("vflip", items=9), corpus={"name": "c"})
    (own_data / "runs").mkdir(parents=True)
    small.rename(own_data / "runs" / "small")
    assert open_run("small").path == own_data / "runs" / "small"
    for path in (other, own_data / "runs" / "small"):
        edit_manifest(path, status="complete")
    (tmp_path / "published").mkdir()
    file = publish([own_data / "runs" / "small", other], tmp_path / "published" / "both.duckdb")
    with pytest.raises(InvalidInput, match=r"both\.duckdb holds the runs .*name one with run="):
        open_run(file)
    assert open_run(file, run="other").table()["n_items"].max() == 9
    with pytest.raises(InvalidInput, match="no run 'none' here; there are: small"):
        open_run("none")
    with pytest.raises(StoreError, match="holds no run"):
        open_run(own_data)


def test_a_run_says_what_it_is(demo: Run) -> None:
    assert repr(demo).startswith("<Run demo: complete, 28,032 scores, ")
    assert repr(demo).endswith("corpus demo, conse-lite0, conse-lite2, grounding-judge>")
