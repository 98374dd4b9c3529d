"""Stories: what was collected on the other pages, in order, to be shown and handed on."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import streamlit as st
from PIL.Image import DecompressionBombError

from core.analysis.overview import at_a_glance
from core.analysis.scope import Scope
from core.analysis.slices import Slice
from core.probes.titles import family_title
from core.report.fairness_card import worst_of_axes
from core.report.html import story_html
from core.report.story_pdf import story_pdf
from core.stories.story import MOST_NOTE, MOST_TITLE, Picture, Slide, Story, Telling, stories
from pages.views.common.access import may_operate, operators_only
from pages.views.common.collect import figure_slide, file_button, of_scores
from pages.views.common.layers import button, draw_head, finding, place_of, tell_refused, tried
from pages.views.common.links import FAILURES, LAB, OVERVIEW, Door, draw_doors, formerly, is_open, link_to
from pages.views.common.open_runs import Signature, card, narrowed, present, risks, store
from pages.views.common.page_head import drawn, header
from pages.views.common.scope_chips import scope_fields
from pages.views.common.text import counted, safe
from pages.views.common.url_state import Field, PageState, one_of, switch_field, text
from pages.views.failures.failure_card import card_slide
from pages.views.failures.failures_state import MARKS, by_pair, page_of_pairs, shifts_of


def _story_state(known: Sequence[str]) -> PageState:
    first = known[0] if known else ""
    fields = (
        Field("story", first, one_of(lambda: known, first, what="story")),
        Field("slide", "", text(limit=20)),
        switch_field("present"),
    )
    return PageState("stories", fields)


_SAID = "stories.said"


def _draw_slides(story: Story, told: Telling) -> None:
    tell_refused(_SAID, limit=400)
    writes = may_operate()
    for place, slide in enumerate(told.slides):
        with st.container(border=True, key=f"slide_{slide.id}"):
            with st.container(
                horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", gap="small"
            ):
                st.header(f"{place + 1}. {safe(slide.title)}", anchor=False, width="content")
                if writes:
                    with st.container(horizontal=True, width="content", gap="xsmall"):
                        last = place == len(told.slides) - 1
                        _act("Up", "arrow_upward", slide, story.move, place - 1, off=place == 0)
                        _act("Down", "arrow_downward", slide, story.move, place + 1, off=last)
                        _act("Take out", "close", slide, story.take_out, key="out")
            _draw_content(slide, key="page")
            if not writes:
                st.markdown(safe(slide.note, limit=MOST_NOTE))
                _origin(slide)
                continue
            st.text_area(
                "Note",
                slide.note,
                key=f"stories.note.{slide.id}",
                max_chars=MOST_NOTE,
                height="content",
                placeholder="What is to be seen here",
                on_change=_note,
                args=(story, slide),
            )
            _origin(slide)
    if told.out and writes:
        with st.expander(f"Taken out: {len(told.out)}", icon=":material/undo:"):
            for slide in told.out:
                with st.container(horizontal=True, vertical_alignment="center"):
                    st.markdown(safe(slide.title), width="stretch")
                    button("Bring back", "", f"stories.back.{slide.id}", _try, story.bring_back, slide.id)


def _draw_content(slide: Slide, *, key: str) -> None:
    if slide.pictures:
        with st.container(horizontal=True, horizontal_alignment="center", gap="medium", key=f"{key}_seen_{slide.id}"):
            for picture in slide.pictures:
                _picture(picture)
    for sentence in slide.said:
        st.markdown(safe(sentence, limit=400))
    if slide.rows:
        with st.container(key=f"{key}_numbers_{slide.id}"):
            head = [safe(each) or " " for each in slide.columns]
            lines = [f"| {' | '.join(head)} |", f"|:--|{'--:|' * (len(head) - 1)}"]
            st.markdown(
                "\n".join(lines + [f"| {' | '.join(safe(cell, limit=80) for cell in row)} |" for row in slide.rows])
            )


def _act(
    label: str, icon: str, slide: Slide, act: Callable[..., None], *to: int, off: bool = False, key: str = ""
) -> None:
    name = f"stories.{key or label}.{slide.id}"
    button(label, icon, name, _try, act, slide.id, *to, type="tertiary", disabled=off)


def _origin(slide: Slide) -> None:
    st.caption(f"{safe(slide.of, limit=400)}. Collected {safe(slide.when)}.")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        view = Path(slide.page).stem  # of before: the file of a page
        if is_open(view):
            link_to(view, "Open it live", icon=":material/open_in_new:", query_params=formerly(slide.link or {}))
        if slide.signature:
            with st.popover("Signature", icon=":material/fingerprint:", type="tertiary"):
                st.code(slide.signature, language=None, wrap_lines=True)


def _picture(picture: Picture) -> None:
    """Draw a picture; of a story that somebody else wrote, its file may be anything that begins as a picture does."""
    if not picture.data:
        st.caption(f":material/hide_image: This picture is lost: {safe(picture.alt)}")
        return
    try:
        shown = picture.data.decode() if picture.kind == "svg" else picture.data
        st.image(shown, alt=picture.alt, width="stretch")
    except (OSError, ValueError, SyntaxError, DecompressionBombError):
        st.caption(f":material/hide_image: This picture cannot be read: {safe(picture.alt)}")


@operators_only
def _note(story: Story, slide: Slide) -> None:
    _try(story.note, slide.id, st.session_state[f"stories.note.{slide.id}"].strip())


@operators_only
def _try(act: Callable[..., None], *args: object) -> None:
    """Do it; another session may have done it before."""
    tried(lambda: act(*args), _SAID)


def _draw_present(state: PageState, told: Telling) -> None:
    hint = "One slide at a time over the whole screen; ← and → turn them, Esc leaves"
    button(
        "Present", "slideshow", "stories.present.open", state.put, "present", True, disabled=not told.slides, help=hint
    )
    if state.get("present") and told.slides and not finding():
        st.dialog(safe(told.title), width="large", on_dismiss=lambda: state.put("present", False))(_stage)(state, told)


def _stage(state: PageState, told: Telling) -> None:
    ids = [each.id for each in told.slides]
    slide = told.slides[place_of(state, "slide", ids)]
    with st.container(key="present"):
        draw_head(state, "slide", ids, title=slide.title, key="stories.present")
        if slide.note:
            st.markdown(f"### {safe(slide.note, limit=600)}")
        with st.container(key="present_pictures"):
            _draw_content(slide, key="stage")
        st.caption(safe(slide.of, limit=400))


TITLE = "An example: what changes these scores"
PAIRS = 3  # pairs of the story, one an item


def make_example(files: Signature) -> Story:
    """Make the story of the runs that are there. Raises InvariscopeError if it cannot be read or written."""
    scope = narrowed(files, Scope()).only()
    rows = at_a_glance(card(files, scope), risks(files, scope))
    axes = [str(name).removesuffix("_abs") for name in rows if str(name).endswith("_abs")]
    named = {str(family): family_title(str(family)) for axis in axes for family in rows[axis].dropna()}
    state = PageState("overview", scope_fields(files))
    state.restore()
    origin = replace(of_scores(state, files, scope), view=OVERVIEW)
    figure = worst_of_axes(rows, names=named)
    slides = [figure_slide(figure, "The family that changes each evaluator most", origin)]
    ranked = page_of_pairs(files, scope, Slice(), "standardised", 5, 1, once=True, item="", a_page=PAIRS, named=None)
    parts = by_pair(ranked.pairs, shifts_of(files, scope, ranked.pairs))
    for (_, pair), own in zip(ranked.pairs.iterrows(), parts, strict=True):
        slides.append(card_slide(files, scope, pair, own, marks=next(iter(MARKS)), link={}))
    story = Story.create(TITLE)
    for slide in slides:
        story.add(slide)
    return story


_EXAMPLE = "stories.example.said"


def draw() -> None:
    """Draw the view."""
    known = {each.id: each for each in stories()}
    state = _story_state(tuple(known))
    state.restore()
    header("What you collected on the other pages: a page, slides, and one file to hand on.", state)
    tell_refused(_EXAMPLE, limit=400)
    with drawn(state):
        if known:
            told = {name: each.outline() for name, each in known.items()}
            with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
                st.selectbox(
                    "Story",
                    tuple(known),
                    key=state.key("story"),
                    width=360,
                    format_func=lambda name: f"{told[name].title or name} · {counted(len(told[name].slides), 'slide')}",
                )
                story = known[state.get("story")]
                held = story.read()
                _draw_present(state, held)
                file_button(
                    "HTML",
                    lambda: story_html(held).encode(),
                    f"{story.id}.html",
                    icon="download",
                    key="stories.html",
                    disabled=not held.slides,
                    help="One file with pictures and numbers, which any browser opens without a server",
                )
                file_button(
                    "PDF",
                    lambda: story_pdf(held),
                    f"{story.id}.pdf",
                    icon="picture_as_pdf",
                    key="stories.pdf",
                    disabled=not held.slides,
                    help="A page of 16:9 a slide",
                )
                if may_operate():
                    _rename(story, held)
            for problem in held.problems:
                st.warning(safe(problem, limit=500), icon=":material/warning:")
            if not held.slides:
                st.info("This story has no slide. *Collect* puts one here.", icon=":material/bookmark_add:")
                _doors()
            _draw_slides(story, held)
        else:
            st.info(
                "No story yet. Press *Collect* beside any figure, on a card of Findings · Pictures or in Try a "
                "picture: what you see is kept here, pictures and numbers as they are then.",
                icon=":material/bookmark_add:",
            )
            _doors()


def _doors() -> None:
    files, doors = present(), list[Door]()
    if may_operate() and store(files).runs():
        told = "A story of the run that is loaded: a figure and its furthest pairs"
        doors.append(
            Door("Try an example", told, ":material/auto_stories:", act=partial(_example, files), key="example")
        )
    told = "The pairs that change the most, with a button each"
    doors.append(Door("Collect a failure", told, ":material/photo_library:", FAILURES))
    told = "Your own picture, what each edit does to its scores"
    draw_doors([*doors, Door("Collect from Try a picture", told, ":material/science:", LAB)])


@operators_only
def _example(files: Signature) -> None:
    tried(lambda: make_example(files), _EXAMPLE)


def _rename(story: Story, told: Telling) -> None:
    with st.popover("Rename", icon=":material/edit:", type="tertiary"):
        given = (story,)
        st.text_input(
            "Title", told.title, key=f"stories.title.{story.id}", max_chars=MOST_TITLE, on_change=_renamed, args=given
        )


@operators_only
def _renamed(story: Story) -> None:
    if title := st.session_state[f"stories.title.{story.id}"].strip():
        story.rename(title)
