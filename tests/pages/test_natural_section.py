"""The section on natural captions: its numbers are those of the questions, and without a caption it says what to do."""

import pandas as pd
import pytest

from core.analysis.questions import Options, catalogue
from core.analysis.reading import read_table
from core.analysis.slices import Slice
from core.report.build import build
from core.settings import runs_dir
from core.store.store import Store
from tests.analysis.natural_runs import write_natural
from tests.pages.opening import RESULTS, Open, said


@pytest.fixture
def natural(demo: object) -> dict[str, pd.DataFrame]:
    """Answers to what the page shows, of the two runs."""
    write_natural(runs_dir())
    with Store.open(runs_dir()) as store:
        table = read_table(store)
        return {
            each.id: each.compute(table.view(Slice()), Options())
            for each in catalogue(table)
            if each.section == "natural" and not each.needs(table)
        }


def test_every_part_is_drawn_with_the_numbers_of_the_questions(
    open_page: Open, natural: dict[str, pd.DataFrame]
) -> None:
    for part, ids in (("", ("S32", "S33")), ("order of the three", ("S34", "S35"))):
        app = open_page(RESULTS, question="natural", **({"part": part} if part else {}))
        assert not app.exception
        assert not app.error
        shown = [each.value for each in app.dataframe]
        assert [len(each) for each in shown] == [len(natural[id_]) for id_ in ids]
        assert len(app.get("plotly_chart")) == 1
        assert "all" in set(shown[0]["corpus"])
    assert list(shown[0]["share"]) == pytest.approx(list(natural["S34"]["share"].round(1)))
    assert "cheap > neutral > expensive" in set(shown[0]["order"])
    assert "a sixth, 16.7 %" in said(app)


def test_a_run_without_such_captions_says_what_to_audit(open_page: Open, demo: object) -> None:
    app = open_page(RESULTS, question="natural")
    assert not app.exception
    assert "the demo corpus has none" in said(app)
    assert any("--option slice=all" in each.value for each in app.code)
    left = open_page(RESULTS, question="natural", part="not audited")
    assert "natural economic captions" in said(left)


def test_the_report_has_the_section(natural: dict[str, pd.DataFrame]) -> None:
    with Store.open(runs_dir()) as store:
        report = build(store)
    held = {each.id: each.frame for each in report.tables}
    for id_, frame in natural.items():
        pd.testing.assert_frame_equal(held[id_], frame)
    assert {"F-natural", "F-natural-order"} <= {each.id for each in report.figures}
