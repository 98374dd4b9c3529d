"""RQ4: the same families in every corpus, and how often an item moves as the reference corpus does."""

import streamlit as st

from core.analysis.slices import Slice
from pages.parts.results_blocks import nothing
from pages.parts.results_data import replication
from pages.parts.results_draw import draw_effects, how
from pages.parts.results_state import choose_measure, choose_one
from pages.parts.runs import Signature, facet_counts, known_values
from pages.parts.text import safe
from pages.parts.url_state import PageState

_USUAL = ("vertical-flip", "cultural", "economic", "reposition", "rotation")


def draw_corpora(state: PageState, files: Signature, chosen: Slice, part: str) -> None:
    """Draw RQ4; ``part`` is always empty."""
    known = known_values(files)
    counts = facet_counts(files, chosen)
    corpora = [name for name in known["corpora"] if counts["corpora"].get(name)]
    corpora = [name for name in corpora if not chosen.corpora or name in chosen.corpora]
    if len(corpora) < 2:
        _too_few(len(known["corpora"]))
        return
    families = [name for name in known["families"] if counts["families"].get(name)]
    families = [name for name in families if not chosen.families or name in chosen.families]
    families = sorted(families, key=lambda name: (_USUAL.index(name) if name in _USUAL else len(_USUAL), name))
    if not families:
        nothing("family")
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        family = choose_one(state, "under", "Family", families, help_text="The edits whose shifts are compared.")
        reference = choose_one(state, "reference", "Reference corpus", corpora,
                               help_text="The corpus whose direction is held against the others.")  # fmt: skip
    choose_measure(state)
    found = replication(files, chosen, (("families", (family,)), ("reference", reference), *how(state)))
    if found.effects.empty:
        nothing(f"shift under {family}")
        return
    table = found.effects.assign(label=found.effects["corpus"].astype(str))
    draw_effects(state, table, labels=[reference, *(name for name in corpora if name != reference)], label="Corpus",
                 stem=f"corpora-{family}", title=f"How far {family} moves the score in every corpus")  # fmt: skip
    st.markdown(f"#### Do the others move as {safe(reference)} does?")
    _agreement(found.agreement)


def _agreement(table: object) -> None:
    number = st.column_config.NumberColumn
    st.dataframe(
        table, hide_index=True, placeholder="—", alt="Agreement of the corpora on the direction", key="results.agree",
        column_config={
            "evaluator": "Evaluator", "family": "Family", "corpus": "Corpus", "note": None,
            "reference_median": number("Reference Δ", format="%+.4f"), "median": number("Median Δ", format="%+.4f"),
            "same_direction": st.column_config.CheckboxColumn("Same direction", help="Of the two medians"),
            "agreement": number("Items that agree", format="percent", help="Share of items that move as the reference "
                                "median does; an item that does not move counts half"),
            "low": number("95 % from", format="percent"), "high": number("to", format="percent"),
            "n_items": number("n", format="%d"),
        },
    )  # fmt: skip


def _too_few(known: int) -> None:
    if known > 1:
        nothing("second corpus")
        return
    st.info("This question needs runs of at least two corpora. An audit of another:", icon=":material/library_add:")
    st.code("python -m core audit --corpus coco --root path/to/coco --evaluators conse-lite0", language="shell",
            wrap_lines=True)  # fmt: skip
    st.caption("`python -m core corpora` lists the corpora that are here. A run or a published file dropped into the "
               "data folder appears without a restart.")  # fmt: skip
