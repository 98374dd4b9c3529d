"""The first page in words: every number is one of the tables', and each sentence is true of scores that hold little."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

from core.analysis.both_demands import FALLS, HALF, NO_FALL, NOT_ASKED
from core.analysis.flip_cells import REVERSED, shift_cells
from core.analysis.questions import Options, catalogue
from core.analysis.reading import read_table
from core.analysis.verdicts import UNDECIDED
from core.report import html, report_files
from core.report.build import build
from core.report.document import CAUTIONS, CITE, FIGURE, METHODS, TABLES, WORDS, Opening, Report, number
from core.report.fairness_card import card_report
from core.report.opening_words import METHODS as HOW
from core.report.opening_words import MOST_CAUTIONS, MOST_IN_SENTENCE, MOST_NAMED, MOST_WORDS
from core.settings import ROOT
from core.statistics.flip_risk import evident_gap
from core.store.store import Store
from tests.analysis.broken_runs import facts_of, rows_of, write_broken
from tests.analysis.made_runs import audited, scores_of, write_run


def frame(report: Report, id_: str) -> pd.DataFrame:
    return next(each for each in report.tables if each.id == id_).frame


def texts_of(said: Opening) -> list[str]:
    told = (f"{name}. {' '.join(own)}" for name, own in said.evaluators.items())
    return [*said.audited, *told, *said.cautions]


def words_of(said: Opening) -> list[str]:
    return " ".join(texts_of(said)).split()


@pytest.fixture(scope="session")
def said(paper_report: Report) -> Opening:
    assert paper_report.opening is not None
    return paper_report.opening


def sentences(said: Opening) -> list[str]:
    return [each for text in texts_of(said) for each in re.split(r"(?<=[.!?])\s+", text)]


Say = Callable[[list[dict]], dict[str, tuple[str, ...]]]


@pytest.fixture
def say(tmp_path: Path) -> Iterator[Say]:
    """The sentences that some rows give, by evaluator."""

    def made(rows: list[dict]) -> dict[str, tuple[str, ...]]:
        with Store.open(write_run(tmp_path / "r", rows, corpus={"name": "c"})) as store:
            opening = build(store, whole=False, figures=False).opening
        assert opening is not None
        assert len(words_of(opening)) <= MOST_WORDS
        assert [each for each in sentences(opening) if len(each.split()) > MOST_IN_SENTENCE] == []
        assert not re.search(r"\b(nan|inf|None)\b", " ".join(words_of(opening)))
        return dict(opening.evaluators)

    return made


def test_each_evaluator_has_three_short_sentences_by_name(said: Opening) -> None:
    assert list(said.evaluators) == sorted(said.evaluators)
    for moved, falls, gap in said.evaluators.values():
        assert re.fullmatch(
            r"It changes under harmless edits; .* changes it most: [\d.]+ % \[[\d.]+, [\d.]+\], n = \d+; "
            r"[\d.]+ times invisible edits\.",
            moved,
        )
        assert falls == f"It {NOT_ASKED}."
        assert re.fullmatch(r"Differences below .* are reversed in 5 % of pairs or more \(.*, n = \d+\)\.", gap)


@pytest.mark.parametrize("name", ["example-report", "example-contrast"])
def test_the_page_in_words_of_an_example_is_short(name: str) -> None:
    text = (ROOT / "docs" / name / "report.md").read_text("utf-8").replace("\\", "").replace("**", "")
    page = text[text.index(f"## {WORDS}") : text.index(f"## {FIGURE}")]
    assert len(page.split()) <= MOST_WORDS
    told = re.split(r"(?<=[.!?])\s+", page)
    assert [each for each in told if len(each.split()) > MOST_IN_SENTENCE] == []
    cautions = re.findall(r"^- ", page, re.MULTILINE)
    assert 0 < len(cautions) <= MOST_CAUTIONS
    evaluators = [each for each in page.splitlines() if re.search(r"\. (It|Nothing|Of no|Only) ", each)]
    assert evaluators
    assert all(len(re.split(r"(?<=[.!?])\s+", each)) <= 4 for each in evaluators)  # the name and three sentences


def test_the_page_is_short_and_says_which_half_was_not_asked(said: Opening) -> None:
    assert len(words_of(said)) <= MOST_WORDS
    assert len(said.cautions) <= MOST_CAUTIONS
    assert said.audited[1] == HALF
    assert len(" ".join(HOW).split()) <= 200


def test_the_worst_family_is_that_of_the_tables_and_never_a_word_that_may_be_true(
    store: Store, paper_report: Report, said: Opening
) -> None:
    rows, table = frame(paper_report, "S1"), read_table(store)
    gaps = next(each for each in catalogue(table) if each.id == "S24").compute(table.view(), Options())
    rows = rows[(rows["tests"] != "") & (rows["axis"] != "societal")]
    for name, (moved, _, gap) in said.evaluators.items():
        worst = rows[rows["evaluator"] == name].sort_values("median_abs_percent").iloc[-1]
        shift = number(worst["median_abs_percent"], digits=1)
        named = worst["label"].replace("-", " ")
        told = re.search(rf"{named} changes it most: {shift} % \[([\d.]+), ([\d.]+)\], n = 252", moved)
        assert told is not None
        low, high = map(float, told.groups())  # wider than that of a family picked beforehand
        assert low < worst["abs_low"] < worst["abs_high"] < high
        assert f"{worst['median_abs_percent'] / worst['null_median']:.1f} times invisible edits" in moved
        own = gaps[(gaps["evaluator"] == name) & ~gaps["axis"].isin(["null", "societal"])]
        whole = own[own["of"] != "paper’s contrast"].sort_values("value")
        largest = whole.iloc[-1]
        assert gap.lower().startswith(largest["said"].lower())
        cells = {each.family: each for each in shift_cells(table.view()) if each.evaluator == name}
        level = 1 - 0.05 / len(whole)
        picked_gap = evident_gap(cells[largest["family"]].apart.pairs, level=level)
        assert picked_gap.low < largest["low"] < largest["high"] < picked_gap.high
        assert f"[{picked_gap.low:.3g}, {picked_gap.high:.3g}], n = {largest['n_items']})" in gap


def test_where_only_words_were_put_in_they_are_called_words_that_may_be_true(say: Say) -> None:
    (told,) = say(audited("gender:boy", "gender:girl", items=24)).values()
    assert told[0].startswith("Only words that may be true were put in; gender words change it most: ")
    assert told[1] == f"It {NOT_ASKED}."


def moved_by(moving: dict[str, int], *, items: int = 100) -> list[dict]:
    """Scores of one half; the first few items of a probe rise to 0.6."""
    probes = ["identity", "hflip", "rotate-5", "vflip"]
    return scores_of(probes, items, lambda probe, item: 0.6 if item < moving.get(probe, 0) else 0.5 + item / 1e6)


def test_of_medians_that_are_all_0_the_family_is_named_that_moves_most_items(say: Say) -> None:
    (told,) = say(moved_by({"hflip": 3, "vflip": 21})).values()
    assert told[0] == (
        "It is not clearly stable; medians are 0, but vertical flip moves 21 % of 100 items’ edits past ±1 %."
    )


def test_families_that_nothing_tells_apart_are_counted_and_not_told_apart_by_their_names(say: Say) -> None:
    (told,) = say(moved_by({"hflip": 30, "rotate-5": 30, "vflip": 30})).values()
    assert "horizontal flip and 2 more alike move 30 % of 100 items’ edits" in told[0]


@pytest.mark.parametrize("items", [1, 2, 9])
def test_of_few_items_nothing_is_claimed(say: Say, items: int) -> None:
    (told,) = say(audited("vflip", "hflip", items=items)).values()
    assert told[0].startswith("It has too few items to show stability; ")
    assert told[0].endswith(f" %, no interval, n = {items}.")
    assert "[" not in " ".join(told)


def test_a_constant_and_a_silent_evaluator_have_one_sentence_each(say: Say) -> None:
    rows = [
        *scores_of(["identity", "vflip"], 24, lambda probe, item: 0.5, evaluator="constant"),
        *scores_of(["identity", "vflip"], 24, lambda probe, item: None, evaluator="silent"),
    ]
    told = say(rows)
    assert [len(each) for each in told.values()] == [1, 1]
    assert [each[0] for each in told.values()] == ["Constant: invariance says nothing.", "No score."]


def test_of_a_run_without_null_edits_no_multiple_of_them_is_said(say: Say) -> None:
    (told,) = say(audited("vflip", items=24)).values()
    assert "invisible edits" not in " ".join(told)


def test_of_negative_scores_no_percent_is_said(say: Say) -> None:
    rows = scores_of(["identity", "vflip"], 24, lambda probe, item: -0.5 - item / 100 - 0.1 * (probe == "vflip"))
    (told,) = say(rows).values()
    assert told[0] == "Of no family is a change in percent known: some of its baseline scores are negative."
    assert " % [" not in " ".join(told)


def test_of_one_source_nothing_is_claimed(tmp_path: Path) -> None:
    rows = audited("vflip", items=24)
    items = [{"corpus": "c", "item": f"i{place:03d}", "item_group": "the one"} for place in range(24)]
    with Store.open(write_run(tmp_path / "r", rows, items=items)) as store:
        opening = build(store, whole=False, figures=False).opening
    assert opening is not None
    (told,) = opening.evaluators.values()
    assert told[0].startswith("It has too few sources to show stability; ")


def test_of_many_evaluators_the_worst_stand_by_name_and_the_others_are_counted(say: Say, tmp_path: Path) -> None:
    rows = [row for name in "fedcba" for row in audited("vflip", "hflip", evaluator=name)]
    for name in "AB":  # calm, and first by name
        rows += scores_of(["identity", "vflip", "hflip"], 24, lambda probe, item: 0.5 + item / 1e3, evaluator=name)
    assert list(say(rows)) == list("abcd")
    with Store.open(tmp_path / "r") as store:
        report = build(store, whole=False, figures=False)
    assert report.opening is not None
    assert f"{8 - MOST_NAMED} more stand in the data; none fails more" in report.opening.audited[0]


def test_what_must_not_be_concluded_follows_the_tables(paper_report: Report, said: Opening) -> None:
    told = " ".join(said.cautions)
    rows = frame(paper_report, "S1")
    rows = rows[rows["tests"] != ""]
    assert f"{(rows['drift'] == UNDECIDED).sum()} of {len(rows)} drifts are undecided" in told
    assert "nobody was asked about these" in told
    assert "the picture may support the word" in told
    assert "without a score" not in told  # every pair of the shipped run has one


def test_pairs_without_a_score_are_counted(tmp_path: Path) -> None:
    rows = audited("vflip", items=12)
    for row in rows[-2:]:
        row["score"] = None
    with Store.open(write_run(tmp_path / "r", rows)) as store:
        report = build(store, whole=False, figures=False)
    assert report.opening is not None
    assert "Anything about 2 pairs without a score" in " ".join(report.opening.cautions)


def test_it_says_what_was_audited(said: Opening) -> None:
    for word in ("metric (evaluator)", "3 metrics", "252 items", "corpus demo", "55 edits (probes)", "template"):
        assert word in said.audited[0]


@pytest.mark.parametrize(
    ("written", "escape"),
    [
        (report_files.markdown, report_files.markdown_escaped),
        (report_files.latex, report_files.latex_escaped),
        (html.html, html.escape),
    ],
    ids=["markdown", "latex", "html"],
)
def test_every_format_opens_with_the_words_then_the_figure_then_the_papers_tables(
    paper_report: Report, said: Opening, written, escape
) -> None:
    text = written(paper_report)
    for sentence in (*said.audited, *said.cautions, *(each for own in said.evaluators.values() for each in own)):
        assert escape(sentence) in text
    places = [text.index(each) for each in (WORDS, CAUTIONS, FIGURE, TABLES, METHODS, CITE)]
    assert places == sorted(places)
    assert escape(paper_report.signature.split("|")[0]) in text[places[-1] :]


def test_where_meanings_were_broken_the_same_breath_says_whether_it_falls(tmp_path: Path) -> None:
    told = facts_of(["masked", "denied"], {"falsity": ["verified"]})
    with Store.open(write_broken(tmp_path / "r", rows_of(("e", "flat", "truth")), facts=told)) as store:
        report = build(store)
    assert report.opening is not None
    assert report.opening.evaluators["flat"] == ("Constant: invariance says nothing.",)
    _, broken, gap = report.opening.evaluators["e"]
    assert broken.startswith(f"It {FALLS}; missed most: ")
    assert REVERSED in gap
    worst = frame(report, "C-rates").query("evaluator == 'e'").sort_values("failure").iloc[-1]
    told = re.search(rf": {worst['family']}, {worst['failure']:.0f} % of {worst['n']} \[(\d+), (\d+)\]\.", broken)
    assert told is not None
    low, high = map(int, told.groups())  # wider than that of a family picked beforehand
    assert low <= round(worst["failure_low"]) <= round(worst["failure_high"]) <= high
    assert high - low > worst["failure_high"] - worst["failure_low"]


def test_a_score_that_never_falls_is_named_so(tmp_path: Path) -> None:
    """It moves under flips alone: as still as any under what breaks the meaning."""
    rows = rows_of()
    clean = {row["item"]: row["score"] for row in rows if row["probe"] == "identity"}
    for row in rows:
        if row["expectation"] != "invariant":
            row["score"] = clean[row["item"]]
    with Store.open(write_broken(tmp_path / "r", rows)) as store:
        report = build(store, whole=False, figures=False)
    assert report.opening is not None
    assert report.opening.evaluators["e"][1].startswith(f"It {NO_FALL}; missed most: ")


@pytest.mark.parametrize("items", [3, 24])
def test_broken_meanings_without_a_harmless_edit_are_not_said_to_be_untested(say: Say, items: int) -> None:
    (told,) = say(rows_of(probes=["identity", "denied", "shuffled"], items=items)).values()
    assert "not tested" not in " ".join(told)
    assert [each.startswith("Missed most: denied, ") for each in told] == [True] * (items > 3)


def test_who_misses_nothing_is_said_to_miss_none(say: Say) -> None:
    told = say(rows_of(("truth",), probes=["identity", "vflip", "denied", "shuffled"]))["truth"]
    assert told[1].endswith("; missed none of 48 comparisons.")


def test_of_scores_that_do_not_differ_or_are_few_no_difference_is_said_to_be_trustworthy(tmp_path: Path) -> None:
    with Store.open(write_run(tmp_path / "few", audited("vflip", items=9), corpus={"name": "c"})) as store:
        assert "Differences" not in report_files.markdown(build(store, whole=False, figures=False))
    rows = rows_of(("truth",), probes=["identity", "vflip", "denied"])
    with Store.open(write_broken(tmp_path / "same", rows)) as store:
        assert "No difference" not in report_files.markdown(build(store, whole=False, figures=False))


def test_who_was_never_scored_leaves_nothing_open_of_the_others(tmp_path: Path) -> None:
    rows = [*audited("vflip", "null:shift1"), *audited("vflip", "null:shift1", evaluator="f", score=None)]
    with Store.open(write_run(tmp_path / "r", rows, corpus={"name": "c"})) as store:
        said = report_files.markdown(build(store, whole=False, figures=False))
    assert "what invisible edits do is not known" not in said


def test_the_trustworthy_gap_is_of_a_family_of_enough_items(say: Say) -> None:
    few = [row for row in audited("vflip", "hflip") if row["probe"] != "hflip" or row["item"] < "i004"]
    wide = [row | {"score": 100.0 * row["score"]} if row["probe"] == "hflip" else row for row in few]
    (told,) = say(wide).values()
    assert told[-1].endswith("(no interval, n = 24).")


def test_of_families_missed_equally_often_report_and_card_name_the_same_one_first(tmp_path: Path) -> None:
    rows = [row | {"score": int(row["item"][1:]) / 24 + 0.1} for row in rows_of()]
    with Store.open(write_broken(tmp_path / "r", rows)) as store:
        report, card = report_files.markdown(build(store, whole=False, figures=False)), card_report(store)
    assert "missed most: denied and 3 more alike" in report
    assert "What it fails to see most: denied " in card


def test_a_gap_of_rounding_is_none(say: Say) -> None:
    rows = [
        row | {"score": int(row["item"][1:]) / 24 + 0.4 - 0.05 * (row["probe"] != "identity")}
        for row in audited("vflip")
    ]
    (told,) = say(rows).values()
    assert told[-1].startswith("No difference between ")
