"""Every question of directional probes, worked out anew from the stored rows of a run that the test wrote."""

from collections.abc import Iterator
from html import escape
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from core.analysis.beside import caption_of
from core.analysis.comparisons import DIRECTIONAL, picked_failure
from core.analysis.questions import SECTIONS, Options, Question, catalogue, papers
from core.analysis.questions.directional import in_depth, matrix, rows
from core.analysis.questions.levels import tables_of
from core.analysis.questions.selective import blind_spots
from core.analysis.reading import read_table
from core.analysis.slices import Slice
from core.analysis.table import ScoreTable
from core.analysis.verdicts import NO_CLAIM
from core.report.fairness_card import card_report
from core.report.kept_results import OTHERS as OF_SUITES
from core.store.store import Store
from tests.analysis.broken_runs import BROKEN, ITEMS, SHIFT, about, compared, facts_of, rows_of, write_broken
from tests.analysis.made_runs import audited, raw, score, write_run

FAMILIES = {
    "masked": ["masked"],
    "shuffled": ["shuffled"],
    "denied": ["denied"],
    "swapped": ["swapped:near", "swapped:far"],
    "size-mixed": ["size:large-mixed"],
    "made": ["made:nonproto_wrong", "made:adversary"],
}
AXES = {"object": ["made", "size-mixed"], "lexical": ["masked", "shuffled"], "semantic": ["denied", "swapped"]}
RIGHT = {"size:large-mixed": "size:large"}
"""What these are compared with; the others with the unedited pair."""
HARMS = {"vertical-flip": ["vflip"], "rotation": ["rotate-5", "rotate+5"]}
TOLD = {
    "falsity": ["verified", "verified", "presumed"],
    "group": ["yes", "no"],
    "domain": ["animal", "object"],
    "kind": ["near", "far", "far", "far"],
}
QUADRUPLE = {"made:nonproto_wrong": -0.1, "made:prototype": 0.05, "made:adversary": -0.02}
ROLES = {"made:prototype": "proto-right", "made:adversary": "proto-wrong"}
"""What these probes tell; the other one is known by the end of its name."""
CENTRES = {"small_centre": ["0.38", "0.3", "0.2"], "large_centre": ["0.2", "0.25"]}
"""Distances from the centre, item after item."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = rows_of(("e", "truth"))
    rng = np.random.default_rng(9)
    clean = {row["item"]: row["score"] for row in rows if row["evaluator"] == "e" and row["probe"] == "identity"}
    for name, mean in QUADRUPLE.items():
        expectation = "invariant" if name == "made:prototype" else "directional"
        told = {"axis": "object", "family": "made", "baseline": "identity", "expectation": expectation}
        rows += [
            score(item, name, value + float(rng.normal(mean, 0.05)), subject="human", evaluator="e", **told)
            for item, value in clean.items()
        ]
    roles = [fact for name, role in ROLES.items() for fact in facts_of([name], {"role": [role]})]
    places = facts_of(["size:large"], CENTRES)
    told = [*facts_of(["denied"], TOLD), *roles, *places]
    return write_broken(tmp_path_factory.mktemp("runs") / "r", rows, facts=told)


@pytest.fixture(scope="module")
def table(folder: Path) -> Iterator[ScoreTable]:
    with Store.open(folder) as store:
        yield read_table(store)


@pytest.fixture(scope="module")
def asked(table: ScoreTable) -> dict[str, Question]:
    return {each.id: each for each in catalogue(table)}


@pytest.fixture(scope="module")
def stored(folder: Path) -> pd.DataFrame:
    return raw(folder)


def of(asked: dict[str, Question], table: ScoreTable, id_: str, **options: object) -> pd.DataFrame:
    frame = asked[id_].compute(table.view(), Options(**options))
    return frame[frame["evaluator"] == "e"].reset_index(drop=True)


def assert_rates(row: pd.Series, own: pd.DataFrame) -> None:
    """Failures, ties, detection and n of one row, and Wilson's interval where every item has one comparison."""
    fails = int((own["wrong"] >= own["right"]).sum())
    assert (row["n"], row["n_items"]) == (len(own), own["item"].nunique())
    assert row["failure"] == pytest.approx(100 * fails / len(own))
    assert row["ties"] == pytest.approx(100 * (own["wrong"] == own["right"]).mean())
    assert row["beaten"] == pytest.approx(100 * (own["wrong"] > own["right"]).mean())
    assert row["detection"] == pytest.approx(100 * (own["wrong"] < own["right"]).mean())
    if own["item"].is_unique:
        low, high = proportion_confint(fails, len(own), method="wilson")
        assert (row["failure_low"], row["failure_high"]) == (pytest.approx(100 * low), pytest.approx(100 * high))


def paired_p(own: pd.DataFrame) -> float:
    right, wrong = (own.groupby("item")[name].mean() for name in ("right", "wrong"))
    if len(right) < 10:
        return float("nan")  # too few items for a test
    normal = all(stats.shapiro(each).pvalue >= 0.05 for each in (right, wrong))
    return float((stats.ttest_rel(wrong, right) if normal else stats.wilcoxon(wrong - right)).pvalue)


def holm(p: pd.Series) -> np.ndarray:
    """Corrected by Holm over those of enough items; NaN for the others."""
    there = p.notna().to_numpy()
    found = np.full(len(p), np.nan)
    found[there] = multipletests(p[there], method="holm")[1]
    return found


def test_every_failure_rate_is_the_share_of_stored_pairs(
    asked: dict[str, Question], table: ScoreTable, stored: pd.DataFrame
) -> None:
    whole = of(asked, table, "C-rates")
    frame = whole[whole["label"] == whole["family"]].set_index("family")
    assert set(FAMILIES) == set(frame.index)
    for family, probes in FAMILIES.items():
        own, row = compared(stored, probes), frame.loc[family]
        assert_rates(row, own)
        u = stats.mannwhitneyu(own["right"], own["wrong"]).statistic
        assert row["auroc"] == pytest.approx(u / len(own) ** 2)
        span = own[["right", "wrong"]].to_numpy().max() - own[["right", "wrong"]].to_numpy().min()
        assert row["tau"] == pytest.approx(0.01 * span)
        assert row["near"] == pytest.approx(100 * ((own["right"] - own["wrong"]).abs() < 0.01 * span).mean())
        assert row["p"] == pytest.approx(paired_p(own))
        assert row["t_p"] == pytest.approx(stats.ttest_ind(own["wrong"], own["right"]).pvalue)
    for own in (frame[frame["axis"] == axis] for axis in AXES):
        np.testing.assert_allclose(own["p_holm"], holm(own["p"]))
        assert set(own["m_tests"]) == {len(own)}


def test_kinds_of_a_family_stand_below_it(asked: dict[str, Question], table: ScoreTable, stored: pd.DataFrame) -> None:
    whole = of(asked, table, "C-rates")
    names = list(whole["label"])
    start = names.index("denied")
    assert names[start : start + 3] == ["denied", "denied: far", "denied: near"]
    own = compared(stored, ["denied"])
    kind = own["item"].map(dict(zip(sorted(own["item"]), np.resize(TOLD["kind"], ITEMS), strict=True)))
    frame = whole.set_index("label")
    for level in ("near", "far"):
        assert_rates(frame.loc[f"denied: {level}"], own[kind == level])
        assert frame.loc[f"denied: {level}", "rival"] == ""
    pairs = frame.loc[["denied: far", "denied: near"]]
    np.testing.assert_allclose(pairs["p_holm"], holm(pairs["p"]))
    assert "swapped: near" not in names  # one kind a probe: those are probes, and no kinds


def test_drops_of_an_axis_are_those_of_its_families(
    asked: dict[str, Question], table: ScoreTable, stored: pd.DataFrame
) -> None:
    for id_, axis in (("C-object", "object"), ("C3", "lexical"), ("C21", "semantic")):
        frame = of(asked, table, id_).set_index("family")
        assert list(frame.index) == AXES[axis]
        for family in AXES[axis]:
            own, row = compared(stored, FAMILIES[family]), frame.loc[family]
            assert_rates(row, own)
            drop = 100 * (own["wrong"].mean() - own["right"].mean()) / own["right"].mean()
            assert row["drop"] == pytest.approx(drop)
            assert row["drop_low"] < drop < row["drop_high"]
            percent = 100 * (own["wrong"] - own["right"]) / own["right"]
            assert row["median_percent"] == pytest.approx(percent.groupby(own["item"]).median().median())
    together = of(asked, table, "C2")
    own = compared(stored, [name for family in AXES["lexical"] for name in FAMILIES[family]])
    assert_rates(together.iloc[0], own)
    assert together.loc[0, ["mean_right", "mean_wrong"]].tolist() == pytest.approx(
        [own["right"].mean(), own["wrong"].mean()]
    )
    assert set(together["language"]) == {"en"}


def test_means_and_margins_are_scaled_by_the_scores_of_the_family(
    asked: dict[str, Question], table: ScoreTable, stored: pd.DataFrame
) -> None:
    means, margins = (of(asked, table, id_).set_index(["family", "of"]) for id_ in ("C24", "C25"))
    whole = {family: (family, "whole family") for family in FAMILIES}
    whole["made"] = ("made", "whole family: adversary, nonproto_wrong")
    rows = [(whole[family], probes, probes) for family, probes in FAMILIES.items()]
    rows += [(("made", "made:adversary alone: paper E’s pair"), ["made:adversary"], FAMILIES["made"])]
    several = [*(("swapped", each) for each in FAMILIES["swapped"]), ("made", "made:nonproto_wrong")]
    rows += [((family, probe), [probe], FAMILIES[family]) for family, probe in several]
    for kind in ("near", "far"):  # one probe that tells two kinds
        rows.append((("denied", f"denied: {kind}"), ["denied"], FAMILIES["denied"]))
    assert {row for row, _, _ in rows} == set(means.index) == set(margins.index)
    for family, probes, scaled_by in rows:
        own, every = compared(stored, probes), compared(stored, scaled_by)[["right", "wrong"]]
        if family[1].startswith("denied: "):
            told = own["item"].str[1:].astype(int).map(lambda place: TOLD["kind"][place % 4])
            own = own[told == family[1].removeprefix("denied: ")]
        low, high = every.min().min(), every.max().max()
        for side in ("right", "wrong"):
            assert means.loc[family, f"mean_{side}"] == pytest.approx(own[side].mean())
            assert means.loc[family, f"sd_{side}"] == pytest.approx(own[side].std())
            assert means.loc[family, f"scaled_{side}"] == pytest.approx((own[side].mean() - low) / (high - low))
            assert means.loc[family, f"scaled_sd_{side}"] == pytest.approx(((own[side] - low) / (high - low)).std())
        distance = (own["right"] - own["wrong"]) / (high - low)
        ahead, behind = distance[distance > 0], -distance[distance <= 0]
        assert margins.loc[family, "correct"] == f"{ahead.mean():.3f} (n {len(ahead)})"
        assert margins.loc[family, "incorrect"] == f"{behind.mean():.3f} (n {len(behind)})"


def test_histograms_count_every_comparison_once(
    asked: dict[str, Question], table: ScoreTable, stored: pd.DataFrame
) -> None:
    for id_, family in (("C-object-scores-bins", "size-mixed"), ("C5-bins", "masked"), ("C22-bins", "swapped")):
        frame = of(asked, table, id_, family=family)
        own = compared(stored, FAMILIES[family])
        assert set(frame["family"]) == {family}
        both = np.concatenate([own["right"], own["wrong"]])
        for side in ("right", "wrong"):
            bins = {24: 6, 48: 8}[len(own)]  # twice the cube root, rounded up
            counts, edges = np.histogram(own[side], bins=bins, range=(both.min(), both.max()))
            rows = frame[frame["side"] == side]
            np.testing.assert_allclose(rows["share"], 100 * counts / len(own))
            np.testing.assert_allclose(rows["middle"], (edges[1:] + edges[:-1]) / 2)


def test_failures_by_a_fact_are_those_of_the_items_that_tell_it(
    asked: dict[str, Question], table: ScoreTable, stored: pd.DataFrame
) -> None:
    own = compared(stored, ["denied"])
    place = own["item"].str[1:].astype(int)
    for id_, keys in (("C16", ["group"]), ("C23", ["domain"]), ("C28", ["falsity", "kind"])):
        frame = of(asked, table, id_)
        assert set(frame["key"]) == set(keys)
        for key in keys:
            told = place.map(lambda number, key=key: TOLD[key][number % len(TOLD[key])])
            rows = frame[frame["key"] == key].set_index("label")
            overall = rows[rows.index.isin(["all items", "mean of domains"])]
            rows = rows[~rows.index.isin(overall.index)]
            assert set(rows.index) == set(TOLD[key])
            assert list(overall.index) == (["all items", "mean of domains"] if key == "domain" else [])
            for level, chosen in own.groupby(told):
                assert_rates(rows.loc[level], chosen)
            np.testing.assert_allclose(rows["p_holm"], holm(rows["p"]))
            assert rows["grey"].all()  # 24 comparisons, which are fewer than 30
            assert rows["note"].str.contains("fewer than 30 comparisons").all()
    assert of(asked, table, "C28", known=True).set_index(["key", "label"]).loc[("falsity", "verified"), "n"] == 16


def test_paper_e_s_pair_stands_beside_the_family_it_is_of_over_items_and_over_domains(tmp_path: Path) -> None:
    """Domains of 8 and 16 items: their mean is not that of the items."""
    rows = rows_of(probes=["identity"])
    rng = np.random.default_rng(2)
    told = {"axis": "semantic", "family": "made", "baseline": "identity", "expectation": "directional"}
    for name in ("made:nonproto_wrong", "made:adversary"):
        rows += [
            score(row["item"], name, row["score"] + float(rng.normal(0, 0.05)), subject="human", evaluator="e", **told)
            for row in rows
            if row["probe"] == "identity"
        ]
    domains = {"domain": ["animal", "object", "object"]}
    facts = facts_of(["made:nonproto_wrong", "made:adversary"], domains)
    facts += facts_of(["made:adversary"], {"role": ["proto-wrong"]})
    folder = write_broken(tmp_path / "r", rows, facts=facts)
    with Store.open(folder) as store:
        table = read_table(store)
        frame = {each.id: each for each in catalogue(table)}["C23"].compute(table.view(), Options())
    stored, frame = raw(folder), frame.set_index(["of", "label"])
    groups = {
        "made:adversary alone: paper E’s pair": ["made:adversary"],
        "whole family: adversary, nonproto_wrong": ["made:adversary", "made:nonproto_wrong"],
    }
    assert list(dict.fromkeys(frame.index.get_level_values("of"))) == list(groups)
    for of_, probes in groups.items():
        own = compared(stored, probes)
        lost = 100.0 * (own["wrong"] >= own["right"])
        domain = own["item"].str[1:].astype(int).map(lambda place: domains["domain"][place % 3])
        by = lost.groupby(domain).mean()
        assert frame.loc[(of_, "all items"), "failure"] == pytest.approx(lost.mean())
        assert frame.loc[(of_, "mean of domains"), "failure"] == pytest.approx(by.mean())
        assert by.mean() != pytest.approx(lost.mean())
        for name, value in by.items():
            assert frame.loc[(of_, name), "failure"] == pytest.approx(value)
        each = frame.loc[[(of_, name) for name in by.index]]
        for share in ("failure", "ties"):  # no side is tied, and that none will be is no certainty
            below, above = each[share] - each[f"{share}_low"], each[f"{share}_high"] - each[share]
            mean = frame.loc[(of_, "mean of domains")]
            assert mean[f"{share}_low"] == pytest.approx(max(mean[share] - np.hypot(*below) / 2, 0))
            assert mean[f"{share}_high"] == pytest.approx(min(mean[share] + np.hypot(*above) / 2, 100))
        assert (mean["ties"], mean["ties_low"]) == (0, 0)
        assert mean["ties_high"] > 5


def test_orders_are_counted_item_by_item(asked: dict[str, Question], table: ScoreTable, stored: pd.DataFrame) -> None:
    wide = stored[stored["evaluator"] == "e"].pivot_table(index="item", columns="probe", values="score")
    orders, pairs = of(asked, table, "C18"), of(asked, table, "C18-pairs")
    groups = ["identity", "swapped:far", "swapped:near"]
    assert set(orders["family"]) == {"swapped", "made", "mention", "size", "nested"}
    found = orders[orders["family"] == "swapped"].set_index("order")["n"].to_dict()
    for order in permutations(groups):
        n = int((wide[list(order)].diff(axis=1).iloc[:, 1:] < 0).all(axis=1).sum())
        assert found.get(" > ".join(order), 0) == n
    rows = pairs[pairs["family"] == "swapped"].set_index(["above", "below"])
    for one, other in permutations(groups, 2):
        assert rows.loc[(one, other), "share"] == pytest.approx(100 * (wide[one] > wide[other]).mean())


def test_an_order_of_at_most_one_percent_of_the_items_is_left_out(tmp_path: Path) -> None:
    """One of a hundred items stands in its own order, two in another."""
    scores = {"identity": 0.8, "swapped:near": 0.6, "swapped:far": 0.4}
    rows = [
        score(
            f"i{place:03d}",
            probe,
            {0: 1 - value, 1: abs(value - 0.65), 2: abs(value - 0.65)}.get(place, value),
            subject="human",
            **about(probe),
        )
        for probe, value in scores.items()
        for place in range(100)
    ]
    with Store.open(write_broken(tmp_path / "r", rows)) as store:
        table = read_table(store)
        frame = of({each.id: each for each in catalogue(table)}, table, "C18")
    assert frame.set_index("order")["n"].to_dict() == {
        "identity > swapped:near > swapped:far": 97,
        "swapped:far > identity > swapped:near": 2,
    }


def test_items_of_one_source_count_once_in_the_intervals_of_orders(tmp_path: Path) -> None:
    rows = rows_of(("e",))
    write_broken(tmp_path / "r", rows, pairs=ITEMS // 2)
    with Store.open(tmp_path) as store:
        paired = read_table(store)
        pairs = of({each.id: each for each in catalogue(paired)}, paired, "C18-pairs")
        row = pairs[pairs["family"] == "swapped"].set_index(["above", "below"]).loc[("identity", "swapped:far")]
        first = of({each.id: each for each in catalogue(paired)}, paired, "C18").iloc[0]
    wide = pd.DataFrame(rows).pivot_table(index="item", columns="probe", values="score")
    higher = (wide["identity"] > wide["swapped:far"]).to_numpy(dtype=float)
    sizes, p = np.full(ITEMS // 2, 2.0), higher.mean()
    sums = higher.reshape(-1, 2).sum(axis=1)
    # linearised variance of a ratio over clusters (Cochran 1977), and Wilson's interval at Student's quantile
    variance = len(sums) / (len(sums) - 1) * ((sums - p * sizes) ** 2).sum() / ITEMS**2
    n, t = p * (1 - p) / variance, stats.t.ppf(0.975, len(sums) - 1)
    middle, half = (
        (p + t**2 / (2 * n)) / (1 + t**2 / n),
        t * np.sqrt(p * (1 - p) / n + t**2 / (4 * n**2)) / (1 + t**2 / n),
    )
    assert 0 < p < 1
    assert (row["low"], row["high"]) == pytest.approx((100 * (middle - half), 100 * (middle + half)))
    plain = proportion_confint(first["n"], first["n_items"], method="wilson")
    assert (first["low"], first["high"]) != pytest.approx((100 * plain[0], 100 * plain[1]))


def test_an_answer_is_the_paired_change_and_no_failure(
    asked: dict[str, Question], table: ScoreTable, stored: pd.DataFrame
) -> None:
    spread = stored[(stored["evaluator"] == "e") & (stored["probe"] == "identity")]["score"].std()
    asked_of = {"C19": ["mention:1", "mention:2"], "C20": ["size:small", "size:large"]}
    for id_, probe in ((id_, probe) for id_, probes in asked_of.items() for probe in probes):
        frame, own = of(asked, table, id_).set_index("label"), compared(stored, [probe])
        assert about(probe)["baseline"] == (asked_of[id_][0] if probe == asked_of[id_][1] else "identity")
        change = own["wrong"] - own["right"]
        assert frame.loc[probe, "median_percent"] == pytest.approx((100 * change / own["right"]).median())
        assert frame.loc[probe, "standardised"] == pytest.approx(change.median() / spread)
        assert frame.loc[probe, "p"] == pytest.approx(paired_p(own))
        assert "failure" not in frame
    assert not {"mention", "size"} & set(of(asked, table, "C-rates")["label"])


def test_the_answer_to_nested_captions_is_the_change_from_the_step_before(
    asked: dict[str, Question], table: ScoreTable, stored: pd.DataFrame
) -> None:
    frame = of(asked, table, "C-nested").set_index("label")
    assert list(frame.index) == ["nested:share", "nested:place"]
    spread = stored[(stored["evaluator"] == "e") & (stored["probe"] == "identity")]["score"].std()
    for probe, row in frame.iterrows():
        own = compared(stored, [str(probe)])
        assert about(str(probe))["baseline"] == {"nested:share": "identity", "nested:place": "nested:share"}[str(probe)]
        change = own["wrong"] - own["right"]
        assert row["median_percent"] == pytest.approx((100 * change / own["right"]).median())
        assert row["standardised"] == pytest.approx(change.median() / spread)
        assert row["rises"] == pytest.approx(100 * (change > 0).mean())
        wilson = stats.binomtest(int((change > 0).sum()), len(change)).proportion_ci(method="wilson")
        assert (row["rises_low"], row["rises_high"]) == pytest.approx((100 * wilson.low, 100 * wilson.high))
    assert "nested" not in set(of(asked, table, "C-rates")["label"])


def test_the_answer_to_size_is_read_again_where_both_objects_are_alike_in_centrality(
    asked: dict[str, Question], table: ScoreTable, stored: pd.DataFrame
) -> None:
    frame, own = of(asked, table, "C20-central").set_index("label"), compared(stored, ["size:large"])
    own = own.sort_values("item", ignore_index=True)
    small, large = (np.resize(np.array(CENTRES[key], float), len(own)) for key in ("small_centre", "large_centre"))
    apart = small - large
    chosen = {
        "all whose places are told": np.ones(len(own), bool),
        "alike in centrality, within 0.1": (apart >= -0.1) & (apart <= 0.1),
        "the smaller one nearer to the centre": apart < 0,
    }
    assert list(frame.index) == list(chosen)
    assert set(frame["family"]) == {"size"}
    assert 0 < chosen["the smaller one nearer to the centre"].sum() < len(own)
    for label, keep in chosen.items():
        part, row = own[keep], frame.loc[label]
        change = 100 * (part["wrong"] - part["right"]) / part["right"]
        assert (row["n_items"], row["median_percent"]) == (len(part), pytest.approx(change.median()))
        assert row["apart"] == pytest.approx(np.median(apart[keep]))
        assert row["p"] == pytest.approx(paired_p(part), nan_ok=True)
    np.testing.assert_allclose(frame["p_holm"], holm(frame["p"]))


def test_a_run_that_tells_no_places_says_so(tmp_path: Path) -> None:
    folder = write_broken(tmp_path / "old", rows_of(probes=["identity", "size:small", "size:large"]))
    with Store.open(folder) as store:
        table = read_table(store)
        found = {each.id: each for each in catalogue(table)}["C20-central"]
        assert "tells no distance of its objects from the centre" in found.needs(table)


def test_an_example_of_every_family_says_who_ranks_it_rightly(
    asked: dict[str, Question], table: ScoreTable, stored: pd.DataFrame
) -> None:
    frame = asked["C27"].compute(table.view(), Options())
    assert list(frame["family"]) == [name for name in frame["family"] if name in FAMILIES]
    assert set(frame["family"]) == set(FAMILIES)
    for row in frame.to_dict("records"):
        assert row["probe"] in FAMILIES[row["family"]]
        for evaluator in ("e", "truth"):
            own = compared(stored, [row["probe"]], evaluator).set_index("item")
            if row["item"] in own.index:
                pair = own.loc[row["item"]]
                expected = "✓" if pair["right"] > pair["wrong"] else "✗ tie" if pair["right"] == pair["wrong"] else "✗"
            else:
                expected = "–"
            assert row[evaluator] == expected
    again = asked["C27"].compute(table.view(), Options())
    pd.testing.assert_frame_equal(frame, again)


def test_a_broken_caption_that_says_more_is_held_against_a_right_one_that_says_less(
    asked: dict[str, Question], table: ScoreTable, stored: pd.DataFrame
) -> None:
    wide = stored[stored["evaluator"] == "e"].pivot_table(index="item", columns="probe", values="score")
    (row,) = of(asked, table, "C-crossed").to_dict("records")
    assert (row["label"], row["below"]) == ("size:large-mixed", "size:small")
    moved = wide["size:large-mixed"] - wide["size:small"]
    assert (row["n_items"], row["share"]) == (len(moved), pytest.approx(100 * (moved > 0).mean()))
    low, high = proportion_confint(int((moved > 0).sum()), len(moved), method="wilson")
    assert (row["low"], row["high"]) == (pytest.approx(100 * low), pytest.approx(100 * high))
    assert row["value"] == pytest.approx(moved.median() / wide["identity"].std())


def test_the_two_by_two_tells_the_prototype_from_the_detail(
    asked: dict[str, Question], table: ScoreTable, stored: pd.DataFrame
) -> None:
    wide = stored[stored["evaluator"] == "e"].pivot_table(index="item", columns="probe", values="score")
    right, wrong = wide["identity"], wide["made:nonproto_wrong"]
    proto, proto_wrong = wide["made:prototype"], wide["made:adversary"]
    expected = {
        "prototype effect": proto - right,
        "detail, no prototype shown": right - wrong,
        "detail, prototype shown": proto - proto_wrong,
        "detail": ((right - wrong) + (proto - proto_wrong)) / 2,
        "interaction": (right - wrong) - (proto - proto_wrong),
        "correct minus adversary": right - proto_wrong,
    }
    frame = of(asked, table, "C29").set_index("label")
    assert list(frame.index) == list(expected)
    for label, values in expected.items():
        assert frame.loc[label, "delta"] == pytest.approx(values.median())
        assert frame.loc[label, "value"] == pytest.approx(values.median() / right.std())
    np.testing.assert_allclose(frame["p_holm"], holm(frame["p"]))


def test_selectivity_is_the_share_of_pairs_of_one_item(
    asked: dict[str, Question], table: ScoreTable, stored: pd.DataFrame
) -> None:
    harms = {name: [*own] for name, own in HARMS.items()} | {"made": ["made:prototype"]}
    drops = FAMILIES
    wide = stored[stored["evaluator"] == "e"].pivot_table(index="item", columns="probe", values="score")
    presumed = {item for item in wide.index if int(item[1:]) % 3 == 2}

    def share(broken: list[str], kept: list[str], *, known: bool) -> tuple[float, int, int]:
        of_items, pairs = [], 0
        for item, row in wide.iterrows():
            d = [
                row[RIGHT.get(name, "identity")] - row[name]
                for name in broken
                if not known or (name == "denied" and item not in presumed)
            ]
            h = [abs(row[name] - row["identity"]) for name in kept]
            won = [(x > y) + 0.5 * (x == y) for x in d for y in h]
            pairs += len(won)
            of_items += [np.mean(won)] if won else []
        return float(np.mean(of_items)), len(of_items), pairs

    every_drop, every_harm = ([name for own in each.values() for name in own] for each in (drops, harms))
    frame = of(asked, table, "C-selectivity").set_index("of")
    assert list(frame.index) == ["verified", "untold", "all"]
    for kind, known in (("verified", True), ("all", False)):
        value, n, pairs = share(every_drop, every_harm, known=known)
        assert frame.loc[kind, "value"] == pytest.approx(value)
        assert (frame.loc[kind, "n_items"], frame.loc[kind, "n_pairs"]) == (n, pairs)
    unit = wide["identity"].std()
    nuisance = wide[every_harm].sub(wide["identity"], axis=0).abs().median(axis=1).median() / unit
    lost = pd.DataFrame({name: wide[RIGHT.get(name, "identity")] - wide[name] for name in every_drop})
    signal = lost.median(axis=1).median() / unit
    row = frame.loc["all"]
    assert (row["nuisance"], row["signal"]) == (pytest.approx(nuisance), pytest.approx(signal))
    assert row["ratio"] == pytest.approx(signal / nuisance)
    plane = of(asked, table, "C-plane-data").set_index("of")
    pd.testing.assert_frame_equal(plane, frame)
    for known in (True, False):
        cells = of(asked, table, "C-hidden-cells", known=known).set_index(["family", "nuisance"])
        for (family, nuisance_of), cell in cells.iterrows():
            value, n, _ = share(drops[family], harms[nuisance_of], known=known)
            assert (cell["value"], cell["n_items"]) == (pytest.approx(value), n)
    taken = of(asked, table, "C-rates").set_index("label")
    cells = of(asked, table, "C-hidden-cells")
    for family in FAMILIES:
        own = cells[cells["family"] == family]
        assert taken.loc[family, "rival_value"] == own["value"].min()
        assert taken.loc[family, "rival"] in set(own.loc[own["value"] == own["value"].min(), "nuisance"])


def test_what_an_evaluator_fails_to_see_is_said_with_its_numbers(asked: dict[str, Question], table: ScoreTable) -> None:
    said = blind_spots(table.only("c").view())
    assert set(said) == {"e", "truth"}
    rates = of(asked, table, "C-rates")
    worst = rates[rates["label"] == rates["family"]].sort_values("failure", ascending=False).iloc[0]
    families = (
        rates["evaluator"].eq("e") & rates["label"].eq(rates["family"]) & ~rates["verdict"].isin(NO_CLAIM)
    ).sum()
    told = picked_failure(table.only("c").view(), "e", "c", worst["family"], of=families)
    assert 100 * told.low < worst["failure_low"]  # named after seeing all: its interval allows for that
    assert f"{worst['family']} {worst['failure']:.0f} % failures ({100 * told.low:.0f} to " in said["e"]
    row = of(asked, table, "C-selectivity").set_index("of").loc["verified"]
    assert said["e"].startswith(f"Selectivity {row['value']:.2f} ({row['low']:.2f} to {row['high']:.2f}), n = ")


def test_the_printed_card_says_it_too(folder: Path, table: ScoreTable) -> None:
    with Store.open(folder) as store:
        document = card_report(store)
    assert escape(blind_spots(table.only("c").view())["e"]) in document


def test_without_directional_probes_nothing_is_said_of_what_it_fails_to_see(tmp_path: Path) -> None:
    with Store.open(write_run(tmp_path / "r", audited("vflip"), corpus={"name": "c"})) as store:
        assert blind_spots(read_table(store).view()) == {}
        assert "fails to see" not in card_report(store)


def test_a_family_that_a_reader_leaves_out_still_counts_in_the_correction(table: ScoreTable) -> None:
    every = rows(table.view(), drops=False)
    several = every[every["m_tests"] > 1]
    assert len(several["family"].unique()) > 1
    for family in several["family"].unique():
        left = rows(table.view(Slice(families=(str(family),))), drops=False)
        whole = every[every["family"] == family].reset_index(drop=True)
        pd.testing.assert_frame_equal(left, whole)


@pytest.mark.parametrize("known", [False, True])
def test_the_matrix_as_the_page_shows_it_lacks_the_bounds_of_the_drops_alone(table: ScoreTable, known: bool) -> None:
    whole, shown = (matrix(table.view(), Options(known=known), depth=each) for each in ("whole", "rows"))
    bounds = ["drop_low", "drop_high"]
    assert whole["drop_low"].lt(whole["drop_high"]).any()
    assert shown.loc[whole["drop_low"] != whole["drop_high"], bounds].isna().all(axis=None)
    pd.testing.assert_frame_equal(shown.drop(columns=bounds), whole.drop(columns=bounds))


@pytest.mark.parametrize("known", [False, True])
def test_a_cell_of_the_matrix_and_one_test_in_depth_say_what_its_row_says(table: ScoreTable, known: bool) -> None:
    view, options = table.view(), Options(known=known)
    rows, cells = (matrix(view, options, depth=each) for each in ("rows", "cells"))
    assert {"failure", "ties", "verdict", "rival", "caption", "section"} <= set(cells)
    assert {"auroc", "drop", "p_holm"} <= set(rows) - set(cells)
    pd.testing.assert_frame_equal(cells, rows[list(cells)])
    for family in rows.loc[rows["caption"] == caption_of(table), "family"].unique():
        own = rows[(rows["family"] == family) & (rows["label"] == family)].reset_index(drop=True)
        found = in_depth(view, options, str(family))
        assert {"auroc", "drop", "scaled_right", "refused"} <= set(found)
        pd.testing.assert_frame_equal(found, own[list(found)], check_dtype=False)  # counts beside kinds are floats
    assert in_depth(view, options, "nothing").empty


def test_the_matrix_names_the_paper_s_elsewhere_and_what_is_not_here(asked: dict[str, Question]) -> None:
    numbers = {f"C{place}" for place in range(1, 30)}
    named = set(asked) | {each.id for question in asked.values() for each in question.figures}
    assert not named & set(OF_SUITES)
    assert numbers <= named | set(OF_SUITES)
    assert {"contrast", "selectivity"} <= set(SECTIONS)


def test_every_column_is_in_its_frame_and_every_figure_has_a_mark(
    asked: dict[str, Question], table: ScoreTable
) -> None:
    own = [each for each in asked.values() if each.section in ("contrast", "selectivity") and not each.needs(table)]
    assert len(own) > 12
    for question in own:
        frame = question.compute(table.view(), Options())
        assert {each.name for each in question.columns} <= set(frame), question.id
        for drawing in question.figures:
            assert len(drawing.figure(frame).frame), drawing.id


def test_a_run_without_a_directional_probe_says_what_to_audit(tmp_path: Path) -> None:
    with Store.open(write_run(tmp_path / "r", audited("vflip"), corpus={"name": "c"})) as store:
        table = read_table(store)
        own = [each for each in catalogue(table) if each.section in ("contrast", "selectivity")]
        assert {"C-rates", "C-selectivity", "C3"} <= {each.id for each in own}
        assert all("directional" in each.needs(table) for each in own if each.id in ("C-rates", "C3", "C-selectivity"))
        assert "--probes directional,default" in next(each.needs(table) for each in own if each.id == "C-rates")
        assert all(each.needs(table) for each in own)


def test_a_scope_that_leaves_the_directional_probes_out_names_the_subject(tmp_path: Path) -> None:
    rows = [*audited("vflip", items=40), *rows_of(probes=["identity", "masked"])]
    with Store.open(write_run(tmp_path / "r", rows, corpus={"name": "c"})) as store:
        table = read_table(store)
        assert table.scope.subject == "template"
        question = next(each for each in catalogue(table) if each.id == "C-rates")
        assert "choose run r, caption human (not template)" in question.needs(table)


def test_the_run_of_the_test_holds_what_it_says() -> None:
    assert set(BROKEN) < set(SHIFT)
    assert ITEMS == 24


def test_tables_that_can_have_a_row_of_a_family_are_named_and_no_others(
    asked: dict[str, Question], table: ScoreTable
) -> None:
    numbers = {papers.ORDERS[0], *(id_ for id_, _ in papers.FACTS.values()), papers.OTHER_FACTS[0]}
    rows = {id_: asked[id_].compute(table.view(), Options()) for id_ in numbers if not asked[id_].needs(table)}
    named = {family: set(tables_of(table, family)) for family in table.of_expectation(DIRECTIONAL)}
    assert named == {family: {id_ for id_, own in rows.items() if (own["family"] == family).any()} for family in named}
    assert any(named.values())
    assert not all(named.values())
