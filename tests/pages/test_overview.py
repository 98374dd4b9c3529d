import json
import re
import shutil
from pathlib import Path

import pytest

from core.analysis.both_demands import answers, demands
from core.analysis.overview import fairness_card
from core.analysis.questions.controls import sentences
from core.analysis.questions.families import worst_slices
from core.analysis.reading import read_table
from core.audit.run import run_audit
from core.evaluators.pool import Pool
from core.probes.titles import family_title
from core.report.fairness_card import card_report
from core.settings import results_dir, runs_dir
from core.statistics.bootstrap import LEAST_N
from core.store.publishing import publish
from core.store.store import Store, default_store
from pages.views.common import access
from pages.views.overview.overview_evaluators import kind_of
from tests.analysis.broken_runs import rows_of, write_broken
from tests.analysis.made_runs import audited, write_run
from tests.analysis.test_degenerate_questions import noise, rows
from tests.audit.squares import HISTOGRAM, build_corpus
from tests.manifests import edit_manifest
from tests.pages.opening import FAILURES, OVERVIEW, RUNS, UNFOLDED, Open, led, said, shown, texts
from tests.plans import make_plan


def _audited(root: Path, count: int) -> Path:
    corpus = build_corpus(root, count)
    plan = make_plan(corpus, evaluators=[HISTOGRAM], probes=["vflip", "rotation", "null", "cultural"])
    return run_audit(plan, runs_dir(), run_id="squares-1", pool=Pool(budget_mb=100, device="cpu")).path


@pytest.fixture
def one_run(open_page: Open, tmp_path: Path) -> Path:
    return _audited(tmp_path / "corpus", 7)


@pytest.fixture
def findings_run(open_page: Open, tmp_path: Path) -> Path:
    """A run with enough items for a verdict, and so for findings."""
    return _audited(tmp_path / "corpus", 2 * LEAST_N)


def test_a_run_is_told_with_its_numbers_and_their_n(open_page: Open, findings_run: Path) -> None:
    app = open_page(OVERVIEW, **UNFOLDED)
    said = texts(app)
    assert not app.exception
    assert "Worst finding" in said
    assert f"n = {2 * LEAST_N} items" in said
    assert "95 % CI" in said
    assert "too few items" not in said
    assert {each.label: each.value for each in open_page(RUNS).metric}["Pictures"] == str(2 * LEAST_N)


def test_a_card_that_no_family_can_stand_on_says_why_once(open_page: Open) -> None:
    write_run(runs_dir() / "r", rows(lambda probe, item: 0.1 * noise(probe, item), 24, "c"), corpus={"name": "c"})
    app = open_page(OVERVIEW, **UNFOLDED)
    assert not app.exception
    assert texts(app).replace("\\", "").count("is not on the card: % change withheld") == 1


@pytest.mark.usefixtures("demo")
def test_the_card_says_what_the_blur_control_says(open_page: Open, store: Store) -> None:
    said = texts(open_page(OVERVIEW, **UNFOLDED)).replace("\\", "")
    for sentence in sentences(read_table(store).view()).values():
        assert sentence in said


def test_no_finding_rests_on_too_few_items(open_page: Open, one_run: Path) -> None:
    app = open_page(OVERVIEW, **UNFOLDED)
    said = texts(app)
    assert not app.exception
    assert "Of no harmless edit is it known whether it changes a score by more than the margin" in said
    assert "too few items" in said


def test_pictures_of_a_corpus_that_is_not_here_are_said_to_be_missing(open_page: Open, findings_run: Path) -> None:
    assert "The pictures of corpus squares are missing" in texts(open_page(OVERVIEW, **UNFOLDED)).replace("\\", "")


def test_a_run_that_is_not_complete_is_said_to_be_so(open_page: Open, one_run: Path) -> None:
    edit_manifest(one_run, status="interrupted")
    said = texts(open_page(RUNS)).replace("\\", "")
    assert "squares-1 is interrupted" in said


def test_a_run_that_was_stopped_before_its_first_score_opens_no_findings(open_page: Open, one_run: Path) -> None:
    def rows() -> list[str]:
        return [each.proto.label for each in open_page(RUNS).get("page_link") if "squares" in each.proto.label]

    assert len(rows()) == 1
    for name in ("scores", "items", "variants", "rejections"):
        shutil.rmtree(one_run / name, ignore_errors=True)
    edit_manifest(one_run, status="interrupted")
    assert rows() == []
    assert "nothing is scored yet" in texts(open_page(RUNS))


def test_a_run_without_a_seal_is_marked_unverified_and_a_damaged_one_is_not_shown(
    open_page: Open, one_run: Path
) -> None:
    def seals() -> list[str]:
        app = open_page(RUNS)
        return [seal for frame in app.dataframe if "seal" in frame.value for seal in frame.value["seal"]]

    assert seals() == ["at its close"]
    edit_manifest(one_run)
    assert seals() == ["unverified"]
    next(one_run.glob("scores/*.parquet")).unlink()
    app = open_page(RUNS)
    assert not app.exception
    assert "is not shown, because it is not whole" in texts(app).replace("\\", "")


def test_a_damaged_run_is_one_sentence_and_the_others_stay(open_page: Open, one_run: Path) -> None:
    broken = runs_dir() / "broken"
    broken.mkdir()
    (broken / "manifest.json").write_text("{", "utf-8")
    app = open_page(RUNS)
    assert not app.exception
    assert "cannot be read" in texts(app)
    assert {metric.label: metric.value for metric in app.metric}["Runs"] == "1"


def test_markup_in_a_manifest_is_shown_and_not_obeyed(open_page: Open, one_run: Path) -> None:
    (told,) = json.loads((one_run / "manifest.json").read_text("utf-8"))["evaluators"]
    edit_manifest(one_run, status="interrupted", evaluators=[told | {"name": "<img src=x onerror=alert(1)> **bold**"}])
    app = open_page(OVERVIEW, **UNFOLDED)
    assert not app.exception
    assert "<img" not in "\n".join(element.value for element in app.markdown)


def test_every_figure_has_a_text_for_those_who_cannot_see_it(open_page: Open, one_run: Path) -> None:
    app = open_page(OVERVIEW, **UNFOLDED)
    charts = app.get("plotly_chart")
    assert charts
    assert all(chart.proto.alt for chart in charts)
    assert all(table.proto.alt for table in app.get("arrow_data_frame"))


def test_a_finding_leads_into_its_failures_and_into_the_lab(open_page: Open, findings_run: Path) -> None:
    links = [each for each in open_page(OVERVIEW, **UNFOLDED).get("page_link") if led(each.proto) == FAILURES]
    assert links
    assert all("families" in str(each.proto) for each in links)


def test_the_whole_report_is_made_when_it_is_asked_for(open_page: Open, one_run: Path) -> None:
    app = open_page(OVERVIEW, **UNFOLDED)
    assert "invariscope:" not in texts(app)
    app.button(key="overview.report.make").click().run()
    assert not app.exception
    assert "invariscope:" in texts(app)
    assert {"HTML", "Markdown", "LaTeX", "Card to print"} <= {each.label for each in app.get("download_button")}


def test_a_published_file_is_taken_in_and_a_stranger_is_refused(open_page: Open, one_run: Path, tmp_path: Path) -> None:
    published = publish([one_run], tmp_path / "squares.duckdb").read_bytes()
    shutil.rmtree(one_run)
    app = open_page(RUNS)
    assert "No runs yet" in texts(app)
    app.get("file_uploader")[0].set_value(("cats.duckdb", b"not a database", "application/octet-stream")).run()
    assert "cats" in " ".join(each.value for each in app.error)
    app.get("file_uploader")[0].set_value(("squares.duckdb", published, "application/octet-stream")).run()
    assert not app.exception
    assert "1 run opened: squares-1" in " ".join(each.value for each in app.success).replace("\\", "")
    assert "squares-1" in str(app.dataframe[-1].value)


def test_the_screen_and_the_printed_card_state_the_same_flip_risk(open_page: Open, one_run: Path) -> None:
    said = texts(open_page(OVERVIEW, **UNFOLDED))
    risks = re.findall(
        r"Flip risk ([\d.]+) % \(no interval, n = 7, invisible edits ([\d.]+) %\)\. "
        r"It is at a gap of 0\.7 % of its spread, for captions of two different pictures",
        said,
    )
    printed = card_report(default_store())
    assert risks
    assert all(f"<td>{risk} (no interval), different pictures</td><td>{floor}</td>" in printed for risk, floor in risks)


def test_the_plane_of_nuisance_and_signal_is_that_of_what_holds_both_halves_and_named(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
    write_run(results_dir() / "template", audited("vflip", "hflip", "rotate-5", items=40), corpus={"name": "c"})
    alone = open_page(OVERVIEW, **UNFOLDED)
    assert not alone.exception
    assert "Half of the question is open" in said(alone)
    assert "was not tested on broken meanings" in said(alone)
    write_broken(results_dir() / "broken", rows_of(("e",)))
    app = open_page(OVERVIEW, run="template")
    assert not app.exception
    assert "Stable and sensitive?" in said(app)
    assert "Of run broken, captions from the corpus (en): what is chosen above has no wrong captions." in said(app)
    assert "Of run broken" not in said(open_page(OVERVIEW))  # the usual scope is the one that holds both halves


def test_a_tile_a_metric_says_how_many_times_its_drop_is_or_that_there_is_none(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
    names = ("e", "flat", *(f"<b>{letter}" for letter in "xyz"))
    write_broken(results_dir() / "broken", rows_of(names))
    app = open_page(OVERVIEW)
    assert not app.exception
    (tiles,) = (each.proto.body for each in app.get("html") if 'class="tiles"' in each.proto.body)
    told = [shown(each) for each in tiles.split("<li>")[1:]]
    with Store.open([results_dir() / "broken"]) as opened:
        wanted = answers(demands(read_table(opened).view()))
    assert [each.split()[0] for each in told] == [each.evaluator.split()[0] for each in wanted]
    assert any(
        re.search(r"^e Drops [\d.]+ × as far when .* \(95 % interval [\d.]+ (to [\d.]+|or more)\)\.", each)
        for each in told
    )
    assert any(
        re.search(r"^flat All the same scores: a drop has no unit\. Beats guessing on none of 5 tests\.$", each)
        for each in told
    )
    assert "<b>x" not in tiles
    assert "and 1 more" in shown(tiles)


@pytest.mark.usefixtures("demo")
def test_the_first_screen_has_the_plane_then_the_worst_finding_with_both_pictures(
    open_page: Open,
) -> None:
    app = open_page(OVERVIEW)
    told = said(app)
    assert re.search(
        r"Flipping the picture upside down changes \*\*\S+\*\*'s score by \*\*\d+\s%\*\* on a typical picture", told
    )
    assert "; here, by" in told
    assert "The edit is meant to be harmless. conse-lite2 was not tested on broken meanings." in told
    assert len(app.get("plotly_chart")) == 1
    assert len(app.image) == 2
    links = [each.proto.label for each in app.get("page_link")]
    assert links[:2] == ["Try your picture", "Audit your metric"]
    assert not app.dataframe


@pytest.mark.usefixtures("demo")
def test_every_evaluator_has_one_row_with_what_it_is(open_page: Open) -> None:
    rows = next(each.value for each in open_page(OVERVIEW, **UNFOLDED).dataframe if "Kind" in each.value)
    assert sorted(rows["Metric"]) == ["conse-lite0", "conse-lite2", "grounding-judge"]
    assert set(rows["Kind"]) == {"offline stand-in"}
    assert rows["Worst spatial edits"].str.fullmatch(r"[\w ]+ [\d.]+ % \([\d.]+ to [\d.]+\)").all()


def test_a_metric_of_ones_own_is_called_so(open_page: Open, findings_run: Path) -> None:
    rows = next(each.value for each in open_page(OVERVIEW, **UNFOLDED).dataframe if "Kind" in each.value)
    assert list(rows["Kind"]) == ["your own"]


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize("local", [True, False], ids=["operator", "viewer"])
def test_who_may_fetch_a_published_evaluator_has_the_way_to_it(
    open_page: Open, monkeypatch: pytest.MonkeyPatch, *, local: bool
) -> None:
    monkeypatch.setattr(access, "_local", lambda: local)
    app = open_page(OVERVIEW, **UNFOLDED)
    assert not app.exception
    ways = [led(each.proto) for each in app.get("page_link") if each.proto.label == "Get a published metric"]
    assert ways == (["run_audit"] if local else [])


def test_what_an_evaluator_is_does_not_hang_on_what_it_scored() -> None:
    assert kind_of("conse-lite0 (average frame)", {}) == kind_of("conse-lite0", {}) == "offline stand-in"
    assert kind_of("clipscore (average frame)", {}) == kind_of("emscore", {}) == "published"
    assert kind_of("clipscore", {"clipscore": "imported from a file"}) == "imported scores"
    assert kind_of("mine.py:Mine", {}) == "your own"


def test_without_a_run_it_says_what_this_is_and_how_to_begin(open_page: Open) -> None:
    app = open_page(OVERVIEW)
    assert "Which image-caption metrics ignore harmless edits, and notice wrong captions?" in said(app)
    assert "No runs yet" in said(app)


@pytest.mark.usefixtures("demo")
def test_the_worst_slices_are_those_of_the_question_and_name_how_many_were_looked_at(
    open_page: Open, store: Store
) -> None:
    view = read_table(store).view()
    for name in view.evaluators[:2]:
        app = open_page(OVERVIEW, **UNFOLDED, of=name)
        first = worst_slices(view)[lambda rows, own=name: rows["evaluator"] == own].iloc[0]
        assert f"Of **{first['n_cells']} groups**, the one that changes {name} most" in said(app)
        assert f"{family_title(first['family'])}* on items of category {first['category']}" in said(app)
        assert f"The whole family: {first['whole']:.1f} %" in said(app)


def test_without_enough_items_in_a_cell_no_slice_is_shown(open_page: Open, one_run: Path) -> None:
    assert "no cell of category and coverage has enough items" in said(open_page(OVERVIEW, **UNFOLDED)).lower()


@pytest.mark.usefixtures("demo")
def test_thresholds_stand_in_the_link_and_in_what_is_held_against_them(open_page: Open) -> None:
    usual, strict = open_page(OVERVIEW, **UNFOLDED), open_page(OVERVIEW, **UNFOLDED, margin="20", least="300")
    assert not strict.exception
    assert "held against a margin of" not in said(usual)
    assert "held against a margin of ±20 % and rest on at least 300 items" in said(strict)
    assert "more than the margin (yours: ±20 %, n ≥ 300)" in said(strict)
    assert "no cell of category, coverage and family has 300 items" in said(strict).lower()
    strict.number_input(key="overview.least").set_value(LEAST_N).run()
    strict.number_input(key="overview.margin").set_value(1.0).run()
    assert not {"margin", "least"} & set(strict.query_params)
    assert said(strict) == said(usual)
    odd = open_page(OVERVIEW, margin="-3", least="9")
    assert "must be a number from 10 to 10000" in said(odd)


def test_a_row_an_evaluator_has_both_claims_of_every_worst_family(open_page: Open, findings_run: Path) -> None:
    app = open_page(OVERVIEW, **UNFOLDED)
    board = next(each.value for each in app.dataframe if "Drift, spatial" in each.value)
    with default_store() as store:
        view = read_table(store).view()
        card = fairness_card(view).set_index("axis")
    assert board["Stability, spatial"].tolist() == [card.loc["spatial", "scatter"]]
    assert board["Drift, spatial"].iloc[0].endswith(card.loc["spatial", "drift"])
    assert len(board) == 1


def test_times_are_written_as_a_reader_reads_them(open_page: Open, demo: Path) -> None:
    (runs,) = (each.value for each in open_page(RUNS).dataframe if "seal" in each.value)
    assert runs["created"].str.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC").all()
