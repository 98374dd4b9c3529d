"""The comparison on the shipped run: evaluators, slices, words, runs, and links of any kind."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from core.__main__ import app as root
from core.features.compare.two_sides import ALL, COLUMNS, row_names
from core.report.document import p_value
from tests.manifests import edit_manifest
from tests.pages.opening import COMPARE, Open, click, marks_that_open, said, texts, ways
from tests.pages.test_results import second_corpus


def test_two_evaluators_are_compared_at_once_and_paired(open_page: Open, demo: Path) -> None:
    app = open_page(COMPARE)
    assert not app.exception
    (table,) = (each.value for each in app.dataframe)
    assert set(table["how"]) == {"paired by item"}
    assert {"a_value", "b_value", "difference", "low", "high", "a_n", "b_n", "p_holm", "verdict"} <= set(table)
    assert {"a_size", "b_size", "size_difference", "size_low", "size_high", "size_p_holm", "scatter"} <= set(table)
    assert set(table["scatter"]) <= {
        "size differs",
        "size differs, but within the margin",
        "undecided",
        "size alike within the margin",
    }
    assert len(app.get("plotly_chart")) == 4
    for name in (
        "Both sides: signed change",
        "A − B: signed change",
        "Both sides: size of the change",
        "A − B: size of the change",
    ):
        assert name in said(app)
    scatter, _, drift, _ = (chart.proto.alt for chart in app.get("plotly_chart"))
    row = table.set_index("label").loc["Upside down"]
    assert f"Upside down: A {row['a_value']:+.2f}, " in drift
    assert f"Upside down: A {row['a_size']:+.2f}, B {row['b_size']:+.2f}, " in scatter
    rows = table[table["label"] != "All together"]
    less = ((rows["scatter"] == "size differs") & (rows["size_difference"] < 0)).sum()
    assert "How far conse-lite0 (A) and conse-lite2 (B) move: " in said(app).replace("\\", "")
    assert f" of {len(rows)} family rows" in said(app)
    assert (f"A is more stable in {less}" in said(app)) == bool(less)
    drawn_apart = (rows["scatter"] == "undecided") & ((rows["size_low"] > 0) | (rows["size_high"] < 0))
    tests = rows["size_m_tests"].max()
    assert (
        f"(the interval leaves out 0 in {drawn_apart.sum()} of them; the test, corrected for the {tests} rows that "
        "allow one, does not confirm it)" in said(app)
    )
    assert all(chart.proto.alt for chart in app.get("plotly_chart"))


def test_two_kinds_of_items_are_independent_and_it_is_said(open_page: Open, demo: Path) -> None:
    app = open_page(COMPARE, b_evaluator="conse-lite0", a_categories="animal", b_categories="food")
    assert "Independent: 9 of 9 rows" in texts(app)


def test_two_words_are_compared(open_page: Open, demo: Path) -> None:
    app = open_page(COMPARE, a_modifiers="African", b_modifiers="American", b_evaluator="conse-lite0", by="modifier")
    (table,) = (each.value for each in app.dataframe)
    assert list(table["label"]) == ["All together"]


def test_the_same_on_both_sides_says_so(open_page: Open, demo: Path) -> None:
    app = open_page(COMPARE, b_evaluator="conse-lite0")
    assert "Both sides are the same" in texts(app)
    assert not app.get("plotly_chart")


def test_a_side_without_a_shift_says_so(open_page: Open, demo: Path) -> None:
    assert "One side has no shift" in texts(open_page(COMPARE, a_families="emotion", a_modifiers="African"))


def test_the_sides_can_be_swapped(open_page: Open, demo: Path) -> None:
    app = open_page(COMPARE, a_families="rotation", b_evaluator="grounding-judge")
    app.button("compare.swap").click()
    app.run()
    assert not app.exception
    assert app.session_state["compare.b_families"] == ["rotation"]
    assert app.session_state["compare.a_evaluator"] == "grounding-judge"


def test_two_runs_are_compared_with_what_they_were_made_with(open_page: Open, demo: Path) -> None:
    second_corpus(demo)
    edit_manifest(demo.with_name("other"), seed=7)
    app = open_page(COMPARE, a_run="demo", b_run="other", b_evaluator="conse-lite0")
    assert not app.exception
    table, made = (each.value for each in app.dataframe)
    assert set(table["how"]) == {"independent"}  # another corpus has other items
    assert {"seed", "corpus.name"} <= set(made["what"])


def test_standardised_shifts_have_no_margin(open_page: Open, demo: Path) -> None:
    app = open_page(COMPARE, measure="standardised")
    (table,) = (each.value for each in app.dataframe)
    assert not table["verdict"].str.contains("margin").any()


def test_no_run_says_what_to_do(open_page: Open) -> None:
    told = texts(open_page(COMPARE))
    assert "No runs yet" in told
    assert "python -m core audit" in told


def test_nonsense_in_a_link_is_told_and_the_rest_restored(open_page: Open, demo: Path) -> None:
    app = open_page(COMPARE, a_evaluator="nobody", b_families="rotation,nothing", margin="many", by="mood")
    assert not app.exception
    assert "Part of the link could not be restored" in texts(app)
    assert app.session_state["compare.b_families"] == ["rotation"]


def test_a_mark_of_a_side_opens_its_own_pairs_and_a_difference_none(open_page: Open, demo: Path) -> None:
    app = open_page(COMPARE, b_evaluator="conse-lite2", b_categories="animal")
    for chart in ("results.compare-family.figure", "results.compare-scatter-family.figure"):
        marks = [json.loads(each) for each in marks_that_open(app, chart)]
        assert {
            "evaluators": "conse-lite2",
            "categories": "animal",
            "families": "vertical-flip",
            "run": "demo",
            "corpus": "demo",
            "subject": "template",
            "language": "en",
        } in marks
        whole = [each for each in marks if "families" not in each]
        assert [each["evaluators"] for each in whole] == ["conse-lite0", "conse-lite2"]
    assert not marks_that_open(app, "results.difference-family.figure")
    mark = next(each for each in marks_that_open(app, chart) if json.loads(each).get("families") == "rotation")
    link = ways(click(app, chart, mark))["Open these pairs: conse-lite0 · Turned"]
    assert (link["view"], link["run"], link["families"]) == ("failures", "demo", "rotation")


def asked(*arguments: object) -> dict[str, Any]:
    """What the command says, as JSON."""
    done = CliRunner().invoke(root, ["compare", *map(str, arguments), "--format", "json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize(
    ("link", "sides"),
    [
        ({}, ()),
        ({"by": "probe", "measure": "standardised"}, ("--by", "probe", "--measure", "standardised")),
        (
            {"b_evaluator": "conse-lite0", "a_categories": "animal", "b_categories": "food", "margin": "2"},
            ("--b", "evaluator=conse-lite0", "--a", "categories=animal", "--b", "categories=food", "--margin", "2"),
        ),
        (
            {"b_evaluator": "grounding-judge", "by": "category"},
            ("--b", "evaluator=grounding-judge", "--by", "category"),
        ),
    ],
    ids=["evaluators", "probes", "kinds of items", "categories"],
)
def test_the_command_says_what_the_page_says_in_every_cell(
    open_page: Open, demo: Path, link: dict[str, str], sides: tuple[str, ...]
) -> None:
    (page,) = (each.value for each in open_page(COMPARE, **link).dataframe)
    told = asked("demo", *sides)
    digits = 3 if link.get("measure") == "standardised" else 2
    rows = {row_names(told["by"], [row["label"]])[row["label"]]: row for row in told["rows"]}
    assert set(page["label"]) == set(rows)
    looked = 0
    for row in page.to_dict("records"):
        for name, own in rows[row["label"]].items():
            if name == "label":
                continue
            looked += 1
            if name not in row:  # the page leaves out a column without an entry
                assert not own, (row["label"], name)
                continue
            shown = row[name]
            if name in ("p", "p_holm", "size_p", "size_p_holm"):
                assert shown == p_value(own), (row["label"], name)
            elif own is None:
                assert pd.isna(shown), (row["label"], name)
            elif isinstance(own, float):
                rounded = float(np.round(own, 3 if name == "cliffs_delta" else digits))
                assert shown == pytest.approx(rounded), (row["label"], name)
            else:
                assert shown == own, (row["label"], name)
    assert looked == len(page) * (len(COLUMNS) - 1)


def test_the_command_puts_the_largest_difference_first(demo: Path) -> None:
    rows = asked("demo")["rows"]
    sizes = [max(abs(row["difference"]), abs(row["size_difference"])) for row in rows[1:]]
    assert rows[0]["label"] == ALL
    assert sizes == sorted(sizes, reverse=True)
