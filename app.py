"""Navigation and theme, nothing else."""

from pathlib import Path

import streamlit as st

from core.evaluators.memory import keep_freed, share_arenas
from pages.views.common.access import admit, at_the_door, entry_page, hidden, one_reader, open_entries
from pages.views.common.crash import catch_crashes, tell_refused_files
from pages.views.common.links import draw_find, draw_foot, former_addresses, tell_troubles
from pages.views.common.page_head import by_the_door
from pages.views.common.reader_uploads import expect_to_leave
from pages.views.common.server_door import limit_uploads
from pages.views.common.text import describe_help

ROOT = Path(__file__).resolve().parent

if __name__ == "__main__":  # a process that is spawned beside a page prepares itself by this file, and shows nothing
    share_arenas()
    keep_freed()
    catch_crashes()
    tell_refused_files()
    st.set_page_config(page_title="Invariscope", page_icon=ROOT / "assets" / "style" / "icon.png", layout="wide")
    st.logo(ROOT / "assets" / "style" / "icon.png", size="large")
    st.html(ROOT / "assets" / "style" / "app.css")
    expect_to_leave()
    with one_reader():
        admit()
        limit_uploads()
        page = st.navigation(
            [*at_the_door(), *map(entry_page, open_entries()), *former_addresses()],
            position="hidden" if hidden() else "sidebar",
            expanded=True,
        )
        if not hidden():
            draw_find()
            draw_foot()
            tell_troubles()
        describe_help()
        with by_the_door():
            page.run()
