"""Runs appear and go while the app is open, and one broken file takes no page down."""

import shutil
from pathlib import Path

from core.settings import ROOT
from core.store.publishing import publish
from tests.pages.opening import OVERVIEW, RUNS, Open, texts

SHIPPED = ROOT / "data" / "results" / "demo"


def test_a_run_dropped_into_the_data_folder_appears_without_a_restart(open_page: Open, tmp_path: Path) -> None:
    app = open_page(OVERVIEW)
    assert "No runs yet" in texts(app)
    (tmp_path / "data").mkdir(exist_ok=True)
    publish([SHIPPED], tmp_path / "data" / "shared.duckdb")
    app.run()
    assert not app.exception
    assert "No runs yet" not in texts(app)
    (tmp_path / "data" / "shared.duckdb").unlink()
    shutil.copytree(SHIPPED, tmp_path / "data" / "runs" / "demo")
    app.run()
    assert not app.exception
    assert "No runs yet" not in texts(app)
    shutil.rmtree(tmp_path / "data" / "runs" / "demo")
    app.run()
    assert not app.exception
    assert "No runs yet" in texts(app)


def test_what_cannot_be_read_is_one_sentence_beside_the_rest(open_page: Open, tmp_path: Path) -> None:
    shutil.copytree(SHIPPED, tmp_path / "data" / "runs" / "demo")
    shutil.copytree(SHIPPED, tmp_path / "data" / "runs" / "half")
    (tmp_path / "data" / "runs" / "half" / "manifest.json").unlink()
    (tmp_path / "data" / "runs" / "text.duckdb").write_text("hello", encoding="utf-8")
    app = open_page(RUNS)
    assert not app.exception
    said = texts(app)
    assert "holds scores and no manifest.json" in said.replace("\\", "")
    assert "cannot be opened as a published file" in said
    assert [each.value for each in app.metric][:1] == ["1"]
