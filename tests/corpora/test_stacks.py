"""Frames of a video as one array: which they are, what is refused, and how they stand where one picture is shown."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.corpora import item_pictures
from core.corpora.images import check_stack, pixel_hash
from core.corpora.item_pictures import as_picture, read_item, read_stack
from core.corpora.registry import catalogue
from core.corpora.video_container import BadVideo
from core.corpora.video_folder import load_videos, other_than
from core.corpora.video_frames import Sampling, open_video
from core.errors import BadCorpus, BadImage, InvalidInput
from tests.corpora.footage import moving, write_frames


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
