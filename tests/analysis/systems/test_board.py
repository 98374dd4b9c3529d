"""Tables of a leaderboard against pandas by hand, and the file that keeps it."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from core.errors import InvalidInput, StoreError
from core.features.systems.board_references import score_references
from core.features.systems.board_scores import COLUMNS
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
from core.features.systems.system_file import (
    Leaderboard,
    free_name,
    list_leaderboards,
    path_of,
    read_leaderboard,
    with_references,
    write_leaderboard,
)
from core.features.systems.system_tables import tables
from core.scoring.meteor import lacking


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
