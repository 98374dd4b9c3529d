"""What an audience takes home: every edit of the picture in one HTML file, pictures and scores in it."""

from collections.abc import Mapping, Sequence

import streamlit as st

from core.probes.base import Probe, Variant
from core.report.html import story_html
from core.scoring.lab_result import LabResult
from core.scoring.workbench import Workbench
from core.stories.story import Telling
from pages.views.common.downloads import counted_making
from pages.views.common.url_state import PageState
from pages.views.probe_lab.slide import variant_slide

_ABOUT = "Each is one edit of one picture, with the scores before and after it; the numbers are of this picture alone."


def draw_hand_out(state: PageState, bench: Workbench, result: LabResult, probes: Sequence[Probe], *, key: str) -> None:
    """Draw the button; the file is made when it is asked for. Viewers take it home too: it is what they see.

    A file is made outside of the session that asked for it, so what it needs of the session is read before. A session
    keeps what makes its files as long as it is open, so that is the bench and not its variants.
    """
    link, caption = state.wanted(), result.caption
    st.download_button(
        "Hand-out as HTML",
        counted_making(lambda: hand_out(link, bench, result, bench.variants(probes, caption)).encode()),
        f"{result.corpus}-{result.item}-hand-out.html", "text/html", icon=":material/co_present:", on_click="ignore",
        key=key, disabled=not bench.variants(probes, caption) or not result.evaluators,
        help="One file with every picture and score, which any browser opens without a server",
    )  # fmt: skip


def hand_out(link: Mapping[str, str], bench: Workbench, result: LabResult, variants: Mapping[str, Variant]) -> str:
    """The document: a slide an edit, in the order of the probes.

    Args:
        link: parameters of the lab's link; every slide has them with its own variant.
        bench: with the picture.
        result: what the lab scored.
        variants: by probe.
    """
    slides = tuple(variant_slide(bench, result, variants, name, {**link, "variant": name}) for name in variants)
    what = bench.item.label or "a picture"
    return story_html(Telling(f"Probe lab: {what}, “{result.caption[:200]}”", slides, (), ()), about=_ABOUT)
