"""A run that is not whole is never shown as whole, and what was only a copy is made anew."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.audit.plan import Plan
from core.audit.run import run_audit
from core.errors import InvalidInput, StoreError
from core.evaluators.pool import Pool
from core.settings import ROOT
from core.store.joined_shards import join, take_apart
from core.store.publishing import publish
from core.store.run_files import AUDIT, Run, manifest_digest, read_run, seal_told, with_seal
from core.store.schema import SCHEMA_VERSION, SCORES
from core.store.store import Store
from core.store.text_files import write_json
from core.store.whole import DAMAGED, UNFINISHED, UNVERIFIED, WHOLE, content_digest, seal_later, sealed_files, verify
from tests.audit.squares import HISTOGRAM, build_corpus
from tests.manifests import edit_manifest
from tests.plans import make_plan


def plan_of(root: Path) -> Plan:
    return make_plan(build_corpus(root / "corpus", 6), evaluators=[HISTOGRAM], shard_items=2)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("whole")
    for name in ("one", "two"):
        run_audit(plan_of(root), root / "runs", run_id=name, pool=Pool(100, "cpu"))
    return root


@pytest.fixture
def one(built: Path, tmp_path: Path) -> Path:
    """A sealed run of three shards to break, beside one that stays whole."""
    shutil.copytree(built / "runs", tmp_path / "runs")
    return tmp_path / "runs" / "one"


def shard(run: Path, index: int, table: str = "scores") -> Path:
    return run / table / f"shard-{index:05d}.parquet"


def swap(run: Path) -> None:
    first, second = shard(run, 0).read_bytes(), shard(run, 1).read_bytes()
    shard(run, 0).write_bytes(second)
    shard(run, 1).write_bytes(first)


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)


def a_score_moves(run: Path) -> None:
    """A file that is read without a fault, of as many rows, and with another score."""
    rows = pq.read_table(shard(run, 0))
    place = rows.schema.get_field_index("score")
    scores = [1.0, *rows["score"].to_pylist()[1:]]
    moved = rows.set_column(place, rows.schema.field(place), pa.array(scores, pa.float64()))
    pq.write_table(moved, shard(run, 0), compression="zstd", write_page_checksum=True)


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a missing shard": (lambda run: shard(run, 1).unlink(), "scores/shard-00001.parquet is missing"),
    "a missing table": (lambda run: shutil.rmtree(run / "variants"), "variants/shard-00000.parquet is missing"),
    "two shards swapped": (swap, "scores/shard-00000.parquet is another file than"),
    "a shard twice": (
        lambda run: shutil.copy(shard(run, 0), shard(run, 3)),
        "scores/shard-00003.parquet is none of its files; move it out",
    ),
    "a shard over another": (
        lambda run: shutil.copy(shard(run, 0), shard(run, 2)),
        "scores/shard-00002.parquet is another file than",
    ),
    "a shard of another run": (
        lambda run: shutil.copy(shard(run.with_name("two"), 0), shard(run, 0)),
        "scores/shard-00000.parquet holds rows of another run than one",
    ),
    "a flipped bit": (lambda run: flip(shard(run, 2)), "scores/shard-00002.parquet "),
    "a flipped bit among the facts": (lambda run: flip(shard(run, 0, "variants")), "variants/shard-00000.parquet is"),
    "another score": (a_score_moves, "scores/shard-00000.parquet is another file than"),
    "an edited manifest": (
        lambda run: (run / "manifest.json").write_text(
            (run / "manifest.json").read_text(encoding="utf-8").replace('"seed": 2025', '"seed": 2026'),
            encoding="utf-8",
        ),
        "manifest.json was changed since its run was closed",
    ),
}


@pytest.mark.parametrize("copied", [False, True], ids=["files", "copies"])
@pytest.mark.parametrize("how", DAMAGES)
def test_a_run_that_is_not_whole_is_refused_as_a_whole_and_names_the_file(
    one: Path, tmp_path: Path, how: str, copied: bool
) -> None:
    damage, words = DAMAGES[how]
    copies = tmp_path / "copies" if copied else None
    with Store.open(one.parent, copies=copies) as store:
        assert store.problems == ()
        before = store.query("select count(*) n from scores where run = 'two'")["n"][0]
    damage(one)
    with Store.open(one.parent, copies=copies) as store:
        (problem,) = store.problems
        assert words in problem
        assert "\n" not in problem
        assert [run.id for run in store.runs()] == ["two"]
        assert store.query("select count(*) n from scores")["n"][0] == before
    (verdict,) = verify(one)
    assert verdict.state == DAMAGED
    assert any(words in each for each in verdict.problems)


@pytest.mark.parametrize("how", ["a missing shard", "a shard twice", "a shard over another"])
def test_an_old_run_is_held_to_the_counts_of_its_manifest(one: Path, how: str) -> None:
    edit_manifest(one)  # no seal
    if how == "a shard over another":  # as many items in each, one of them without a score: other rows
        rows = pq.read_table(shard(one, 0))
        pq.write_table(rows.slice(1), shard(one, 2))
    else:
        DAMAGES[how][0](one)
    with Store.open(one) as store:
        (problem,) = store.problems
        assert "scores holds" in problem
        assert store.runs() == ()


def test_every_file_of_an_audit_is_sealed_and_the_manifest_too(one: Path) -> None:
    told = json.loads((one / "manifest.json").read_text(encoding="utf-8"))
    seal = told["seal"]
    assert set(seal["files"]) == {path.relative_to(one).as_posix() for path in one.rglob("*.parquet")}
    assert seal["manifest"] == manifest_digest(told)
    assert (seal["by"], seal_told(read_run(one))) == ("audit", "at its close")
    assert [verdict.state for verdict in verify(one.parent)] == [WHOLE, WHOLE]


@pytest.mark.parametrize("how", ["a missing shard", "two shards swapped", "a shard over another", "another score"])
def test_starting_a_damaged_run_again_makes_it_whole(built: Path, one: Path, how: str) -> None:
    DAMAGES[how][0](one)
    run_audit(plan_of(built), one.parent, run_id="one", pool=Pool(100, "cpu"))
    assert verify(one)[0].state == WHOLE
    for path in one.rglob("*.parquet"):
        assert pq.read_table(path).equals(pq.read_table(built / "runs" / "one" / path.relative_to(one)))


def test_a_shard_doubled_while_a_run_is_unfinished_is_made_anew(built: Path, one: Path) -> None:
    edit_manifest(one, status="interrupted")
    shutil.copy(shard(one, 0), shard(one, 2))
    for table in ("items", "rejections", "variants"):
        shutil.copy(shard(one, 0, table), shard(one, 2, table))
    assert verify(one)[0].state == UNFINISHED
    run_audit(plan_of(built), one.parent, run_id="one", pool=Pool(100, "cpu"))
    with Store.open(one) as store:
        assert store.query("select count(distinct item) n from scores")["n"][0] == 6


def test_a_file_that_is_no_shard_stops_the_audit_before_it_is_sealed_in(built: Path, one: Path) -> None:
    edit_manifest(one, status="interrupted")
    shutil.copy(shard(one, 0), shard(one, 7))
    with pytest.raises(StoreError, match=r"shard-00007\.parquet is no shard of run one; move it out"):
        run_audit(plan_of(built), one.parent, run_id="one", pool=Pool(100, "cpu"))
    assert shard(one, 7).exists()


def test_joined_shards_are_one_file_a_table_of_the_same_rows_and_the_same_bytes_again(one: Path) -> None:
    (one / "calibrations").mkdir()
    (one / "calibrations" / "mine.json").write_text("{}")
    tables, sealed = ("scores", "items", "rejections", "variants"), read_run(one).seal
    shards = {path.relative_to(one): path.read_bytes() for path in one.rglob("*.parquet")}
    with Store.open(one) as store:
        before = {table: store.query(f"select * from {table}") for table in tables}
    run = join(one)
    assert [path.name for table in tables for path in (one / table).iterdir()] == ["joined-00000.parquet"] * 4
    assert (one / "calibrations" / "mine.json").is_file()
    assert sealed is not None
    assert run.seal is not None
    assert (run.seal.by, run.seal.sealed) == (sealed.by, sealed.sealed)
    assert verify(one)[0].state == WHOLE
    with Store.open(one) as store:
        assert store.problems == ()
        for table in tables:
            pd.testing.assert_frame_equal(store.query(f"select * from {table}"), before[table])
    assert join(one).manifest == run.manifest
    assert take_apart(run).status == "interrupted"
    assert {path.relative_to(one): path.read_bytes() for path in one.rglob("*.parquet")} == shards


@pytest.mark.parametrize("damaged", [False, True])
def test_a_joined_run_that_is_started_again_is_whole_and_joined_after_it(built: Path, one: Path, damaged: bool) -> None:
    before = join(one).manifest
    if damaged:
        flip(one / "items" / "joined-00000.parquet")
        assert verify(one)[0].state == DAMAGED
    rows = pq.read_table(one / "scores" / "joined-00000.parquet")
    scored: list[str] = []
    run = run_audit(
        plan_of(built), one.parent, run_id="one", pool=Pool(100, "cpu"), progress=lambda at: scored.append(at.phase)
    )
    assert ("scoring" in scored[:-1] and scored.count("scoring") > 1) == damaged
    assert run.manifest["counts"] == before["counts"]
    assert verify(one)[0].state == WHOLE
    assert pq.read_table(one / "scores" / "joined-00000.parquet").equals(rows)
    assert len([*one.rglob("*.parquet")]) == 4


def test_a_joined_file_of_a_stranger_names_no_file_elsewhere_and_what_is_not_whole_is_not_joined(one: Path) -> None:
    file = one / "items" / "joined-00000.parquet"
    join(one)
    edit_manifest(one)  # no seal
    rows = pq.read_table(file)
    for told in ({b"invariscope-shards": json.dumps([["../../away", len(rows), {}]])}, None):
        pq.write_table(rows.replace_schema_metadata(told), file)
        with pytest.raises(StoreError, match="put it back from a copy"):
            take_apart(read_run(one))
        assert not list(one.parents[1].rglob("away*"))
    two = one.with_name("two")
    edit_manifest(two, status="running")
    with pytest.raises(InvalidInput, match="run two is unfinished; only a run that is complete"):
        join(two)
    shard(two, 1).unlink()
    edit_manifest(two, status="complete")
    with pytest.raises(StoreError, match="counts"):
        join(two)


PUBLISHED: dict[str, str] = {
    "doubled rows": "insert into scores select * from scores",
    "a row twice": "insert into scores select * from scores limit 1",
    "a lost row": "delete from items where rowid = 0",
    "a lost table": "delete from variants",
}


@pytest.mark.parametrize("copied", [False, True], ids=["file", "copies"])
@pytest.mark.parametrize("how", PUBLISHED)
def test_a_published_file_of_other_rows_is_refused(one: Path, tmp_path: Path, how: str, copied: bool) -> None:
    file = publish([one.parent], tmp_path / "all.duckdb")
    file.chmod(0o644)
    with duckdb.connect(str(file)) as connection:
        connection.execute(PUBLISHED[how])
    with Store.open(file, copies=tmp_path / "copies" if copied else None) as store:
        (problem,) = store.problems
        assert f"{file} is not shown, because it is not whole: its table" in problem
        assert store.runs() == ()
    (verdict,) = verify(file)
    assert verdict.state == DAMAGED


def test_a_published_file_with_another_score_is_found_where_its_content_is_read(one: Path, tmp_path: Path) -> None:
    file = publish([one], tmp_path / "one.duckdb")
    assert [each.state for each in verify(file)] == [WHOLE]
    file.chmod(0o644)
    with duckdb.connect(str(file)) as connection:
        connection.execute("update scores set score = score / 2 where rowid = 3")
    (verdict,) = verify(file)
    assert "its table scores has other rows of run one" in verdict.problems[0]
    with Store.open(file, copies=tmp_path / "copies") as store:
        assert store.runs() == ()


@pytest.mark.parametrize("name", ["first", "second"])
def test_old_runs_and_files_open_and_are_unverified(name: str, tmp_path: Path, versions: Path) -> None:
    for path in (versions / name, versions / f"{name}-published.duckdb"):
        (verdict,) = verify(path)
        assert (verdict.state, verdict.problems) == (UNVERIFIED, ())
        with Store.open(path) as store:
            assert [seal_told(run) for run in store.runs()] == ["unverified"]
    file = Path(shutil.copy(versions / f"{name}-published.duckdb", tmp_path / "old.duckdb"))
    file.chmod(0o644)
    with duckdb.connect(str(file)) as connection:
        connection.execute("insert into scores select * from scores")
    with Store.open(file) as store:
        assert "and its manifest counts" in store.problems[0]
        assert store.runs() == ()


def test_a_seal_of_later_says_when_and_seals_nothing_that_is_not_whole(
    one: Path, tmp_path: Path, versions: Path
) -> None:
    old = Path(shutil.copytree(versions / "second", tmp_path / "second"))
    run = seal_later(old)
    assert run.seal is not None
    assert seal_told(run) == f"later, {run.seal.sealed}"
    assert verify(old)[0].state == WHOLE
    with Store.open(old) as store:
        assert store.problems == ()
    flip(old / "items" / "shard-00000.parquet")
    assert verify(old)[0].state == DAMAGED
    with pytest.raises(InvalidInput, match="was sealed on"):
        seal_later(one)
    edit_manifest(one)
    shard(one, 0).unlink()
    with pytest.raises(StoreError, match="counts"):
        seal_later(one)
    edit_manifest(one.with_name("two"), status="running")
    with pytest.raises(InvalidInput, match="is not complete"):
        seal_later(one.with_name("two"))


def rot(path: Path) -> None:
    """Change every block behind the header in place, size and time as they were."""
    times = path.stat()
    data = bytearray(path.read_bytes())
    for at in range(13_000, len(data), 97):
        data[at] ^= 0xFF
    mode = path.stat().st_mode
    path.chmod(0o644)
    with path.open("r+b") as file:
        file.write(data)
    path.chmod(mode)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


SUM = "select max(score) s, count(distinct caption) c, max(hash(item)) h from scores"


def test_a_copy_that_rots_while_it_is_open_is_made_anew_and_the_question_answered(one: Path, tmp_path: Path) -> None:
    with Store.open(one) as plain, Store.open(one, copies=tmp_path / "copies") as store:
        (copy,) = (tmp_path / "copies").glob("*.duckdb")
        rot(copy)
        assert store.query(SUM).to_numpy().tolist() == plain.query(SUM).to_numpy().tolist()
        assert store.problems == ()
        assert list((tmp_path / "copies").glob("*.duckdb")) == [copy]
    with Store.open(one, copies=tmp_path / "copies") as store:
        assert len(store.query("select * from scores")) > 0


def test_a_copy_whose_run_is_damaged_too_names_the_run_s_file(one: Path, tmp_path: Path) -> None:
    with Store.open(one, copies=tmp_path / "copies") as store:
        (copy,) = (tmp_path / "copies").glob("*.duckdb")
        rot(copy)
        shard(one, 1).unlink()
        with pytest.raises(StoreError, match=r"shard-00001\.parquet is missing"):
            store.query(SUM)
        assert store.runs() == ()
        assert "shard-00001.parquet is missing" in store.problems[0]


def test_a_published_file_that_rots_while_it_is_open_is_named(tmp_path: Path) -> None:
    file = publish([ROOT / "data" / "results" / "demo-captions"], tmp_path / "one.duckdb")
    with Store.open(file) as store:
        rot(file)
        with pytest.raises(StoreError, match=r"one\.duckdb is damaged .*; publish it again"):
            store.query(SUM)


def test_a_content_digest_is_of_the_values_and_their_order_alone() -> None:
    names = ("item", "score", "rank", "control")
    values = (("a", 0.5, 1, True), (None, None, None, None), ("", -0.0, 0, False), ("ü", 2.0, 3, True))
    rows = [dict(zip(names, each, strict=True)) for each in values]
    schema = pa.schema([SCORES.field(name) for name in names])
    table = pa.Table.from_pylist(rows, schema=schema)
    whole = content_digest(table.to_batches(), schema)
    assert whole == content_digest(table.to_batches(max_chunksize=1), schema)
    assert whole == content_digest(pa.concat_tables([table.slice(0, 3), table.slice(3)]).to_batches(), schema)
    assert whole[0] == 4
    others = [
        [rows[1], rows[0], *rows[2:]],
        [{**rows[0], "item": None}, *rows[1:]],
        [rows[0], {**rows[1], "score": 0.0}, *rows[2:]],
        [{**rows[0], "item": "aü"}, rows[1], rows[2], {**rows[3], "item": ""}],
        [*rows[:3], {**rows[3], "control": False}],
    ]
    digests = {content_digest(pa.Table.from_pylist(each, schema=schema).to_batches(), schema)[1] for each in others}
    assert len(digests | {whole[1]}) == len(others) + 1


@pytest.mark.parametrize(
    "name",
    [
        "demo",
        "demo-captions",
        "demo-prototypes",
        "demo-scenes",
        "demo-scenes-one",
        "demo-sweeps",
        "demo-lexical-sweeps",
    ],
)
def test_the_shipped_runs_are_whole(name: str) -> None:
    (verdict,) = verify(ROOT / "data" / "results" / name)
    assert (verdict.state, verdict.problems) == (WHOLE, ())


def test_a_seal_that_is_not_known_asks_for_an_update(one: Path) -> None:
    told = json.loads((one / "manifest.json").read_text(encoding="utf-8"))
    (one / "manifest.json").write_text(json.dumps(told | {"seal": {"algorithm": "sha512"}}), encoding="utf-8")
    with pytest.raises(StoreError, match="has a seal that this Invariscope does not know"):
        read_run(one)
    assert Run(one, told).verified


def test_a_file_with_a_damaged_page_is_not_sealed(one: Path) -> None:
    flip(shard(one, 0))
    with pytest.raises(StoreError, match=r"shard-00000\.parquet cannot be read"):
        sealed_files(one, SCHEMA_VERSION)


def test_rows_of_another_run_are_refused_under_a_seal_of_their_own(one: Path) -> None:
    shutil.copy(shard(one.with_name("two"), 0), shard(one, 0))
    manifest = read_run(one).manifest
    write_json(one / "manifest.json", with_seal(manifest, by=AUDIT, files=sealed_files(one, SCHEMA_VERSION)))
    with Store.open([one]) as store:
        assert not store.runs()
        assert "holds rows of another run than one" in store.left_out[0]
