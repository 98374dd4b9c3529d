"""A run as a leaderboard: which run ships as the example, what its rows are, who could swap."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from core.features.systems.could_swap import could_swap
from core.features.systems.run_board import KINDS, board_of_run, example_run
from core.features.systems.system_board import DIFFERENCES, STANDINGS, SWAPS
from core.features.systems.system_file import as_bytes, read_leaderboard
from core.features.systems.system_tables import tables
from core.settings import results_dir
from core.store.run_files import list_runs
from core.store.store import Store


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


def _frame(columns: tuple[str, ...], *rows: dict[str, object]) -> pd.DataFrame:
    return pd.DataFrame([dict.fromkeys(columns) | row for row in rows], columns=list(columns))


@pytest.mark.parametrize(("sure", "swapped", "told"), [(True, 0, ""), (False, 0, "B: other pictures")])
def test_what_is_not_sure_could_swap_by_other_pictures(sure: bool, swapped: int, told: str) -> None:
    standings = _frame(STANDINGS, {"system": "A"}, {"system": "B"})
    differences = _frame(DIFFERENCES, {"higher": "A", "lower": "B", "sure": sure})
    swaps = _frame(SWAPS, {"higher": "A", "lower": "B", "family": "vertical-flip", "swapped": swapped})
    assert could_swap(standings, differences, swaps)[0] == told
    turned = could_swap(standings, differences, swaps.assign(swapped=1))
    why = "Upside down" if sure else "other pictures, Upside down"
    assert turned == [f"B: {why}", f"A: {why}"]


def test_one_system_alone_could_swap_with_nobody() -> None:
    assert could_swap(_frame(STANDINGS, {"system": "A"}), _frame(DIFFERENCES), _frame(SWAPS)) == [""]
