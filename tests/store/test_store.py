"""The store answers right under threads, and one broken run or file takes no other down."""

import json
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.audit.run import run_audit
from core.errors import InvalidInput, StoreError
from core.evaluators.pool import Pool
from core.statistics.changes import SHIFT_FLOOR
from core.store.publishing import publish
from core.store.run_files import list_runs, read_run
from core.store.schema import SCHEMA_VERSION, SCHEMAS, SCORES
from core.store.store import Store, default_store, signature
from core.store.whole import verify
from tests.audit.squares import HISTOGRAM, PAIRED, build_corpus
from tests.manifests import edit_manifest
from tests.plans import make_plan


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("runs")
    corpus = build_corpus(root / "corpus", 5)
    pool = Pool(100, "cpu")
    for run_id, evaluators in (("one", [HISTOGRAM]), ("two", [HISTOGRAM, PAIRED])):
        plan = make_plan(corpus, evaluators=evaluators, subjects=("template", "human"), shard_items=2)
        run_audit(plan, root / "runs", run_id=run_id, pool=pool)
    return root / "runs"


@pytest.fixture
def runs(built: Path, tmp_path: Path) -> Path:
    """A copy to break."""
    return Path(shutil.copytree(built, tmp_path / "my runs"))


@pytest.fixture(scope="module")
def store(built: Path) -> Iterator[Store]:
    with Store.open(built) as opened:
        yield opened


def rows_of(folder: Path, table: str = "scores") -> pd.DataFrame:
    return pd.concat([pq.read_table(path).to_pandas() for path in sorted((folder / table).glob("*.parquet"))])


def test_every_view_holds_exactly_the_rows_of_its_shards(store: Store, built: Path) -> None:
    for table, schema in SCHEMAS.items():
        found = store.query(f"select * from {table} order by all")
        assert list(found.columns) == schema.names
        expected = pd.concat([rows_of(built / "one", table), rows_of(built / "two", table)])
        assert len(found) == len(expected)
        assert sorted(found.iloc[:, 2].astype(str)) == sorted(expected.iloc[:, 2].astype(str))
    assert store.query("select run, corpus, status from runs order by run").to_numpy().tolist() == [
        ["one", "squares", "complete"],
        ["two", "squares", "complete"],
    ]
    assert json.loads(store.query("select manifest from runs where run = ?", ["two"]).manifest[0])["run"] == "two"
    assert [run.id for run in store.runs()] == ["one", "two"]


def test_shifts_are_what_pandas_makes_of_the_scores(store: Store) -> None:
    scores = store.query("select * from scores")
    key = ["run", "corpus", "item", "subject", "language", "rank", "evaluator"]
    baselines = scores.rename(columns={"probe": "b", "score": "baseline_score", "caption": "baseline_caption"})
    expected = scores[scores.baseline.notna()].merge(
        baselines[[*key, "b", "baseline_score", "baseline_caption"]],
        how="left",
        left_on=[*key, "baseline"],
        right_on=[*key, "b"],
    )
    expected["delta"] = expected.score - expected.baseline_score
    expected["percent"] = (100 * expected.delta / expected.baseline_score).where(
        expected.baseline_score.abs() >= SHIFT_FLOOR
    )
    order = [*key, "probe"]
    found = store.query("select * from shifts")
    assert len(found) > 0
    columns = [*order, "baseline_score", "baseline_caption", "delta", "percent"]
    pd.testing.assert_frame_equal(
        found.sort_values(order)[columns].reset_index(drop=True),
        expected.sort_values(order)[columns].reset_index(drop=True),
        check_dtype=False,
    )


def write_run(folder: Path, scores: list[dict[str, object]], **manifest: object) -> Path:
    """A run folder written by hand, without the engine."""
    (folder / "scores").mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(scores, schema=SCORES), folder / "scores" / "a.parquet")
    told = {"schema_version": SCHEMA_VERSION, "run": folder.name, "status": "complete", "corpus": {}, "counts": {}}
    (folder / "manifest.json").write_text(json.dumps(told | manifest), encoding="utf-8")
    return folder


def test_a_shift_is_null_where_it_has_no_meaning(tmp_path: Path) -> None:
    def row(item: str, probe: str, score: float | None, baseline: str | None = None) -> dict[str, object]:
        return {
            "run": "r",
            "corpus": "c",
            "item": item,
            "subject": "template",
            "language": "en",
            "rank": 0,
            "evaluator": "e",
            "probe": probe,
            "score": score,
            "baseline": baseline,
        }

    write_run(
        tmp_path / "r",
        [
            row("tiny", "identity", 1e-7),
            row("tiny", "p", 0.5, "identity"),
            row("floor", "identity", 1e-6),
            row("floor", "p", 2e-6, "identity"),
            row("null", "identity", None),
            row("null", "p", 0.5, "identity"),
            row("lost", "identity", 0.5),
            row("lost", "p", None, "identity"),
            row("alone", "p", 0.5, "identity"),
            row("below", "identity", -0.5),
            row("below", "p", -0.25, "identity"),
        ],
    )
    with Store.open(tmp_path) as store:
        found = store.query("select * from shifts").set_index("item")
    assert len(found) == 6
    assert found.loc["tiny", "delta"] == pytest.approx(0.5)
    assert pd.isna(found.loc["tiny", "percent"])
    assert found.loc["floor", "percent"] == pytest.approx(100)
    assert pd.isna(found.loc["below", "percent"])  # a rise, which would read as a fall by half
    for item in ("null", "lost", "alone"):
        assert pd.isna(found.loc[item, "delta"])
        assert pd.isna(found.loc[item, "percent"])


def test_eight_threads_get_the_right_answer_every_time(store: Store) -> None:
    expected = {run: len(store.query("select * from scores where run = ?", [run])) for run in ("one", "two")}

    def ask(index: int) -> bool:
        run = ("one", "two")[index % 2]
        found = store.query("select run, item, score from scores where run = ?", [run])
        shifts = store.query("select count(*) n from shifts where run = ?", [run])
        return len(found) == expected[run] and set(found.run) == {run} and 0 < shifts.n[0] < expected[run]

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(ask, range(80)))


def test_two_stores_over_the_same_runs_and_files_stand_side_by_side(built: Path, tmp_path: Path) -> None:
    file = publish([built], tmp_path / "all.duckdb")
    with Store.open(built) as first, Store.open(file) as second, Store.open(file) as third:
        for sql in ("select * from scores order by all", "select * from shifts order by all"):
            pd.testing.assert_frame_equal(first.query(sql), second.query(sql))
            pd.testing.assert_frame_equal(second.query(sql), third.query(sql))


@pytest.mark.parametrize(
    "sql",
    [
        "drop view scores",
        "create table x (a int)",
        "select 1; select 2",
        "",
        "insert into runs values (1)",
        "copy scores to 'x.csv'",
        "attach 'x.duckdb'",
        "set threads = 1",
        "pragma database_list",
        "selec 1",
        "select nothing from scores",
        "install httpfs",
        "load httpfs",
    ],
)
def test_only_one_select_at_a_time_is_answered(store: Store, sql: str) -> None:
    with pytest.raises(InvalidInput, match="the store"):
        store.query(sql)
    assert len(store.query("select 1 from scores")) > 0


def test_a_query_reads_no_other_file(store: Store, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n", encoding="utf-8")
    frame = pd.DataFrame({"a": [1]})
    assert len(frame) == 1
    for sql in (
        "select * from frame",
        f"select * from '{secret}'",
        f"select * from read_text('{secret}')",
        "select * from glob('/etc/*')",
    ):
        with pytest.raises((InvalidInput, StoreError)):
            store.query(sql)


def test_parameters_are_values_and_never_sql(store: Store) -> None:
    hostile = "' or 1 = 1; drop view scores; --"
    assert len(store.query("select * from scores where item = ?", [hostile])) == 0
    assert len(store.query("select * from scores where item = $item", {"item": hostile})) == 0


@pytest.mark.parametrize("name", ["o'brien", "a*b", "what?", "[x]", "run=7", "ünï cödé", "semi;colon"])
def test_a_folder_of_any_name_is_read(built: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    shutil.copytree(built / "one", tmp_path / name / "one")
    with Store.open(tmp_path / name) as store:
        assert store.problems == ()
        assert len(store.query("select * from scores")) == len(rows_of(built / "one"))
    if "?" in name:  # DuckDB takes what follows for options
        with pytest.raises(InvalidInput, match=r"cannot be written below a folder with \?"):
            publish([tmp_path / name], tmp_path / name / "published.duckdb")
        return
    file = publish([tmp_path / name], tmp_path / name / "published.duckdb")
    with Store.open(file) as store:
        assert store.problems == ()
        assert len(store.query("select * from scores")) == len(rows_of(built / "one"))


def flip(path: Path, at: int = 200) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 0xFF
    path.write_bytes(data)


def rewrite(run: Path, text: str) -> None:
    (run / "manifest.json").write_text(text, encoding="utf-8")


BREAKAGES = {
    "a flipped bit": (lambda run: flip(run / "scores" / "shard-00000.parquet"), "shard-00000.parquet is damaged"),
    "an empty shard": (
        lambda run: (run / "scores" / "shard-00001.parquet").write_bytes(b""),
        "shard-00001.parquet is damaged",
    ),
    "a shard of another schema": (
        lambda run: shutil.copy(run / "items" / "shard-00000.parquet", run / "scores" / "shard-00000.parquet"),
        f"has other columns than schema {SCHEMA_VERSION}",
    ),
    "rows of another run": (
        lambda run: shutil.copy(run.parent / "two" / "scores" / "shard-00000.parquet", run / "scores"),
        "holds rows of another run than one",
    ),
    "a broken manifest": (lambda run: rewrite(run, "{"), "manifest.json cannot be read"),
    "a manifest that is a list": (lambda run: rewrite(run, "[]"), "holds no object"),
    "a deep manifest": (lambda run: rewrite(run, "[" * 100_000), "manifest.json cannot be read"),
    "a newer version": (lambda run: edit_manifest(run, schema_version=SCHEMA_VERSION + 1), "update it"),
    "no version": (lambda run: edit_manifest(run, schema_version=None), "names no schema_version, got None"),
    "a hostile id": (lambda run: edit_manifest(run, run="../../etc"), "names no valid run"),
    "no counts": (lambda run: edit_manifest(run, counts=[]), "has no object 'counts'"),
    "an unknown status": (lambda run: edit_manifest(run, status="maybe"), "unknown status 'maybe'"),
}


@pytest.mark.parametrize("how", BREAKAGES)
def test_one_broken_run_is_named_and_takes_no_other_down(runs: Path, how: str) -> None:
    damage, words = BREAKAGES[how]
    damage(runs / "one")
    with Store.open(runs) as store:
        assert len(store.problems) == 1
        assert words in store.problems[0]
        assert "\n" not in store.problems[0]
        counts = store.query("select run, count(*) n from scores group by run").set_index("run").n
        assert counts["two"] == len(rows_of(runs / "two"))
        assert counts.get("one", 0) < len(rows_of(runs / "two"))
        assert len(store.query("select * from shifts where run = 'two'")) > 0


def test_a_folder_without_a_run_and_a_path_to_nothing_are_named(tmp_path: Path) -> None:
    with Store.open([tmp_path, tmp_path / "nowhere"]) as store:
        assert len(store.problems) == 2
        assert f"{tmp_path} holds no run" in store.problems[0]
        assert f"there is no run at {tmp_path / 'nowhere'}" in store.problems[1]
        assert store.query("select * from shifts").empty
    with pytest.raises(StoreError, match=r"is no run: it has no manifest\.json"):
        read_run(tmp_path)


def test_the_same_run_from_two_places_is_read_once(built: Path, tmp_path: Path) -> None:
    file = publish([built / "one"], tmp_path / "one.duckdb")
    with Store.open([built, file, built / "one"]) as store:
        assert len(store.problems) == 2
        assert all("read once" in problem for problem in store.problems)
        assert store.query("select count(*) n from scores where run = 'one'").n[0] == len(rows_of(built / "one"))


def test_files_that_are_not_published_runs_are_named(built: Path, tmp_path: Path) -> None:
    (tmp_path / "text.duckdb").write_text("hello", encoding="utf-8")
    (tmp_path / "empty.duckdb").write_bytes(b"")
    with duckdb.connect(str(tmp_path / "other.duckdb")) as other:
        other.execute("create table scores (a int)")
    secret = tmp_path / "secret.csv"
    secret.write_text("run\nleak\n", encoding="utf-8")
    publish([built / "one"], tmp_path / "view.duckdb").chmod(0o644)
    with duckdb.connect(str(tmp_path / "view.duckdb")) as hostile:
        hostile.execute("alter table items rename to hidden")
        hostile.execute(
            f"create view items as select * replace ((select any_value(run) from '{secret}') as source) from hidden"
        )
    names = ("text", "empty", "other", "view")
    with Store.open([*(tmp_path / f"{name}.duckdb" for name in names), built]) as store:
        assert len(store.problems) == 4
        for name, problem in zip(names, store.problems, strict=True):
            assert f"{name}.duckdb" in problem
            assert "\n" not in problem
        assert [run.id for run in store.runs()] == ["one", "two"]
        assert "leak" not in store.query("select * from items").to_string()


def test_a_run_that_goes_away_while_open_is_one_sentence_and_the_rest_is_left(runs: Path) -> None:
    with Store.open(runs / "one") as store:
        shutil.rmtree(runs / "one")
        with pytest.raises(StoreError, match="changed on disk while it was open"):
            store.query("select * from scores")
        assert store.query("select run from runs").run.tolist() == ["one"]


def test_the_signature_follows_every_change_on_disk(runs: Path) -> None:
    before = signature(runs)
    assert before == signature([runs])
    (runs / "two" / "scores" / "shard-00002.parquet").unlink()
    assert signature(runs) != before
    assert signature(runs / "nowhere") == ()


def test_the_default_store_reads_the_results_and_the_runs(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
    with default_store() as store:
        assert (store.runs(), store.problems) == ((), ())
    shutil.copytree(runs / "one", tmp_path / "data" / "results" / "one")
    shutil.copytree(runs / "two", tmp_path / "data" / "runs" / "two")
    with default_store() as store:
        assert [run.id for run in store.runs()] == ["one", "two"]
    assert [run.id for run in list_runs()] == ["one", "two"]
    (tmp_path / "data" / "runs" / "two" / "manifest.json").write_text("", encoding="utf-8")
    assert [run.id for run in list_runs()] == ["one"]


def test_publishing_holds_no_table_and_sorts_by_way_of_the_disk(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open([built]) as store:
        expected = {name: store.table(f"select * from {name} order by all") for name in SCHEMAS}
    batches, held = Store.batches, []

    def watched(self: Store, sql: str, params: list[object] | None = None) -> pa.RecordBatchReader:
        reader = batches(self, sql, params)
        held.append(type(reader))
        return reader

    monkeypatch.setattr(Store, "batches", watched)
    monkeypatch.setattr(Store, "table", None)
    monkeypatch.setattr("core.store.store.BATCH_ROWS", 2048)
    monkeypatch.setattr("core.store.publishing.PART_ROWS", 300)
    monkeypatch.setattr("core.store.sorted_copies.MEMORY", "32MB")
    file = publish([built], tmp_path / "all.duckdb")
    assert len(held) > 3 * len(SCHEMAS)  # counted, then read in more than one part
    assert set(held) == {pa.RecordBatchReader}
    assert {each.name for each in tmp_path.iterdir()} >= {"all.duckdb"}
    assert not list(tmp_path.glob(".publish-*"))
    with duckdb.connect(str(file), read_only=True) as found:
        for name, rows in expected.items():
            assert found.sql(f"select * from {name}").to_arrow_table().to_pylist() == rows.to_pylist()


def test_publishing_refuses_what_would_lose_or_overwrite_something(runs: Path, tmp_path: Path) -> None:
    file = publish([runs], tmp_path / "all.duckdb")
    assert file.stat().st_mode & 0o222 == 0
    with pytest.raises(InvalidInput, match="exists; choose another name"):
        publish([runs], file)
    publish([runs / "one"], file, overwrite=True)
    with Store.open(file) as store:
        assert [run.id for run in store.runs()] == ["one"]
    with pytest.raises(InvalidInput, match=r"ends in \.duckdb, got 'all\.db'"):
        publish([runs], tmp_path / "all.db")
    with pytest.raises(InvalidInput, match="no run to publish"):
        publish([], tmp_path / "none.duckdb")
    flip(runs / "two" / "scores" / "shard-00000.parquet")
    with pytest.raises(StoreError, match="is damaged"):
        publish([runs], tmp_path / "damaged.duckdb")
    edit_manifest(runs / "one", status="interrupted")
    with pytest.raises(InvalidInput, match="run one is not complete"):
        publish([runs / "one"], tmp_path / "unfinished.duckdb")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.duckdb", "my runs"]


def test_publishing_on_a_full_disk_is_one_sentence(built: Path, small_disk: Path) -> None:
    (small_disk / "ballast").write_bytes(b"x" * 900 * 1024)
    with pytest.raises(StoreError, match="cannot be written"):
        publish([built], small_disk / "all.duckdb")
    assert [path.name for path in small_disk.iterdir()] == ["ballast"]


@pytest.mark.parametrize("free", range(100, 900, 100))
def test_a_published_file_is_replaced_by_a_whole_one_or_stays(built: Path, small_disk: Path, free: int) -> None:
    output = small_disk / "all.duckdb"
    output.write_bytes(b"old")
    at = os.statvfs(small_disk)
    (small_disk / "ballast").write_bytes(bytes(at.f_bavail * at.f_frsize - free * 1024))
    try:
        publish([built], output, overwrite=True)
    except StoreError:
        assert output.read_bytes() == b"old"
    else:
        assert [verdict.problems for verdict in verify(output)] == [(), ()]
    assert sorted(path.name for path in small_disk.iterdir()) == ["all.duckdb", "ballast"]


def test_a_published_file_publishes_again(built: Path, tmp_path: Path) -> None:
    first = publish([built], tmp_path / "first.duckdb")
    second = publish([first], tmp_path / "second.duckdb")
    with Store.open(built) as source, Store.open(second) as copy:
        for table in ("scores", "items", "rejections", "shifts"):
            sql = f"select * from {table} order by all"
            pd.testing.assert_frame_equal(source.query(sql), copy.query(sql))
