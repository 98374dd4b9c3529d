"""What a probe is called on a screen; its name stays in links, files and hints."""

import re
from collections.abc import Callable

_PLAIN = {
    "identity": "Unedited",
    "base": "Bare template",
    "vflip": "Upside down",
    "hflip": "Mirrored",
    "null:jpeg95": "JPEG, quality 95",
    "null:shift1": "One pixel to the right",
    "null:resize": "Enlarged and back",
    "reposition-ground-left": "Moved left along the ground",
    "reposition-ground-right": "Moved right along the ground",
    "negation": "Negated",
    "negation:template": "Template, negated",
    "affirmation:template": "Template, affirmed",
    "negation:absent": "Absent thing denied",
    "affirmation:absent": "Absent thing affirmed",
    "drop-nouns": "Nouns removed",
    "swap-nouns": "Nouns swapped",
    "repeat-first-noun": "First noun repeated",
    "mention-order": "Things in another order",
    "wrong-caption": "Wrong caption",
    "wrong-picture": "Wrong picture",
    "distractor": "Absent thing added",
    "hollow-tail": "Hollow ending",
    "colour-word": "Another colour",
    "number-word": "Another number",
    "foil": "Wrong object (FOIL)",
    "typographic:right": "Right word written in",
    "typographic:wrong": "Wrong word written in",
    "typographic:neutral": "Neutral word written in",
    "caption-form:full-stop": "Full stop changed",
    "caption-form:capital": "First letter's case",
    "caption-form:double-blank": "Double space",
    "frames:half": "Every second frame",
    "frames:other-video": "Frames of another video",
    "frames:backwards": "Backwards",
    "prototype:prototype": "Prototype",
    "prototype:knob-wrong": "Detail wrong",
    "prototype:adversary": "Prototype, detail wrong",
}
_CORNERS = {"TL": "top left", "TR": "top right", "BL": "bottom left", "BR": "bottom right"}
_FILLS = {"": "", "hard-": ", hard edge", "telea-": ", smooth fill", "true-": ", true background"}
_LEXICAL = {
    "repetition": "Words repeated", "removal": "Words removed", "masking": "Words masked", "jumble": "Words shuffled",
    "substitution": "Word substituted", "order": "Words in another order",
}  # fmt: skip
_SOCIETAL = "cultural|economic|gender-colloquial|gender|emotion|occupational"


def _number(text: str) -> str:
    return text.replace("-", "−")


_PATTERNS: tuple[tuple[str, Callable[[re.Match[str]], str]], ...] = (
    (r"rotate([+-]\d+)", lambda m: f"Turned by {_number(m[1])}°"),
    (r"reposition-(hard-|telea-|true-|)(TL|TR|BL|BR)", lambda m: f"Moved to {_CORNERS[m[2]]}{_FILLS[m[1]]}"),
    (r"blur-(\d+)", lambda m: f"Blurred, σ {m[1]} px"),
    (r"rotation:degrees([\d.]+)", lambda m: f"Turned by {m[1]}°"),
    (r"blur:sigma([\d.]+)", lambda m: f"Blurred, σ {m[1]} px"),
    (r"translation:offset([\d.]+)", lambda m: f"Shifted by {m[1]} %"),
    (r"zoom:zoom([\d.]+)", lambda m: f"Zoomed by {m[1]} %"),
    (r"brightness:brightness([\d.]+)", lambda m: f"Brightness changed by {m[1]} %"),
    (r"compression:(?:quality|q)(\d+)(-444)?", lambda m: f"JPEG, quality {m[1]}{', 4:4:4' if m[2] else ''}"),
    (rf"(?:{_SOCIETAL}):([\w-]+)", lambda m: f"{m[1]} …"),
    (rf"inserted-(?:{_SOCIETAL}):([\w-]+)", lambda m: f"… {m[1]} …"),
    (rf"natural-(?:{_SOCIETAL})(?:-spacy)?:swapped-([\w-]+)", lambda m: f"Social word: {m[1]}, swapped in"),
    (rf"natural-(?:{_SOCIETAL})(?:-spacy)?:([\w-]+)", lambda m: f"Social word: {m[1]}"),
    (rf"({'|'.join(_LEXICAL)})(?::draw(\d))?", lambda m: _LEXICAL[m[1]] + (f", draw {m[2]}" if m[2] else "")),
    (rf"({'|'.join(_LEXICAL)}):p([\d.]+)", lambda m: f"{_LEXICAL[m[1]]}, p = {m[2]}"),
)


def title(name: str) -> str:
    """The title of a probe, e.g. for a button; names without one stand for themselves.

    Example:
        >>> title("reposition-BR")
        'Moved to bottom right'
        >>> title("rotate-10")
        'Turned by −10°'
        >>> title("cultural:African")
        'African …'
        >>> title("size:small")
        'size:small'
    """
    if name in _PLAIN:
        return _PLAIN[name]
    for pattern, said in _PATTERNS:
        if found := re.fullmatch(pattern, name):
            return said(found)
    return name
