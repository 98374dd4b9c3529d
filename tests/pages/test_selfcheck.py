"""The view of the self-check: without one it says how, with one it has what is kept, and a broken file is said."""

import numpy as np

from core.features.selfcheck.detection import FOLDER, selfcheck, write_selfcheck
from core.features.selfcheck.planted import PlantedAudit
from core.settings import data_dir
from tests.pages.opening import Open, said

VIEW = "selfcheck"


def kept(n: int) -> str:
    items = tuple((f"i{place:03d}", f"s{place}", f"s{place}") for place in range(n))
    found = selfcheck(PlantedAudit("made", items, np.arange(n)), f"{n:016x}", repeats=2, seed=1)
    write_selfcheck(found)
    return found.sentence()


def test_without_a_selfcheck_it_says_how_one_is_made(open_page: Open) -> None:
    app = open_page(VIEW)
    assert "No self-check yet" in said(app)
    assert "python -m core selfcheck" in said(app)


def test_it_shows_the_sentence_the_rows_and_the_figure_of_what_is_kept(open_page: Open) -> None:
    sentences = {n: kept(n) for n in (12, 30)}
    app = open_page(VIEW)
    assert not app.exception
    assert sentences[30] in said(app)
    rows = app.dataframe[0].value
    assert len(rows) == 13
    assert len(app.get("plotly_chart")) == 1
    app.selectbox[0].set_value(f"{12:016x}").run()
    assert sentences[12] in said(app)


def test_a_file_that_is_none_is_said_and_the_others_are_shown(open_page: Open) -> None:
    sentence = kept(12)
    (data_dir() / FOLDER / "x.json").write_text('{"format": 9}')
    app = open_page(VIEW)
    assert "x.json is no selfcheck" in said(app)
    assert sentence in said(app)
