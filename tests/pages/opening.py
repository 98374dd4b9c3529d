"""Names that the tests of the pages share."""

import json
import re
import time
from collections.abc import Callable
from html import unescape
from typing import Any
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from core.features.feature import VIEW, address, views
from core.stories.story import Slide, stories
from pages.views.common import access
from pages.views.common.url_state import LOOK

HUMAN = "human_validation"
FAILURES = "failures"
LAB = "probe_lab"
RESULTS = "results"
COMPARE = "compare"
OVERVIEW = "overview"
RUN = "run_audit"
FLIP_RISK = "flip_risk"
SYSTEMS = "systems"
CALIBRATION = "calibration"
GEOMETRY = "geometry"
CONTRAST = "contrast_tests"
SUITES = "suites"
VIDEO = "video"
WORDS = "words"
STORIES = "stories"
RUNS = "runs"

Open = Callable[..., AppTest]

UNFOLDED = dict.fromkeys(("more", "card"), "yes")
"""What a link to the first page asks for that has every part open."""


def turned(app: AppTest, view: str) -> AppTest:
    """The session at a view, as a link to it leads there; it has not run yet.

    Before any run a page goes by its file's name, which ``app.py`` gives it as its address.
    """
    file, first = address(view)
    app.switch_page(file)
    if file == address(OVERVIEW)[0] and not app._registered_pages:  # the first page's address is the server's own
        app._page_hash = ""
    if VIEW in app.query_params:
        del app.query_params[VIEW]
    app.query_params.update(first)
    return app


def led(link: Any) -> str:
    """Name of the view to which a link of a page leads."""
    entry = link.page or access.START
    first = next(each.name for each in views() if each.entry == entry)
    return dict(parse_qsl(link.query_string)).get(VIEW, first)


def link_of(app: AppTest) -> dict[str, str]:
    """Parameters of the session's link, without those that name the view and say that it is one look."""
    return {name: text for name, text in app.query_params.items() if name not in (VIEW, LOOK)}


AUTH = {
    "redirect_uri": "http://localhost:8501/oauth2callback",
    "cookie_secret": "s" * 32,
    "client_id": "invariscope",
    "client_secret": "of-the-client",
    "server_metadata_url": "http://localhost:1/.well-known/openid-configuration",
}
"""The section ``[auth]`` of a server whose log-in is set up whole."""


def offer_log_in(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Set a log-in up for ada@example.org; returns, to be changed, what the provider says of who asks."""
    told = {"is_logged_in": False, "sub": "7", "email_verified": True, "iat": time.time()}
    monkeypatch.setenv(access.COORDINATORS, "ada@example.org")
    monkeypatch.setattr(access.st, "secrets", {"auth": AUTH})
    monkeypatch.setattr(access, "account", lambda: dict(told))
    return told


def texts(app: AppTest) -> str:
    """Everything that the page says, in one string."""
    kinds = ("markdown", "caption", "text", "info", "success", "warning", "error", "title", "header", "code")
    told = [str(element.value) for kind in kinds for element in getattr(app, kind)]
    return "\n".join([*told, *(shown(each.proto.body) for each in app.get("html"))])


def shown(html: str) -> str:
    """The words of a piece of HTML."""
    return " ".join(unescape(re.sub(r"<style.*?</style>|<[^>]+>", " ", html, flags=re.DOTALL)).split())


def said(app: AppTest) -> str:
    """Everything that the page says, without the marks that keep data from being markup."""
    return texts(app).replace("\\", "")


def missing_told(app: AppTest) -> AppTest:
    """The page with the list of what cannot score here opened."""
    name = next(key for key in ("lab.missing", "run.missing") if key in app.session_state)
    return _opened(app, name)


def unfolded(app: AppTest, only: str = "") -> AppTest:
    """The page with every part opened that is drawn when it is opened; ``only``: those whose label has this."""
    keys = [each.proto.id.rsplit("-", 1)[-1] for each in app.expander if each.proto.id and only in each.label]
    assert keys
    return _opened(app, *keys)


def _opened(app: AppTest, *keys: str) -> AppTest:
    for key in keys:
        app.session_state[key] = True
    app.run()
    assert not app.exception
    return app


def collected(app: AppTest, key: str, *, title: str = "Where it breaks", note: str = "") -> Slide:
    """Collect what a page shows into a new story; the slide that comes of it."""
    assert not app.exception
    app.button(key=f"collect.{key}").click().run()
    app.text_input(key="collect.title").set_value(title).run()
    app.text_area(key="collect.note").set_value(note).run()
    app.button(key="collect.save").click().run()
    assert not app.exception
    assert not [each for each in app.button if each.key == "collect.save"], said(app)
    return stories()[0].read().slides[-1]


def marks_that_open(app: AppTest, chart: str) -> list[str]:
    """What the marks of a drawn figure open, those that open anything; ``chart`` is the end of its key."""
    drawn = json.loads(_chart(app, chart).proto.spec)["data"]
    return [str(each) for trace in drawn for each in trace.get("customdata") or () if each]


def click(app: AppTest, chart: str, opens: str) -> AppTest:
    """Click the mark of a figure that opens this, as a browser would tell of it; the figure must have it."""
    assert opens in marks_that_open(app, chart)
    return told(app, chart, {"points": [{"customdata": opens}], "point_indices": [0], "box": [], "lasso": []})


def told(app: AppTest, chart: str, selection: Any) -> AppTest:
    """Tell the page that this was chosen of a figure, as a browser may that is not a browser."""
    states = app._tree.get_widget_states()
    states.widgets.add(id=_chart(app, chart).proto.id, string_value=json.dumps({"selection": selection}))
    return app._run(states)


def ways(app: AppTest) -> dict[str, dict[str, str]]:
    """Words of every way into another page that a click drew -> the parameters of its link."""
    found = [each.proto for each in app.get("page_link")]
    return {
        each.label.replace("\\", ""): {
            name: text for name, text in [*parse_qsl(each.query_string), (VIEW, led(each))] if name != LOOK
        }
        for each in found
        if each.label.startswith("Open ")
    }


def _chart(app: AppTest, key: str) -> Any:
    return next(each for each in app.get("plotly_chart") if each.proto.id.endswith(key))


MOST_IN_SENTENCE = 25
"""Words of a sentence on the pages that are read first."""


def long_sentences(text: str) -> list[str]:
    """Sentences of more words than that; a line, and what stands between two raised dots, ends one too."""
    plain = re.sub(r"[*_`#\\]+", "", text)
    return [each for each in re.split(r"(?<=[.!?])\s+|\n+| · ", plain) if len(each.split()) > MOST_IN_SENTENCE]
