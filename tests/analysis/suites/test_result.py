"""The file of a suite's result, its tables, and files that are none."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from core.corpora.suites.suite_files import read_suite
from core.errors import InvalidInput
from core.features.suites import suite_tables as tables
from core.features.suites.suite_result import added, changed, reached, read_result, result_of, store, stored
from core.scoring.suite_scores import Setting, SuiteScores, settings_of
from tests.analysis.suites.made import calibrated, pascal_file, pascal_result


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))


def test_a_stored_result_is_read_back_and_another_evaluator_joins_it(tmp_path: Path) -> None:
    first, second = pascal_result(tmp_path, "one"), pascal_result(tmp_path, "two", "one")
    path = store(first)
    assert read_result(path) == first
    assert store(second) == path
    held = read_result(path)
    assert [each.evaluator for each in held.reached] == ["two", "one"]
    assert stored() == ((held,), ())
    assert [name for name, *_ in changed()] == [str(path)]
    kept = result_of(read_suite(pascal_file(tmp_path)), [pascal_file(tmp_path)], ["self-references kept"])
    assert store(kept) != path


def test_numbers_that_are_none_survive_strict_json(tmp_path: Path) -> None:
    path = pascal_file(tmp_path)
    suite = read_suite(path)
    nothing = SuiteScores(np.array([]), np.full(48, math.nan), np.full(48, math.nan), ())
    entry = reached(suite, nothing, evaluator="silent", made_with="")
    assert entry.unscored == 96
    held = read_result(store(added(result_of(suite, [path]), entry)))
    assert held.reached[0].table()["value"].isna().all()
    assert tables.reached_table([held])["accuracy"].isna().all()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda held: {**held, "version": 2}, "version"),
        (lambda held: {**held, "more": 1}, "more"),
        (lambda held: {**held, "sources": [{"name": "x", "sha256": "../.."}]}, "sources.0.sha256"),
        (lambda held: [], "the file"),
    ],
)
def test_a_file_that_is_no_result_is_one_sentence_and_costs_itself_alone(tmp_path: Path, change, why: str) -> None:
    path = store(pascal_result(tmp_path, "one"))
    strange = path.with_name("strange.json")
    strange.write_text(json.dumps(change(json.loads(path.read_text()))))
    found, problems = stored()
    assert len(found) == 1
    assert len(problems) == 1
    assert f"strange.json is not a result of a suite: {why}" in problems[0]
    strange.write_bytes(b"\xff" * 9)
    with pytest.raises(InvalidInput, match="is not a result of a suite"):
        read_result(strange)
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_result(path.with_name("none.json"))


def test_a_rater_who_gives_one_value_has_a_sentence_and_no_correlation(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    rows = [
        f"{image}.jpg,c{each},{who},{each if who == 'ada' else 3}"
        for image in "abc"
        for each in (1, 2)
        for who in ("ada", "bo")
    ]
    path.write_text("\n".join(["image,caption,rater,rating_relevance", *rows]))
    suite = read_suite(path)
    entry = reached(suite, SuiteScores(np.arange(12.0), np.array([]), np.array([]), ()), evaluator="e", made_with="f")
    result = added(result_of(suite, [path]), entry)
    table = tables.reached_table([read_result(store(result))]).set_index("group")
    assert table.loc["relevance, by bo", "remark"] == "no correlation: every rating is 3"
    assert math.isnan(table.loc["relevance, by bo", "pearson"])
    assert table.loc["relevance, by ada", "remark"] == ""
    assert table.loc["relevance, by ada", "pearson"] > 0
    assert "remark" in {each.name for each in tables.reached_columns([result])}
    decision = tables.decision_table(result).set_index("decision").loc["raters who give one value"]
    assert (decision["count"], decision["of"]) == (1, "raters")
    assert decision["done"].endswith(": bo (relevance)")


def test_the_tables_say_what_the_rows_say(tmp_path: Path) -> None:
    result = pascal_result(tmp_path, "one")
    result = added(result, calibrated(result.reached[0]))
    rows = result.reached[0].table().set_index(["group", "measure"])["value"]
    table = tables.reached_table([result]).set_index(["evaluator", "group"])
    assert table.loc[("one", "all"), "accuracy"] == rows["", "accuracy"] == pytest.approx(100 * (33 + 1.5) / 48)
    assert table.loc[("one", "mean of groups"), "accuracy_strict"] == pytest.approx(100 * 33 / 48)
    assert table.loc[("one", "all"), "ties"] == 3
    assert {each.name for each in tables.reached_columns([result])} <= {*table.reset_index().columns}
    decisions = tables.decision_table(result)
    ties = decisions[(decisions["decision"] == "ties of scores") & (decisions["evaluator"] == "one")].iloc[0]
    assert (ties["count"], ties["of"]) == (3, "pairs that tie")
    assert ties["value"] - ties["otherwise"] == pytest.approx(100 * 1.5 / 48)
    assert ties["difference"] == pytest.approx(-100 * 1.5 / 48)
    assert set(decisions["decision"]) == {
        "people's ties",
        "a caption among its references",
        "unusable entries",
        "ties of scores",
        "groups",
        "unscored",
    }
    both = tables.before_and_after([result])
    assert both[["evaluator", "n", "change"]].to_numpy().tolist() == [["one", 48, 0.0]]
    assert both["calibrated"].tolist() == ["c.json, orbit, λ = 0.5"]


def test_references_are_set_as_the_field_compares_them(tmp_path: Path) -> None:
    suite = read_suite(pascal_file(tmp_path))
    assert settings_of(suite) == (Setting(5, 5),)
    assert settings_of(suite, [6, 1], 3) == (Setting(6, 1), Setting(1, 3))  # six of six have one draw
    assert Setting(5, 5).told == "5 references, 5 draws"
    drawn = list(Setting(5, 5).suites(suite))
    assert {len(each.compared[0].references) for each in drawn} == {5}
    assert len({each.compared for each in drawn}) > 1
    for counts, draws, why in (([7], None, "at most 6"), ([0], None, "1 or more"), ([], 0, "draws 1 to 100")):
        with pytest.raises(InvalidInput, match=why):
            settings_of(suite, counts, draws)
