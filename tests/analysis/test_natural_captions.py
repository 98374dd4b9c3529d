"""Captions that people wrote: every table worked out anew from the raw Parquet by pandas, scipy and statsmodels."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import wilcoxon
from statsmodels.stats.proportion import proportion_confint

from core.analysis.questions import Options, Question, catalogue
from core.analysis.questions.social_words import UNTOLD, _beside, captions, natural_families
from core.analysis.reading import read_table
from core.analysis.slices import Slice
from core.analysis.table import ScoreTable
from core.analysis.verdicts import TOO_FEW, TOO_FEW_SOURCES
from core.store.store import Store
from tests.analysis.made_runs import raw, write_run
from tests.analysis.natural_runs import TEXTS, natural_rows, write_natural


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_natural(tmp_path_factory.mktemp("natural"))


@pytest.fixture(scope="module")
def table(folder: Path) -> Iterator[ScoreTable]:
    with Store.open(folder) as store:
        yield read_table(store)


def question(table: ScoreTable, id_: str) -> Question:
    return next(each for each in catalogue(table) if each.id == id_)


def answer(table: ScoreTable, id_: str, chosen: Slice | None = None) -> pd.DataFrame:
    return question(table, id_).compute(table.view(chosen or Slice()), Options())


@pytest.fixture(scope="module")
def wide(folder: Path) -> pd.DataFrame:
    """A row a counted caption of the economic family by the rules: cheap, neutral, expensive, and what was written."""
    rows = pd.concat([raw(run) for run in sorted(folder.iterdir())], ignore_index=True)
    rows = rows[rows["family"] == "natural-economic"]
    written = rows[rows["probe"].isin(["natural-economic:cheap", "natural-economic:expensive"])]
    written = written.sort_values(["corpus", "item"])
    text = written["caption"].str.casefold().str.strip(" .")
    written = written[~text.duplicated()].set_index(["corpus", "item"])
    scores = rows.pivot_table(index=["corpus", "item"], columns="probe", values="score").loc[written.index]
    both = {
        word: scores[f"natural-economic:{word}"].fillna(scores[f"natural-economic:swapped-{word}"])
        for word in ("cheap", "expensive")
    }
    return pd.DataFrame({**both, "neutral": scores["natural-economic:neutralised"], "written": written["modifier"]})


def test_captions_are_counted_once_over_all_corpora(table: ScoreTable, wide: pd.DataFrame) -> None:
    rows = answer(table, "S32").query("family == 'economic' and tagger == 'rules' and label == 'every word'")
    rows = rows.set_index("corpus")
    assert rows.loc["all", "n_items"] == len(wide)
    assert rows.loc["all", "found"] == rows.loc["all", "n_items"] + rows.loc["all", "twice"] == 2 * len(TEXTS)
    assert rows.loc["b", "twice"] == 3, "two texts of corpus a, with other signs and case, and one of its own"
    by_word = answer(table, "S32").query("corpus == 'all' and family == 'economic' and tagger == 'rules'")
    counts = by_word.set_index("label")["n_items"].drop("every word")
    assert counts.to_dict() == wide["written"].value_counts().to_dict()


def test_a_words_shift_is_the_median_from_the_neutral_rewrite(table: ScoreTable, wide: pd.DataFrame) -> None:
    rows = answer(table, "S33").query("family == 'economic' and tagger == 'rules' and corpus == 'all'")
    rows = rows.set_index(["form", "label"])
    change = {word: 100 * (wide[word] - wide["neutral"]) / wide["neutral"] for word in ("cheap", "expensive")}
    for word in change:
        own = wide["written"] == word
        for form, kept in (("as written", own), ("swapped in", ~own), ("either way", own | ~own)):
            row = rows.loc[(form, word)]
            assert row["n_items"] == kept.sum()
            assert row["median_percent"] == pytest.approx(change[word][kept].median())
            assert row["low"] <= row["median_percent"] <= row["high"]
            assert row["p"] == pytest.approx(wilcoxon(wide[word][kept], wide["neutral"][kept]).pvalue, rel=1e-6) or (
                "t" in row["test"]
            )
    written = pd.concat([change[word][wide["written"] == word] for word in change])
    assert rows.loc[("as written", "every word"), "median_percent"] == pytest.approx(written.median())
    assert set(rows.loc["either way", "m_tests"]) == {2}
    assert ("either way", "every word") not in rows.index


def test_the_order_of_the_three_scores_is_a_share_of_captions(table: ScoreTable, wide: pd.DataFrame) -> None:
    rows = answer(table, "S34").query("family == 'economic' and tagger == 'rules' and corpus == 'all'")
    rows = rows.set_index("order")
    assert rows.index[0] == "cheap > neutral > expensive"
    tied = (
        (wide["cheap"] == wide["neutral"])
        | (wide["neutral"] == wide["expensive"])
        | (wide["cheap"] == wide["expensive"])
    )
    assert tied.sum() > 0
    expected = {
        "cheap > neutral > expensive": (wide["cheap"] > wide["neutral"]) & (wide["neutral"] > wide["expensive"]),
        "expensive > cheap > neutral": (wide["expensive"] > wide["cheap"]) & (wide["cheap"] > wide["neutral"]),
        "tied": tied,
    }
    for order, hits in expected.items():
        row = rows.loc[order]
        assert (row["n"], row["n_items"]) == (hits.sum(), len(wide))
        low, high = proportion_confint(hits.sum(), len(wide), method="wilson")
        assert (row["share"], row["low"], row["high"]) == pytest.approx((100 * hits.mean(), 100 * low, 100 * high))
    assert rows["n"].sum() == len(wide)
    untied = rows.drop("tied")
    assert untied["chance"].to_numpy() == pytest.approx(100 * (1 - tied.mean()) / 6)
    assert untied["beside"].ne("").all()
    assert np.isnan(rows.loc["tied", "chance"])
    assert (rows["power"].str.contains("points on would have shown") == (rows["beside"] == UNTOLD)).all()


def test_pairs_of_words_are_compared_inside_each_caption(table: ScoreTable, wide: pd.DataFrame) -> None:
    rows = answer(table, "S35").query("family == 'economic' and tagger == 'rules' and corpus == 'all'")
    assert rows[["above", "below"]].values.tolist() == [
        ["cheap", "neutral"],
        ["cheap", "expensive"],
        ["neutral", "expensive"],
    ]
    for row in rows.to_dict("records"):
        above, below = wide[row["above"]], wide[row["below"]]
        assert (row["n"], row["n_items"]) == ((above > below).sum(), len(wide))
        assert row["share"] == pytest.approx(100 * (above > below).mean())
        assert row["ties"] == pytest.approx(100 * (above == below).mean())
        tied, n = int((above == below).sum()), len(wide)
        assert (row["ties_low"], row["ties_high"]) == pytest.approx(
            [100 * end for end in proportion_confint(tied, n, method="wilson")]
        )
        assert row["chance"] == pytest.approx(50 * (above != below).mean())
        if row["beside"] == UNTOLD:  # 2.80 standard errors, by the width of the interval
            distance = (1.959964 + 0.841621) * (row["high"] - row["low"]) / (2 * 1.959964)
            assert row["power"].startswith(f"a difference from {distance:.1f} points on would have shown")


def test_what_each_tagger_chose_stands_apart_and_in_no_other_table(table: ScoreTable) -> None:
    assert {(each.owner, each.tagger) for each in natural_families(table)} == {
        ("economic", "rules"),
        ("emotion", "rules"),
        ("economic", "spacy"),
    }
    shifts = answer(table, "S33")
    assert set(shifts.loc[shifts["tagger"] == "spacy", "family"]) == {"economic"}
    assert "natural-economic-spacy" not in table.families()
    asked = {each.id for each in catalogue(table)}
    assert not {id_ for id_ in asked if id_.startswith("S-natural-economic")}, "its own section holds it"
    assert "S-natural-gender" in asked, "what was not audited is named"
    assert {each.section for each in catalogue(table) if each.id.startswith("S-natural")} == {"natural"}


def test_few_captions_are_told_beside_no_chance(table: ScoreTable) -> None:
    few = answer(table, "S34").query("family == 'emotion'")
    assert len(few)
    assert set(few.loc[few["order"] != "tied", "beside"]) == {"too few items"}


def test_a_filter_of_families_leaves_the_others_out(table: ScoreTable) -> None:
    chosen = Slice(families=("natural-emotion",))
    for id_ in ("S32", "S33", "S34", "S35"):
        assert set(answer(table, id_, chosen)["family"]) == {"emotion"}


def test_captions_of_one_source_are_no_further_evidence(tmp_path: Path, wide: pd.DataFrame) -> None:
    rows = natural_rows("a", seed=1)
    items = [
        {"corpus": "a", "item": name, "item_group": f"g{int(name[1:]) // 2}"}
        for name in dict.fromkeys(row["item"] for row in rows)
    ]
    write_run(tmp_path / "apart" / "r", rows, corpus={"name": "a"})
    write_run(tmp_path / "grouped" / "r", rows, items=items, corpus={"name": "a"})
    found = {}
    for name in ("apart", "grouped"):
        with Store.open(tmp_path / name) as store:
            found[name] = answer(read_table(store), "S34").query("tagger == 'rules' and family == 'economic'")
    assert found["apart"]["share"].tolist() == found["grouped"]["share"].tolist()
    assert found["apart"]["low"].tolist() != found["grouped"]["low"].tolist()


@pytest.mark.parametrize(
    ("told", "reason"),
    [({}, "they are rare and the demo corpus has none"), ({"probe": "natural-gender:male"}, "were asked for")],
)
def test_a_run_without_such_a_caption_says_what_is_missing(tmp_path: Path, told: dict[str, Any], reason: str) -> None:
    from dataclasses import replace

    from tests.analysis.made_runs import audited

    write_run(tmp_path / "r", audited("vflip", items=3), corpus={"name": "c"})
    with Store.open(tmp_path) as store:
        table = read_table(store)
    about = {**table.about, "rejections": pd.DataFrame([told] if told else [], columns=["probe"])}
    for id_ in ("S32", "S33", "S34", "S35"):
        said = question(table, id_).needs(replace(table, about=about))
        assert reason in said
        assert "--option slice=all" in said


def test_a_scope_that_leaves_them_out_says_so(folder: Path) -> None:
    from core.analysis.scope import Scope

    with Store.open(folder) as store:
        said = question(read_table(store, Scope(subject="human")), "S33").needs(
            read_table(store, Scope(subject="human"))
        )
    assert "not in this scope: captions that people wrote" in said


def test_the_caption_of_an_item_is_the_one_that_was_written(table: ScoreTable) -> None:
    family = natural_families(table)[0]
    rows = captions(table, family)
    assert set(rows["word"]) == {"cheap", "expensive"}
    assert all(word in caption.casefold() for word, caption in zip(rows["word"], rows["caption"], strict=True))


@pytest.mark.parametrize(("items", "sources", "said"), [(8, 8, TOO_FEW), (30, 6, TOO_FEW_SOURCES), (30, 30, UNTOLD)])
def test_beside_chance_it_is_said_whether_captions_or_sources_are_few(items: int, sources: int, said: str) -> None:
    shares = {"share": 50.0, "low": 40.0, "high": 60.0}
    assert _beside(shares, 50.0, items, sources)["beside"] == said
