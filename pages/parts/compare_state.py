"""What the comparison remembers in its link: two sides, each a slice, and how they are held against each other."""

import streamlit as st

from core.analysis.contrasts import MARGIN
from core.analysis.slices import Slice
from pages.parts.results_state import read_margin
from pages.parts.runs import Signature, known_values
from pages.parts.url_state import Field, PageState, joined, one_of, some_of

COMPARE = "pages/compare.py"
SIDES = ("a", "b")
MANY = {
    "runs": "Run", "corpora": "Corpus", "families": "Family", "modifiers": "Modifier", "categories": "Category",
    "coverage_bins": "Coverage", "subjects": "Subject caption",
}  # fmt: skip
"""Choice of a slice -> its label; a side has one evaluator and any number of these."""

BY = {
    "family": "Family", "modifier": "Word", "probe": "Probe", "category": "Category", "coverage_bin": "Coverage",
    "corpus": "Corpus",
}  # fmt: skip
MEASURED = {"percent": "%Δ", "standardised": "Standardised Δ"}

_PINNED = "compare.pinned"


def compare_state(files: Signature) -> PageState:
    """Fields of the page over these runs."""
    known = known_values(files)

    def values(name: str) -> tuple[str, ...]:
        return known[name]

    fields = []
    for side in SIDES:
        fields.append(Field(f"{side}_evaluator", None, one_of(lambda: values("evaluators"), None, what="evaluator")))
        for name, label in MANY.items():
            read = some_of(lambda name=name: values(name), what=label.lower())  # type: ignore[misc]
            fields.append(Field(f"{side}_{name}", [], read, joined))
    return PageState(
        "compare",
        (
            *fields,
            Field("by", "family", one_of(lambda: tuple(BY), "family", what="level")),
            Field("measure", "percent", one_of(lambda: tuple(MEASURED), "percent", what="measure")),
            Field("margin", MARGIN, read_margin, lambda value: f"{value:g}"),
        ),
    )


def side_slice(state: PageState, files: Signature, side: str) -> Slice:
    """The slice of one side; without a chosen evaluator A has the first one and B the second."""
    known = known_values(files)["evaluators"]
    usual = known[: 2 if side == "b" else 1][-1:]
    chosen = state.get(f"{side}_evaluator")
    many = {name: tuple(state.get(f"{side}_{name}")) for name in MANY}
    return Slice(evaluators=(chosen,) if chosen else usual, **many)  # type: ignore[arg-type]


def swap(state: PageState) -> None:
    """Let the sides change places; a callback."""
    for name in ("evaluator", *MANY):
        a, b = state.get(f"a_{name}"), state.get(f"b_{name}")
        state.put(f"a_{name}", b)
        state.put(f"b_{name}", a)


def pins() -> dict[str, str]:
    """What this reader pinned so far, as parts of the comparison's link."""
    return dict(st.session_state.get(_PINNED, {}))


def pin(side: str, chosen: Slice) -> None:
    """Pin a slice as one side; a callback. A slice of several evaluators leaves the evaluator to the comparison."""
    kept = {name: value for name, value in pins().items() if not name.startswith(f"{side}_")}
    st.session_state[_PINNED] = kept | _as_link(side, chosen)


def _as_link(side: str, chosen: Slice) -> dict[str, str]:
    link = {f"{side}_{name}": joined(getattr(chosen, name)) for name in MANY if getattr(chosen, name)}
    return link | ({f"{side}_evaluator": chosen.evaluators[0]} if len(chosen.evaluators) == 1 else {})
