"""From stored rows to the table: every score stands in its place, in whatever order the rows lie."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from core.analysis.effects import effects, family_groups
from core.analysis.facts import keyed, looked_up
from core.analysis.ranking import facets
from core.analysis.reading import DIAGNOSTICS, read_table
from core.analysis.scope import Scope, narrow
from core.analysis.slices import Slice
from core.analysis.table import ScoreTable
from core.errors import InvalidInput
from core.store.schema import VERDICTS
from core.store.store import Store
from tests.analysis.made_runs import SHIPPED, raw, score, scores_of, shuffled, write_run


@pytest.fixture(scope="module")
def table(store: Store) -> ScoreTable:
    return read_table(store)


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    return raw()


def pivot(rows: pd.DataFrame, table: ScoreTable, column: str) -> np.ndarray:
    """A column of the raw rows as [E, P, N], in the order of the table, by pandas."""
    assert not rows.duplicated(["corpus", "item", "evaluator", "probe"]).any()
    wide = rows.pivot_table(index=["corpus", "item"], columns=["evaluator", "probe"], values=column, aggfunc="first")
    keys = pd.MultiIndex.from_product([table.evaluators, table.probes.index])
    wide = wide.reindex(index=pd.MultiIndex.from_frame(table.items[["corpus", "item"]]), columns=keys)
    return wide.to_numpy().T.reshape(table.scores.shape)


def dense(table: ScoreTable, name: str) -> np.ndarray:
    """A diagnostic as [P, N]."""
    return table.diagnostics[name].of(np.arange(len(table.probes)))


def assert_equal_tables(one: ScoreTable, other: ScoreTable) -> None:
    assert (one.scope, one.evaluators) == (other.scope, other.evaluators)
    pd.testing.assert_frame_equal(one.probes, other.probes)
    pd.testing.assert_frame_equal(one.items, other.items)
    for name in ("scores", "baselines", "stored", "inside", "accepted"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for name in DIAGNOSTICS:
        np.testing.assert_array_equal(dense(one, name), dense(other, name), err_msg=name)
    assert one.digest() == other.digest()


def test_the_sides_of_the_table_are_those_of_the_raw_rows_in_order(table: ScoreTable, rows: pd.DataFrame) -> None:
    assert list(table.evaluators) == sorted(rows["evaluator"].unique())
    assert list(table.probes.index) == sorted(rows["probe"].unique())
    assert list(table.items["item"]) == sorted(rows["item"].unique())
    assert table.scores.shape == (len(table.evaluators), len(table.probes), len(table.items))


def test_every_score_lies_where_a_pivot_of_the_raw_parquet_puts_it(table: ScoreTable, rows: pd.DataFrame) -> None:
    np.testing.assert_array_equal(table.scores, pivot(rows, table, "score"))
    np.testing.assert_array_equal(table.stored, pivot(rows.assign(there=1.0), table, "there") == 1)
    np.testing.assert_array_equal(table.inside, pivot(rows, table, "object_inside").astype(np.float32))
    expected = pivot(rows, table, "baseline")
    names = np.array([*table.probes.index, None], dtype=object)
    np.testing.assert_array_equal(names[table.baselines], np.where(pd.isna(expected), None, expected))


def test_scores_and_baselines_give_the_shifts_of_the_store(store: Store, table: ScoreTable) -> None:
    expected = pivot(store.query("select * from shifts"), table, "delta")
    found = np.stack(
        [table.after(name, table.probes.index) - table.before(name, table.probes.index) for name in table.evaluators]
    )
    np.testing.assert_array_equal(found, expected.astype(float))


def test_what_is_known_of_probes_and_items_is_what_the_rows_say(table: ScoreTable, rows: pd.DataFrame) -> None:
    about = rows.drop_duplicates("probe").set_index("probe").sort_index()
    for column in ("axis", "family", "modifier", "control", "expectation"):
        found, expected = table.probes[column].astype(object), about[column].astype(object)
        assert found.where(found.notna(), None).tolist() == expected.where(expected.notna(), None).tolist(), column
    items = raw(table="items").set_index("item").loc[table.items["item"]]
    for column, stored in (("category",) * 2, ("coverage_bin",) * 2, ("label",) * 2, ("pixels", "pixels_sha256")):
        assert table.items[column].tolist() == items[stored].tolist(), column
    np.testing.assert_allclose(table.items["coverage"], items["coverage"])


def test_diagnostics_land_in_their_cells_and_nowhere_else(table: ScoreTable, rows: pd.DataFrame) -> None:
    for name in DIAGNOSTICS:
        expected = rows.dropna(subset=name).drop_duplicates(["item", "probe"])
        wide = expected.pivot_table(index="item", columns="probe", values=name, aggfunc="first")
        wide = wide.reindex(index=table.items["item"], columns=table.probes.index)
        np.testing.assert_array_equal(dense(table, name), wide.to_numpy(dtype=float).T, err_msg=name)
    assert np.isfinite(dense(table, "seam_ratio")).any()


def test_of_diagnostics_only_the_rows_of_probes_that_have_one_are_held(table: ScoreTable, rows: pd.DataFrame) -> None:
    for name in DIAGNOSTICS:
        measured = rows.loc[rows[name].notna(), "probe"].nunique()
        assert table.diagnostics[name].values.shape == (measured + 1, len(table.items)), name
        some = np.array([2, 0])
        assert table.diagnostics[name].of(some, some).shape == (2, 2)
        np.testing.assert_array_equal(table.diagnostics[name].of(some, some), dense(table, name)[np.ix_(some, some)])


def test_where_evaluators_tell_other_diagnostics_of_one_variant_the_first_row_counts(tmp_path: Path) -> None:
    rows = [
        score(item, "vflip", 0.5, evaluator=name, object_kept=kept)
        for item, told in (("a", (0.25, 0.5)), ("b", (None, 0.75)), ("c", (None, None)))
        for name, kept in zip("ef", told, strict=True)
    ]
    with Store.open(write_run(tmp_path / "r", rows)) as store:
        table = read_table(store)
    np.testing.assert_array_equal(dense(table, "object_kept")[table.places(("vflip",))], [[0.25, 0.75, math.nan]])


@pytest.mark.parametrize("seed", [1, 2])
def test_a_permutation_of_the_stored_rows_changes_nothing(table: ScoreTable, tmp_path: Path, seed: int) -> None:
    with Store.open(shuffled(SHIPPED, tmp_path / "demo", seed=seed)) as store:
        assert store.problems == ()
        other = read_table(store)
    assert_equal_tables(table, other)
    chosen = Slice(categories=("animal",), sign="down")
    assert facets(table, chosen) == facets(other, chosen)
    some = [view.view(Slice(axes=("spatial",))) for view in (table, other)]
    one, same = (effects(view, family_groups(view), level="category") for view in some)
    pd.testing.assert_frame_equal(one, same, check_exact=True)


def test_rows_that_are_read_a_few_at_a_time_give_the_same_table(
    table: ScoreTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.store.store.BATCH_ROWS", 2048)
    monkeypatch.setattr("core.analysis.reading._ROWS_AT_ONCE", 3000)
    monkeypatch.setattr(Store, "table", _no_scores(Store.table))
    with Store.open(SHIPPED) as store:
        assert_equal_tables(table, read_table(store))


def _no_scores(asked: Callable[..., pa.Table]) -> Callable[..., pa.Table]:
    """A store's answer, once it is known to hold no score of every row at once."""

    def watched(store: Store, sql: str, params: object = None) -> pa.Table:
        found = asked(store, sql, params)
        assert "score" not in found.column_names
        return found

    return watched


def test_a_score_that_changes_changes_the_digest(table: ScoreTable, tmp_path: Path) -> None:
    rows = scores_of(["identity", "vflip"], 3, lambda probe, place: place / 4)
    digests = set()
    for run, value in (("a", 0.5), ("b", 0.25)):
        changed = [*rows[:-1], rows[-1] | {"score": value}]
        with Store.open(write_run(tmp_path / run, changed)) as store:
            digests.add(read_table(store).digest())
    assert len(digests | {table.digest()}) == 3
    assert all(len(each) == 16 and int(each, 16) >= 0 for each in digests)


def test_a_zero_and_its_negative_are_one_score_to_the_digest(tmp_path: Path) -> None:
    rows = scores_of(["identity", "vflip"], 2, lambda probe, place: 0.0)
    found = []
    for run, sign in (("a", 1.0), ("b", -1.0)):
        signed = [row | {"score": row["score"] * sign} for row in rows]
        with Store.open(write_run(tmp_path / run, signed)) as store:
            found.append(read_table(store).digest())
    assert found[0] == found[1]


def test_runs_of_both_versions_give_equal_tables(tmp_path: Path) -> None:
    rows = scores_of(["identity", "vflip", "gender:boy"], 4, lambda probe, place: len(probe) + place / 8)
    tables = []
    for version in (1, 2):
        told = [
            {name: value for name, value in row.items() if version > 1 or name not in ("language", "rank")}
            for row in rows
        ]
        with Store.open(write_run(tmp_path / str(version) / "r", told, version=version)) as store:
            assert store.problems == ()
            tables.append(read_table(store))
    assert_equal_tables(*tables)


def test_what_both_versions_scored_of_the_template_stands_in_equal_cells(versions: Path) -> None:
    with Store.open(versions) as store:
        first, second = (read_table(store, Scope(runs=(run,), subject="template")) for run in ("first", "second"))
    shared = [name for name in first.probes.index if name in second.probes.index]
    assert len(shared) > 5
    assert first.items["item"].tolist() == second.items["item"].tolist()
    for name in first.evaluators:
        np.testing.assert_allclose(first.after(name, shared), second.after(name, shared), rtol=1e-6)


@pytest.mark.parametrize("value", [0.5, 0.25])
@pytest.mark.parametrize("at_once", [1, 2**20])
def test_a_pair_that_was_scored_twice_is_refused_and_named(
    tmp_path: Path, value: float, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.store.store.BATCH_ROWS", at_once)
    monkeypatch.setattr("core.analysis.reading._ROWS_AT_ONCE", at_once)
    rows = scores_of(["identity", "vflip"], 3, lambda probe, place: 0.5)
    twice = [*rows, {**rows[-1], "score": value}]
    said = pytest.raises(InvalidInput, match="item i002 of corpus c was scored twice by one evaluator")
    with Store.open(write_run(tmp_path / "r", twice, shards=2)) as store, said as told:
        read_table(store)
    assert "audit it again under another run id" in str(told.value)


def test_a_probe_of_two_families_is_refused_and_named(tmp_path: Path) -> None:
    rows = [score("a", "vflip", 0.5), score("b", "vflip", 0.5, family="rotation")]
    with Store.open(write_run(tmp_path / "r", rows)) as store, pytest.raises(InvalidInput, match="'vflip' is of two"):
        read_table(store)


def test_another_subject_language_or_caption_is_not_in_the_table(tmp_path: Path) -> None:
    rows = scores_of(["identity", "vflip"], 2, lambda probe, place: 0.5)
    strange = [score("i000", "vflip", 9.0, **told) for told in ({"subject": "human"}, {"language": "de"}, {"rank": 1})]
    with Store.open(write_run(tmp_path / "r", [*rows, *strange])) as store:
        table = read_table(store)
        human = read_table(store, Scope(subject="human"))
    assert np.nanmax(table.scores) == 0.5
    assert human.scores[~np.isnan(human.scores)].tolist() == [9.0]


def test_two_corpora_stand_side_by_side_each_with_its_own_items(tmp_path: Path) -> None:
    for run, corpus, n in (("one", "c", 3), ("two", "d", 2)):
        rows = scores_of(["identity", "vflip"], n, lambda probe, place: 0.5, corpus=corpus)
        write_run(tmp_path / "runs" / run, rows)
    with Store.open(tmp_path / "runs") as store:
        both, one = read_table(store), read_table(store, narrow(store, Scope(corpus="d")).only())
    assert both.items[["corpus", "item"]].to_numpy().tolist() == [
        ["c", "i000"],
        ["c", "i001"],
        ["c", "i002"],
        ["d", "i000"],
        ["d", "i001"],
    ]
    assert (both.corpora, both.reference) == (("c", "d"), "c")
    assert (one.corpora, one.reference, len(one.items)) == (("d",), "d", 2)


@pytest.fixture
def judged(tmp_path: Path) -> Iterator[Store]:
    rows = scores_of(["identity", "vflip", "hflip"], 3, lambda probe, place: 0.5)
    fixed = {"corpus": "c", "subject": "template", "language": "en", "rank": 0, "votes": 5}
    said = [
        {**fixed, "item": "i001", "probe": "vflip", "accepted": 0.75},
        {**fixed, "item": "i002", "probe": "hflip", "accepted": 0.0},
        {**fixed, "item": "i000", "probe": "vflip", "accepted": 1.0, "subject": "human"},
        {**fixed, "item": "i000", "probe": "vflip", "accepted": 1.0, "corpus": "d"},
        {**fixed, "item": "i000", "probe": "vflip", "accepted": 1.0, "language": "de"},
        {**fixed, "item": "i000", "probe": "vflip", "accepted": 1.0, "rank": 1},
        {**fixed, "item": "nobody", "probe": "vflip", "accepted": 1.0},
        {**fixed, "item": "i000", "probe": "nothing", "accepted": 1.0},
    ]
    verdicts = pa.Table.from_pylist(said, schema=VERDICTS)
    with Store.open(write_run(tmp_path / "r", rows), verdicts=verdicts) as store:
        yield store


def test_verdicts_land_in_their_cells_and_those_of_other_pairs_nowhere(judged: Store) -> None:
    table = read_table(judged)
    found = pd.DataFrame(table.accepted, table.probes.index, table.items["item"])
    assert found.loc["vflip", "i001"] == 0.75
    assert found.loc["hflip", "i002"] == 0.0
    assert found.notna().to_numpy().sum() == 2


def test_a_scope_without_a_score_is_refused_with_its_runs(tmp_path: Path) -> None:
    rows = scores_of(["identity"], 1, lambda probe, place: 1.0)
    write_run(tmp_path / "runs" / "one", rows)
    write_run(tmp_path / "runs" / "two", [row | {"corpus": "d", "evaluator": "f"} for row in rows])
    with Store.open(tmp_path / "runs") as store:
        scope = narrow(store, Scope(corpus="c", evaluators=("f",))).only()
        with pytest.raises(InvalidInput, match="the runs one hold no score of this scope; choose other runs"):
            read_table(store, scope)


@pytest.mark.parametrize("name", ["corpus", "item", "probe", "subject", "language", "rank", "evaluator"])
def test_rows_that_do_not_say_what_they_are_of_are_left_out_and_told(tmp_path: Path, name: str) -> None:
    rows = scores_of(["identity", "vflip"], 2, lambda probe, place: 0.5)
    with Store.open(write_run(tmp_path / "r", [*rows, rows[-1] | {name: None}])) as store:
        scope = narrow(store)
        table = read_table(store, scope)
    assert table.stored.sum() == 4
    assert scope.left_out == ("Left out 1 score without the name of an item, probe, evaluator or caption.",)


def test_a_baseline_that_was_never_scored_is_a_missing_score_and_not_no_shift(tmp_path: Path) -> None:
    rows = scores_of(["vflip", "gender:boy"], 3, lambda probe, place: 0.5)
    with Store.open(write_run(tmp_path / "r", rows)) as store:
        table, missing = read_table(store), store.query("select count(*) as n from shifts where delta is null")["n"][0]
    assert missing == 6
    changes = table.changes("e", ("vflip", "gender:boy"))
    assert changes.n_missing.tolist() == [2, 2, 2]
    assert np.isnan(changes.delta).all()
    assert all(math.isnan(value) for value in table.clean("e"))


@pytest.mark.parametrize(
    "speed",
    [
        None,
        [],
        {"e": 3},
        {"e": {"images": 0, "seconds": 1}},
        {"e": {"images": "many", "seconds": 1.0}},
        {"e": {"images": 5}},
        {"other": {"images": 5, "seconds": 1.0}},
    ],
)
def test_a_speed_that_no_audit_told_is_unknown(tmp_path: Path, speed: object) -> None:
    folder = write_run(tmp_path / "r", [score("i", "identity", 0.5, evaluator="e")], speed=speed, machine="here")
    with Store.open(folder) as store:
        told = read_table(store).about["evaluators"].iloc[0]
    assert math.isnan(told["seconds"])
    assert math.isnan(told["images"])
    assert told["machine"] == ""


ROWS = pd.DataFrame({"run": ["a", "b", "a", "c"], "evaluator": ["e", "e", "f", "e"], "n": [1, 2, 3, 4]})
KNOWN = pd.DataFrame({"run": ["b", "a"], "evaluator": ["e", "f"], "sd": [0.5, 2.0], "said": ["x", "y"]})
NAMES = ("run", "evaluator")


def test_rows_are_as_after_a_left_merge() -> None:
    known = zip(keyed(KNOWN, NAMES), keyed(KNOWN, ("sd", "said")), strict=True)
    found = looked_up(ROWS, keyed(ROWS, NAMES), known, {"sd": math.nan, "said": ""})
    merged = ROWS.merge(KNOWN, on=list(NAMES), how="left").fillna({"said": ""})
    pd.testing.assert_frame_equal(found, merged, check_dtype=False)  # pages keep texts another way


def test_no_rows_have_the_columns() -> None:
    found = looked_up(ROWS.head(0), [], [], {"sd": math.nan})
    assert (len(found), list(found)) == (0, ["run", "evaluator", "n", "sd"])


def test_a_key_that_is_known_twice_is_refused() -> None:
    twice = [(("a", "e"), (1.0,)), (("a", "e"), (2.0,))]
    with pytest.raises(InvalidInput, match="of 2 keys that rows are looked up by 1 come again"):
        looked_up(ROWS, keyed(ROWS, NAMES), twice, {"sd": math.nan})
