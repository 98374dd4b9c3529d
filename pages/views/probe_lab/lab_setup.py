"""What is asked about the picture: the caption, the probes and the evaluators."""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache, partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.corpora.schema import CATEGORIES, EXTRA_CATEGORIES, Item
from core.errors import InvariscopeError
from core.evaluators import registry as evaluators
from core.probes.base import LENGTH_MATCHED, Axis, Probe
from core.probes.titles import title
from core.probes.words.templates import attribute_caption, base_caption
from pages.views.common.access import AUDIT, may_operate
from pages.views.common.layers import button, is_open
from pages.views.common.links import link_to
from pages.views.common.text import counted, safe
from pages.views.common.url_state import PageState
from pages.views.probe_lab import lab_state
from pages.views.probe_lab.lab_picture import PROPOSED
from pages.views.probe_lab.lab_state import offered_probes

_CLAIMS = {"directional": "Broken meaning: the score must drop", "response": "True either way: how the score answers"}
"""Expectation of probes that stand apart -> title of their group."""

_SAID = "lab.said"  # session key of the caption that was scored last
_CUT = "lab.caption.cut"  # session key of what was kept of a text that was too long, and how many characters it had


def choose_caption(state: PageState, item: Item) -> str:
    """Draw the choice of the subject caption; return it, empty where there is none yet."""
    hint = "It stays while the image is edited. Societal words are put into it, before the object’s name."
    state.switch("subject", "Caption", lab_state.SUBJECTS, help=hint, on_change=_prefill, args=(state,))
    subject = state.get("subject")
    if subject == "free":
        text = st.text_area(
            "Caption to score",
            key=state.key("caption"),
            height=70,
            placeholder="Type any caption, then press Ctrl+Enter",
            label_visibility="collapsed",
            on_change=_bound,
            args=(state,),
        )
        caption = (text or "").strip()
        kept, length = st.session_state.get(_CUT, ("", 0))
        if kept and text == kept:
            st.error(
                f"The caption had {length:,} characters, and at most {lab_state.CAPTION_LIMIT:,} are scored: the rest "
                "was left out. Shorten it.",
                icon=":material/content_cut:",
            )
    else:
        caption = _human(state, item) if subject == "human" else _template(state, item)
    if caption and subject == "template":
        st.text(caption)
    names = st.session_state.get(PROPOSED, ())
    if names and not state.get("label").strip():
        first, *others = names
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="lab_proposed"):
            hint = (
                f"What {first.evaluator} sees in the picture: {safe(', '.join(first.classes))}, {first.share:.0%} "
                "of what it sees. It may be wrong: type another name."
            )
            st.badge(f"proposed: {safe(first.noun)}", icon=":material/auto_awesome:", color="blue", help=hint)
            for each in others:
                key = f"lab.proposed.{each.noun}"
                button(f"{safe(each.noun)}?", "", key, state.put, "label", each.noun, type="tertiary")
    _label(state, item)
    st.session_state[_SAID] = caption
    return caption


def _bound(state: PageState) -> None:
    """Keep of a text no more than is scored, and how long it was; a callback."""
    text = state.get("caption") or ""
    if len(text) > lab_state.CAPTION_LIMIT:
        st.session_state[_CUT] = (text[: lab_state.CAPTION_LIMIT], len(text))
        state.put("caption", text[: lab_state.CAPTION_LIMIT])


def _prefill(state: PageState) -> None:
    if state.get("subject") == "free" and not state.get("caption").strip():
        state.put("caption", st.session_state.get(_SAID, ""))


def _label(state: PageState, item: Item) -> None:
    place: DeltaGenerator = st.container()
    if state.get("source") == "corpus" and item.label and item.category:
        place = st.popover(f"Object: **{safe(item.label)}**, {safe(item.category)}", type="tertiary")
    left, right = place.columns(2)
    hint = (
        "A singular noun, as the caption says it. Societal words are put before it: in your caption, or in “There "
        "is a …”, as you chose. Rows marked template start from “There is a …” whatever caption is chosen."
    )
    left.text_input("Object", key=state.key("label"), max_chars=80, placeholder=item.label or "e.g. bicycle", help=hint)
    right.selectbox(
        "Category",
        (*CATEGORIES, *EXTRA_CATEGORIES),
        index=None,
        key=state.key("category"),
        placeholder=item.category or "unknown",
        help="Decides which modifiers are plausible: no happy chair. Empty: that of the object's name.",
    )
    if item.label and not item.category:
        st.caption(
            f"No table knows the category of {safe(item.label)}: choose one, or words that are said of some "
            "kinds of things only are left out."
        )


def _template(state: PageState, item: Item) -> str:
    if not item.label:
        st.caption("Name the object to use the template, or type a free caption.")
        return ""
    modifiers = (probe for probe in offered_probes().values() if probe.modifier and probe.baseline == LENGTH_MATCHED)
    words = {str(probe.modifier): probe.family for probe in modifiers}
    chosen = state.get("adjective")
    if chosen not in words:
        state.put("adjective", None)
    st.selectbox(
        "Modifier",
        tuple(words),
        index=None,
        key=state.key("adjective"),
        placeholder="none: the bare template",
        format_func=lambda word: f"{word} · {words[word]}",
    )
    adjective = state.get("adjective")
    try:
        return attribute_caption(item.label, adjective) if adjective else base_caption(item.label)
    except InvariscopeError as error:
        st.warning(safe(str(error)))
        return ""


def _human(state: PageState, item: Item) -> str:
    texts = {
        f"{language}:{index}": caption
        for language, captions in sorted(item.captions.items(), key=lambda pair: pair[0] != "en")
        for index, caption in enumerate(captions)
    }
    if not texts:
        st.caption("No caption came with this picture; use the template or free text.")
        return ""
    chosen = state.choose(
        st.container(),
        "human",
        "Corpus caption",
        tuple(texts),
        label_visibility="collapsed",
        format_func=lambda key: f"{texts[key]}  ({key.split(':')[0]})",
    )
    return texts[chosen]


def choose_evaluators(
    state: PageState, *, folded: bool = False, own: bool = False, get: Callable[[str], None] | None = None
) -> list[str]:
    """Draw the choice of evaluators, the missing ones listed with the command that gets them. ``folded``: behind a chip
    that says how many are chosen; ``own``: offer an operator those too that were given by path, and the way to bring
    one; ``get``: draws the way to one that is not here, beneath its command."""
    ready = (*lab_state.ready_evaluators(), *(lab_state.own_ready() if own else ()))
    gone = lab_state.problems() if own else {}
    # a file may have changed since
    state.put("evaluators", [name for name in state.get("evaluators") if name in ready])
    known = evaluators.catalogue()
    chip = f"Metrics: **{len(state.get('evaluators'))}**"
    panel = st.popover(chip, key=f"{state.page}.panel") if folded else st
    inside = panel.container(key=f"{state.page}_evaluator_panel")
    chosen = inside.multiselect(
        "Metrics",
        ready,
        key=state.key("evaluators"),
        placeholder="Choose at least one",
        label_visibility="visible" if folded else "collapsed",
    )
    if own and may_operate():
        with inside:
            link_to(AUDIT, "Bring your own metric", icon=":material/code:", query_params={"own": "yes"})
    missing = {name: found for name, found in lab_state.availabilities().items() if not found.ready}
    if missing or known.broken or gone:
        said, key = f"{counted(len(missing) + len(gone), 'more metric')} to install", f"{state.page}.missing"
        place = (
            inside.expander(said, key=key, on_change="rerun")
            if folded
            else st.popover(said, type="tertiary", key=key, on_change="rerun")
        )
        if is_open(place):
            with place:
                for name, found in missing.items():
                    st.markdown(f"**{safe(name)}** · {safe(found.reason, limit=400)}")
                    st.code(found.command or "python -m core evaluators", language="shell", wrap_lines=True)
                    if get is not None:
                        get(name)
                for name, problem in gone.items():
                    st.markdown(f"**{safe(name)}** · {safe(problem, limit=600)}")
                for each in known.broken:
                    st.markdown(f"**{safe(each.where)}** is broken: {safe(each.error, limit=400)}")
    return list(chosen)


def choose_probes(state: PageState) -> list[Probe]:
    """Draw the probes by family, each a button; return the chosen ones in catalogue order."""
    offered = offered_probes()
    chosen = set(state.get("probes"))
    panel = st.popover(f"Edits: **{len(chosen)}**", icon=":material/tune:", key="lab.probes.panel", on_change="rerun")
    kept = chosen
    if is_open(panel):  # two hundred buttons cost a sixth of a turn
        with panel.container(key="lab_probe_panel", gap="xsmall"):
            with st.container(horizontal=True, gap="small"):
                usual = lab_state.DEFAULT_PROBES
                button("Usual dozen", "", "lab.usual", _choose, state, usual, type="tertiary")
                st.button("None", key="lab.none", type="tertiary", on_click=_choose, args=(state, ()))
            kept = set[str]()
            for heading, groups in _groups(offered).items():
                inside = sum(name in chosen for names in groups.values() for name in names)
                with st.expander(f"{heading} · {inside} chosen", expanded=heading == _title(Axis.SPATIAL, usual=True)):
                    for group, names in groups.items():
                        first = offered[names[0]]
                        key = f"lab.probes.{group}.{first.default}.{first.expectation.value}"
                        st.session_state[key] = [name for name in names if name in state.get("probes")]
                        kept.update(
                            st.pills(
                                group.capitalize(),
                                names,
                                selection_mode="multi",
                                key=key,
                                on_change=_toggle,
                                args=(state, key, names),
                                format_func=partial(_short, group),
                                help=first.source or None,
                            )
                        )
    state.put("probes", [name for name in offered if name in kept])
    return [offered[name] for name in state.get("probes")]


@cache
def _short(group: str, name: str) -> str:
    said = title(name)
    return safe(said if said != name else name.removeprefix(f"{group}-").removeprefix(f"{group}:"))


def _toggle(state: PageState, key: str, names: list[str]) -> None:
    others = [name for name in state.get("probes") if name not in names]
    _choose(state, (*others, *st.session_state[key]))


def _choose(state: PageState, names: tuple[str, ...]) -> None:
    state.put("probes", [name for name in offered_probes() if name in names])


def _groups(offered: Mapping[str, Probe]) -> dict[str, dict[str, list[str]]]:
    """Title -> group -> names: the usual probes of each axis, then the further ones. A family of three or more is a
    group; the small ones of an axis share one, which comes first."""
    sizes = Counter((probe.family, probe.default, probe.expectation) for probe in offered.values())
    titles: dict[str, dict[str, list[str]]] = {}
    for usual in (True, False):
        for probe in offered.values():
            if probe.default is usual:
                small = sizes[probe.family, usual, probe.expectation] < 3
                groups = titles.setdefault(
                    _CLAIMS.get(probe.expectation.value) or _title(probe.axis, usual=probe.default), {}
                )
                groups.setdefault(f"single {probe.axis.value} edits" if small else probe.family, []).append(probe.name)
    return {
        title: dict(sorted(groups.items(), key=lambda group: not group[0].startswith("single ")))
        for title, groups in titles.items()
    }


def _title(axis: Axis, *, usual: bool) -> str:
    return axis.value.capitalize() if usual else f"{axis.value.capitalize()}, further"
