"""A day's folder: bounded, swept, and read by the digest alone."""

import os
from pathlib import Path

from pages.views.common.reader_uploads import DAY_S, DayFolder


def keys(many: int) -> list[str]:
    return [f"{number:032x}" for number in range(many)]


def test_a_file_is_there_for_a_day_and_then_gone(tmp_path: Path) -> None:
    now = [1e9]
    held, (key, other) = DayFolder(tmp_path / "day", most_mb=1, clock=lambda: now[0]), keys(2)
    held.put(key, b"picture")
    os.utime(tmp_path / "day" / key, (now[0], now[0]))
    assert DayFolder(tmp_path / "day", most_mb=1, clock=lambda: now[0]).get(key) == b"picture"
    assert (tmp_path / "day").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "day" / key).stat().st_mode & 0o777 == 0o600
    now[0] += DAY_S
    assert held.get(key) is None
    assert not (tmp_path / "day" / key).exists()
    assert held.get(other) is None


def test_the_oldest_make_room(tmp_path: Path) -> None:
    held, names = DayFolder(tmp_path, most_mb=1, most=3), keys(5)
    for age, key in zip(range(100, 0, -20), names, strict=True):
        held.put(key, b"x")
        stamp = (tmp_path / key).stat().st_mtime - age
        os.utime(tmp_path / key, (stamp, stamp))
    assert sorted(each.name for each in tmp_path.iterdir()) == names[2:]
    held.put(names[0], bytes(2**20))
    assert [each.name for each in tmp_path.iterdir()] == [names[0]]
    held.put(names[1], bytes(2**20 + 1))
    assert held.get(names[1]) is None


def test_no_other_file_is_named_or_touched(tmp_path: Path) -> None:
    (tmp_path / "day").mkdir()
    for path in (tmp_path / "secret", tmp_path / "day" / "note.txt"):
        path.write_bytes(b"kept")
    held = DayFolder(tmp_path / "day", most_mb=1, most=1)
    held.put("../secret", b"overwritten")
    held.put(keys(1)[0], b"x")
    assert held.get("../secret") is None
    assert (tmp_path / "secret").read_bytes() == (tmp_path / "day" / "note.txt").read_bytes() == b"kept"
