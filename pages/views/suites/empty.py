"""How an evaluator is held to a suite: what the page says while none was, and the commands to copy."""

from functools import partial

import streamlit as st

from pages.views.common.access import may_operate
from pages.views.common.links import Door, draw_doors
from pages.views.suites.example import example_request
from pages.views.suites.start import start

_COMMANDS = (
    ("Evaluators of this machine, on the publisher's file and pictures:",
     "python -m core suite flickr8k.json images/ --evaluator conse-lite0,grounding-judge"),
    ("A metric that runs elsewhere: the captions out, its scores in:",
     "python -m core suite flickr8k.json images/ --export-pairs given\n"
     "python -m core suite flickr8k.json --scores scores.csv --evaluator my-metric"),
    ("Before and after a calibration:",
     "python -m core suite pascal_50s.json images/ --evaluator conse-lite0 --calibrator calibrator.json"),
)  # fmt: skip


def draw_nothing() -> None:
    """Say what a suite is, and let the reader try one."""
    st.info(
        "No evaluator was held to a suite here yet. Suites are files of their publishers: Flickr8k-Expert and -CF, "
        "Pascal-50S, Composite, FOIL, CapArena, M-CapEval1k; of videos, VATEX-EVAL and ActivityNet-FOIL. "
        "Nothing is downloaded.",
        icon=":material/fact_check:",
    )
    request = example_request() if may_operate() else None
    if request is not None:
        told = ("27 captions of the demo corpus, each beside one with a wrong object: right and wrong by construction, "
                "nobody was asked")  # fmt: skip
        draw_doors([Door("Try an example", told, ":material/play_circle:", act=partial(start, request), key="example")])


def draw_commands() -> None:
    """The commands, folded."""
    with st.expander("The same in a shell", icon=":material/terminal:"):
        for said, command in _COMMANDS:
            st.caption(said)
            st.code(command, language="shell", wrap_lines=True)
        st.caption("What they reach appears on this page.")
