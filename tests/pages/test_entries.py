"""The map: eight entries with their views, a switch that keeps what both understand, former addresses that lead on."""

import json
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from core.features.feature import address, entries, views
from core.settings import ROOT
from core.stories.story import Slide, Story
from pages.views.common import access
from tests.pages.opening import (
    FAILURES,
    FLIP_RISK,
    HUMAN,
    RESULTS,
    RUN,
    RUNS,
    STORIES,
    Open,
    led,
    said,
    turned,
)
from tests.pages.scoped_runs import RUNS as SCOPED

FORMER = (
    "overview",
    "probe_lab",
    "failures",
    "results",
    "compare",
    "stories",
    "flip_risk",
    "systems",
    "calibration",
    "contrast_tests",
    "geometry",
    "suites",
    "video",
    "run_audit",
    "human_validation",
    "words",
    "start",
)
"""Addresses that links, stories and annotators' messages hold."""


def followed(former: str, **given: str) -> AppTest:
    """Open a former address, as a browser asks for it."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app._page_hash = calc_hash(former)
    app.query_params.update(given)
    return app.run()


def turn(app: AppTest, entry: str, view: str) -> AppTest:
    """Turn to another view of an entry by its switch."""
    switch = next(each for each in app.get("button_group") if each.key == f"view.{entry}")
    switch.set_value(view).run()
    assert not app.exception
    return app


def test_the_menu_has_eight_entries_in_their_order() -> None:
    titles = [each.title for each in entries() if each.listed]
    assert titles == [
        "Start",
        "Try a picture",
        "Findings",
        "Does it notice?",
        "Leaderboard",
        "Calibrate",
        "People",
        "Runs",
    ]


@pytest.mark.parametrize("former", FORMER)
def test_a_former_address_leads_to_its_view(open_page: Open, demo: Path, former: str) -> None:
    app, view = followed(former), "overview" if former == "start" else former
    assert not app.exception
    title = {each.name: each.title for each in entries()}[{each.name: each.entry for each in views()}[view]]
    assert [each.value for each in app.title] == [title]
    assert {name: app.query_params[name] for name in address(view)[1]} == address(view)[1]
    assert "no part of this page's link" not in said(app)


def test_a_former_link_keeps_all_that_it_holds(open_page: Open, demo: Path) -> None:
    app = followed(FAILURES, families="rotation", evaluators="conse-lite0")
    assert dict(app.query_params) == {"view": "failures", "families": "rotation", "evaluators": "conse-lite0"}


def test_what_a_page_called_its_view_is_what_it_shows(open_page: Open, demo: Path) -> None:
    app = followed(FLIP_RISK, view="systems", source="captions")
    assert not app.exception
    assert dict(app.query_params) == {"show": "new", "source": "captions"}
    story = Story.create("Of before")
    story.add(Slide("One", page="pages/flip_risk.py", link={"view": "systems"}))
    live = [each.proto for each in open_page(STORIES).get("page_link") if each.proto.label == "Open it live"]
    assert [(led(each), "show=systems" in each.query_string) for each in live] == [(FLIP_RISK, True)]


def test_an_annotators_link_of_before_opens_their_screen(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    app = followed(HUMAN, token="nobody")
    assert not app.exception
    assert [each.value for each in app.title] == ["Annotation"]
    monkeypatch.setenv(access.TOKEN, "the-key-of-this-server")
    assert [each.value for each in followed(HUMAN, token="nobody").title] == ["Annotation"]
    assert [each.value for each in followed(RESULTS, token="nobody").title] == ["Invariscope"]


def test_the_switch_keeps_scope_and_filters_and_drops_the_rest(open_page: Open, scoped: Path) -> None:
    app = open_page(FAILURES, run="second", families="rotation", page="2", rank="delta")
    turn(app, "findings", RESULTS)
    assert dict(app.query_params) == {"run": "second", "families": "rotation"}
    turn(app, "findings", FAILURES)
    assert dict(app.query_params) == {"view": "failures", "run": "second", "families": "rotation"}


def test_only_the_view_that_is_asked_for_runs(open_page: Open, demo: Path) -> None:
    app = open_page(FAILURES)
    assert "failures.families" in app.session_state
    assert "results.families" not in app.session_state


def test_viewers_have_the_list_of_runs_and_no_new_one(
    open_page: Open, demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page(RUNS)
    (switch,) = (each for each in app.get("button_group") if each.key == "view.runs")
    assert "New run" in switch.options
    assert "run.start" in [each.key for each in app.button(key="runs.new").click().run().button]
    monkeypatch.setattr(access, "_local", lambda: False)
    for app in (open_page(RUNS), followed(RUN)):
        assert not app.exception
        assert "run.start" not in [each.key for each in app.button]
    app = open_page(RUNS)
    (switch,) = (each for each in app.get("button_group") if each.key == "view.runs")
    assert switch.options == ["Runs", "Self-check"]
    assert "runs.new" not in [each.key for each in app.button]


def test_a_row_of_a_run_says_what_it_tests_and_opens_its_findings(open_page: Open, scoped: Path) -> None:
    app = open_page(RUNS)
    assert not app.exception
    rows = {
        each.proto.label.replace("\\", ""): each.proto
        for each in app.get("page_link")
        if each.proto.label.startswith("**")
    }
    assert set(rows) == {f"**{name}**" for name in SCOPED}
    assert led(rows["**second**"]) == RESULTS
    assert "run=second" in rows["**second**"].query_string
    told = [each.value for each in app.caption]
    assert sum(":green-badge[Default: Findings, Calibrate, Start, Does it notice?]" in each for each in told) == 1


def test_a_row_of_a_run_says_how_it_came_out_and_the_run_in_use_stands_first(
    open_page: Open, both_halves: Path
) -> None:
    for manifest in both_halves.glob("*/manifest.json"):
        manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"counts": {"pairs": 500}}))
    app = open_page(RUNS)
    assert not app.exception
    rows = [each.proto.label for each in app.get("page_link") if each.proto.label.startswith("**")]
    assert rows == ["**template**", "**broken**"]
    told = " ".join(each.value for each in app.caption)
    assert "0 of 1 metric typically drops when the meaning breaks" in told
    assert re.search(r"ypically \d\.\d\d SD under harmless edits", told.replace("\\", ""))


def test_runs_that_pages_open_on_are_marked_and_one_that_is_chosen_takes_their_place(
    open_page: Open, both_halves: Path
) -> None:
    told = [each.value for each in open_page(RUNS).caption]
    for pages in ("Findings, Calibrate", "Start, Does it notice?"):
        assert sum(f":green-badge[Default: {pages}]" in each for each in told) == 1
    chosen = turned(open_page(RESULTS, run="broken"), RUNS).run()
    assert sum(":green-badge[Chosen]" in each.value for each in chosen.caption) == 1
    assert not any("[Default: " in each.value for each in chosen.caption)
    assert (
        next(each.proto.label for each in chosen.get("page_link") if each.proto.label.startswith("**")) == "**broken**"
    )


def test_a_view_that_cannot_be_imported_is_said_and_the_rest_works(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tuple(
        type(each)(each.name, each.title, "pages.views.gone:draw", each.entry, each.place, each.parts)
        if each.name == FAILURES
        else each
        for each in views()
    )
    monkeypatch.setattr("pages.views.common.page_head.views", lambda: broken)
    app = open_page(FAILURES)
    assert not app.exception
    assert "No module named 'pages.views.gone'" in app.error[0].value.replace("\\", "")
    assert not turn(app, "findings", RESULTS).error
