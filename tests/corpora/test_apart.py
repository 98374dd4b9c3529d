"""A stranger's picture is decoded apart, to the same bit, within limits; a file of the operator's where it must be."""

import threading
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

import numpy as np
import psutil
import pytest
from PIL import Image

from core.corpora import decoding_apart, images
from core.corpora.decoding_apart import Limits
from core.corpora.image_header import decode_image
from core.corpora.images import STRANGER, decode_stranger, open_bounded, read_header, read_image
from core.errors import BadImage, NotAvailable
from siege import bombs as hostile

MODES = ("1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "YCbCr", "I;16", "I", "F")
FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "GIF", "BMP")


def in_mode(mode: str, height: int = 37, width: int = 53) -> Image.Image:
    rng = np.random.default_rng(3)
    match mode:
        case "F":
            return Image.fromarray(rng.random((height, width), dtype=np.float32))
        case "I;16":
            return Image.fromarray(rng.integers(0, 65536, (height, width), dtype=np.uint16))
        case "I":
            return Image.fromarray(rng.integers(0, 65536, (height, width), dtype=np.int32))
    return Image.fromarray(rng.integers(0, 256, (height, width, 4), dtype=np.uint8)).convert(mode)


def files() -> Iterator[tuple[str, bytes]]:
    for mode in MODES:
        for kind in FORMATS:
            for options in ({}, {"transparency": 3}):
                buffer = BytesIO()
                try:
                    in_mode(mode).save(buffer, kind, **options)
                except (OSError, ValueError, TypeError, AttributeError):
                    continue  # no such file can be written
                yield f"{mode} {kind} {options or ''}", buffer.getvalue()


FILES = dict(files())


def as_pillow_shows_it(data: bytes) -> np.ndarray:
    """What a picture is, by Pillow's own conversions in one piece: alpha on white, deep grey scaled."""
    with Image.open(BytesIO(data)) as image:
        if image.mode == "F" or image.mode.startswith("I"):
            values = np.asarray(image)
            top = 1.0 if image.mode == "F" else 65535
            grey = np.rint(values.astype(np.float32) * np.float32(255 / top)).astype(np.uint8)
            return np.asarray(Image.fromarray(grey).convert("RGB"))
        if not image.has_transparency_data:
            return np.asarray(image.convert("RGB"))
        seen = image.convert("RGBA")
        page = Image.new("RGB", seen.size, "white")
        page.paste(seen, mask=seen.getchannel("A"))
        return np.asarray(page)


def test_there_are_many_kinds_of_files() -> None:
    assert len(FILES) > 40


@pytest.mark.parametrize("name", FILES)
def test_the_pixels_are_the_same_apart_here_and_by_pillow(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.corpora.image_header._STRIP", 200)  # several strips in a small picture
    here = decode_image(FILES[name], name="x")
    there = decode_stranger(FILES[name], name="x")
    assert np.array_equal(here.pixels, as_pillow_shows_it(FILES[name]))
    assert np.array_equal(there.pixels, here.pixels)
    assert (there.pixels_sha256, there.bytes_sha256) == (here.pixels_sha256, here.bytes_sha256)
    assert (there.format, there.notes) == (here.format, here.notes)
    assert there.pixels.flags.writeable
    assert there.pixels.flags.c_contiguous


@pytest.mark.parametrize(
    "data", [b"no picture", hostile.jpeg()[:300], hostile.png(20, 20)[:60], FILES["RGB WEBP "][:60]]
)
def test_what_cannot_be_read_is_the_same_sentence_apart_and_here(data: bytes) -> None:
    with pytest.raises(BadImage) as here:
        decode_image(data, name="a.png")
    with pytest.raises(BadImage) as there:
        decode_stranger(data, name="a.png")
    assert str(there.value) == str(here.value)


SMALL = Limits(memory_mb=60, seconds=30)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("RGB", lambda: hostile.png(3000, 3000)),
        ("RGBA of 16 bits", lambda: hostile.png(3000, 3000, kind=6, bits=16)),
        ("LA of 16 bits", lambda: hostile.png(3000, 3000, kind=4, bits=16)),
        ("grey of 16 bits", lambda: hostile.png(4000, 4000, kind=0, bits=16)),
    ],
)
def test_a_picture_that_wants_more_memory_than_it_may_is_refused_and_the_next_is_read(
    name: str, data: Callable[[], bytes]
) -> None:
    with pytest.raises(BadImage, match=r"not enough memory to decode|takes more than 60 MB"):
        decode_stranger(data(), name="a.png", limits=SMALL)
    assert decode_stranger(hostile.png(20, 30), name="the next").pixels.shape == (30, 20, 3)


def test_a_large_webp_is_refused_by_the_limits_of_a_stranger() -> None:
    buffer = BytesIO()
    Image.new("RGB", (7000, 7000), (9, 80, 200)).save(buffer, "WEBP", quality=1, method=0)
    with pytest.raises(BadImage, match="not enough memory to decode 7000 × 7000 px"):
        decode_stranger(buffer.getvalue(), name="a.webp", max_side=1024)


@pytest.mark.parametrize(
    "data",
    [lambda: hostile.in_scans(2500, 700), lambda: hostile.in_segments(8_000_000, 30)],
    ids=["3000 scans", "EXIF in a quarter of a million pieces"],
)
def test_a_picture_that_wants_more_time_than_it_may_is_refused_and_the_next_is_read(
    data: Callable[[], bytes],
) -> None:
    with pytest.raises(BadImage, match=r"takes more than 0\.4 s"):
        decode_stranger(data(), name="a.jpg", limits=Limits(memory_mb=500, seconds=0.4))
    assert decode_stranger(hostile.jpeg(), name="the next").pixels.shape == (48, 64, 3)


def test_a_process_that_was_killed_is_replaced() -> None:
    decode_stranger(hostile.jpeg(), name="warm")
    free = decoding_apart._processes(decoding_apart.os.getpid())._free
    for process in free:
        psutil.Process(process._process.pid).kill()
        process._process.wait()
    assert decode_stranger(hostile.jpeg(), name="a.jpg").pixels.shape == (48, 64, 3)


def test_processes_that_wait_are_ended_and_the_next_picture_starts_one() -> None:
    first = decode_stranger(hostile.png(20, 30), name="a.png")
    before = psutil.Process().children()
    decoding_apart.end_processes()
    assert len(psutil.Process().children()) < len(before)
    assert not decoding_apart._processes(decoding_apart.os.getpid())._free
    assert decode_stranger(hostile.png(20, 30), name="a.png").pixels_sha256 == first.pixels_sha256


def test_a_picture_over_which_every_process_ends_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding_apart, "_MODULE", "core.no_such_module")
    fresh = decoding_apart._Processes()
    monkeypatch.setattr(decoding_apart, "_processes", lambda _: fresh)
    with pytest.raises(BadImage, match="the process that decodes it ends each time"):
        decode_stranger(hostile.jpeg(), name="a.jpg")


def test_one_process_serves_many_pictures_and_no_more_run_than_are_allowed() -> None:
    def one(number: int, found: dict[int, int]) -> None:
        for _ in range(5):
            found[number] = decode_stranger(hostile.png(20 + number, 30), name=f"{number}.png").width

    found: dict[int, int] = {}
    threads = [threading.Thread(target=one, args=(number, found)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: 20 + number for number in range(8)}
    assert 1 <= len(decoding_apart._processes(decoding_apart.os.getpid())._free) <= decoding_apart._MOST_PROCESSES


def test_a_picture_that_waits_too_long_for_others_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding_apart, "_PATIENCE_S", 0.01)
    processes = decoding_apart._Processes()
    with processes.borrowed(), processes.borrowed():  # noqa: SIM117
        with pytest.raises(NotAvailable, match="other files are being decoded"), processes.borrowed():
            pass
    processes.close()


def test_the_limits_of_a_stranger_are_those_that_are_promised() -> None:
    assert (STRANGER.memory_mb, STRANGER.seconds) == (500, 10)
    promised = (Path(images.__file__).parents[2] / "docs" / "security.md").read_text(encoding="utf-8")
    assert "500 MB" in promised
    assert "10 s" in promised


ORDINARY = {
    "JPEG": hostile.jpeg(),
    "progressive JPEG": hostile.jpeg(progressive=True),
    "PNG": hostile.png(30, 20),
    "JPEG with EXIF": hostile.jpeg(exif=Image.Exif()),
    "WebP": FILES["RGB WEBP "],
    "BMP": FILES["RGB BMP "],
}


@pytest.mark.parametrize("name", ORDINARY)
def test_an_ordinary_file_of_the_operator_is_decoded_here(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(images, "decode_apart", None)
    monkeypatch.setattr(images, "header_apart", None)
    path = tmp_path / "a"
    path.write_bytes(ORDINARY[name])
    found = read_image(path)
    header = read_header(path)
    assert (header.width, header.height) == (found.width, found.height)


UNBOUNDED = {
    "tags": hostile.tiff(3000, 3000),
    "EXIF in pieces": hostile.in_segments(200_000, 100),
    "many scans": hostile.in_scans(200, 64),
    "junk before a segment": hostile.jpeg()[:20] + b"\0\0" + hostile.jpeg()[20:],
    "large EXIF": hostile.png(8, 8, chunks=((b"eXIf", hostile.exif(1000, 70_000)),)),
    "EXIF as text": hostile.png(8, 8, chunks=((b"tEXt", b"Raw profile type exif\0\nexif\n0\n" + b"00" * 70_000),)),
    "GIF": FILES["RGB GIF "],
}


@pytest.mark.parametrize("name", UNBOUNDED)
def test_a_file_that_its_header_does_not_bound_is_decoded_apart(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def noted(*_: object, name: str, limits: Limits, **__: object) -> None:
        assert limits == images.OPERATOR
        asked.append(name)

    monkeypatch.setattr(images, "decode_apart", noted)
    path = tmp_path / "a"
    path.write_bytes(UNBOUNDED[name])
    read_image(path)
    assert asked == [str(path)]


def test_a_header_is_read_apart_where_metadata_are_many(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(hostile.in_segments(200_000, 100))
    assert open_bounded(BytesIO(path.read_bytes()), path.stat().st_size, name="a") is None
    header = read_header(path)
    assert (header.format, header.width, header.height) == ("JPEG", 64, 48)
