"""A story as a file: whole, escaped, with nothing from outside."""

import base64
import re
from pathlib import Path

from core.report.html import story_html
from core.stories.slide import Picture, Slide
from core.stories.story import Telling

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
