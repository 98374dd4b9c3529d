"""A file of evaluators in a server: described by another process, never imported in this one."""

import os
import sys
from pathlib import Path

import pytest

from core import registry
from core.errors import InvalidInput, NotAvailable
from core.evaluators import remote
from core.evaluators.registry import find
from core.evaluators.remote import describe
from tests.audit.squares import ENGLISH, GATED, HISTOGRAM, ORDERED, PAIRED

SPEC = """from core.evaluators.base import evaluator
from tests.plugins.histogram import SPEC, Histogram

@evaluator(name="own", title="Own", **SPEC)
class Own(Histogram):
    pass
"""


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_apart", True)


def written(folder: Path, text: str) -> str:
    path = folder / "own.py"
    path.write_text(text, encoding="utf-8")
    return f"{path}:Own"


@pytest.mark.parametrize("reference", [HISTOGRAM, PAIRED, ENGLISH, GATED, ORDERED])
def test_a_stand_in_answers_what_the_class_answers(reference: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = find(reference)
    monkeypatch.setattr(registry, "_apart", False)
    real = find(reference)
    assert seen is not real
    assert seen.spec == real.spec
    assert seen.availability() == real.availability()
    assert [f"{each.__module__}:{each.__qualname__}" for each in seen.__bases__[1:]] == describe(real)["bases"]


def test_the_file_runs_in_another_process_and_again_only_when_it_changed(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    text = f"import os\nopen({str(mark)!r}, 'a').write(f'{{os.getpid()}}\\n')\n{SPEC}"
    reference = written(tmp_path, text)
    assert find(reference).spec.name == "own"
    assert find(reference) is find(reference)
    ran = mark.read_text().split()
    assert len(ran) == 1
    assert str(os.getpid()) not in ran
    assert not [name for name in sys.modules if name == "invariscope_plugin_own"]
    written(tmp_path, text.replace('"own"', '"other"'))
    assert find(reference).spec.name == "other"


def test_it_cannot_be_made_here(tmp_path: Path) -> None:
    with pytest.raises(NotAvailable, match="runs in its own process"):
        find(written(tmp_path, SPEC))()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "import os\nos._exit(0)",
            r"own.py:Own ended the process that imported it \(exit code 0\): it said nothing; mend the file",
        ),
        ("raise RuntimeError('boom')", "cannot be imported: RuntimeError: boom"),
        (
            "import sys\nsys.exit('no thanks')",
            r"it ends the process that imports it \(SystemExit: no thanks\); take the exit out of it",
        ),
        (
            "class Own: ...",
            r"has no 'Own' that is an Evaluator class marked .* or a function of .*; it has none",
        ),
        ("import numpy as np\nx = 1", "has no 'Own' that is an Evaluator class .*; it has none"),
        (SPEC.replace("class Own", "class Owned"), "has no 'Own' that is an Evaluator class .*; it has Owned$"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        find(written(tmp_path, text))


def test_a_file_that_waits_for_ever_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "WAIT_S", 0.5)
    with pytest.raises(InvalidInput, match=r"not imported within 0\.5 seconds"):
        find(written(tmp_path, "while True:\n    pass"))


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no file"):
        find(f"{tmp_path}/gone.py:Name")


def test_an_answer_that_names_another_class_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = describe(find(written(tmp_path, SPEC)))
    for wrong in ({"bases": ["subprocess:Popen"]}, {"bases": ["core.evaluators.base:evaluator"]}, {"spec": {}}):
        monkeypatch.setattr(remote, "_ask", lambda _, told={**told, **wrong}: told)
        (tmp_path / "own.py").write_text(f"# {wrong}\n", encoding="utf-8")
        with pytest.raises(InvalidInput, match="nobody can read"):
            find(f"{tmp_path / 'own.py'}:Own")
