"""A run as a leaderboard: which run ships as the example, what its rows are."""

from dataclasses import replace
from pathlib import Path

from core.features.systems.run_board import KINDS, board_of_run, example_run
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
