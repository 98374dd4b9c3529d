"""Runs and published files of every version open together and mean what they meant.

``versions.tar.gz`` holds, of each version, a run folder and a published file of another run: three items of the demo
corpus with both subjects, written by the Invariscope of that version; those since version 2 with German captions too,
under an evaluator that does not say what it reads. ``first-shifts.csv`` is what the view ``shifts`` of version 1 said
of ``first``.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.errors import InvalidInput
from core.store.publishing import accept_published, publish
from core.store.schema import SCHEMAS, SCORES
from core.store.store import Store
from tests.manifests import edit_manifest

OLD, NEW = ("first", "first-published"), ("second", "second-published", "third", "third-published")


@pytest.fixture(scope="module", params=["the files", "their copies"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, versions: Path) -> Iterator[Store]:
    """All of them, read from the files themselves and from their sorted copies."""
    copies = tmp_path_factory.mktemp("copies") if request.param == "their copies" else None
    if copies is not None:  # made now, found below
        Store.open(versions, copies=copies).close()
        assert len(list(copies.glob("*.duckdb"))) == len(OLD + NEW)
    with Store.open(versions, copies=copies) as opened:
        yield opened


def test_runs_and_published_files_of_every_version_open_together(store: Store) -> None:
    assert store.left_out == ()
    assert sorted(run.id for run in store.runs()) == sorted(OLD + NEW)
    versions = dict(store.query("select run, schema_version from runs").itertuples(index=False, name=None))
    assert versions == {
        f"{name}{how}": place
        for place, name in enumerate(("first", "second", "third"), start=1)
        for how in ("", "-published")
    }
    for table, schema in SCHEMAS.items():
        assert store.table(f"select * from {table}").schema.equals(schema), table


def test_rows_of_version_1_are_of_the_first_english_caption_and_tell_no_facts(store: Store) -> None:
    sql = "select distinct language, rank from scores where run in ('first', 'first-published')"
    assert store.query(sql).to_numpy().tolist() == [["en", 0]]
    assert store.query("select * from variants where run in ('first', 'first-published')").empty


@pytest.mark.parametrize("run", NEW)
def test_rows_since_version_2_say_their_language_and_what_was_done(store: Store, run: str) -> None:
    sql = "select distinct evaluator, language from scores where run = ? and subject = 'human' order by all"
    assert store.query(sql, [run]).to_numpy().tolist() == [
        ["conse-lite0", "en"],
        ["grounding-judge", "en"],
        ["histogram", "de"],
        ["histogram", "en"],
    ]
    facts = store.query("select distinct language, key from variants where run = ? order by all", [run])
    keys = {"anchor", "control", "modifier", "noun", "redrawn"}
    if run.startswith("third"):  # what the hole was filled with, where the plate was made otherwise
        assert (set(facts["language"]), set(facts["key"])) == ({"en"}, keys | {"fill"})
    else:
        assert (set(facts["language"]), set(facts["key"])) == ({"de", "en"}, keys)


def test_what_a_version_did_not_measure_is_null(store: Store) -> None:
    sql = """select schema_version, count(fill_ratio) > 0, count(texture_ratio) > 0 from scores join runs using (run)
             where probe like 'reposition-%' group by all order by all"""
    found = store.query(sql).to_numpy().tolist()
    assert found == [[1, False, False], [2, True, False], [3, True, True]]


@pytest.mark.parametrize("run", OLD)
def test_the_shifts_of_version_1_are_what_they_were(store: Store, run: str, versions: Path) -> None:
    expected = pd.read_csv(versions / "first-shifts.csv")
    columns = ", ".join(expected.columns)
    found = store.query(f"select {columns} from shifts where run = ? order by all", [run])
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, rtol=1e-14)


def test_every_baseline_of_every_version_is_found(store: Store) -> None:
    told = store.query("select run, count(*) as n, count(baseline_score) as found from shifts group by run")
    assert set(told["run"]) == set(OLD + NEW)
    assert (told["n"] > 0).all()
    assert (told["n"] == told["found"]).all()


def test_what_every_version_scored_is_equal(store: Store) -> None:
    sql = """select item, probe, subject, evaluator, caption, score from scores where run = ? and language = 'en'
             and rank = 0 and evaluator in ('conse-lite0', 'grounding-judge') order by all"""
    first = store.query(sql, ["first"])
    assert len(first) == 100
    pd.testing.assert_frame_equal(first, store.query(sql, ["second"]), rtol=1e-6)
    key = [name for name in first if name != "score"]
    both = first.merge(store.query(sql, ["third"]), on=key)  # some captions are worded anew since, holes filled anew
    both = both[~both["probe"].str.startswith("reposition-")]
    assert len(both) == 48
    pd.testing.assert_series_equal(both["score_x"], both["score_y"], check_names=False, rtol=1e-5)


def test_all_of_them_publish_into_one_file_of_today(tmp_path: Path, versions: Path) -> None:
    file = publish([versions], tmp_path / "all.duckdb")
    with Store.open(versions) as before, Store.open(file) as after:
        assert after.problems == ()
        for view in (*SCHEMAS, "shifts", "runs"):
            sql = f"select * from {view} order by all"
            pd.testing.assert_frame_equal(before.query(sql), after.query(sql))


@pytest.mark.parametrize("name", ["first-published", "second-published", "third-published"])
def test_a_published_file_of_any_version_can_be_handed_over(name: str, tmp_path: Path, versions: Path) -> None:
    (run,) = accept_published((versions / f"{name}.duckdb").read_bytes(), f"{name}.duckdb", folder=tmp_path)
    assert run.id == name


def test_a_file_that_names_another_version_than_its_columns_have_is_refused(tmp_path: Path, versions: Path) -> None:
    for name, version in (("first-published", 2), ("second-published", 1), ("third-published", 2)):
        file = Path(shutil.copy(versions / f"{name}.duckdb", tmp_path / f"{name}.duckdb"))
        with duckdb.connect(str(file)) as connection:
            connection.execute(f"update about set schema_version = {version}")
        with pytest.raises(InvalidInput, match=f"with the columns of schema {version}"):
            accept_published(file, file.name, folder=tmp_path / "runs")


def test_a_baseline_is_of_the_same_language_and_rank(tmp_path: Path, versions: Path) -> None:
    run = Path(shutil.copytree(versions / "third", tmp_path / "third"))
    shutil.rmtree(run / "scores")
    (run / "scores").mkdir()
    rows = [
        {
            "run": "third",
            "corpus": "c",
            "item": "i",
            "subject": "human",
            "language": language,
            "rank": rank,
            "evaluator": "e",
            "probe": probe,
            "baseline": baseline,
            "score": score,
        }
        for language, rank, base in (("en", 0, 1.0), ("en", 1, 2.0), ("de", 0, 4.0))
        for probe, baseline, score in (("identity", None, base), ("vflip", "identity", base / 2))
    ]
    pq.write_table(pa.Table.from_pylist(rows, schema=SCORES), run / "scores" / "a.parquet")
    edit_manifest(run, counts={})
    with Store.open(run) as store:
        found = store.query("select language, rank, baseline_score, percent from shifts order by all")
    assert found.to_numpy().tolist() == [["de", 0, 4.0, -50.0], ["en", 0, 1.0, -50.0], ["en", 1, 2.0, -50.0]]
