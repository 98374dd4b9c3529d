"""An example story, made by a reader's click of the run that is loaded: a figure and the furthest pairs."""

from core.analysis.overview import at_a_glance
from core.analysis.scope import Narrowed, Scope
from core.analysis.slices import Slice
from core.charts.fairness import worst_of_axes
from core.probes.titles import family_title
from core.stories.slide import Slide
from core.stories.story import Story
from pages.views.common.collect import figure_slide, of_scores
from pages.views.common.runs import Signature, card, narrowed, risks
from pages.views.common.scope import scope_fields
from pages.views.common.url_state import PageState
from pages.views.failures.slide import card_slide
from pages.views.failures.state import MARKS, by_pair, page_of_pairs, shifts_of

TITLE = "An example: what moves these metrics"
PAIRS = 3
"""Pairs of the story, one an item."""


def make_example(files: Signature) -> Story:
    """Make the story.

    Args:
        files: what the store depends on; it has a run.

    Raises:
        InvariscopeError: if the runs cannot be read, or the story cannot be written.
    """
    scope = narrowed(files, Scope()).only()
    slides = [_glance(files, scope), *_furthest(files, scope)]
    story = Story.create(TITLE)
    for slide in slides:
        story.add(slide)
    return story


def _glance(files: Signature, scope: Narrowed) -> Slide:
    rows = at_a_glance(card(files, scope), risks(files, scope))
    named = {str(family): family_title(str(family)) for name in rows if str(name).endswith("_abs")
             for family in rows[str(name).removesuffix("_abs")].dropna()}  # fmt: skip
    state = PageState("overview", scope_fields(files))
    state.restore()
    figure = worst_of_axes(rows, names=named)
    return figure_slide(
        figure, "The family that moves each evaluator most", of_scores("pages/overview.py", state, files, scope)
    )


def _furthest(files: Signature, scope: Narrowed) -> list[Slide]:
    ranked = page_of_pairs(
        files, scope, Slice(), "standardised", 5, 1, once=True, item="", a_page=PAIRS, named=None
    )  # fmt: skip
    rows = by_pair(ranked.pairs, shifts_of(files, scope, ranked.pairs))
    held = [pair for _, pair in ranked.pairs.iterrows()]
    return [card_slide(files, scope, pair, own, marks=next(iter(MARKS)), link={})
            for pair, own in zip(held, rows, strict=True)]  # fmt: skip
