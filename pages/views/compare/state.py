"""What the comparison remembers in its link: two sides, each a slice of a scope, and how they are held together."""

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from core.analysis.scope import Narrowed, Scope, holdings
from core.analysis.slices import Slice
from core.analysis.verdicts import MARGIN
from pages.views.common.open_runs import Signature, narrowed, scores, store, stored_values
from pages.views.common.scope_chips import scope_fields
from pages.views.common.url_state import Field, PageState, carried, joined, one_of, some_of
from pages.views.results.state import read_margin

COMPARE = "pages/compare.py"
SIDES = ("a", "b")
ONE = {"run": "Run", "corpus": "Corpus", "subject": "Subject caption", "language": "Language"}
"""What a side may have otherwise than the page's scope -> its label."""

MANY = {"families": "Family", "modifiers": "Modifier", "categories": "Category", "coverage_bins": "Coverage"}
"""Choice of a slice -> its label; a side has one evaluator and any number of these."""

BY = {"family": "Family", "modifier": "Word", "probe": "Probe", "category": "Category", "coverage_bin": "Coverage"}
MEASURED = {"percent": "%Δ", "standardised": "Standardised Δ"}

_PINNED = "compare.pinned"


@dataclass(frozen=True, slots=True)
class Side:
    """One side of the comparison.

    Args:
        scope: one corpus, one run, one subject, one language.
        chosen: slice of one evaluator.
    """

    scope: Narrowed
    chosen: Slice


def compare_state(files: Signature) -> PageState:
    """Fields of the page over these runs."""

    def values(name: str) -> tuple[str, ...]:
        return stored_values(files)[name]

    def held(name: str) -> tuple[str, ...]:
        return tuple(sorted(map(str, holdings(store(files))[name].unique())))

    fields = []
    for side in SIDES:
        fields.append(Field(f"{side}_evaluator", None, one_of(lambda: values("evaluators"), None, what="evaluator")))
        for name, label in ONE.items():
            read = one_of(lambda name=name: held(name), None, what=label.lower())  # type: ignore[misc]
            fields.append(Field(f"{side}_{name}", None, read))
        for name, label in MANY.items():
            some = some_of(lambda name=name: values(name), what=label.lower())  # type: ignore[misc]
            fields.append(Field(f"{side}_{name}", [], some, joined))
    return PageState(
        "compare",
        (
            *scope_fields(files),
            *fields,
            Field("by", "family", one_of(lambda: tuple(BY), "family", what="level")),
            Field("measure", "percent", one_of(lambda: tuple(MEASURED), "percent", what="measure")),
            Field("margin", MARGIN, read_margin, lambda value: f"{value:g}"),
        ),
    )


def side_scope(state: PageState, files: Signature, scope: Narrowed, side: str) -> Narrowed:
    """The scope of one side: the page's, but for what the side chose otherwise.

    Raises:
        InvalidInput: if nothing is of all that the side chose.
    """
    own: Mapping[str, str | None] = {name: state.get(f"{side}_{name}") for name in ONE}
    rows = holdings(store(files))
    runs: tuple[str, ...]
    if own["run"]:
        runs, corpus, rows = (own["run"],), own["corpus"], rows[rows["run"] == own["run"]]
    elif own["corpus"] and own["corpus"] not in dict(scope.runs):
        runs, corpus, rows = (), own["corpus"], rows[rows["corpus"] == own["corpus"]]
    else:
        runs, corpus = scope.run_ids, own["corpus"] or scope.corpus
    subject, language = (
        own[name] or (usual if usual in set(rows[name]) else None)
        for name, usual in (("subject", scope.subject), ("language", scope.language))
    )
    return narrowed(files, Scope(runs=runs, corpus=corpus, subject=subject, language=language)).only()


def side_of(state: PageState, files: Signature, scope: Narrowed, side: str) -> Side:
    """One side; without a chosen evaluator A has the first one of the scope and B the second.

    Raises:
        InvalidInput: as :func:`side_scope`.
    """
    own = side_scope(state, files, scope, side)
    many = {name: tuple(state.get(f"{side}_{name}")) for name in MANY}
    evaluator = state.get(f"{side}_evaluator") or usual_evaluator(files, scope, own, side)
    return Side(own, Slice(evaluators=(evaluator,), **many))  # type: ignore[arg-type]


def evaluators_of(files: Signature, scope: Narrowed, own: Narrowed) -> tuple[str, ...]:
    """Evaluators of one side's run: those of the page's scope first."""
    there = scores(files, own).evaluators
    return tuple(sorted(there, key=lambda name: (name not in scope.evaluators, name)))


def usual_evaluator(files: Signature, scope: Narrowed, own: Narrowed, side: str) -> str:
    """The evaluator of a side that chose none."""
    return evaluators_of(files, scope, own)[: 2 if side == "b" else 1][-1]


def swap(state: PageState) -> None:
    """Let the sides change places; a callback."""
    for name in ("evaluator", *ONE, *MANY):
        a, b = state.get(f"a_{name}"), state.get(f"b_{name}")
        state.put(f"a_{name}", b)
        state.put(f"b_{name}", a)


def pins() -> dict[str, str]:
    """What this reader pinned so far and the scope, as parts of the comparison's link."""
    return carried() | pinned()


def pin(side: str, scope: Narrowed, chosen: Slice) -> None:
    """Pin a slice of a scope as one side; a callback.

    The side keeps its run, corpus, subject and language whatever the scope becomes. Where several evaluators are in
    view, the evaluator is left to the comparison.
    """
    kept = {name: value for name, value in pinned().items() if not name.startswith(f"{side}_")}
    st.session_state[_PINNED] = kept | _as_link(side, scope, chosen)


def pinned() -> dict[str, str]:
    """What this reader pinned so far."""
    return dict(st.session_state.get(_PINNED, {}))


def _as_link(side: str, scope: Narrowed, chosen: Slice) -> dict[str, str]:
    link = {f"{side}_{name}": str(getattr(scope, name)) for name in ONE}
    link |= {f"{side}_{name}": joined(getattr(chosen, name)) for name in MANY if getattr(chosen, name)}
    evaluators = chosen.evaluators or scope.evaluators
    return link | ({f"{side}_evaluator": evaluators[0]} if len(evaluators) == 1 else {})
