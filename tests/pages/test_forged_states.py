"""A websocket may say that any widget was used, whether its session was shown it or not: a started server is not moved.

The ids of widgets follow from the pages' code and what they show, so a viewer who knows the code knows an operator's.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState

from bench.server import Server
from bench.visitor import Gone, Visitor
from core.human.ledger import PAUSED
from core.human.studies import Study
from pages.views.common.access import PASSWORD, VIEWERS
from siege.links import _pages
from siege.material import Material, data_folder

pytestmark = pytest.mark.filterwarnings("ignore:connect.. must be used:DeprecationWarning")

SECRET = "open sesame"
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
def server(data: Path) -> Iterator[Server]:
    patch = pytest.MonkeyPatch()
    patch.setenv(PASSWORD, SECRET)
    patch.setenv(VIEWERS, "yes")
    with Server(data) as started:
        yield started
    patch.undo()


def kept(data: Path) -> dict[str, str]:
    """Every file of the data folder but the demo corpus and locks, and its content."""
    files = (each for each in data.rglob("*") if each.is_file() and not each.is_relative_to(data / "demo"))
    names = {each.relative_to(data): each for each in files}
    return {
        str(name): hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in names.items()
        if not any(part.startswith(".") or part.endswith(".lock") for part in name.parts)
    }


def signed_in(server: Server) -> Visitor:
    """An operator's session on the page of the studies."""
    visitor = Visitor(server.address, "human_validation", STUDY)
    field = visitor.named("text_input", "study.password")
    (button,) = [each for each in visitor.of("button") if each.label == "Sign in"]
    visitor.run(WidgetState(id=field.id, string_value=SECRET), pressed(button.id))
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
    for page in [each for each in _pages() if each not in SLOW]:
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
        "human_validation", "stories", "suites", "systems", "run_audit", "failures",
    }  # fmt: skip


def test_who_takes_up_an_operators_session_elsewhere_has_to_sign_in(server: Server) -> None:
    """The id of a session stands in the log of a proxy, as a part of the address of each upload."""
    with signed_in(server) as operator:
        with Visitor(server.address, "human_validation", STUDY, session=operator.session) as thief:
            assert thief.session == operator.session, "Streamlit lets anybody take a session up"
            assert not [each for each in thief.of("button") if each.id.endswith("-study.sign_out")]
            assert thief.named("text_input", "study.password")
        with Visitor(
            server.address, "human_validation", STUDY, session=operator.session, cookies=operator.cookies
        ) as again:
            assert again.session == operator.session
            assert again.named("button", "study.sign_out")


def test_a_viewer_chooses_what_no_widget_offers_and_nothing_is_opened(server: Server, data: Path, evil: Path) -> None:
    before = kept(data)
    for page in [each for each in _pages() if each not in SLOW]:
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
    stopped.string_array_value.data.append("Paused")
    acts = [name for name, kind in widgets.items() if kind == "button" and "sign_out" not in name]
    assert len(acts) > 4
    out = pressed(operator.named("button", "study.sign_out").id)
    with operator:
        operator.run(out, stopped, *map(pressed, acts))
        assert [each.label for each in operator.of("button")].count("Sign in") == 1
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
