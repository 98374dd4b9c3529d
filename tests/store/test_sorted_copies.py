"""Copies that answer at once say what the files themselves say, and never stand in the way."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from core.errors import InvalidInput
from core.settings import results_dir
from core.store import sorted_copies as copies
from core.store.publishing import publish
from core.store.schema import SCHEMA_VERSION, SCHEMAS, VERDICTS
from core.store.store import Store, default_store, run_paths, signature
from core.store.whole import seal_later
from tests.manifests import edit_manifest

ITEMS = 12


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped run as if of its first items alone."""
    run = Path(shutil.copytree(results_dir() / "demo", tmp_path_factory.mktemp("few") / "demo"))
    names = pq.read_table(run / "items" / "joined-00000.parquet")["item"][:ITEMS]
    for path in run.rglob("*.parquet"):
        pq.write_table(pq.read_table(path, filters=pc.field("item").isin(names)), path, write_page_checksum=True)
    edit_manifest(run, counts={})
    seal_later(run)
    return run


@pytest.fixture
def run(few: Path, tmp_path: Path) -> Path:
    """A copy of it, to break."""
    return Path(shutil.copytree(few, tmp_path / "runs" / "demo"))


def kept(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.duckdb"))


VIEWS = (*SCHEMAS, "shifts", "groups", "held", "runs", "verdicts")


def same(first: Store, second: Store, view: str) -> None:
    sql = f"select * from {view} order by all"
    pd.testing.assert_frame_equal(first.query(sql), second.query(sql))


@pytest.mark.parametrize("source", ["folder", "published"])
def test_a_copy_answers_as_the_files_do(tmp_path: Path, source: str) -> None:
    run = results_dir() / "demo"
    path = run if source == "folder" else publish([run], tmp_path / "demo.duckdb")
    with Store.open(path) as plain:
        for _ in range(2):  # made, then found
            with Store.open(path, copies=tmp_path / "copies") as quick:
                assert quick.problems == ()
                for view in VIEWS:
                    same(plain, quick, view)
    assert len(kept(tmp_path / "copies")) == 1


def rename_an_item(run: Path) -> None:
    """Another run that is whole: one item has another name."""
    path = run / "scores" / "joined-00000.parquet"
    table = pq.read_table(path)
    first, place = table["item"][0].as_py(), table.schema.get_field_index("item")
    names = ["new" if each == first else each for each in table["item"].to_pylist()]
    pq.write_table(table.set_column(place, table.schema.field(place), pa.array(names)), path, write_page_checksum=True)
    edit_manifest(run)


def test_a_change_on_disk_makes_a_copy_of_its_own(run: Path, tmp_path: Path) -> None:
    with Store.open(run, copies=tmp_path / "copies") as store:
        assert store.query("select count(*) as n from scores where item = 'new'")["n"][0] == 0
    rename_an_item(run)
    with Store.open(run, copies=tmp_path / "copies") as store, Store.open(run) as plain:
        assert store.query("select count(*) as n from scores where item = 'new'")["n"][0] > 0
        same(store, plain, "shifts")
    assert len(kept(tmp_path / "copies")) == 2


def test_a_run_reached_by_links_is_copied_once(run: Path, tmp_path: Path) -> None:
    published = publish([run], tmp_path / "demo.duckdb")
    for folder, target in ((tmp_path / "copies", run), (tmp_path / "of-published", published)):
        for name in ("one", "two"):
            link = tmp_path / f"{name}{target.suffix}"
            link.unlink(missing_ok=True)
            link.symlink_to(target)
            with Store.open(link, copies=folder) as store, Store.open(link) as plain:
                same(store, plain, "scores")
        assert len(kept(folder)) == 1


def test_a_damaged_file_is_named_at_every_opening(run: Path, tmp_path: Path) -> None:
    file = run / "scores" / "joined-00000.parquet"
    data = bytearray(file.read_bytes())
    data[300] ^= 0xFF
    file.write_bytes(data)
    for _ in range(2):
        with Store.open(run, copies=tmp_path / "copies") as store:
            (problem,) = store.problems
            assert "run demo is not shown, because it is not whole" in problem
            assert "joined-00000.parquet is damaged" in problem
            assert store.runs() == ()
            assert store.query("select * from scores").empty
    assert kept(tmp_path / "copies") == []


def test_an_unfinished_run_has_no_copy(run: Path, tmp_path: Path) -> None:
    edit_manifest(run, status="running")
    with Store.open(run, copies=tmp_path / "copies") as store, Store.open(run) as plain:
        same(store, plain, "shifts")
    assert kept(tmp_path / "copies") == []


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[:100_000], lambda data: b"x" * len(data)])
def test_a_damaged_copy_is_made_anew(run: Path, tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    with Store.open(run, copies=tmp_path / "copies"):
        pass
    (copy,) = kept(tmp_path / "copies")
    copy.write_bytes(damage(copy.read_bytes()))
    with Store.open(run, copies=tmp_path / "copies") as store, Store.open(run) as plain:
        assert store.problems == ()
        same(store, plain, "shifts")
    assert kept(tmp_path / "copies") == [copy]


def test_a_folder_that_takes_no_copy_only_makes_it_slower(run: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    for folder in (tmp_path / "file" / "copies", tmp_path / "what?"):
        with Store.open(run, copies=folder) as store, Store.open(run) as plain:
            assert store.problems == ()
            same(store, plain, "shifts")


def test_a_full_disk_only_makes_it_slower(run: Path, small_disk: Path) -> None:
    (small_disk / "ballast").write_bytes(b"x" * 900 * 1024)
    with Store.open(run, copies=small_disk / "copies") as store:
        assert len(store.query("select * from shifts")) > 0
    assert [path.name for path in (small_disk / "copies").glob("*")] == []


def test_the_copies_longest_unused_make_room(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "copies"
    with Store.open(run, copies=folder):
        pass
    (first,) = kept(folder)
    monkeypatch.setattr(copies, "KEPT_BYTES", int(1.5 * first.stat().st_size))
    rename_an_item(run)
    with Store.open(run, copies=folder) as store:
        assert len(store.query("select * from items")) == ITEMS
    (second,) = kept(folder)
    assert second != first


def test_a_copy_that_is_open_stays_however_large_it_is(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "KEPT_BYTES", 1000)
    for _ in range(2):
        with Store.open(run, copies=tmp_path / "copies") as store, Store.open(run) as plain:
            same(store, plain, "shifts")
        (copy,) = kept(tmp_path / "copies")
        made = copy.stat().st_ino
    assert kept(tmp_path / "copies")[0].stat().st_ino == made


def test_a_run_that_scored_a_pair_twice_is_read_as_it_is(run: Path, tmp_path: Path) -> None:
    path = run / "scores" / "joined-00000.parquet"
    table = pq.read_table(path)
    pq.write_table(pa.concat_tables([table, table.slice(0, 1)]), path, write_page_checksum=True)
    edit_manifest(run, counts={})
    with Store.open(run, copies=tmp_path / "copies") as store, Store.open(run) as plain:
        assert store.problems == ()
        for view in VIEWS:
            same(store, plain, view)
    assert kept(tmp_path / "copies") == []


@pytest.mark.parametrize("copied", [True, False])
def test_counts_are_those_of_the_rows(run: Path, tmp_path: Path, copied: bool) -> None:
    with Store.open(run, copies=tmp_path / "copies" if copied else None) as store:
        rows = store.query("select * from scores")
        groups = store.query("select evaluator, probe, baseline, n from groups where named")
        held = store.query("select evaluator, n_items from held")
    counted = rows.groupby(["evaluator", "probe", "baseline"], dropna=False).size()
    assert groups.groupby(["evaluator", "probe", "baseline"], dropna=False)["n"].sum().to_dict() == counted.to_dict()
    assert (
        dict(zip(held["evaluator"], held["n_items"], strict=True))
        == rows.groupby("evaluator")["item"].nunique().to_dict()
    )


def test_runs_appear_from_every_place_and_the_signature_follows(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    monkeypatch.setenv("INVARISCOPE_DATA", str(data))
    (data / "corpora" / "photos" / "scores").mkdir(parents=True)
    assert signature(run_paths()) == ()
    seen = set()
    for place in (data, data / "runs", data / "results"):
        shutil.copytree(run, place / "demo")
        file = publish([run], tmp_path / "demo.duckdb", overwrite=True)
        assert signature(run_paths()) not in seen
        seen.add(signature(run_paths()))
        with default_store() as store:
            assert [each.id for each in store.runs()] == ["demo"]
        shutil.rmtree(place / "demo")
        shutil.copy(file, place / "dropped.duckdb")
        assert signature(run_paths()) not in seen
        with default_store() as store:
            assert [each.path.name for each in store.runs()] == ["dropped.duckdb"]
        (place / "dropped.duckdb").unlink()
        assert signature(run_paths()) == ()


def test_a_run_without_manifest_is_named_until_the_manifest_comes(run: Path) -> None:
    (run / "manifest.json").rename(run / "later.json")
    before = signature(run.parent)
    with Store.open(run.parent) as store:
        (problem,) = store.problems
        assert f"{run} holds scores and no manifest.json" in problem
    (run / "later.json").rename(run / "manifest.json")
    assert signature(run.parent) != before
    with Store.open(run.parent) as store:
        assert store.problems == ()


HOLD = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"


def test_a_file_that_another_program_writes_is_named_until_it_is_closed(run: Path, tmp_path: Path) -> None:
    file = publish([run], tmp_path / "places" / "demo.duckdb")
    file.chmod(0o644)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with Store.open(file.parent) as store:
            (problem,) = store.problems
            assert f"{file} is open for writing in another program; close it there" in problem
            assert not store.outdated()
            holder.communicate()
            assert store.outdated()
    with Store.open(file.parent) as store:
        assert [each.id for each in store.runs()] == ["demo"]
        assert not store.outdated()


def test_a_newer_published_file_asks_for_an_update(run: Path, tmp_path: Path) -> None:
    file = publish([run], tmp_path / "demo.duckdb")
    file.chmod(0o644)
    with duckdb.connect(str(file)) as connection:
        connection.execute(f"update about set schema_version = {SCHEMA_VERSION + 1}")
        connection.execute("alter table scores add column more integer")
    with Store.open(file) as store:
        (problem,) = store.problems
        assert f"schema {SCHEMA_VERSION + 1} and this Invariscope reads up to {SCHEMA_VERSION}; update it" in problem


def test_a_run_whose_corpus_is_gone_is_named_shown_and_published(run: Path, tmp_path: Path) -> None:
    told = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    told["corpus"]["root"] = str(tmp_path / "gone")
    edit_manifest(run, corpus=told["corpus"])
    with Store.open(run) as store:
        (problem,) = store.problems
        assert f"its corpus lay in {tmp_path / 'gone'}" in problem
        assert store.left_out == ()
        assert len(store.query("select * from shifts")) > 0
    publish([run], tmp_path / "demo.duckdb")


def test_verdicts_are_a_view_beside_the_runs(run: Path) -> None:
    row = {"corpus": "demo", "item": "frog-1-10-20", "probe": "vflip", "subject": "template", "accepted": 0.75}
    table = pa.Table.from_pylist([{**row, "votes": 4}], schema=VERDICTS)
    with Store.open(run, verdicts=table) as store:
        assert store.table("select * from verdicts").to_pylist() == table.to_pylist()
    with Store.open(run) as store:
        assert store.query("select * from verdicts").columns.tolist() == VERDICTS.names
        assert store.query("select * from verdicts").empty
    with pytest.raises(InvalidInput, match="verdicts need the columns"):
        Store.open(run, verdicts=table.drop_columns(["votes"]))
