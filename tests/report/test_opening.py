"""The first page in words: every number is one of the tables', and each sentence is true of scores that hold little."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

from core.analysis.both_demands import FALLS, HALF, NO_FALL, NOT_ASKED
from core.analysis.facts import MAY_BE_TRUE
from core.analysis.flip_cells import shift_cells
from core.analysis.questions import Options, catalogue
from core.analysis.reading import read_table
from core.analysis.verdicts import UNDECIDED
from core.report import html, report_files
from core.report.build import build
from core.report.document import CAUTIONS, CITE, FIGURE, METHODS, TABLES, WORDS, Opening, Report, number
from core.report.opening_words import METHODS as HOW
from core.report.opening_words import MOST_CAUTIONS, MOST_NAMED, MOST_WORDS
from core.statistics.flip_risk import evident_gap
from core.store.store import Store
from tests.analysis.broken_runs import facts_of, rows_of, write_broken
from tests.analysis.made_runs import audited, scores_of, write_run


def frame(report: Report, id_: str) -> pd.DataFrame:
    return next(each for each in report.tables if each.id == id_).frame


def words_of(said: Opening) -> list[str]:
    texts = (
        *said.audited,
        *said.cautions,
        *said.evaluators,
        *(each for own in said.evaluators.values() for each in own),
    )
    return " ".join(texts).split()


@pytest.fixture(scope="session")
def said(paper_report: Report) -> Opening:
    assert paper_report.opening is not None
    return paper_report.opening


Say = Callable[[list[dict]], dict[str, tuple[str, ...]]]


@pytest.fixture
def say(tmp_path: Path) -> Iterator[Say]:
    """The sentences that some rows give, by evaluator."""

    def made(rows: list[dict]) -> dict[str, tuple[str, ...]]:
        with Store.open(write_run(tmp_path / "r", rows, corpus={"name": "c"})) as store:
            opening = build(store, whole=False, figures=False).opening
        assert opening is not None
        assert len(words_of(opening)) <= MOST_WORDS
        assert not re.search(r"\b(nan|inf|None)\b", " ".join(words_of(opening)))
        return dict(opening.evaluators)

    return made


def test_each_evaluator_has_three_short_sentences_by_name(said: Opening) -> None:
    assert list(said.evaluators) == sorted(said.evaluators)
    for verdict, moved, gap in said.evaluators.values():
        assert verdict == f"It changes under harmless edits, and it {NOT_ASKED}."
        assert re.match(
            r"Words that may be true aside, it changes most under .*, in either direction by .* "
            r"\([\d.]+ to [\d.]+, n = \d+\)",
            moved,
        )
        assert re.match(r"Differences below .* are no evidence that one is better \(.*, n = \d+\)\.", gap)


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
    for name, (_, moved, gap) in said.evaluators.items():
        worst = rows[rows["evaluator"] == name].sort_values("median_abs_percent").iloc[-1]
        shift = number(worst["median_abs_percent"], digits=1)
        named = worst["label"].replace("-", " ")
        told = re.search(rf"under {named}, in either direction by {shift} % \(([\d.]+) to ([\d.]+), n = 252\)", moved)
        assert told is not None
        low, high = map(float, told.groups())  # wider than that of a family picked beforehand
        assert low < worst["abs_low"] < worst["abs_high"] < high
        alone, picked = (
            [re.sub(r"\[.*?\]", "", each), re.findall(r"\[([\d.]+), ([\d.]+)\]", each)]
            for each in (f". {worst['direction'][0].upper()}{worst['direction'][1:]}.", moved)
        )
        assert picked[0].endswith(alone[0])
        bounds = picked[1], alone[1]
        for wide, own in zip(*bounds, strict=True):
            assert float(wide[0]) < float(own[0]) <= float(own[1]) < float(wide[1])
        assert f"{worst['median_abs_percent'] / worst['null_median']:.1f} times invisible edits" in moved
        own = gaps[(gaps["evaluator"] == name) & ~gaps["axis"].isin(["null", "societal"])]
        whole = own[own["of"] != "paper’s contrast"].sort_values("value")
        largest = whole.iloc[-1]
        assert gap.lower().startswith(largest["said"].lower())
        cells = {each.family: each for each in shift_cells(table.view()) if each.evaluator == name}
        level = 1 - 0.05 / len(whole)
        picked_gap = evident_gap(cells[largest["family"]].apart.pairs, level=level)
        assert picked_gap.low < largest["low"] < largest["high"] < picked_gap.high
        assert f"(largest under {largest['family'].replace('-', ' ')}; " in gap
        assert f"; {picked_gap.low:.3g} to {picked_gap.high:.3g}, n = {largest['n_items']})" in gap


def test_where_only_words_were_put_in_they_are_called_words_that_may_be_true(say: Say) -> None:
    (told,) = say(audited("gender:boy", "gender:girl", items=24)).values()
    assert told[0] == f"Only words that may be true were put in; it {NOT_ASKED}."
    assert f"gender words ({MAY_BE_TRUE})" in told[1]


def moved_by(moving: dict[str, int], *, items: int = 100) -> list[dict]:
    """Scores of one half; the first few items of a probe rise to 0.6."""
    probes = ["identity", "hflip", "rotate-5", "vflip"]
    return scores_of(probes, items, lambda probe, item: 0.6 if item < moving.get(probe, 0) else 0.5 + item / 1e6)


def test_of_medians_that_are_all_0_the_family_is_named_that_moves_most_items(say: Say) -> None:
    (told,) = say(moved_by({"hflip": 3, "vflip": 21})).values()
    assert told[0].startswith("It is not shown to be stable, and it ")
    assert told[1] == (
        "The middle item changes under none; under vertical flip 21 % of the edits of 100 items change it beyond the "
        "margin."
    )


def test_families_that_nothing_tells_apart_are_counted_and_not_told_apart_by_their_names(say: Say) -> None:
    (told,) = say(moved_by({"hflip": 30, "rotate-5": 30, "vflip": 30})).values()
    assert "under horizontal flip and 2 more alike 30 % of the edits of 100 items" in told[1]


@pytest.mark.parametrize("items", [1, 2, 9])
def test_of_few_items_nothing_is_claimed(say: Say, items: int) -> None:
    (told,) = say(audited("vflip", "hflip", items=items)).values()
    assert told[0] == f"It has too few items to tell whether it is stable, and it {NOT_ASKED}."
    assert f"(no interval, n = {items})" in told[1]
    assert "95 %" not in " ".join(told)


def test_a_constant_and_a_silent_evaluator_have_one_sentence_each(say: Say) -> None:
    rows = [
        *scores_of(["identity", "vflip"], 24, lambda probe, item: 0.5, evaluator="constant"),
        *scores_of(["identity", "vflip"], 24, lambda probe, item: None, evaluator="silent"),
    ]
    told = say(rows)
    assert [len(each) for each in told.values()] == [1, 1]
    assert all(each[0].startswith("Nothing can be said: ") for each in told.values())


def test_of_a_run_without_null_edits_no_multiple_of_them_is_said(say: Say) -> None:
    (told,) = say(audited("vflip", items=24)).values()
    assert "invisible edits" not in " ".join(told)


def test_of_negative_scores_no_percent_is_said(say: Say) -> None:
    rows = scores_of(["identity", "vflip"], 24, lambda probe, item: -0.5 - item / 100 - 0.1 * (probe == "vflip"))
    (told,) = say(rows).values()
    assert told[0] == (
        f"Of no family is a change in percent known: some of its baseline scores are negative. It {NOT_ASKED}."
    )
    assert " % (" not in " ".join(told)


def test_of_one_source_nothing_is_claimed(tmp_path: Path) -> None:
    rows = audited("vflip", items=24)
    items = [{"corpus": "c", "item": f"i{place:03d}", "item_group": "the one"} for place in range(24)]
    with Store.open(write_run(tmp_path / "r", rows, items=items)) as store:
        opening = build(store, whole=False, figures=False).opening
    assert opening is not None
    (told,) = opening.evaluators.values()
    assert told[0].startswith("It has too few items to tell whether it is stable")


def test_of_many_evaluators_the_first_by_name_stand_and_the_others_are_counted(say: Say, tmp_path: Path) -> None:
    rows = [row for name in "hgfedcba" for row in audited("vflip", "hflip", evaluator=name)]
    assert list(say(rows)) == list("abcd")
    with Store.open(tmp_path / "r") as store:
        report = build(store, whole=False, figures=False)
    assert report.opening is not None
    assert f"{8 - MOST_NAMED} more stand in the data" in report.opening.audited[0]


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
    for word in ("3 metrics (evaluators)", "252 items", "corpus demo", "55 edits (probes)", "template"):
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
    verdicts = {name: own[0] for name, own in report.opening.evaluators.items()}
    assert verdicts["e"].endswith(f"and it {FALLS}.")
    assert verdicts["flat"].startswith("Nothing can be said: ")
    _, moved, broken = report.opening.evaluators["e"]
    assert "are no evidence" in moved
    worst = frame(report, "C-rates").query("evaluator == 'e'").sort_values("failure").iloc[-1]
    assert f"it fails most under {worst['family']}" in broken
    told = re.search(rf"in {worst['failure']:.0f} % of {worst['n']} comparisons \((\d+) to (\d+) %\)", broken)
    assert told is not None
    low, high = map(int, told.groups())  # wider than that of a family picked beforehand
    assert low <= round(worst["failure_low"]) <= round(worst["failure_high"]) <= high
    assert high - low > worst["failure_high"] - worst["failure_low"]
    row = frame(report, "C-selectivity").query("evaluator == 'e'").iloc[0]
    assert row["of"] == "verified"
    assert (
        f"with probability {row['value']:.2f} ({row['low']:.2f} to {row['high']:.2f}, n = {row['n_items']})" in broken
    )


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
    assert report.opening.evaluators["e"][0] == f"It changes under harmless edits, and it {NO_FALL}."
