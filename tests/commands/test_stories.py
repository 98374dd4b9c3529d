"""``stories`` and ``publish --html``: what is handed on, whole and without a server."""

import re
from pathlib import Path

import pytest

from core.analysis.facts import WHY, may_be_true
from core.analysis.failures import scales
from core.analysis.ranking import rank
from core.analysis.reading import read_table
from core.analysis.scope import Scope, narrow
from core.analysis.slices import Slice
from core.commands._shared import Code
from core.report.pair_slides import furthest, slides
from core.settings import ROOT
from core.store.store import Store
from core.stories.story import Slide, Story
from tests.analysis.made_runs import audited, write_run
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


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A run of a few items, which is reported in seconds; its pictures are nowhere."""
    return write_run(tmp_path / "small", audited("vflip", "rotate-5", "rotate+5", items=12))


def test_a_run_is_published_as_pages_that_lead_to_each_other(invoke: Invoke, data: Path, small: Path) -> None:
    folder = data / "site"
    done = invoke("publish", small, "--html", folder, "--most", "3")
    assert done.exit_code == Code.OK, done.output
    index = (folder / "index.html").read_text("utf-8")
    named = re.findall(r'href="([^"#]+)"', index)
    assert named == ["report.html", "card.html", "failures.html"]
    texts = {name: (folder / name).read_text("utf-8") for name in named}
    assert texts["failures.html"].count("<section") == 3
    assert "The pictures are not here" in texts["failures.html"]
    assert "Collected" not in texts["failures.html"]
    told = re.search(r"<code>(invariscope:[^<]+)</code>", index)
    assert told
    assert all(told[1] in text for text in texts.values())
    for text in texts.values():
        assert not re.findall(r"""(?:src|href)=["'](?!data:|#)""", text.split("<body>")[-1])
    again = invoke("publish", small, "--html", folder)
    assert again.exit_code == Code.BAD_INPUT
    assert "say --overwrite" in again.output


def test_the_furthest_pairs_of_the_shipped_run_have_their_pictures() -> None:
    with Store.open(DEMO) as store:
        scope = narrow(store)
        told = furthest(store, scope, most=4)
        table = read_table(store, scope.only())
        known = tuple(set(table.families()) - may_be_true(table))
        found = rank(table, Slice(families=known), scales(table), order="standardised", limit=4, once=True)
    assert [each.of for each in told.slides] == [
        f"Run demo, corpus demo, item {pair['item']}, caption template, language en, probe {pair['probe']}; one pair"
        for _, pair in found.pairs.iterrows()
    ]
    assert all(each.pictures[0].data.startswith(b"\xff\xd8") for each in told.slides)
    assert {len(each.pictures) for each in told.slides} <= {1, 2}
    assert {each.rows[0][0] for each in told.slides} == {"conse-lite0"}


def test_a_pair_whose_word_may_be_true_says_so_and_heads_no_page() -> None:
    with Store.open(DEMO) as store:
        scope = narrow(store, Scope(evaluators=("conse-lite0",)))
        table = read_table(store, scope.only())
        words = may_be_true(table)
        assert words == {"cultural", "economic", "gender", "emotion"}
        found = rank(table, Slice(families=("cultural",)), scales(table), order="standardised", limit=1, once=True)
        (slide,) = slides(store, table, found.pairs, scales(table), words)
        first = furthest(store, scope, most=2)
    assert f"A word that may be true: {WHY}." in slide.said
    assert not any("may be true" in text for each in first.slides for text in each.said)


def test_something_must_be_asked_for(invoke: Invoke, data: Path) -> None:
    done = invoke("publish", DEMO)
    assert done.exit_code == Code.BAD_INPUT
    assert "--html FOLDER" in done.output
