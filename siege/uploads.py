"""Hostile pictures as a stranger's upload in the Probe lab."""

from functools import partial

from core.corpora.image_header import decode_image
from core.corpora.images import decode_stranger
from core.errors import BadImage
from siege import endpoint
from siege.picture_files import hostile, plain
from siege.pictures import sound
from siege.trials import Finding, Tally

LAB_SIDE = 1024
"""Longest side, in px, to which the Probe lab scales."""

EVERY = 25
"""Trials between two looks at whether a good picture is still read as ever."""


def run(tally: Tally, seed: int, *, quick: bool) -> None:
    """Upload every hostile picture."""
    good = plain("JPEG", 200)
    expected = decode_image(good, name="good").pixels.tobytes()
    for number, (name, make) in enumerate(hostile(seed, quick=quick)):
        tally.attempt(f"upload of a {name}", partial(_uploaded, make(), name))
        if number % EVERY == 0:
            tally.attempt(f"a good picture after {name}", partial(_as_ever, good, expected))
    endpoint.run(tally)


def _uploaded(data: bytes, name: str) -> None:
    sound(decode_stranger(data, name=name, max_side=LAB_SIDE))


def _as_ever(good: bytes, expected: bytes) -> None:
    try:
        found = decode_stranger(good, name="good").pixels.tobytes()
    except BadImage as error:
        raise Finding("lost", f"a good picture is refused: {error}") from error
    if found != expected:
        raise Finding("lost", "a good picture has other pixels than before")
