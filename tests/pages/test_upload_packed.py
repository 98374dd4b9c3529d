"""A reader's picture as the Probe lab holds it: packed, and to the bit what was decoded."""

from io import BytesIO

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

from core.corpora.images import pixel_hash
from pages.views.probe_lab.lab_state import Upload
from siege.pictures import rough_png

PICTURES = arrays(np.uint8, st.tuples(st.integers(1, 40), st.integers(1, 40), st.just(3)))


@given(PICTURES)
def test_what_comes_back_is_what_was_packed(pixels: np.ndarray) -> None:
    upload = Upload.of("x.png", pixels, ("smaller",))
    assert upload.pixels().dtype == np.uint8
    np.testing.assert_array_equal(upload.pixels(), pixels)
    assert (upload.item.height, upload.item.width) == pixels.shape[:2]
    assert upload.size == pixels.nbytes
    assert upload.key == pixel_hash(pixels)[:32]
    assert upload.notes == ("smaller",)


def test_a_picture_takes_less_than_its_pixels() -> None:

    pixels = np.asarray(Image.open(BytesIO(rough_png(1))).convert("RGB"))
    assert len(Upload.of("x.png", pixels, ()).packed) < pixels.nbytes / 2
