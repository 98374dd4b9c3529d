"""Contact sheets: slides of 16:9 with whole captions, plain signs and as large pictures as there is room for."""

import cv2
import numpy as np
import pytest

from core.charts.contact_sheet import HEIGHT, WIDTH, Cell, Score, _font, contact_sheet, grid, wrapped

RED = np.zeros((1000, 1600, 3), np.uint8)
RED[..., 0] = 255
SCORES = tuple(Score(f"conse-lite{place} 0.547 · −18.4 %", place > 0) for place in range(3))
LONG = "A dog and a cat lie on the warm stones beside the road while two children look at them. " * 3


def cell(caption: str = "There is a cat.") -> Cell:
    return Cell(RED, "Moved to top left", caption, SCORES)


@pytest.mark.parametrize(("count", "slides"), [(0, 1), (1, 1), (2, 1), (7, 1), (15, 1), (16, 2), (31, 3)])
def test_a_sheet_is_slides_of_16_to_9_and_holds_every_picture(count: int, slides: int) -> None:
    sheet = contact_sheet([cell()] * count, title="There is a cat.", foot="Null band: conse-lite0 ±1.3 %")
    assert sheet.shape == (slides * HEIGHT, WIDTH, 3)
    assert WIDTH * 9 == HEIGHT * 16
    red = (sheet == (255, 0, 0)).all(axis=2)
    assert cv2.connectedComponents(red.astype(np.uint8))[0] - 1 == count


def test_fewer_pictures_are_larger() -> None:
    def red(count: int) -> float:
        sheet = contact_sheet([cell()] * count, title="t")
        return float((sheet == (255, 0, 0)).all(axis=2).sum() / count)

    assert red(2) > red(6) > red(15)


@pytest.mark.parametrize("text", ["There is a cat.", LONG, "x" * 500, "−2.0 % → Δ ● ○ ± “é”"])
def test_a_caption_is_written_whole(text: str) -> None:
    lines = wrapped(text, 300, _font(20))
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(_font(20).getlength(each) <= 300 for each in lines)


def test_long_captions_take_slides_and_not_letters() -> None:
    columns, rows = grid([cell(LONG * 2)] * 15, 800)
    assert columns * rows < 15
    assert contact_sheet([cell(LONG * 2)] * 15, title="t").shape[0] > HEIGHT


def test_a_sheet_survives_any_script_and_length() -> None:
    odd = Cell(RED, "🦡" * 50, "x" * 10_000, (Score("مرحبا"),))
    assert contact_sheet([odd], title="\u202e 日本語 " * 500).shape == (HEIGHT, WIDTH, 3)
