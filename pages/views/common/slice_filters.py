"""The filters that several pages share: drawn in a panel over the page, held in the link, a count beside every value.

They choose a part of a scope (:mod:`pages.views.common.scope_chips`); runs, corpus, subject, language and evaluators
are its. A column of the items' owners, such as ``site``, is a filter where its values differ.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import streamlit as st

from core.analysis.failures import relaxations
from core.analysis.scope import Narrowed
from core.analysis.slices import SIGNS, WHOLE, Slice, told_said
from core.corpora.folder_tables import MOST_VALUES
from core.corpora.schema import OWN
from core.errors import InvalidInput
from core.probes.titles import family_title, title
from pages.views.common.layers import button
from pages.views.common.open_runs import Signature, facet_counts, known_values, own_values, scores, store, stored_values
from pages.views.common.page_head import Chips, filter_panel
from pages.views.common.text import as_percent, counted, listed, safe, thousands
from pages.views.common.url_state import Field, PageState, Read, checked, joined, one_of, some_of, switch_field, whole

LABELS = {
    "axes": ("Axis", "Spatial: the image is edited. Societal: the caption is. Null: invisible edits."),
    "families": ("Family", "Probes with one meaning, such as the four rotations."),
    "probes": ("Probe", "One controlled edit of an item."),
    "modifiers": ("Modifier", "The word that a societal probe puts before the noun."),
    "categories": ("Category", "The kind of thing that the object is, harmonised over corpora."),
    "coverage_bins": ("Coverage", "Area of the object's box over the area of the image."),
}
_COUNTS = (
    "Every number on this page is of what the filters leave. A value's count is the number of shifts that choosing it "
    "would leave, the other filters kept."
)
_SIGNS = {"up": "Score rose", "down": "Score fell", "none": "Score did not move"}
ALL = tuple(LABELS)  # choices in the order in which they are drawn


def slice_fields(files: Signature) -> tuple[Field, ...]:
    """Fields of a page's state that hold a slice; a fresh page shows everything."""
    must = "The share inside the crop must be two percentages such as 20-80"
    return (
        *(Field(name, [], _known(files, name), joined) for name in ALL),
        Field("sign", None, one_of(lambda: tuple(SIGNS), None, what="sign")),
        Field("inside", (0, 100), checked(_range, (0, 100), must), lambda value: f"{value[0]}-{value[1]}"),
        switch_field("controls"),
        Field("accepted", 0, percentage_of("accepted")),
        switch_field("whole"),
        switch_field("untied"),
        *own_fields(files),
    )


class Seen(NamedTuple):
    """What a page looks at."""

    state: PageState
    files: Signature
    scope: Narrowed
    chosen: Slice


def percentage_of(what: str) -> Read:
    """Read a share of people out of a link, e.g. ``what="accepted"``, as a whole number of percent."""
    return checked(whole(0, 100), 0, f"The {what} share must be a percentage from 0 to 100")


def choose_slice(
    state: PageState, files: Signature, scope: Narrowed, row: Chips, *, fields: Sequence[str] = ALL, more: bool = True
) -> Slice:
    """Draw the filters in their panel and return the slice that they make. ``fields``: the choices that this page
    offers, of :data:`ALL`; ``more``: offer sign, share inside the crop, controls and people's verdict too."""
    chosen = _slice(state)
    counts = facet_counts(files, scope, chosen)
    with filter_panel(state, row, told=_told(chosen, fields, more=more), about=_COUNTS):
        for name in fields:
            _choose(state, name, counts[name])
        own = {key: counts[key] for key in scores(files, scope).own}
        choose_own(
            state, {key: {value: f" · {thousands(n)}" for value, n in each.items()} for key, each in own.items()}
        )
        if more:
            known = known_values(files, scope)
            _choose_more(state, counts["sign"], judged=bool(known["judged"]), tied=bool(known["tied"]))
    return _slice(state)


def _told(chosen: Slice, fields: Sequence[str], *, more: bool) -> int:
    single = (chosen.sign, chosen.inside, chosen.controls, chosen.accepted, chosen.whole, chosen.untied)
    others = sum(each not in (None, False) for each in single) if more else 0
    return sum(bool(getattr(chosen, name)) for name in fields) + others + len({key for key, _ in chosen.told})


def slice_link(state: PageState) -> dict[str, str]:
    """Link parameters of the filters that are set, for another page that has them."""
    names = (*ALL, "sign", "inside", "controls", "accepted", "whole", "untied")
    return {name: text for name, text in state.wanted().items() if name in names or name.startswith(OWN)}


def offer_relaxing(
    state: PageState,
    files: Signature,
    scope: Narrowed,
    chosen: Slice,
    *,
    fills: Callable[[Slice], bool] = lambda _: True,
    also: Mapping[str, str] | None = None,
    side: str = "",
) -> None:
    """Offer to take back the filters that leave nothing, one by one with the shifts left then, and all together.
    ``fills``: whether a slice leaves something of what is empty now; ``also``: further fields that keep something out,
    with the words of their button; ``side``: begins the names of the fields, where a page has several slices, e.g.
    ``a_``."""
    counts = relaxations(store(files), scope, chosen)
    also = also or {}
    left = [name for name in counts if name != "evaluators" and counts[name] and fills(chosen.without(name))]
    key = f"{state.page}.relax."
    with st.container(horizontal=True, gap="small"):
        for name in left:
            words = describe(replace(Slice(), **{name: getattr(chosen, name)}))
            label = f"Without {safe(words, limit=60)} · {counted(counts[name], 'shift')}"
            button(label, "", f"{key}{side}{name}", state.take_back, *_fields([name], chosen, side))
        for name, words in also.items():
            button(words, "", f"{key}{name}", state.take_back, name)
        if set(counts) - {"evaluators"} or also:
            fields = (*_fields(counts, chosen, side), *also)
            button("Clear filters", "filter_alt_off", f"{key}{side}all", state.take_back, *fields)


def _fields(names: Iterable[str], chosen: Slice, side: str) -> tuple[str, ...]:
    own = dict.fromkeys(key for key, _ in chosen.told)
    return tuple(side + field for name in names for field in (own if name == "told" else (name,)))


def describe(chosen: Slice) -> str:
    """Say in words what a slice keeps; empty where it keeps everything."""
    said = [
        f"{LABELS[name][0].lower()} {listed([_called(name, each) for each in getattr(chosen, name)])}"
        for name in ALL
        if getattr(chosen, name)
    ]
    said += [_SIGNS[chosen.sign].lower()] if chosen.sign else []
    if chosen.inside is not None:
        said.append(f"{as_percent(chosen.inside[0])} to {as_percent(chosen.inside[1])} of the object inside the crop")
    said += ["with controls"] if chosen.controls else []
    if chosen.accepted is not None:
        said.append(f"accepted by at least {as_percent(chosen.accepted)} of people")
    said += ["without objects that the edit cut"] if chosen.whole else []
    said += ["without labels of two categories"] if chosen.untied else []
    said += told_said(chosen.told)
    return "; ".join(said)


def _called(field: str, value: str) -> str:
    return _CALLED[field](value) if field in _CALLED else value


def _known(files: Signature, name: str) -> Read:
    return some_of(lambda: stored_values(files)[name], what=LABELS[name][0].lower())


def _choose(state: PageState, name: str, counts: dict[str, int]) -> None:
    if len(counts) < 2 and not state.get(name):
        return
    counts = dict.fromkeys(state.get(name), 0) | counts  # chosen in another scope
    label, help_text = LABELS[name]

    def named(value: str) -> str:
        said = _called(name, value)
        return value if said == value else f"{said} ({value})"

    st.multiselect(
        label,
        sorted(counts, key=lambda value: (counts[value] == 0, _order(name, value))),
        key=state.key(name),
        help=help_text,
        placeholder=f"All {len(counts)}",
        format_func=lambda value: f"{named(value)} · {thousands(counts.get(value, 0))}",
    )


_CALLED = {"families": family_title, "probes": title}  # field -> what its values are called


def percent_slider(state: PageState, name: str, label: str, told: str) -> None:
    """Draw the slider of a share, or of a range of shares, in steps of 5 %."""
    st.slider(label, 0, 100, key=state.key(name), step=5, format="%d %%", help=told)


def _choose_more(state: PageState, signs: dict[str, int], *, judged: bool, tied: bool) -> None:
    st.selectbox(
        "Direction",
        tuple(SIGNS),
        index=None,
        key=state.key("sign"),
        placeholder="Any direction",
        format_func=lambda sign: f"{_SIGNS[sign]} · {thousands(signs.get(sign, 0))}",
    )
    told = (
        "Share of the object that is left after the evaluator's own resizing and cropping. Anything but 0 to "
        "100 % leaves out shifts for which it is not known."
    )
    percent_slider(state, "inside", "Object inside the crop", told)
    if judged or state.get("accepted"):
        percent_slider(
            state,
            "accepted",
            "Accepted by people, at least",
            "Share of people in a study who found both versions acceptable. Above 0, pairs that nobody judged "
            "are left out.",
        )
    hint = (
        f"Leaves out shifts whose edit, such as a rotation, left less than {as_percent(WHOLE)} of the object's "
        "mask in the image. What the evaluator's own crop takes away is the filter above."
    )
    st.toggle("Whole objects only", key=state.key("whole"), help=hint)
    if tied or state.get("untied"):
        hint = (
            "Leaves out the items whose label could as well belong to another category, such as a bench, "
            "furniture or outdoor; Results lists them under Object. A run that does not record them keeps all."
        )
        st.toggle("Without labels of two categories", key=state.key("untied"), help=hint)
    st.toggle("Controls too", key=state.key("controls"), help="Neutral words and blurs, which others are held against.")


def _slice(state: PageState) -> Slice:
    many = {name: tuple(state.get(name)) for name in ALL}
    low, high = state.get("inside")
    return Slice(
        **many,
        sign=state.get("sign"),
        controls=bool(state.get("controls")),
        inside=None if (low, high) == (0, 100) else (low / 100, high / 100),
        accepted=state.get("accepted") / 100 or None,
        upheld=None,
        whole=bool(state.get("whole")),
        untied=bool(state.get("untied")),
        told=told_by(state),
    )


def _order(name: str, value: str) -> tuple[int, str]:
    lead = "".join(each for each in value if each.isdigit() or each == "-").split("-")[0]
    return (int(lead) if lead and name == "coverage_bins" else 0, value)


def _range(raw: str) -> tuple[int, int]:
    low, high = (int(part) for part in raw.split("-"))
    if not 0 <= low <= high <= 100:
        raise InvalidInput("out of order")
    return low, high


Told = tuple[tuple[str, str], ...]  # (key, value) as :class:`core.analysis.slices.Slice` has them


def own_fields(files: Signature, *, side: str = "") -> tuple[Field, ...]:
    """A field for each column that items of some run tell; none where there is no run. ``side``: begins the names,
    where a page has several slices, e.g. ``a_``."""
    known = own_values(files)
    return tuple(
        Field(side + key, [], some_of(lambda key=key: known[key], what=column_name(key)), joined)  # type: ignore[misc]
        for key in known
    )


def told_by(state: PageState, *, side: str = "") -> Told:
    """What a reader chose of these fields."""
    names = [field.name for field in state.fields if field.name.startswith(side + OWN)]
    return tuple((name.removeprefix(side), value) for name in names for value in state.get(name))


def own_link(told: Told, *, side: str = "") -> dict[str, str]:
    """The same as parameters of a link."""
    return {side + key: joined(values) for key, values in by_column(told).items()}


def choose_own(state: PageState, known: Mapping[str, Mapping[str, str] | Sequence[str]], *, side: str = "") -> None:
    """Draw a choice for each column that tells items apart, or of which something is chosen. ``known``: key of a column
    -> its values in the scope, each with what is said of it where there is something; ``side``: as in
    :func:`own_fields`."""
    chosen = by_column(told_by(state, side=side))
    for key in {**known, **chosen}:
        there = known.get(key, ())
        said = there if isinstance(there, Mapping) else {}
        values = list(dict.fromkeys([*there, *chosen.get(key, ())]))
        if not chosen.get(key) and not 1 < len(values) <= MOST_VALUES:
            continue
        st.multiselect(
            safe(column_name(key)),
            values,
            key=state.key(side + key),
            placeholder=f"All {len(values)}",
            format_func=partial(_shown, said),
            help="A column of the table that lay beside the pictures.",
        )


def _shown(said: Mapping[str, str], value: str) -> str:
    return value[:80] + said.get(value, "")


def by_column(told: Told) -> dict[str, list[str]]:
    """The values chosen of each column of which some are."""
    return {key: [value for name, value in told if name == key] for key, _ in told}


def column_name(key: str) -> str:
    """A column as its owner calls it."""
    return key.removeprefix(OWN)
