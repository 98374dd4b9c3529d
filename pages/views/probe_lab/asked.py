"""What a reader asked the Probe lab for by a click: it is worked out on the next runs of the page, until it is known.

A click alone lasts one run, and a page that writes its link may run again before the work is done.
"""

import streamlit as st


def ask(label: str, what: str, key: object, *, icon: str) -> None:
    """Draw the button that asks for something.

    Args:
        label: on the button.
        what: short name of what is asked for; names the button too.
        key: of this very question, e.g. picture, caption and evaluator.
        icon: beside the label.
    """
    st.button(label, icon=icon, key=f"lab.{what}", on_click=_keep, args=(what, key))


def asked(what: str, key: object) -> bool:
    """Whether the reader asked this very question last."""
    return bool(st.session_state.get(f"asked.{what}") == key)


def _keep(what: str, key: object) -> None:
    st.session_state[f"asked.{what}"] = key
