"""Which callbacks of the pages ask again who pressed: found in the pages' own code, not in a list."""

import ast
import builtins

import pytest

from core.settings import ROOT
from pages.views.common import access
from pages.views.common.access import operators_only
from tests.pages.handlers import BRINGERS, WIDGETS, Found, Pages, pages

LOOKS = frozenset(
    {
        "address",
        "json.dumps",
        "math.isfinite",
        "order.index",
        "probes.catalogue",
        "probes.catalogue().names",
        "st.query_params.from_dict",
        "st.query_params.to_dict",
        "time.time",
    }
)
"""Calls out of the pages that callbacks make and that only look, or turn the link of who pressed."""

_READS = frozenset({*dir(str), "get", "items", "keys", "values"})
"""Methods of texts and dictionaries that change nothing."""

LINK = "asks the link of the annotator"
ANYBODY = {
    "pages/views/common/access.py:st.login": "signs in",
    "pages/views/common/access.py:log_out": "signs out",
    "pages/views/human_validation/human_view.py:_answer": LINK,
    "pages/views/human_validation/human_view.py:_comment": LINK,
    "pages/views/human_validation/human_view.py:_skip": LINK,
    "pages/views/human_validation/annotator_steps.py:_agree": LINK,
    "pages/views/human_validation/annotator_steps.py:_begin": LINK,
    "pages/views/human_validation/annotator_steps.py:_answer": LINK,
    "pages/views/probe_lab/lab_picture.py:lambda: _take_drawn(state, bench, small.shape[:2])": "a mask of a quota",
    "pages/views/probe_lab/lab_closer_looks.py:leave": "leaves its own search; it goes on for others who wait",
    "pages/views/probe_lab/lab_view.py:state.put": "turns its own view to an upload",
    "pages/views/systems/systems_view.py:state.put": "turns its own view to the form",
    "pages/views/video_view.py:_written": "reads the captions of a video that is here",
}
"""Callbacks that do more than look and ask no operator -> why whoever sees the widget may."""

WRITERS = {("core.features.suites.suite_result", "store"), ("core.features.systems.system_file", "write_leaderboard")}
"""Functions by which a page writes what a callback only asked for."""

GUARDS = frozenset({"operates", "brings", "may_operate", "may_bring", "may_bring_code"})


def does(found: Found, code: Pages) -> list[str]:
    """What a callback may change beyond the session of who pressed; nothing where it asks who that is."""
    return [each for each in code.effects(found) if not _looks(each)]


def _looks(called: str) -> bool:
    if called in LOOKS or called.startswith("st.session_state.") or hasattr(builtins, called):
        return called not in ("open", "exec", "eval", "setattr", "delattr", "__import__")
    return "." in called and called.rpartition(".")[2] in _READS


def found(code: Pages) -> dict[str, Found]:
    """Every callback of the pages, by file and name."""
    every = (each for widget in code.widgets() for each in code.behind(widget.file, widget.callback))
    return {each.name: each for each in every}


def test_every_callback_that_does_more_than_look_asks_who_pressed() -> None:
    code = pages()
    every = found(code)
    guarded = {name for name, each in every.items() if each.guarded}
    for page in ("stories", "failures", "human_validation", "suites", "systems", "run_audit", "runs", "probe_lab"):
        assert any(f"/{page}" in name.partition(":")[0] for name in guarded), page
    open_to_all = {name: does(each, code) for name, each in every.items()}
    assert {name: what for name, what in open_to_all.items() if what and name not in ANYBODY} == {}
    assert {name for name in ANYBODY if not open_to_all.get(name)} == set(), "no longer in the pages"
    for name, why in ANYBODY.items():
        assert why != LINK or "desk().whose" in open_to_all[name]


def test_what_a_page_writes_later_because_somebody_pressed_is_asked_for_and_written_by_operators_alone() -> None:
    code = pages()
    writing = [
        (file, call)
        for file, module in code.modules.items()
        for call in ast.walk(module.tree)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and module.imported.get(call.func.id) in WRITERS
    ]
    assert {file for file, _ in writing} == {"pages/views/systems/new_board.py"}
    assert [file for file, call in writing if not code.asks_first(file, call, GUARDS)] == []
    asked = [each for each in found(code).values() if each.file in dict(writing)]
    assert asked
    assert [each.name for each in asked if not each.guarded] == []


def test_whatever_a_press_runs_in_the_page_itself_stands_behind_the_same_question() -> None:
    code = pages()
    acting = [(file, each) for file, each in code.presses() if any(map(_changes, code.effects_of(file, each.body)))]
    assert {file for file, each in acting if code.asks_first(file, each, GUARDS)} == {
        "pages/views/human_validation/coordinator.py"
    }
    browsing = "pages/views/probe_lab/lab_picture.py"  # of a corpus that is here
    assert {file for file, each in acting if not code.asks_first(file, each, GUARDS)} == {browsing}


def _changes(called: str) -> bool:
    return not (_looks(called) or called.startswith("st."))


def test_whatever_brings_content_is_drawn_for_who_may_alone() -> None:
    code = pages()
    drawn = [(module.file, call) for module, call in code.calls(BRINGERS)]
    assert len(drawn) >= 8
    assert [f"{file}:{call.lineno}" for file, call in drawn if not code.asks_first(file, call, GUARDS)] == []


def test_callbacks_are_given_by_their_names_alone() -> None:
    """A dictionary of options could hide one from the tests above."""
    names = set().union(*WIDGETS.values())
    assert names >= {"on_click", "on_change", "on_submit", "on_select"}
    hidden = [
        file
        for file, module in pages().modules.items()
        for each in ast.walk(module.tree)
        if isinstance(each, ast.Constant) and each.value in names
    ]
    assert hidden == []


FORMS = {
    "name": "def f(): story.add(1)\nst.button('x', on_click=f)",
    "arguments": "def f(story): story.add(1)\nst.button('x', on_click=f, args=(1,))",
    "lambda": "st.button('x', on_click=lambda: story.add(1))",
    "nested": "def draw():\n    def f(): story.add(1)\n    st.button('x', on_click=f)",
    "local": "def draw():\n    f = partial(story.add, 1)\n    st.button('x', on_click=f)",
    "partial": "st.button('x', on_click=partial(story.add, 1))",
    "method": "st.button('x', on_click=story.add)",
    "choice": "st.button('x', on_click=None if no else story.add)",
    "returned": "def make():\n    return lambda: story.add(1)\nst.button('x', on_click=make())",
    "handed on": "def draw(act): st.button('x', on_click=act)\ndraw(story.add)",
    "field": "class Door:\n    act: object\ndef draw(doors: list[Door]):\n    "
    "for door in doors: st.button('x', on_click=door.act)\ndraw([Door(act=story.add)])",
    "class": "class S:\n    def put(self): story.add(1)\ndef draw(state: S): st.button('x', on_click=state.put)",
    "through": "def g(): story.add(1)\ndef f(): g()\nst.button('x', on_click=f)",
    "form": "with st.form('y'): st.form_submit_button('x', on_click=story.add)",
    "editor": "st.data_editor(table, on_change=story.add)",
    "uploader": "st.file_uploader('x', on_change=story.add)",
    "download": "st.download_button('x', b'', on_click=story.add)",
    "chat": "st.chat_input('x', on_submit=story.add)",
    "chart": "st.plotly_chart(figure, on_select=story.add)",
    "dialog": "@st.dialog('x', on_dismiss=story.add)\ndef draw(): pass",
    "component": "drawing(on_drawn_change=lambda: story.add(1))",
    "unknown": "st.button('x', on_click=table[0])",
}
"""How a page may say what a widget runs; each changes a story."""


@pytest.mark.parametrize("form", FORMS)
def test_a_callback_is_found_however_a_page_says_it(form: str) -> None:
    code = Pages({"pages/x.py": FORMS[form]})
    (each,) = found(code).values()
    assert does(each, code) == ["table[0]" if form == "unknown" else "story.add"]


def test_a_callback_that_asks_is_known_and_so_are_one_of_another_file_and_a_press() -> None:
    code = Pages(
        {
            "pages/a.py": "@operators_only\ndef act(): story.add(1)\ndef other(): story.add(2)",
            "pages/b.py": "from pages.a import act, other as own\nst.button('x', on_click=act)\n"
            "st.button('y', on_click=own)",
            "pages/c.py": "def asks():\n    if operates(): draw()\ndef draw():\n    if st.button('x'): story.add(1)",
            "pages/d.py": "def draw():\n    if st.form_submit_button('x'): story.add(1)\ndraw()",
        }
    )
    assert {name: does(each, code) for name, each in found(code).items()} == {
        "pages/a.py:act": [],
        "pages/a.py:other": ["story.add"],
    }
    assert [code.asks_first(file, each, GUARDS) for file, each in code.presses()] == [True, False]


def test_the_files_are_those_of_the_dashboard() -> None:
    assert {each.relative_to(ROOT).as_posix() for each in (ROOT / "pages").rglob("*.py")} < set(pages().modules)


@pytest.mark.parametrize("right", [True, False])
def test_a_callback_does_nothing_for_who_lost_the_right(right: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "may_operate", lambda: right)
    done = list[int]()
    operators_only(done.append)(1)
    assert done == [1] * right
