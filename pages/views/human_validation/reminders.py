"""Reminders for the annotators of a study who still have something to do, for the coordinator to copy and send."""

import pandas as pd
import streamlit as st

from core.features.human.ledger import OPEN
from core.features.human.studies import Study
from pages.views.common.text import counted, safe

_WORKS = ("working", "not begun", "practising", "away")  # states of annotators who still have something to do


def draw_reminders(study: Study, quality: pd.DataFrame, links: dict[str, str]) -> None:
    """Draw a reminder for everybody whose items are not all answered, while the study takes answers.

    Args:
        quality: ``core.features.human.quality.quality_table``.
        links: of those who have one, by id.
    """
    rows = [
        row
        for row in quality.to_dict("records")
        if row["annotator"] in links and row["state"] in _WORKS and row["planned"] > row["votes"]
    ]
    if not rows or study.state().status != OPEN:
        return
    with st.expander(f"Reminders ({len(rows)})", icon=":material/mail:"):
        st.caption("Copied and sent by you; nothing is sent from here. They name neither the study nor what is asked.")
        for row in rows:
            left = int(row["planned"] - row["votes"])
            st.markdown(f"**{safe(row['annotator'])}** {safe(row['name'])}: {counted(left, 'item')} left")
            st.code(
                reminder(str(row["name"]), int(row["votes"]), left, links[row["annotator"]]),
                language=None,
                wrap_lines=True,
            )


def reminder(name: str, given: int, left: int, link: str) -> str:
    """The text for one annotator.

    Args:
        name: as the coordinator calls them; empty for none.
    """
    so_far = f" Your {counted(given, 'answer')} so far {'is' if given == 1 else 'are'} kept." if given else ""
    return (
        f"Hello{' ' + name if name else ''},\n\nthank you for judging images and captions for us. "
        f"{counted(left, 'item')} {'is' if left == 1 else 'are'} left for you.{so_far}\n\n"
        f"Your link, for you alone:\n{link}\n\nYou can stop at any time and go on later."
    )
