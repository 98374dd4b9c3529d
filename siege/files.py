"""Hostile pictures as files of the operator's own folder, which may take more memory than a stranger's."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from core.corpora.images import OPERATOR, read_image
from siege.picture_files import hostile
from siege.pictures import sound
from siege.trials import Tally

LARGEST = 1_000_000
"""Bytes of a file that is tried; larger ones are tried as uploads."""


def run(tally: Tally, seed: int, *, quick: bool) -> None:
    """Read every third of the small ones from a folder."""
    tally.limit_mb = OPERATOR.memory_mb
    with TemporaryDirectory() as folder:
        for number, (name, make) in enumerate(hostile(seed, quick=quick)):
            if number % 3 == 0 and len(data := make()) < LARGEST:
                path = Path(folder) / f"{number}.png"
                path.write_bytes(data)
                tally.attempt(f"file: {name}", partial(_read, path))


def _read(path: Path) -> None:
    sound(read_image(path))
