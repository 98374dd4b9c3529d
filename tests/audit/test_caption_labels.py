"""Labels that captions give: both constructions of a societal word on rated captions, in a run and in its tables."""

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
import pytest

from core.analysis.questions import Options, catalogue
from core.analysis.reading import read_table
from core.analysis.scope import Scope, labels_said
from core.audit.fingerprints import corpus_fingerprint
from core.audit.plan import usual_subjects
from core.audit.record import corpus_again, plan_again
from core.audit.run import run_audit
from core.corpora.demo import load_demo
from core.corpora.rated import load_rated
from core.corpora.schema import Corpus, Item
from core.evaluators.pool import Pool
from core.probes.base import HUMAN, TEMPLATE
from core.probes.words.natural_captions import labelled
from core.report.build import build
from core.store.store import Store
from tests.plans import make_plan

WORDS = ("American", "European", "Asian", "African")
PROBES = (
    *(f"{start}cultural:{word}" for start in ("", "inserted-") for word in WORDS),
    *(f"{start}economic:{word}" for start in ("", "inserted-") for word in ("cheap", "expensive")),
    "vflip",
)
UNSAID = "In the background of nothing much"
"""A caption of which no rule can tell what it is about."""


def written(folder: Path, name: str, items: Sequence[Item]) -> None:
    """A suite as its publisher lays it out, over photographs of the demo corpus; the last caption names nothing."""
    folder.mkdir()
    for number, item in enumerate(items):
        assert item.image_path is not None
        shutil.copy(item.image_path, folder / f"{number}{item.image_path.suffix}")
    texts = [f"A {item.label} beside nothing else." for item in items[:-1]] + [UNSAID]
    judged = [
        {"image_path": f"{number}{item.image_path.suffix if item.image_path else ''}", "caption": text, "rating": 1}
        for number, (item, text) in enumerate(zip(items, texts, strict=True))
    ]
    held = {"1": {"image_path": judged[0]["image_path"], "ground_truth": [], "human_judgement": judged}}
    (folder / name).write_text(json.dumps(held))


@pytest.fixture(scope="module")
def suites(tmp_path_factory: pytest.TempPathFactory) -> tuple[Corpus, Corpus]:
    """Two rated suites: Flickr8k-Expert and Flickr8k-CF, of animals and things that a caption can name."""
    root = tmp_path_factory.mktemp("suites")
    named = {"bear", "bus", "camera", "car", "laptop", "umbrella", "fork", "kettle"}
    items = [item for item in load_demo.load().items if item.label in named]
    written(root / "expert", "flickr8k.json", items[:4])
    written(root / "cf", "crowdflower_flickr8k.json", items[-4:])
    return load_rated.load(root / "expert"), load_rated.load(root / "cf")


@pytest.fixture(scope="module")
def stored(suites: tuple[Corpus, Corpus], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("runs")
    for corpus in suites:
        plan = make_plan(corpus, evaluators=["conse-lite0"], probes=PROBES, subjects=(TEMPLATE, HUMAN))
        run_audit(plan, folder, run_id=corpus.name, pool=Pool(500, "cpu"))
    with Store.open(folder) as store:
        yield store


@pytest.mark.parametrize("subject", [TEMPLATE, HUMAN])
def test_the_tables_of_the_subsets_fill_under_both_captions(stored: Store, subject: str) -> None:
    table = read_table(stored, Scope(subject=subject))
    asked, view = {each.id: each for each in catalogue(table)}, table.view()
    start = "inserted-" if subject == HUMAN else ""
    rows = stored.query(f"select * from shifts where subject = '{subject}'")
    for id_, family in (("T10", "cultural"), ("T11", "economic")):
        found = asked[id_].compute(view, Options())
        own = rows[rows["family"] == f"{start}{family}"]
        own = own[~own["control"]]
        assert len(table.corpora) == 2
        assert list(found["corpus"]) == list(table.corpora)
        for _, row in found.iterrows():
            mean = own[own["corpus"] == row["corpus"]].groupby("item")["percent"].mean().dropna()
            assert row["n_items"] == len(mean) > 0
            assert row["median_percent"] == pytest.approx(mean.median())
        assert ("caption that people wrote" in asked[id_].note) is (subject == HUMAN)
    agreed = asked["T12"].compute(view, Options())
    assert {"cultural subset", "economic subset"} <= set(agreed.loc[agreed["corpus"] == table.corpora[1], "family"])


def test_a_run_says_who_gave_the_labels_and_which_captions_gave_none(stored: Store) -> None:
    runs = {run.id: run for run in stored.runs()}
    told = runs["flickr8k-expert"].manifest
    assert told["corpus"]["labels"] == {"rules": 3, "none": 1}
    assert [(each["code"], each["count"]) for each in told["remarks"]] == [("label-from-caption", 3)]
    facts = stored.query("select * from variants where key = 'label_by'")
    assert set(facts["value"]) == {"rules"}
    given = stored.query("select corpus, item from items where label is not null")
    assert set(map(tuple, facts[["corpus", "item"]].to_numpy())) == set(map(tuple, given.to_numpy()))
    left = stored.query("select * from rejections where code = 'no-label'")
    assert set(left["item"]) == set(stored.query("select item from items where label is null")["item"])
    said = labels_said(runs.values(), ["flickr8k-expert"])
    assert said == (
        "3 of 4 items of run flickr8k-expert (75 %) have a noun of their caption for a label, read by rules; "
        "1 has none, since nobody can tell what the caption is about.",
    )
    report = build(stored, Scope(subject=TEMPLATE))
    assert said[0] in report.about["Labels"]


def test_the_pairs_of_such_a_run_are_made_again_with_its_labels(stored: Store, suites: tuple[Corpus, Corpus]) -> None:
    run = next(run for run in stored.runs() if run.id == "flickr8k-expert")
    assert [item.label for item in corpus_again(run).items] == [item.label for item in labelled(suites[0]).items]
    assert plan_again(run).corpus.items[0].label_by == "rules"


def test_the_identity_of_a_corpus_changes_with_its_labels_alone(suites: tuple[Corpus, Corpus]) -> None:
    bare = load_rated.load(suites[0].origin.root, labels="none")  # type: ignore[union-attr]
    assert labelled(bare) is bare
    assert corpus_fingerprint(bare) == corpus_fingerprint(suites[0])
    assert corpus_fingerprint(labelled(suites[0])) != corpus_fingerprint(bare)
    demo = load_demo.load()
    assert labelled(demo) is demo
    assert make_plan(demo, evaluators=None, probes=["vflip"], limit=2).labels == {}


def test_people_s_captions_stay_what_a_run_of_rated_captions_holds(suites: tuple[Corpus, Corpus]) -> None:
    assert usual_subjects(suites[0]) == usual_subjects(labelled(suites[0])) == (HUMAN,)
    plan = make_plan(suites[0], evaluators=None, subjects=(HUMAN,))
    assert {probe.family for probe in plan.probes} >= {"cultural", "economic", "vertical-flip"}
    rows = pd.Series([item.category for item in plan.corpus.items])
    assert rows.notna().sum() == 3
