"""Ratings in several languages: English beside the mean of the others, from the stored result."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from core.corpora.suites import TAU_C, Rated, Suite
from core.features.suites.suite_result import SuiteResult, added, reached, result_of
from core.features.suites.suite_tables import language_table
from core.report.kept_results import NO_LANGUAGES, suite_tables
from core.scoring.suite_scores import SuiteScores

NONE = np.array([])
LANGUAGES = ("en", "de", "fr")


def _held(folder: Path, languages: tuple[str, ...] = LANGUAGES) -> tuple[SuiteResult, np.ndarray, list[Rated]]:
    """A stored result of evaluator ``e`` on 24 images with three rated captions in each language."""
    rng = np.random.default_rng(3)
    rated = [
        Rated(f"{image}", f"{code} {place}", float(rng.integers(1, 5)), code, code)
        for code in languages
        for image in range(24)
        for place in range(3)
    ]
    scores = rng.normal(size=len(rated)) + np.array([each.rating for each in rated])
    file = folder / "ratings.json"
    folder.mkdir(exist_ok=True)
    file.write_text("[]")
    suite = Suite("M-CapEval1k", TAU_C, tuple(rated))
    entry = reached(suite, SuiteScores(scores, NONE, NONE, ()), evaluator="e", made_with="f")
    return added(result_of(suite, [file]), entry), scores, rated


def test_the_mean_of_the_others_gives_each_language_the_same_weight(tmp_path: Path) -> None:
    result, scores, rated = _held(tmp_path)
    (row,) = language_table([result]).to_dict("records")
    ratings, codes = np.array([each.rating for each in rated]), np.array([each.language for each in rated])
    taus = {
        code: 100 * stats.kendalltau(scores[codes == code], ratings[codes == code], variant="c").statistic
        for code in LANGUAGES
    }
    assert row["english"] == pytest.approx(taus["en"])
    assert row["english_low"] < row["english"] < row["english_high"]
    assert row["others"] == pytest.approx((taus["de"] + taus["fr"]) / 2)
    rs = {code: 100 * stats.pearsonr(scores[codes == code], ratings[codes == code]).statistic for code in LANGUAGES}
    assert (row["english_r"], row["others_r"]) == pytest.approx((rs["en"], (rs["de"] + rs["fr"]) / 2))
    assert row["n"] == 72
    assert row["languages"] == f"de {taus['de']:.1f}, fr {taus['fr']:.1f}"


def test_without_english_the_others_stand_alone_and_one_language_has_no_row(tmp_path: Path) -> None:
    result, _, _ = _held(tmp_path, ("de", "fr"))
    (row,) = language_table([result]).to_dict("records")
    assert math.isnan(row["english"])
    assert not math.isnan(row["others"])
    assert language_table([_held(tmp_path, ("en",))[0]]).empty


def test_the_report_holds_the_table_where_a_result_has_languages_and_says_else_what_is_lacking(tmp_path: Path) -> None:
    several, one = _held(tmp_path / "several")[0], _held(tmp_path / "one", ("en",))[0]
    found = suite_tables([several, one], {"e"})
    table = next(each for each in found.tables if each.id == "C4")
    assert (table.paper, len(table.frame)) == ("B, Tables 3, 4 and 6", 1)
    assert "C4" not in {each.id for each in found.missing}
    lacking = {each.id: each.reason for each in suite_tables([one], {"e"}).missing}
    assert lacking["C4"] == NO_LANGUAGES
