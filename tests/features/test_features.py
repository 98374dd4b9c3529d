"""Features: found in the folder and in installed packages, in one order; a broken one takes nothing with it."""

import json
import logging
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from typer.testing import CliRunner, Result

from core.__main__ import app
from core.analysis.questions import MAKERS, catalogue, makers
from core.analysis.reading import read_table
from core.commands._shared import Code
from core.features import feature
from core.jobs.job_files import JOB, read_job
from core.settings import ROOT
from core.store.store import Store
from pages.views.common import links
from tests.analysis.made_runs import audited, write_run

Install = Callable[..., None]

WHOLE = """
from dataclasses import replace
from pathlib import Path
from core.features.feature import Command, Entry, Feature, JobKind, QuestionMaker, View

FEATURE = Feature(
    name="clouds",
    summary="Whether clouds change the score.",
    entries=(Entry(str(Path(__file__).with_name("clouds_page.py")), "Clouds", ":material/cloud:", 55),),
    views=(View("drizzle", "Drizzle", "clouds.inside:drizzle", entry="leaderboard", place=15),),
    commands=(Command("clouds", "clouds.inside:say", "Count the clouds.", 75),),
    questions=(QuestionMaker("clouds.inside:questions"),),
    jobs=(JobKind("clouds", "clouds.inside:CloudRequest"),),
)
"""
INSIDE = '''
from dataclasses import replace
from typing import Literal
import typer
from core.analysis.questions import families
from core.jobs.command_jobs import SuiteRequest

EPILOG = "The sky is the limit."

def say(many: int = 3) -> None:
    """Count the clouds of a picture."""
    typer.echo(f"{many} clouds")

def questions(table):
    return (replace(families.questions(table)[0], id="S-clouds", title="Clouds"),)

class CloudRequest(SuiteRequest):
    kind: Literal["clouds"] = "clouds"
'''
PAGE = "import streamlit as st\nst.title('How many clouds')\n"


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Put a package with entry points on the path, as pip would."""
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
    monkeypatch.syspath_prepend(str(tmp_path))

    def put(name: str, **files: str) -> None:
        told = tmp_path / f"{name}-1.0.dist-info"
        told.mkdir()
        (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (told / "entry_points.txt").write_text(f"[{feature.GROUP}]\n{name} = {name}:FEATURE\n")
        (tmp_path / name).mkdir()
        for stem, text in files.items():
            (tmp_path / name / f"{stem}.py").write_text(text)
        forget()

    def forget() -> None:
        for name in [each for each in sys.modules if each.partition(".")[0] in ("clouds", "torn")]:
            del sys.modules[name]
        feature.features.cache_clear()
        links._troubles.cache_clear()

    yield put
    monkeypatch.undo()
    forget()


def call(*words: str) -> Result:
    return CliRunner().invoke(app, words)


def opened() -> AppTest:
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).switch_page("pages/words.py").run()


def menu_of(page: AppTest) -> list[str]:
    return [each.proto.page for each in page.get("page_link")]


def test_a_feature_of_a_package_has_its_page_its_command_its_question_and_its_jobs(
    install: Install, store: Store, tmp_path: Path
) -> None:
    install("clouds", __init__=WHOLE, inside=INSIDE, clouds_page=PAGE)
    assert not feature.troubles(followed=True)
    assert call("clouds", "--many", "5").output == "5 clouds\n"
    listed = call("--help").stdout
    assert "Count the clouds." in listed
    assert listed.index("check") < listed.index("clouds") < listed.index("verify")
    assert "The sky is the limit." in call("clouds", "--help").stdout
    (own,) = [each for each in catalogue(read_table(store)) if each.id == "S-clouds"]
    assert not own.needs(read_table(store))
    titles = [each.title for each in feature.entries()]
    assert titles.index("Clouds") == titles.index("Leaderboard") + 1
    assert [each.name for each in feature.views() if each.entry == "leaderboard"] == ["systems", "drizzle", "flip_risk"]
    shown = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    shown.switch_page(str(tmp_path / "clouds" / "clouds_page.py")).run()
    assert [each.value for each in shown.title] == ["How many clouds"]


def test_a_job_of_a_kind_of_a_package_is_read_as_that_kind(install: Install, tmp_path: Path) -> None:
    install("clouds", __init__=WHOLE, inside=INSIDE, clouds_page=PAGE)
    kind = feature.job_kind("clouds")
    request = kind(run_id="r", files=("/a.json",), images=("/i",), evaluators=("conse-lite0",))  # type: ignore[operator]
    folder = tmp_path / "r"
    folder.mkdir()
    (folder / JOB).write_text(json.dumps(request.model_dump(mode="json")))
    (folder / "state.json").write_text(json.dumps({"status": "waiting", "turn": 1, "queued": "now"}))
    assert read_job(folder)[0] == request


def test_a_feature_that_cannot_be_imported_is_named_and_the_rest_works(install: Install) -> None:
    install("torn", __init__="import clouds_of_yesterday")
    (sentence,) = feature.troubles()
    assert "invariscope.features:torn" in sentence
    assert "No module named 'clouds_of_yesterday'" in sentence
    listed = call("--help")
    assert listed.exit_code == 0
    assert sentence in listed.stderr
    assert "calibrate" in listed.stdout
    unknown = call("torn")
    assert unknown.exit_code == Code.BAD_INPUT
    assert sentence in unknown.stderr
    assert "No such command 'torn'" in unknown.stderr
    assert sentence not in call("probes", "reasons").stderr
    told = call("doctor", "--only", "features")
    assert told.exit_code == Code.FAILURES
    assert "torn" in told.stdout
    page = opened()
    assert not page.exception
    assert page.title
    assert "torn" in page.sidebar.warning[0].value


def test_what_a_feature_names_and_cannot_be_imported_is_named_and_the_rest_works(
    install: Install, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    whole = catalogue(read_table(store))
    install("clouds", __init__=WHOLE, inside="raise RuntimeError('no sky')", clouds_page=PAGE)
    with caplog.at_level(logging.WARNING):
        assert [each.id for each in catalogue(read_table(store))] == [each.id for each in whole]
    assert "the feature clouds is not whole" in caplog.text
    assert "RuntimeError: no sky" in caplog.text
    assert "Count the clouds." in call("--help").stdout
    failed = call("clouds")
    assert failed.exit_code == Code.NOT_AVAILABLE
    assert failed.stderr.count("\n") == 1
    assert "RuntimeError: no sky" in failed.stderr
    assert call("probes", "reasons").exit_code == Code.OK
    assert "no sky" in opened().sidebar.warning[0].value


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('"clouds", "clouds.inside:say"', '"audit", "clouds.inside:say"'), "another feature has the command 'audit'"),
        (('"clouds_page.py"', '"words.py"'), "another feature has the page 'words'"),
        (('name="clouds"', 'name="human"'), "another feature has the name 'human'"),
        (('JobKind("clouds"', 'JobKind("suite"'), "another feature has the kind of jobs 'suite'"),
        (('"clouds_page.py"', '"nowhere.py"'), "nowhere.py is missing"),
        (('"clouds_page.py"', '"results.py"'), "another feature has the page 'results'"),
        (('View("drizzle"', 'View("results"'), "another feature has the page 'results'"),
        (('entry="leaderboard"', 'entry="nowhere"'), "its view 'drizzle' is of an entry 'nowhere' that nobody has"),
    ],
)
def test_a_feature_that_takes_what_is_anothers_is_left_out(
    install: Install, change: tuple[str, str], said: str
) -> None:
    install("clouds", __init__=WHOLE.replace(*change), inside=INSIDE, clouds_page=PAGE)
    (sentence,) = feature.troubles()
    assert said in sentence
    assert "clouds" not in feature.features() or change[0] == 'name="clouds"'
    assert call("--help").exit_code == Code.OK


def test_every_page_and_command_and_maker_of_questions_is_of_one_feature() -> None:
    assert not feature.troubles(followed=True)
    files = Counter(entry.file for entry in feature.entries())
    assert files == Counter(str(path.relative_to(ROOT)) for path in (ROOT / "pages").glob("*.py"))
    modules = Counter(each.code.partition(":")[0] for each in feature.commands())
    assert set(modules.values()) == {1}
    assert {name.rpartition(".")[2] for name in modules if name.startswith("core.commands.")} == {
        path.stem for path in (ROOT / "core" / "commands").glob("*.py") if not path.stem.startswith("_")
    }
    asked = Counter(f"{each.__module__}:{each.__name__}" for each in makers())
    assert set(asked.values()) == {1}
    own = {each.code: each.before for found in feature.features() for each in found.questions}
    assert asked.keys() - own.keys() == {f"{each.__module__}:{each.__name__}" for each in MAKERS}
    assert {each for each in own.values() if each} <= asked.keys()
    folders = {path.parent.name for path in (ROOT / "core" / "features").glob("*/__init__.py")}
    assert {*feature.features().names()} == folders | {"trunk"}


def test_a_run_is_asked_the_questions_of_features_where_they_put_them(tmp_path: Path) -> None:
    write_run(tmp_path / "r", audited("vflip"), corpus={"name": "c"})
    with Store.open(tmp_path) as store:
        sections = list(dict.fromkeys(each.section for each in catalogue(read_table(store))))
    assert sections[-1] == "calibration"
    assert "flips" in sections
