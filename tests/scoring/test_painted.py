from base64 import b64encode
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from core.errors import BadImage, InvalidInput
from core.scoring.workbench import MOST_MASK_BYTES, at_size, read_painted

SHOWN = (60, 80)


def address(pixels: np.ndarray, kind: str = "PNG", media: str = "png") -> str:
    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, kind)
    return f"data:image/{media};base64,{b64encode(buffer.getvalue()).decode()}"


def white(mask: np.ndarray) -> np.ndarray:
    return (mask[..., None] * np.full(3, 255)).astype(np.uint8)


@pytest.fixture
def before() -> np.ndarray:
    """A rough mask three times as large as it is shown: what it loses on its way to the browser would be seen."""
    mask = np.zeros((180, 240), bool)
    mask[30:120, 40:150] = np.random.default_rng(0).random((90, 110)) > 0.4
    return mask


def test_what_was_not_painted_over_stays_as_it_was_to_the_pixel(before: np.ndarray) -> None:
    shown = at_size(before, SHOWN)
    painted = shown.copy()
    painted[50:58, 5:15] = True
    found = read_painted(address(white(painted)), before=before, shown=SHOWN)
    assert found[152:172, 18:42].all()
    assert (found[:140] == before[:140]).all()


def test_the_eraser_takes_away_and_nothing_else_moves(before: np.ndarray) -> None:
    shown = at_size(before, SHOWN)
    erased = shown.copy()
    erased[:, :30] = False
    found = read_painted(address(white(erased)), before=before, shown=SHOWN)
    assert found[:, 95:].sum() == before[:, 95:].sum()
    assert found[:, :80].sum() < 0.6 * before[:, :80].sum()


def test_the_soft_edge_of_a_brush_is_cut_at_its_half() -> None:
    grey = np.zeros((*SHOWN, 3), np.uint8)
    grey[10, 10:13] = [[127] * 3, [128] * 3, [255] * 3]
    found = read_painted(address(grey), before=np.zeros(SHOWN, bool), shown=SHOWN)
    assert found[10, 10:13].tolist() == [False, True, True]
    assert found.sum() == 2


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ("javascript:alert(1)", BadImage),
        ("data:image/svg+xml;base64,PHN2Zz4=", BadImage),
        ("data:image/png;base64,!!!", BadImage),
        ("data:image/png;base64,AAAA", BadImage),
        ("data:image/png;base64," + "A" * (MOST_MASK_BYTES * 2), BadImage),
        (address(np.full((600, 800, 3), 255, np.uint8)), BadImage),
        (address(np.full((60, 40, 3), 255, np.uint8)), InvalidInput),
        (address(np.zeros((*SHOWN, 3), np.uint8)), InvalidInput),
    ],
    ids=["a script", "another kind", "no base64", "no picture", "too long", "too many pixels", "another size", "empty"],
)
def test_what_cannot_be_a_mask_painted_here_is_refused_in_a_sentence(given: str, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"mask|picture|image"):
        read_painted(given, before=np.zeros(SHOWN, bool), shown=SHOWN)
