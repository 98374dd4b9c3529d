"""A metric's file that was brought: kept by its content and read without being run."""

import hashlib
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InvalidInput
from core.evaluators.functions import MOST_BYTES, keep_metric, kept_metrics, metrics_dir, metrics_in
from core.settings import assets_dir

METRIC = b"""raise SystemExit("it ran")
import core.evaluators.base as base
from core.evaluators.base import Evaluator, evaluator

class Helper: ...

@evaluator(name="one")
class One(Evaluator): ...

@base.evaluator(name="two")
class Two(Evaluator): ...
"""


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))


def test_it_is_kept_by_its_content_and_nothing_of_it_runs() -> None:
    found = keep_metric("../my metric (2).py", METRIC)
    path = Path(found[0].rpartition(":")[0])
    assert [each.rpartition(":")[2] for each in found] == ["One", "Two"]
    assert path.parent.parent == metrics_dir()
    assert path.name == "my_metric_2.py"
    assert path.read_bytes() == METRIC
    assert keep_metric("other.py", METRIC) == found == kept_metrics()
    other = keep_metric("my metric.py", METRIC + b"\n")
    assert set(kept_metrics()) == {*found, *other}


def test_a_link_under_a_name_that_was_foreseen_is_not_followed(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.write_bytes(b"mine")
    folder = metrics_dir() / hashlib.sha256(METRIC).hexdigest()[:16]
    folder.mkdir(parents=True)
    (folder / ".metric.part").symlink_to(foreign)
    assert len(keep_metric("metric.py", METRIC)) == 2
    assert foreign.read_bytes() == b"mine"
    assert not (folder / "metric.py").is_symlink()


@pytest.mark.parametrize("template", ["metric.py", "function.py", "pair.py"])
def test_each_template_is_one_metric(template: str) -> None:
    (reference,) = keep_metric(template, (assets_dir() / "templates" / template).read_bytes())
    assert reference.rpartition(":")[2]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"x = 1", r"own.py defines no metric; give it one function of \(images, captions\) or \(image, caption\)"),
        (b"", "own.py defines no metric; give it one function"),
        (b"\nclass Own:\n def score(self): ...", r"line 2, class Own, lacks @evaluator\(...\) above it"),
        (b"import x\n\ndef mine(img, text): ...", r"line 3, mine takes \(img, text\); give it one function"),
        (b"async def mine(image, caption): ...", "line 1, mine, is async; take that word out"),
        (b"def _mine(image, caption): ...", "own.py defines no metric; give"),
        (b"x = 1\ndef (", "cannot be read as Python: line 2: .*def .*mend that line"),
        (b"\x00", "cannot be read as Python"),
        (b"#" * (MOST_BYTES + 1), "at most 1,048,576 are taken"),
        (b"(" * 100_000, "cannot be read as Python"),
    ],
)
def test_what_is_no_metric_is_refused(content: bytes, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        keep_metric("own.py", content)
    assert not metrics_dir().exists()


@given(content=st.binary(max_size=300))
def test_whatever_is_brought_gives_names_or_a_sentence(content: bytes) -> None:
    with suppress(InvalidInput):
        assert all(each.isidentifier() for each in metrics_in(content, "own.py"))
