"""How precisely a study that is planned can answer, before anybody is asked.

The item is the unit of every share: what is said beforehand is what the number of items makes of it. How far people
differ comes on top, is told by the votes alone (:mod:`core.features.human.crossed_votes`), and takes three annotators.
"""

import math

from core.features.human.kinds import PREFERENCE, RATING, Kind
from core.statistics.power import items_for_share, items_within, smallest_share, widest_agreement, widest_half

TARGET_HALF, TARGET_SHARE = 0.05, 0.6
"""What a sentence names the items for: a share to within ±5 points, and three in five that lean to one version."""

SOURCE = "Wilson intervals at 95 %, exact sign test over items at 5 %"


def planned_precision(kind: Kind, *, items: int, annotators: int) -> tuple[str, ...]:
    """Say what a study can tell.

    Args:
        kind: of the study.
        items: that are asked about, those with a known answer aside.
        annotators: of each item.

    Returns:
        A sentence each for shares of items, agreement and preference, as far as the kind asks for them.
    """
    asks = {question.name for question in kind.questions}
    said = [] if RATING in asks else [_shares(items, annotators)]
    said.append(_agreement(kind, items, annotators))
    return (*said, *([_preference(items)] if PREFERENCE in asks else []))


def _shares(items: int, annotators: int) -> str:
    if annotators < 2:
        return "With one annotator an item no item has a majority, so there is no share of accepted items; ask two."
    return (
        f"A share of items, such as those whose both versions are accepted, will be known to within "
        f"±{_points(widest_half(items))} at worst (n = {items} items; ±{_points(TARGET_HALF)} take "
        f"{items_within(TARGET_HALF)}) as far as items go. How far people differ comes on top: votes of three "
        "annotators or more tell it."
    )


def _agreement(kind: Kind, items: int, annotators: int) -> str:
    half = widest_agreement(items, annotators, len(kind.scale))
    if math.isnan(half):
        return "With one annotator an item there is no agreement to speak of."
    return f"Percent agreement will be known to within ±{_points(half)} at worst ({annotators} annotators an item)."


def _preference(items: int) -> str:
    every, half = smallest_share(items), smallest_share(items // 2)
    more = f"{items_for_share(TARGET_SHARE)} items that lean would tell {_percent(TARGET_SHARE)}"
    if math.isnan(every):
        return f"{items} items are too few for any preference to differ from one half, however one-sided; {more}."
    said = (
        f"A preference will be told from one half, in four of five such studies, if at least {_percent(every)} "
        "of the items lean to one version and none is a tie"
    )
    ties = f"; {_percent(half)} if half of them are ties" if not math.isnan(half) else ""
    return f"{said}{ties}; {more} ({SOURCE})."


def _points(share: float) -> str:
    return f"{100 * share:.1f} points"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
