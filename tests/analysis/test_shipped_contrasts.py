"""The shipped runs of captions, prototypes and scenes: their main numbers worked out anew from the raw Parquet."""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core.analysis.questions import Options, catalogue
from core.analysis.questions.several_comparisons import EVERY, MEAN
from core.analysis.reading import read_table
from core.analysis.scope import Scope
from core.analysis.slices import Slice
from core.analysis.table import ScoreTable
from core.settings import results_dir
from core.store.store import Store

EVALUATOR = "conse-multilingual"
"""The one that scored every run in every language."""

RUNS = ("demo-captions", "demo-prototypes", "demo-scenes", "demo-scenes-one")
ALIKE = 1e-9
SIBLING = r"foil:\d"
"""Every sibling of a foil but the first that was drawn."""

Ask = Callable[[str], pd.DataFrame]


@pytest.fixture(scope="module", params=RUNS)
def run(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def table(run: str) -> Iterator[ScoreTable]:
    with Store.open(results_dir() / run) as store:
        yield read_table(store, Scope(subject="human", language="en"))


@pytest.fixture(scope="module")
def ask(table: ScoreTable) -> Ask:
    known = {each.id: each for each in catalogue(table)}
    view = table.view(Slice(evaluators=(EVALUATOR,)))
    return lambda id_: known[id_].compute(view, Options())


@pytest.fixture(scope="module")
def stored(run: str) -> pd.DataFrame:
    frame = pd.read_parquet(results_dir() / run / "scores")
    return frame[frame["evaluator"] == EVALUATOR]


@pytest.fixture(scope="module")
def sides(stored: pd.DataFrame) -> pd.DataFrame:
    """Every pair of scores: item, probe, family, expectation, subject, language, right (of the baseline), wrong.

    Without the further siblings of a foil, which have their own table.
    """
    key = ["item", "subject", "language", "rank"]
    right = stored[[*key, "probe", "score"]].rename(columns={"probe": "baseline", "score": "right"})
    headline = stored["baseline"].notna() & ~stored["probe"].str.fullmatch(SIBLING)
    found = stored[headline].merge(right, on=[*key, "baseline"], how="left", validate="m:1")
    return found.rename(columns={"score": "wrong"}).dropna(subset=["right", "wrong"])


def of_caption(sides: pd.DataFrame, caption: str) -> pd.DataFrame:
    subject, language = caption.split(", ")
    return sides[(sides["subject"] == subject) & (sides["language"] == language)]


def only(run: str, *named: str) -> None:
    if run not in named:
        pytest.skip(f"run {run} has nothing of this table")


def test_every_cell_of_the_matrix_is_the_share_of_stored_pairs(run: str, ask: Ask, sides: pd.DataFrame) -> None:
    frame = ask("C-rates")
    whole = frame[frame["label"] == frame["family"]]
    broken = sides[sides["expectation"] == "directional"]
    assert set(whole["family"]) == set(broken.loc[broken["language"] == "en", "family"])
    for row in whole.to_dict("records"):
        own = of_caption(broken[broken["family"] == row["family"]], row["caption"])
        failed = own["wrong"] >= own["right"]
        assert (row["n"], row["n_items"]) == (len(own), own["item"].nunique())
        assert row["failure"] == pytest.approx(100 * failed.mean(), abs=ALIKE)
        assert row["ties"] == pytest.approx(100 * (own["wrong"] == own["right"]).mean(), abs=ALIKE)
        u = stats.mannwhitneyu(own["right"], own["wrong"]).statistic / len(own) ** 2
        assert row["auroc"] == pytest.approx(u)


def test_every_broken_caption_stands_beside_the_harmless_edit_that_hides_it_best(
    run: str, ask: Ask, sides: pd.DataFrame
) -> None:
    frame = ask("C-rates")
    whole = frame[frame["label"] == frame["family"]]
    harms = sides[(sides["expectation"] == "invariant") & (sides["axis"] != "null") & ~sides["control"]]
    for row in whole.to_dict("records"):
        harmless = set(of_caption(harms, row["caption"])["family"])
        assert row["rival"] in harmless, row["family"]
        assert 0 <= row["rival_value"] <= 1


@pytest.mark.parametrize("subject", ["human", "template"])
def test_selectivity_is_told_under_every_caption_that_a_run_breaks(run: str, subject: str, sides: pd.DataFrame) -> None:
    broken = sides[(sides["expectation"] == "directional") & (sides["subject"] == subject)]
    if broken.empty:
        assert (run, subject) in (("demo-prototypes", "template"), ("demo-scenes-one", "template"))
        return
    with Store.open(results_dir() / run) as store:
        other = read_table(store, Scope(subject=subject, language="en"))
        question = next(each for each in catalogue(other) if each.id == "C-selectivity")
        assert not question.needs(other)
        found = question.compute(other.view(), Options())
    assert set(found.loc[found["value"].notna(), "evaluator"]) == set(other.evaluators)


def test_the_mean_over_languages_is_that_of_the_drops_of_each(run: str, ask: Ask, sides: pd.DataFrame) -> None:
    only(run, "demo-captions", "demo-scenes")
    frame = ask("C2-languages").set_index(["family", "language"])
    lexical = sides[(sides["axis"] == "lexical") & (sides["subject"] == "human")]
    for what in (EVERY, "jumble"):
        own = lexical if what == EVERY else lexical[lexical["family"] == what]
        drops = {}
        for language, rows in own.groupby("language"):
            drops[language] = 100 * (rows["wrong"].sum() - rows["right"].sum()) / rows["right"].sum()
            assert frame.loc[(what, language), "drop"] == pytest.approx(drops[language])
        assert set(drops) == {"de", "en", "es", "fr", "ja"}
        assert frame.loc[(what, MEAN), "drop"] == pytest.approx(np.mean(list(drops.values())))


def test_paper_e_s_pair_is_the_adversary_alone(run: str, ask: Ask, sides: pd.DataFrame) -> None:
    only(run, "demo-prototypes")
    pair, whole = "prototype:adversary alone: paper E’s pair", "whole family: adversary, knob-wrong"
    parts = {pair: sides[sides["probe"] == "prototype:adversary"], whole: sides[sides["family"] == "prototype"]}
    parts[whole] = parts[whole][parts[whole]["expectation"] == "directional"]
    means, margins = (ask(id_).set_index("of") for id_ in ("C24", "C25"))
    domains = ask("C23").set_index(["of", "label"])
    facts = pd.read_parquet(results_dir() / run / "variants")
    told = facts[facts["key"] == "domain"].drop_duplicates("item").set_index("item")["value"]
    both = parts[whole][["right", "wrong"]]
    span = both.max().max() - both.min().min()
    for of, own in parts.items():
        assert (means.loc[of, "n"], margins.loc[of, "n"]) == (len(own), len(own))
        assert means.loc[of, "mean_right"] == pytest.approx(own["right"].mean())
        assert means.loc[of, "mean_wrong"] == pytest.approx(own["wrong"].mean())
        far = (own["right"] - own["wrong"]) / span
        assert margins.loc[of, "correct"] == f"{far[far > 0].mean():.3f} (n {(far > 0).sum()})"
        assert margins.loc[of, "incorrect"] == f"{-far[far <= 0].mean():.3f} (n {(far <= 0).sum()})"
        lost = 100.0 * (own["wrong"] >= own["right"])
        by = lost.groupby(own["item"].map(told)).mean()
        assert domains.loc[(of, "all items"), "failure"] == pytest.approx(lost.mean())
        assert domains.loc[(of, "mean of domains"), "failure"] == pytest.approx(by.mean())
        for name, value in by.items():
            assert domains.loc[(of, name), "failure"] == pytest.approx(value)


def test_the_two_by_two_is_of_the_four_stored_pictures(run: str, ask: Ask, stored: pd.DataFrame) -> None:
    only(run, "demo-prototypes")
    wide = stored.pivot_table(index="item", columns="probe", values="score")
    right, wrong = wide["identity"], wide["prototype:knob-wrong"]
    proto, adversary = wide["prototype:prototype"], wide["prototype:adversary"]
    frame = ask("C29").set_index("label")
    expected = {
        "prototype effect": proto - right,
        "detail": ((right - wrong) + (proto - adversary)) / 2,
        "correct minus adversary": right - adversary,
    }
    for label, values in expected.items():
        assert frame.loc[label, "delta"] == pytest.approx(values.median())
        assert frame.loc[label, "value"] == pytest.approx(values.median() / right.std())


def test_answers_to_mentions_and_size_are_paired_medians_under_the_template(
    run: str, ask: Ask, sides: pd.DataFrame, stored: pd.DataFrame
) -> None:
    only(run, "demo-scenes")
    clean = stored[(stored["probe"] == "identity") & (stored["subject"] == "template")]["score"].std()
    for id_, family in (("C19", "mention"), ("C20", "size")):
        frame = ask(id_).set_index("label")
        assert set(frame["caption"]) == {"template, en"}
        own = sides[(sides["family"] == family) & (sides["subject"] == "template")]
        assert set(frame.index) == set(own["probe"])
        for probe, rows in own.groupby("probe"):
            assert frame.loc[probe, "standardised"] == pytest.approx((rows["wrong"] - rows["right"]).median() / clean)


def test_a_broken_caption_that_says_more_is_held_against_the_stored_one_that_says_less(
    run: str, ask: Ask, stored: pd.DataFrame
) -> None:
    only(run, "demo-scenes")
    template = stored[stored["subject"] == "template"]
    wide = template.pivot_table(index="item", columns="probe", values="score")
    frame = ask("C-crossed").set_index("label")
    for more, less in (("mention:3-shuffled", "mention:2"), ("size:large-shuffled", "size:small")):
        moved = (wide[more] - wide[less]).dropna()
        assert frame.loc[more, "below"] == less
        assert (frame.loc[more, "n_items"], frame.loc[more, "share"]) == (
            len(moved),
            pytest.approx(100 * (moved > 0).mean()),
        )


def test_selectivity_is_the_share_of_drops_beyond_harms_item_by_item(run: str, ask: Ask, sides: pd.DataFrame) -> None:
    (row,) = ask("C-selectivity").query("of == 'verified'").to_dict("records")
    facts = pd.read_parquet(results_dir() / run / "variants")
    own = of_caption(sides, "human, en")
    said = facts[(facts["key"] == "falsity") & (facts["subject"] == "human") & (facts["language"] == "en")]
    known = set(map(tuple, said.loc[said["value"].isin(["verified", "checked"]), ["item", "probe"]].to_numpy()))
    keys = pd.Series(list(zip(own["item"], own["probe"], strict=True)), index=own.index)
    drops = own[(own["expectation"] == "directional") & keys.isin(known)]
    harms = own[(own["expectation"] == "invariant") & ~own["control"] & (own["axis"] != "null")]
    won = []
    for item, mine in drops.groupby("item"):
        moved = harms.loc[harms["item"] == item]
        if len(moved):
            d = (mine["right"] - mine["wrong"]).to_numpy()[:, None]
            h = (moved["wrong"] - moved["right"]).abs().to_numpy()[None, :]
            won.append(((d > h) + 0.5 * (d == h)).mean())
    assert row["n_items"] == len(won)
    assert row["value"] == pytest.approx(np.mean(won))


def test_every_sibling_of_a_foil_fools_or_does_not(run: str, ask: Ask, stored: pd.DataFrame) -> None:
    only(run, "demo-scenes")
    (row,) = ask("C11-siblings").to_dict("records")
    human = stored[(stored["subject"] == "human") & (stored["language"] == "en")]
    right = human[human["probe"] == "identity"].set_index("item")["score"]
    foils = human[human["probe"].str.fullmatch(rf"foil|{SIBLING}")].dropna(subset=["score"])
    foils = foils.assign(fooled=foils["score"].to_numpy() >= right[foils["item"]].to_numpy())
    several = foils.groupby("item")["fooled"].filter(lambda each: len(each) >= 2).index
    own = foils.loc[several]
    assert (row["n_items"], row["n"]) == (own["item"].nunique(), len(own))
    assert row["each"] == pytest.approx(100 * own["fooled"].mean())
    assert row["hardest"] == pytest.approx(100 * own.groupby("item")["fooled"].any().mean())


def test_an_object_of_the_picture_is_held_against_plausible_and_random_ones(run: str, ask: Ask) -> None:
    only(run, "demo-scenes-one")
    frame = ask("C18-differences")
    kinds = {name for column in ("above", "below") for name in frame[column]}
    assert {"grounding:object", "grounding:plausible", "grounding:random", "colour-word:object"} <= kinds
    assert frame.loc[frame["family"] == "grounding", "n_items"].min() >= 25
