"""Mixed models of shifts: the mean shift of an edit, or of a word, with item and category as random intercepts.

Source: paper A, sections A.6, B.1 and B.3.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from core.analysis.effects import Group, corpora, corrected, modifier_groups
from core.analysis.memo import once
from core.analysis.questions.base import Column, Options, Question
from core.analysis.questions.columns import CORPUS, COUNT, EVALUATOR
from core.analysis.questions.contrasts import shown
from core.analysis.questions.factors import of_reference
from core.analysis.questions.needs import no_family
from core.analysis.table import ScoreTable, View
from core.statistics.bootstrap import LEAST_N, too_few
from core.statistics.mixed_model import mixed_effect

BETA = Column("beta", "β₁ [95 % CI]", digits=4, signed=True, low="beta_low", high="beta_high",
              help="Mean shift on the evaluator's own scale, image and category as random intercepts")  # fmt: skip
SPREADS = (
    Column("item_sd", "SD of items", digits=4, help="Standard deviation of the items' random intercepts"),
    Column("category_sd", "SD of categories", digits=4, help="Standard deviation of the categories' intercepts"),
    Column("residual_sd", "SD left", digits=4, help="Standard deviation of what remains"),
)
"""Variance components of a model, as standard deviations on the evaluator's own scale."""

MIXED = (
    "β₁: mean shift of the score by REML, crossed random intercepts for image and category; its interval and p are by "
    "source with Student's quantile (cluster-robust, CR2), since neither intercept is one of the shift. "
    f"Fewer than {LEAST_N} items or sources have neither, nor spreads."
)
_COLUMNS = ("evaluator", "corpus", "label", "n_items", "beta", "beta_low", "beta_high", "beta_p", "beta_note",
            "item_sd", "category_sd", "residual_sd")  # fmt: skip


def betas(view: View, groups: Sequence[Group], corpus: str, *, family: str = "") -> pd.DataFrame:
    """β₁ of every group under every evaluator.

    Args:
        view: of the table of scores.
        groups: a model each.
        corpus: whose items, or ALL.
        family: of words that may be said of some items only; empty for all items.
    """
    rows = [_beta(view, evaluator, group, corpus, family) for group in groups for evaluator in view.evaluators]
    return pd.DataFrame([row for row in rows if row], columns=list(_COLUMNS))


@once
def _beta(view: View, evaluator: str, group: Group, corpus: str, family: str) -> dict[str, object]:
    changes, items = view.changes(evaluator, group.probes, against=group.against), view.table.items
    own = dict(corpora(view.table, pooled=True))[corpus]
    places = np.flatnonzero(own & shown(view, family) & ~np.isnan(changes.delta))
    if not len(places):
        return {}
    category, before = items["category"].fillna("unknown").to_numpy()[places], changes.baseline[places]
    scores = np.concatenate([before, before + changes.delta[places]])
    of = None if view.table.sources is None else np.tile(view.table.sources[places], 2)
    found = mixed_effect(scores, np.repeat([0, 1], len(places)), np.tile(places, 2), np.tile(category, 2), sources=of)
    if few := too_few(len(places), len(places) if of is None else len(np.unique(of))):
        found = replace(found, low=np.nan, high=np.nan, p=np.nan, image_sd=np.nan, category_sd=np.nan,
                        residual_sd=np.nan, note=f"{few}, and no test")  # fmt: skip
    return {"evaluator": evaluator, "corpus": corpus, "label": group.label, "n_items": found.images,
            "beta": found.effect, "beta_low": found.low, "beta_high": found.high, "beta_p": found.p,
            "beta_note": found.note, "item_sd": found.image_sd, "category_sd": found.category_sd,
            "residual_sd": found.residual_sd}  # fmt: skip


def of_words(table: ScoreTable, family: str, said: str) -> Question:
    """The mixed model of every word of a family against its neutral caption.

    Args:
        table: of the scope.
        family: e.g. ``cultural``.
        said: the family in words.
    """
    tests = f"the {said} words"

    def compute(view: View, options: Options) -> pd.DataFrame:
        groups = [each for each in modifier_groups(view, family, bare=options.bare) if each.tests]
        if not any(each.shown for each in groups):
            groups = []
        rows = betas(view, groups, view.table.reference, family=family)
        shown = rows["label"].isin([each.label for each in groups if each.shown])
        tested = rows.assign(tests=family, test="Wald", p=rows["beta_p"], shown=shown)
        return corrected(tested).drop(columns="conflict")

    return Question(
        f"S14-{family}", f"{said.capitalize()} words: the mean shift of the score, with item and category as random "
        "intercepts", "words", family,
        f"{MIXED} A word's rows are the scores with it and those of its baseline: the neutral caption closest in "
        f"length, unless the bare caption is chosen. p (Holm) over {tests} of an evaluator.{of_reference(table)}",
        (EVALUATOR, CORPUS, Column("label", "Word", kind="text"), COUNT, BETA, Column("p", "p", kind="p"),
         Column("p_holm", "p (Holm)", kind="p"), *SPREADS, Column("beta_note", "Remark", kind="text")),
        compute, lambda table: no_family(table, family, what=f"{said} words"), paper="B.3", tests=tests,
        asks=("bare",),
    )  # fmt: skip
