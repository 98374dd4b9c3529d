"""Tables of a leaderboard against pandas by hand, the file that keeps it, and a run as one."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from core.errors import InvalidInput, StoreError
from core.evaluators.base import DualEncoder
from core.evaluators.registry import catalogue, find
from core.evaluators.towers.encoder import scale_of
from core.evaluators.weights.fetched import Published
from core.features.systems.board_scores import COLUMNS, score_references
from core.features.systems.system_board import (
    agreement,
    at_equal_length,
    board,
    by_family,
    edits,
    ordinal,
    places,
    rank_range,
)
from core.features.systems.system_captions import MEASURES, PUBLISHED, WIDTH, best_of, health, scales, wide
from core.features.systems.system_file import (
    KINDS,
    Leaderboard,
    as_bytes,
    board_of_run,
    example_run,
    free_name,
    list_leaderboards,
    path_of,
    read_leaderboard,
    with_references,
    write_leaderboard,
)
from core.features.systems.system_tables import tables
from core.scoring.reference_metrics import lacking
from core.settings import results_dir
from core.store.run_files import list_runs
from core.store.store import Store
from tests.tiny import clip


def scored(
    systems: dict[str, float], *, n: int = 20, probes: dict[str, dict[str, float]] | None = None
) -> pd.DataFrame:
    """Rows of two evaluators; ``probes`` moves the systems' scores by a constant under each edit."""
    rng = np.random.default_rng(3)
    records = []
    for item in range(n):
        for place, (system, mean) in enumerate(systems.items()):
            score = mean + rng.normal() * 0.05
            caption = "word " * (4 + place + (item * (place + 2)) % 5)
            base = {"item": f"i{item}", "source": f"i{item}", "system": system, "place": 0, "caption": caption}
            base |= {"tokens": np.nan, "cut": None, "clip_tokens": 9.0, "named": np.nan, "invented": np.nan}
            for evaluator, sign in (("one", 1), ("other", -1)):
                records.append({**base, "evaluator": evaluator, "family": "", "probe": "", "score": sign * score})
            for probe, moves in (probes or {}).items():
                family = probe.split("-")[0]
                moved = score + moves.get(system, 0.0)
                records.append({**base, "evaluator": "one", "family": family, "probe": probe, "score": moved})
    return pd.DataFrame(records, columns=list(COLUMNS))


def test_the_board_ranks_whole_items_and_tells_a_systems_own_mean() -> None:
    rows = scored({"A": 0.2, "B": 0.6})
    lacking = (rows["item"] == "i0") & (rows["system"] == "B")
    rows.loc[lacking, "score"] = np.nan
    tops, pairs = board(rows, ["one"], ["A", "B"])
    assert tops["system"].tolist() == ["B", "A"]
    assert tops["n_items"].tolist() == [19, 19]
    assert tops.set_index("system")["own_n"].to_dict() == {"A": 20, "B": 19}
    own = rows.query("evaluator == 'one' and system == 'A'")["score"].mean()
    assert tops.set_index("system").loc["A", "own_mean"] == pytest.approx(own)
    (pair,) = pairs.to_dict("records")
    assert (pair["higher"], pair["lower"]) == ("B", "A")
    assert 0 < pair["low"] < pair["difference"] < pair["high"]
    assert pair["sure"]


def test_systems_that_share_no_picture_are_one_sentence_that_says_whom_to_leave_out() -> None:
    rows = scored({"A": 0.2, "B": 0.6, "C": 0.4})
    rows = rows[~((rows["system"] == "C") & (rows["item"] != "i0"))]
    rows = rows[~((rows["system"] != "C") & (rows["item"] == "i0"))]
    with pytest.raises(InvalidInput, match="leave out 'C', without which 19 pictures remain"):
        board(rows, ["one"], ["A", "B", "C"])
    rows.loc[rows["system"] == "B", "score"] = np.nan
    with pytest.raises(InvalidInput, match="no score of system 'B'"):
        board(rows, ["one"], ["A", "B"])


def test_one_system_and_forty_make_a_board() -> None:
    tops, pairs = board(scored({"A": 0.2}), ["one"], ["A"])
    assert (len(tops), len(pairs)) == (1, 0)
    names = {f"s{number}": number / 100 for number in range(40)}
    tops, pairs = board(scored(names, n=12), ["one"], list(names))
    assert (len(tops), len(pairs)) == (40, 780)
    assert ((tops["rank_low"] <= tops["rank"]) & (tops["rank"] <= tops["rank_high"])).all()


def test_an_edit_that_lifts_the_second_swaps_the_neighbours() -> None:
    rows = scored({"A": 0.2, "B": 0.3}, probes={"flip-1": {"A": 0.5}, "flip-2": {}, "blur-1": {}})
    each = edits(rows, ["one"], ["A", "B"])
    assert each.set_index("probe")["swapped"].to_dict() == {"flip-1": True, "flip-2": False, "blur-1": False}
    together = by_family(each).set_index("family")
    assert together.loc["flip", ["edits", "swapped"]].tolist() == [2, 1]
    assert together.loc["flip", "probability"] == pytest.approx(each.set_index("probe")["probability"]["flip-1"] / 2)
    assert together.loc["blur", "probability"] == 0
    where = places(rows, ["one"], ["A", "B"]).set_index(["family", "system"])
    assert where.loc[("flip", "A"), ["rank_low", "rank_high"]].tolist() == [1, 2]
    assert where.loc[("blur", "A"), ["rank_low", "rank_high"]].tolist() == [2, 2]


def test_metrics_that_rank_opposite_ways_have_a_tau_of_minus_one() -> None:
    found = agreement(scored({"A": 0.1, "B": 0.4, "C": 0.8}), ["one", "other"], ["A", "B", "C"]).iloc[0]
    assert (found["tau"], found["low"], found["high"], found["n_systems"]) == (-1, -1, -1, 3)


def test_standings_at_equal_length_tell_the_ranks_as_they_were() -> None:
    found = at_equal_length(scored({"A": 0.1, "B": 0.4}), ["one"], ["A", "B"])
    assert found["system"].tolist() == ["B", "A"]
    assert found["rank_as_is"].tolist() == [1, 2]
    assert found.set_index("system")["words"].to_dict() == {"A": pytest.approx(6.0), "B": pytest.approx(7.0)}


def test_ranks_are_written_as_people_write_them() -> None:
    assert [ordinal(each) for each in (1, 2, 3, 4, 11, 21, 113)] == [
        "1st",
        "2nd",
        "3rd",
        "4th",
        "11th",
        "21st",
        "113th",
    ]
    assert (rank_range(1, 3), rank_range(2, 2), rank_range(np.nan, 2)) == ("1st to 3rd", "2nd", "—")


@pytest.fixture
def kept() -> Leaderboard:
    rows = scored({"A": 0.2, "B": 0.3}, probes={"flip-1": {}})
    return Leaderboard("mine", rows, "demo", {"one": "f1", "other": "f2"}, ("a remark",), ("one lost",), 7)


def test_a_leaderboard_is_read_as_it_was_kept(kept: Leaderboard, tmp_path: Path) -> None:
    path = write_leaderboard(kept, tmp_path)
    found = read_leaderboard(path)
    assert (found.name, found.corpus, dict(found.evaluators)) == ("mine", "demo", {"one": "f1", "other": "f2"})
    assert (found.remarks, found.left_out, found.seed, found.created) == (("a remark",), ("one lost",), 7, kept.created)
    for name, frame in tables(kept).items():
        pd.testing.assert_frame_equal(frame, tables(found)[name])
    assert list_leaderboards(tmp_path) == ("mine",)
    assert free_name("mine", tmp_path) == "mine-2"
    with pytest.raises(InvalidInput, match="there already"):
        write_leaderboard(kept, tmp_path)


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "x" * 90, "a..b"])
def test_a_name_that_leads_elsewhere_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        path_of(name, tmp_path)


def test_what_is_no_leaderboard_is_one_sentence(kept: Leaderboard, tmp_path: Path) -> None:
    path = write_leaderboard(kept, tmp_path)
    table = parquet.read_table(path)
    told = table.schema.metadata
    score = table.schema.get_field_index("score")
    bad = {
        "text.parquet": table.set_column(score, "score", pa.array(["high"] * len(table))),
        "lacking.parquet": table.drop_columns(["caption"]),
        "twice.parquet": pa.concat_tables([table, table]),
        "infinite.parquet": table.set_column(score, "score", pa.array([float("inf")] * len(table))),
        "nothing.parquet": table.slice(0, 0),
        "silent.parquet": table.replace_schema_metadata({}),
        "broken.parquet": table.replace_schema_metadata({b"invariscope.leaderboard": b"{"}),
        "newer.parquet": table.replace_schema_metadata({b"invariscope.leaderboard": b'{"version": 9}'}),
    }
    for name, each in bad.items():
        whole = each if each.schema.metadata is not None else each.replace_schema_metadata(told)
        parquet.write_table(whole, tmp_path / name)
    (tmp_path / "bytes.parquet").write_bytes(b"PAR1 and nothing")
    for name in (*bad, "bytes.parquet", "absent.parquet"):
        with pytest.raises(StoreError) as raised:
            read_leaderboard(tmp_path / name)
        assert name in str(raised.value)
        assert "\n" not in str(raised.value)


def test_what_stands_beside_the_standings_is_kept_and_an_older_file_has_nothing(tmp_path: Path) -> None:
    rows = scored({"A": 0.2, "B": 0.6}).query("evaluator == 'one'")
    found = score_references(rows, {f"i{item}": ["word word word word", "word"] for item in range(20)})
    plain = Leaderboard("plain", rows, "c", {"one": "k"})
    metrics = {"BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "ROUGE-L", "CIDEr-D"} | (set() if lacking() else {"METEOR"})
    assert found.beside.groupby("system")["metric"].agg(set).tolist() == [metrics, metrics]
    assert found.beside.query("metric == 'METEOR'")["low"].notna().all()
    assert found.remark == lacking()
    made = with_references(plain, found)
    kept = read_leaderboard(write_leaderboard(made, tmp_path))
    pd.testing.assert_frame_equal(kept.beside, made.beside)
    assert tuple(kept.evaluators) == ("one", "ROUGE-L", "CIDEr-D")
    assert tables(kept, systems=("B",))["references"]["system"].unique().tolist() == ["B"]
    older = parquet.read_table(write_leaderboard(replace(plain, name="older"), tmp_path))
    told = json.loads(older.schema.metadata[b"invariscope.leaderboard"])
    assert told.pop("beside") == []
    parquet.write_table(
        older.replace_schema_metadata({b"invariscope.leaderboard": json.dumps(told).encode()}), tmp_path / "o.parquet"
    )
    assert read_leaderboard(tmp_path / "o.parquet").beside.empty
    spoilt = replace(made, name="spoilt", beside=made.beside.assign(system=3))
    with pytest.raises(StoreError, match="beside its standings"):
        read_leaderboard(write_leaderboard(spoilt, tmp_path))


def test_weights_of_cider_do_not_depend_on_whose_captions_they_are() -> None:
    rows = scored({"A": 0.2, "B": 0.6}, n=4).query("evaluator == 'one'").reset_index(drop=True)
    rows["caption"] = [f"a dog {item}" if item != "i3" else "a cat" for item in rows["item"]]
    people = {f"i{item}": [f"a dog {item} runs", f"one dog i{item}"] for item in range(4)}
    both = score_references(rows, people).rows.query("evaluator == 'CIDEr-D'")
    fewer = rows[(rows["system"] == "A") | (rows["item"] != "i0")]
    alone = score_references(fewer, people).rows.query("evaluator == 'CIDEr-D' and system == 'B'")
    expected = both.query("system == 'B' and item != 'i0'")
    assert alone["score"].tolist() == pytest.approx(expected["score"].tolist())
    assert expected["score"].gt(0).any()


def test_a_shipped_run_is_a_leaderboard_whose_scores_are_those_that_are_stored(tmp_path: Path) -> None:
    run = example_run(list_runs(results_dir()))
    assert run is not None
    with Store.open(run.path) as store:
        made = board_of_run(store, run)
        stored = store.query("select * from scores where language = 'en' and rank = 0")
    assert set(made.rows["system"]) == set(KINDS)
    unedited = made.rows[made.rows["probe"] == ""]
    for system, (subject, probe) in KINDS.items():
        own = stored[(stored["subject"] == subject) & (stored["probe"] == probe)]
        rows = unedited[unedited["system"] == system].merge(own, on=["item", "evaluator"])
        assert len(rows) == len(own) > 0
        assert (rows["score_x"] == rows["score_y"]).all()
        assert (rows["caption_x"] == rows["caption_y"]).all()
    edited = made.rows[made.rows["probe"] != ""]
    said = unedited.drop_duplicates(["item", "system"]).set_index(["item", "system"])["caption"]
    assert (
        edited.set_index(["item", "system"])["caption"] == said.reindex(edited.set_index(["item", "system"]).index)
    ).all()
    assert {"vflip", "hflip"} <= set(edited["probe"])
    path = tmp_path / "again.parquet"
    path.write_bytes(as_bytes(made))  # what the page hands out is a leaderboard
    assert len(read_leaderboard(path).rows) == len(made.rows)
    health = tables(made, only="health")["health"].set_index("measure")
    assert health.loc["over-77", "value"].isna().all()  # nobody counted tokens: none is not 0 %
    assert health.loc["chair-i", "value"].isna().all()


def test_only_a_complete_shipped_run_with_both_kinds_of_captions_is_the_example(tmp_path: Path) -> None:
    runs = list_runs(results_dir())
    best = example_run(runs)
    assert best is not None
    assert {"human", "template"} <= set(best.manifest["subjects"])
    assert example_run(replace(each, path=tmp_path / each.id) for each in runs) is None
    halves = [replace(each, manifest={**each.manifest, "status": "running"}) for each in runs]
    assert example_run(halves) is None


def row(item: int, system: str, caption: str, **more: object) -> dict[str, object]:
    base = {"item": str(item), "source": str(item), "system": system, "place": 0, "caption": caption}
    base |= {"evaluator": "one", "family": "", "probe": "", "score": 1.0, "tokens": 6.0, "cut": False}
    return base | {"clip_tokens": 7.0, "named": 2.0, "invented": 0.0} | more


def table(records: list[dict[str, object]]) -> pd.DataFrame:
    return pd.DataFrame(records, columns=list(COLUMNS))


def test_a_systems_health_is_that_of_its_captions_on_the_shared_pictures() -> None:
    records = [
        row(n, system, caption, cut=n < 3, clip_tokens=80.0 if n == 0 else 7.0, invented=float(n % 2))
        for n in range(12)
        for system, caption in (("A", "a dog on a"), ("B", "a dog runs"))
        if (system, n) != ("B", 11)
    ]
    found = health(table(records), ["A", "B"])
    a = found[found["system"] == "A"].set_index("measure")
    assert a["n_captions"].unique().tolist() == [11]
    assert a.loc[["rep-1", "rep-2", "words", "wrong-ending"], "value"].tolist() == [1.0, 0.0, 4.0, 100.0]
    assert a.loc["distinct-1", "value"] == pytest.approx(100 * 3 / 44)
    assert a.loc["over-77", "value"] == pytest.approx(100 / 11)
    assert a.loc["cut one", "value"] == pytest.approx(300 / 11)
    assert a.loc["chair-s", "value"] == pytest.approx(500 / 11)
    assert a.loc["chair-i", "value"] == pytest.approx(500 / 22)
    assert 50 < a.loc["wrong-ending", "low"] < 100
    assert wide(found).set_index("system").loc["B", "wrong-ending"] == 0
    assert set(found["measure"]) == {*MEASURES, "cut one"}


def test_a_measure_that_cannot_be_had_says_why() -> None:
    found = health(table([row(1, "A", "a dog", named=np.nan, invented=np.nan, cut=None, tokens=np.nan)]), ["A"])
    chair = found.set_index("measure").loc["chair-s"]
    assert np.isnan(chair["value"])
    assert "nobody counted the objects" in chair["note"]
    assert not [name for name in found["measure"] if name.startswith("cut")]


def test_the_highest_caption_is_picked_and_ties_are_shared() -> None:
    records = []
    for n in range(10):
        records += [row(n, "A", "a dog", score=0.5), row(n, "B", "a dog on a", score=0.9 if n < 4 else 0.5)]
        records.append(row(n, "C", "a dog", score=0.5))
    records.append(row(99, "A", "a cat", score=1.0))
    picks, shares = best_of(table(records), ["one"], ["A", "B", "C"])
    (found,) = picks.to_dict("records")
    assert found["picked_hollow"] == pytest.approx(100 * (4 + 6 / 2) / 10)
    assert found["offered_hollow"] == pytest.approx(50.0)
    assert found["excess"] == pytest.approx(20.0)
    assert (found["n_images"], found["n_captions"], found["tied"]) == (10, 20, 6)
    by = shares.set_index("system")
    assert by.loc["B", "picked"] == pytest.approx(70.0)
    assert by.loc["A", "picked"] == by.loc["C", "picked"] == pytest.approx(15.0)
    assert by["picked"].sum() == pytest.approx(100.0)
    assert by.loc["A", "offered"] == pytest.approx(25.0)


def test_one_caption_an_image_is_no_choice() -> None:
    picks, _ = best_of(table([row(n, "A", "a dog") for n in range(12)]), ["one"], ["A"])
    assert picks.loc[0, "n_images"] == 0
    assert np.isnan(picks.loc[0, "picked_hollow"])


CAPTIONS = ("a cat on a mat", "dog", "two birds over the sea", "a red bus in a street", "nobody")


def board_rows(evaluator: str, scores: np.ndarray) -> pd.DataFrame:
    """Rows of one system, a picture a score."""
    told = pd.DataFrame({"score": scores, "item": [f"i{each}" for each in range(len(scores))]})
    told = told.assign(source=told["item"], system="A", evaluator=evaluator, place=0, probe="", family="", cut=None)
    return told.assign(caption="a", tokens=np.nan, clip_tokens=3.0, named=np.nan, invented=np.nan)[list(COLUMNS)]


def test_they_are_what_the_evaluator_gives_where_its_description_has_that_scale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = find(f"pac-s++@{clip.write_pac(tmp_path / 'pac++.pth', lora=True)}").load()
    assert isinstance(loaded, DualEncoder)
    assert isinstance(loaded, Published)
    rng = np.random.default_rng(3)
    images = [rng.integers(0, 256, (50, 60, 3), dtype=np.uint8) for _ in range(4)]
    pairs = [(image, caption) for image in images for caption in CAPTIONS]

    def scored() -> np.ndarray:
        return np.asarray(loaded.score([image for image, _ in pairs], [caption for _, caption in pairs]))

    found, bins = scales(board_rows("pac-s++", scored()), ["pac-s++"], ["A"])
    assert found["w"].tolist() == sorted(PUBLISHED)
    assert found.loc[found["used"].str.startswith("here"), "w"].tolist() == [2.0]
    assert found["mean"].max() > 0.1
    for row in found.to_dict("records"):
        entry = loaded.entry.model_copy(update={"settings": {**loaded.entry.settings, "scale": row["w"]}})
        monkeypatch.setattr(type(loaded), "entry", entry)
        again = scored()
        assert row["mean"] == pytest.approx(again.mean(), rel=1e-9)
        assert row["low"] < row["mean"] < row["high"]
        assert row["over"] == pytest.approx(100 * (again > 1).mean())
        np.testing.assert_allclose([row["p5"], row["p50"], row["p95"]], np.quantile(again, (0.05, 0.5, 0.95)))
        assert (row["n_captions"], row["n_items"]) == (len(pairs), len(pairs))
        own = bins[bins["w"] == row["w"]]
        assert own["share"].sum() == pytest.approx(100)
        for each in own.to_dict("records"):
            inside = (again >= each["from_"] - 1e-9) & (again < each["to"] - 1e-9)
            assert each["share"] == pytest.approx(100 * inside.mean(), abs=100 / len(pairs))
            assert each["to"] - each["from_"] == pytest.approx(WIDTH)


def test_scores_beyond_the_scale_and_other_formulas_have_no_number() -> None:
    beyond, none = scales(board_rows("clipscore", np.asarray([0.2, 2.6])), ["clipscore"], ["A"])
    assert none.empty
    assert np.isnan(beyond["mean"]).all()
    assert beyond["note"].tolist() == ["scores of 0.2 to 2.6 were not made with w = 2.5"]
    below, _ = scales(board_rows("clipscore", np.asarray([0.2, -0.1])), ["clipscore"], ["A"])
    assert np.isnan(below["mean"]).all()
    for name in ("conse-lite0", "refclipscore", "pickscore", "e"):
        assert all(each.empty for each in scales(board_rows(name, np.asarray([0.2, 0.4])), [name], ["A"]))


def test_a_name_from_a_file_is_looked_up_and_never_opened(tmp_path: Path) -> None:
    evil = tmp_path / "evil.py"
    evil.write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\nclass Evil: pass\n", "utf-8")
    for name in (f"{evil}:Evil", f"clipscore@{evil}", f"clipscore:{evil}", "../..", ""):
        scale_of(name)
    assert not (tmp_path / "ran").exists()


def test_every_scale_that_is_known_is_that_of_the_description() -> None:
    known = {name: scale_of(name) for name, kind in catalogue().entries.items() if issubclass(kind, Published)}
    for name, scale in known.items():
        if scale is not None:
            assert scale == catalogue().get(name).entry.settings["scale"], name  # type: ignore[attr-defined]
    assert {name for name, scale in known.items() if scale is not None} >= {
        "clipscore",
        "pac-s",
        "pac-s++",
        "pac-s++-l14",
        "siglip2",
    }
