"""Sides and versions: what was said of A and B is said of the original and the variant."""

from typing import Any

from core.features.human.definition import ORIGINAL, VARIANT, StudyItem
from core.features.human.kinds import PREFERENCE, RATING, SIDES, TIE


def resolve(item: StudyItem, left: str, answers: dict[str, Any]) -> dict[str, Any]:
    """Say of the versions what was said of the sides.

    Args:
        item: what was shown.
        left: the version that stood left (A).
        answers: question -> answer.

    Returns:
        original, variant, preferred; each None where it was not asked.
    """
    found: dict[str, Any] = {ORIGINAL: None, VARIANT: None, "preferred": None}
    if item.shows != "pair":
        return {**found, item.shows: answers.get(RATING)}
    versions = {SIDES[0]: left, SIDES[1]: VARIANT if left == ORIGINAL else ORIGINAL}
    for side, version in versions.items():
        found[version] = answers.get(side)
    preferred = answers.get(PREFERENCE)
    found["preferred"] = TIE if preferred == TIE else versions.get(preferred) if preferred is not None else None
    return found
