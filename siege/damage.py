"""What happens to files: a bit turns, the end is missing, a file is gone, empty, doubled, or another one."""

import random
from collections.abc import Callable
from pathlib import Path

Damage = Callable[[Path, random.Random], None]


def flip(path: Path, rng: random.Random) -> None:
    """Turn one bit."""
    data = bytearray(path.read_bytes())
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def cut(path: Path, rng: random.Random) -> None:
    """Take the end away, never just between two lines: a log that ends there is one that is whole but shorter."""
    data = path.read_bytes()
    end = rng.randrange(3, len(data))
    while data[end - 1 : end + 1].count(b"\n") and end > 1:
        end -= 1
    path.write_bytes(data[:end])


def blot(path: Path, rng: random.Random) -> None:
    """Zero a block, as a lost sector reads."""
    data = bytearray(path.read_bytes())
    start = rng.randrange(len(data))
    end = min(start + 512, len(data))
    data[start:end] = bytes(end - start)
    path.write_bytes(data)


def double(path: Path, rng: random.Random) -> None:
    """Append the file to itself."""
    path.write_bytes(path.read_bytes() * 2)


def append(path: Path, rng: random.Random) -> None:
    """Append bytes that mean nothing."""
    path.write_bytes(path.read_bytes() + rng.randbytes(100))


def empty(path: Path, rng: random.Random) -> None:
    """Leave nothing in it."""
    path.write_bytes(b"")


def remove(path: Path, rng: random.Random) -> None:
    """Take it away."""
    path.unlink()


def swap(path: Path, rng: random.Random) -> None:
    """Change it for the file beside it that comes next by name, or for bytes that mean nothing where it is alone."""
    others = [each for each in sorted(path.parent.iterdir()) if each.is_file() and each != path and each.stat().st_size]
    if not others:
        path.write_bytes(rng.randbytes(path.stat().st_size))
        return
    other = others[rng.randrange(len(others))]
    mine, its = path.read_bytes(), other.read_bytes()
    path.write_bytes(its)
    other.write_bytes(mine)


DAMAGES: dict[str, Damage] = {each.__name__: each for each in (flip, cut, blot, double, append, empty, remove, swap)}
