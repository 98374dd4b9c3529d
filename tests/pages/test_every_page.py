import pytest
from streamlit.testing.v1 import AppTest

from core.features.feature import entries, views
from core.settings import ROOT, runs_dir
from tests.pages.opening import (
    CALIBRATION,
    COMPARE,
    CONTRAST,
    FAILURES,
    FLIP_RISK,
    GEOMETRY,
    HUMAN,
    OVERVIEW,
    RESULTS,
    RUNS,
    Open,
    texts,
)

VIEWS = tuple(view.name for view in views())


@pytest.mark.parametrize("page", VIEWS)
def test_a_page_opens_without_a_run_and_without_an_error(open_page: Open, page: str) -> None:
    app = open_page(page, evaluators="")
    assert not app.exception
    assert not app.error
    assert app.title


@pytest.mark.parametrize("page", VIEWS)
@pytest.mark.parametrize("query", [{"nothing": "1"}, {"item": "<script>alert(1)</script>"}, {"probes": "x" * 5000}])
def test_a_strange_link_does_not_break_a_page(open_page: Open, page: str, query: dict[str, str]) -> None:
    app = open_page(page, evaluators="", **query)
    assert not app.exception


def test_only_pages_that_exist_are_in_the_navigation() -> None:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run()
    assert sorted(each.file for each in entries()) == sorted(
        f"pages/{path.name}" for path in (ROOT / "pages").glob("*.py")
    )
    assert not app.exception


@pytest.mark.parametrize(
    "page", [OVERVIEW, FAILURES, RESULTS, COMPARE, FLIP_RISK, CALIBRATION, CONTRAST, GEOMETRY, HUMAN]
)
def test_a_page_that_needs_a_run_says_how_to_make_one_and_links_there(open_page: Open, page: str) -> None:
    app = open_page(page)
    said = texts(app)
    assert "No runs yet" in said or "No finished run yet" in said
    assert "python -m core audit --corpus demo --evaluators conse-lite0" in said
    doors = {each.proto.label: each.proto.page for each in app.get("page_link")}
    wanted = {"**Run an audit**": "runs", "**Try a picture**": "try_a_picture", "**Open a published file**": "runs"}
    assert doors.items() >= wanted.items()


def test_a_run_that_cannot_be_read_is_not_called_no_run(open_page: Open) -> None:
    broken = runs_dir() / "broken"
    broken.mkdir(parents=True)
    (broken / "manifest.json").write_text("{not json")
    app = open_page(FAILURES)
    assert not app.exception
    assert "No runs yet that can be shown: 1 run or file cannot be read whole" in texts(app)
    assert "**See what was left out**" in [each.proto.label for each in app.get("page_link")]
    assert "cannot be read" in texts(open_page(RUNS))
