"""What an edited caption of the Probe lab is made of: the reader's own sentence, its new word marked, or another."""

from collections.abc import Sequence

from core.corpora.schema import Item
from core.errors import InvalidInput
from core.probes.base import Construction, Probe, Variant
from core.probes.families.inserted import in_own_caption
from core.probes.words.captions import base_caption
from pages.views.common.text import safe
from pages.views.common.url_state import PageState
from pages.views.probe_lab.state import CAPTION_LIMIT

_APART: dict[str, str] = {Construction.TEMPLATE: "template", Construction.CORPUS: "corpus caption"}
"""What a caption is made of that is not the one that was chosen."""


def for_caption(state: PageState, probes: Sequence[Probe]) -> list[Probe]:
    """The chosen probes; a societal word goes into the caption that was chosen, if that is not the template."""
    return list(probes) if state.get("subject") == "template" else list(in_own_caption(probes))


def apart(construction: str | None, item: Item, caption: str) -> str:
    """Name what an edited caption is made of where it is not the caption that was chosen; else empty."""
    return "" if caption == template(item) or construction is None else _APART.get(construction, "")


def template(item: Item) -> str:
    """The bare template of an item; empty without a label."""
    try:
        return base_caption(item.label or "")
    except InvalidInput:
        return ""


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
