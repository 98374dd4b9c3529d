"""A websocket may say that any widget was used, whether its session was shown it or not: a started server is not moved.

The ids of widgets follow from the pages' code and what they show, so a viewer who knows the code knows an operator's.
"""

import hashlib
import json
import time
from collections.abc import Iterator
from http.cookiejar import Cookie, CookieJar
from pathlib import Path

import pytest
from itsdangerous import URLSafeTimedSerializer
from streamlit.proto.WidgetStates_pb2 import WidgetState

from bench.server import Server
from bench.visitor import Gone, Visitor
from core.features.feature import views
from core.features.human.ledger import PAUSED
from core.features.human.studies import Study
from pages.views.common.access import COORDINATORS, TOKEN, VIEWERS
from siege.material import Material, data_folder
from tests.pages.opening import AUTH

pytestmark = pytest.mark.filterwarnings("ignore:connect.. must be used:DeprecationWarning")

SECRET = "a-secret-of-this-test-that-is-long-enough"
ADA = {"email": "ada@example.org", "email_verified": True, "sub": "7", "is_logged_in": True}
STUDY = "study=siege"
QUERY = {"human_validation": STUDY, "stories": "story=siege"}
STRANGE = ("../../etc/passwd", "open_clip:ViT-B-32/openai", "")
"""What a viewer says was chosen, beside the path of a file of code."""

SLOW = ("probe_lab", "video")
"""Pages that load models; what they offer an operator alone is on other pages too."""


@pytest.fixture(scope="module")
def data() -> Iterator[Path]:
    with data_folder() as folder:
        made = Material(folder)
        assert all(each.is_dir() for each in (made.run, made.study, made.story))
        yield folder


@pytest.fixture(scope="module")
def server(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Has a log-in, and lets others look."""
    home = tmp_path_factory.mktemp("home")
    (home / ".streamlit").mkdir()
    told = "".join(f"{name} = {json.dumps(text)}\n" for name, text in (AUTH | {"cookie_secret": SECRET}).items())
    (home / ".streamlit" / "secrets.toml").write_text(f"[auth]\n{told}")
    patch = pytest.MonkeyPatch()
    patch.setenv("HOME", str(home))
    patch.setenv(COORDINATORS, ADA["email"])
    patch.setenv(VIEWERS, "yes")
    with Server(data) as started:
        patch.undo()
        yield started


def kept(data: Path) -> dict[str, str]:
    """Every file of the data folder but the demo corpus and locks, and its content."""
    files = (each for each in data.rglob("*") if each.is_file() and not each.is_relative_to(data / "demo"))
    names = {each.relative_to(data): each for each in files}
    return {
        str(name): hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in names.items()
        if not any(part.startswith(".") or part.endswith(".lock") for part in name.parts)
    }


def browser(server: Server) -> CookieJar:
    """Cookies of a browser whose user the provider knows: as Streamlit leaves them after a log-in, one a log-in."""
    claims = {**ADA, "iat": time.time(), "origin": f"http://{server.address}", "provider": "default"}
    signed = URLSafeTimedSerializer(SECRET, salt="_streamlit_user").dumps(json.dumps(claims))
    told = {
        "version": 0,
        "port": None,
        "port_specified": False,
        "domain": "localhost.local",
        "domain_specified": False,
        "domain_initial_dot": False,
        "path": "/",
        "path_specified": True,
        "secure": False,
        "expires": None,
        "discard": False,
        "comment": None,
        "comment_url": None,
        "rest": {},
    }
    jar = CookieJar()
    jar.set_cookie(Cookie(name="_streamlit_user", value=str(signed), **told))
    return jar


def signed_in(server: Server) -> Visitor:
    """An operator's session on the page of the studies."""
    visitor = Visitor(server.address, "human_validation", STUDY, cookies=browser(server))
    assert visitor.named("button", "study.sign_out")
    return visitor


def pressed(name: str) -> WidgetState:
    return WidgetState(id=name, trigger_value=True)


def chosen(name: str, kind: str, words: str) -> WidgetState | None:
    """That words were typed or chosen; None where a widget holds none."""
    if kind in ("selectbox", "text_input", "text_area", "radio"):
        return WidgetState(id=name, string_value=words)
    if kind in ("multiselect", "button_group"):
        state = WidgetState(id=name)
        state.string_array_value.data.append(words)
        return state
    return None


def forged(widgets: dict[str, str], code: str) -> list[WidgetState]:
    """Everything pressed, and the path of a file of code typed into and chosen of everything that takes words."""
    words = (chosen(name, kind, f"{code}:Evil") for name, kind in widgets.items())
    return [*filter(None, words), *(pressed(name) for name, kind in widgets.items() if kind == "button")]


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of code that leaves a mark beside itself where it is run."""
    path = tmp_path_factory.mktemp("evil") / "evil.py"
    path.write_text("from pathlib import Path\nPath(__file__).with_suffix('.ran').touch()\nclass Evil: pass\n")
    return path


def test_a_viewer_uses_every_widget_of_an_operator_and_changes_nothing(server: Server, data: Path, evil: Path) -> None:
    operator = signed_in(server)
    before, more = kept(data), dict[str, int]()
    for page in [each.name for each in views() if each.name not in SLOW]:
        operator.go(page, QUERY.get(page, ""))
        theirs = operator.widgets()
        with Visitor(server.address, page, QUERY.get(page, "")) as viewer:
            hidden = {name: kind for name, kind in theirs.items() if name not in viewer.widgets()}
            more[page] = len(hidden)
            viewer.run(*forged(hidden, str(evil)))
    operator.close()
    assert kept(data) == before
    assert not evil.with_suffix(".ran").exists()
    assert {page for page, count in more.items() if count > 3} >= {
        "human_validation",
        "stories",
        "suites",
        "systems",
        "run_audit",
        "failures",
    }


def test_who_takes_up_an_operators_session_elsewhere_has_to_sign_in(server: Server) -> None:
    """The id of a session stands in the log of a proxy, as a part of the address of each upload."""
    with signed_in(server) as operator:
        with Visitor(server.address, "human_validation", STUDY, session=operator.session) as thief:
            assert not [each for each in thief.of("button") if each.id.endswith("-study.sign_out")]
            assert "Log in" in [each.label for each in thief.of("button")]
        with Visitor(
            server.address, "human_validation", STUDY, session=operator.session, cookies=operator.cookies
        ) as again:
            assert again.named("button", "study.sign_out")


def test_who_takes_up_a_session_with_the_token_elsewhere_needs_the_link(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOKEN, "open-sesame")
    with Server(data) as server, Visitor(server.address, "stories", "key=open-sesame") as operator:
        operator.go("human_validation", STUDY)
        assert len(operator.of("button")) > 4
        with Visitor(server.address, "human_validation", STUDY, session=operator.session) as thief:
            assert thief.session == operator.session, "Streamlit lets anybody take the session up"
            assert not thief.of("button")
        with Visitor(
            server.address, "human_validation", STUDY, session=operator.session, cookies=operator.cookies
        ) as again:
            assert again.session == operator.session
            assert len(again.of("button")) > 4


def test_a_viewer_chooses_what_no_widget_offers_and_nothing_is_opened(server: Server, data: Path, evil: Path) -> None:
    before = kept(data)
    for page in [each.name for each in views() if each.name not in SLOW]:
        with Visitor(server.address, page, QUERY.get(page, "")) as viewer:
            for name, kind in viewer.widgets().items():
                for words in (f"{evil}:Evil", *STRANGE):
                    if kind != "text_input" and (state := chosen(name, kind, words)):
                        viewer.run(state)  # a page that shows a fault ends this
    assert kept(data) == before
    assert not evil.with_suffix(".ran").exists()


def test_who_signs_out_in_the_same_message_changes_nothing_with_the_rest_of_it(server: Server, data: Path) -> None:
    """Callbacks run in the order of the message, before any page: the right is asked for again in each."""
    before = kept(data)
    operator = signed_in(server)
    widgets = operator.widgets()
    (status,) = [name for name in widgets if "study.status" in name]
    stopped = WidgetState(id=status)
    stopped.string_value = "Paused"
    acts = [name for name, kind in widgets.items() if kind == "button" and "sign_out" not in name]
    assert len(acts) > 4
    out = pressed(operator.named("button", "study.sign_out").id)
    with operator:
        operator.run(out, stopped, *map(pressed, acts))
        assert [each.label for each in operator.of("button")].count("Log in") == 1
    assert kept(data) == before
    with signed_in(server) as again:
        again.run(stopped)
    assert kept(data) != before
    assert Study(data / "studies" / "siege").state().status == PAUSED


def test_a_page_that_is_not_listed_is_not_opened_by_its_name(server: Server) -> None:
    with Visitor(server.address, "run_audit", "") as viewer:
        assert not [each for each in viewer.widgets() if "run." in each]
    with pytest.raises(Gone, match="no button"), Visitor(server.address, "run_audit", "") as viewer:
        viewer.press("run.start")
