"""A file that a stranger hands over is kept if it is what `publish` writes, and refused in one sentence otherwise."""

from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from core.errors import InvalidInput
from core.settings import results_dir
from core.store import publishing as incoming
from core.store.publishing import accept_published, publish
from core.store.store import Store


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return publish([results_dir() / "demo"], tmp_path_factory.mktemp("published") / "demo.duckdb").read_bytes()


def changed(sql: str) -> Callable[[bytes, Path], bytes]:
    """What the file is after somebody ran SQL on it."""

    def change(data: bytes, folder: Path) -> bytes:
        file = folder / "changed.duckdb"
        file.write_bytes(data)
        with duckdb.connect(str(file)) as connection:
            connection.execute(sql)
        return file.read_bytes()

    return change


REFUSED: dict[str, tuple[Callable[[bytes, Path], bytes], str]] = {
    "nothing": (lambda data, folder: b"", "is no DuckDB file"),
    "a text": (lambda data, folder: b"run,score\n" * 9, "is no DuckDB file"),
    "half a file": (lambda data, folder: data[:200_000], "cannot be opened as a published file"),
    "a damaged block": (lambda data, folder: data[:300_000] + b"\xff" * 99 + data[300_099:], "is damaged"),
    "another database": (lambda data, folder: other(folder), "has no table scores"),
    "a view beside the tables": (changed("create view v as select * from read_text('/etc/passwd')"), "'the view v'"),
    "a view for a table": (
        changed("alter table items rename to hidden; create view items as select * from hidden"),
        "has no table items",
    ),
    "a function": (changed("create macro abs(x) as x + 1"), "'the function abs'"),
    "another table": (changed("create table more as select 1 as a"), "'the table main.more'"),
    "another schema": (changed("create schema s; create table s.scores (a int)"), "'the table s.scores'"),
    "a newer version": (changed("update about set schema_version = 99"), "schema 99 and this Invariscope reads up to"),
    "rows of no run": (changed("insert into scores (run) values ('x')"), "rows in scores of run 'x'"),
    "no run": (changed("delete from runs"), "holds no run"),
    "a broken manifest": (changed("update runs set manifest = '{'"), "is no published file of Invariscope"),
    "an empty manifest": (changed("update runs set manifest = '{}'"), "names no schema_version"),
    "a hostile run id": (
        changed('update runs set manifest = replace(manifest, \'"run": "demo"\', \'"run": "../x"\')'),
        "names no valid run",
    ),
    "an infinite score": (changed("update scores set score = 'inf' where item = 'frog-1-10-20'"), "in scores.score"),
    "doubled rows": (changed("insert into scores select * from scores"), "is not whole: its table scores has"),
    "another score": (changed("update scores set score = 0.5 where rowid = 9"), "has other rows of run demo"),
    "an evaluator that is code": (
        changed("update scores set evaluator = '/tmp/x.py:X' where rowid = 9"),
        "'/tmp/x.py:X', which is a path",
    ),
    "an evaluator of a stranger's file": (
        changed("update scores set evaluator = 'clipscore@/tmp/x.pt' where rowid = 9"),
        "which is a path",
    ),
    "a calibrator of a stranger's": (
        changed("update scores set evaluator = '../x.json' where rowid = 9"),
        "which is a path",
    ),
    "a long text": (changed("update items set source = repeat('x', 20000)"), "in items.source"),
}


def other(folder: Path) -> bytes:
    with duckdb.connect(str(folder / "other.duckdb")) as connection:
        connection.execute("create table scores (a int)")
    return (folder / "other.duckdb").read_bytes()


@pytest.mark.parametrize("what", REFUSED)
def test_what_publish_did_not_write_is_refused_in_one_sentence(published: bytes, tmp_path: Path, what: str) -> None:
    spoil, words = REFUSED[what]
    data = spoil(published, tmp_path)
    with pytest.raises(InvalidInput) as refusal:
        accept_published(data, f"{what}.duckdb", folder=tmp_path / "runs")
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert str(tmp_path) not in str(refusal.value)
    assert not (tmp_path / "runs").exists()


def test_a_published_file_is_kept_whole_and_answers(published: bytes, tmp_path: Path) -> None:
    (run,) = accept_published(published, "my demo.duckdb", folder=tmp_path / "runs")
    assert run.id == "demo"
    assert run.path.read_bytes() == published
    assert run.path.stat().st_mode & 0o222 == 0
    with Store.open(tmp_path / "runs") as store, Store.open(results_dir() / "demo") as source:
        assert store.problems == ()
        sql = "select count(*) as n, sum(score) as total from scores"
        assert store.query(sql).round(6).equals(source.query(sql).round(6))


@pytest.mark.parametrize(
    "name", ["../../evil.duckdb", "/etc/passwd", "a\x00b.duckdb", ".hidden", "..", "x" * 500, "‮txt", "C:\\run.duckdb"]
)
def test_the_kept_name_is_our_own(published: bytes, tmp_path: Path, name: str) -> None:
    (run,) = accept_published(published, name, folder=tmp_path / "runs")
    assert run.path.parent == tmp_path / "runs"
    assert [each.name for each in tmp_path.iterdir()] == ["runs"]
    assert run.path.name.isascii()
    assert len(run.path.name) < 90
    assert not run.path.name.startswith((".", "-"))


def test_a_file_from_disk_is_copied_and_nothing_is_replaced(published: bytes, tmp_path: Path) -> None:
    source = tmp_path / "demo.duckdb"
    source.write_bytes(published)
    (first,) = accept_published(source, source.name, folder=tmp_path / "runs")
    before = first.path.stat().st_mtime_ns
    (second,) = accept_published(source, source.name, folder=tmp_path / "runs")
    assert second.path == first.path
    assert first.path.stat().st_mtime_ns == before
    assert source.read_bytes() == published
    assert len(list((tmp_path / "runs").iterdir())) == 1


def test_a_file_of_runs_that_are_here_is_refused(published: bytes, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="here already: run demo"):
        accept_published(published, "demo.duckdb", known=["demo", "more"], folder=tmp_path)


def test_a_file_over_the_limits_is_refused(published: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incoming, "MOST_ROWS", 1000)
    with pytest.raises(InvalidInput, match="rows in scores and at most 1000"):
        accept_published(published, "demo.duckdb", folder=tmp_path)
    monkeypatch.setattr(incoming, "MOST_BYTES", 1000)
    with pytest.raises(InvalidInput, match=r"MiB and at most .* put it into"):
        accept_published(published, "demo.duckdb", folder=tmp_path)
    with pytest.raises(InvalidInput, match="cannot be read"):
        accept_published(tmp_path / "nowhere.duckdb", "nowhere.duckdb", folder=tmp_path)
