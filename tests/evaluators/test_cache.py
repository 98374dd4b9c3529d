"""The cache gives back what was stored or nothing, whatever happens to its file."""

import logging
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core.errors import InvalidInput
from core.evaluators.cache import CAPTION, IMAGE, EmbeddingCache, caption_hash

ROOT = Path(__file__).resolve().parents[2]


def vector(seed: int, size: int = 64) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=size).astype(np.float32)


def entries(count: int, *, start: int = 0, size: int = 64) -> dict[str, np.ndarray]:
    return {f"key-{index}": vector(index, size) for index in range(start, start + count)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "embeddings.sqlite"


def stored(path: Path, values: dict[str, np.ndarray]) -> None:
    cache = EmbeddingCache(path)
    cache.put_many("f", IMAGE, values)
    cache.close()


def read(path: Path, keys: list[str]) -> dict[str, np.ndarray]:
    cache = EmbeddingCache(path)
    try:
        return cache.get_many("f", IMAGE, keys)
    finally:
        cache.close()


@settings(deadline=None, max_examples=40)
@given(
    value=st.one_of(
        arrays(np.float32, st.integers(0, 5), elements=st.floats(width=32)),
        arrays(np.float64, st.just(()), elements=st.floats()),
        arrays(np.float32, (2, 3), elements=st.floats(width=32)),
    )
)
def test_every_array_comes_back_bit_by_bit(tmp_path_factory: pytest.TempPathFactory, value: np.ndarray) -> None:
    path = tmp_path_factory.mktemp("cache") / "c.sqlite"
    stored(path, {"k": value})
    back = read(path, ["k"])["k"]
    assert (back.dtype, back.shape, back.tobytes()) == (value.dtype, value.shape, value.tobytes())


def test_entries_survive_the_process_and_are_keyed_on_all_three_parts(path: Path) -> None:
    stored(path, entries(1200))
    cache = EmbeddingCache(path)
    found = cache.get_many("f", IMAGE, [f"key-{index}" for index in range(1300)])
    assert len(found) == 1200
    assert all(np.array_equal(found[key], value) for key, value in entries(1200).items())
    assert cache.get_many("other", IMAGE, ["key-1"]) == {}
    assert cache.get_many("f", CAPTION, ["key-1"]) == {}
    cache.close()


def test_a_stored_entry_cannot_be_changed_by_its_reader(path: Path) -> None:
    cache = EmbeddingCache(path)
    mine = vector(1)
    cache.put_many("f", IMAGE, {"k": mine})
    mine[0] = 99
    kept = cache.get_many("f", IMAGE, ["k"])["k"]
    assert kept[0] != 99
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 1
    cache.close()


def test_what_a_killed_process_had_flushed_is_there(path: Path) -> None:
    code = f"""
import numpy as np, time
from pathlib import Path
from core.evaluators.cache import EmbeddingCache
cache = EmbeddingCache(Path({str(path)!r}))
for index in range(10_000):
    cache.put_many("f", "image", {{f"key-{{index}}": np.full(64, index, np.float32)}})
    cache.flush()
    print(index, flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) >= 30:
            break
    os.kill(process.pid, signal.SIGKILL)
    process.stdout.close()
    process.wait()
    found = read(path, [f"key-{index}" for index in range(31)])
    assert len(found) == 31
    assert all(np.all(value == int(key.split("-")[1])) for key, value in found.items())


def test_a_flipped_bit_is_a_missing_entry_that_can_be_stored_again(path: Path) -> None:
    stored(path, entries(3))
    with sqlite3.connect(path) as disk:
        payload = bytearray(disk.execute("select payload from entries where key = 'key-1'").fetchone()[0])
        payload[-3] ^= 1
        disk.execute("update entries set payload = ? where key = 'key-1'", (bytes(payload),))
        disk.execute("update entries set payload = ? where key = 'key-2'", (b"",))
    disk.close()
    assert set(read(path, ["key-0", "key-1", "key-2"])) == {"key-0"}
    stored(path, entries(3))
    assert set(read(path, ["key-0", "key-1", "key-2"])) == {"key-0", "key-1", "key-2"}


def test_an_entry_under_the_wrong_key_is_not_believed(path: Path) -> None:
    stored(path, entries(2))
    with sqlite3.connect(path) as disk:
        disk.execute("delete from entries where key = 'key-0'")
        disk.execute("update entries set key = 'key-0' where key = 'key-1'")
    disk.close()
    assert read(path, ["key-0"]) == {}


@pytest.mark.parametrize("damage", [b"", b"no database at all" * 400, "middle"])
def test_a_damaged_file_is_started_over(path: Path, damage: bytes | str, caplog: pytest.LogCaptureFixture) -> None:
    stored(path, entries(200))
    whole = path.read_bytes()
    path.write_bytes(damage if isinstance(damage, bytes) else whole[:4096] + os.urandom(4096) + whole[8192:])
    with caplog.at_level(logging.WARNING):
        read(path, ["key-0"])
        stored(path, entries(200))
    assert len(read(path, list(entries(200)))) == 200


def test_the_file_never_grows_past_its_limit_and_keeps_what_was_used_last(path: Path) -> None:
    cache = EmbeddingCache(path, max_mb=1, memory_mb=0.01)
    cache.put_many("f", IMAGE, {"favourite": vector(0, 512)})
    for start in range(0, 3000, 100):
        cache.put_many("f", IMAGE, entries(100, start=start, size=512))
        assert "favourite" in cache.get_many("f", IMAGE, ["favourite"])
        cache.flush()
    cache.close()
    found = read(path, ["favourite", "key-2999", "key-0"])
    assert set(found) == {"favourite", "key-2999"}
    assert path.stat().st_size < 2 * 2**20


def test_memory_never_holds_more_than_its_limit() -> None:
    cache = EmbeddingCache(None, memory_mb=0.1)
    cache.put_many("f", IMAGE, entries(1000, size=256))
    found = cache.get_many("f", IMAGE, list(entries(1000)))
    assert 0 < len(found) <= 0.1 * 2**20 / 1024
    assert "key-999" in found


def test_a_place_that_cannot_be_written_is_said_once_and_work_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    cache = EmbeddingCache(tmp_path / "file" / "c.sqlite")
    with caplog.at_level(logging.WARNING):
        for index in range(3):
            cache.put_many("f", IMAGE, {str(index): vector(index)})
            cache.flush()
    assert set(cache.get_many("f", IMAGE, ["0", "1", "2"])) == {"0", "1", "2"}
    assert cache.problem is not None
    assert "work goes on without it" in cache.problem
    assert len(caplog.records) == 1
    cache.close()


def test_a_full_disk_stops_the_storing_and_nothing_else(small_disk: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache = EmbeddingCache(small_disk / "c.sqlite")
    with caplog.at_level(logging.WARNING):
        for start in range(0, 4000, 500):
            cache.put_many("f", IMAGE, entries(500, start=start, size=512))
            cache.flush()
    assert cache.problem is not None
    assert "full" in cache.problem
    assert len(caplog.records) == 1
    assert len(cache.get_many("f", IMAGE, list(entries(4000)))) == 4000
    cache.close()


def test_eight_threads_share_one_cache(path: Path) -> None:
    cache = EmbeddingCache(path, memory_mb=0.01)

    def work(worker: int) -> bool:
        for index in range(20):
            cache.put_many("f", IMAGE, {f"{worker}-{index}": vector(worker * 100 + index)})
            cache.flush()
            found = cache.get_many("f", IMAGE, [f"{worker}-{earlier}" for earlier in range(index + 1)])
            if any(
                not np.array_equal(found[f"{worker}-{earlier}"], vector(worker * 100 + earlier))
                for earlier in range(index + 1)
            ):
                return False
        return True

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(work, range(8)))
    cache.close()


def _fill(path: Path, worker: int) -> None:
    cache = EmbeddingCache(path)
    for index in range(20):
        cache.put_many("f", IMAGE, {f"{worker}-{index}": vector(worker * 100 + index)})
        cache.flush()
        time.sleep(0.001)
    assert cache.problem is None
    cache.close()


def test_processes_share_one_file(path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_fill, args=(path, worker)) for worker in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    found = read(path, [f"{worker}-{index}" for worker in range(3) for index in range(20)])
    assert len(found) == 60


def test_limits_and_types_are_checked() -> None:
    with pytest.raises(InvalidInput, match="max_mb=0"):
        EmbeddingCache(None, 0)
    cache = EmbeddingCache(Path("unused.sqlite"))
    with pytest.raises(InvalidInput, match="float32 and float64 arrays, got int64"):
        cache.put_many("f", IMAGE, {"k": np.arange(3)})


def test_captions_of_any_text_have_a_hash() -> None:
    texts = ["", "a", "A", "עברית", "👩‍🚀", "\ud800", "x" * 10_000]
    assert len({caption_hash(text) for text in texts}) == len(texts)
