"""One pair on Findings, Pictures: its card, its record in a dialog that a link can open, its slide of a story."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.analysis.failures import PAIR, as_json, verdicts
from core.analysis.scope import Narrowed
from core.analysis.slices import is_cut
from core.charts.canvas import Change, word_changes
from core.charts.spec import signed
from core.probes.titles import title
from core.report.document import signature_of
from core.report.pair_slides import pair_slide, shown, times_null
from core.stories.story import Held, Picture, Slide
from pages.views.common.collect import file_button
from pages.views.common.layers import finding
from pages.views.common.links import LAB, lab_link, link_to, read_record, record_text
from pages.views.common.open_runs import Signature, corpus_name_of, scores, store
from pages.views.common.page_drawings import TEXT, draw_table
from pages.views.common.text import as_percent, counted, number, safe
from pages.views.common.url_state import PageState
from pages.views.failures.failure_pictures import LARGE, Made, finished, offer, pictures
from pages.views.failures.failures_state import draw_tags, pair_of, record_of, tag_button


def heading(place: int, pair: pd.Series, rows: pd.DataFrame, order: str) -> None:
    """Draw the pair's place, how far it moves in this order, and what it is."""
    first = rows.iloc[0]
    st.header(f"{place}. {headline(pair, rows, order)}", anchor=False)
    what = [str(first["label"])] if pd.notna(first["label"]) else []
    what += [str(first["category"])] if pd.notna(first["category"]) else []
    what += [f"object covers {as_percent(first['coverage'])}"] if pd.notna(first["coverage"]) else []
    about = " · ".join([f"**{safe(title(pair['probe']))}**", *(safe(each, limit=60) for each in what)])
    st.caption(about)
    if said := cut_said(first["object_kept"]):
        st.caption(f":material/content_cut: {said}")


def cut_said(kept: float | None) -> str:
    """Say that the edit cut the object; empty where it did not, or nobody measured it."""
    if pd.isna(kept) or not is_cut(np.asarray(kept, dtype=float)):
        return ""
    return f"The edit cut the object: {as_percent(float(kept))} of its mask is left in the image"


def headline(pair: pd.Series, rows: pd.DataFrame, order: str) -> str:
    """Whose score moves how far, and by how much in this order."""
    if pd.isna(pair["key"]):
        return "No two shifts to compare" if order == "disagreement" else "No number in this order"
    if order == "disagreement":
        return f"{pair['key']:.2f} SD apart"
    leader = rows.iloc[rows["evaluator"].tolist().index(pair["leader"])]
    moved = {
        "percent": signed(leader["percent"]),
        "absolute": signed(leader["delta"], digits=3, unit=""),
        "standardised": _deviations(leader) + " SD",
    }[order]
    verb = "fell" if leader["delta"] < 0 else "rose" if leader["delta"] > 0 else "stayed"
    scores = f"{_score(leader['baseline_score'])} → {_score(leader['score'])}"
    return f"{safe(leader['evaluator'])} {verb}, {scores} ({moved})"


def deciding(pair: pd.Series, rows: pd.DataFrame, chosen: Sequence[str], order: str) -> tuple[str, ...]:
    """Evaluators whose shifts decide the pair's place: the one that changes most, or the two furthest apart."""
    if order != "disagreement":
        return () if pd.isna(pair["leader"]) else (str(pair["leader"]),)
    scaled = rows[rows["evaluator"].isin(chosen)].dropna(subset=["standardised"])
    ordered = scaled.sort_values("standardised")["evaluator"]
    return (str(ordered.iloc[0]), str(ordered.iloc[-1])) if len(ordered) > 1 and pd.notna(pair["key"]) else ()


def place_for_pictures(key: str) -> DeltaGenerator:
    """Draw the room that the pictures will take, while they are made."""
    with st.container(key=f"failure_room_{key}"):
        place = st.empty()
    place.caption("Making the pictures …")
    return place


def draw_pictures(place: DeltaGenerator, made: Made, row: pd.Series, *, key: str) -> None:
    """Fill the room: original and variant side by side, or the sentence that says why not."""
    if isinstance(made, str):
        place.caption(f":material/hide_image: {safe(made, limit=400)}")
        return
    what = row["label"] if pd.notna(row["label"]) else f"item {row['item']}"
    with place.container(horizontal=True, gap="small", key=f"failure_pair_{key}"):
        if made.after is None:
            st.image(made.before, alt=f"{what}, unedited: this probe edits the caption", width="stretch")
            return
        st.image(made.before, alt=f"{what}, unedited", width="stretch")
        st.image(made.after, alt=f"{what} after {title(row['probe']).lower()}, {_edit_said(made)}", width="stretch")


def draw_variant(place: DeltaGenerator, made: Made, row: pd.Series, *, key: str) -> None:
    """Fill the room with the variant alone, or the picture where the probe edits the caption."""
    if isinstance(made, str):
        place.caption(":material/hide_image: no picture", help=safe(made, limit=400))
        return
    what = row["label"] if pd.notna(row["label"]) else f"item {row['item']}"
    alt = f"{what}, unedited" if made.after is None else f"{what} after {title(row['probe']).lower()}"
    with place.container(key=f"failure_only_{key}"):
        st.image(made.before if made.after is None else made.after, alt=alt, width="stretch")


def _edit_said(made: Made) -> str:
    if isinstance(made, str) or made.changed is None:
        return "edited"
    share = f"{as_percent(made.changed)} of the pixels changed" if made.changed >= 0.005 else "hardly a pixel changed"
    return f"{share}, the object moved" if made.moved else share


def below_pictures(made: Made) -> str:
    """Say under the pictures what the edit changed; empty where there is nothing to say."""
    return "" if isinstance(made, str) or made.after is None else f"Before · after, {_edit_said(made)}"


def captions(rows: pd.DataFrame) -> None:
    """Draw the caption, with the changed words marked where the probe edits it: struck out, and bold underlined."""
    rows = rows.dropna(subset=["caption"])  # a run made of scores from elsewhere may name none
    every = list(zip(rows["baseline_caption"], rows["caption"], rows["evaluator"], strict=True))
    pairs = list(dict.fromkeys((before, after) for before, after, _ in every))
    several = len(pairs) > 1  # a length-matched baseline is chosen with each evaluator's own tokens
    for before, after in pairs[:4]:
        names = [name for *both, name in every if both == [before, after]] if several else []
        told = f" ({safe(', '.join(names), limit=80)})" if several else ""
        if pd.isna(before) or before == after:
            st.markdown(f"“{safe(str(after), limit=400)}”{told}")
        else:
            st.markdown(f"{changed(before, after)}{told}")


def changed(before: str, after: str) -> str:
    """Write two captions as one whose changes are marked; whole, one after the other, where a reader would be lost."""
    changes = word_changes(before, after)
    if sum(each.kind != "same" for each in changes) > 4:  # changed stretches of a caption that are read in one line
        return f"“{safe(before, limit=400)}” → “{safe(after, limit=400)}”"
    return f"“{marked(changes)}”"


def marked(changes: Sequence[Change]) -> str:
    """Write changes as markdown: removed words struck out, added words bold, each on its own colour."""
    said = []
    for each in changes:
        lead, text, trail = _stripped(each.text)
        if each.kind == "same" or not text:
            said.append(f"{' ' if lead else ''}{safe(text, limit=400)}{' ' if trail else ''}")
        elif each.kind == "removed":
            said.append(f"{lead}:orange-background[~~{safe(text, limit=400)}~~]{trail or ' '}")
        else:
            said.append(f"{lead}:blue-background[**{safe(text, limit=400)}**]{trail}")
    return "".join(said)


def draw_scores(rows: pd.DataFrame, *, bold: Sequence[str], floor: float, key: str, short: bool = False) -> None:
    """Draw the same pair under every evaluator: score before and after, % change, standardised Δ, times the noise band.
    ``bold``: evaluators whose shifts decide the pair's place; ``floor``: share of the typical unedited score below
    which a baseline is marked."""
    wide = 3 if short else 5
    lines = [_row(["Metric", "Score", "% change", "SD", "× noise"][:wide]), _row([":--", *["--:"] * (wide - 1)])]
    told = [dict(zip(rows.columns, values, strict=True)) for values in rows.to_numpy(dtype=object)]
    for row in told:
        name = safe(str(row["evaluator"]), limit=40)
        name = f"**{name}**" if row["evaluator"] in bold else name
        tiny = "†" if pd.notna(row["typical"]) and abs(row["baseline_score"]) < floor * row["typical"] else ""
        moved = f"{_score(row['baseline_score'])} → {_score(row['score'])}{tiny}"
        percent = _unbroken(signed(row["percent"]))
        lines.append(_row([name, moved, percent, _deviations(row), _unbroken(times_null(row))][:wide]))
    st.container(key=f"failure_scores_{key}").markdown("\n".join(lines))
    for row in told:
        if not pd.isna(row["delta"]):
            continue
        reason = row["error"] if pd.notna(row["error"]) else "its baseline has no score"
        st.caption(f"{safe(str(row['evaluator']))} could not score this pair: {safe(str(reason), limit=200)}")


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def to_lab(pair: pd.Series, rows: pd.DataFrame, files: Signature) -> None:
    """Draw the way into the Probe lab, where its corpus is here."""
    if corpus_name_of(pair["run"], pair["corpus"], files) is not None:
        row = {**rows.iloc[0], **pair}
        query = lab_link(row, evaluators=list(rows["evaluator"]), files=files)
        link_to(LAB, "Open in Try a picture", icon=":material/science:", query_params=query)


def verdict(judged: pd.DataFrame, pair: pd.Series) -> None:
    """Say what people found of the pair, where a study asked them. ``judged``: rows of the store's ``verdicts``."""
    for _, row in judged.iterrows():
        if all(row[name] == pair[name] for name in ("corpus", "item", "subject", "probe")):
            st.caption(
                f":material/how_to_reg: {as_percent(row['accepted'])} of {counted(int(row['votes']), 'vote')} "
                "found both versions acceptable"
            )


def _unbroken(text: str) -> str:
    return text.replace(" ", "\u00a0")


def _score(value: float) -> str:
    return number(None if pd.isna(value) else value)


def _deviations(row: Mapping[str, Any] | pd.Series) -> str:
    return signed(row["standardised"], digits=2, unit="")


def _stripped(text: str) -> tuple[str, str, str]:
    body = text.strip()
    if not body:
        return "", "", text
    start = text.index(body)
    return text[:start], body, text[start + len(body) :]


_SCORES = ("score", "baseline_score", "delta", "percent")
"""Columns of a record that stand before the others: what the pair was opened for."""


def show_record(state: PageState, files: Signature, scope: Narrowed, held: Held) -> None:
    """Open the dialog where the link names a pair; say so where these runs do not hold it."""
    pair = read_record(state.get("record"))
    if pair is None or finding():
        return
    records = record_of(files, scope, pair)
    if not records:
        st.warning(
            f"The record of item {safe(pair['item'])} under {safe(pair['probe'])} is not in the runs that are loaded.",
            icon=":material/link_off:",
        )
        state.put("record", "")
        return

    def close() -> None:
        state.put("record", "")

    st.dialog(f"{safe(title(pair['probe']))} · {safe(pair['item'])}", width="large", on_dismiss=close)(_draw)(
        state, files, pd.Series({**pair, "corpus": records[0]["corpus"]}), records, held
    )


def _draw(state: PageState, files: Signature, pair: pd.Series, records: list[dict[str, object]], held: Held) -> None:
    rows = pd.DataFrame(records)
    only = pd.DataFrame([pair])
    with pictures(store(files), only, marks=state.get("marks"), side=LARGE) as begun:
        with st.container(key="failure_room_record"):
            place = st.empty()
        made = finished(begun[0])
    draw_pictures(place, made, rows.iloc[0], key="record")
    if said := below_pictures(made):
        st.caption(said)
    if not isinstance(made, str):
        for note in made.notes:
            st.caption(safe(note, limit=300))
        before, after = made.before, made.after
        if after is not None:
            offer(lambda: (before, after), alt=shown(rows.iloc[0]), key="failures.record")
    captions(rows)
    told = rows.iloc[0]
    verdict(verdicts(store(files), only, language=str(told["language"]), rank=int(told["rank"])), pair)
    named = pair_of(pair, language=str(told["language"]), rank=int(told["rank"]))
    draw_tags(held.of(named))
    every = rows.set_index("evaluator").drop(columns=list(PAIR))
    table = every[[*_SCORES, *every.columns.difference(list(_SCORES), sort=False)]].T
    table.index.name = "column"
    alt = "Every column of this pair under every evaluator"
    columns = {"column": TEXT("Column", pinned=True)}
    draw_table(table.map(_cell).reset_index(), key="failures.record.table", alt=alt, height=360, column_config=columns)
    text = as_json(records)
    with st.container(horizontal=True, vertical_alignment="center"):
        name = f"{pair['run']}-{pair['item']}-{pair['probe']}.json"
        file_button("Record as JSON", text.encode(), name, icon="data_object", key="failures.record.json")
        to_lab(pair, rows, files)
        tag_button(named, held, key="record", before=lambda: state.put("record", ""))
    with st.expander("As JSON, to copy"):
        st.code(text, language="json", height=300)


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and pd.isna(value)):
        return "—"
    return f"{value:.6g}".replace("-", "−") if isinstance(value, float) else str(value)


def card_slide(
    files: Signature, scope: Narrowed, pair: pd.Series, rows: pd.DataFrame, *, marks: str, link: Mapping[str, str]
) -> Slide:
    """What a card shows of a pair, its pictures large. ``marks``: a key of ``failure_state.MARKS``."""
    with pictures(store(files), pd.DataFrame([pair]), marks=marks, side=LARGE) as begun:
        made = finished(begun[0])
    first, sides = rows.iloc[0], tuple[Picture, ...]()
    if not isinstance(made, str):
        both = (("as it is", made.before), ("edited", made.after))
        sides = tuple(Picture(f"{shown(first)}, {how}", "jpg", data) for how, data in both if data is not None)
    without = made[:400] if isinstance(made, str) else ""
    return pair_slide(
        pair,
        rows,
        pictures=sides,
        language=scope.language,
        said=(below_pictures(made), cut_said(first["object_kept"]), without),
        link={**link, "record": record_text(pair)},
        signature=signature_of(scores(files, scope), store(files).runs()),
    )
