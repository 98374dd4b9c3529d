"""Videos from outside: which frames come out, and what is refused before or while they are decoded."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from core.corpora import decoding_apart, item_pictures, video_frames
from core.corpora.decoding_apart import Limits
from core.corpora.images import check_stack, pixel_hash
from core.corpora.item_pictures import as_picture, read_item, read_stack
from core.corpora.registry import catalogue
from core.corpora.video_container import BadVideo
from core.corpora.video_folder import load_videos, other_than, read_video_folder
from core.corpora.video_frames import Sampling, find_videos, open_video, read_frames, read_scaled, read_stranger
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
    (tmp_path / "captions.csv").write_text(
        "Video;Caption\none;A square.\none;A red one.\ntwo;A red square.\nthree;nan\n"
    )
    assert read_video_folder(tmp_path).videos == held.videos
    (tmp_path / "captions.csv").unlink()
    lines = [("one", "A square."), ("one", "A red one."), ("two", "A red square."), ("three", None)]
    sentences = [{"video_id": video, "caption": text, "sen_id": place} for place, (video, text) in enumerate(lines)]
    path.write_text(json.dumps({"videos": [{"video_id": "one", "split": "test"}], "sentences": sentences}))
    assert read_video_folder(tmp_path).videos == held.videos
    with pytest.raises(InvalidInput, match="no video 'four' here; there are one, two"):
        held.get("four")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("captions.json", "[]", "must hold {image: caption}"),
        ("captions.json", '{"one": 3}', "the caption of 'one' must be a text"),
        ("captions.json", "{}", "no video of .* has a caption"),
        ("captions.csv", "clip,text\none,a\n", "no column names the image"),
        ("notes.md", "", "holds no captions"),
    ],
)
def test_a_file_of_captions_that_cannot_be_used_is_refused(tmp_path: Path, name: str, text: str, said: str) -> None:
    write_frames(tmp_path / "one", moving("red", 2))
    (tmp_path / name).write_text(text)
    with pytest.raises(BadCorpus, match=said):
        read_video_folder(tmp_path)


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


def test_a_stack_is_the_frames_at_their_places(tmp_path: Path) -> None:
    frames = moving("red", 6)
    folder = write_frames(tmp_path / "v", frames)
    found = read_stack(folder, (0, 2, 2, 5))
    np.testing.assert_array_equal(found.pixels, np.stack([frames[place] for place in (0, 2, 2, 5)]))
    assert (found.width, found.height, found.bytes_sha256) == (64, 48, open_video(folder).sha256)
    assert found.pixels_sha256 == pixel_hash(found.pixels) != pixel_hash(found.pixels[::-1])


def test_what_is_no_stack_is_refused_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_frames(tmp_path / "v", moving("red", 3))
    with pytest.raises(BadVideo, match="frame 5 is asked for and it has 3"):
        read_stack(folder, (0, 4))
    write_frames(tmp_path / "grows", [moving("red", 2)[0], moving("red", 2, size=(80, 48))[1]])
    with pytest.raises(BadVideo, match=r"frame 2 has 80 × 48 px and the first one 64 × 48; give its frames one size"):
        read_stack(tmp_path / "grows", (0, 1))
    with pytest.raises(InvalidInput, match=r"must be uint8 RGB of shape \[T, H, W, 3\], got uint8 \(48, 64, 3\)"):
        check_stack(moving("red", 1)[0])
    monkeypatch.setattr(item_pictures, "MAX_STACK", 20_000)
    with pytest.raises(BadVideo, match=r"3 frames of 64 × 48 px .* look at fewer frames, or scale it"):
        read_stack(folder, (0, 1, 2))


def test_frames_stand_side_by_side_where_one_picture_is_shown() -> None:
    frames = np.stack(moving("blue", 5))
    sheet = as_picture(frames)
    assert sheet.shape == (2 * 48, 3 * 64, 3)
    np.testing.assert_array_equal(sheet[:48, 64:128], frames[1])
    np.testing.assert_array_equal(sheet[48:, 64:128], frames[4])
    assert (sheet[48:, 128:] == 255).all()
    np.testing.assert_array_equal(as_picture(frames[0]), frames[0])
    many = np.stack(moving("blue", 30))
    assert as_picture(many).shape == (3 * 48, 3 * 64, 3)
    np.testing.assert_array_equal(as_picture(many)[96:, 128:], many[-1])


def test_a_video_that_changed_since_its_corpus_was_read_is_refused(tmp_path: Path) -> None:
    write_frames(tmp_path / "v", moving("red", 3))
    (tmp_path / "captions.csv").write_text("video,caption\nv,A red square.\n")
    (item,) = load_videos.load(tmp_path, frames=2).items
    assert read_item(item).pixels.shape == (2, 48, 64, 3)
    assert (item.frames, item.rivals) == ((0, 2), ())
    (tmp_path / "v" / "2.png").write_bytes((tmp_path / "v" / "1.png").read_bytes())
    with pytest.raises(BadImage, match="the file changed since the corpus was read"):
        read_item(item)
    with pytest.raises(BadImage, match="instead of 60"):
        read_item(replace(item, width=60))


def test_each_video_that_is_left_out_is_counted_once_with_its_reason(tmp_path: Path) -> None:
    write_frames(tmp_path / "a", moving("red", 3))
    write_frames(tmp_path / "bare", moving("red", 3))
    write_frames(tmp_path / "dot", moving("red", 2, size=(24, 7)))
    (tmp_path / "torn.mp4").write_bytes(b"no video")
    (tmp_path / "captions.json").write_text('{"a": "A.", "torn": "B.", "gone": "C.", "dot": "D."}')
    corpus = load_videos.load(tmp_path, name="mine", language="de")
    assert [item.id for item in corpus.items] == ["a"]
    assert corpus.items[0].captions == {"de": ("A.",)}
    assert corpus.rejection_counts() == {"bad-video": 2, "missing-video": 1, "no-caption": 1}
    assert len({each.subject for each in corpus.rejected}) == 4
    (tmp_path / "captions.json").write_text('{"torn": "B."}')
    with pytest.raises(BadCorpus, match=r"no video of .* can be read: .*begins like none"):
        load_videos.load(tmp_path)
    with pytest.raises(InvalidInput, match=r"frames \(all, or a number\) must be a whole number"):
        load_videos.load(tmp_path, frames="some")


def test_the_other_video_shares_no_caption() -> None:
    assert other_than([["A dog."], ["a  dog."], ["A cat.", "A dog."], ["A bird."]], 0) == 3
    assert other_than([["A dog."], ["A cat."]], 1) == 0
    assert other_than([["A dog."], ["A dog."]], 0) is None
    assert other_than([["A dog."]], 0) is None


def test_the_demo_videos_have_a_caption_that_is_wrong_of_their_motion() -> None:
    corpus = catalogue().get("demo-videos").load(frames=4)
    assert len(corpus) == 8
    assert not corpus.rejected
    dog = corpus.get("dog-right")
    assert dog.wrong == {"en": "A dog moves from right to left in a pasture."}
    assert dog.frames == Sampling(4).places(16)
    assert len({item.group for item in corpus.items}) == 8
