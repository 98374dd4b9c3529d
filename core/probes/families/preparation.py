"""How a picture and a caption were prepared: shrunk, compressed, punctuated. Nothing of what they say changes.

- ``resampling:…``: the shorter side becomes 224 px and the longer one is cut off at a whole pixel, what a loader for a
  ViT-B/32 does, by one resampler or another. A loader leaves ``resampling:bicubic`` as it is, to the bit;
- ``resampling:first-800``, ``first-400``: the longer side is 800 or 400 px at most, as many stored copies are;
- ``compression:…``: the picture is saved once more as JPEG. PNG keeps every pixel, so there is nothing to score;
- ``caption-form:…``: the final full stop, the capital at the beginning, a second blank between words.

Reported gaps between captioners are as small as what such choices move, so they are near the null and no null: somebody
can see them, in the file if not in the picture.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import cv2
import numpy as np
from PIL import Image

from core.corpora.images import check_rgb
from core.corpora.schema import Box
from core.errors import InvalidInput, ProbeRejected
from core.probes.base import SUBJECTS, Axis, Expectation, Probe, Subject, Variant, caption_probe, picture_probe
from core.probes.families.spatial import image_probe
from core.probes.pixels import edits as image_edits
from core.probes.pixels.edits import Move, follow
from core.probes.scene import Scene

Resampler = Callable[[np.ndarray, int, int], np.ndarray]  # (pixels, width, height) -> the pixels at that size


def _pillow(filter_: Image.Resampling) -> Resampler:
    return lambda pixels, width, height: np.asarray(Image.fromarray(pixels).resize((width, height), filter_))


def _opencv(flag: int) -> Resampler:
    return lambda pixels, width, height: cv2.resize(pixels, (width, height), interpolation=flag)


RESAMPLERS: Mapping[str, Resampler] = MappingProxyType(
    {
        "bicubic": _pillow(Image.Resampling.BICUBIC),
        "bilinear": _pillow(Image.Resampling.BILINEAR),
        "lanczos": _pillow(Image.Resampling.LANCZOS),
        "area": _opencv(cv2.INTER_AREA),
        "cubic-aliased": _opencv(cv2.INTER_CUBIC),
        "linear-aliased": _opencv(cv2.INTER_LINEAR),
    }
)
"""Pillow's filters grow with the reduction, so that nothing aliases; OpenCV's cubic and linear ones look at a fixed
number of pixels. Both are in use before one and the same model."""


def shrunk(pixels: np.ndarray, *, width: int, height: int, resampler: str) -> np.ndarray:
    """Shrink an image to a size.
    ``pixels``: uint8 RGB [H, W, 3]. ``width``, ``height``: of the result, each at most that of the image.
    ``resampler``: of RESAMPLERS.
    Raises InvalidInput if the resampler is not known, or the size is no reduction."""
    check_rgb(pixels)
    if resampler not in RESAMPLERS:
        raise InvalidInput(f"resampler must be one of {', '.join(RESAMPLERS)}, got {resampler!r}")
    tall, wide = pixels.shape[:2]
    if not (1 <= width <= wide and 1 <= height <= tall):
        raise InvalidInput(f"{width} × {height} px is no reduction of {wide} × {tall} px")
    return np.ascontiguousarray(RESAMPLERS[resampler](pixels, width, height))


@dataclass(frozen=True, slots=True)
class Target:
    """A size to shrink to that keeps the shape.
    ``longer``: whether the longer side becomes so long, the other rounded; else the shorter one, and the other is cut
    off at a whole pixel, as loaders cut it: another rounding would have them shrink the picture once more."""

    side: int  # in pixels
    longer: bool = False

    def size(self, width: int, height: int) -> tuple[int, int]:
        """Width and height of an image of that size once it is shrunk; never larger than it is."""
        own = max(width, height) if self.longer else min(width, height)
        if own <= self.side:
            return width, height
        if not self.longer:
            return width * self.side // own, height * self.side // own
        return max(1, round(width * self.side / own)), max(1, round(height * self.side / own))

    @property
    def move(self) -> Move:
        """How boxes and masks follow: they shrink alike."""

        def boxed(box: Box, width: int, height: int) -> Box | None:
            wide, tall = self.size(width, height)
            across, down = wide / width, tall / height
            return Box(box.x * across, box.y * down, box.width * across, box.height * down).inside(wide, tall)

        def masked(mask: np.ndarray) -> np.ndarray:
            size = self.size(*mask.shape[::-1])
            return cv2.resize(mask.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST).astype(bool)

        return Move(boxed, masked)


NETWORK_SIDE = 224  # shorter side in pixels that a ViT-B/32 reads

STORED_SIDES = (800, 400)
"""Longer sides in pixels of copies that were made smaller before they were kept: a web page's, a preview's."""

HALF_COLOUR, WHOLE_COLOUR = "compression:q75", "compression:q75-444"
"""Probes that differ in nothing but how much of the colour JPEG keeps."""

_HOW = {
    "bicubic": "Pillow's bicubic filter",
    "bilinear": "Pillow's bilinear filter",
    "lanczos": "Pillow's Lanczos filter",
    "area": "OpenCV's area average",
    "cubic-aliased": "OpenCV's cubic interpolation, which does not smooth first",
    "linear-aliased": "OpenCV's linear interpolation, which does not smooth first",
}


def _shrinking(name: str, summary: str, target: Target, resampler: str) -> Probe:
    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        tall, wide = scene.pixels.shape[:2]
        width, height = target.size(wide, tall)
        if (width, height) == (wide, tall):
            named = "longer" if target.longer else "shorter"
            told = f"the {named} side of {wide} × {tall} px is at most {target.side} px, so nothing would be shrunk"
            raise ProbeRejected("too-small", told)
        box, mask = follow(target.move, scene)
        pixels = shrunk(scene.pixels, width=width, height=height, resampler=resampler)
        facts: dict[str, str | float] = {"resampler": resampler, "width": float(width), "height": float(height)}
        return Variant(f"resampling:{name}", pixels=pixels, object_box=box, object_mask=mask, facts=facts)

    source = "what loaders do before a metric"
    return picture_probe(f"resampling:{name}", "resampling", summary, make, axis=Axis.SURFACE, source=source)


def _compressed(name: str, kept: str, *, quality: int, chroma: str = "4:2:0") -> Probe:
    return image_probe(
        name=name,
        axis=Axis.SURFACE,
        family="compression",
        summary=f"The picture is saved as JPEG of quality {quality}{kept}; it shows the same.",
        edit=lambda pixels: image_edits.jpeg(pixels, quality=quality, chroma=chroma),
        move=None,
        source="what storage does before a metric",
        default=False,
    )


_STOPS = ".。"
_ENDS = ".。!?！？…"


def toggle_stop(caption: str, language: str) -> str:
    """Take the final full stop away, or put one where the caption ends without a sign.

    >>> toggle_stop("A dog on a bench.", "en"), toggle_stop("A dog on a bench", "en")
    ('A dog on a bench', 'A dog on a bench.')
    """
    text = caption.rstrip()
    if not text:
        return caption
    if text[-1] in _STOPS and not text.endswith("..."):
        return text[:-1]
    return caption if text[-1] in _ENDS else f"{text}{'。' if language == 'ja' else '.'}"


def toggle_capital(caption: str, language: str) -> str:
    """Change the case of the first letter; German and Japanese stay: a German noun's capital is its spelling.

    So does a caption that is all capitals: one small letter in it says nothing of capitals at the beginning.

    >>> toggle_capital("A dog.", "en"), toggle_capital("a dog.", "en")
    ('a dog.', 'A dog.')
    """
    place = next((index for index, sign in enumerate(caption) if sign.isalpha()), None)
    if place is None or language in ("de", "ja") or caption.isupper() or _is_name(caption[place:]):
        return caption
    return caption[:place] + caption[place].swapcase() + caption[place + 1 :]


def double_blank(caption: str, language: str) -> str:
    """Put a second blank behind the first word; Japanese writes none.

    >>> double_blank("A dog on a bench.", "en")
    'A  dog on a bench.'
    """
    first, blank, rest = caption.partition(" ")
    return f"{first}  {rest}" if blank and first and rest.strip() and language != "ja" else caption


def _is_name(text: str) -> bool:
    """Whether the first word is written in capitals, or is *I*: its case says something."""
    word = text.split()[0].rstrip(".,;:!?")
    return word == "I" or word.startswith("I'") or (len(word) > 1 and word.isupper())


FORMS: Mapping[str, tuple[str, Callable[[str, str], str]]] = MappingProxyType(
    {
        "full-stop": ("The final full stop of the caption goes, or comes where it had none.", toggle_stop),
        "capital": ("The first letter of the caption changes its case.", toggle_capital),
        "double-blank": ("A second blank follows the first word of the caption.", double_blank),
    }
)
"""Name of a form -> what changes, and how: (caption, language) -> caption."""


def _form(name: str) -> Probe:
    summary, dress = FORMS[name]

    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        caption = dress(subject.caption, subject.language)
        if caption == subject.caption:
            raise ProbeRejected("unchanged", f"caption-form:{name} leaves {subject.caption!r} as it was")
        return Variant(f"caption-form:{name}", caption=caption)

    return caption_probe(
        f"caption-form:{name}",
        "caption-form",
        summary,
        make,
        axis=Axis.SURFACE,
        expectation=Expectation.INVARIANT,
        source="what captioners and tokenisers differ in",
        subjects=SUBJECTS,
    )


RESAMPLED = (
    *(
        _shrinking(
            name,
            f"The picture is shrunk to {NETWORK_SIDE} px on its shorter side, the longer one cut off at a whole pixel, "
            f"by {_HOW[name]}; it shows the same.",
            Target(NETWORK_SIDE),
            name,
        )
        for name in RESAMPLERS
    ),
    *(
        _shrinking(
            f"first-{side}",
            f"The picture is shrunk to {side} px on its longer side before it is scored; it shows the same.",
            Target(side, longer=True),
            "area",
        )
        for side in STORED_SIDES
    ),
)
COMPRESSED = (
    _compressed(HALF_COLOUR, "", quality=75),
    _compressed(WHOLE_COLOUR, " that keeps every colour (4:4:4)", quality=75, chroma="4:4:4"),
    _compressed("compression:q60", "", quality=60),
)
DRESSED = tuple(_form(name) for name in FORMS)
