"""The full record of one pair, in a dialog whose open state is in the link."""

import pandas as pd
import streamlit as st

from core.analysis.failures import PAIR, as_json, verdicts
from core.analysis.scope import Narrowed
from core.probes.titles import title
from core.report.pair_slides import shown
from core.stories.tags import Held
from pages.views.common.before_after import offer
from pages.views.common.layers import finding
from pages.views.common.links import read_record
from pages.views.common.open_runs import Signature, store
from pages.views.common.page_tables import draw_table
from pages.views.common.text import safe
from pages.views.common.url_state import PageState
from pages.views.failures.card import below_pictures, captions, draw_pictures, to_lab, verdict
from pages.views.failures.pictures import LARGE, finished, pictures
from pages.views.failures.state import record_of
from pages.views.failures.tags import draw_tags, pair_of, tag_button


def show_record(state: PageState, files: Signature, scope: Narrowed, held: Held) -> None:
    """Open the dialog where the link names a pair; say so where these runs do not hold it."""
    pair = read_record(state.get("record"))
    if pair is None or finding():
        return
    records = record_of(files, scope, pair)
    if not records:
        st.warning(f"The record of item {safe(pair['item'])} under {safe(pair['probe'])} is not in the runs that are "
                   "loaded.", icon=":material/link_off:")  # fmt: skip
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
    table = rows.set_index("evaluator").drop(columns=list(PAIR)).T
    table.index.name = "column"
    draw_table(table.map(_cell).reset_index(), key="failures.record.table",
               alt="Every column of this pair under every evaluator", height=360,
               column_config={"column": st.column_config.TextColumn("Column", pinned=True)})  # fmt: skip
    text = as_json(records)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button("Record as JSON", text.encode(), f"{pair['run']}-{pair['item']}-{pair['probe']}.json",
                           "application/json", icon=":material/data_object:", on_click="ignore",
                           key="failures.record.json")  # fmt: skip
        to_lab(pair, rows, files)
        tag_button(named, held, key="record", before=lambda: state.put("record", ""))
    with st.expander("As JSON, to copy"):
        st.code(text, language="json", height=300)


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and pd.isna(value)):
        return "—"
    return f"{value:.6g}".replace("-", "−") if isinstance(value, float) else str(value)
