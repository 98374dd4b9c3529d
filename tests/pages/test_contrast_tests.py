"""The page Contrast tests: what fails where, one test in depth, the worst failures, selectivity, empty states."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.analysis.failures import worst_failures
from core.analysis.questions import Options, catalogue
from core.analysis.questions.directional import DEPTH, RATES
from core.analysis.reading import read_table
from core.analysis.selectivity import headlines
from core.analysis.slices import Slice
from core.features.human.studies import list_studies, studies_dir
from core.features.human.votes import verdicts
from core.probes.titles import family_title
from core.settings import results_dir
from core.store.store import Store
from pages.views.common.open_runs import narrowed, present
from pages.views.common.shown_answers import answer
from pages.views.contrast_tests import contrast_tables as rates
from pages.views.contrast_tests.contrast_state import USUAL
from tests.analysis.broken_runs import ITEMS, rows_of, write_broken
from tests.analysis.made_runs import audited, write_run
from tests.features.human.small_study import comparisons, make, vote_versions
from tests.pages.opening import CONTRAST, FAILURES, Open, click, marks_that_open, said, unfolded, ways


def view_of(folder: Path):
    with Store.open(folder / "broken") as store:
        return read_table(store).view()


def test_the_page_opens_on_what_holds_directional_probes(open_page: Open, both_halves: Path) -> None:
    app = open_page(CONTRAST)
    assert not app.exception
    assert not app.error
    words = said(app)
    assert "Better than guessing: e on " in words.replace("\\", "")
    assert "How often each metric misses the error" in words
    assert "Caption human: left out" in words
    assert "One test in depth" in words
    assert "Worst failures" in words
    assert app.session_state["contrast.subject"] is None


def test_the_numbers_are_those_of_the_question(open_page: Open, both_halves: Path) -> None:
    app = open_page(CONTRAST, test="denied", of="e")
    view = view_of(both_halves)
    question = next(each for each in catalogue(view.table) if each.id == RATES)
    row = question.compute(view, Options()).set_index(["evaluator", "label"]).loc[("e", "denied")]
    words = said(app)
    assert f"Missed: {row['failure']:.0f} % (" in words
    assert f"n = {ITEMS} comparisons of {ITEMS} items" in words
    shown = next(each.value for each in unfolded(app).dataframe if "rival" in each.value.columns)
    assert row["rival"] in set(shown.loc[shown["label"] == "denied", "rival"])
    assert row["verdict"] in words


def test_worst_failures_come_first_and_are_the_stored_ones(open_page: Open, both_halves: Path) -> None:
    app = open_page(CONTRAST, test="denied", of="e")
    found, n = worst_failures(view_of(both_halves), "e", "denied")
    assert found["margin"].is_monotonic_decreasing
    assert (found["margin"] >= 0).all()
    words = said(app)
    assert f"denied: {n} failures under e, the 4" in words
    first = found.iloc[0]
    assert f"caption {int(first['item'][1:])} under" in words


def test_only_verified_comparisons_count_where_the_reader_says_so(open_page: Open, both_halves: Path) -> None:
    whole, known = (
        open_page(CONTRAST, test="denied", of="e"),
        open_page(CONTRAST, test="denied", of="e", verified="yes"),
    )
    assert f"n = {ITEMS} comparisons" in said(whole)
    assert f"n = {ITEMS // 2} comparisons" in said(known)
    assert worst_failures(view_of(both_halves), "e", "denied", known=True)[1] < ITEMS


def test_one_test_in_depth_says_what_was_refused_and_why(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
    rows = rows_of(("e",), probes=["identity", "vflip", "denied"])
    kept = [row for row in rows if row["probe"] != "denied" or row["item"] > "i004"]
    out = [(f"i{place:03d}", "denied", "no-negation") for place in range(5)]
    write_broken(results_dir() / "r", kept, refused=out)
    words = said(open_page(CONTRAST, test="denied", of="e"))
    assert f"n = {ITEMS - 5} comparisons of {ITEMS - 5} items. Refused: 5 comparisons (no-negation 5)." in words


def test_the_files_hold_the_intervals_of_the_drops_that_no_cell_shows(open_page: Open, both_halves: Path) -> None:
    open_page(CONTRAST)
    files = present()
    scope, chosen, options = narrowed(files, USUAL).only(), Slice(), Options()
    every, page = rates.whole(files, scope, chosen, options)(), rates.shown(files, scope, chosen, options)
    pd.testing.assert_frame_equal(every, answer(files, scope, chosen, RATES, options))
    assert every["drop_low"].lt(every["drop_high"]).any()
    assert page.loc[every["drop_low"] != every["drop_high"], "drop_low"].isna().all()


def test_a_filter_of_categories_leaves_their_items(open_page: Open, both_halves: Path) -> None:
    app = open_page(CONTRAST, test="denied", of="e", categories="food")
    assert "n = 12 comparisons of 12 items" in said(app)
    assert any("food · 12 items" in option for each in app.multiselect for option in each.options)


def test_filters_of_knob_and_domain_leave_the_items_that_tell_both(open_page: Open, both_halves: Path) -> None:
    app = open_page(CONTRAST, test="denied", of="e", knob="colour")
    assert "n = 16 comparisons of 16 items" in said(app)
    assert any("colour · 16 items" in option for each in app.multiselect for option in each.options)
    narrower = open_page(CONTRAST, test="denied", of="e", knob="colour", domain="animal")
    places = [place for place in range(ITEMS) if place % 3 and place % 2 == 0]
    assert f"n = {len(places)} comparisons of {len(places)} items" in said(narrower)
    assert "left out: size" in said(open_page(CONTRAST, knob="size"))


def test_a_family_of_another_caption_stands_in_the_matrix_and_opens_under_it(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
    rows = [{**row, "subject": "template"} for row in rows_of(("e",), probes=["identity", "vflip", "swapped:near"])]
    for row in rows:
        if row["probe"] == "swapped:near":
            row["family"] = "misplaced"
    write_broken(results_dir() / "r", [*rows_of(("e",), probes=["identity", "vflip", "denied"]), *rows])
    app = open_page(CONTRAST, subject="human", test="misplaced", of="e")
    assert not app.exception
    assert "misplaced (caption template)" in app.selectbox(key="contrast.test.widget").options
    shown = next(each.value for each in unfolded(app).dataframe if "against_bar" in each.value.columns)
    assert dict(zip(shown["label"], shown["caption"], strict=True)) == {
        "denied": "human, en",
        "misplaced": "template, en",
    }
    assert f"n = {ITEMS} comparisons of {ITEMS} items" in said(app)


def test_a_row_of_too_few_items_lies_on_no_side_of_a_bar(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
    write_broken(results_dir() / "r", rows_of(("e",), probes=["identity", "vflip", "swapped:far"], items=6))
    app = open_page(CONTRAST, subject="human", bar="99")
    assert not app.exception
    shown = next(each.value for each in unfolded(app).dataframe if "against_bar" in each.value.columns)
    assert (list(shown["verdict"]), list(shown["against_bar"])) == (["too few items"], ["too few items"])


@pytest.fixture
def voted(own_folder: None, both_halves: Path) -> list[str]:
    """Two people on eight comparisons, four of them of ``denied``, of which both uphold the first and the third.

    The other four are of ``swapped``; there both uphold the first and the third too. What one alone upholds has 50 %.
    """
    study = make(studies_dir(), "sides", run="broken", items=comparisons(8))
    people = study.invite(["", ""])
    upheld = ("i000", "i001", "i004", "i005")
    for item in study.definition.items:
        for name in people:
            wrong = 0 if item.item in upheld or name == people[0] else 2
            vote_versions(study, name, item.id, original=2, variant=wrong, preferred="tie")
    return [item.item for item in study.definition.items if item.family == "denied"]


def test_how_often_people_fail_stands_beside_the_failure_rates(open_page: Open, voted: list[str]) -> None:
    app = open_page(CONTRAST)
    shown = next(each.value for each in unfolded(app).dataframe if "against_bar" in each.value.columns)
    told = shown[~shown["label"].str.contains(": ")].set_index(["evaluator", "label"])
    assert told.loc[("e", "denied"), "n_people"] == len(voted) == 4
    assert told.loc[("e", "denied"), "people"] == 100  # all said that both are equally good
    assert told["people"].isna().sum() == len(told) - 4  # two families under two evaluators were judged


UPHELD = "contrast.upheld"


def sliders(app: AppTest) -> list[str]:
    return [each.key for each in app.slider]


def test_people_s_ratings_stand_beside_the_means_of_both_sides_of_what_the_filters_leave(
    open_page: Open, both_halves: Path, voted: list[str]
) -> None:
    for query, items, wrong in (({}, 4, 0.25), ({"upheld": "75"}, 2, 0.0), ({"categories": "food"}, 0, None)):
        app = open_page(CONTRAST, show="tables", part=DEPTH, **query)
        assert not app.exception
        shown = next(each.value for each in app.dataframe if "scaled_right" in each.value.columns)
        people = shown[(shown["evaluator"] == "people, study sides") & (shown["family"] == "denied")]
        assert list(people["n"]) == ([items] if items else [])
        if items:
            assert people[["scaled_right", "scaled_wrong"]].iloc[0].tolist() == [1.0, wrong]


def test_where_nobody_judged_a_comparison_no_filter_is_offered(open_page: Open, both_halves: Path) -> None:
    assert UPHELD not in sliders(open_page(CONTRAST, test="denied", of="e"))


def test_only_comparisons_that_people_uphold_count_where_the_reader_says_so(
    open_page: Open, both_halves: Path, voted: list[str]
) -> None:
    whole = open_page(CONTRAST, test="denied", of="e")
    assert f"n = {ITEMS} comparisons of {ITEMS} items" in said(whole)
    assert "Judged here: 8 comparisons" in whole.slider(key=UPHELD).help
    half = whole.slider(key=UPHELD).set_value(50).run()
    assert "n = 4 comparisons of 4 items" in said(half)
    assert half.query_params["upheld"] in ("50", ["50"])
    for share, items in (("50", {*voted}), ("75", {"i000", "i004"})):
        app = open_page(CONTRAST, test="denied", of="flat", upheld=share)
        assert not app.exception
        assert f"n = {len(items)} comparisons of {len(items)} items" in said(app)
        assert f"denied: {len(items)} failures under flat" in said(app)
        cards = {
            item
            for item in (f"i{place:03d}" for place in range(ITEMS))
            if re.search(rf"caption {int(item[1:])} under", said(app))
        }
        assert cards == items


def test_the_filter_holds_in_every_view_and_a_share_that_no_comparison_reaches_leaves_none(
    open_page: Open, both_halves: Path, voted: list[str]
) -> None:
    rates = open_page(CONTRAST, show="tables", upheld="50")
    assert not rates.exception
    selectivity = open_page(CONTRAST, show="selectivity", upheld="100")
    assert not selectivity.exception
    assert not selectivity.error
    with Store.open(both_halves / "broken", verdicts=verdicts(list_studies()[0])) as opened:
        chosen = read_table(opened).view(Slice(upheld=1.0))
    expected = headlines(chosen).set_index(["evaluator", "of"])["n_items"]
    assert expected.max() == 4  # of 24 items: 0, 1, 4 and 5, on which both people uphold a comparison
    shown = next(each.value for each in selectivity.dataframe if {"of", "n_items"} <= set(each.value.columns))
    assert shown.set_index(["evaluator", "of"])["n_items"].to_dict() == expected.to_dict()
    none = open_page(CONTRAST, test="masked", of="e", upheld="50")
    assert not none.exception
    assert "n = 24 comparisons" not in said(none)


def test_selectivity_and_every_table_open(open_page: Open, both_halves: Path) -> None:
    app = open_page(CONTRAST, show="selectivity")
    assert not app.exception
    assert "Selectivity of each metric" in said(app)
    tables = open_page(CONTRAST, show="tables")
    for part in next(each for each in tables.selectbox if each.label == "Tables of").options:
        shown = open_page(CONTRAST, show="tables", part=part)
        assert not shown.exception
        assert not shown.error
    elsewhere = open_page(CONTRAST, show="tables", part="elsewhere")
    assert [each.label for each in elsewhere.expander] == ["What these runs cannot give"]
    assert "it is of training a metric, and a run trains none" in said(elsewhere)


def test_a_choice_stands_in_the_link(open_page: Open, both_halves: Path) -> None:
    app = open_page(CONTRAST)
    app.selectbox(key="contrast.test.widget").select("swapped").run()
    assert app.query_params["test"] in ("swapped", ["swapped"])
    app.toggle(key="contrast.verified").set_value(True).run()
    assert app.query_params["verified"] in ("yes", ["yes"])


@pytest.mark.parametrize(
    "query",
    [
        {"test": "nothing"},
        {"verified": "perhaps"},
        {"show": "x"},
        {"categories": "<b>"},
        {"upheld": "101"},
        {"upheld": "half"},
    ],
)
def test_a_link_that_names_nothing_here_says_so(open_page: Open, both_halves: Path, query: dict[str, str]) -> None:
    app = open_page(CONTRAST, **query)
    assert not app.exception
    assert "Part of the link could not be restored" in said(app)


def test_runs_without_a_directional_probe_say_what_to_audit(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
    write_run(results_dir() / "r", audited("vflip"), corpus={"name": "c"})
    app = open_page(CONTRAST)
    assert not app.exception
    words = said(app)
    assert "No run has a directional probe" in words
    assert "--corpus demo --evaluators conse-lite0 --subject human --probes directional,default" in words
    write_run(results_dir() / "photographs", audited("vflip", corpus="coco"), corpus={"name": "coco"})
    assert "audit --corpus coco --root path/to/coco --evaluators" in said(open_page(CONTRAST, corpus="coco"))


def test_what_a_run_holds_besides_is_shown_below_although_none_of_it_can_fail(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
    rows = audited("vflip")
    for name, before in (("nested:share", "identity"), ("nested:place", "nested:share")):
        told = {"axis": "object", "family": "nested", "baseline": before, "expectation": "response"}
        rows += [
            {**row, "probe": name, "score": row["score"] + 0.01, **told} for row in rows if row["probe"] == "identity"
        ]
    write_run(results_dir() / "r", rows, corpus={"name": "c"})
    app = open_page(CONTRAST)
    assert not app.exception
    assert "No run has a directional probe" in said(app)
    assert "Nested captions: does saying more of the same picture score higher?" in said(app)


def test_the_template_chosen_by_hand_stays_chosen_and_says_where_the_tests_are(
    open_page: Open, both_halves: Path
) -> None:
    app = open_page(CONTRAST, subject="template")
    assert not app.exception
    assert "choose run broken, caption human" in said(app)


def test_a_reader_s_own_bar_stands_in_the_link_and_judges_by_the_interval(open_page: Open, both_halves: Path) -> None:
    app = open_page(CONTRAST, bar="30")
    assert not app.exception
    assert unfolded(app).number_input[0].value == 30
    shown = next(each.value for each in app.dataframe if "against_bar" in each.value.columns)
    view = view_of(both_halves)
    question = next(each for each in catalogue(view.table) if each.id == RATES)
    frame = question.compute(view, Options())
    wanted = [
        "within" if row["failure_high"] <= 30 else "beyond" if row["failure_low"] > 30 else "undecided"
        for row in frame.to_dict("records")
    ]
    assert list(shown["against_bar"]) == wanted
    assert len(set(wanted)) > 1


def test_a_bar_that_is_none_is_named(open_page: Open, both_halves: Path) -> None:
    assert "from 0 to 100, got '300'" in said(open_page(CONTRAST, bar="300"))


def test_a_cell_of_the_matrix_opens_its_test_with_the_filters_that_it_was_counted_under(
    open_page: Open, both_halves: Path
) -> None:
    app = open_page(CONTRAST, categories="animal", of="flat")
    mark = json.dumps({"evaluators": "e", "corpus": "c", "test": "denied"})
    clicked = click(app, "C-matrix.figure", mark)
    link = ways(clicked)["Open this test, its worst failures below: e · denied"]
    order = [each.type for each in clicked.main]
    assert order.index("page_link") < order.index("plotly_chart")  # the foot of the map may lie below the screen
    assert link == {"view": "contrast_tests", "categories": "animal", "corpus": "c", "test": "denied", "of": "e"}
    opened = open_page(CONTRAST, **{name: text for name, text in link.items() if name != "page"})
    assert re.search("denied: [0-9]+ failures under e,", said(opened))


def test_a_cell_of_an_error_and_a_nuisance_opens_both(open_page: Open, both_halves: Path) -> None:
    app = open_page(CONTRAST, show="selectivity")
    mark = next(each for each in marks_that_open(app, "C-hidden.figure") if json.loads(each)["test"] == "denied")
    asked = json.loads(mark)
    found = ways(click(app, "C-hidden.figure", mark))
    tests = found[f"Open this test, its worst failures below: {asked['evaluators']} · denied"]
    assert (tests["test"], tests["of"]) == ("denied", asked["evaluators"])
    pairs = found[f"Open these pairs: {asked['evaluators']} · {family_title(asked['families'])}"]
    assert pairs == {
        "view": "failures",
        "run": "broken",
        "subject": "human",
        "language": "en",
        "corpus": "c",
        "families": asked["families"],
        "evaluators": asked["evaluators"],
    }
    shown = open_page(FAILURES, **{name: text for name, text in pairs.items() if name != "page"})
    assert "could not be restored" not in said(shown)
    assert shown.session_state["failures.families"] == [asked["families"]]
