"""H from references: the caption that was held beside the others of its image, never beside itself."""

from dataclasses import replace

import numpy as np
import pytest
from pycocoevalcap.cider.cider import Cider

from core.analysis.reading import read_table
from core.analysis.scope import Scope, narrow
from core.analysis.table import ScoreTable
from core.corpora.registry import catalogue
from core.errors import InvalidInput
from core.features.calibration.fit import fit
from core.features.calibration.reference_order import asked_for, reference_order, unedited_captions
from core.scoring.reference_metrics import tokens
from core.store.run_files import Run
from core.store.store import Store


@pytest.fixture(scope="module")
def shipped(store: Store) -> tuple[ScoreTable, Run]:
    scope = narrow(store, Scope(runs=("demo",))).only()
    return read_table(store, scope), next(run for run in store.runs() if run.id == scope.run)


def lines(text: str) -> list[str]:
    return [" ".join(tokens(text))]


def test_the_values_are_those_of_the_package_with_the_references_of_the_whole_corpus(
    shipped: tuple[ScoreTable, Run],
) -> None:
    table, run = shipped
    captions = unedited_captions(table)
    found = reference_order(captions, table.scope, run, ("cider-d",))
    items = catalogue().get("demo").load(None).by_id()
    said = {row.item: lines(row.caption) for row in captions.itertuples()}
    people = {name: [line for text in items[name].captions["en"] for line in lines(text)] for name in said}
    expected = Cider().compute_score(people, said)[1]
    assert found.values["cider-d"].to_numpy() == pytest.approx(expected)
    assert (found.n, found.items) == (len(said), len(said))
    assert "252 of 252" in found.told[0]
    assert "the references of these 252 images" in found.told[1]


def test_it_is_an_h_of_the_calibration_on_both_halves(shipped: tuple[ScoreTable, Run]) -> None:
    table, run = shipped
    order = reference_order(unedited_captions(table), table.scope, run, ("rouge-l",))
    made = fit(table.view(), evaluator="conse-lite0", reading="orbit", against=("rouge-l",), judged=order.values)
    assert set(made.others) == {"rouge-l"}
    for scores, others in ((made.scores, made.others), (made.dev_scores, made.dev_others)):
        expected = order.values["rouge-l"].loc[list(scores.items)]
        assert (others["rouge-l"] == expected.to_numpy()).all()
    assert not np.isnan(made.dev.spearman["rouge-l"][0])


def test_an_evaluator_of_the_run_keeps_its_name() -> None:
    assert asked_for(("cider-d", "mine", "cider-d", "bleu-4"), ("bleu-4",)) == ("cider-d",)
    assert asked_for(None, ()) == ()


def test_other_languages_than_english_are_refused(shipped: tuple[ScoreTable, Run]) -> None:
    table, run = shipped
    with pytest.raises(InvalidInput, match="cut captions into English words, and these are ja"):
        reference_order(unedited_captions(table), replace(table.scope, language="ja"), run, ("bleu-4",))
