"""The page Suites: empty, with results, with files that are none, and with a job that a reader starts."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from core.corpora.suites.suite_files import read_suite
from core.features.suites import suite_tables as tables
from core.features.suites.pair_risks import RISK_FIELDS
from core.features.suites.suite_result import added, reached, result_of, store, stored
from core.jobs import job_queue
from core.jobs.command_jobs import SuiteRequest
from core.scoring.suite_scores import SuiteScores
from core.settings import ROOT, results_dir, suites_dir
from pages.views.suites_view import FILE, NAME
from tests.analysis.suites.made import GROUPS, calibrated, pascal_file, pascal_result
from tests.pages.opening import SUITES, Open, collected, said
from tools.example_suite import example


@pytest.fixture
def kept(open_page: Open, tmp_path: Path) -> str:
    result = pascal_result(tmp_path / "source", "one", "two")
    return store(added(result, calibrated(result.reached[0]))).stem


def test_without_a_result_the_page_says_how_to_make_one(open_page: Open) -> None:
    app = open_page(SUITES)
    assert not app.exception
    assert "No results yet. A suite is" in said(app)
    assert "python -m core suite flickr8k.json images/" in said(app)


def test_an_example_is_one_click_away_and_does_not_call_itself_a_publishers(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_queue, "_wake", lambda *_, **__: False)  # the job stays in line: no process is started
    suite = read_suite(FILE)
    made = json.loads(FILE.read_text())
    assert suite.name == NAME
    assert len(suite.compared) == len(made["images"]) == 27
    assert made == example()
    assert not suite.left_out
    app = open_page(SUITES)
    assert not job_queue.list_jobs()[0]
    assert f"{len(suite.compared)} captions of the demo corpus" in said(app)
    app.button(key="suites.example").click().run()
    assert not app.exception
    (job,) = job_queue.list_jobs()[0]
    assert isinstance(job.request, SuiteRequest)
    assert job.request.files == (str(FILE),)
    store(result_of(suite, [FILE]))
    assert "Nobody was asked" in said(open_page(SUITES))
    assert all((Path(job.request.images[0]) / each["file_name"]).is_file() for each in made["images"])


def test_a_result_is_shown_as_its_tables_are_and_its_link_reproduces_it(open_page: Open, kept: str) -> None:
    app = open_page(SUITES, suite=kept, measure="accuracy_strict")
    assert not app.exception
    assert not app.warning
    (result,), _ = stored()
    shown = [each.value for each in app.dataframe]
    table_shown = next(frame for frame in shown if "unscored" in frame)
    table = tables.reached_table([result])
    assert table_shown["accuracy"].tolist() == table["accuracy"].round(1).tolist()
    assert len(table_shown) == 3 * 6  # three rows of evaluators, all, the mean and four groups
    decisions = next(frame for frame in shown if "decision" in frame)
    assert decisions["decision"].tolist() == tables.decision_table(result)["decision"].tolist()
    assert "Before and after calibration" in said(app)
    assert "**Accuracy %, a tie an error**" in said(app)
    assert all(chart.proto.alt for chart in app.get("plotly_chart"))


def test_its_figure_is_kept_with_the_hashes_of_its_files(open_page: Open, kept: str, own_folder: None) -> None:
    app = open_page(SUITES, suite=kept, measure="accuracy_strict")
    slide = collected(app, f"figure.{kept}-accuracy_strict")
    (result,), _ = stored()
    assert f"sha256 {result.sources[0].sha256[:12]}" in slide.of
    assert result.suite in slide.of
    assert slide.page == SUITES


def test_a_link_to_what_is_not_here_and_a_file_that_is_none_are_said(open_page: Open, kept: str) -> None:
    (suites_dir() / "broken.json").write_text("{}")
    app = open_page(SUITES, suite="gone")
    assert not app.exception
    assert "There is no result of a suite 'gone' here" in said(app)
    assert "broken.json is not a result of a suite" in said(app)
    assert app.dataframe


def test_a_result_with_a_run_shows_how_easily_its_comparisons_turn(open_page: Open, tmp_path: Path) -> None:
    path = tmp_path / "ours.csv"
    path.write_text("text,left,right,preferred\nt,a.jpg,b.jpg,left\nu,a.jpg,c.jpg,left\n")
    suite, scores = read_suite(path), SuiteScores(np.array([]), np.ones(2), np.zeros(2), ())
    row = {name: "vertical-flip" if name == "family" else 2 for name in RISK_FIELDS}
    entry = reached(suite, scores, evaluator="e", made_with="f", risks=pd.DataFrame([row]), risks_of="demo")
    store(added(result_of(suite, [path]), entry))
    app = open_page(SUITES)
    assert not app.exception
    assert "How easily does a comparison turn?" in said(app)
    shown = next(each.value for each in app.dataframe if "family" in each.value)
    assert shown["family"].tolist() == ["vertical-flip"]
    assert "two pictures of one text" in said(app)
    assert "of ratings, and of two captions of one picture, it is not" not in said(app)


def test_a_suite_of_captions_says_that_no_flip_risk_is_told_of_it(open_page: Open, kept: str) -> None:
    told = said(open_page(SUITES))
    assert "No flip risk: it needs two pictures of one text" in told
    assert "How easily does a comparison turn?" not in told


@pytest.fixture
def published(tmp_path: Path) -> tuple[Path, Path]:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for group in GROUPS[:3]:
        for number in range(12):
            Image.new("RGB", (8, 8), (10 * number, 0, 0)).save(folder / f"{group}{number}.jpg")
    return pascal_file(tmp_path / "source"), folder


def test_a_suite_is_started_as_a_job_and_its_line_for_a_shell_is_shown(
    open_page: Open, published: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_queue, "_wake", lambda *_, **__: False)  # the job stays in line: no process is started
    file, folder = published
    app = open_page(SUITES, file=str(file), folder=str(folder), judges="blind-length")
    assert not app.exception
    assert f"suite {file} {folder} --evaluator blind-length" in said(app)
    app.button(key="suites.start").click().run()
    assert not app.exception
    (job,), _ = job_queue.list_jobs()
    assert isinstance(job.request, SuiteRequest)
    assert job.request.evaluators == ("blind-length",)
    assert job.id in said(app)
    app.button(key=f"run.cancel.{job.id}").click().run()
    assert job_queue.get(job.id).status == "cancelled"
    assert "resume it to begin anew" in said(app)


def test_the_run_that_says_how_easily_comparisons_turn_is_chosen_of_two_pictures_of_a_text_alone(
    open_page: Open, published: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(job_queue, "_wake", lambda *_, **__: False)
    for run in ("demo", "demo-captions"):
        shutil.copytree(ROOT / "data" / "results" / run, results_dir() / run)
    file, folder = published
    ours = tmp_path / "ours.csv"
    ours.write_text("text,left,right,preferred\nt,HC0.jpg,HC1.jpg,left\n")
    asked = {"folder": str(folder), "judges": "conse-lite2", "shifts": "demo"}
    app = open_page(SUITES, file=str(ours), **asked)
    assert not app.exception
    (choice,) = (each for each in app.selectbox if each.label.startswith("Run that says"))
    assert choice.options == ["None", "demo", "demo-captions"]
    assert "--evaluator conse-lite2 --run demo" in said(app)
    app.button(key="suites.start").click().run()
    (job,), _ = job_queue.list_jobs()
    assert isinstance(job.request, SuiteRequest)
    assert job.request.run == "demo"
    app.button(key=f"run.cancel.{job.id}").click().run()
    of_captions = open_page(SUITES, file=str(file), **asked)
    assert not [each for each in of_captions.selectbox if each.label.startswith("Run that says")]
    assert "--run" not in said(of_captions).split("--evaluator conse-lite2")[1][:20]


def test_metrics_of_references_can_be_chosen(
    open_page: Open, published: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_queue, "_wake", lambda *_, **__: False)
    file, folder = published
    app = open_page(SUITES, file=str(file), folder=str(folder), judges="cider-d")
    assert not app.exception
    assert not app.error
    app.button(key="suites.start").click().run()
    assert not app.error
    (job,), _ = job_queue.list_jobs()
    assert isinstance(job.request, SuiteRequest)
    assert job.request.evaluators == ("cider-d",)
    app.button(key=f"run.cancel.{job.id}").click().run()


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ({"folder": "/no/such"}, "Give the publisher's file."),
        ({"file": "relative.json", "folder": "/no/such"}, "must be an absolute path"),
        ({"file": "/no/such/x.json", "folder": "/no/such"}, "there is no file /no/such/x.json"),
        ({"file": "{file}", "folder": "{file}"}, "is a file; give the folder"),
        ({"file": "{file}", "folder": "{file.parent}"}, "none of the 48 images"),
    ],
)
def test_what_cannot_be_started_is_one_sentence(
    open_page: Open, published: tuple[Path, Path], query: dict[str, str], why: str
) -> None:
    asked = {name: text.format(file=published[0]) for name, text in query.items()}
    app = open_page(SUITES, judges="blind-length", **asked)
    assert not app.exception
    assert why in said(app).replace("\\", "")
    assert app.button(key="suites.start").disabled
