"""A page looks at the files of its runs once: a look asks after every shard, of thousands where runs are large."""

import re
from pathlib import Path

import pytest

from core.analysis.scope import Scope
from core.settings import ROOT
from core.store.store import run_paths
from pages.views.common import open_runs
from tests.pages.opening import CONTRAST, FAILURES, FLIP_RISK, Open


@pytest.mark.parametrize(
    ("page", "store", "heading"),
    [(FAILURES, "demo", "Findings"), (FLIP_RISK, "demo", "Leaderboard"), (CONTRAST, "both_halves", "Does it notice?")],
)
def test_a_page_looks_at_its_runs_once_however_many_cards_it_shows(
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    open_page: Open,
    page: str,
    store: str,
    heading: str,
) -> None:
    request.getfixturevalue(store)
    app, look, looks = open_page(page), open_runs.signature, list[object]()

    def counted(paths: object) -> tuple[tuple[str, int, int], ...]:
        if paths == run_paths():
            looks.append(paths)
        return look(paths)  # type: ignore[arg-type]

    monkeypatch.setattr(open_runs, "signature", counted)
    app.run()
    assert not app.exception
    assert heading in [each.value for each in app.title]
    assert len(looks) == 1


def test_what_was_made_of_runs_is_let_go_of_when_others_are_opened(demo: Path) -> None:
    files = open_runs.present()
    scope = open_runs.narrowed(files, Scope())
    made = open_runs.scores(files, scope)
    assert open_runs.scores(files, scope) is made
    open_runs.store(f"{files}, and one more")
    assert open_runs.scores(files, scope) is not made


def test_every_large_thing_that_is_made_of_runs_is_let_go_of_so() -> None:
    kept = re.compile(r"(@of_runs\n)?@st\.cache_resource\([^\n]*\)\ndef (\w+)\(\s*files: Signature")
    found = [each for path in (ROOT / "pages").rglob("*.py") for each in kept.findall(path.read_text("utf-8"))]
    assert len(found) > 5
    assert [name for marked, name in found if not marked] == ["store"]
