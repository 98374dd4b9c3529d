"""What a planned study says of its own precision, in the numbers of the power room."""

import re

import pytest

from core.features.human.creation import planned_precision
from core.features.human.kinds import ACCEPTABILITY, PAIRED_RATING, SINGLE
from core.statistics.power import items_for_share, items_within, smallest_share, widest_agreement, widest_half


def test_shares_agreement_and_preference_are_told_with_n_and_source() -> None:
    shares, agreed, preferred = planned_precision(ACCEPTABILITY, items=100, annotators=3)
    assert f"±{100 * widest_half(100):.1f} points at worst (n = 100 items" in shares
    assert f"±{100 * widest_agreement(100, 3, 3):.1f} points" in agreed
    assert f"{100 * smallest_share(100):.0f} % of the items lean" in preferred
    assert f"{100 * smallest_share(50):.0f} % if half of them are ties" in preferred
    assert "sign test over items" in preferred
    assert f"±5.0 points take {items_within(0.05)})" in shares
    assert f"{items_for_share(0.6)} items that lean would tell 60 %" in preferred


def test_more_annotators_narrow_no_share_and_more_items_do() -> None:
    def half(items: int, annotators: int) -> float:
        said = planned_precision(ACCEPTABILITY, items=items, annotators=annotators)[0]
        return float(re.search(r"±([\d.]+)", said)[1])  # type: ignore[index]

    assert half(100, 3) == half(100, 9)
    assert half(400, 3) < half(100, 3)


@pytest.mark.parametrize(("kind", "sentences"), [(SINGLE, 1), (PAIRED_RATING, 3), (ACCEPTABILITY, 3)])
def test_a_study_says_only_what_its_kind_asks_for(kind: object, sentences: int) -> None:
    assert len(planned_precision(kind, items=50, annotators=2)) == sentences  # type: ignore[arg-type]


def test_one_annotator_and_a_handful_of_items_are_told_to_be_too_few() -> None:
    said = " ".join(planned_precision(ACCEPTABILITY, items=4, annotators=1))
    assert "no item has a majority" in said
    assert "no agreement to speak of" in said
    assert "too few for any preference" in said
