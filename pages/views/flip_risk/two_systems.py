"""Two systems of the reader's own over harmless edits: how often the order changes, and the flipped pairs."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.charts.canvas import thumbnail
from core.charts.spec import colours, signed
from core.corpora.item_pictures import as_picture
from core.corpora.schema import Corpus, Item, two_sources
from core.corpora.system_files import parse_systems
from core.corpora.table_cells import MOST_BYTES
from core.errors import InvariscopeError
from core.evaluators.pool import shared_pool
from core.features.flips.flip_risk_figures import flip_shares
from core.features.flips.system_pairs import Matched, SystemFlips, flipped_pairs, match, score_systems, system_flips
from core.probes.titles import title
from core.probes.words.templates import base_caption
from core.statistics.crossed_sources import first_alone, numbered
from pages.views.common.access import brings
from pages.views.common.collect import data_buttons, figure_buttons
from pages.views.common.page_charts import draw, titled
from pages.views.common.page_tables import draw_table
from pages.views.common.run_corpora import corpus_names, load_corpus
from pages.views.common.shown_answers import interval
from pages.views.common.text import counted, number, safe
from pages.views.common.url_state import PageState
from pages.views.flip_risk.flip_risk_gap import MOST, SOURCES, Systems, image_probes, systems_shelf
from pages.views.probe_lab.lab_state import item_and_edit, own_ready, ready_evaluators, stamps

A_PAGE = 4


def draw_pairs(state: PageState, pairs: pd.DataFrame) -> None:
    """Draw the pairs whose order changed, those whose gap moved the most first."""
    marked = flipped_pairs(pairs)
    st.header("Flipped pairs", anchor=False)
    st.toggle(
        "Count ties as flips",
        key=state.key("ties"),
        help="Equation 1 as printed: a lead that becomes a tie, or a tie that is broken, is a flip",
    )
    mark = "flips" if state.get("ties") else "changes_sides"
    found = marked[marked[mark]].copy()
    if found.empty:
        st.info("No pair flipped: this metric kept the order on every picture that was scored.")
        return
    found = found.iloc[(found["gap_after"] - found["gap_before"]).abs().argsort()[::-1]]
    st.caption(f"{counted(len(found), 'pair')} of {counted(len(marked.dropna()), 'whole pair')}, largest change first.")
    pages = -(-len(found) // A_PAGE)
    page = st.pagination(pages, key="flip.page") if pages > 1 else 1
    page = min(int(page), pages)
    for position, row in enumerate(found.iloc[(page - 1) * A_PAGE : page * A_PAGE].to_dict("records")):
        with st.container(border=True, key=f"flip_pair_{position}"):
            pair_card({**row, "corpus": state.get("images")})
    data_buttons(found, "flipped-pairs", key="flip.pairs")


def pair_card(row: Mapping[Any, Any]) -> None:
    """Draw a picture before and after an edit beside both captions and all four scores.

    Args:
        row: of ``core.features.flips.system_pairs``; its corpus by the name under which the pages read it.
    """
    seen, words = st.columns([3, 4], gap="medium")
    with seen:
        pictures(str(row["corpus"]), str(row["item"]), str(row["probe"]))
    with words:
        st.markdown(
            f"**{safe(row['item'])}** · **{safe(title(row['probe']))}**: {_order(row['gap_before'])} → "
            f"{_order(row['gap_after'])}"
        )
        for name in ("a", "b"):
            before, after = row[f"{name}_before"], row[f"{name}_after"]
            st.markdown(f"**{name.upper()}** {before:.4f} → {after:.4f}")
            st.text(row[f"{name}_caption"])
        st.caption(
            f"Gap A − B: {signed(row['gap_before'], digits=4, unit='')} → {signed(row['gap_after'], digits=4, unit='')}"
        )


def _order(gap: float) -> str:
    return "A ahead" if gap > 0 else "B ahead" if gap < 0 else "tie"


def pictures(corpus: str, item_id: str, probe: str = "") -> None:
    """Draw an item's picture, beside it what an edit makes of it where one is named; or say why that cannot be."""
    try:
        before, after = item_and_edit(corpus, item_id, image_probes()[probe] if probe else None)
    except (InvariscopeError, KeyError) as error:
        st.caption(safe(str(error), limit=300))
        return
    shown = [(before, f"{item_id} as it is")]
    if probe:
        shown.append((before if after is None else after, f"{item_id} after {title(probe)}"))
    with st.container(horizontal=True, gap="small"):
        for pixels, alt in shown:
            st.image(thumbnail(as_picture(pixels), side=360), alt=alt, width=180)


SHOWN = 6
"""Sentences about what was left out that are shown; the rest is counted."""


def draw_systems(state: PageState) -> None:
    """Draw the view."""
    st.markdown(
        "Two captioning systems, the same pictures, one metric. Which of the two scores higher on a picture, and "
        "does that change when the picture is edited so that both captions are as right as before?"
    )
    if not corpus_names() or not ready_evaluators():
        st.info(
            "A corpus with its pictures and a ready metric are needed: `python -m core corpora` and "
            "`python -m core evaluators` list them.",
            icon=":material/image:",
        )
        return
    matched = _captions(state)
    if matched is None:
        return
    _remarks(matched)
    _choices(state, matched)
    key = _key(state, matched)
    st.button(
        "Score both systems",
        type="primary",
        icon=":material/play_arrow:",
        key="flip.score",
        on_click=_ask,
        disabled=not state.get("edits"),
    )
    if st.session_state.pop("flip.asked", False):
        systems_shelf().put(key, _score(state, matched))
    found = systems_shelf().get(key)
    if found is None:
        edits = counted(len(state.get("edits")), "edit")
        st.caption(f"{counted(min(state.get('count'), len(matched.items)), 'image')} × {edits}, both captions of each.")
        return
    _result(state, found)


def _ask() -> None:
    st.session_state["flip.asked"] = True


def _captions(state: PageState) -> Matched | None:
    row = st.container(horizontal=True, vertical_alignment="bottom", key="flip_source")
    state.switch(
        "source",
        "Captions",
        SOURCES,
        place=row,
        help="Two files as clipscore reads them, {image name: caption}; or, to try it, two captions that a corpus has",
    )
    row.selectbox("Pictures of corpus", corpus_names(), key=state.key("images"), width=260)
    corpus = load_corpus(state.get("images"))
    if state.get("source") == "captions":
        return match(corpus, *_own_captions(corpus))
    if not brings():
        return None
    columns = st.columns(2)
    files = [
        column.file_uploader(
            f"System {name}: candidates.json",
            type=["json"],
            key=f"flip.file.{name}",
            max_upload_size=MOST_BYTES >> 20,
            help='{"image name": "caption", …}',
        )
        for name, column in zip("AB", columns, strict=True)
    ]
    if any(file is None for file in files):
        example = corpus.items[0].id if corpus.items else "image"
        st.info(
            "Upload two files of this shape, keys being names of the pictures. They stay in this server's memory "
            "and are not in the link.",
            icon=":material/upload_file:",
        )
        st.code(json.dumps({example: "a caption"}, ensure_ascii=False), language="json", wrap_lines=True)
        return None
    parsed = [
        parse_systems(file.getvalue(), name=file.name, called="AB"[place])[0]
        for place, file in enumerate(files)
        if file is not None
    ]
    return match(corpus, *({key: texts[0] for key, texts in each.captions.items()} for each in parsed))


def _own_captions(corpus: Corpus) -> tuple[dict[str, str], dict[str, str]]:
    """The template and the first English caption of every item that has both."""
    template: dict[str, str] = {}
    human: dict[str, str] = {}
    for item in corpus.items:
        texts = item.captions.get("en", ())
        if item.label and texts:
            template[item.id], human[item.id] = _template(item), texts[0]
    return template, human


def _template(item: Item) -> str:
    try:
        return base_caption(item.label or "")
    except InvariscopeError:
        return ""


def _remarks(matched: Matched) -> None:
    lost = [
        f"{counted(len(ids), 'caption')} of {name} without a partner: {safe(', '.join(ids[:SHOWN]), limit=160)}"
        for name, ids in (("A", matched.only_a), ("B", matched.only_b))
        if ids
    ]
    if alone := first_alone(numbered(*two_sources(matched.items))):
        lost.append(f"Intervals are {alone}, though pictures name two")
    if lost:
        st.caption(". ".join(lost) + ".")


def _choices(state: PageState, matched: Matched) -> None:
    row = st.columns([2, 3], vertical_alignment="bottom")
    offered = (*ready_evaluators(), *own_ready())
    if state.get("judge") not in offered:  # its file changed since
        state.put("judge", offered[0])
    row[0].selectbox("Metric", offered, key=state.key("judge"), help="Scores every caption")
    row[1].multiselect(
        "Harmless edits",
        tuple(image_probes()),
        key=state.key("edits"),
        placeholder="Choose at least one",
        format_func=title,
        help="Each is applied to every picture; invisible edits are the noise floor",
    )
    most = min(MOST, len(matched.items))
    if state.get("count") > most:
        state.put("count", most)
    if most > 1:
        st.slider("Images", 1, most, key=state.key("count"), help="The first of those that both systems caption")


def _key(state: PageState, matched: Matched) -> tuple[Any, ...]:
    digest = hashlib.sha256(repr((sorted(matched.a.items()), sorted(matched.b.items()))).encode()).hexdigest()
    return (
        state.get("images"),
        digest,
        tuple(state.get("edits")),
        state.get("judge"),
        stamps([state.get("judge")]),
        state.get("count"),
    )


def _score(state: PageState, matched: Matched) -> Systems:
    probes = [image_probes()[name] for name in state.get("edits")]
    kept = Matched(matched.items[: state.get("count")], matched.a, matched.b, matched.only_a, matched.only_b)
    bar = st.progress(0.0, f"Loading {safe(state.get('judge'))} …")

    def told_progress(done: int, total: int) -> None:
        bar.progress(done / total, f"{done} of {counted(total, 'image')} scored")

    with shared_pool().lease(state.get("judge")) as evaluator:
        found = score_systems(evaluator, kept, probes, progress=told_progress)
        told = f"{evaluator.spec.name}, fingerprint {evaluator.fingerprint.key}"
        note = shared_pool().note(state.get("judge"))
    if note:
        told += f". Memory ran short, the scores are whole: {note.removesuffix('.')}"
    bar.empty()
    return Systems(found.pairs, found.left_out, told)


@st.cache_data(max_entries=16, show_spinner="Drawing intervals …")
def _by_family(pairs: pd.DataFrame) -> dict[str, SystemFlips]:
    families = {str(name): system_flips(rows) for name, rows in pairs.groupby("family", sort=True)}
    return families if len(families) == 1 else {"all edits": system_flips(pairs)} | families


def _result(state: PageState, found: Systems) -> None:
    if found.left_out:
        with st.expander(f"{counted(len(found.left_out), 'score')} or edits left out", icon=":material/block:"):
            for sentence in found.left_out[:SHOWN]:
                st.markdown(f"- {safe(sentence, limit=300)}")
            if len(found.left_out) > SHOWN:
                st.caption(f"and {len(found.left_out) - SHOWN} more")
    if found.pairs.dropna().empty:
        st.warning("No pair of scores is whole, so there is nothing to compare; see what was left out.")
        return
    flips = _by_family(found.pairs)
    table = _table(flips)
    st.header("How often the order changes", anchor=False)
    _sentence(next(iter(flips.values())))
    figure = titled(flip_shares(table, colour=colours([state.get("judge")])[state.get("judge")]), flips)
    draw(
        figure,
        key="flip.shares",
        alt="Share of pairs whose order changes, by family, with 95 % intervals",
    )
    st.caption(
        "Dot: pointwise flips with the 95 % Wilson interval over images; a tie that is broken counts as a flip. "
        f"Ring: only where the lead changes sides. Scored by {safe(found.told, limit=400)}."
    )
    figure_buttons(figure, table, "two-systems", title="Flips of two systems", key="flip.s")
    _numbers(table, flips)
    draw_pairs(state, found.pairs)


def _sentence(whole: SystemFlips) -> None:
    ahead = "A" if whole.gap > 0 else "B" if whole.gap < 0 else "neither"
    share, interval = whole.pointwise, "no interval"
    if share.low == share.low:
        interval = f"95 % CI {100 * share.low:.1f} to {100 * share.high:.1f}"
    flipped = int(whole.gaps["flips"].sum())
    st.markdown(
        f"On unedited pictures **{ahead}** is ahead by {number(abs(whole.gap), digits=4)} on average. "
        f"**{100 * share.estimate:.1f} %** of pairs flip ({interval}, n = {counted(share.n, 'image')}, "
        f"{counted(whole.n_pairs, 'pair')}); {whole.tied_before} tie before the edit, {whole.tied_after} after. "
        f"The order of the two means flips under **{flipped} of {counted(len(whole.gaps), 'edit')}**."
    )


def _table(flips: Mapping[str, SystemFlips]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "family": name,
                "share": found.pointwise.estimate,
                "low": found.pointwise.low,
                "high": found.pointwise.high,
                "strict": found.strict.estimate,
                "strict_low": found.strict.low,
                "strict_high": found.strict.high,
                "system": found.system,
                "n_items": found.pointwise.n,
                "n_pairs": found.n_pairs,
                "tied_before": found.tied_before,
                "tied_after": found.tied_after,
                "n_missing": found.n_missing,
            }
            for name, found in flips.items()
        ]
    )


def _numbers(table: pd.DataFrame, flips: Mapping[str, SystemFlips]) -> None:
    percent = st.column_config.NumberColumn
    shares: Sequence[str] = ("share", "low", "high", "strict", "strict_low", "strict_high", "system")
    shown = table.assign(**{name: 100 * table[name] for name in shares})
    shown["ends"], look = interval(shown, "low", "high", 1, signed=False)
    shown["strict_ends"], _ = interval(shown, "strict_low", "strict_high", 1, signed=False)
    with st.expander("Every number", icon=":material/table:"):
        draw_table(
            shown,
            column_order=(
                "family",
                "share",
                "ends",
                "strict",
                "strict_ends",
                "system",
                "n_items",
                "n_pairs",
                "tied_before",
                "tied_after",
                "n_missing",
            ),
            alt="Flips of the two systems in numbers",
            column_config={
                "family": "Family",
                "share": percent("Pointwise, %", format="%.1f"),
                "ends": look,
                "strict": percent("Without ties, %", format="%.1f"),
                "strict_ends": look,
                "system": percent("System level, %", format="%.0f", help="Edits under which the means change order"),
                "n_items": percent("n images"),
                "n_pairs": percent("n pairs"),
                "tied_before": percent("Tied before"),
                "tied_after": percent("Tied after"),
                "n_missing": percent("Unscored"),
            },
        )
        data_buttons(table, "two-systems", key="flip.s.numbers")
        gaps = next(iter(flips.values())).gaps
        draw_table(
            gaps.assign(probe=gaps["probe"].map(title)),
            alt="Mean gap between the systems before and after each edit",
            column_config={
                "probe": "Edit",
                "gap_before": percent("Mean gap before", format="%+.4f", help="Score of A minus B"),
                "gap_after": percent("after", format="%+.4f"),
                "flips": "Order flips",
                "unstable": percent(
                    "Unstable",
                    format="percent",
                    help="Share of bootstrap samples of images in which the means change order",
                ),
                "n_items": percent("n images"),
            },
        )
        data_buttons(gaps, "two-systems-edits", key="flip.s.gaps")
