"""A page looks at the files of its runs once: a look asks after every shard, of thousands where runs are large."""

import pytest

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
