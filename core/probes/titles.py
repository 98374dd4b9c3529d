"""What a probe and a family are called on a screen; their names stay in links, files and hints.

Points of a sweep by their names: ``rotation:degrees5`` is the edit ``rotation`` at a strength of 5 degrees.
"""

import re
from collections.abc import Callable, Iterable, Mapping

LEAST = 3  # points that make a curve

_POINT = re.compile(r"^(?P<family>[a-z-]+):(?P<fact>[a-z]+)(?P<strength>\d+(?:\.\d+)?)$")

UNITS: Mapping[str, tuple[str, str]] = {
    "degrees": ("angle", "°"),
    "sigma": ("standard deviation of the blur", " px"),
    "offset": ("way, of the width", " %"),
    "zoom": ("enlargement", " %"),
    "brightness": ("change of the brightness", " %"),
    "quality": ("quality of the JPEG", ""),
}
"""Fact of a strength -> what it counts, and its unit."""

FALLING = ("quality",)  # strengths that do more the smaller they are


def measured_in(fact: str) -> tuple[str, str]:
    """What a strength counts, and its unit as it stands after the number; its own name and none where it is unknown."""
    return UNITS.get(fact, (fact, ""))


def sweeps_among(names: Iterable[str]) -> dict[tuple[str, str], dict[float, str]]:
    """(family, fact) -> strength -> its probe, from the least effect on, of sweeps with LEAST points or more.

    >>> sweeps_among(["zoom:zoom5", "vflip", "zoom:zoom1", "zoom:zoom10"])
    {('zoom', 'zoom'): {1.0: 'zoom:zoom1', 5.0: 'zoom:zoom5', 10.0: 'zoom:zoom10'}}
    """
    found: dict[tuple[str, str], dict[float, str]] = {}
    for name in names:
        if told := _POINT.match(name):
            found.setdefault((told["family"], told["fact"]), {})[float(told["strength"])] = name
    return {
        key: dict(sorted(own.items(), reverse=key[1] in FALLING))
        for key, own in sorted(found.items())
        if len(own) >= LEAST
    }


_FAMILIES = {
    "identity": "Unedited", "base": "Bare template", "null": "Invisible edits", "vertical-flip": "Upside down",
    "horizontal-flip": "Mirrored", "rotation": "Turned", "reposition": "Moved", "reposition-hard": "Moved, hard edge",
    "reposition-telea": "Moved, smooth fill", "reposition-true": "Moved, true background",
    "reposition-ground": "Moved along the ground", "distance": "Moved over a grid", "blur": "Blurred",
    "compression": "Compressed", "resampling": "Resampled", "brightness": "Brightness changed", "zoom": "Zoomed",
    "translation": "Shifted", "typographic": "Words written in", "caption-form": "Caption's form",
    "verbosity": "“A photo of” added", "cultural": "Cultural words", "economic": "Economic words",
    "emotion": "Emotion words", "gender": "Gender words", "gender-colloquial": "Gender words, colloquial",
    "occupational": "Occupational words", "jumble": "Words shuffled", "masking": "Words masked",
    "removal": "Words removed", "repetition": "Words repeated", "substitution": "Word substituted",
    "order": "Words in another order", "negation": "Negated", "template": "Template negated",
    "absent-category": "“No” left out", "foil": "Wrong object (FOIL)", "colour-word": "Wrong colour",
    "number-word": "Another number", "distractor": "Absent thing added", "hollow-tail": "Meaningless ending",
    "grounding": "Another object named", "mention": "Things mentioned", "mention-absent": "Absent thing mentioned",
    "mention-negated": "Mention negated", "mention-shuffled": "Mention shuffled", "size": "Larger or smaller named",
    "size-share": "Larger or smaller named, by share", "size-shuffled": "Size, words shuffled",
    "size-share-shuffled": "Size by share, words shuffled", "prototype": "Prototype",
    "drop-nouns": "Nouns removed", "swap-nouns": "Nouns swapped", "repeat-first-noun": "First noun repeated",
    "nested": "Longer caption of the same picture", "relation": "Wrong relation of two things",
    "named-entity": "Another place, role or brand", "error-place": "Error in a long caption",
    "mention-order": "Things in another order", "fewer-frames": "Fewer frames", "frame-order": "Frames out of order",
    "other-video": "Frames of another video", "given": "Wrong caption of the suite",
    "given-picture": "Wrong picture of the suite",
}  # fmt: skip
"""Family -> its title; what a family of another edit of the same words is called follows from its own."""

_AS_FAMILIES = (
    "identity base negation drop-nouns swap-nouns repeat-first-noun mention-order distractor hollow-tail number-word "
    "foil named-entity"
)
_PLAIN = {
    **{name: _FAMILIES[name] for name in _AS_FAMILIES.split()},
    "vflip": "Upside down",
    "hflip": "Mirrored",
    "null:jpeg95": "JPEG, quality 95",
    "null:shift1": "One pixel to the right",
    "null:resize": "Enlarged and back",
    "reposition-ground-left": "Moved left along the ground",
    "reposition-ground-right": "Moved right along the ground",
    "negation:template": "Template, negated",
    "affirmation:template": "Template, affirmed",
    "negation:absent": "Absent thing denied",
    "affirmation:absent": "“No” left out",
    "wrong-caption": "Wrong caption",
    "wrong-picture": "Wrong picture",
    "colour-word": "Another colour",
    "colour-word:object": "An object for a colour",
    "typographic:right": "Right word written in",
    "typographic:wrong": "Wrong word written in",
    "typographic:neutral": "Neutral word written in",
    "caption-form:full-stop": "Full stop changed",
    "caption-form:capital": "First letter's case",
    "caption-form:double-blank": "Double space",
    "frames:half": "Every second frame",
    "frames:other-video": "Frames of another video",
    "frames:backwards": "Backwards",
    "relation:side": "Left and right exchanged",
    "relation:height": "Above and below exchanged",
    "relation:depth": "Before and behind exchanged",
    "prototype:prototype": "Prototype",
    "prototype:knob-wrong": "Detail wrong",
    "prototype:adversary": "Prototype, detail wrong",
}

_DEEDS = {
    "vertical-flip": "Flipping the picture upside down", "horizontal-flip": "Mirroring the picture",
    "rotation": "Turning the picture a little", "reposition": "Moving the object",
    "reposition-ground": "Moving the object along the ground", "blur": "Blurring the picture",
    "compression": "Compressing the picture", "resampling": "Resampling the picture",
    "cultural": "A word like “African” in place of a neutral one",
    "economic": "A word like “cheap” in place of a neutral one",
    "emotion": "A word like “happy” in place of a neutral one",
    "gender": "A word like “female” in place of a neutral one",
    "typographic": "Writing a word into the picture", "fewer-frames": "Leaving out every second frame",
    "verbosity": "Putting words like “A photo of” around the caption",
}  # fmt: skip
"""Family -> what its edits do, the subject of a sentence."""

_PAPER = "paper’s contrast"
CONTRASTS = {
    "vertical flip": "Upside down",
    "bottom right vs top left": f"Bottom right, not top left ({_PAPER})",
    "rotation by ±10°": f"Turned by ±10° ({_PAPER})",
    "cultural vs neutral": f"Cultural, not neutral words ({_PAPER})",
    "cheap, expensive vs neutral": f"Cheap or expensive, not neutral ({_PAPER})",
    "cultural subset": f"Four cultural words ({_PAPER})",
    "economic subset": f"Cheap or expensive ({_PAPER})",
}
"""What the paper compares by name -> its title, which says so; of one that is a whole family that of the family."""

_CORNERS = {"TL": "top left", "TR": "top right", "BL": "bottom left", "BR": "bottom right"}
_FILLS = {"": "", "hard-": ", hard edge", "telea-": ", smooth fill", "true-": ", true background"}
_LEXICAL = {name: _FAMILIES[name] for name in ("repetition", "removal", "masking", "jumble", "substitution", "order")}
_SHUFFLES = {
    "nouns-and-adjectives": "Nouns and adjectives change places",
    "within-trigrams": "Words change places in threes",
    "all-but-nouns-and-adjectives": "All but nouns and adjectives change places",
    "trigrams": "Threes change places",
}
_RESAMPLERS = {
    "bicubic": "bicubic",
    "bilinear": "bilinear",
    "lanczos": "Lanczos",
    "area": "area average",
    "cubic-aliased": "cubic, aliased",
    "linear-aliased": "linear, aliased",
}
_TAILS = {"dangling": "Breaks off", "repeat": "Says its last phrase again"}
_GROUNDED = {
    "plausible": "Another thing of its kind",
    "object": "Another thing of the picture",
    "random": "Any other thing",
}
_MENTIONS = {"": "", "-absent": ", the last absent", "-negated": ", denied", "-shuffled": ", words shuffled"}
_ERRORS = {"start": "at the start", "middle": "in the middle", "end": "at the end", "behind": "behind 77 words"}
_SIZES = {"small": "smaller", "large": "larger"}
_NESTED = {"share": "Says how much of it, too", "place": "Says where, too"}
_SOCIETAL = "cultural|economic|gender-colloquial|gender|emotion|occupational"

_PATTERNS: tuple[tuple[str, Callable[[re.Match[str]], str]], ...] = (
    (r"rotate([+-]\d+)", lambda m: f"Turned by {m[1].replace('-', '−')}°"),
    (r"reposition-(hard-|telea-|true-|)(TL|TR|BL|BR)", lambda m: f"Moved to {_CORNERS[m[2]]}{_FILLS[m[1]]}"),
    (r"blur-(\d+)", lambda m: f"Blurred, σ {m[1]} px"),
    (r"rotation:degrees([\d.]+)", lambda m: f"Turned by {m[1]}°"),
    (r"blur:sigma([\d.]+)", lambda m: f"Blurred, σ {m[1]} px"),
    (r"translation:offset([\d.]+)", lambda m: f"Shifted by {m[1]} %"),
    (r"zoom:zoom([\d.]+)", lambda m: f"Zoomed by {m[1]} %"),
    (r"brightness:brightness([\d.]+)", lambda m: f"Brightness changed by {m[1]} %"),
    (r"distance:0\.0", lambda _: "At the centre"),
    (r"distance:0\.(\d)@(\d+)", lambda m: f"{m[1]}0 % of the way to the edge, at {int(m[2])}°"),
    (r"resampling:first-(\d+)", lambda m: f"Shrunk to {m[1]} px first"),
    (rf"resampling:({'|'.join(_RESAMPLERS)})", lambda m: f"Resampled, {_RESAMPLERS[m[1]]}"),
    (r"verbosity:([\w-]+)", lambda m: f"Words around it: {m[1].replace('-', ' ')}"),
    (rf"grounding:({'|'.join(_GROUNDED)})", lambda m: _GROUNDED[m[1]]),
    (r"foil:(\d+)", lambda m: f"Wrong object (FOIL), sibling {m[1]}"),
    (r"colour-word:object", lambda _: "Object for a colour"),
    (rf"nested:({'|'.join(_NESTED)})", lambda m: _NESTED[m[1]]),
    (
        rf"mention:(\d)({'|'.join(_MENTIONS)})",
        lambda m: f"{m[1]} thing{'' if m[1] == '1' else 's'} named{_MENTIONS[m[2]]}",
    ),
    (
        r"size:(small|large)(-share|)(-shuffled|)",
        lambda m: f"The {_SIZES[m[1]]} one named{', by share' if m[2] else ''}{', words shuffled' if m[3] else ''}",
    ),
    (rf"order:({'|'.join(_SHUFFLES)})", lambda m: _SHUFFLES[m[1]]),
    (r"hollow-tail:len(\d+)", lambda m: f"Meaningless ending of {m[1]} word{'' if m[1] == '1' else 's'}"),
    (rf"hollow-tail:({'|'.join(_TAILS)})", lambda m: _TAILS[m[1]]),
    (rf"({'|'.join(_LEXICAL)}):printed", lambda m: f"{_LEXICAL[m[1]]}, as printed"),
    (rf"error-place:({'|'.join(_ERRORS)})(-true|)", lambda m: f"{'True' if m[2] else 'Error'} {_ERRORS[m[1]]}"),
    (r"relation:(side|height|depth)-true", lambda m: f"True {m[1]} of two things"),
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

    >>> title("reposition-BR")
    'Moved to bottom right'
    >>> title("rotate-10")
    'Turned by −10°'
    >>> title("cultural:African")
    'African …'
    >>> title("my-own:small")
    'my-own:small'
    """
    if name in _PLAIN:
        return _PLAIN[name]
    for pattern, said in _PATTERNS:
        if found := re.fullmatch(pattern, name):
            return said(found)
    return name


def family_title(name: str) -> str:
    """The title of a family, or of what the paper compares by name; names without one stand for themselves.

    >>> family_title("vertical-flip")
    'Upside down'
    >>> family_title("inserted-cultural")
    'Cultural words, inserted'
    >>> family_title("my-own")
    'my-own'
    """
    if known := _FAMILIES.get(name) or CONTRASTS.get(name):
        return known
    for lead, said in (("inserted-", "inserted"), ("natural-", "as people wrote")):
        rest = name.removeprefix(lead)
        if rest != name and rest.removesuffix("-spacy") in _FAMILIES:
            return f"{_FAMILIES[rest.removesuffix('-spacy')]}, {said}{' (spaCy)' if rest.endswith('-spacy') else ''}"
    return name


def deed(family: str) -> str:
    """What a family's edits do, as the subject of a sentence; of one without its own words its title.

    >>> deed("vertical-flip")
    'Flipping the picture upside down'
    >>> deed("zoom")
    'The edit “Zoomed”'
    """
    return _DEEDS.get(family.removeprefix("inserted-")) or f"The edit “{family_title(family)}”"
