"""What a page says while there is no run: where one is made, and where else to go."""

import streamlit as st

from pages.views.common.access import may_operate
from pages.views.common.doors import Door, draw_doors
from pages.views.common.links import LAB
from pages.views.common.runs import present, store
from pages.views.common.text import counted

AUDIT = "pages/run_audit.py"
OVERVIEW = "pages/overview.py"


def draw_no_run(
    *,
    none: str = "No run is here yet",
    evaluators: tuple[str, ...] = ("conse-lite0",),
    more: str = "",
    command: str = "",
    here: str = "",
) -> None:
    """Say how a first run is made, in the browser or in a shell.

    Args:
        none: what is missing, a sentence without its full stop.
        evaluators: that the command audits; names of evaluators that need no download.
        more: a sentence on what the page can do without a run.
        command: in place of the usual one.
        here: the page that says this, where it is that to which a door would lead.
    """
    broken = len(store(present()).problems)
    if broken:
        none += f" that can be shown: {counted(broken, 'run or file', 'runs or files')} cannot be read whole"
    st.info(f"{none}. {more}".strip(), icon=":material/insights:")
    doors = [
        Door("Try a picture", "The Probe lab needs no run: one picture, its edits, every score", ":material/science:",
             LAB),
    ]  # fmt: skip
    if may_operate():
        doors.insert(0, Door("Run an audit", "Of the demo corpus or your own photographs; the results appear here",
                             ":material/play_circle:", AUDIT))  # fmt: skip
    if here != OVERVIEW:
        told = "What cannot be read is named there, with what to do" if broken else "Runs that somebody handed you"
        doors.append(Door("See what was left out" if broken else "Open a published file", told,
                          ":material/warning:" if broken else ":material/file_open:", OVERVIEW))  # fmt: skip
    draw_doors(doors)
    what = "one evaluator" if len(evaluators) == 1 else f"{len(evaluators)} evaluators"
    st.caption(f"Or in a shell, {what} on the demo corpus:")
    usual = f"python -m core audit --corpus demo --evaluators {','.join(evaluators)}"
    st.code(command or usual, language="shell", wrap_lines=True)
