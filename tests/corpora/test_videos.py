"""Videos from outside: which frames come out, and what is refused before or while they are decoded."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from core.corpora import video_frames
from core.corpora.video_folder import read_video_folder
from core.corpora.video_frames import Sampling, find_videos, open_video, read_frames
from core.errors import BadCorpus, BadImage, InvalidInput
from tests.corpora.footage import moving, write_frames, write_video


def left_edges(frames: list[np.ndarray]) -> list[int]:
    """Where the red square begins in each frame."""
    return [int(np.flatnonzero((each[:, :, 0].astype(int) - each[:, :, 1]).max(axis=0) > 80)[0]) for each in frames]


@pytest.mark.parametrize("name", ["a.mp4", "a.avi"])
def test_the_frames_of_a_file_come_in_order_as_rgb(tmp_path: Path, name: str) -> None:
    made = moving("red", 9)
    footage = open_video(write_video(tmp_path / name, made))
    assert (footage.frames, footage.width, footage.height, footage.seconds) == (9, 64, 48, 9 / 8)
    found = list(read_frames(footage, Sampling().places(footage.frames)))
    assert len(found) == 9
    for frame, wanted in zip(found, made, strict=True):
        assert frame.dtype == np.uint8
        assert np.abs(frame.astype(int) - wanted).mean() < 8  # the codec loses a little
    edges = left_edges(found)
    assert edges == sorted(edges)
    assert edges[-1] - edges[0] > 30


def test_a_sample_takes_these_frames_and_a_repeated_place_gives_the_same_one(tmp_path: Path) -> None:
    footage = open_video(write_video(tmp_path / "a.mp4", moving("red", 9)))
    whole = list(read_frames(footage, range(9)))
    for frame, place in zip(read_frames(footage, [0, 0, 4, 8]), (0, 0, 4, 8), strict=True):
        np.testing.assert_array_equal(frame, whole[place])


def test_an_animated_gif_is_a_video(tmp_path: Path) -> None:
    first, *others = [Image.fromarray(each) for each in moving("red", 4)]
    first.save(tmp_path / "a.gif", save_all=True, append_images=others, duration=100)
    footage = open_video(tmp_path / "a.gif")
    assert footage.frames == 4
    assert len(set(left_edges(list(read_frames(footage, range(4)))))) == 4


def test_a_folder_of_frames_is_read_in_the_order_of_its_numbers(tmp_path: Path) -> None:
    made = moving("red", 12)
    folder = write_frames(tmp_path / "clip", made)
    outside = tmp_path / "outside.png"
    Image.fromarray(moving("blue", 1)[0]).save(outside)
    (folder / "0.png").symlink_to(outside)
    footage = open_video(folder)
    assert (footage.frames, footage.seconds) == (12, None)
    for frame, wanted in zip(read_frames(footage, range(12)), made, strict=True):
        np.testing.assert_array_equal(frame, wanted)


@given(st.integers(1, 400), st.integers(1, 60))
def test_an_even_sample_is_linspace_cut_to_whole_numbers(total: int, count: int) -> None:
    places = Sampling(count).places(total)
    step = (total - 1) / (count - 1) if count > 1 else 0.0
    expected = [int(np.float64(place) * step) for place in range(count)]
    assert places[0] == 0
    assert count == 1 or places[-1] == total - 1
    assert max(abs(one - other) for one, other in zip(places, expected, strict=True)) <= 1  # the last bit of a product
    assert Sampling().places(total) == tuple(range(total))


def test_a_part_is_given_as_shares_and_never_empty(tmp_path: Path) -> None:
    footage = open_video(write_video(tmp_path / "a.mp4", moving("red", 10)))
    assert footage.part(0.0, 1.0) == (0, 10)
    assert footage.part(0.25, 0.5) == (2, 5)
    assert footage.part(0.5, 0.5) == (5, 6)
    assert footage.part(1.0, 1.0) == (9, 10)


def test_the_hash_is_of_what_is_shown(tmp_path: Path) -> None:
    one = open_video(write_frames(tmp_path / "one", moving("red", 3))).sha256
    assert open_video(write_frames(tmp_path / "two", moving("red", 3))).sha256 == one
    assert open_video(write_frames(tmp_path / "three", moving("blue", 3))).sha256 != one


@pytest.mark.parametrize(
    ("name", "held", "said"),
    [
        ("a.txt", b"text", "videos end in .mp4"),
        ("a.mp4", b"", "begins like none of MP4, AVI, Matroska, MPEG,"),
        ("a.mp4", b"#EXTM3U\n#EXT-X-MEDIA\nhttp://localhost/x.ts\n", "begins like none"),
        ("a.mp4", b"ffconcat version 1.0\nfile /etc/passwd\n", "begins like none"),
        ("a.mp4", b"\0\0\0\x18ftypisom" + bytes(64), "broken or in a codec"),
        ("a%d.gif", b"GIF89a" + bytes(64), "pattern of names"),
    ],
)
def test_what_is_no_video_is_refused_in_a_sentence(tmp_path: Path, name: str, held: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(held)
    with pytest.raises(BadImage, match=said) as refused:
        open_video(tmp_path / name)
    assert str(tmp_path / name) in str(refused.value)


def test_a_video_that_is_cut_off_gives_what_is_there_or_is_refused(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.avi", moving("red", 20))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert 0 < open_video(path).frames < 20
    with pytest.raises(BadImage, match="cannot be read"):
        open_video(tmp_path / "gone.mp4")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadImage, match="holds no frame"):
        open_video(tmp_path / "empty")


@pytest.mark.parametrize(
    ("cap", "value", "said"),
    [
        ("MAX_BYTES", 100, "larger than"),
        ("MAX_PIXELS", 64 * 48 - 1, "frames of 64 × 48 px"),
        ("MAX_FRAMES", 5, "longer than 5 frames"),
        ("MAX_SECONDS", 0.5, "0.5 s, the most"),
        ("MAX_DECODED", 64 * 48 * 5, "longer than 5 frames"),
    ],
)
def test_every_cap_refuses_what_is_above_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cap: str, value: float, said: str
) -> None:
    path = write_video(tmp_path / "a.mp4", moving("red", 6))
    assert open_video(path).frames == 6
    monkeypatch.setattr(video_frames, cap, value)
    with pytest.raises(BadImage, match=said):
        open_video(path)


def test_a_number_of_frames_that_cannot_be_is_refused() -> None:
    with pytest.raises(InvalidInput, match="number of frames must lie between 1 and"):
        Sampling(0)


def test_a_folder_of_videos_names_each_by_its_stem_and_refuses_two_of_a_name(tmp_path: Path) -> None:
    write_video(tmp_path / "one.mp4", moving("red", 2))
    write_frames(tmp_path / "two", moving("blue", 2))
    (tmp_path / "notes.txt").write_text("no video")
    assert list(find_videos(tmp_path)) == ["one", "two"]
    write_frames(tmp_path / "one", moving("blue", 2))
    with pytest.raises(InvalidInput, match=r"'one' may be one or one\.mp4"):
        find_videos(tmp_path)
    with pytest.raises(InvalidInput, match="no folder"):
        find_videos(tmp_path / "gone")


def test_captions_lie_beside_the_videos_as_json_or_csv(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        write_frames(tmp_path / name, moving("red", 2))
    path = tmp_path / "captions.json"
    path.write_text(json.dumps({"one": ["A  square.", "A red one."], "two": "A red square.", "gone": "x"}))
    held = read_video_folder(tmp_path)
    assert {each.id: each.captions for each in held.videos} == {
        "one": ("A square.", "A red one."),
        "two": ("A red square.",),
    }
    assert [(each.subject, each.code) for each in held.rejected] == [("gone", "missing-video"), ("three", "no-caption")]
    path.unlink()
    (tmp_path / "captions.csv").write_text("video,caption\none,A square.\none,A red one.\ntwo,A red square.\n")
    assert read_video_folder(tmp_path).videos == held.videos
    assert held.get("two").captions == ("A red square.",)
    with pytest.raises(InvalidInput, match="no video 'four' here; there are one, two"):
        held.get("four")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("captions.json", "[]", "must be an object"),
        ("captions.json", '{"one": 3}', "'one' must have a caption"),
        ("captions.json", "{}", "no video of .* has a caption"),
        ("captions.csv", "image,text\none,a\n", "it needs video, caption"),
        ("notes.md", "", "holds no captions"),
    ],
)
def test_a_file_of_captions_that_cannot_be_used_is_refused(tmp_path: Path, name: str, text: str, said: str) -> None:
    write_frames(tmp_path / "one", moving("red", 2))
    (tmp_path / name).write_text(text)
    with pytest.raises(BadCorpus, match=said):
        read_video_folder(tmp_path)
