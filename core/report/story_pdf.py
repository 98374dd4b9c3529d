"""A story as a PDF: a page of 16:9 a slide, whose text can be selected and searched."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image, UnidentifiedImageError

from core.charts.spec import INK, NEUTRAL
from core.charts.still import ONE_AT_A_TIME
from core.stories.story import Picture, Slide, Telling

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

WIDTH, HEIGHT = 13.333, 7.5  # Of a page, in inches
_SIDE = 0.05  # margin, as a share of the width
_TOP, _BOTTOM = 0.82, 0.06  # of what stands below the title, as shares of the height
_SEEN = 0.4  # height of the pictures, as a share, where words stand below them
_WIDE = 1.6  # width over height of a picture that takes a page of its own: a slide or a chart, whose words are small
_MOST_PX = 1600  # longest side of a picture
_STYLE: Any = {"pdf.fonttype": 42, "font.family": "sans-serif", "text.parse_math": False}


@dataclass(frozen=True, slots=True)
class _Line:
    """A line below the pictures: words, or cells of a row of numbers; its size in points."""

    cells: tuple[str, ...]
    size: float
    colour: str = INK
    bold: bool = False

    @property
    def height(self) -> float:
        """As a share of the page's height."""
        return 1.45 * self.size / 72 / HEIGHT


def story_pdf(story: Telling) -> bytes:
    """Write a story: a page with its title, then a page a slide, and further ones where its words need them. Returns a
    PDF in the letters of DejaVu Sans; a letter that it lacks is a box. The same story gives the same bytes."""
    import matplotlib as mpl
    from matplotlib.backends.backend_pdf import PdfPages

    buffer = BytesIO()
    with ONE_AT_A_TIME, mpl.rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")
        with PdfPages(buffer, metadata={"Title": story.title, "CreationDate": None}) as pages:
            pages.savefig(_first(story))
            for number, slide in enumerate(story.slides, start=1):
                for drawn in _pages(slide, number):
                    pages.savefig(drawn)
    return buffer.getvalue()


def _page() -> "Canvas":
    from matplotlib.figure import Figure as Canvas

    return Canvas(figsize=(WIDTH, HEIGHT))


def _first(story: Telling) -> "Canvas":
    drawn = _page()
    many = f"{len(story.slides)} slide{'' if len(story.slides) == 1 else 's'}"
    drawn.text(_SIDE, 0.55, "\n".join(wrap(story.title, 44)), fontsize=38, fontweight="bold", color=INK, va="bottom")
    drawn.text(_SIDE, 0.5, f"{many}, each as it was when it was collected", fontsize=18, color=NEUTRAL, va="top")
    return drawn


def _pages(slide: Slide, number: int) -> Iterator["Canvas"]:
    lines = list(_lines(slide))
    pictures = [each for each in map(_pixels, slide.pictures) if each is not None]
    first = True
    while first or lines:
        drawn = _page()
        title = f"{number}. {slide.title}" + ("" if first else " (continued)")
        drawn.text(_SIDE, 0.94, "\n".join(wrap(title, 62)[:2]), fontsize=25, fontweight="bold", color=INK, va="top")
        top = _TOP
        if first and pictures:
            alone = not lines or (len(pictures) == 1 and pictures[0].shape[1] >= _WIDE * pictures[0].shape[0])
            seen = _TOP - _BOTTOM if alone else _SEEN
            _show(drawn, pictures, top - seen, seen)
            top -= seen + 0.03
        else:
            alone = False
        lines = lines if alone else lines[_write(drawn, lines, top) :]
        first = False
        yield drawn


def _write(drawn: "Canvas", lines: Sequence[_Line], top: float) -> int:
    """Write the lines that there is room for below ``top``; return how many these are."""
    for place, line in enumerate(lines):
        if top - line.height < _BOTTOM and place:
            return place
        look: dict[str, Any] = {"fontsize": line.size, "color": line.colour, "va": "top"}
        for column, cell in enumerate(line.cells):
            at = _SIDE if column == 0 else 0.4 + (0.6 - _SIDE) * column / (len(line.cells) - 1)
            weight, side = "bold" if line.bold else "normal", "right" if column else "left"
            drawn.text(at, top, cell, fontweight=weight, ha=side, **look)
        top -= line.height
    return len(lines)


def _lines(slide: Slide) -> Iterator[_Line]:
    for paragraph in slide.note.splitlines():
        yield from (_Line((each,), 16, bold=True) for each in wrap(paragraph, 100) or [""])
    for sentence in slide.said:
        yield from (_Line((each,), 14) for each in wrap(sentence, 120))
    for alt in (each.alt for each in slide.pictures if _pixels(each) is None):
        yield from (_Line((each,), 12, NEUTRAL) for each in wrap(f"Not in this file: {alt}", 140))
    if slide.rows:
        size = 13 if len(slide.columns) < 6 else 10
        yield _Line(slide.columns, size, bold=True)
        yield from (_Line(row, size) for row in slide.rows)
    when = f"Collected {slide.when}" if slide.when else ""
    for told in (". ".join(filter(None, (slide.of, when))), *slide.signature.splitlines()):
        yield from (_Line((each,), 8.5, NEUTRAL) for each in wrap(told, 190))


def _pixels(picture: Picture) -> np.ndarray | None:
    """The pixels of a picture, uint8 RGB; None of a drawing (SVG), and of what is lost or cannot be read."""
    if picture.kind == "svg" or not picture.data:
        return None
    try:
        with Image.open(BytesIO(picture.data)) as opened:
            opened.thumbnail((_MOST_PX, _MOST_PX))
            return np.asarray(opened.convert("RGB"))
    except (OSError, ValueError, SyntaxError, UnidentifiedImageError, Image.DecompressionBombError):
        return None


def _show(drawn: "Canvas", pictures: Sequence[np.ndarray], bottom: float, height: float) -> None:
    """Draw pictures beside each other, each as wide as its shape asks for."""
    shapes = [each.shape[1] / each.shape[0] for each in pictures]
    room, gap = 1 - 2 * _SIDE, 0.015
    share = min(height, (room - gap * (len(shapes) - 1)) / sum(shapes) * WIDTH / HEIGHT)
    left = _SIDE
    for pixels, shape in zip(pictures, shapes, strict=True):
        wide = share * shape * HEIGHT / WIDTH
        place = drawn.add_axes((left, bottom + height - share, wide, share))
        place.imshow(pixels, interpolation="antialiased")
        place.set_axis_off()
        left += wide + gap
