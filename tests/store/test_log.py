import contextlib
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import StoreError
from core.store.log import Log, NewerRow, Replay, Row, decode, encode

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
ROWS = st.lists(st.dictionaries(st.text(max_size=8), VALUES, min_size=1, max_size=4), min_size=1, max_size=5)


def written(path: Path, rows: list[dict]) -> Log:
    log = Log(path)
    for row in rows:
        with log.writing() as writer:
            writer.append([row])
    return log


@given(row=st.dictionaries(st.text(max_size=8), VALUES, min_size=1, max_size=4))
def test_a_row_comes_back_as_it_was(row: dict) -> None:
    line = encode(row)
    assert line.count(b"\n") == 1
    assert decode(line[:-1]) == {**row, "crc": row["crc"]} if "crc" in row else decode(line[:-1]) == row


@given(row=st.dictionaries(st.text(max_size=8), VALUES, min_size=1, max_size=4), data=st.data())
def test_a_changed_byte_is_noticed(row: dict, data: st.DataObject) -> None:
    line = bytearray(encode(row)[:-1])
    place = data.draw(st.integers(0, len(line) - 1))
    line[place] ^= data.draw(st.integers(1, 255))
    assert decode(bytes(line)) is None


@settings(max_examples=40, deadline=None)
@given(rows=ROWS, data=st.data())
def test_cutting_at_any_byte_loses_only_the_cut_row_and_writing_goes_on(rows: list[dict], data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        log = written(Path(folder) / "log.jsonl", rows)
        whole = log.path.read_bytes()
        keep = data.draw(st.integers(0, len(whole)))
        log.path.write_bytes(whole[:keep])
        ends = [index for index, byte in enumerate(whole) if byte == 10]  # a row is whole without its line end
        complete = sum(end <= keep for end in ends)
        chunk = log.read()
        assert list(chunk.rows) == rows[:complete]
        assert (chunk.cut > 0) == (keep not in (0, *ends, *(end + 1 for end in ends)))
        with log.writing() as writer:
            writer.append([{"row": "next"}])
        again = log.read()
        assert list(again.rows) == [*rows[:complete], {"row": "next"}]
        assert len(again.damaged) == (chunk.cut > 0)
        assert log.read(chunk.end).rows == ({"row": "next"},)


def test_a_row_in_the_middle_that_was_damaged_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    log = written(tmp_path / "log.jsonl", [{"n": 1}, {"n": 2}, {"n": 3}])
    log.path.write_bytes(log.path.read_bytes().replace(b'"n":2', b'"n":7'))
    chunk = log.read()
    assert [row["n"] for row in chunk.rows] == [1, 3]
    assert chunk.damaged == (2,)


def test_a_log_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert Log(tmp_path / "log.jsonl").read().rows == ()


def test_threads_and_several_holders_write_every_row_once(tmp_path: Path) -> None:
    def work(name: int) -> None:
        log = Log(tmp_path / "log.jsonl")
        for number in range(20):
            with log.writing() as writer:
                writer.append([{"who": name, "n": number}])

    threads = [threading.Thread(target=work, args=(name,)) for name in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    chunk = Log(tmp_path / "log.jsonl").read()
    assert not chunk.damaged
    assert sorted((row["who"], row["n"]) for row in chunk.rows) == [(a, b) for a in range(6) for b in range(20)]


def test_a_full_disk_is_one_sentence_and_takes_back_what_it_could_not_finish(small_disk: Path) -> None:
    log = written(small_disk / "log.jsonl", [{"n": 1}])
    filler = small_disk / "filler"
    with contextlib.suppress(OSError):
        filler.write_bytes(b"x" * 2**21)
    with log.writing() as writer, pytest.raises(StoreError, match="disk is full"):
        writer.append([{"text": "y" * 100_000}])
    assert log.read().rows == ({"n": 1},)
    assert log.read().cut == 0
    filler.unlink()
    with log.writing() as writer:
        writer.append([{"n": 2}])
    assert [row["n"] for row in log.read().rows] == [1, 2]


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    log = Log(tmp_path / "file" / "log.jsonl")
    with pytest.raises(StoreError, match="cannot be written"), log.writing():
        pass


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
