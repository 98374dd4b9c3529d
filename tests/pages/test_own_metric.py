"""A metric that a run was given by path: pages know it, ask it in another process, and say when it is gone."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.audit.run import run_audit
from core.corpora.registry import catalogue
from core.evaluators import registry
from core.settings import runs_dir
from core.store.run_files import read_run
from pages.views.common import access
from tests.manifests import edit_manifest
from tests.pages.opening import COMPARE, FLIP_RISK, GEOMETRY, LAB, SYSTEMS, Open, missing_told, said
from tests.plans import make_plan

HISTOGRAM = """import os
with open({mark!r}, "a") as file:
    file.write(f"{{os.getpid()}}\\n")
from core.evaluators.base import evaluator
from tests.plugins.histogram import SPEC, {base}


@evaluator(name="own-letters", title="Own letters", **SPEC)
class Own({base}):
    pass
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "metrics"


def audited(open_page: Open, folder: Path, *, base: str = "Histogram", items: int = 6) -> Path:
    """Audit the demo corpus with a metric of a file, after ``open_page`` set the folders; return the file."""
    folder.mkdir()
    path = folder / "letters.py"
    path.write_text(HISTOGRAM.format(mark=str(folder / "ran"), base=base), encoding="utf-8")
    plan = make_plan(
        catalogue().get("demo").load(),
        evaluators=[f"{path}:Own", "blind-length"],
        probes=["vflip", "hflip", "null", "cultural"],
        limit=items,
    )
    run_audit(plan, runs_dir(), run_id="mine")
    (folder / "ran").unlink()
    return path


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    registry._OF_FILES.clear()


def evaluators_of(app: object) -> list[str]:
    return list(next(each for each in app.multiselect if each.label == "Metrics").options)  # type: ignore[attr-defined]


def tables_of(app: AppTest) -> str:
    """Every table of a page as text."""
    return " ".join(each.value.to_string() for each in app.dataframe)


def test_a_run_keeps_which_file_it_was(open_page: Open, folder: Path) -> None:
    path = audited(open_page, folder)
    told = read_run(runs_dir() / "mine").manifest["evaluators"]
    assert told[0]["reference"] == f"{path}:Own"
    assert len(told[0]["file"]["sha256"]) == 64
    assert told[0]["file"]["text_encoder"] is True
    assert "file" not in told[1]


def test_the_lab_scores_with_it_in_another_process(open_page: Open, folder: Path) -> None:
    audited(open_page, folder)
    app = open_page(LAB, evaluators="own-letters,blind-length", probes="vflip,hflip")
    assert not app.exception
    assert not app.warning, said(app)
    assert "own-letters" in said(app)
    assert "Score of the unedited pair" in said(app)
    assert app.query_params["evaluators"] in (["own-letters,blind-length"], "own-letters,blind-length")
    ran = (folder / "ran").read_text().split()
    assert ran
    assert str(os.getpid()) not in ran
    assert not [name for name in sys.modules if name.startswith("invariscope_plugin_letters")]
    rows = next(each.value for each in app.dataframe if "evaluator" in each.value)
    own = rows[(rows["evaluator"] == "own-letters") & (rows["probe"] == "vflip")]
    assert own["score"].notna().all()


def test_looking_at_its_run_does_not_run_it(open_page: Open, folder: Path) -> None:
    audited(open_page, folder)
    for page in (LAB, COMPARE, FLIP_RISK):
        app = open_page(page)
        assert not app.exception
        assert not app.error, said(app)
    assert "own-letters" in evaluators_of(open_page(LAB))
    assert "own-letters" in tables_of(open_page(FLIP_RISK))
    assert not (folder / "ran").exists()


def test_a_changed_or_lost_file_is_a_sentence_and_nothing_of_it_runs(open_page: Open, folder: Path) -> None:
    path = audited(open_page, folder)
    with path.open("a") as file:
        file.write("# another\n")
    app = open_page(LAB, evaluators="own-letters,blind-length", probes="vflip")
    assert not app.exception
    assert "own-letters" not in evaluators_of(app)
    assert f"{path} was changed since run mine was made with it" in said(missing_told(app))
    assert "No such ready evaluator here, left out: own-letters" in said(app)
    app = open_page(GEOMETRY)
    assert not app.exception
    assert "was changed since run mine" in said(app)
    path.unlink()
    app = open_page(LAB)
    assert f"was given it by path, and {path} is gone; put the file back" in said(missing_told(app))
    assert not (folder / "ran").exists()


def test_a_file_that_changes_while_the_lab_is_open_is_left_out(open_page: Open, folder: Path) -> None:
    path = audited(open_page, folder)
    app = open_page(LAB, evaluators="own-letters,blind-length", probes="vflip")
    with path.open("a") as file:
        file.write("# another\n")
    app.run()
    assert not app.exception
    assert "own-letters" not in evaluators_of(app)
    assert "was changed since run mine" in said(missing_told(app))


def test_a_run_without_the_hash_offers_it_and_no_link_names_it(open_page: Open, folder: Path) -> None:
    audited(open_page, folder)
    told = read_run(runs_dir() / "mine").manifest["evaluators"]
    edit_manifest(runs_dir() / "mine", evaluators=[{k: v for k, v in each.items() if k != "file"} for each in told])
    app = open_page(LAB, evaluators="own-letters", probes="vflip")
    assert "own-letters" in evaluators_of(app)
    assert "left out: own-letters" in said(app)
    assert not (folder / "ran").exists()


def test_a_viewer_sees_its_scores_and_cannot_ask_it(
    open_page: Open, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    audited(open_page, folder)
    monkeypatch.setattr(access, "_local", lambda: False)
    app = open_page(LAB, evaluators="own-letters", probes="vflip")
    assert not app.exception
    assert "own-letters" not in evaluators_of(app)
    app = open_page(GEOMETRY)
    assert not app.exception
    assert "only the operator has its file asked" in said(app)
    assert "own-letters" in tables_of(open_page(FLIP_RISK))
    assert not (folder / "ran").exists()


def test_geometry_asks_its_text_encoder(open_page: Open, folder: Path) -> None:
    audited(open_page, folder)
    app = open_page(GEOMETRY, families="cultural", evaluator="own-letters")
    assert not app.exception
    assert not app.error, said(app)
    assert "Spearman's ρ" in said(app)
    assert str(os.getpid()) not in (folder / "ran").read_text().split()


def test_a_black_box_has_no_geometry_and_a_sentence_says_so(open_page: Open, folder: Path) -> None:
    audited(open_page, folder, base="PairedHistogram")
    app = open_page(GEOMETRY)
    assert not app.exception
    words = said(app)
    assert "Not applicable to **own-letters**: it was given by path and has no text encoder: it scores a pair" in words
    assert "known:" not in words
    assert not (folder / "ran").exists()


def test_captioners_are_ranked_by_it(open_page: Open, folder: Path) -> None:
    audited(open_page, folder)
    app = open_page(SYSTEMS, show="new", source="captions", judges="own-letters", count="2", edits="vflip")
    assert not app.exception
    app.button(key="systems.score").click().run()
    assert not app.exception
    assert not app.error, said(app)
    assert app.selectbox(key="systems.judge.widget").value == "own-letters"
    assert str(os.getpid()) not in (folder / "ran").read_text().split()
