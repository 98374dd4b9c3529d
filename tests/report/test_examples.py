"""Example cards: every family once, with its pictures; one caption with its lexical edits, as they are stored."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.analysis.questions import Options, catalogue
from core.analysis.reading import read_table
from core.analysis.scope import Scope, narrow
from core.charts.spec import signed
from core.probes.titles import title
from core.report.document import Missing, Report, Table
from core.report.pair_slides import AS_IT_IS, CARD, cards, edited_caption
from core.report.report_files import write_folder
from core.settings import results_dir
from core.store.store import Store
from tests.analysis.made_runs import raw, shifts

LEXICAL = ("jumble", "masking", "removal", "repetition", "substitution")


@pytest.fixture(scope="module")
def captions() -> Iterator[Store]:
    with Store.open(results_dir() / "demo-captions") as store:
        yield store


def test_one_caption_stands_with_all_its_lexical_edits_and_every_score(captions: Store) -> None:
    table = read_table(captions, Scope(subject="human", language="en"))
    made = edited_caption(captions, table)
    assert isinstance(made, Table)
    assert (made.id, made.paper) == (CARD, "B, Figure 5")
    assert list(made.frame["family"]) == [AS_IT_IS, *LEXICAL]
    stored = raw(results_dir() / "demo-captions")
    (item,) = {name for name in stored["item"].unique() if f"of item {name} of corpus demo" in made.note}
    own = stored[(stored["item"] == item) & (stored["subject"] == "human") & (stored["language"] == "en")]
    for row in made.frame.to_dict("records"):
        rows = own[own["probe"] == ("identity" if row["family"] == AS_IT_IS else row["family"])]
        assert set(rows["caption"]) == {row["caption"]}
        assert {name: row[name] for name in table.evaluators} == pytest.approx(
            dict(zip(rows["evaluator"], rows["score"], strict=True))
        )
    assert made.frame["caption"].is_unique


def test_a_run_without_lexical_edits_says_what_it_lacks() -> None:
    with Store.open(results_dir() / "demo-prototypes") as store:
        found = edited_caption(store, read_table(store, Scope(directional=True)))
    assert isinstance(found, Missing)
    assert "no run has a directional probe of the axis lexical" in found.reason


def test_every_family_of_the_examples_has_a_card_with_its_pictures_and_scores() -> None:
    with Store.open(results_dir() / "demo-prototypes") as store:
        scope = narrow(store, Scope(directional=True))
        (slide,) = cards(store, scope).slides
        table = read_table(store, scope)
        (question,) = (each for each in catalogue(table) if each.id == "C27")
        (row,) = question.compute(table.view(), Options()).to_dict("records")
    assert slide.title.startswith(title(row["probe"]))
    assert f"item {row['item']}" in slide.of
    assert [len(picture.data) > 1000 for picture in slide.pictures] == [True, True]
    stored = shifts(raw(results_dir() / "demo-prototypes"))
    own = stored[(stored["item"] == row["item"]) & (stored["probe"] == row["probe"])].set_index("evaluator")
    assert {cells[0]: cells[2] for cells in slide.rows} == {
        name: signed(value) for name, value in own["percent"].items()
    }
    assert {cells[0] for cells in slide.rows if row[cells[0]] == "\u2713"} == set(own.index[own["delta"] < 0])


def test_families_of_another_caption_have_cards_too() -> None:
    with Store.open(results_dir() / "demo-scenes") as store:
        scope = narrow(store, Scope(subject="human", language="en", directional=True))
        slides = cards(store, scope).slides
        broken = store.query("select distinct family from scores where expectation = 'directional' and language = 'en'")
        families = store.query("select distinct probe, family from scores").set_index("probe")["family"]
    probes = [slide.of.split("probe ")[1].split(";")[0] for slide in slides]
    assert sorted(families[name] for name in probes) == sorted(broken["family"])
    assert {slide.of.split("caption ")[1].split(",")[0] for slide in slides} == {"human", "template"}
    assert all(slide.pictures for slide in slides)


def test_the_cards_are_a_page_of_the_folder(tmp_path: Path) -> None:
    with Store.open(results_dir() / "demo-prototypes") as store:
        scope = narrow(store, Scope(directional=True))
        report = Report("Title", "signature", {}, ())
        written = write_folder(store, scope, report, tmp_path, most=1)
    named = [path.name for path in written]
    assert named[-2:] == ["examples.html", "index.html"]
    assert "One comparison of every family that breaks the meaning, 1, with their pictures" in written[-1].read_text(
        "utf-8"
    )
    text = written[-2].read_text("utf-8")
    assert (text.count("<section"), text.count("<img")) == (1, 2)
