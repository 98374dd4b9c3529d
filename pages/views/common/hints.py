"""The coined words of the dashboard, each with its meaning, and the help icons that tell them.

A help icon is no stop for the Tab key. Streamlit draws a button behind every label that has a help, and its words only
while a pointer is over it; here they become the description of the button and of its control, which assistive
technology reads out with either.
"""

import csv
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import streamlit as st

from core.settings import assets_dir


class Word(NamedTuple):
    """A coined word."""

    meaning: str  # in a sentence or two
    page: str  # where it is met, as the page's address; empty where it is met everywhere


@cache
def glossary() -> Mapping[str, Word]:
    """Every word, in the order in which one builds on another (``assets/glossary.csv``)."""
    with (assets_dir() / "glossary.csv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        return {row["term"]: Word(row["meaning"], row["page"]) for row in rows}


def meaning(*terms: str) -> str:
    """What words mean, for a hint beside a label.

    Raises:
        KeyError: if a word is not in the glossary.
    """
    known = glossary()
    return "\n\n".join(f"**{term[0].upper()}{term[1:]}**: {known[term].meaning}" for term in terms)


_JS = """
const ICONS = 'button[aria-label^="Help for "]';
const CONTROLS = 'input, textarea, select, [role="slider"], [role="radiogroup"], [role="combobox"], button';

// The words of a help are in no element before its pop-over opens: they are what Streamlit's icon was made with.
function words(icon) {
  const own = Object.keys(icon).find((name) => name.startsWith("__reactFiber$"));
  for (let node = own && icon[own], up = 0; node && up < 12; node = node.return, up += 1) {
    const source = node.memoizedProps?.content?.props?.source;
    if (typeof source === "string") return source.replace(/[*_`\\\\]/g, "").replace(/\\s+/g, " ").trim();
  }
  return "";
}

function controls(icon) {
  const widget = icon.closest('[data-testid="stElementContainer"]');
  return [...(widget?.querySelectorAll(CONTROLS) ?? [])].filter((each) => !each.matches(ICONS));
}

function tell() {
  for (const icon of document.querySelectorAll(ICONS)) {
    if (icon.tabIndex !== -1) icon.tabIndex = -1;
    const said = words(icon);
    if (!said) continue;
    for (const each of [icon, ...controls(icon).slice(0, 1)]) {
      if (each.getAttribute("aria-description") !== said) each.setAttribute("aria-description", said);
    }
  }
}

export default function () {
  let waiting = 0;
  const soon = () => {
    waiting ||= requestAnimationFrame(() => {
      waiting = 0;
      tell();
    });
  };
  const watch = new MutationObserver(soon);
  watch.observe(document.body, { childList: true, subtree: true });
  tell();
  return () => {
    watch.disconnect();
    cancelAnimationFrame(waiting);
  };
}
"""
_watch = st.components.v2.component("invariscope_help_icons", js=_JS)


def describe_help() -> None:
    """Keep the help icons of the page out of the tab order, their words with their controls."""
    _watch(key="help_icons", height=1)
