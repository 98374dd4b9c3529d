"""What of a log counts and what is said of the rest: by file and line, however often and wherever it is read on."""

from pathlib import Path

import pytest

from core.errors import StoreError
from core.store.log import Log, NewerRow, Replay, Row, encode


class Sum:
    """Adds up ``n``; knows rows of kind ``add`` alone."""

    def __init__(self) -> None:
        self.total = 0

    def take(self, row: Row) -> None:
        if row["row"] != "add":
            raise NewerRow(row["row"])
        self.total += int(row["n"])


def replayed(data: bytes, folder: Path) -> tuple[int, Replay]:
    (folder / "log.jsonl").write_bytes(data)
    kept = Sum()
    found = Replay(Log(folder / "log.jsonl"), kept.take)
    found.refresh()
    return kept.total, found


WHOLE = b"".join(encode({"row": "add", "n": n}) for n in (1, 2, 4))
SECOND = encode({"row": "add", "n": 2})

CASES = {
    "whole": (WHOLE, 7, [], True, ""),
    "last line end missing": (WHOLE[:-1], 7, [], True, ""),
    "cut": (WHOLE[:-9], 3, ["line 3: the last row was cut in the middle"], True, ""),
    "cut and written on": (WHOLE[:-9] + b"\n" + SECOND, 5, ["line 3: cut or damaged"], False, ""),
    "damaged": (WHOLE.replace(b'"n":2', b'"n":3'), 5, ["line 2: cut or damaged"], False, ""),
    "strange": (WHOLE + encode({"row": "add", "n": "x"}) + SECOND, 9, ["line 4: such rows do not fit"], False, ""),
    "newer": (SECOND + encode({"row": "take", "n": 1}), 2, ["line 2: written by a newer"], True, "newer Invariscope"),
    "empty": (b"", 0, ["is empty or gone"], True, "is empty or gone"),
    "first row cut": (SECOND[:9], 0, ["line 1: the last row was cut"], True, ""),
}


@pytest.mark.parametrize("case", CASES)
def test_what_does_not_count_is_told_by_file_and_line(case: str, tmp_path: Path) -> None:
    data, total, said, whole, refused = CASES[case]
    counted, found = replayed(data, tmp_path)
    assert counted == total
    assert [part in sentence for part, sentence in zip(said, found.told(), strict=True)] == [True] * len(said)
    assert all("log.jsonl" in sentence for sentence in found.told())
    assert found.lost is not whole
    if refused:
        with pytest.raises(StoreError, match=refused):
            found.check()
    else:
        found.check()


@pytest.mark.parametrize("place", range(0, len(WHOLE) + 1, 7))
def test_a_log_that_is_read_on_tells_the_same_lines_as_one_that_is_read_at_once(place: int, tmp_path: Path) -> None:
    whole = WHOLE + encode({"row": "new"}) + b"{}\n" + SECOND + encode({"row": "add"})
    total, once = replayed(whole, tmp_path)
    kept = Sum()
    found = Replay(once.log, kept.take)
    once.log.path.write_bytes(whole[:place])
    found.refresh()
    once.log.path.write_bytes(whole)
    found.refresh()
    assert (kept.total, found.told()) == (total, once.told())


def test_a_log_that_nobody_began_is_no_loss(tmp_path: Path) -> None:
    found = Replay(Log(tmp_path / "log.jsonl"), Sum().take, begun=False)
    found.refresh()
    found.check()
    assert found.told() == ()
