"""*More like this*: the pairs of the items whose pictures an evaluator of the run embeds closest to one."""

import streamlit as st

from core.analysis.scope import Narrowed
from core.analysis.similar import Alike, alike
from core.report.signature import fingerprints
from pages.views.common.runs import Signature, scores, store
from pages.views.common.text import counted, number, safe
from pages.views.common.url_state import PageState
from pages.views.failures.state import Named
from pages.views.probe_lab.state import shared

MOST = 12
"""Items beside the one that is asked about."""


def like_it(state: PageState, files: Signature, scope: Narrowed) -> Alike | None:
    """The items most like the one of the link; None where none is asked for, or no embedding is kept."""
    item = state.get("like")
    if not item:
        return None
    rows = scores(files, scope).items
    own = rows[scores(files, scope).of_corpus(scope.corpus)].dropna(subset=["pixels"])
    run = next(each for each in store(files).runs() if each.id == scope.run)
    known = {name: sorted(keys) for name, keys in fingerprints([run]).items() if name in scope.evaluators}
    pixels = dict(zip(own["item"].astype(str), own["pixels"].astype(str), strict=True))
    return alike(item, pixels, known, shared().embeddings, most=MOST)


def pairs_of(found: Alike, files: Signature, scope: Narrowed, tagged: Named) -> Named:
    """(item, probe) of these items, of those with the wanted tags where tags are asked for."""
    names = {name for name, _ in found.items}
    if tagged is not None:
        return tuple((item, probe) for item, probe in tagged if item in names)
    probes = map(str, scores(files, scope).probes.index)
    return tuple((name, probe) for probe in probes for name in sorted(names))


def draw_like(state: PageState, found: Alike | None) -> None:
    """Say what is alike by whose embeddings, or that none is kept, and take it back on a click."""
    item = state.get("like")
    if not item:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if found is None:
            st.info(f"No evaluator of this run has kept an embedding of the picture of {safe(item)} and of another, so "
                    "nothing tells which items look like it. Evaluators with an image tower leave one for every "
                    "picture that is opened in the Probe lab.", icon=":material/image_search:")  # fmt: skip
        else:
            _, nearest = found.items[1]
            _, furthest = found.items[-1]
            st.markdown(
                f"**{safe(item)}** and the {counted(len(found.items) - 1, 'item')} most like it, by "
                f"{safe(found.evaluator)}'s image embeddings (cosine {number(nearest, digits=2)} to "
                f"{number(furthest, digits=2)}; of {counted(found.known, 'picture')} that are embedded)"
            )
        st.button("Every item", icon=":material/undo:", type="tertiary", key="failures.like.all", on_click=state.put,
                  args=("like", ""))  # fmt: skip
