"""The first page in words: every number in it is one of the tables', and it says what must not be concluded."""

import re
from pathlib import Path

import pandas as pd
import pytest

from core.analysis.overview import fairness_card, picked_sizes
from core.analysis.reading import read_table
from core.analysis.selectivity import beside_chance
from core.analysis.verdicts import UNDECIDED
from core.report import html, markup
from core.report.build import build
from core.report.document import CAUTIONS, WORDS, Opening, Report, number
from core.store.store import Store
from tests.analysis.broken_runs import facts_of, rows_of, write_broken
from tests.analysis.made_runs import SHIPPED, audited, scores_of, write_run


def frame(report: Report, id_: str) -> pd.DataFrame:
    return next(each for each in report.tables if each.id == id_).frame


@pytest.fixture(scope="session")
def said(demo_report: Report) -> Opening:
    assert demo_report.opening is not None
    return demo_report.opening


def test_each_evaluator_has_a_sentence_on_drift_scatter_and_flip_risk(demo_report: Report, said: Opening) -> None:
    assert list(said.evaluators) == sorted(frame(demo_report, "S1")["evaluator"].unique())
    for sentences in said.evaluators.values():
        assert [each.partition(":")[0] for each in sentences][:3] == ["Drift", "Scatter", "Flip risk"]
        assert all(re.search(r"n = \d+ items", each) for each in sentences)


def test_the_worst_family_of_each_sentence_is_that_of_the_tables(demo_report: Report, said: Opening) -> None:
    rows, risks = frame(demo_report, "S1"), frame(demo_report, "S24")
    rows = rows[rows["tests"] != ""]
    for name, (drift, scatter, risk) in said.evaluators.items():
        own = rows[rows["evaluator"] == name]
        claimed = own[own["drift"].str.startswith("drifts")]
        far = own[["median_percent", "mean_percent"]].abs().max(axis=1)
        worst = (claimed if len(claimed) else own).assign(far=far).sort_values("far").iloc[-1]
        assert worst["label"].replace("-", " ") in drift
        assert worst["direction"] in drift
        assert f"n = {worst['n_items']} items" in drift
        wide = own.sort_values("median_abs_percent").iloc[-1]
        assert f"{wide['label'].replace('-', ' ')}" in scatter
        with Store.open(SHIPPED) as store:
            (size,) = picked_sizes(read_table(store).view(), [(name, wide["corpus"], wide["label"], len(own))])
        assert size.low <= wide["abs_low"] <= wide["abs_high"] <= size.high
        assert f"{number(size.low, digits=1)} to {number(size.high, digits=1)} %" in scatter
        assert f"{wide['median_abs_percent'] / wide['null_median']:.1f} times" in scatter
        own = risks[(risks["evaluator"] == name) & (risks["axis"] != "null") & (risks["of"] != "paper’s contrast")]
        gap = own.sort_values("value").iloc[-1]
        assert gap["family"].replace("-", " ") in risk
        assert gap["said"] in risk
        assert f"the limit is {gap['null_d']:.3g}" in risk


def moved_by(moving: dict[str, int], *, items: int = 100) -> list[dict]:
    """Scores of one half; the first few items of a probe rise to 0.6."""
    probes = ["identity", "hflip", "rotate-5", "vflip"]
    return scores_of(probes, items, lambda probe, item: 0.6 if item < moving.get(probe, 0) else 0.5 + item / 1e6)


def test_of_medians_that_are_all_0_the_family_is_named_that_the_card_names(tmp_path: Path) -> None:
    write_run(tmp_path / "r", moved_by({"hflip": 3, "vflip": 21}))
    with Store.open(tmp_path / "r") as store:
        report, view = build(store), read_table(store).view()
        worst = fairness_card(view).iloc[0]
    assert (worst["family"], worst["median_abs_percent"]) == ("vertical-flip", 0.0)
    assert report.opening is not None
    drift, scatter, _ = report.opening.evaluators["e"]
    assert "79 % of the items stand still; of those that move 100 % [85, 100] rise" in drift
    assert "all 3 medians are 0.0 %; items move most under edits of the family vertical flip, the middle one" in scatter
    assert "n = 100 items), 21 % of their edits beyond the margin" in scatter
    told = [each for each in report.opening.cautions if "no drift" in each]
    assert told == []


def test_what_scatters_without_a_drift_is_named_and_how_many_more(tmp_path: Path) -> None:
    moved = (1.04, 0.96, 1.003, 0.997, 1.02, 0.98)

    def value(probe: str, item: int) -> float:
        return 0.5 if probe == "identity" else 0.5 * moved[item % 6]

    told = [scores_of(["identity", "vflip", "hflip"], 90, value, evaluator=name) for name in "abcd"]
    rows = [row for each in told for row in each]
    with Store.open(write_run(tmp_path / "r", rows)) as store:
        report = build(store)
    still = frame(report, "S1")
    assert set(still["drift"]) == {"no drift beyond the margin"}
    assert set(still["scatter"]) == {"scatters beyond the margin"}
    assert report.opening is not None
    (told,) = [each for each in report.opening.cautions if "no drift" in each]
    assert told.startswith(
        "That no drift means that nothing moves: items of a under edits of the family horizontal flip, "
    )
    assert "c under edits of the family vertical flip and 2 more move beyond the margin" in told


def test_families_that_nothing_tells_apart_are_not_told_apart_by_their_names(tmp_path: Path) -> None:
    with Store.open(write_run(tmp_path / "r", moved_by({"hflip": 30, "rotate-5": 30, "vflip": 30}))) as store:
        report = build(store)
    assert report.opening is not None
    _, scatter, risk = report.opening.evaluators["e"]
    assert "under edits of the family horizontal flip and 2 more alike" in scatter
    flips = "edits of the family vertical flip, edits of the family horizontal flip"
    assert f"under {flips} and edits of the family rotation, the worst here" in risk


def test_a_drift_that_no_median_shows_is_told_by_those_that_move(demo_report: Report, said: Opening) -> None:
    rows = frame(demo_report, "S1")
    row = rows[(rows["evaluator"] == "grounding-judge") & (rows["label"] == "vertical-flip")].iloc[0]
    assert (row["drift"], row["high"]) == ("drifts", 0)
    assert "of those that move 70 % [63, 76] fall" in row["direction"]
    assert row["direction"] in said.evaluators["grounding-judge"][0]


def test_what_must_not_be_concluded_follows_the_tables(demo_report: Report, said: Opening) -> None:
    told = " ".join(said.cautions)
    rows = frame(demo_report, "S1")
    rows = rows[rows["tests"] != ""]
    assert f"{(rows['drift'] == UNDECIDED).sum()} of {len(rows)} drifts are undecided" in told
    cut = frame(demo_report, "S-cut")
    assert f"cut the object of {cut['cut_items'].max()} items" in told
    turns = cut[(cut["edit"] == "rotation by ±10°") & cut["label"].str.contains("without")].set_index("evaluator")
    for word, said in (("same", "stays"), ("cannot be told", "cannot be told"), ("turned", "turns")):
        named = sorted(turns.index[turns["direction"] == word])
        assert (f"{said} for {named[0]}" in told) if named else (f"direction {said} for" not in told)
    assert "nobody was asked about pairs of these runs" in told
    assert "blur, which moves no object" in told
    assert "without a score" not in told  # every pair of the shipped run has one


def test_pairs_without_a_score_are_counted(tmp_path: Path) -> None:
    rows = audited("vflip", items=12)
    for row in rows[-2:]:
        row["score"] = None
    with Store.open(write_run(tmp_path / "r", rows)) as store:
        report = build(store)
    assert report.opening is not None
    assert "Anything about 2 pairs without a score" in " ".join(report.opening.cautions)


def test_it_says_what_was_audited(demo_report: Report, said: Opening) -> None:
    told = " ".join(said.audited)
    for word in ("3 evaluators", "252 items", "corpus demo", "55 probes", "vertical flip", "template", "language en"):
        assert word in told


@pytest.mark.parametrize(
    ("written", "escape"),
    [
        (markup.markdown, markup.markdown_escaped),
        (markup.latex, markup.latex_escaped),
        (lambda report: html.html(report, interactive=False), html.escape),
    ],
    ids=["markdown", "latex", "html"],
)
def test_every_format_opens_with_the_words_then_the_summary_then_the_papers_tables(
    demo_report: Report, said: Opening, written, escape
) -> None:
    text = written(demo_report)
    for sentence in (*said.audited, *said.cautions, *(each for own in said.evaluators.values() for each in own)):
        assert escape(sentence) in text
    places = [
        text.index(each)
        for each in (
            WORDS,
            CAUTIONS,
            "Summary",
            "Tables of the paper",
            "Figures</h2>" if "<h2>" in text else "Figures",
            "Further tables",
        )
    ]
    assert places[:4] == sorted(places[:4])
    assert places[3] < places[5]


def test_where_meanings_were_broken_a_fourth_sentence_says_what_it_fails_to_see(tmp_path: Path) -> None:
    told = facts_of(["masked", "denied"], {"falsity": ["verified"]})
    with Store.open(write_broken(tmp_path / "r", rows_of(), facts=told)) as store:
        report = build(store)
    assert report.opening is not None
    drift, _, _, broken = report.opening.evaluators["e"]
    assert drift.startswith("Drift: ")
    worst = frame(report, "C-rates").sort_values("failure").iloc[-1]
    assert broken.startswith(f"Broken meaning: it fails most under edits of the family {worst['family']}")
    ends = f"{worst['failure_low']:.0f} to {worst['failure_high']:.0f} %"
    assert f"in {worst['failure']:.0f} % of {worst['n']} comparisons (95 % interval {ends}, ties 0 %)" in broken
    row = frame(report, "C-selectivity").iloc[0]
    assert row["of"] == "verified"
    assert broken.endswith(f"{beside_chance(*row[['chance', 'above', 'above_low', 'above_high']])}.")
    assert f"with probability {row['value']:.2f} (95 % interval {row['low']:.2f} to {row['high']:.2f}" in broken
    written = markup.markdown(report)
    assert "## Where the meaning breaks: papers B to E" in written
    assert "### C3 · Lexical edits: does the score drop? (paper B, Tables 7–11)" in written
    assert "(paper B, Figure 6)" in html.html(report)
    assert written.count("| C12 | C, Table 2 | no evaluator of these runs was held to a suite") == 1
    assert "| C13 | C, Table 6 | it compares captioners" in written
