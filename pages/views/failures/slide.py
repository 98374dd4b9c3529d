"""A pair of the page Failures as a slide of a story."""

from collections.abc import Mapping

import pandas as pd

from core.analysis.scope import Narrowed
from core.report.pair_slides import pair_slide, shown
from core.report.signature import signature_of
from core.stories.slide import Picture, Slide
from pages.views.common.links import record_text
from pages.views.common.open_runs import Signature, scores, store
from pages.views.failures.card import below_pictures, cut_said
from pages.views.failures.pictures import LARGE, Made, finished, pictures


def card_slide(
    files: Signature, scope: Narrowed, pair: pd.Series, rows: pd.DataFrame, *, marks: str, link: Mapping[str, str]
) -> Slide:
    """What a card shows of a pair, its pictures large.

    Args:
        files: what the store depends on.
        scope: whose scores.
        pair: has ``core.analysis.failures.PAIR``.
        rows: the pair under every evaluator.
        marks: a key of ``failure_state.MARKS``.
        link: parameters of the page's link.
    """
    with pictures(store(files), pd.DataFrame([pair]), marks=marks, side=LARGE) as begun:
        made = finished(begun[0])
    first = rows.iloc[0]
    without = made[:400] if isinstance(made, str) else ""
    return pair_slide(
        pair, rows, pictures=_pictures(made, shown(first)), language=scope.language,
        said=(below_pictures(made), cut_said(first["object_kept"]), without),
        link={**link, "record": record_text(pair)},
        signature=signature_of(scores(files, scope), store(files).runs()),
    )  # fmt: skip


def _pictures(made: Made, what: str) -> tuple[Picture, ...]:
    if isinstance(made, str):
        return ()
    after = () if made.after is None else (Picture(f"{what}, edited", "jpg", made.after),)
    return (Picture(f"{what}, as it is", "jpg", made.before), *after)
