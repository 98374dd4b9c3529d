"""The choice of probes for an audit: whole families by axis, and any single one."""

from collections.abc import Mapping

import streamlit as st

from core.probes import registry as probes
from core.probes.base import Axis
from core.probes.titles import family_title
from pages.views.common.text import counted, safe
from pages.views.common.url_state import PageState
from pages.views.run_audit.state import usual_probes

_AXES = {
    Axis.SPATIAL: "The image is edited; its meaning stays.",
    Axis.OBJECT: "Another picture, or other objects of the picture in the caption.",
    Axis.SOCIETAL: "A word about culture, means, gender, emotion or work stands before the noun.",
    Axis.LEXICAL: "Words of the caption are repeated, left out or moved: the score must drop.",
    Axis.SEMANTIC: "The meaning of the caption is broken: the score must drop.",
    Axis.SURFACE: "How the picture was shrunk and saved, letters in it, words around the caption: the meaning stays.",
    Axis.NULL: "Edits that nobody can see: the noise floor of every comparison.",
}


def choose_probes(state: PageState) -> list[str]:
    """Draw the families by axis; return the names of the chosen probes in catalogue order."""
    chosen = set(state.get("probes"))
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f"**{counted(len(chosen), 'probe')}** of {len(probes.catalogue())}", width="content")
        with st.container(horizontal=True, width="content", gap="small"):
            for label, names in (("Usual", usual_probes()), ("All", list(probes.catalogue().names())), ("None", [])):
                st.button(label, key=f"run.probes.{label}", type="tertiary", on_click=_put, args=(state, names))
    for axis in Axis:
        families = _families(axis)
        if families:
            _draw_axis(state, axis, families, chosen)
    _single(state)
    return list(state.get("probes"))


def _families(axis: Axis) -> dict[str, list[str]]:
    """Families of an axis with their probes, the usual ones first; points of a sweep are chosen one by one."""
    found: dict[str, list[str]] = {}
    of_axis = [probe for probe in probes.catalogue() if probe.axis is axis and not probe.selector]
    for probe in sorted(of_axis, key=lambda probe: not probe.default):
        found.setdefault(probe.family, []).append(probe.name)
    return found


def _draw_axis(state: PageState, axis: Axis, families: Mapping[str, list[str]], chosen: set[str]) -> None:
    key = f"run.families.{axis.value}"
    st.session_state[key] = [family for family, names in families.items() if chosen & set(names)]
    st.pills(
        axis.value.capitalize(), list(families), selection_mode="multi", key=key, wrap=True, help=_AXES[axis],
        on_change=_toggle, args=(state, key, dict(families)),
        format_func=lambda family: _label(family, families[family], chosen),
    )  # fmt: skip


def _label(family: str, names: list[str], chosen: set[str]) -> str:
    inside = len(chosen & set(names))
    return f"{safe(family_title(family))} · {f'{inside} of ' if 0 < inside < len(names) else ''}{len(names)}"


def _toggle(state: PageState, key: str, families: dict[str, list[str]]) -> None:
    """A family that was switched on brings all its probes; one that was left on keeps those it had."""
    chosen = set(state.get("probes"))
    for family, names in families.items():
        on, was = family in st.session_state[key], bool(chosen & set(names))
        chosen = chosen | set(names) if on and not was else chosen - set(names) if was and not on else chosen
    _put(state, list(chosen))


def _put(state: PageState, names: list[str]) -> None:
    state.put("probes", [name for name in probes.catalogue().names() if name in names])


def _single(state: PageState) -> None:
    known = probes.catalogue()
    with st.expander("Probe by probe"):
        st.multiselect(
            "Probes", known.names(), key=state.key("probes"), label_visibility="collapsed",
            placeholder="Search a probe", format_func=lambda name: f"{name} · {known.get(name).axis.value}",
        )  # fmt: skip
        st.caption("Probes that a chosen one is compared with are added by themselves.")
    for broken in known.broken:
        st.caption(f"{safe(broken.where)} is broken: {safe(broken.error, limit=300)}")
