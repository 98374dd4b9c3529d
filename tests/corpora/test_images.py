"""Photographs of every kind and condition: upright RGB, or one sentence that helps."""

import hashlib
import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image, ImageOps

from core.corpora import image_header
from core.corpora.images import decode_image, encode_png, pixel_hash, read_header, read_image, require_auditable
from core.corpora.item_pictures import read_item
from core.corpora.schema import Item
from core.errors import BadImage, InvalidInput

Encode = Callable[..., bytes]
LOSSLESS = [("PNG", {}), ("WebP", {"lossless": True}), ("TIFF", {}), ("BMP", {})]


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def bomb(width: int, height: int) -> bytes:
    """A PNG of that size in a few kilobytes."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0))
    rows = zlib.compress(bytes((width + 7) // 8 + 1) * height, 9)
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.mark.parametrize(("kind", "options"), LOSSLESS)
def test_a_lossless_file_comes_back_bit_by_bit(
    gradient: np.ndarray, encode: Encode, kind: str, options: dict[str, object]
) -> None:
    data = encode(gradient, kind, **options)
    image = decode_image(data, name=f"a.{kind.lower()}")
    assert np.array_equal(image.pixels, gradient)
    assert image.pixels.dtype == np.uint8
    assert image.pixels.flags.c_contiguous
    assert image.pixels.flags.writeable
    assert (image.format, image.notes, image.width, image.height) == (kind, (), 80, 60)
    assert image.bytes_sha256 == hashlib.sha256(data).hexdigest()
    assert image.pixels_sha256 == pixel_hash(gradient)


@pytest.mark.parametrize("kind", ["JPEG", "GIF"])
def test_a_lossy_file_comes_back_close(gradient: np.ndarray, encode: Encode, kind: str) -> None:
    image = decode_image(encode(gradient, kind), name="upload")
    assert np.abs(image.pixels.astype(int) - gradient).mean() < 12
    assert image.notes == ()


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "TIFF", "WebP"])
def test_exif_orientation_is_applied_as_pillow_applies_it(
    gradient: np.ndarray, encode: Encode, tmp_path: Path, kind: str, orientation: int
) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = tmp_path / "a"
    path.write_bytes(encode(gradient, kind, exif=exif))
    with Image.open(path) as picture:
        expected = np.asarray(ImageOps.exif_transpose(picture).convert("RGB"))
    image = read_image(path)
    assert np.array_equal(image.pixels, expected)
    header = read_header(path)
    assert (header.format, header.width, header.height) == (kind, image.width, image.height)


@pytest.mark.parametrize("exif", [b"Exif\0\0no TIFF at all", b"Exif\0\0II*\0\xff\xff\xff\x7f"])
def test_broken_exif_leaves_the_image_as_stored_and_is_noted(gradient: np.ndarray, encode: Encode, exif: bytes) -> None:
    image = decode_image(encode(gradient, "PNG", exif=exif), name="a.png")
    assert np.array_equal(image.pixels, gradient)
    assert "EXIF data is broken" in " ".join(image.notes)


def test_alpha_is_shown_on_white_and_noted(encode: Encode) -> None:
    rgba = np.zeros((8, 8, 4), np.uint8)
    rgba[:, 4:] = (200, 100, 0, 255)
    rgba[:, 2:4] = (200, 100, 0, 51)
    image = decode_image(encode(rgba, "PNG"), name="a.png")
    assert image.pixels[0, 0].tolist() == [255, 255, 255]
    assert image.pixels[0, 3].tolist() == [244, 224, 204]  # 0.2 × colour + 0.8 × white
    assert image.pixels[0, 7].tolist() == [200, 100, 0]
    assert image.notes == ("its transparent parts are shown on white",)


def test_an_alpha_channel_that_hides_nothing_is_not_worth_a_note(gradient: np.ndarray, encode: Encode) -> None:
    opaque = np.dstack([gradient, np.full(gradient.shape[:2], 255, np.uint8)])
    image = decode_image(encode(opaque, "PNG"), name="a.png")
    assert np.array_equal(image.pixels, gradient)
    assert image.notes == ()


def test_a_transparent_palette_colour_is_white(encode: Encode) -> None:
    picture = Image.new("P", (8, 8), 1)
    picture.putpalette([0, 0, 0, 10, 20, 30])
    picture.putpixel((0, 0), 0)
    image = decode_image(encode(picture, "GIF", transparency=0), name="a.gif")
    assert image.pixels[0, 0].tolist() == [255, 255, 255]
    assert image.pixels[4, 4].tolist() == [10, 20, 30]


@pytest.mark.parametrize("mode", ["1", "L", "P", "LA", "CMYK", "YCbCr", "RGBA"])
def test_every_colour_mode_becomes_rgb(gradient: np.ndarray, encode: Encode, mode: str) -> None:
    picture = Image.fromarray(gradient).convert(mode)
    image = decode_image(encode(picture, "TIFF" if mode != "P" else "PNG"), name="upload")
    assert np.array_equal(image.pixels, np.asarray(picture.convert("RGB")))


def test_a_cmyk_jpeg_keeps_its_colours(encode: Encode) -> None:
    picture = Image.new("RGB", (16, 16), (200, 40, 90)).convert("CMYK")
    image = decode_image(encode(picture, "JPEG", quality=95), name="a.jpg")
    assert np.abs(image.pixels.astype(int) - (200, 40, 90)).max() <= 6


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_sixteen_bits_are_scaled_not_clipped(encode: Encode, kind: str) -> None:
    deep = np.linspace(0, 65535, 4096).reshape(64, 64).astype(np.uint16)
    image = decode_image(encode(deep, kind), name="upload")
    assert np.abs(image.pixels[..., 0] - deep / 257).max() <= 0.51
    assert "scaled to 8" in image.notes[0]


def test_sixteen_bit_colour_is_scaled_too() -> None:
    row = b"\0" + struct.pack(">HHH", 0x1234, 0x8000, 0xFFFF) * 8
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 16, 2, 0, 0, 0))
    data = b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(row * 8)) + chunk(b"IEND", b"")
    assert decode_image(data, name="a.png").pixels[3, 3].tolist() == [0x12, 0x80, 0xFF]


def test_floats_between_zero_and_one_are_scaled(encode: Encode) -> None:
    image = decode_image(encode(np.full((8, 8), 0.5, np.float32), "TIFF"), name="a.tiff")
    assert image.pixels[0, 0].tolist() == [128, 128, 128]


@pytest.mark.parametrize("value", [np.float32(300), np.float32(-1), np.float32("nan"), np.int32(70000)])
def test_values_without_an_agreed_brightness_are_refused(encode: Encode, value: np.generic) -> None:
    with pytest.raises(BadImage, match="no agreed brightness; save it with 8 or 16 bits"):
        decode_image(encode(np.full((8, 8), value), "TIFF"), name="a.tiff")


@pytest.mark.parametrize("kind", ["GIF", "WebP", "PNG", "TIFF"])
def test_of_several_frames_the_first_is_used_and_noted(gradient: np.ndarray, encode: Encode, kind: str) -> None:
    options = {"lossless": True} if kind == "WebP" else {}
    first, second = Image.new("RGB", (16, 16), (255, 0, 0)), Image.new("RGB", (16, 16), (0, 0, 255))
    data = encode(first, kind, save_all=True, append_images=[second], **options)
    image = decode_image(data, name="upload")
    assert image.pixels[8, 8].tolist() == [255, 0, 0]
    assert image.notes == ("it has several frames or pages; the first is used",)


def test_a_wrongly_named_file_is_read_by_its_content(gradient: np.ndarray, encode: Encode) -> None:
    image = decode_image(encode(gradient, "PNG"), name="photo.JPG")
    assert image.format == "PNG"
    assert image.notes == ("named .jpg but holds PNG; read as PNG",)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WebP"])
@pytest.mark.parametrize("side", [64, 33])
def test_a_large_image_is_scaled_to_fit(encode: Encode, kind: str, side: int) -> None:
    rows, columns = np.mgrid[0:300, 0:400]
    smooth = np.stack([rows * 255 / 299, columns * 255 / 399, rows * 0 + 90.0], axis=2).astype(np.uint8)
    image = decode_image(encode(smooth, kind, quality=95), name="upload", max_side=side)
    assert (image.height, image.width) == (round(side * 0.75), side)
    expected = np.asarray(Image.fromarray(smooth).resize((image.width, image.height), Image.Resampling.BOX))
    assert np.abs(image.pixels.astype(int) - expected).mean() < 3
    assert image.notes == (f"scaled from 400 × 300 to fit {side} px",)
    assert image.pixels_sha256 == pixel_hash(image.pixels)


def test_a_small_image_is_not_scaled_up(gradient: np.ndarray, encode: Encode) -> None:
    assert decode_image(encode(gradient, "PNG"), name="a.png", max_side=80).notes == ()


def test_a_scaled_image_is_turned_too(gradient: np.ndarray, encode: Encode) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    image = decode_image(encode(gradient, "JPEG", exif=exif), name="a.jpg", max_side=40)
    assert image.pixels.shape == (40, 30, 3)


def test_a_thread_of_an_image_keeps_one_pixel(encode: Encode) -> None:
    assert decode_image(encode(np.zeros((1, 900, 3), np.uint8), "PNG"), name="a", max_side=10).pixels.shape == (
        1,
        10,
        3,
    )


def test_one_pixel_is_an_image_but_too_small_to_audit(encode: Encode) -> None:
    image = decode_image(encode(np.full((1, 1, 3), 7, np.uint8), "PNG"), name="dot.png")
    assert image.pixels.tolist() == [[[7, 7, 7]]]
    with pytest.raises(BadImage, match=r"dot.png: 1 × 1 px is too small to audit; give an image of at least 8 px"):
        require_auditable(image.width, image.height, name="dot.png")
    require_auditable(8, 8, name="dot.png")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "the file is empty"),
        (b"\0" * 64, "not a JPEG, PNG, WebP, GIF, TIFF or BMP"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "not a JPEG"),
        (b"\0\0\0\x18ftypheic" + b"\0" * 40, "HEIC, AVIF and video files are not read; export it as JPEG"),
        (b"\x89PNG\r\n\x1a\n", "PNG header is broken"),
        (b"\xff\xd8\xff\xe0", "JPEG .*(broken|cut off)"),
        (b"GIF89a\x01", "GIF .*broken"),
        (b"II*\0\xff\xff\xff\xff", "TIFF .*broken"),
        (b"BM" + b"\xff" * 60, "BMP .*broken"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "WebP .*broken"),
    ],
)
def test_what_is_no_image_is_told_with_its_name(data: bytes, sentence: str) -> None:
    with pytest.raises(BadImage, match=f"^holiday.png: .*{sentence}"):
        decode_image(data, name="holiday.png")


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WebP", "GIF", "TIFF", "BMP"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("max_side", [None, 20])
def test_a_truncated_file_is_told(encode: Encode, kind: str, share: float, max_side: int | None) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    data = encode(noise, kind)
    with pytest.raises(BadImage, match=r"a\.img: .*(broken|cut off).*; copy or export it again"):
        decode_image(data[: int(len(data) * share)], name="a.img", max_side=max_side)


@given(st.data())
def test_no_damage_gets_past_as_another_error(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(["JPEG", "PNG", "WebP", "GIF", "TIFF", "BMP"]))
    from io import BytesIO

    buffer = BytesIO()
    Image.linear_gradient("L").resize((24, 24)).convert("RGB").save(buffer, kind)
    damaged = bytearray(buffer.getvalue())
    for _ in range(data.draw(st.integers(1, 8))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    try:
        image = decode_image(bytes(damaged), name="a", max_pixels=1_000_000)
    except BadImage:
        return
    assert image.pixels.ndim == 3
    assert image.pixels.dtype == np.uint8


@pytest.mark.parametrize("side", [7_100, 10_000, 14_000])  # under, between and over Pillow's own two limits
def test_a_decompression_bomb_is_refused_before_it_is_decoded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, side: int
) -> None:
    def load(self: object) -> None:
        raise AssertionError("decoded")

    monkeypatch.setattr("PIL.ImageFile.ImageFile.load", load)
    path = tmp_path / "bomb.png"
    path.write_bytes(bomb(side, side))
    for read in (read_image, read_header):
        with pytest.raises(BadImage, match=f"{side} × {side} = .* million pixels are over the limit of 50 million"):
            read(path)


def test_a_webp_bomb_is_refused_too(gradient: np.ndarray, encode: Encode) -> None:
    data = bytearray(encode(gradient, "WebP", lossless=True, exif=b"Exif\0\0II*\0\x08\0\0\0\0\0"))
    assert data[12:16] == b"VP8X"
    data[24:30] = b"\xff\x3e\x00\xff\x3e\x00"  # a canvas of 16128 × 16128
    with pytest.raises(BadImage, match=r"million pixels are over the limit|header is broken"):
        decode_image(bytes(data), name="a.webp")


def test_the_pixel_cap_can_be_moved(gradient: np.ndarray, encode: Encode) -> None:
    data = encode(gradient, "PNG")
    assert decode_image(data, name="a.png", max_pixels=4800).pixels.shape == (60, 80, 3)
    with pytest.raises(BadImage, match="80 × 60"):
        decode_image(data, name="a.png", max_pixels=4799)


def test_an_oversized_file_is_refused_unread(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(image_header, "MAX_BYTES", 1000)
    path = tmp_path / "a.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(2000))
    for read in (read_image, read_header):
        with pytest.raises(BadImage, match=r"a\.png: .* MB is over the limit"):
            read(path)


def test_a_machine_without_memory_gets_a_sentence(
    monkeypatch: pytest.MonkeyPatch, gradient: np.ndarray, encode: Encode
) -> None:
    def load(self: object) -> None:
        raise MemoryError

    monkeypatch.setattr("PIL.ImageFile.ImageFile.load", load)
    with pytest.raises(BadImage, match="not enough memory to decode 80 × 60 px; scale it down"):
        decode_image(encode(gradient, "BMP"), name="a.bmp")


def test_a_missing_file_and_a_folder_are_told(tmp_path: Path) -> None:
    for read in (read_image, read_header):
        with pytest.raises(BadImage, match="no such file"):
            read(tmp_path / "gone.jpg")
        with pytest.raises(BadImage, match=r"cannot be read|is empty"):
            read(tmp_path)


def test_max_side_is_at_least_one(gradient: np.ndarray, encode: Encode) -> None:
    with pytest.raises(InvalidInput, match="max_side must be at least 1 px, got 0"):
        decode_image(encode(gradient, "PNG"), name="a.png", max_side=0)


@given(hnp.arrays(np.uint8, st.tuples(st.integers(1, 12), st.integers(1, 12), st.just(3))))
def test_png_and_back_is_the_same_array(pixels: np.ndarray) -> None:
    assert np.array_equal(decode_image(encode_png(pixels), name="a.png").pixels, pixels)


@pytest.mark.parametrize("pixels", [np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3)), np.zeros((4, 4, 4), np.uint8)])
def test_only_uint8_rgb_is_encoded(pixels: np.ndarray) -> None:
    with pytest.raises(InvalidInput, match=r"uint8 RGB of shape \[H, W, 3\]"):
        encode_png(pixels)


def test_the_pixel_hash_sees_shape_and_order() -> None:
    flat = np.arange(24, dtype=np.uint8)
    hashes = {pixel_hash(flat.reshape(shape)) for shape in [(2, 4, 3), (4, 2, 3), (1, 8, 3), (24,)]}
    assert len(hashes) == 4
    assert pixel_hash(np.asfortranarray(flat.reshape(2, 4, 3))) == pixel_hash(flat.reshape(2, 4, 3))
    assert pixel_hash(flat.reshape(2, 4, 3)[:, ::-1]) != pixel_hash(flat.reshape(2, 4, 3))


class TestAnItem:
    @pytest.fixture
    def item(self, tmp_path: Path, gradient: np.ndarray) -> Item:
        path = tmp_path / "a.png"
        path.write_bytes(encode_png(gradient))
        image = read_image(path)
        hashes = {"bytes_sha256": image.bytes_sha256, "pixels_sha256": image.pixels_sha256}
        return Item("a", "folder", path, 80, 60, **hashes)

    def test_is_read_at_full_size(self, item: Item, gradient: np.ndarray) -> None:
        assert np.array_equal(read_item(item).pixels, gradient)
        assert np.array_equal(read_item(replace(item, bytes_sha256=None, pixels_sha256=None)).pixels, gradient)

    @pytest.mark.parametrize(
        ("change", "how"),
        [
            ({"width": 81}, "80 × 60 px instead of 81 × 60"),
            ({"bytes_sha256": "0"}, "its bytes have another hash"),
            ({"pixels_sha256": "0"}, "its pixels have another hash"),
        ],
    )
    def test_that_changed_since_is_told(self, item: Item, change: dict[str, object], how: str) -> None:
        with pytest.raises(BadImage, match=rf"a\.png: the file changed since .*{how}.*; restore it or load"):
            read_item(replace(item, **change))

    def test_that_vanished_is_told(self, item: Item) -> None:
        assert item.image_path is not None
        item.image_path.unlink()
        with pytest.raises(BadImage, match="no such file"):
            read_item(item)

    def test_in_memory_has_no_file(self, item: Item) -> None:
        with pytest.raises(BadImage, match="'a' lives in memory"):
            read_item(replace(item, image_path=None))
