"""``stories`` and ``publish --html``: what is handed on, whole and without a server."""

import re
from pathlib import Path

import pytest

from core.commands._shared import Code
from core.settings import ROOT
from core.stories.slide import Slide
from core.stories.story import Story
from tests.commands.calling import Invoke

DEMO = ROOT / "data" / "results" / "demo"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
    return tmp_path


def test_a_story_is_listed_and_written(invoke: Invoke, data: Path) -> None:
    assert "no story yet" in invoke("stories", "list").output
    Story.create("Where it breaks").add(Slide("One <b>", ("said",)))
    assert invoke("stories", "list").output == "where-it-breaks\t1\tWhere it breaks\n"
    output = data / "story.html"
    assert invoke("stories", "html", "where-it-breaks", "-o", output).exit_code == Code.OK
    assert "One &lt;b&gt;" in output.read_text("utf-8")
    refused = invoke("stories", "html", "where-it-breaks", "-o", output)
    assert refused.exit_code == Code.BAD_INPUT
    assert "say --overwrite" in refused.output
    assert invoke("stories", "html", "where-it-breaks", "-o", output, "--overwrite").exit_code == Code.OK
    for bad in (("gone", "-o", data / "x.html"), ("where-it-breaks", "-o", data / "x.pdf")):
        assert invoke("stories", "html", *bad).exit_code == Code.BAD_INPUT


def test_a_run_is_published_as_pages_that_lead_to_each_other(invoke: Invoke, data: Path) -> None:
    folder = data / "site"
    done = invoke("publish", DEMO, "--html", folder, "--most", "3")
    assert done.exit_code == Code.OK, done.output
    index = (folder / "index.html").read_text("utf-8")
    named = re.findall(r'href="([^"#]+)"', index)
    assert named == ["report.html", "card.html", "failures.html"]
    texts = {name: (folder / name).read_text("utf-8") for name in named}
    failures = texts["failures.html"]
    assert failures.count("<section") == 3
    assert failures.count("data:image/jpeg") >= 5
    assert "Collected" not in failures
    told = re.search(r"<code>(invariscope:[^<]+)</code>", index)
    assert told
    assert all(told[1] in text for text in texts.values())
    for text in texts.values():
        assert not re.findall(r"""(?:src|href)=["'](?!data:|#)""", text.split("<body>")[-1])
    again = invoke("publish", DEMO, "--html", folder)
    assert again.exit_code == Code.BAD_INPUT
    assert "say --overwrite" in again.output


def test_something_must_be_asked_for(invoke: Invoke, data: Path) -> None:
    done = invoke("publish", DEMO)
    assert done.exit_code == Code.BAD_INPUT
    assert "--html FOLDER" in done.output
