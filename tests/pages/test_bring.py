"""Photographs and metrics brought to Run an audit through the browser."""

import io
import tomllib
import zipfile
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.corpora.brought import pictures_dir
from core.evaluators.functions import metrics_dir
from core.jobs import job_queue
from core.probes.registry import catalogue
from core.settings import ROOT
from core.store.run_files import read_run
from pages.views.common import access
from tests.corpora.test_brought import CAPTIONS, archive, png
from tests.jobs.here import drain, run_here
from tests.pages.opening import OVERVIEW, RUN, Open, said, turned

ZIP = archive({"mine/a.png": png(), "mine/b.png": png(1), "mine/captions.csv": CAPTIONS, "mine/notes.txt": b"x"})
METRIC = Path(__file__).parents[1].joinpath("plugins", "histogram.py").read_bytes()


@pytest.fixture(autouse=True)
def jobs_run_here(monkeypatch: pytest.MonkeyPatch) -> None:
    run_here(monkeypatch)


def brought(app: AppTest, *files: tuple[str, bytes, str]) -> AppTest:
    return app.file_uploader(key="run.pictures").set_value(list(files)).run()


def test_a_zip_is_previewed_with_its_captions_and_audited(open_page: Open) -> None:
    app = brought(open_page(RUN, evaluators="blind-length", probes="vflip"), ("mine.zip", ZIP, "application/zip"))
    assert not app.exception
    words = said(app)
    assert "2 pictures in " in words
    assert "Neither pictures nor captions: mine/notes.txt." in words
    assert "A grey wall." in words
    assert "A door." in words
    assert "**2 items** in the corpus" in words
    (folder,) = pictures_dir().iterdir()
    root = app.query_params["root"]
    assert (root if isinstance(root, str) else root[0]) == str(folder.absolute())
    app.button(key="run.start").click().run()
    assert not app.exception
    (job,) = job_queue.list_jobs()[0]
    drain()
    assert job_queue.get(job.id).status == "complete", job_queue.get(job.id).log()
    told = read_run(job.run_folder).manifest
    assert told["corpus"]["name"] == f"photos-{folder.name[:8]}"
    assert told["counts"]["items_kept"] == 2


def test_single_files_make_a_corpus_too_and_another_corpus_stays_chosen(open_page: Open) -> None:
    files = [("a.png", png(), "image/png"), ("b.png", png(1), "image/png"), ("captions.csv", CAPTIONS, "text/csv")]
    app = brought(open_page(RUN, evaluators="blind-length", probes="vflip"), *files)
    assert "A grey wall." in said(app)
    app.selectbox(key="run.corpus").set_value("demo").run()
    assert not app.exception
    assert app.selectbox(key="run.corpus").value == "demo"


def test_captions_that_are_brought_are_held_and_the_template_where_none_is(open_page: Open) -> None:
    app = brought(open_page(RUN, evaluators="blind-length", probes="vflip"), ("mine.zip", ZIP, "application/zip"))
    assert app.segmented_control(key="run.subject").value == "human"
    app.segmented_control(key="run.subject").set_value("template").run()
    assert app.segmented_control(key="run.subject").value == "template"  # what is chosen then stays
    app = brought(open_page(RUN, evaluators="blind-length", probes="vflip"), ("a.png", png(), "image/png"))
    assert app.segmented_control(key="run.subject").value == "template"


def test_the_usual_probes_are_of_the_captions_that_are_held_until_somebody_chooses(open_page: Open) -> None:
    def chosen(app: AppTest) -> set[str]:
        return set(app.multiselect(key="run.probes").value)

    app = brought(open_page(RUN, evaluators="blind-length"), ("mine.zip", ZIP, "application/zip"))
    assert {"inserted-cultural:African", "foil", "negation", "vflip"} <= chosen(app)
    assert "cultural:African" not in chosen(app)
    app.segmented_control(key="run.subject").set_value("template").run()
    assert chosen(app) == {probe.name for probe in catalogue() if probe.default}
    app.multiselect(key="run.probes").set_value(["vflip"]).run()
    app.segmented_control(key="run.subject").set_value("human").run()
    assert chosen(app) == {"vflip"}


def test_captions_of_another_language_are_audited_in_it(open_page: Open) -> None:
    table = b"image,caption,language\na.png,Eine graue Wand.,de\n"
    files = [("a.png", png(), "image/png"), ("captions.csv", table, "text/csv")]
    app = brought(open_page(RUN, evaluators="blind-length", probes="vflip"), *files)
    app.button(key="run.start").click().run()
    assert not app.exception
    (job,) = job_queue.list_jobs()[0]
    assert (job.request.subject, job.request.languages) == ("human", ("de",))


def test_a_set_that_is_here_is_used_again_and_removed(open_page: Open) -> None:
    brought(open_page(RUN, evaluators="blind-length", probes="vflip"), ("mine.zip", ZIP, "application/zip"))
    (folder,) = pictures_dir().iterdir()
    app = open_page(RUN, evaluators="blind-length", probes="vflip")
    assert app.selectbox(key="run.corpus").value == "demo"
    (offered,) = app.selectbox(key="run.sets").options
    assert offered.startswith(f"photos-{folder.name[:8]} · 2 pictures · 0.0 MB · 20")
    app.button(key="run.sets.use").click().run()
    assert not app.exception
    assert "A grey wall." in said(app)
    app.button(key="run.sets.remove").click().run()
    assert not app.exception
    assert "is removed" in said(app)
    assert not list(pictures_dir().iterdir())
    assert app.selectbox(key="run.corpus").value == "demo"
    assert "run.sets" not in {each.key for each in app.selectbox}


def test_a_set_that_a_job_reads_is_not_removed(open_page: Open) -> None:
    app = brought(open_page(RUN, evaluators="blind-length", probes="vflip"), ("mine.zip", ZIP, "application/zip"))
    app.button(key="run.start").click().run()
    (job,) = job_queue.list_jobs()[0]
    assert job.status in job_queue.ACTIVE
    app.button(key="run.sets.remove").click().run()
    assert f"{job.id} reads these pictures" in said(app).replace("\\", "")
    assert list(pictures_dir().iterdir())


def test_pictures_without_captions_say_what_is_missing(open_page: Open) -> None:
    app = brought(open_page(RUN, evaluators="blind-length", probes="vflip"), ("a.png", png(), "image/png"))
    assert not app.exception
    assert "no caption" in said(app)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("bad.zip", b"no archive", "bad.zip cannot be unpacked"),
        ("out.zip", archive({"../a.png": png()}), "is no path inside the set"),
        ("none.zip", archive({"notes.txt": b"x"}), "holds no JPEG"),
    ],
)
def test_a_bad_archive_is_one_sentence(open_page: Open, name: str, content: bytes, sentence: str) -> None:
    app = brought(open_page(RUN), (name, content, "application/zip"))
    assert not app.exception
    assert [each.value for each in app.error if sentence in each.value.replace("\\", "")]
    assert app.selectbox(key="run.corpus").value == "demo"
    assert not list(pictures_dir().iterdir())


def test_a_broken_picture_is_named_in_the_preview(open_page: Open) -> None:
    broken = png()[:200] + bytes(300)
    app = brought(
        open_page(RUN, evaluators="blind-length", probes="vflip"),
        ("mine.zip", archive({"a.png": broken, "b.png": png(1)}), "application/zip"),
    )
    assert not app.exception
    assert "a.png" in said(app)


def test_a_metric_s_file_is_taken_only_where_the_server_allows_it(open_page: Open) -> None:
    app = open_page(RUN)
    assert "run.metric" not in [each.key for each in app.file_uploader]
    assert "INVARISCOPE_METRIC_UPLOADS=yes" in said(app)


def test_a_metric_that_was_brought_is_offered_like_a_path(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(access.METRIC_UPLOADS, "yes")
    app = open_page(RUN, evaluators="blind-length", probes="vflip", limit="3")
    app.file_uploader(key="run.metric").set_value(("histogram.py", METRIC, "text/x-python")).run()
    assert not app.exception
    (path,) = metrics_dir().glob("*/*.py")
    names = app.multiselect(key="run.metrics").value
    assert f"{path}:Histogram" in names
    assert app.selectbox(key="run.check.metric").value == names[-1]
    app.multiselect(key="run.metrics").set_value([f"{path}:Histogram"]).run()
    assert not app.exception
    assert not app.error, said(app)
    assert f"--evaluators blind-length,{path}:Histogram" in said(app).replace("\n", " ")
    app.file_uploader(key="run.metric").set_value(("x.py", b"def (", "text/x-python")).run()
    assert "x.py cannot be read as Python" in said(app)


def test_a_viewer_has_no_way_in(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(access.METRIC_UPLOADS, "yes")
    monkeypatch.setattr(access, "_local", lambda: False)
    assert not turned(open_page(OVERVIEW), RUN).run().get("file_uploader")
    assert not access.may_bring_code()


def test_the_archive_of_these_tests_is_one() -> None:
    assert zipfile.ZipFile(io.BytesIO(ZIP)).testzip() is None


def test_no_page_promises_a_larger_file_than_the_server_takes(open_page: Open) -> None:
    most = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["server"]["maxUploadSize"]
    uploads = open_page(RUN).get("file_uploader")
    assert uploads
    assert all(each.proto.max_upload_size_mb <= most for each in uploads)
