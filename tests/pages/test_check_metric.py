"""Your own metric on New run: a template, its file, and the command's check with its verdict in place."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.evaluators import registry
from core.evaluators.functions import metrics_in
from core.jobs import job_queue
from core.jobs.command_jobs import CheckRequest
from core.probes.titles import family_title
from core.settings import assets_dir
from pages.views.run_audit.own_metric import FILES
from tests.audit.squares import HISTOGRAM
from tests.jobs.here import drain, run_here
from tests.pages.opening import LAB, RUN, Open, led, missing_told, said


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    run_here(monkeypatch)
    yield
    registry._OF_FILES.clear()


def named(app: AppTest, reference: str) -> AppTest:
    return app.text_input(key=FILES).set_value(reference).run()


def test_without_an_evaluator_it_says_what_to_choose(open_page: Open) -> None:
    app = open_page(RUN, evaluators="")
    assert not app.exception
    assert "Name a file first, or choose an evaluator above." in said(app)
    assert "run.check.start" not in [each.key for each in app.button]


def test_a_wrong_name_lists_the_evaluators_of_the_file_alone(open_page: Open) -> None:
    app = named(open_page(RUN, evaluators=""), f"{HISTOGRAM}s")
    assert not app.exception
    sentence = next(each.value for each in app.error if "Histograms" in each.value).replace("\\", "")
    assert "has no 'Histograms' that is an Evaluator class" in sentence
    assert "Histogram" in sentence.split("it has")[1]
    assert "Sequence" not in sentence
    assert "np" not in sentence.split("it has")[1]
    assert "run.check.start" not in [each.key for each in app.button]
    assert "Your own metric cannot be used yet. Why stands at its file." in said(app)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("import math\ndef score(images captions):\n", "mine.py cannot be read as Python: line 2: "),
        ("LIMIT = 3\n", "mine.py defines no metric; give it one function of (images, captions) or (image, caption)"),
        ("\ndef score(img, text): ...\n", "mine.py defines no metric: line 2, score takes (img, text); give it one"),
        (
            "def one(image, caption): ...\ndef two(images, captions): ...\n",
            "mine.py defines 2 metrics; say which: {path}:one or {path}:two",
        ),
        ("import math\nmath.sqrt(-1)\ndef score(images, captions): ...\n", "(line 2: math.sqrt(-1))"),
    ],
)
def test_a_file_that_cannot_be_used_says_so_at_its_field_with_the_line(
    open_page: Open, tmp_path: Path, content: str, sentence: str
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(content)
    app = named(open_page(RUN, evaluators=""), str(path))
    assert not app.exception
    field = next(each for each in app.expander if each.label == "Your own metric")
    (told,) = field.error
    assert sentence.format(path=path) in told.value.replace("\\", "")
    assert app.button(key="run.start").disabled
    assert not job_queue.list_jobs()[0]


def test_a_template_stands_on_the_page_and_is_one_metric(open_page: Open) -> None:
    app = open_page(RUN, own="yes")
    assert next(each for each in app.expander if each.label == "Your own metric").proto.expanded
    codes = [each.value for each in app.code if "def " in each.value]
    assert [next(iter(metrics_in(each.encode(), "x.py"))) for each in codes] == ["my_metric", "my_metric", "MyMetric"]
    assert len(app.get("download_button")) >= 3


def checked(open_page: Open, path: Path, content: str, *, items: int = 3) -> AppTest:
    """A check of a file from the page, once it ended."""
    path.write_text(content)
    app = named(open_page(RUN, evaluators=""), str(path))
    assert not app.error, said(app)
    app.number_input(key="run.check.items").set_value(items).run()
    app.multiselect(key="run.check.probes").set_value(["vertical-flip", "cultural"]).run()
    app.button(key="run.check.start").click().run()
    assert len(job_queue.list_jobs()[0]) == 1
    drain()
    app.run()
    assert not app.exception
    return app


@pytest.mark.parametrize(
    ("body", "sentences"),
    [
        (
            "return [1 / (len(each.split()) % 2) for each in captions]",
            ["No score for ", "The first: score raised ZeroDivisionError", "(line 2: return [1 / (len(each.split())"],
        ),
        ("return [float(i) for i in range(len(captions))]", ["**score** fails.", "score each pair by itself"]),
    ],
)
def test_a_function_that_breaks_its_contract_is_told_in_words_where_it_was_checked(
    open_page: Open, tmp_path: Path, body: str, sentences: list[str]
) -> None:
    app = checked(open_page, tmp_path / "mine.py", f"def score(images, captions):\n    {body}\n")
    place = next(each for each in app.expander if each.label == "Your own metric")
    verdict = "\n".join(each.value for each in (*place.error, *place.warning)).replace("\\", "")
    for sentence in sentences:
        assert sentence in verdict, verdict


def test_a_function_that_was_checked_has_its_column_in_the_lab(open_page: Open, tmp_path: Path) -> None:
    template = (assets_dir() / "templates" / "function.py").read_text(encoding="utf-8")
    app = checked(open_page, tmp_path / "mine.py", template, items=12)
    assert "**my_metric** passes. It keeps all 9 promises." in said(app)
    (way,) = [each.proto for each in app.get("page_link") if each.proto.label.startswith("See its column")]
    assert led(way) == LAB
    lab = open_page(LAB, evaluators="my_metric,blind-length", probes="vflip")
    assert not lab.exception
    assert not lab.warning, said(lab)
    rows = next(each.value for each in lab.dataframe if "evaluator" in each.value)
    own = rows[(rows["evaluator"] == "my_metric") & (rows["probe"] == "vflip")]
    assert own["score"].notna().all()
    (tmp_path / "mine.py").write_text(template + "\n# another\n")
    assert "was changed since check check-my_metric-" in said(missing_told(open_page(LAB)))


def test_a_check_runs_as_a_job_and_its_report_stands_among_them(open_page: Open) -> None:
    app = named(open_page(RUN), HISTOGRAM)
    assert app.selectbox(key="run.check.metric").value == HISTOGRAM
    app.number_input(key="run.check.items").set_value(12).run()
    app.number_input(key="run.check.threshold").set_value(0.1).run()
    app.multiselect(key="run.check.probes").set_value(["vertical-flip", "blur", "foil"]).run()
    app.toggle(key="run.check.directional").set_value(True).run()
    assert "--threshold 0.1 --items 12 --probes vertical-flip,blur,foil --directional" in said(app).replace("\n", " ")
    app.button(key="run.check.start").click().run()
    (job,) = job_queue.list_jobs()[0]
    assert isinstance(job.request, CheckRequest)
    drain()
    app.run()
    assert not app.exception
    words = said(app)
    assert "**histogram** fails. It keeps all " in words
    assert "Its score changes by more than 0.1 % although the meaning stays: " in words
    assert f"{family_title('blur')} (median " in words
    table = next(each.value for each in app.dataframe if "Median |% change|" in each.value)
    assert set(table["Family"]) == {"null", "vertical-flip", "blur"}
    assert "fails" in set(table[""])
    assert table["95 % interval"].str.contains(" to ").any()
    broken = next(each.value for each in app.dataframe if "Failures, %" in each.value)
    assert list(broken["Family"]) == ["foil"]
    told = json.loads(job.request.report.read_text(encoding="utf-8"))
    for name in told["undecided"]:
        assert family_title(name) in words
    job.request.report.unlink()
    app.run()
    assert "check the metric again" in said(app)
