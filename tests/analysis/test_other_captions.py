"""Tests under another caption, and other languages: each from its own stored rows, worked out anew by pandas."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from core.analysis.beside import caption_of, every_caption, every_language
from core.analysis.questions import Options, Question, catalogue
from core.analysis.questions.both_sides import token_f1
from core.analysis.questions.several_comparisons import EVERY, MEAN
from core.analysis.reading import part_of, read_table
from core.analysis.scope import Scope
from core.analysis.slices import Slice
from core.analysis.table import ScoreTable
from core.store.store import Store
from tests.analysis.broken_runs import compared, facts_of, rows_of, write_broken
from tests.analysis.made_runs import raw, score

WORDS = ["shuffled", "masked"]
PICTURES = ["identity", "vflip"]
TEMPLATE = ["identity", "denied", "swapped:near", "swapped:far", "mention:1", "mention:2", "size:small", "size:large"]
RATIOS = [str(2 + place) for place in range(24)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = rows_of(("e", "flat"), probes=[*PICTURES, *WORDS, "denied"])
    for seed, language in enumerate(("de", "fr"), start=1):
        rows += rows_of(("e",), probes=["identity", *WORDS], seed=seed, language=language)
    rows += [{**row, "subject": "template"} for row in rows_of(("e",), probes=TEMPLATE, seed=3)]
    rng = np.random.default_rng(4)
    told = {"axis": "semantic", "family": "foil", "baseline": "identity", "expectation": "directional"}
    clean = {
        row["item"]: row["score"]
        for row in rows
        if row["evaluator"] == "e"
        and row["probe"] == "identity"
        and row["language"] == "en"
        and row["subject"] == "human"
    }
    for place, name in enumerate(("foil", "foil:2", "foil:3")):
        rows += [
            score(item, name, value + float(rng.normal(-0.03, 0.05)), subject="human", evaluator="e", **told)
            for item, value in list(clean.items())[: len(clean) - 8 * place]
        ]
    areas = [{**row, "subject": "template"} for row in facts_of(["size:large"], {"ratio": RATIOS})]
    return write_broken(tmp_path_factory.mktemp("runs") / "r", rows, facts=areas)


@pytest.fixture(scope="module")
def table(folder: Path) -> Iterator[ScoreTable]:
    with Store.open(folder) as store:
        yield read_table(store, Scope(subject="human", language="en"))


@pytest.fixture(scope="module")
def asked(table: ScoreTable) -> dict[str, Question]:
    return {each.id: each for each in catalogue(table)}


@pytest.fixture(scope="module")
def stored(folder: Path) -> pd.DataFrame:
    return raw(folder)


def sides(stored: pd.DataFrame, probes: list[str], *, subject: str = "human", language: str = "en") -> pd.DataFrame:
    return compared(stored[(stored["subject"] == subject) & (stored["language"] == language)], probes)


def answer(asked: dict[str, Question], table: ScoreTable, id_: str, **chosen: object) -> pd.DataFrame:
    frame = asked[id_].compute(table.view(Slice(**chosen)), Options())
    return frame[frame["evaluator"] == "e"].reset_index(drop=True)


def failures(own: pd.DataFrame) -> float:
    return 100 * float((own["wrong"] >= own["right"]).mean())


def test_the_tables_beside_a_scope_are_those_of_its_runs(table: ScoreTable) -> None:
    assert [caption_of(each) for each in every_caption(table)] == ["human, en", "template, en"]
    assert [each.scope.language for each in every_language(table, "lexical")] == ["de", "en", "fr"]
    assert every_caption(table)[1] is every_caption(table)[1]  # read once
    only_flat = part_of(table, replace(table.scope, evaluators=("flat",)))
    assert [caption_of(each) for each in every_caption(only_flat)] == ["human, en"]  # it scored nothing else


def test_the_matrix_holds_every_family_under_its_own_caption_and_in_its_section(
    asked: dict[str, Question], table: ScoreTable, stored: pd.DataFrame
) -> None:
    frame = answer(asked, table, "C-rates")
    own = frame[frame["label"] == frame["family"]].set_index("family")
    assert dict(own["caption"]) == {
        "masked": "human, en",
        "shuffled": "human, en",
        "foil": "human, en",
        "denied": "human, en",
        "swapped": "template, en",
    }
    assert list(own["section"]) == ["Lexical", "Lexical", "Grounding", "Language", "Language"]
    for family, probes, subject in (
        ("denied", ["denied"], "human"),
        ("swapped", ["swapped:near", "swapped:far"], "template"),
    ):
        right = sides(stored, probes, subject=subject)
        assert (own.loc[family, "n"], own.loc[family, "failure"]) == (len(right), pytest.approx(failures(right)))
    semantic = own[(own["axis"] == "semantic") & (own["caption"] == "human, en")]
    np.testing.assert_allclose(semantic["p_holm"], multipletests(semantic["p"], method="holm")[1])
    assert (own.loc["denied", "m_tests"], own.loc["swapped", "m_tests"]) == (2, 2)  # two under either caption
    drawn = asked["C-rates"].figures[0].figure(frame)
    assert set(drawn.frame["panel"]) == {""}  # no family stands under both captions


def test_every_language_is_asked_and_the_mean_gives_each_the_same_weight(
    asked: dict[str, Question], table: ScoreTable, stored: pd.DataFrame
) -> None:
    whole = asked["C2-languages"].compute(table.view(), Options())
    frame = whole[whole["evaluator"] == "e"].set_index(["family", "language"])
    for what, probes in ((EVERY, WORDS), ("shuffled", ["shuffled"]), ("masked", ["masked"])):
        drops, rates = [], []
        for language in ("de", "en", "fr"):
            own = sides(stored, probes, language=language)
            drops.append(100 * (own["wrong"].mean() / own["right"].mean() - 1))
            rates.append(failures(own))
            row = frame.loc[(what, language)]
            assert (row["n"], row["drop"], row["failure"]) == (
                len(own),
                pytest.approx(drops[-1]),
                pytest.approx(rates[-1]),
            )
        mean = frame.loc[(what, MEAN)]
        assert (mean["drop"], mean["failure"]) == (pytest.approx(np.mean(drops)), pytest.approx(np.mean(rates)))
        assert mean["drop_low"] < mean["drop"] < mean["drop_high"]
        assert mean["note"].startswith("of de, en, fr")
    flat = whole[whole["evaluator"] == "flat"]
    assert set(flat["language"]) == {"en"}  # it scored no other, and a mean of one language is none
    by_language, by_edit = (each.figure(whole).frame for each in asked["C2-languages"].figures)
    assert set(by_language["label"]) == {"de", "en", "fr", MEAN}
    assert set(by_edit["label"]) == {EVERY, *WORDS}


def test_a_slice_holds_in_every_language(asked: dict[str, Question], table: ScoreTable) -> None:
    bins = tuple(sorted(set(table.items["coverage_bin"].dropna())))[:1]
    kept = int(table.items["coverage_bin"].isin(bins).sum())
    found = answer(asked, table, "C2-languages", coverage_bins=bins)
    assert set(found["n_items"]) == {kept}


def test_what_comes_with_its_own_caption_is_answered_beside_the_scope(
    asked: dict[str, Question], table: ScoreTable, stored: pd.DataFrame
) -> None:
    frame = answer(asked, table, "C19").set_index("label")
    assert set(frame["caption"]) == {"template, en"}
    own = sides(stored, ["mention:2"], subject="template")
    change = 100 * (own["wrong"] - own["right"]) / own["right"]
    assert frame.loc["mention:2", "median_percent"] == pytest.approx(change.median())


def test_the_answer_to_size_follows_how_much_larger_the_object_is(
    asked: dict[str, Question], table: ScoreTable, stored: pd.DataFrame
) -> None:
    """Least squares with a constant keep the mean of what they are fitted to."""
    curve = answer(asked, table, "C20-curve")
    own = sides(stored, ["size:large"], subject="template").sort_values("item")
    clean = stored[(stored["probe"] == "identity") & (stored["subject"] == "template")]["score"]
    moved = (own["wrong"] - own["right"]).to_numpy() / clean.std()
    at = np.log2(np.resize(np.array(RATIOS, float), len(own)))
    assert (curve["x"].min(), curve["x"].max()) == (pytest.approx(1), pytest.approx(np.log2(25)))
    assert set(curve["n_items"]) == {len(own)}
    fitted = np.interp(at, curve["x"], curve["value"])
    assert fitted.mean() == pytest.approx(moved.mean(), abs=0.01)  # the curve is told at 101 places
    assert len(asked["C20-curve"].figures[0].figure(curve).frame) == len(curve)


def test_paper_c_s_families_have_their_own_table(
    asked: dict[str, Question], table: ScoreTable, stored: pd.DataFrame
) -> None:
    (row,) = answer(asked, table, "C-rewards").to_dict("records")
    own = sides(stored, ["foil"])
    assert (row["family"], row["n"], row["failure"]) == ("foil", len(own), pytest.approx(failures(own)))
    assert row["beaten"] == pytest.approx(100 * (own["wrong"] > own["right"]).mean())
    assert asked["C-rewards"].paper.startswith("C, ")
    assert "foil" not in set(answer(asked, table, "C21")["family"])


def test_the_overlap_of_words_is_that_of_the_stored_captions(
    asked: dict[str, Question], table: ScoreTable, stored: pd.DataFrame
) -> None:
    """“caption 3 under identity” and “caption 3 under shuffled” share three words of four."""
    frame = answer(asked, table, "C17").set_index("family")
    assert set(frame.index) == {"shuffled", "masked", "denied"}
    own = sides(stored, ["shuffled"])
    assert (frame.loc["shuffled", "n"], frame.loc["shuffled", "f1"]) == (len(own), pytest.approx(3 / 4))
    none = proportion_confint(0, len(own), method="wilson")
    assert frame.loc["shuffled", ["same", "same_low", "same_high"]].tolist() == pytest.approx([0, 0, 100 * none[1]])
    assert frame.loc["shuffled", "failure"] == pytest.approx(failures(own))


@pytest.mark.parametrize(
    ("right", "wrong", "language", "f1"),
    [
        ("A dog, a cat.", "a dog and a bird", "en", 2 * 2 / (3 + 4)),
        ("Two cats", "cats two!", "en", 1.0),
        ("A dog", "Some birds", "en", 0.0),
        ("Der Hund bellt", "der Hund schläft.", "de", 2 / 3),
    ],
)
def test_the_f1_of_two_captions_counts_words_once(right: str, wrong: str, language: str, f1: float) -> None:
    assert token_f1(right, wrong, language) == pytest.approx(f1)


def test_every_sibling_counts_and_the_hardest_is_the_highest(
    asked: dict[str, Question], table: ScoreTable, stored: pd.DataFrame
) -> None:
    (row,) = answer(asked, table, "C11-siblings").to_dict("records")
    own = sides(stored, ["foil", "foil:2", "foil:3"])
    several = own[own.groupby("item")["item"].transform("size") >= 2]
    lost = several["wrong"] >= several["right"]
    assert (row["n_items"], row["n"]) == (several["item"].nunique(), len(several))
    assert row["each"] == pytest.approx(100 * lost.mean())
    assert row["hardest"] == pytest.approx(100 * lost.groupby(several["item"]).any().mean())
    assert row["hardest"] > row["each"]


def test_two_kinds_of_wrong_answers_are_compared_item_by_item(tmp_path: Path) -> None:
    folder = write_broken(tmp_path / "r", rows_of(probes=["identity", "swapped:near", "swapped:far"]))
    wide = raw(folder).pivot_table(index="item", columns="probe", values="score")
    with Store.open(folder) as store:
        table = read_table(store)
        (row,) = (
            {each.id: each for each in catalogue(table)}["C18-differences"]
            .compute(table.view(), Options())
            .to_dict("records")
        )
    assert (row["above"], row["below"]) == ("swapped:far", "swapped:near")
    more = wide["swapped:near"] - wide["swapped:far"]  # the right side is the same: what far costs more
    assert (row["n_items"], row["delta"]) == (len(more), pytest.approx(more.median()))
    assert row["value"] == pytest.approx(more.median() / wide["identity"].std())
    assert row["delta"] > 0
