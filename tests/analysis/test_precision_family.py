"""The family *precision*: an evaluator beside its twin in half precision, on the same pictures and captions."""

import shutil
from collections.abc import Iterator
from html import escape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from scipy import stats
from streamlit.testing.v1 import AppTest

from core.analysis.questions import Options, catalogue
from core.analysis.questions.behind_the_scores import sentences, twins
from core.analysis.reading import read_table
from core.analysis.scope import Scope, narrow
from core.analysis.slices import Slice
from core.analysis.verdicts import MARGIN
from core.audit.run import run_audit
from core.evaluators.pool import Pool
from core.report.build import build
from core.report.fairness_card import card_report
from core.settings import ROOT
from core.store.store import Store
from pages.views.common.open_runs import present
from pages.views.common.shown_answers import answer, questions
from tests.analysis.made_runs import audited, raw, write_run
from tests.audit.squares import build_corpus
from tests.plans import make_plan
from tests.tiny import clip

ITEMS = 40
"""Of which the tiny checkpoint scores some 0: they have no % change."""
SINGLE, HALF, OTHER = "clipscore@openai", "clipscore:bf16@openai", "pac-s@openai"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An audit of a tiny checkpoint in both precisions, beside an evaluator of the same weights with another prefix."""
    folder = tmp_path_factory.mktemp("precision")
    weights = clip.write_openai(folder / "openai.pt")
    names = [f"{name}@{weights}" for name in ("clipscore", "clipscore:bf16", "pac-s")]
    plan = make_plan(build_corpus(folder / "in", ITEMS), evaluators=names, probes=["vflip", "null"])
    return run_audit(plan, folder / "data" / "runs", run_id="r", pool=Pool(2000, "cpu")).path


@pytest.fixture
def store(run: Path) -> Iterator[Store]:
    with Store.open(run) as opened:
        yield opened


def asked(store: Store, **options: float) -> pd.DataFrame:
    table = read_table(store)
    question = next(each for each in catalogue(table) if each.id == "S-precision")
    assert question.needs(table) == ""
    return question.compute(table.view(), Options(**options))


def test_the_shift_is_that_of_the_unedited_pair_in_the_raw_rows(store: Store, run: Path) -> None:
    (row,) = (each for _, each in asked(store).iterrows())
    rows = raw(run)
    clean = rows[rows["probe"] == "identity"].pivot_table(index="item", columns="evaluator", values="score")
    percent = (100 * (clean[HALF] - clean[SINGLE]) / clean[SINGLE]).where(clean[SINGLE] >= 1e-6).dropna()
    assert (percent != 0).any()
    assert (row["evaluator"], row["single"], row["precision"], row["corpus"]) == (HALF, SINGLE, "bfloat16", "squares")
    assert 20 <= row["n_items"] == len(percent)
    assert row["n_scored"] == ITEMS
    assert row["median_percent"] == pytest.approx(percent.median())
    assert row["median_abs_percent"] == pytest.approx(percent.abs().median())
    assert row["largest"] == pytest.approx(percent.abs().max())
    assert row["abs_low"] <= row["median_abs_percent"] <= row["abs_high"]
    moved = (clean[HALF] - clean[SINGLE]).to_numpy()
    p = stats.wilcoxon(moved).pvalue if row["test"].startswith("Wilcoxon") else stats.ttest_1samp(moved, 0).pvalue
    assert row["p"] == row["p_holm"] == pytest.approx(p)
    null = rows[(rows["axis"] == "null") & (rows["evaluator"] == SINGLE)]
    own = (clean[HALF] - clean[SINGLE]).abs()[null["item"]].to_numpy()
    null = (null["score"] - clean[SINGLE][null["item"]].to_numpy()).abs()
    often = pd.Series((own > null.to_numpy()) + 0.5 * (own == null.to_numpy()))
    assert row["further"] == pytest.approx(100 * often.groupby(rows.loc[null.index, "item"].to_numpy()).mean().mean())


def test_only_one_name_with_one_set_of_weights_in_two_precisions_is_a_pair(tmp_path: Path) -> None:
    told = {
        "a": ("w", "float32"),
        "a:bf16": ("w", "bfloat16"),
        "a:fp16": ("v", "float16"),
        "b": ("w", "float32"),
        "c:fp32@x": ("w", "float32"),
        "c@x": ("w", "float16"),
        "c@y": ("w", "float16"),
        "d:no-prefix:fp16": ("w", "float16"),
        "d": ("w", "float32"),
        "d:no-prefix": ("w", "float32"),
        "e": ("w", "float64"),
        "e:bf16": ("w", "bfloat16"),
    }
    rows = [row for name in told for row in audited("vflip", items=2, evaluator=name)]
    about = [
        {"name": name, "spec": {}, "fingerprint": {"weights": weights, "precision": precision}}
        for name, (weights, precision) in told.items()
    ]
    with Store.open(write_run(tmp_path / "r", rows, corpus={"name": "c"}, evaluators=about)) as opened:
        found = {(each.half, each.single) for each in twins(read_table(opened))}
    assert found == {("a:bf16", "a"), ("c@x", "c:fp32@x"), ("d:no-prefix:fp16", "d:no-prefix")}


def test_without_a_twin_nobody_asks(store: Store) -> None:
    table = read_table(store, Scope(evaluators=(SINGLE, OTHER)))
    assert "S-precision" not in {each.id for each in catalogue(table)}
    assert sentences(table.view(), margin=MARGIN) == {}


def test_a_filter_that_leaves_one_of_the_two_out_leaves_no_row(store: Store) -> None:
    table = read_table(store)
    question = next(each for each in catalogue(table) if each.id == "S-precision")
    full, none = (question.compute(table.view(Slice(evaluators=names)), Options()) for names in ((), (HALF,)))
    assert none.empty
    assert list(none.columns) == list(full.columns)


def test_the_margin_is_the_readers(store: Store) -> None:
    largest = asked(store)["largest"].iloc[0]
    assert asked(store, margin=2 * largest)["beyond"].iloc[0] == 0
    assert asked(store, margin=largest / 1000)["beyond"].iloc[0] > 50


def test_page_report_and_card_say_the_same(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
    (tmp_path / "data" / "runs").mkdir(parents=True)
    shutil.copytree(run, tmp_path / "data" / "runs" / "r")
    st.cache_data.clear()
    st.cache_resource.clear()
    files = present()
    with Store.open(tmp_path / "data" / "runs") as opened:
        scope = narrow(opened)
        report = build(opened)
        (found,) = (each.frame for each in report.tables if each.id == "S-precision")
        assert "F-precision" in {each.id for each in report.figures}
        question = questions(files, scope)["S-precision"]
        pd.testing.assert_frame_equal(found, answer(files, scope, Slice(), question.id, Options()))
        pd.testing.assert_frame_equal(found, asked(opened))
        (said,) = sentences(read_table(opened, scope.only()).view(), margin=MARGIN).values()
        assert escape(said) in card_report(opened)
    row = found.iloc[0]
    assert f"median |% change| {row['median_abs_percent']:.2f} ({row['abs_low']:.2f} to {row['abs_high']:.2f})" in said
    assert f"at most {row['largest']:.2f}; {row['than_null']}; {row['scatter']}, n = {row['n_items']}." in said
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    page.query_params["card"] = "yes"
    page.switch_page("pages/start.py").run()
    drawn = [each.value for each in page.caption if "alone moves the unedited items" in each.value]
    assert len(drawn) == 1
    assert drawn[0].replace("\\", "") == said
    assert not np.isnan(row["further"])
