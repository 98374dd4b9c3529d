"""Hostile pictures, as a stranger's upload in the Probe lab and as files of the operator's folder."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from core.corpora.decoding import DecodedImage, decode_image
from core.corpora.images import OPERATOR, check_rgb, decode_stranger, read_image
from core.errors import BadImage
from siege.picture_files import hostile, plain
from siege.trials import Finding, Tally

LAB_SIDE = 1024
"""Longest side, in px, to which the Probe lab scales."""

EVERY = 25
"""Trials between two looks at whether a good picture is still read as ever."""


def run(tally: Tally, seed: int, *, quick: bool) -> None:
    """Upload every hostile picture, and read the small ones from a folder, too."""
    good = plain("JPEG", 200)
    expected = decode_image(good, name="good").pixels.tobytes()
    with TemporaryDirectory() as folder:
        for number, (name, make) in enumerate(hostile(seed, quick=quick)):
            data = make()
            tally.attempt(f"upload of a {name}", partial(_uploaded, data, name))
            if number % 3 == 0 and len(data) < 1_000_000:
                path = Path(folder) / f"{number}.png"
                path.write_bytes(data)
                tally.attempt(f"file: {name}", partial(_read, path), most_mb=OPERATOR.memory_mb)
            if number % EVERY == 0:
                tally.attempt(f"a good picture after {name}", partial(_as_ever, good, expected))


def _uploaded(data: bytes, name: str) -> None:
    _sound(decode_stranger(data, name=name, max_side=LAB_SIDE))


def _read(path: Path) -> None:
    _sound(read_image(path))


def _sound(decoded: DecodedImage) -> None:
    """What was read is a picture that an evaluator may be given."""
    check_rgb(decoded.pixels)


def _as_ever(good: bytes, expected: bytes) -> None:
    try:
        found = decode_stranger(good, name="good").pixels.tobytes()
    except BadImage as error:
        raise Finding("lost", f"a good picture is refused: {error}") from error
    if found != expected:
        raise Finding("lost", "a good picture has other pixels than before")
