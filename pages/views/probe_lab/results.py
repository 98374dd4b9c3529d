"""The Probe lab's answer: a strip of the variants, a chart an evaluator, a table of everything."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.charts.canvas import thumbnail
from core.charts.lab_figures import bars_beside, shift_bars, shift_curves
from core.charts.spec import Axis as AlongAxis
from core.charts.style import colours, signed
from core.corpora.stacks import as_picture
from core.errors import ProbeRejected
from core.evaluators import registry as evaluators
from core.evaluators.memory import trim
from core.evaluators.pool import shared_pool
from core.probes.base import IDENTITY, Construction, Probe, Subject
from core.probes.pairs import subject_of
from core.probes.strengths import measured_in, sweeps_among
from core.probes.titles import family_title, title
from core.scoring.lab import null_probes, run_lab
from core.scoring.lab_result import LabResult
from core.scoring.workbench import Workbench
from core.statistics.changes import NullBand
from pages.views.common.file_evaluators import own_metrics, stamps
from pages.views.common.open_runs import null_bands, present
from pages.views.common.page_charts import draw
from pages.views.common.page_tables import draw_table
from pages.views.common.quota import make_counted
from pages.views.common.text import counted, number, safe, thousands
from pages.views.common.url_state import PageState
from pages.views.probe_lab.made_of import apart, marked, template
from pages.views.probe_lab.source import said_of
from pages.views.probe_lab.state import shared

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
    return (bench.image(None)[0], item.id, item.label, item.category, item.mask, caption,
            tuple(probe.name for probe in probes), tuple(names), stamps(names), present())  # fmt: skip


def compute(bench: Workbench, caption: str, probes: Sequence[Probe], names: Sequence[str]) -> LabResult:
    """Score now, or return what an earlier run of the same view found; says what takes long meanwhile."""
    key = _view(bench, caption, probes, names)
    place = st.empty()
    kept = shared().results.get(key)
    if kept is not None:
        return kept
    status = place.status("Starting …", type="compact")
    make_counted(bench, (*null_probes(), *probes), subject_of(bench.item, caption))
    result = run_lab(
        bench, caption, probes, names, pool=shared_pool(), cache=partial(shared().embeddings_of, bench),
        progress=lambda step: status.update(label=f"{step} …"), bands=null_bands(present()),
    )  # fmt: skip
    shared().embeddings.flush()
    place.empty()
    return result if result.failures else shared().results.put(key, result)


def strip(state: PageState, bench: Workbench, probes: Sequence[Probe], caption: str) -> None:
    """Draw every variant, an edit of the caption as its text; choosing one shows what the metric saw of it.

    Raises:
        NotAvailable: where variants are to be made and a viewer took what they may.
    """
    subject = subject_of(bench.item, caption)
    make_counted(bench, probes, subject)
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
    with st.container(key="lab_strip"):
        cells = st.grid(6, min_column_width=150, gap="small")
        for place, probe in enumerate(probes):
            with cells.container(gap="xxsmall", border=True, height="stretch", key=f"lab_cell_{place}"):
                _preview(state, bench, probe, subject)


def chosen_turn() -> int:
    """How often a variant was chosen by its picture in this session."""
    return int(st.session_state.get(_TURN, 0))


def _see(state: PageState, name: str) -> None:
    state.put("variant", name)
    st.session_state[_TURN] = chosen_turn() + 1


def _preview(state: PageState, bench: Workbench, probe: Probe, subject: Subject) -> None:
    """One variant: its button lies over the whole of it."""
    made, said = bench.make(probe, subject), title(probe.name)
    if isinstance(made, ProbeRejected):
        st.markdown(f"**{safe(said)}**", help=safe(probe.name))
    else:
        st.button(
            f"**{safe(said)}**", key=f"lab.see.{probe.name}", on_click=_see, args=(state, probe.name),
            type="primary" if state.get("variant") == probe.name else "tertiary",
            help=f"{safe(probe.name)}: show below what the metric saw of it",
        )  # fmt: skip
    other = apart(probe.construction, bench.item, subject.caption)
    if other:
        st.badge(other, color="gray")
    if isinstance(made, ProbeRejected):
        why = said_of(bench.item, made.detail)
        st.caption(("" if " is left out" in why else "Left out: ") + safe(why, limit=160))
    elif made.pixels is not None:
        alt = f"{bench.item.label or 'picture'} after {said.lower()}"
        st.image(thumbnail(as_picture(made.pixels), side=260), alt=alt, width="stretch")
    elif marked(made):
        st.markdown(marked(made))
    elif made.caption is not None:
        st.text(made.caption)


def charts(bench: Workbench, result: LabResult) -> None:
    """Draw every evaluator's shifts beside the others', each on its own scale, over its null band."""
    for name, sentence in result.failures.items():
        st.warning(f"**{safe(name)}** did not score: {safe(sentence, limit=600)}", icon=":material/block:")
    for note in result.notes.values():
        st.warning(f"Memory ran short, the scores are whole. {safe(note, limit=400)}", icon=":material/memory:")
    shifts = {name: result.shifts(name) for name in result.evaluators}
    heads = {name: f"{number(_clean(result, name))}{_scale(name)}" for name in shifts}
    if not shifts:
        return
    if any(rows.empty for rows in shifts.values()):
        for name, head in heads.items():
            st.markdown(f"**{safe(name)}**: score of the unedited pair **{head}**. No probe is chosen.")
        return
    colour = colours(result.evaluators)
    bars = {
        name: shift_bars(rows.assign(title=rows["probe"].map(title)), low=-result.bands[name].reach,
                         high=result.bands[name].reach, colour=colour[name])
        for name, rows in shifts.items()
    }  # fmt: skip
    bands = {name: _band(result.bands[name]) for name in shifts}
    st.html(bars_beside(bars, heads=heads, bands=bands, alt="; ".join(_spoken(*each) for each in shifts.items())))
    for line in _below(bench, result, shifts):
        st.caption(line)
    _reused(result)


def _clean(result: LabResult, name: str) -> float | None:
    return next(row.score for row in result.of(name) if row.probe == IDENTITY)


def _reused(result: LabResult) -> None:
    """Say how much of what the evaluators needed had been encoded before, where anything had."""
    known, asked = (sum(each[place] for each in result.known.values()) for place in (0, 1))
    if known:
        st.caption(
            f"{thousands(known)} of {thousands(asked)} encodings were kept from before ({100 * known / asked:.0f} %).",
            help="What an evaluator makes of a picture or a caption, or of a pair where it reads pairs. Of a corpus it "
            "is kept on the server's disk, of a picture or evaluator that somebody brought in memory alone.",
        )  # fmt: skip


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
            rows, points, title=family, along=along, colours=colours(result.evaluators),
            reaches={name: band.reach for name, band in result.bands.items()},
        )  # fmt: skip
        with cells.container(border=True):
            st.markdown(f"**{safe(family_title(family))}** along its strength")
            if figure.frame.empty:
                st.caption("No point has a percent change here.")
                continue
            draw(
                figure,
                key=f"lab.curve.{family}",
                alt=f"Percent change along the strength of {family_title(family)}, by evaluator",
            )
            if figure.shades:
                st.caption("Shaded: each evaluator’s null band, in its colour.")


def _scale(name: str) -> str:
    if name not in evaluators.catalogue() and name not in own_metrics():
        return ""
    low, high = evaluators.find(name).spec.score_range
    if low is None:
        return ""
    return f" on {low:g} to {high:g}" if high is not None else f", from {low:g} up"


def _band(band: NullBand) -> str:
    return f"±{number(band.reach, digits=2)} %, n = {band.n}" if band.n else "none"


def _below(bench: Workbench, result: LabResult, shifts: Mapping[str, pd.DataFrame]) -> list[str]:
    """What is to be known of the bars, a line each; of evaluators that share it, once."""
    told: dict[str, list[str]] = {}
    for name, rows in shifts.items():
        for line in _known(bench, result, name, rows):
            told.setdefault(line, []).append(name)
    every = len(shifts)
    return [line if len(names) == every else f"**{', '.join(map(safe, names))}**: {line}"
            for line, names in told.items()]  # fmt: skip


def _known(bench: Workbench, result: LabResult, name: str, rows: pd.DataFrame) -> Iterator[str]:
    if not result.bands[name].n:
        yield "No null band: no edit that nobody can see has a percent change here."
    elif name not in result.stored:
        yield "The null band is of this picture alone: no run with null edits under this evaluator is open."
    broken = rows["dropped"].dropna()
    if len(broken):
        lower = int(broken.astype(bool).sum())
        yield f"{lower} of {counted(len(broken), 'broken pair')} scores lower than the right one."
    zero, rejected = int(rows["zero_baseline"].sum()), int(rows["rejected"].sum())
    unscored = int((rows["score"].isna() & ~rows["rejected"].astype(bool)).sum())
    if zero:
        yield f"{counted(zero, 'probe')} without %Δ: the baseline scores 0 or less."
    if unscored:
        yield f"{counted(unscored, 'probe')} without a score, see the table."
    if rejected:
        yield f"{counted(rejected, 'probe')} left out, see the table."
    of_template = rows["construction"].map(lambda made: apart(made, bench.item, result.caption) == "template")
    if (drawn := rows[of_template & rows["score"].notna()]).size:
        yield f"Of the template, not of the caption beside: {safe(', '.join(map(title, drawn['probe'])), limit=400)}."


def _spoken(name: str, rows: pd.DataFrame) -> str:
    outside = rows[rows["in_null_band"].eq(False)]
    sizes = rows["percent"].astype(float).abs().fillna(-1.0)
    if (sizes >= 0).any():
        top = rows.iloc[int(sizes.argmax())]
        same = int((sizes == sizes.max()).sum()) - 1
        return (f"Percent change under {name}: {len(outside)} of {len(rows)} probes outside the null band; "
                f"largest {title(top['probe'])} {signed(top['percent'])}"
                + (f" and {same} more as large" if same else ""))  # fmt: skip
    return f"Percent change under {name}: none is defined for {len(rows)} probes"


_MADE_OF = (
    "What an edited caption is made of. inserted: the caption above with one word before the object’s name; caption: "
    "the caption above, rewritten; template: There is a …, whatever caption is chosen; corpus: a caption of the corpus"
)


def table(result: LabResult) -> None:
    """Draw every row with its score, Δ, %Δ and what to mind about it."""
    rows = result.table()
    shown = pd.DataFrame(
        {
            "probe": rows["probe"].map(title), "axis": rows["axis"], "of": rows["construction"],
            "evaluator": rows["evaluator"], "score": rows["score"],
            "baseline": rows["baseline_score"], "delta": rows["delta"], "percent": rows["percent"],
            "mind": [_mind(row) for _, row in rows.iterrows()], "against": rows["baseline"].map(title),
            "inside": rows["object_inside"], "caption": rows["caption"],
        }
    )  # fmt: skip
    draw_table(
        shown, key="lab.table", alt="Scores and shifts of every probe",
        column_config={
            "probe": st.column_config.TextColumn("Probe", pinned=True),
            "axis": "Axis",
            "evaluator": "Evaluator",
            "score": st.column_config.NumberColumn("Score", format="%.4f"),
            "baseline": st.column_config.NumberColumn("Baseline score", format="%.4f"),
            "delta": st.column_config.NumberColumn("Δ", format="%+.4f", help="On the evaluator's own scale"),
            "percent": st.column_config.NumberColumn("%Δ", format="%+.2f", help="— where the baseline is 0 or less"),
            "mind": st.column_config.TextColumn("To note", width="medium"),
            "against": st.column_config.TextColumn("Baseline", help="The probe whose score is the baseline"),
            "inside": st.column_config.NumberColumn("Object inside", format="percent",
                                                    help="Share of the object that the evaluator's crop keeps"),
            "of": st.column_config.TextColumn("Made of", help=_MADE_OF),
            "caption": st.column_config.TextColumn("Caption", width="large"),
        },
    )  # fmt: skip


def _mind(row: pd.Series) -> str:
    said = [str(row["reason"])] if row["reason"] else []
    if row["dropped"] is False:
        said.append("the meaning is broken and the score does not drop")
    if row["in_null_band"] is False:
        said.append("outside the null band")
    if row["zero_baseline"]:
        said.append("baseline scores 0 or less, no %Δ")
    if row["truncated"]:
        said.append("caption truncated")
    if pd.notna(row["object_inside"]) and row["object_inside"] < 0.9:
        said.append("object partly cropped away")
    return "; ".join(said)
