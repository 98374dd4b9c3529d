"""Navigation and theme, nothing else."""

from pathlib import Path

import streamlit as st

ROOT = Path(__file__).resolve().parent

st.set_page_config(page_title="Invariscope", page_icon=ROOT / "assets" / "style" / "icon.png", layout="wide")
st.logo(ROOT / "assets" / "style" / "icon.png", size="large")
st.html(ROOT / "assets" / "style" / "app.css")
st.navigation(
    [
        st.Page("pages/overview.py", title="Overview", icon=":material/insights:", default=True),
        st.Page("pages/probe_lab.py", title="Probe lab", icon=":material/science:", url_path="probe_lab"),
    ],
    position="top",
).run()
