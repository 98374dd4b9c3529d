import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.charts.canvas import ACCENT, MOST_WORDS, changed_share, side_by_side, with_boxes, with_changes, word_changes
from core.corpora.schema import Box
from core.errors import InvalidInput

captions = st.one_of(
    st.text(max_size=40),
    st.lists(st.sampled_from(["a", "an", "plain", "African", "bed", ".", "犬", "Žluťoučký", "don't"])).map(" ".join),
    st.lists(st.sampled_from(["word", "other"]), min_size=MOST_WORDS, max_size=MOST_WORDS + 20).map(" ".join),
)


def kinds(before: str, after: str) -> list[tuple[str, str]]:
    return [(each.kind, each.text) for each in word_changes(before, after)]


def picture(height: int = 60, width: int = 80) -> np.ndarray:
    return np.random.default_rng(7).integers(0, 100, (height, width, 3), np.uint8)


@settings(deadline=None)
@given(before=captions, after=captions)
def test_the_stretches_give_both_captions_back(before: str, after: str) -> None:
    found = word_changes(before, after)
    assert "".join(each.text for each in found if each.kind != "added") == before
    assert "".join(each.text for each in found if each.kind != "removed") == after
    assert all(each.text for each in found)


@given(caption=captions)
def test_a_caption_against_itself_has_no_change(caption: str) -> None:
    assert all(each.kind == "same" for each in word_changes(caption, caption))


def test_a_swapped_word_is_one_removed_and_one_added() -> None:
    assert kinds("There is an ordinary bed.", "There is an African bed.") == [
        ("same", "There is an "),
        ("removed", "ordinary"),
        ("added", "African"),
        ("same", " bed."),
    ]


def test_neighbouring_words_are_one_phrase() -> None:
    assert kinds("There is a plain bed.", "There is an Arab bed.")[1:3] == [
        ("removed", "a plain"),
        ("added", "an Arab"),
    ]


def test_a_word_is_changed_whole_and_a_script_without_spaces_by_character() -> None:
    assert ("added", "beds") in kinds("two bed", "two beds")
    assert kinds("犬がいます", "猫がいます")[:2] == [("removed", "犬"), ("added", "猫")]


def test_nothing_changed_is_a_share_of_zero_and_every_pixel_is_one() -> None:
    pixels = picture()
    assert changed_share(pixels, pixels) == 0.0
    assert changed_share(pixels, 255 - pixels) == 1.0


def test_a_change_that_nobody_sees_does_not_count_and_a_patch_counts_with_its_area() -> None:
    pixels = picture()
    assert changed_share(pixels, pixels + np.uint8(3)) == 0.0
    patched = pixels.copy()
    patched[:30, :40] = 255
    assert changed_share(pixels, patched) == pytest.approx(0.25)


def test_changed_pixels_keep_their_colour_and_the_rest_turns_grey() -> None:
    pixels = picture()
    patched = pixels.copy()
    patched[20:40, 20:40] = (250, 200, 30)
    kept = patched.copy()
    drawn = with_changes(pixels, patched)
    np.testing.assert_array_equal(drawn[25:35, 25:35], patched[25:35, 25:35])
    outside = drawn[50:]
    np.testing.assert_array_equal(outside[..., 0], outside[..., 1])
    assert (drawn == ACCENT).all(axis=2).any()
    np.testing.assert_array_equal(patched, kept)


def test_pictures_of_two_sizes_are_not_compared() -> None:
    with pytest.raises(InvalidInput, match=r"\(60, 80\) and \(61, 80\)"):
        changed_share(picture(), picture(61))


def test_the_new_box_is_a_line_and_the_old_one_is_dashed() -> None:
    plain = np.full((200, 300, 3), 90, np.uint8)
    drawn = with_boxes(plain, box=Box(20, 20, 60, 60), old=Box(180, 100, 80, 60), side=300)
    accent = (drawn == ACCENT).all(axis=2)
    assert accent[20, 22:78].all()
    assert 0.3 < accent[100, 185:255].mean() < 0.8
    assert not (plain == ACCENT).all(axis=2).any()


@given(
    x=st.floats(0, 299),
    y=st.floats(0, 199),
    width=st.floats(0.1, 400),
    height=st.floats(0.1, 400),
    side=st.integers(8, 400),
)
def test_a_box_anywhere_leaves_the_size_as_it_is(x: float, y: float, width: float, height: float, side: int) -> None:
    drawn = with_boxes(np.zeros((200, 300, 3), np.uint8), box=Box(x, y, width, height), side=side)
    assert max(drawn.shape[:2]) == min(side, 300)


def test_two_pictures_lie_beside_each_other() -> None:
    left, right = picture(), picture(40, 20)
    both = side_by_side(left, right, gap=6)
    assert both.shape == (60, 106, 3)
    np.testing.assert_array_equal(both[:, :80], left)
    np.testing.assert_array_equal(both[10:50, 86:], right)
    assert (both[:, 80:86] == 255).all()
