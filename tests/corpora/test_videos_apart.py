"""A stranger's video is decoded apart, to the same bit, within limits, and its file is called by its owner's name."""

import sys
from pathlib import Path

import numpy as np
import pytest

from core.corpora import decoding_apart, video_frames
from core.corpora.decoding_apart import Limits
from core.corpora.video_container import BadVideo
from core.corpora.video_frames import Sampling, read_scaled, read_stranger
from core.errors import BadImage
from tests.corpora.footage import moving, write_frames, write_video


@pytest.mark.parametrize(("count", "side"), [(3, 512), (None, 512), (4, 40)])
def test_frames_are_the_same_apart_and_here(tmp_path: Path, count: int | None, side: int) -> None:
    path = write_video(tmp_path / "a.mp4", moving("red", 9))
    here, pixels = read_scaled(path, Sampling(count), side=side)
    there, others = read_stranger(path.read_bytes(), Sampling(count), name="mine.mp4", side=side)
    np.testing.assert_array_equal(pixels, others)
    assert pixels.shape == (count or 9, min(48, round(48 * side / 64)), min(64, side), 3)
    assert (there.frames, there.width, there.height, there.seconds, there.sha256) == (9, 64, 48, 9 / 8, here.sha256)


def test_the_servers_own_process_decodes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = write_video(tmp_path / "a.mp4", moving("red", 4)).read_bytes()

    def never(*_: object) -> None:
        raise AssertionError("decoded in the server")

    monkeypatch.setattr(video_frames, "film", never)
    assert read_stranger(data, Sampling(2), name="a.mp4", side=64)[1].shape == (2, 48, 64, 3)


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.txt", b"text", "a.txt: videos end in .mp4"),
        ("list.mp4", b"#EXTM3U\n/etc/passwd", "list.mp4: it begins like none of MP4"),
        ("../../cut.mp4", b"\0\0\0\x18ftypisom" + b"\0" * 64, "../../cut.mp4: the video is broken"),
    ],
)
def test_what_is_no_video_is_refused_by_its_owners_name_for_it(name: str, data: bytes, words: str) -> None:
    with pytest.raises(BadVideo) as failed:
        read_stranger(data, Sampling(2), name=name, side=64)
    assert str(failed.value).startswith(words)
    assert "upload." not in str(failed.value)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux")
def test_a_video_that_wants_more_memory_than_it_may_is_refused_and_the_next_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = write_video(tmp_path / "large.mp4", moving("red", 2, size=(2048, 1536))).read_bytes()
    small = write_video(tmp_path / "small.mp4", moving("red", 2)).read_bytes()
    monkeypatch.setattr(video_frames, "STRANGER", Limits(memory_mb=40, seconds=60))
    with pytest.raises(BadImage, match=r"^large\.mp4: .*(40 MB|OpenCV lacks|each time|is broken)"):
        read_stranger(large, Sampling(2), name="large.mp4", side=64)
    monkeypatch.undo()
    assert read_stranger(small, Sampling(2), name="small.mp4", side=64)[1].shape == (2, 48, 64, 3)


def test_a_video_that_wants_more_time_than_it_may_is_refused_and_the_next_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = write_video(tmp_path / "long.mp4", moving("red", 2) * 2500, rate=25).read_bytes()
    monkeypatch.setattr(video_frames, "STRANGER", Limits(memory_mb=1500, seconds=0.05))
    with pytest.raises(BadVideo, match=r"long\.mp4: decoding it takes more than 0\.05 s; cut it into shorter parts"):
        read_stranger(long, Sampling(2), name="long.mp4", side=64)
    monkeypatch.undo()
    assert read_stranger(long, Sampling(2), name="long.mp4", side=64)[0].frames == 5000


def test_a_video_over_which_every_process_ends_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = write_video(tmp_path / "a.mp4", moving("red", 2)).read_bytes()
    monkeypatch.setattr(decoding_apart, "_MODULE", "core.no_such_module")
    fresh = decoding_apart._Processes()
    monkeypatch.setattr(decoding_apart, "_processes", lambda _: fresh)
    with pytest.raises(BadVideo, match=r"a\.mp4: the process that decodes it ends each time; cut it into shorter"):
        read_stranger(data, Sampling(2), name="a.mp4", side=64)


def test_frames_of_several_sizes_make_no_stack(tmp_path: Path) -> None:
    folder = write_frames(tmp_path / "clip", moving("red", 2) + moving("red", 1, size=(80, 48)))
    with pytest.raises(BadVideo, match="several sizes"):
        read_scaled(folder, Sampling(3), side=64)


def test_the_limits_are_those_that_are_promised() -> None:
    assert (video_frames.STRANGER.memory_mb, video_frames.STRANGER.seconds) == (1500, 60)
    promised = (Path(video_frames.__file__).parents[2] / "docs" / "security.md").read_text(encoding="utf-8")
    assert "A video that somebody uploads is decoded in such a process too, within 1,500 MB and 60 s" in promised
