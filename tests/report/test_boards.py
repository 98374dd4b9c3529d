"""What a report has of kept leaderboards: the page's numbers, recomputed from the file, and what it says of none."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as parquet
import pytest
from scipy import stats

from core.features.feature import parts
from core.features.systems.board_scores import COLUMNS
from core.features.systems.system_file import (
    Leaderboard,
    kept,
    list_leaderboards,
    path_of,
    read_leaderboard,
    write_leaderboard,
)
from core.features.systems.system_tables import tables
from core.report.build import build
from core.report.document import Made, Report, cells, fingerprints
from core.report.html import html
from core.report.kept_results import board_tables
from core.report.report_files import latex, markdown
from core.store.store import Store
from tests.analysis.broken_runs import rows_of, write_broken
from tests.analysis.made_runs import audited, write_run

ITEMS, SYSTEMS = 24, {"blip": 0.62, "<b>vit|gpt</b>": 0.55, "human": 0.58}


def rows(evaluators: tuple[str, ...] = ("e", "another"), *, top: float = 1.0) -> pd.DataFrame:
    """Scores of three systems by some evaluators; the last system lacks the first picture."""
    rng = np.random.default_rng(7)
    records = []
    for evaluator in evaluators:
        for item in range(ITEMS):
            for place, (system, mean) in enumerate(SYSTEMS.items()):
                caption = f"a dog {'dog ' * (item % 3)}{'on a' if place == 1 and item % 4 == 0 else 'barks'}"
                records.append(
                    {
                        "item": f"i{item}",
                        "source": f"s{item}",
                        "system": system,
                        "place": 0,
                        "caption": caption,
                        "tokens": np.nan,
                        "cut": item % 5 == 0,
                        "clip_tokens": 80.0 if item == place else 9.0,
                        "named": 2.0,
                        "invented": float(item % 6 == place),
                        "evaluator": evaluator,
                        "family": "",
                        "probe": "",
                        "score": np.nan if system == "human" and item == 0 else top * abs(mean + 0.06 * rng.normal()),
                    }
                )
    return pd.DataFrame(records, columns=list(COLUMNS))


def keep(name: str = "mine", *evaluators: str, top: float = 1.0) -> Leaderboard:
    names = evaluators or ("e", "another")
    made = Leaderboard(name, rows(names, top=top), "demo", dict.fromkeys(names, "abc"))
    write_leaderboard(made)
    return made


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Store]]:
    stores: list[Store] = []

    def make(evaluator: str = "e") -> Store:
        if (tmp_path / f"runs-{evaluator}").exists():
            return stores[-1]
        lines = [{**row, "evaluator": evaluator} for row in audited("vflip")]
        write_run(tmp_path / f"runs-{evaluator}" / "r", lines, corpus={"name": lines[0]["corpus"]})
        stores.append(Store.open(tmp_path / f"runs-{evaluator}"))
        return stores[-1]

    yield make
    for store in stores:
        store.close()


def frame(report: Report, id_: str) -> pd.DataFrame:
    return next(each for each in (*report.tables, *report.details) if each.id == id_).frame


def reasons(report: Report) -> dict[str, str]:
    return {each.id: each.reason for each in report.missing}


def test_what_the_page_says_of_a_leaderboard_stands_in_the_note(opened: Callable[..., Store]) -> None:
    made = keep("one", "e")
    write_leaderboard(replace(made, remarks=("ranks are by the first source alone",)), overwrite=True)
    assert "Ranks are by the first source alone." in next(
        each.note for each in build(opened(), boards=kept()).tables if each.id == "C13"
    )


def test_its_rows_are_those_of_the_page_and_of_the_command(opened: Callable[..., Store]) -> None:
    keep("one", "e", "another")
    keep("two", "e")
    report = build(opened(), boards=kept())
    for name in ("one", "two"):
        page = tables(read_leaderboard(path_of(name)))
        for id_, stem in (("C13", "standings"), ("C13-differences", "differences"), ("C14-all", "health")):
            own = frame(report, id_).query("leaderboard == @name")
            shown = page[stem]
            shown = shown[shown.get("evaluator", "e") == "e"] if "evaluator" in shown else shown
            shown = shown[shown.get("measure", "") != "cut another"] if "measure" in shown else shown
            pd.testing.assert_frame_equal(
                own[list(shown.columns)].reset_index(drop=True), shown.reset_index(drop=True), check_dtype=False
            )
    assert frame(report, "C14").equals(frame(report, "C14-all").dropna(subset=["value"]).reset_index(drop=True))
    assert not {"C13", "C14", "Leaderboards of captioners"} & set(reasons(report))


def test_its_numbers_are_those_of_the_file_by_pandas_alone(opened: Callable[..., Store]) -> None:
    keep()
    report = build(opened(), boards=kept())
    raw = parquet.read_table(path_of("mine")).to_pandas().query("evaluator == 'e'")
    grid = raw.pivot_table(index="item", columns="system", values="score").dropna()
    assert len(grid) == ITEMS - 1
    means = grid.mean().sort_values(ascending=False)
    found = frame(report, "C13").set_index("system")
    assert found.index.tolist() == means.index.tolist()
    np.testing.assert_allclose(found["mean"], means, rtol=1e-12)
    assert set(found["n_items"]) == {ITEMS - 1}
    assert found["own_n"].to_dict() == raw.dropna(subset=["score"])["system"].value_counts().to_dict()
    own = raw.groupby("system")["score"].mean()
    np.testing.assert_allclose(found["own_mean"], own.loc[found.index], rtol=1e-12)
    rng = np.random.default_rng(1)
    drawn = grid.to_numpy()[rng.integers(0, len(grid), (4000, len(grid)))].mean(axis=1)
    ranks = (-drawn).argsort(axis=1).argsort(axis=1) + 1
    for place, system in enumerate(grid.columns):
        low, high = np.percentile(ranks[:, place], (2.5, 97.5))
        assert abs(found.loc[system, "rank_low"] - low) <= 1
        assert abs(found.loc[system, "rank_high"] - high) <= 1
        assert found.loc[system, "first"] == pytest.approx((ranks[:, place] == 1).mean(), abs=0.03)
    for pair in frame(report, "C13-differences").to_dict("records"):
        differences = grid[pair["higher"]] - grid[pair["lower"]]
        assert pair["difference"] == pytest.approx(differences.mean())
        if pair["test"].startswith("paired t"):
            assert pair["p"] == pytest.approx(stats.ttest_1samp(differences, 0).pvalue)
    health = frame(report, "C14").set_index(["system", "measure"])["value"]
    first = raw.drop_duplicates(["system", "item"])
    for system, part in first.groupby("system"):
        words = part["caption"].str.split()
        assert health[system, "words"] == pytest.approx(words.map(len).mean())
        assert health[system, "rep-1"] == pytest.approx(words.map(lambda each: len(each) - len(set(each))).mean())
        assert health[system, "over-77"] == pytest.approx(100 * (part["clip_tokens"] > 77).mean())
        assert health[system, "chair-i"] == pytest.approx(100 * part["invented"].sum() / part["named"].sum())
        assert health[system, "wrong-ending"] == pytest.approx(100 * part["caption"].str.endswith(" a").mean())


def test_every_format_writes_them_and_takes_no_html_from_a_file(opened: Callable[..., Store]) -> None:
    keep()
    report = build(opened(), boards=kept())
    assert all(cells(each) for each in report.tables if each.id in ("C13", "C14"))
    pages = [markdown(report), html(report), latex(report)]
    assert all("the health of their captions" in page for page in pages[:2])
    assert "<b>vit" not in pages[1]
    assert "C13 · Captioners: who stands above whom (paper C, Table 6)" in pages[0]


def test_without_a_leaderboard_a_report_says_so_as_it_always_did(tmp_path: Path, opened: Callable[..., Store]) -> None:
    assert board_tables(kept(), ("e",), {}) == Made()
    assert (
        reasons(build(opened(), boards=kept()))["Leaderboards of captioners"] == parts()["systems", "standings"].reason
    )
    with Store.open(write_broken(tmp_path / "broken", rows_of())) as store:
        told = reasons(build(store, boards=kept()))
    assert told["C13"] == "it compares captioners, and a run has no captions of theirs"
    assert {"C14", "C15"} <= set(told)


def test_a_leaderboard_of_other_evaluators_is_not_of_this_report() -> None:
    keep("mine", "another", "ROUGE-L")
    found = board_tables(kept(), ("e",), {})
    assert not found.tables
    why = "no kept leaderboard has scores by an evaluator of these runs"
    assert {each.id: each.reason for each in found.missing} == dict.fromkeys(("C13", "C14", "C15"), why)
    keep("both", "e", "ROUGE-L")
    held = board_tables(kept(), ("e",), {})
    assert set(held.tables[0].frame["evaluator"]) == {"e", "ROUGE-L"}
    assert set(held.tables[0].frame["leaderboard"]) == {"both"}


def spoil(bad: Leaderboard, damage: str) -> None:
    path = path_of(bad.name)
    whole, spoilt = path.read_bytes(), bad.rows.copy()
    if damage == "bytes":
        path.write_bytes(b"PAR1" + b"\x00" * 400 + b"PAR1")
    elif damage == "cut":
        path.write_bytes(whole[: len(whole) // 2])
    elif damage == "unscored":
        write_leaderboard(replace(bad, rows=spoilt.assign(score=np.nan)), overwrite=True)
    elif damage == "samples alone":
        write_leaderboard(replace(bad, rows=spoilt.assign(place=1)), overwrite=True)
    else:
        write_leaderboard(replace(bad, rows=spoilt.assign(named=np.inf)), overwrite=True)


@pytest.mark.parametrize("damage", ["bytes", "cut", "unscored", "samples alone", "infinite"])
def test_a_damaged_or_hostile_leaderboard_is_named_and_costs_itself_alone(damage: str) -> None:
    keep("good")
    bad = keep("bad")
    spoil(bad, damage)
    assert set(list_leaderboards()) == {"good", "bad"}
    found = board_tables(kept(), ("e",), {})
    assert set(found.tables[0].frame["leaderboard"]) == {"good"}
    assert "Left out: bad: " in found.tables[0].note
    path_of("good").unlink()
    alone = {each.id: each.reason for each in board_tables(kept(), ("e",), {}).missing}
    assert "left out: bad: " in alone["C13"]
    assert str(path_of("bad").parent) not in alone["C13"]


def test_an_evaluator_that_is_named_and_never_scored_is_no_evaluator_of_a_board() -> None:
    bad = keep("bad")
    write_leaderboard(replace(bad, evaluators={**bad.evaluators, "x.py:Evil": "abc"}), overwrite=True)
    found = board_tables(kept(), ("e",), {})
    assert set(found.tables[0].frame["evaluator"]) == {"e"}


def test_a_name_that_no_leaderboard_can_have_is_passed_over() -> None:
    keep()
    path_of("mine").with_name("a..b.parquet").write_bytes(b"nothing")
    path_of("mine").with_name("<b>.parquet").write_bytes(b"nothing")
    assert list_leaderboards() == ("mine",)
    found = kept()
    assert [each.name for each in found.boards] == ["mine"]
    assert not found.unread


def test_scores_of_another_fingerprint_than_the_runs_are_told(opened: Callable[..., Store]) -> None:
    made = keep()
    assert "another fingerprint" not in board_tables(kept(), ("e",), {"e": {"abc"}}).tables[0].note
    told = board_tables(kept(), ("e",), {"e": {"def"}}).tables[0].note
    assert "e scored it with another fingerprint than these runs" in told
    runs = [
        replace(run, manifest={"evaluators": [{"name": "e", "fingerprint": {"key": "k"}}, "no entry"]})
        for run in opened().runs()
    ]
    assert fingerprints(runs) == {"e": {"k"}}
    assert made.created in told


def test_paper_c_s_figure_5_stands_where_the_score_is_a_scaled_cosine(opened: Callable[..., Store]) -> None:
    keep("mine", "pac-s++", "e", top=1.2)
    report = build(opened("pac-s++"), boards=kept())
    figure = next(each for each in report.figures if each.id == "C15")
    assert figure.paper == "C, Figure 5"
    assert set(figure.frame["series"]) == {"w = 1", "w = 2", "w = 2.5", "w = 3"}
    assert set(figure.frame["panel"]) == {"mine, pac-s++"}
    page = tables(read_leaderboard(path_of("mine")))["scales"]
    own = frame(report, "C15-scales")
    pd.testing.assert_frame_equal(own[list(page.columns)], page)
    assert "C15" not in reasons(report)
    (without,) = board_tables(kept(), ("e",), {}).missing
    assert without.id == "C15"
    assert without.reason.startswith("none of these evaluators' scores is w · max(cos, 0)")
