import io

import plotly.graph_objects as go
import pytest
from PIL import Image

from core.charts import export
from core.errors import NotAvailable


@pytest.fixture
def figure() -> go.Figure:
    drawn = go.Figure(go.Scatter(x=[1, 2], y=[3, 4], name="<b>scores</b>"))
    return drawn.update_layout(height=300, paper_bgcolor="rgba(0,0,0,0)")


def test_a_page_of_html_stands_alone_and_names_its_figure(figure: go.Figure) -> None:
    page = export.as_html(figure, title="Shifts by family").decode()
    assert "Shifts by family" in page
    assert 'src="http' not in page


def test_a_figure_for_paper_is_white_and_leaves_the_one_on_the_page_alone(figure: go.Figure) -> None:
    paper = export.printable(figure, title="Shifts")
    assert paper.layout.paper_bgcolor == "white"
    assert paper.layout.height > 300
    assert (figure.layout.paper_bgcolor, figure.layout.height) == ("rgba(0,0,0,0)", 300)


@pytest.mark.skipif(export.browser() is None, reason="no Chrome or Chromium draws pictures here")
def test_pictures_have_the_size_they_say(figure: go.Figure) -> None:
    drawn = Image.open(io.BytesIO(export.as_picture(figure, kind="png", width=500)))
    assert drawn.size == (1000, 600)
    assert b"<svg" in export.as_picture(figure, kind="svg")[:200]


def test_without_a_browser_the_reader_hears_what_to_install(figure: go.Figure, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NotAvailable, match="install chromium"):
        export.as_picture(figure, kind="png")
