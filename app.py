"""Navigation and theme, nothing else."""

from pathlib import Path

import streamlit as st

from core.evaluators.memory import keep_freed, share_arenas
from pages.views.common.access import admit, at_the_door, hidden, one_reader, remember, visible
from pages.views.common.crash import catch_crashes, tell_refused_files
from pages.views.common.entry import by_the_door
from pages.views.common.hints import describe_help
from pages.views.common.links import draw_find
from pages.views.common.server_door import limit_uploads

ROOT = Path(__file__).resolve().parent

# Section -> (file in pages/, title, icon), in the order of the menu.
PAGES = {
    "": (("overview", "Overview", ":material/insights:"),),
    "Explore": (
        ("probe_lab", "Probe lab", ":material/science:"),
        ("failures", "Failures", ":material/photo_library:"),
        ("results", "Results", ":material/bar_chart:"),
        ("compare", "Compare", ":material/compare_arrows:"),
        ("stories", "Stories", ":material/auto_stories:"),
    ),
    "Measure": (
        ("flip_risk", "Flip risk", ":material/swap_vert:"),
        ("systems", "Systems", ":material/leaderboard:"),
        ("calibration", "Calibration", ":material/tune:"),
        ("contrast_tests", "Contrast tests", ":material/rule:"),
        ("geometry", "Geometry", ":material/hub:"),
        ("suites", "Suites", ":material/fact_check:"),
        ("video", "Video", ":material/movie:"),
    ),
    "Conduct": (
        ("run_audit", "Run an audit", ":material/play_circle:"),
        ("human_validation", "Human validation", ":material/how_to_vote:"),
    ),
    "Help": (("words", "Words", ":material/menu_book:"),),
}

share_arenas()
keep_freed()
catch_crashes()
tell_refused_files()
st.set_page_config(page_title="Invariscope", page_icon=ROOT / "assets" / "style" / "icon.png", layout="wide")
st.logo(ROOT / "assets" / "style" / "icon.png", size="large")
st.html(ROOT / "assets" / "style" / "app.css")
with one_reader():
    admit()
    limit_uploads()
    listed = visible(PAGES)
    page = st.navigation(
        {
            section: [
                st.Page(f"pages/{name}.py", title=title, icon=icon, url_path=name, default=name == "overview")
                for name, title, icon in pages
            ]
            for section, pages in listed.items()
        }
        | at_the_door(listed),
        position="hidden" if hidden() else "sidebar",
        expanded=True,
    )
    if not hidden():
        draw_find({f"pages/{name}.py": title for section in listed.values() for name, title, _ in section})
        remember()
    describe_help()
    with by_the_door():
        page.run()
