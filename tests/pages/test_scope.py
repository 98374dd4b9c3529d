"""One scope for all pages: in the link, from page to page, and in every number."""

import re
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from core.analysis.scope import Scope, narrow
from core.probes.titles import family_title
from core.report.fairness_card import card_report
from core.scoring.reference_metrics import ready_words
from core.settings import runs_dir
from core.store.store import default_store
from tests.analysis.made_runs import scores_of, write_run
from tests.pages.opening import (
    CALIBRATION,
    COMPARE,
    FAILURES,
    FLIP_RISK,
    GEOMETRY,
    HUMAN,
    LAB,
    OVERVIEW,
    RESULTS,
    RUN,
    UNFOLDED,
    Open,
    led,
    link_of,
    said,
    turned,
)
from tests.pages.scoped_runs import RUNS

NUMBERS = (OVERVIEW, FAILURES, RESULTS, COMPARE, FLIP_RISK, CALIBRATION, GEOMETRY)
"""Pages that show stored numbers."""


def go(app: AppTest, page: str, **query: str) -> AppTest:
    """Open another page as the menu does: nothing of the query comes along; or by a link that says something."""
    app.query_params.clear()
    turned(app, page)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def choose(app: AppTest, page: str, name: str, value: object) -> AppTest:
    if isinstance(value, list):
        return app.multiselect(key=f"{page}.{name}").set_value(value).run()
    return app.selectbox(key=f"{page}.{name}.widget").set_value(value).run()


def test_the_usual_scope_is_one_run_a_corpus_and_says_what_it_left_out(open_page: Open, scoped: Path) -> None:
    app = open_page(FAILURES)
    assert not app.exception
    assert not app.error
    assert "run first, the largest of 2; left out second" in said(app)
    assert "of caption human; an item counts once" in said(app)
    assert not link_of(app)
    assert ", of 70 pairs" in said(app)


@pytest.mark.parametrize("page", NUMBERS)
def test_what_was_chosen_on_one_page_holds_on_the_next_and_stands_in_its_link(
    open_page: Open, scoped: Path, page: str
) -> None:
    app = choose(open_page(FLIP_RISK), "flip", "run", ["second"])
    assert "left out" not in said(app)
    assert "Run first has bee, run second has not." in said(app)
    go(app, page)
    assert not app.exception
    assert app.query_params["run"] == "second"
    assert "left out" not in said(app)


@pytest.mark.parametrize("between", [LAB, RUN, HUMAN])
def test_a_page_without_numbers_in_between_loses_no_scope(open_page: Open, scoped: Path, between: str) -> None:
    app = choose(open_page(FAILURES), "failures", "subject", "human")
    go(app, between)
    assert "subject" not in app.query_params
    go(app, FAILURES)
    assert app.query_params["subject"] == "human"


def test_every_part_of_a_scope_travels(open_page: Open, scoped: Path) -> None:
    asked = {"run": "first,tiles-1", "corpus": "squares", "subject": "human", "language": "en", "evaluators": "ant"}
    app = open_page(FAILURES, **asked)
    assert not app.warning
    go(app, FLIP_RISK)
    assert {name: app.query_params[name] for name in asked} == asked


def test_a_link_that_names_a_scope_is_the_scope(open_page: Open, scoped: Path) -> None:
    app = choose(open_page(FAILURES), "failures", "run", ["second"])
    go(app, FLIP_RISK, evaluators="bee")
    assert "run" not in app.query_params
    go(app, FAILURES)
    assert link_of(app) == {"evaluators": "bee"}


def look(app: AppTest) -> dict[str, str]:
    """Parameters of the first way from a finding to its pairs, which narrows the evaluators."""
    way = next(each.proto for each in app.get("page_link") if each.proto.label == "See its pairs")
    return dict(parse_qsl(way.query_string))


@pytest.mark.parametrize("back", [OVERVIEW, COMPARE, CALIBRATION, FLIP_RISK])
def test_what_one_look_narrows_ends_with_it_be_it_a_filter_or_the_scope(open_page: Open, demo: Path, back: str) -> None:
    app = choose(open_page(OVERVIEW), "overview", "evaluators", ["conse-lite0", "conse-lite2"])
    go(app, FAILURES, **look(app))
    assert app.multiselect(key="failures.evaluators").value == ["conse-lite2"]
    narrowed = link_of(app)
    assert set(narrowed) >= {"families", "evaluators"}
    go(app, back)
    assert link_of(app) == {"evaluators": "conse-lite0,conse-lite2"}
    assert link_of(go(app, FAILURES)) == narrowed  # the page is as it was left


def test_what_is_chosen_during_a_look_holds_everywhere(open_page: Open, demo: Path) -> None:
    app = open_page(OVERVIEW)
    go(app, FAILURES, **look(app))
    choose(app, "failures", "evaluators", ["conse-lite0"])
    assert link_of(go(app, FLIP_RISK)) == {"evaluators": "conse-lite0"}
    go(app, FAILURES)
    app.button(key="failures.scope.usual").click().run()
    assert not link_of(go(app, FLIP_RISK))


def test_a_look_goes_along_between_the_views_of_its_entry_and_no_further(open_page: Open, demo: Path) -> None:
    app = open_page(OVERVIEW)
    go(app, FAILURES, **look(app))
    narrowed = link_of(app)
    app.segmented_control(key="view.findings").set_value(RESULTS).run()
    assert not app.exception
    assert link_of(app) == {name: narrowed[name] for name in ("families", "evaluators", "run", "subject", "language")}
    assert not link_of(go(app, COMPARE)).get("evaluators")
    assert not link_of(go(app, CALIBRATION))


def test_the_menu_entry_of_the_page_itself_keeps_the_scope_and_the_page(open_page: Open, scoped: Path) -> None:
    app = choose(open_page(FAILURES, families="rotation"), "failures", "run", ["second"])
    assert link_of(go(app, FAILURES)) == {"run": "second", "families": "rotation"}


def test_another_corpus_comes_with_the_caption_that_it_has(open_page: Open, scoped: Path) -> None:
    app = choose(open_page(FAILURES), "failures", "corpus", "tiles")
    assert not app.exception
    assert not app.error
    assert app.query_params["corpus"] == "tiles"
    assert "The furthest pair of each of **11 items**, of 44 pairs" in said(app)


def test_corpora_are_never_pooled(open_page: Open, scoped: Path) -> None:
    for corpus, n in (("squares", RUNS["first"]), ("tiles", RUNS["tiles-1"])):
        app = open_page(OVERVIEW, **UNFOLDED, corpus=corpus)
        counts = {int(count) for count in re.findall(r"n = (\d+) items", said(app))}
        assert counts == {n}


@pytest.mark.parametrize("page", NUMBERS)
def test_an_evaluator_of_another_corpus_is_no_part_of_the_corpus_in_view(
    open_page: Open, own_folder: None, scoped: Path, page: str
) -> None:
    rows = scores_of(("identity", "vflip"), 20, lambda probe, place: 0.5, corpus="walls", evaluator="cow")
    write_run(runs_dir() / "walls-1", rows, corpus={"name": "walls"}, evaluators=[{"name": "cow"}])
    app = open_page(page, corpus="squares")
    assert not app.exception
    assert not app.error
    assert "cow" not in " ".join(each.value for each in app.markdown)


def test_unknown_names_are_told_and_the_usual_scope_is_shown(open_page: Open, scoped: Path) -> None:
    app = open_page(FAILURES, run="gone", corpus="nowhere", subject="poem", language="xx", evaluators="ant,nobody")
    assert not app.exception
    warned = " ".join(each.value for each in app.warning).replace("\\", "")
    for name in ("gone", "nowhere", "poem", "xx", "nobody"):
        assert name in warned
    assert link_of(app) == {"evaluators": "ant"}
    assert ", of 70 pairs" in said(app)


@pytest.mark.parametrize("page", NUMBERS)
def test_choices_that_do_not_go_together_are_taken_back_with_a_sentence(
    open_page: Open, scoped: Path, page: str
) -> None:
    app = open_page(page, run="second", corpus="tiles", evaluators="bee")
    assert not app.exception
    warned = " ".join(each.value for each in app.warning).replace("\\", "")
    assert "No run in this scope is of corpus 'tiles'" in warned
    assert "Run second has no score of bee; evaluators there: ant" in warned
    assert link_of(app) == {"run": "second"}


def test_reset_keeps_the_scope_and_usual_scope_takes_it_back_everywhere(open_page: Open, scoped: Path) -> None:
    app = open_page(FAILURES, run="second", families="rotation", sort="absolute")
    app.button(key="failures.reset").click().run()
    assert link_of(app) == {"run": "second"}
    assert "scope stays" in app.button(key="failures.reset").help
    app.button(key="failures.scope.usual").click().run()
    assert not link_of(app)
    assert not link_of(go(app, FLIP_RISK))


def test_nothing_to_choose_is_not_drawn(open_page: Open, demo: object) -> None:
    app = open_page(FAILURES)
    assert {each.key for each in app.multiselect} & {"failures.run", "failures.evaluators"} == {"failures.evaluators"}
    assert not [each.key for each in app.selectbox if each.key in ("failures.corpus.widget", "failures.subject.widget")]


def test_a_filter_of_another_scope_is_still_there_to_be_taken_back(open_page: Open, scoped: Path) -> None:
    app = open_page(FAILURES, modifiers="boy", corpus="squares")
    choose(app, "failures", "corpus", "tiles")
    assert not app.exception
    assert app.query_params["modifiers"] == "boy"
    app.multiselect(key="failures.modifiers").set_value([]).run()
    assert "modifiers" not in app.query_params


@pytest.mark.parametrize(
    "chosen",
    [
        {"run": "first", "subject": "template"},
        {"run": "first", "subject": "human"},
        {"run": "second"},
        {"subject": "human"},
        {},
    ],
)
def test_the_screen_and_the_printed_card_state_the_same_numbers(
    open_page: Open, scoped: Path, chosen: dict[str, str]
) -> None:
    app = open_page(OVERVIEW, **UNFOLDED, corpus="squares", **chosen)
    text = said(app)
    shown = re.findall(
        r"\*\*([\w ]+)\*\* (?:\(in \d+ % of the draws\) )?([\d.]+) % \(([\d.]+) to ([\d.]+)\), n\u00a0=\u00a0(\d+)"
        r" · \*\*(.+?)\*\*, \*\*(.+?)\*\*",
        text,
    )
    risks = re.findall(r"Flip risk ([\d.]+) % \((?:no interval, n = \d+|[\d.]+ to [\d.]+)", text)
    assert len(shown) == len(risks) > 0
    scope = Scope(runs=(chosen["run"],) if "run" in chosen else (), corpus="squares", subject=chosen.get("subject"))
    with default_store() as store:
        narrowed = narrow(store, scope)
        printed = card_report(store, narrowed)
    assert f"{narrowed.subject} captions in en" in printed
    assert f"Run {chosen.get('run', 'first')} " in printed
    rows = re.findall(
        r"<td class=\"words\">([\w-]+) \(of \d+(?:, the worst in \d+ % of the draws)?"
        r"(?:; a word that may be true)?\)</td>"
        r"<td>([\d.]+) \[([\d.]+), ([\d.]+)\]</td><td>(\d+)</td>"
        r"<td>([\d.]+) (?:\(no interval\)|\[[^\]]*\])[^<]*</td><td>[^<]*</td><td>[^<]*</td>"
        r"<td class=\"words\">([^<(;]+?)(?: \([^<]*?\))?; ([^<;]+)[^<]*</td>",
        printed,
    )
    assert sorted(
        (family_title(each[0]), *(f"{float(value):.1f}" for value in each[1:4]), each[4], *each[6:]) for each in rows
    ) == sorted(shown)
    assert sorted(each[5] for each in rows) == sorted(risks)


def test_failures_show_a_pair_under_every_evaluator_whichever_are_chosen(open_page: Open, scoped: Path) -> None:
    app = open_page(FAILURES, evaluators="bee")
    tables = [each.value for each in app.markdown if each.value.startswith("| Metric")]
    assert len(tables) == 12
    assert all("ant" in table and "**bee**" in table and "| — |" not in table for table in tables)


def test_a_calibration_is_held_to_evaluators_outside_the_choice(open_page: Open, scoped: Path) -> None:
    app = open_page(CALIBRATION, evaluators="ant")
    assert not app.exception
    assert app.multiselect(key="calib.against").options == ["bee", *ready_words()]
    assert "no other evaluator" not in said(app)


def test_two_runs_of_a_corpus_are_compared_item_by_item(open_page: Open, scoped: Path) -> None:
    app = open_page(COMPARE, a_run="first", b_run="second", b_evaluator="ant")
    assert not app.exception
    assert not app.error
    table = app.dataframe[0].value
    assert set(table["how"]) == {"paired by item"}
    assert set(table["n_items"]) == {RUNS["second"]}


def test_a_side_of_the_comparison_that_cannot_be_is_one_sentence(open_page: Open, scoped: Path) -> None:
    app = open_page(COMPARE, a_run="second", a_subject="human")
    assert not app.exception
    (told,) = app.error
    assert "no subject 'human' is open" in told.value.replace("\\", "")
    app.selectbox(key="compare.a_subject").set_value(None).run()
    assert not app.error


def test_links_between_pages_take_the_scope_along(open_page: Open, scoped: Path) -> None:
    app = open_page(OVERVIEW, run="second")
    links = [each.proto for each in app.get("page_link") if led(each.proto) == FAILURES]
    assert links
    assert all("run=second" in str(link) for link in links)


@pytest.mark.parametrize("page", NUMBERS)
def test_a_link_with_a_scope_opens_on_an_empty_store(open_page: Open, page: str) -> None:
    app = open_page(page, run="first", corpus="squares", evaluators="ant")
    assert not app.exception
    assert "No runs yet" in said(app)
    assert "There is no corpus 'squares' here" in said(app)


def test_names_from_a_run_are_shown_and_not_obeyed(open_page: Open) -> None:
    for run, corpus in (("one", "<img src=x onerror=alert(1)> **bold**"), ("two", "plain")):
        rows = scores_of(("identity", "vflip"), 11, lambda probe, place: 0.5 + 0.01 * place, corpus=corpus)
        write_run(runs_dir() / run, rows, corpus={"name": corpus})
    app = open_page(FAILURES)
    assert not app.exception
    labels = [each.proto.popover.label for each in app.get("popover")] or [str(each) for each in app.main]
    assert not [label for label in labels if "<img" in label.replace("\\<", "")]


def test_a_shard_that_cannot_be_read_is_named_where_numbers_stand(scoped: Path, open_page: Open) -> None:
    whole = said(open_page(RESULTS, run="first"))
    assert "cannot be read" not in whole
    shard = next((runs_dir() / "first").rglob("scores*/*.parquet"))
    shard.write_bytes(shard.read_bytes()[:-40])
    told = said(go(open_page(RESULTS, run="second"), OVERVIEW))
    assert "No number here rests on what cannot be read" in told
    assert shard.name in told
