"""A story as one file, HTML or PDF: whole, escaped, a page of 16:9 a slide."""

import base64
import re
import zlib
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from core.report.html import story_html
from core.report.story_pdf import story_pdf
from core.stories.story import Picture, Slide, Telling


def png(colour: str = "red", size: tuple[int, int] = (320, 240)) -> bytes:
    buffer = BytesIO()
    Image.new("RGB", size, colour).save(buffer, "PNG")
    return buffer.getvalue()


def slide(**changes: object) -> Slide:
    usual = {
        "title": "Upside down: frog",
        "said": ("“There is a frog.”",),
        "pictures": (Picture("a frog", "png", png()),),
        "columns": ("Edit", "conse-lite0"),
        "rows": (("Upside down", "−29.4 %"),),
        "of": "Scored in the Probe lab",
    }
    return Slide(**{**usual, **changes})  # type: ignore[arg-type]


def written(*slides: Slide, title: str = "Where it breaks") -> bytes:
    return story_pdf(Telling(title, slides, (), ()))


def pages(data: bytes) -> int:
    return len(re.findall(rb"/Type /Page\b(?!s)", data))


def letters(data: bytes) -> set[str]:
    """Letters that the file says its glyphs are: what a reader selects and searches."""
    found = set()
    for packed in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", data, flags=re.DOTALL):
        try:
            text = zlib.decompress(packed)
        except zlib.error:
            continue
        for code in re.findall(rb"^<[0-9a-f]{4}> <([0-9a-f]{4})>", text, flags=re.M | re.I):
            found.add(chr(int(code, 16)))
        for several in re.findall(rb"^<[0-9a-f]{4}> <[0-9a-f]{4}>\s*\[(.*?)\]", text, flags=re.M | re.DOTALL):
            found |= {chr(int(each, 16)) for each in re.findall(rb"<([0-9a-f]{4})>", several)}
        for first, last, begin in re.findall(rb"^<([0-9a-f]{4})> <([0-9a-f]{4})> <([0-9a-f]{4})>", text, flags=re.M):
            start = int(begin, 16)
            found |= {chr(start + step) for step in range(int(last, 16) - int(first, 16) + 1)}
    return found


def test_it_has_a_title_page_and_a_page_of_16_to_9_a_slide_with_its_picture() -> None:
    data = written(slide(), slide(pictures=()))
    assert data.startswith(b"%PDF-")
    assert pages(data) == 3
    boxes = {tuple(map(float, each.split()[2:])) for each in re.findall(rb"/MediaBox \[([^\]]+)\]", data)}
    assert {round(width / height, 3) for width, height in boxes} == {round(16 / 9, 3)}
    assert data.count(b"/Subtype /Image") >= 1


def test_its_text_can_be_selected() -> None:
    data = written(slide())
    assert b"/FontFile2" in data  # letters as letters, and not as paths or pictures
    assert set("Upsidedown") <= letters(data)


def test_a_sheet_of_16_to_9_has_a_page_of_its_own_and_its_rows_the_next() -> None:
    sheet = Picture("a sheet", "png", png(size=(1280, 720)))
    assert pages(written(slide(pictures=(sheet,)))) == 3
    assert pages(written(slide(pictures=(sheet, sheet)))) == 2


def test_many_rows_and_a_long_note_go_on_further_pages() -> None:
    rows = tuple((f"Edit {number}", "+1.0 %") for number in range(60))
    assert pages(written(slide(rows=rows))) > 3
    assert pages(written(slide(note="A long note that goes on. " * 150))) > 2


@pytest.mark.parametrize(
    "picture",
    [
        Picture("a figure", "svg", b"<svg/>"),
        Picture("gone", "png", b""),
        Picture("no picture", "jpg", b"\xff\xd8\xffx"),
    ],
)
def test_what_is_no_picture_is_named(picture: Picture) -> None:
    data = written(slide(pictures=(picture,), title="日本語 $x_1$ 🦡"))
    assert pages(data) == 2
    assert b"/Subtype /Image" not in data


def test_the_same_story_gives_the_same_bytes_and_one_without_a_slide_is_its_title() -> None:
    assert written(slide()) == written(slide())
    assert pages(written()) == 1


PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20


def test_pictures_numbers_note_and_signature_are_in_the_file(tmp_path: Path) -> None:
    one = Slide(
        "A cat <b>turned</b>",
        ("“a & b”",),
        (Picture('a "cat"', "png", PNG), Picture("gone", "jpg", b"")),
        ("Evaluator", "% change"),
        (("<i>e</i>", "−12.0 % [−14.0, −9.0], n 80"),),
        "run demo",
        "invariscope:0.1.0|sha:1",
        "pages/failures.py",
        {},
        "see\n<script>alert(1)</script>",
        "id",
        "2025-05-01T12:00:00+00:00",
    )
    text = story_html(Telling("Où <it> breaks", (one,), (), 0))
    assert base64.b64encode(PNG).decode() in text
    for said in (
        "A cat &lt;b&gt;turned",
        "“a &amp; b”",
        "−12.0 % [−14.0, −9.0], n 80",
        "invariscope:0.1.0|sha:1",
        "&lt;script&gt;alert",
        "a &quot;cat&quot;",
        "The picture is lost: gone",
        "Où &lt;it&gt; breaks",
        "1 slide.",
        "Collected 2025-05-01 12:00 UTC",
    ):
        assert said in text
    assert text.count("<script>") == 1
    assert not re.findall(r"""(?:src|href)=["'](?!data:)""", text)
    assert "default-src 'none'" in text
