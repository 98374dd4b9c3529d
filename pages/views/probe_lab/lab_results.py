"""The Probe lab's answer: a strip of the variants, a chart an evaluator, a table of everything, and files of it all."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.charts.canvas import thumbnail
from core.charts.spec import Axis as AlongAxis
from core.charts.spec import Figure, colours, signed
from core.corpora.images import encode_png
from core.corpora.item_pictures import as_picture
from core.errors import ProbeRejected
from core.evaluators import registry as evaluators
from core.evaluators.memory import trim
from core.evaluators.pool import shared_pool
from core.features.lab.lab import LabResult, run_lab
from core.features.lab.lab_figures import answer, bars_beside, grouped, is_cut, shift_bars, shift_curves
from core.probes.base import IDENTITY, Construction, Probe, Variant
from core.probes.families.inserted import in_own_caption
from core.probes.pairs import subject_of
from core.probes.titles import family_title, measured_in, sweeps_among, title
from core.scoring.workbench import Workbench
from core.statistics.changes import NullBand
from core.store.text_files import csv_text
from pages.views.common.open_runs import null_bands, present
from pages.views.common.page_charts import draw
from pages.views.common.page_tables import draw_table
from pages.views.common.text import counted, number, safe, thousands
from pages.views.common.url_state import PageState
from pages.views.probe_lab.lab_audience import draw_hand_out
from pages.views.probe_lab.lab_picture import said_for, said_of
from pages.views.probe_lab.lab_searches import asked_last
from pages.views.probe_lab.lab_sheet import apart, sheet_of, template
from pages.views.probe_lab.lab_state import CAPTION_LIMIT, own_metrics, shared, stamps

_JS = """
export default function ({ data, parentElement }) {
  const before = parentElement.turn ?? data.turn; // what was asked for before the page was opened is no wish of now
  parentElement.turn = data.turn;
  if (data.turn === before) return;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const host = parentElement.host;
  host.style.scrollMarginTop = "3.2rem"; // the menu of the app lies over the page's upper edge
  requestAnimationFrame(() => host.scrollIntoView({ block: "start", behavior: still ? "auto" : "smooth" }));
}
"""
_place = st.components.v2.component("invariscope_into_view", js=_JS)


def into_view(turn: int, *, key: str) -> None:
    """Mark a place, and scroll to it where ``turn`` is another than when it was drawn before."""
    _place(key=key, data={"turn": turn}, height=1)


def for_caption(state: PageState, probes: Sequence[Probe]) -> list[Probe]:
    """The chosen probes; a societal word goes into the caption that was chosen, if that is not the template."""
    return list(probes) if state.get("subject") == "template" else list(in_own_caption(probes))


def marked(variant: Variant) -> str:
    """The edited caption as markdown, the word that was put into it marked; empty where none was."""
    text, word = variant.caption or "", variant.facts.get("modifier") or variant.facts.get("control")
    if variant.facts.get("construction") != Construction.INSERTED or not word:
        return ""
    start = int(variant.facts["at"])
    end = start + len(str(word))
    before, after = text[:start], text[end:]
    blank = " " if before[-1:].isspace() else ""
    inside = f":primary-background[**{safe(text[start:end])}**]"
    return f"{safe(before, limit=CAPTION_LIMIT)}{blank}{inside} {safe(after, limit=CAPTION_LIMIT)}"


def draw_downloads(state: PageState, bench: Workbench, result: LabResult, probes: Sequence[Probe]) -> None:
    """Draw the buttons; each file is made when it is asked for, of a bench that may have forgotten its variants."""
    variants = bench.variants(probes, result.caption)
    edited = [name for name, made in variants.items() if made.pixels is not None]
    stem = f"{result.corpus}-{result.item}"
    first, second = st.container(horizontal=True), st.container(horizontal=True, vertical_alignment="bottom")
    first.download_button(
        "Results as CSV",
        lambda: csv_text(result.table()).encode("utf-8-sig"),
        f"{stem}.csv",
        "text/csv",
        icon=":material/table:",
        on_click="ignore",
        key="lab.csv",
    )
    first.download_button(
        "Results as JSON",
        lambda: result.as_json().encode(),
        f"{stem}.json",
        "application/json",
        icon=":material/data_object:",
        on_click="ignore",
        key="lab.json",
    )
    first.download_button(
        "Contact sheet as PNG",
        lambda: encode_png(sheet_of(bench, result, probes)),
        f"{stem}-sheet.png",
        "image/png",
        icon=":material/grid_on:",
        on_click="ignore",
        key="lab.sheet",
    )
    with first:
        draw_hand_out(state, bench, result, probes, key="lab.hand_out")
    name = second.selectbox("One picture", (IDENTITY, *edited), key="lab.take", width=240, format_func=title)
    second.download_button(
        "Picture as PNG",
        lambda: encode_png(as_picture(bench.image(bench.variants(probes, result.caption).get(name))[1])),
        f"{stem}-{name}.png",
        "image/png",
        icon=":material/image:",
        on_click="ignore",
        key="lab.png",
    )


_TURN = "lab.chosen.turn"


@contextmanager
def turn(bench: Workbench, caption: str, probes: Sequence[Probe], names: Sequence[str]) -> Iterator[None]:
    """Wait until few enough others edit and score; a view that was scored before waits for nobody."""
    place = st.empty()  # always there: what is drawn below keeps its place, and a tab that was opened stays open
    if shared().results.get(_view(bench, caption, probes, names)) is not None:
        yield
        return
    try:
        with shared().turns.taken(lambda before: _say_wait(place, before)):
            place.empty()
            yield
    finally:
        trim()


def _say_wait(place: DeltaGenerator, before: int) -> None:
    place.status(f"Other readers’ pictures are scored first; {before} more wait before yours …", type="compact")


def _view(bench: Workbench, caption: str, probes: Sequence[Probe], names: Sequence[str]) -> Hashable:
    """What a result is kept under."""
    item = bench.item
    return (
        bench.image(None)[0],
        item.id,
        item.label,
        item.category,
        item.mask,
        caption,
        tuple(probe.name for probe in probes),
        tuple(names),
        stamps(names),
        present(),
    )


def compute(
    bench: Workbench,
    caption: str,
    probes: Sequence[Probe],
    names: Sequence[str],
    show: Callable[[LabResult], None] | None = None,
) -> LabResult:
    """Score now, or return what an earlier run of the same view found; says what takes long meanwhile.

    Args:
        show: draws what is known after each evaluator but the last.
    """
    key = _view(bench, caption, probes, names)
    place = st.empty()
    kept = shared().results.get(key)
    if kept is not None:
        return kept
    status = place.status("Starting …", type="compact")
    result = run_lab(
        bench,
        caption,
        probes,
        names,
        pool=shared_pool(),
        cache=partial(shared().embeddings_of, bench),
        progress=lambda step: status.update(label=f"{step} …"),
        bands=null_bands(present()),
        show=show,
    )
    shared().embeddings.flush()
    place.empty()
    return result if result.failures else shared().results.put(key, result)


def strip(state: PageState, bench: Workbench, probes: Sequence[Probe], caption: str) -> None:
    """Draw every variant, an edit of the caption as its text; choosing one shows what the metric saw of it."""
    subject = subject_of(bench.item, caption)
    made_of = {probe.construction for probe in probes}
    if Construction.INSERTED in made_of:
        st.caption(
            "Words are put into the caption above, before the object’s name, and marked. A word is compared with a "
            "neutral one at the same place, a neutral word with the caption as it is."
        )
    if any(apart(each, bench.item, caption) == "template" for each in made_of) and template(bench.item):
        st.caption(
            f"What is marked :gray-badge[template] is made of “{safe(template(bench.item))}” and the like, not of the "
            "caption above."
        )
    left_out = dict[str, list[str]]()
    with st.container(key="lab_strip"):
        cells = st.grid(5, min_column_width=96, gap="small")
        for place, probe in enumerate(probes):
            made = bench.make(probe, subject)
            if isinstance(made, ProbeRejected):
                left_out.setdefault(said_of(bench.item, made.detail), []).append(title(probe.name))
                continue
            with cells.container(gap="xxsmall", border=True, height="stretch", key=f"lab_cell_{place}"):
                _preview(state, bench, probe, made, subject.caption)
    for why, names in left_out.items():
        what = "" if " is left out" in why else f"**{safe(', '.join(names), limit=400)}** left out: "
        st.caption(what + safe(why, limit=300))


def chosen_turn() -> int:
    """How often a variant was chosen by its picture in this session."""
    return int(st.session_state.get(_TURN, 0))


def _see(state: PageState, name: str) -> None:
    state.put("variant", name)
    asked_last("")
    st.session_state[_TURN] = chosen_turn() + 1


def _preview(state: PageState, bench: Workbench, probe: Probe, made: Variant, caption: str) -> None:
    """One variant: its button lies over the whole of it."""
    said = said_for(probe.name, bench.item)
    st.button(
        f"**{safe(said)}**",
        key=f"lab.see.{probe.name}",
        on_click=_see,
        args=(state, probe.name),
        type="primary" if state.get("variant") == probe.name else "tertiary",
        help=f"{safe(probe.name)}: show below what the metric saw of it",
    )
    other = apart(probe.construction, bench.item, caption)
    if other:
        st.badge(other, color="gray")
    if made.pixels is not None:
        alt = f"{bench.item.label or 'picture'} after {said.lower()}"
        st.image(thumbnail(as_picture(made.pixels), side=260), alt=alt, width="stretch")
    elif marked(made):
        st.markdown(marked(made))
    elif made.caption is not None:
        st.text(made.caption)


def charts(bench: Workbench, result: LabResult) -> None:
    """Say how many edits move each score beyond its noise; draw every evaluator's shifts beside the others'."""
    for name, sentence in result.failures.items():
        st.warning(f"**{safe(name)}** did not score: {safe(sentence, limit=600)}", icon=":material/block:")
    for note in result.notes.values():
        st.warning(f"Memory ran short, the scores are whole. {safe(note, limit=400)}", icon=":material/memory:")
    rejected = (
        set.intersection(*({row.probe for row in result.of(name) if row.rejected} for name in result.evaluators))
        if result.evaluators
        else set()
    )
    shifts = {
        name: rows[~rows["probe"].isin(rejected)] if len(rows := result.shifts(name)) else rows
        for name in result.evaluators
    }
    clean = {row.evaluator: row.score for row in result.rows if row.probe == IDENTITY}
    ends = {name: end for name in shifts if (end := _end(name, clean[name]))}
    heads = {
        name: f"{number(clean[name])}{_scale(name)}" + (f": its {ends[name]}" if name in ends else "")
        for name in shifts
    }
    if not shifts:
        return
    if any(rows.empty for rows in shifts.values()):
        for name, head in heads.items():
            st.markdown(f"**{safe(name)}**: score of the unedited pair **{head}**. No edit is here to score.")
        return
    colour = colours(result.evaluators)
    bars = {
        name: shift_bars(
            (own := grouped(rows)).assign(
                title=[said_for(each, bench.item) for each in own["probe"]],
                baseline=[said_for(each, bench.item) for each in own["baseline"]],
            ),
            low=-result.bands[name].reach,
            high=result.bands[name].reach,
            colour=colour[name],
        )
        for name, rows in shifts.items()
    }
    bands = {name: _band(result.bands[name], bars[name]) for name in shifts}
    if said := answer(bars, ends):
        st.markdown(f"**{safe(said, limit=2000)}**")
    st.html(bars_beside(bars, heads=heads, bands=bands, alt="; ".join(_spoken(*each) for each in shifts.items())))
    for line in _below(bench, result, shifts, ends):
        st.caption(line)


def _reused(result: LabResult) -> None:
    """Say how much of what the evaluators needed had been encoded before, where anything had."""
    known, asked = (sum(each[place] for each in result.known.values()) for place in (0, 1))
    if known:
        st.caption(
            f"{thousands(known)} of {thousands(asked)} encodings were kept from before ({100 * known / asked:.0f} %).",
            help="What a metric makes of a picture or a caption, or of a pair where it reads pairs. Of a corpus it "
            "is kept on the server's disk, of a picture or metric that somebody brought in memory alone.",
        )


def curves(result: LabResult) -> None:
    """Draw a curve along the strength of every edit of which several points were chosen, all evaluators in one."""
    rows = result.table()
    found = sweeps_among(dict.fromkeys(rows["probe"]))
    if not found:
        return
    cells = st.grid(min(len(found), 3), min_column_width=300, gap="medium")
    for (family, fact), points in found.items():
        along = AlongAxis(*measured_in(fact))
        figure = shift_curves(
            rows,
            points,
            title=family,
            along=along,
            colours=colours(result.evaluators),
            reaches={name: band.reach for name, band in result.bands.items()},
        )
        with cells.container(border=True):
            st.markdown(f"**{safe(family_title(family))}** along its strength")
            if figure.frame.empty:
                st.caption("No point has a percent change here.")
                continue
            draw(
                figure,
                key=f"lab.curve.{family}",
                alt=f"Percent change along the strength of {family_title(family)}, by metric",
            )
            if figure.shades:
                st.caption("Shaded: each metric’s noise band, in its colour.")


def _scale(name: str) -> str:
    if name not in evaluators.catalogue() and name not in own_metrics():
        return ""
    low, high = evaluators.find(name).spec.score_range
    if low is None:
        return ""
    return f" on {low:g} to {high:g}" if high is not None else f", from {low:g} up"


def _end(name: str, score: float | None) -> str:
    """Which end of its scale an evaluator's score lies at; empty where it lies at none."""
    if score is None or (name not in evaluators.catalogue() and name not in own_metrics()):
        return ""
    low, high = evaluators.find(name).spec.score_range
    return "maximum" if high is not None and score >= high else "minimum" if low is not None and score <= low else ""


def _band(band: NullBand, bars: Figure) -> str:
    if not band.n:
        return "no band"
    wider = ", wider than shown" if is_cut(bars) else ""
    return f"±{number(band.reach, digits=2)} %, n = {band.n}{wider}"


def _below(
    bench: Workbench, result: LabResult, shifts: Mapping[str, pd.DataFrame], ends: Mapping[str, str]
) -> list[str]:
    """What is to be known of the bars, a line each; of evaluators that share it, once."""
    told: dict[str, list[str]] = {}
    for name, rows in shifts.items():
        known = list(_known(bench, result, name, rows))
        if name in ends:
            known.append(f"at its {ends[name]} a score cannot {'rise' if ends[name] == 'maximum' else 'fall'}.")
        for line in known:
            told.setdefault(line, []).append(name)
    every = len(shifts)
    return [
        line if len(names) == every else f"**{', '.join(map(safe, names))}**: {line}" for line, names in told.items()
    ]


SMALL = 0.1
"""Share of the evaluator's typical unedited score below which a percent change is told to mean little."""


def _known(bench: Workbench, result: LabResult, name: str, rows: pd.DataFrame) -> Iterator[str]:
    if not result.bands[name].n:
        yield "No noise band: no invisible edit has a percent change here."
    elif name not in result.stored:
        yield "The noise band is of this picture alone: no run with invisible edits under this metric is open."
    clean = next(row.score for row in result.rows if row.evaluator == name and row.probe == IDENTITY)
    if clean is not None and abs(clean) < SMALL * (typical := result.bands[name].typical):
        yield (
            f"The unedited score, {number(clean)}, is under a tenth of what is usual ({number(typical)}): percent "
            "changes of so little are large whatever happened. Is the caption true of the picture?"
        )
    zero = int(rows["zero_baseline"].sum())
    unscored = int((rows["score"].isna() & ~rows["rejected"].astype(bool)).sum())
    if zero:
        yield f"{counted(zero, 'edit')} without % change: the baseline scores 0 or less."
    if unscored:
        yield f"{counted(unscored, 'edit')} without a score, see the table."
    of_template = rows["construction"].map(lambda made: apart(made, bench.item, result.caption) == "template")
    if (drawn := rows[of_template & rows["score"].notna()]).size:
        yield f"Of the template, not of the caption beside: {safe(', '.join(map(title, drawn['probe'])), limit=400)}."


def _spoken(name: str, rows: pd.DataFrame) -> str:
    outside = rows[rows["in_null_band"].eq(False)]
    sizes = rows["percent"].astype(float).abs().fillna(-1.0)
    if (sizes >= 0).any():
        top = rows.iloc[int(sizes.argmax())]
        same = int((sizes == sizes.max()).sum()) - 1
        return (
            f"Percent change under {name}: {len(outside)} of {len(rows)} probes outside the noise band; "
            f"largest {title(top['probe'])} {signed(top['percent'])}" + (f" and {same} more as large" if same else "")
        )
    return f"Percent change under {name}: none is defined for {len(rows)} probes"


_MADE_OF = (
    "What an edited caption is made of. inserted: the caption above with one word before the object’s name; caption: "
    "the caption above, rewritten; template: There is a …, whatever caption is chosen; corpus: a caption of the corpus"
)


def table(result: LabResult) -> None:
    """Draw every row with its score, Δ, % change and what to mind about it."""
    rows = result.table()
    shown = pd.DataFrame(
        {
            "probe": rows["probe"].map(title),
            "axis": rows["axis"],
            "of": rows["construction"],
            "evaluator": rows["evaluator"],
            "score": rows["score"],
            "baseline": rows["baseline_score"],
            "delta": rows["delta"],
            "percent": rows["percent"],
            "mind": [_mind(row) for _, row in rows.iterrows()],
            "against": rows["baseline"].map(title),
            "inside": rows["object_inside"],
            "caption": rows["caption"],
        }
    )
    draw_table(
        shown,
        key="lab.table",
        alt="Scores and shifts of every probe",
        column_config={
            "probe": st.column_config.TextColumn("Edit", pinned=True),
            "axis": "Axis",
            "evaluator": "Metric",
            "score": st.column_config.NumberColumn("Score", format="%.4f"),
            "baseline": st.column_config.NumberColumn("Baseline score", format="%.4f"),
            "delta": st.column_config.NumberColumn("Δ", format="%+.4f", help="On the metric's own scale"),
            "percent": st.column_config.NumberColumn(
                "% change", format="%+.2f", help="— where the baseline is 0 or less"
            ),
            "mind": st.column_config.TextColumn("To note", width="medium"),
            "against": st.column_config.TextColumn("Baseline", help="The probe whose score is the baseline"),
            "inside": st.column_config.NumberColumn(
                "Object inside", format="percent", help="Share of the object that the metric's crop keeps"
            ),
            "of": st.column_config.TextColumn("Made of", help=_MADE_OF),
            "caption": st.column_config.TextColumn("Caption", width="large"),
        },
    )
    _reused(result)


def _mind(row: pd.Series) -> str:
    said = [str(row["reason"])] if row["reason"] else []
    if row["dropped"] is False:
        said.append("the meaning is broken and the score does not drop beyond noise")
    if row["in_null_band"] is False:
        said.append("outside the noise band")
    if row["zero_baseline"]:
        said.append("baseline scores 0 or less, no % change")
    if row["truncated"]:
        said.append("caption truncated")
    if pd.notna(row["object_inside"]) and row["object_inside"] < 0.9:
        said.append("object partly cropped away")
    return "; ".join(said)
