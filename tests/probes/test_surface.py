"""What surrounds the content: shrinking, saving, dressing a caption, letters in a picture."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from torchvision.transforms import InterpolationMode, Resize

from core.corpora.images import encode_png
from core.corpora.schema import Box
from core.errors import InvalidInput, ProbeRejected
from core.evaluators.weights.catalogue import description
from core.probes.base import Subject, Variant
from core.probes.families.preparation import (
    RESAMPLERS,
    Target,
    double_blank,
    shrunk,
    toggle_capital,
    toggle_stop,
)
from core.probes.families.typographic import write_word
from core.probes.families.verbosity import ANY, PHRASE, SENTENCE, Wrapper, is_phrase, is_sentence, wrappers
from core.probes.pixels import edits as image_edits
from core.probes.registry import catalogue, select
from core.probes.scene import Scene
from core.seeds import stream
from core.statistics.splines import KNOTS
from tests.probes.painted import SUBJECT, ellipse, ground, paint


def made(name: str, scene: Scene, subject: Subject = SUBJECT) -> Variant:
    probe = catalogue().get(name)
    return probe.make(scene, subject, stream(2025, scene.item.id, probe.draws or probe.name))


def refused(name: str, scene: Scene, subject: Subject = SUBJECT) -> str:
    with pytest.raises(ProbeRejected) as caught:
        made(name, scene, subject)
    return caught.value.code


def english(caption: str) -> Subject:
    return Subject("human", "en", 0, caption)


@pytest.mark.parametrize("name", ["bicubic", "bilinear", "lanczos"])
def test_a_pillow_filter_is_pillows_on_the_shorter_side(name: str) -> None:
    scene = paint(width=640, height=480, centre=(200, 200), radii=(80, 60))
    variant = made(f"resampling:{name}", scene)
    expected = Image.fromarray(scene.pixels).resize((298, 224), getattr(Image.Resampling, name.upper()))
    np.testing.assert_array_equal(variant.pixels, np.asarray(expected))
    assert (variant.facts["width"], variant.facts["height"]) == (298.0, 224.0)


def test_the_object_shrinks_with_its_picture() -> None:
    scene = paint(width=640, height=480, centre=(200, 200), radii=(80, 60))
    variant = made("resampling:area", scene)
    assert variant.object_mask is not None
    expected = ellipse(224, 298, centre=(200 * 298 / 640, 200 * 224 / 480), radii=(80 * 298 / 640, 60 * 224 / 480))
    found = variant.object_mask.to_array()
    assert (found & expected).sum() / (found | expected).sum() > 0.95
    assert "object_kept" not in variant.diagnostics


def test_a_box_without_a_mask_shrinks_too() -> None:
    box = Target(100).move.box(Box(40, 20, 80, 60), 400, 200)
    assert box == Box(20, 10, 40, 30)


def test_filters_that_smooth_first_differ_from_those_that_do_not() -> None:
    pixels = np.zeros((400, 400, 3), np.uint8)
    pixels[:, ::2] = 255  # the finest stripes: their mean is grey, and a filter that does not smooth picks some
    smooth = shrunk(pixels, width=100, height=100, resampler="bilinear")
    aliased = shrunk(pixels, width=100, height=100, resampler="cubic-aliased")
    assert abs(float(smooth[10:-10, 10:-10].mean()) - 127.5) < 2
    assert smooth.std() < aliased.std() + 60
    assert set(RESAMPLERS) == {"bicubic", "bilinear", "lanczos", "area", "cubic-aliased", "linear-aliased"}


@pytest.mark.parametrize("size", [(640, 480), (640, 427), (640, 426), (427, 640), (500, 375), (600, 600)])
def test_a_loader_leaves_what_was_shrunk_by_its_own_first_step_as_it_is(size: tuple[int, int]) -> None:
    """Loader: torchvision 0.29.2's Resize(224), bicubic, as open_clip 3.3.0 and CLIP put it first."""
    pixels = np.random.default_rng(0).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    width, height = Target(224).size(*size)
    by_loader = Resize(224, InterpolationMode.BICUBIC)(Image.fromarray(pixels))
    assert by_loader.size == (width, height)
    assert np.array_equal(shrunk(pixels, width=width, height=height, resampler="bicubic"), np.asarray(by_loader))


def test_what_is_no_larger_is_not_shrunk() -> None:
    assert refused("resampling:bicubic", paint()) == "too-small"
    assert refused("resampling:first-800", paint(width=800, height=600)) == "too-small"
    assert made("resampling:first-800", paint(width=1000, height=500)).pixels.shape == (400, 800, 3)  # type: ignore[union-attr]
    assert made("resampling:first-400", paint(width=512, height=384)).pixels.shape == (300, 400, 3)  # type: ignore[union-attr]
    with pytest.raises(InvalidInput, match="reduction"):
        shrunk(ground(10, 10), width=11, height=10, resampler="area")
    with pytest.raises(InvalidInput, match="nearest"):
        shrunk(ground(10, 10), width=5, height=5, resampler="nearest")


def test_png_keeps_every_pixel_so_that_no_probe_saves_it() -> None:
    pixels = ground(40, 50)
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(encode_png(pixels)))), pixels)


def test_a_jpeg_that_keeps_every_colour_is_closer() -> None:
    pixels = np.full((64, 64, 3), (40, 40, 220), np.uint8)
    pixels[:, ::2] = (220, 40, 40)
    off = [
        np.abs(image_edits.jpeg(pixels, quality=90, chroma=kept).astype(int) - pixels).mean()
        for kept in ("4:4:4", "4:2:2", "4:2:0")
    ]
    assert off[0] < off[1] / 2
    assert image_edits.jpeg(pixels).tobytes() == image_edits.jpeg(pixels, quality=95, chroma="4:2:0").tobytes()
    with pytest.raises(InvalidInput, match="4:1:1"):
        image_edits.jpeg(pixels, chroma="4:1:1")


@pytest.mark.parametrize(
    ("caption", "language", "without"),
    [
        ("A dog on a bench.", "en", "A dog on a bench"),
        ("A dog on a bench", "en", "A dog on a bench."),
        ("Look!", "en", "Look!"),
        ("And then...", "en", "And then..."),
        ("猫がいる。", "ja", "猫がいる"),
        ("猫がいる", "ja", "猫がいる。"),
        ("", "en", ""),
    ],
)
def test_the_full_stop_goes_or_comes(caption: str, language: str, without: str) -> None:
    assert toggle_stop(caption, language) == without


@pytest.mark.parametrize(
    ("caption", "language", "expected"),
    [
        ("A dog.", "en", "a dog."),
        ("a dog.", "en", "A dog."),
        ("  two dogs", "en", "  Two dogs"),
        ("BBQ on a table", "en", "BBQ on a table"),
        ("I see a dog", "en", "I see a dog"),
        ("Ein Hund.", "de", "Ein Hund."),
        ("犬がいる。", "ja", "犬がいる。"),
        ("Une grenouille.", "fr", "une grenouille."),
        ("123", "en", "123"),
    ],
)
def test_the_capital_changes_where_it_says_nothing(caption: str, language: str, expected: str) -> None:
    assert toggle_capital(caption, language) == expected


def test_a_second_blank_follows_the_first_word() -> None:
    assert double_blank("A dog on a bench.", "en") == "A  dog on a bench."
    assert double_blank("Dog", "en") == "Dog"
    assert double_blank("灰色 の犬", "ja") == "灰色 の犬"


@given(st.text(alphabet="abc XYZ.,!"), st.sampled_from(["en", "fr", "es"]))
def test_what_a_form_changes_is_never_a_letter_or_a_word(caption: str, language: str) -> None:
    for form in (toggle_stop, toggle_capital, double_blank):
        letters = form(caption, language).casefold().rstrip(". ").split()
        assert letters == caption.casefold().rstrip(". ").split()


def test_a_form_that_changes_nothing_is_refused() -> None:
    assert refused("caption-form:full-stop", paint(), english("Look!")) == "unchanged"
    assert made("caption-form:capital", paint(), english("A dog.")).caption == "a dog."


@pytest.mark.parametrize(
    ("caption", "phrase"),
    [
        ("A dog on a bench.", True),
        ("A man riding a horse", True),
        ("a group of people sitting at a table", True),
        ("An open door", True),
        ("Several books stacked on shelves", True),
        ("Fork holding the contents of different types of vegetables.", True),
        ("A blue pickup truck stopped at a stop sign", True),
        ("A man bending into the back of a truck on a street.", True),
        ("A dog plays with a ball", False),
        ("Two dogs play", False),
        ("A baseball player throws a ball", False),
        ("A cat that is black", False),
        ("There is a dog.", False),
        ("There's a dog.", False),
        ("This is a bike locked to a parking meter.", False),
        ("The kitchen is lit with overhead lights", False),
        ("Zebras socialize on some rocks in an artificial habitat.", False),
        ("A burger on a table, with another next to it.", False),
        ("A picture of some fruit on a table.", False),
        ("A dog. A cat.", False),
        (" . ", False),
        ("A dog on the left, a hen in the middle and a traffic cone on the right, in a pasture.", True),
        ("Four rubber ducks on the left and a trumpet on the right, on a table.", True),
        ("A kitchen, there is a stove in it", False),
        ("A dog, barking", False),
    ],
)
def test_a_noun_phrase_is_told_from_a_sentence(caption: str, phrase: bool) -> None:
    assert is_phrase(caption) is phrase


@pytest.mark.parametrize(
    ("caption", "sentence"),
    [
        ("There is a dog.", True),
        ("There's a garbage can in a field.", True),
        ("A dog plays with a ball.", True),
        ("A bird is next to a red post box on the savanna.", True),
        ("This is a bike locked to a parking meter", True),
        ("A dog on a bench.", False),
        ("A cat that is black", False),
        ("A garbage can in a field.", False),
        ("A pig on the left, a chicken in the middle and a garbage can on the right, in a pasture.", False),
        ("A frog covers little of the picture.", False),
        ("Is there a dog?", False),
        ("A very well made bed and a big white doll", False),
        ("A baseball player getting ready to hit a baseball.", False),
        ("Donuts on an assembly line while people work behind it.", False),
        ("A dog plays while people work behind it.", True),
        (" . ", False),
    ],
)
def test_a_sentence_is_told_from_a_noun_phrase(caption: str, sentence: bool) -> None:
    assert is_sentence(caption) is sentence
    assert not (sentence and is_phrase(caption))


@pytest.mark.parametrize(
    ("before", "after", "caption", "expected"),
    [
        ("A photo of", "", "A dog on a bench.", "A photo of a dog on a bench."),
        ("A photo of", "", "Paris at night", "A photo of Paris at night"),
        ("A photo of", "", "Plastic boxes on a shelf", "A photo of plastic boxes on a shelf"),
        (
            "The image shows that",
            "",
            "Covered boats are in the water.",
            "The image shows that covered boats are in the water.",
        ),
        ("The image shows that", "", "Bill rides a bike.", "The image shows that Bill rides a bike."),
        ("A photo of", "", "Lake Tahoe at night", "A photo of Lake Tahoe at night"),
        ("A photo of", "", "TV stands", "A photo of TV stands"),
        ("", "as seen in this picture", "A dog.", "A dog as seen in this picture."),
        ("", ", as can be seen here", "A dog runs", "A dog runs, as can be seen here"),
        ("In this picture:", "", "There is a dog.", "In this picture: There is a dog."),
    ],
)
def test_words_stand_around_a_caption_as_in_a_sentence(before: str, after: str, caption: str, expected: str) -> None:
    assert Wrapper("w", ANY, before, after).around(caption) == expected


def test_every_wrapper_keeps_the_words_and_counts_its_own() -> None:
    caption = "A dog on a bench."
    for wrapper in wrappers():
        said = wrapper.around(caption)
        assert "dog on a bench" in said
        assert len(said.split()) == len(caption.split()) + wrapper.words
        assert said.endswith(".")
    assert [each.words for each in wrappers()] == sorted(each.words for each in wrappers())
    assert {each.takes for each in wrappers()} == {PHRASE, SENTENCE, ANY}


def test_a_phrase_and_a_sentence_each_take_wrappers_of_as_many_lengths_as_the_curve_has_knots() -> None:
    for takes in (PHRASE, SENTENCE):
        assert len({each.words for each in wrappers() if each.takes in (takes, ANY)}) >= KNOTS


def test_the_prefix_of_clipscore_is_among_them() -> None:
    (prefix,) = {str(description(name).settings["prefix"]) for name in ("clipscore", "pac-s", "pac-s++")}
    wrapper = next(each for each in wrappers() if each.name == "depicts")
    assert wrapper.around("A dog on a bench.") == f"{prefix}a dog on a bench."


def test_a_phrase_does_not_stand_after_that() -> None:
    assert refused("verbosity:we-see-that", paint(), english("A dog on a bench.")) == "no-sentence"
    variant = made("verbosity:we-see-that", paint(), english("There is a dog."))
    assert variant.caption == "In this image we can see that there is a dog."


def test_a_sentence_does_not_stand_after_a_photo_of() -> None:
    assert refused("verbosity:photo", paint(), english("There is a dog.")) == "no-phrase"
    assert refused("verbosity:photo", paint(), Subject("human", "de", 0, "Ein Hund.")) == "language-not-edited"
    variant = made("verbosity:photo", paint(), english("A dog on a bench."))
    assert (variant.caption, variant.facts["words"]) == ("A photo of a dog on a bench.", 3.0)


def test_a_broken_table_of_wrappers_is_named_by_its_line(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "wrappers.csv"
    path.write_text("name,takes,before,after\nempty,any,,\n")
    with pytest.raises(InvalidInput, match="line 2: neither before nor after"):
        wrappers(path)
    twice = tmp_path / "twice.csv"
    twice.write_text("name,takes,before,after\na,any,Here:,\na,any,There:,\n")
    with pytest.raises(InvalidInput, match="line 3: the name 'a' stands twice"):
        wrappers(twice)
    none = tmp_path / "none.csv"
    none.write_text("name,takes,before,after\n")
    with pytest.raises(InvalidInput, match="no line"):
        wrappers(none)


def test_a_word_changes_no_pixel_outside_its_plate_and_can_be_seen() -> None:
    pixels = ground(240, 320)
    written, plate = write_word(pixels, "dog")
    outside = np.ones(pixels.shape[:2], bool)
    outside[plate.y : plate.y + plate.height, plate.x : plate.x + plate.width] = False
    np.testing.assert_array_equal(written[outside], pixels[outside])
    inside = written[~outside].reshape(-1, 3)
    assert 0.02 < (inside.max(axis=1) < 60).mean() < 0.5  # letters
    assert (inside.min(axis=1) == 255).mean() > 0.4  # on white
    assert not np.array_equal(written, write_word(pixels, "cat")[0])


def test_the_three_words_stand_in_the_corner_that_the_object_leaves_free() -> None:
    scene = paint(width=320, height=240, centre=(280, 200), radii=(60, 50))
    left = [made(f"typographic:{kind}", scene) for kind in ("right", "wrong", "neutral")]
    for variant in left:
        assert variant.pixels is not None
        rows, columns = np.nonzero((variant.pixels != scene.pixels).any(axis=2))
        assert rows.min() > 240 * 0.6
        assert columns.max() < 320 * 0.65
        assert variant.object_mask == scene.item.mask
    assert [left[0].facts["word"], left[2].facts["word"]] == ["ball", "sample"]
    assert left[1].facts["word"] not in ("ball", "sample")


def test_the_wrong_word_is_the_absent_category_of_the_other_probes() -> None:
    scene = paint(width=320, height=240)
    assert made("typographic:wrong", scene).facts["word"] == made("distractor", scene).facts["absent"]


@pytest.mark.parametrize(("word", "size"), [("Überraschung", (240, 320)), ("", (240, 320)), ("dog", (16, 16))])
def test_what_cannot_be_written_is_refused(word: str, size: tuple[int, int]) -> None:
    with pytest.raises(ProbeRejected) as caught:
        write_word(ground(*size), word)
    assert caught.value.code == "not-writable"


def test_long_words_become_smaller_and_stay_inside() -> None:
    written, plate = write_word(ground(240, 320), "fire hydrant beside a road")
    assert plate.x >= 0
    assert plate.x + plate.width <= 320
    assert written.shape == (240, 320, 3)


def test_the_axis_is_chosen_by_its_name_and_is_no_part_of_the_papers_grid() -> None:
    chosen = select(["surface"])
    assert {probe.family for probe in chosen} == {
        "resampling",
        "compression",
        "caption-form",
        "verbosity",
        "typographic",
        "fewer-frames",
    }
    assert not any(probe.default or probe.control or probe.selector for probe in chosen)
