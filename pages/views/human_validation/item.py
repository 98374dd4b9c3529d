"""One item on a screen: its pictures and captions, and under each what is asked or told about it."""

from collections.abc import Callable

import streamlit as st

from core.human.definition import ORIGINAL, VARIANT, StudyItem
from core.human.kinds import PREFERENCE, SIDES, Kind, Question
from core.human.studies import Study
from pages.views.common.text import safe
from pages.views.human_validation.desk import desk


def draw_item(study: Study, item: StudyItem, left: str, draw_question: Callable[[Question], None]) -> None:
    """Draw an item.

    Args:
        study: the item's.
        item: what is shown.
        left: version that stands left (A).
        draw_question: draws what stands below a version, or below both.

    Raises:
        NotAvailable: if its pictures cannot be made any more.
    """
    kind = study.definition.asked
    versions = _versions(kind, left)
    pictures = desk().pictures(study, item)  # as PNG: by itself Streamlit would make lossy copies, in every run
    shared_picture = kind.sides == 2 and item.edits == "caption"
    if shared_picture or kind.sides == 1:
        with st.container(key="study_shared", horizontal_alignment="center"):
            st.image(pictures.of(left), alt="The picture to judge", width="content", output_format="PNG")
    if kind.sides == 1 or not shared_picture:
        _draw_caption(item.caption(left), key="study_caption")
    if kind.sides == 1:
        draw_question(kind.questions[0])
        return
    cells = st.columns(2, gap="medium")
    for cell, (side, version) in zip(cells, versions.items(), strict=True):
        with cell.container(border=True, key=f"study_side_{side}"):
            if shared_picture:
                _draw_caption(item.caption(version), key=f"study_caption_{side}", head=side)
            else:
                st.markdown(f"**{side}**")
                st.image(pictures.of(version), alt=f"Picture of version {side}", width="stretch", output_format="PNG")
            draw_question(kind.question(side))
    draw_question(kind.question(PREFERENCE))


def _versions(kind: Kind, left: str) -> dict[str, str]:
    versions = {SIDES[0]: left}
    if kind.sides == 2:
        versions[SIDES[1]] = VARIANT if left == ORIGINAL else ORIGINAL
    return versions


def _draw_caption(text: str, *, key: str, head: str = "") -> None:
    with st.container(key=key):
        st.markdown(f"{f'**{head}** ' if head else ''}“{safe(text, limit=2000)}”")
