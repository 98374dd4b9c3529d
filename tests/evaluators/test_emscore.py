"""EMScore and PAC-S++ of videos on tiny checkpoints in the publishers' formats, against plain numpy and loops."""

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import open_clip
import pytest

from core.errors import InvalidInput
from core.evaluators.base import DualEncoder, PartlyScored
from core.evaluators.registry import find
from core.evaluators.video.formula import Tokens
from core.evaluators.video.video_evaluator import VideoEvaluator, VideoScore, clip_idf, coarse_score
from tests.evaluators.test_video_formula import dot, slow, slow_whole
from tests.tiny import clip
from tests.tiny.reference import State, image_embedding, merged, picture, token_embeddings

CAPTIONS = ("A cat sits on a mat.", "cat", "dog " * 200, "Un gato, 猫 🐱")
REFERENCES = ("A cat sleeps.", "a dog")
CORPUS = ("a cat on a mat", "a dog", "the cat sleeps", "a bird")
STATES: Mapping[str, State] = {
    "emscore": clip.clip_state(),
    "pac-s++-video": merged(clip.clip_state() | clip.adapters()),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    folder = tmp_path_factory.mktemp("tiny-video")
    return {
        "emscore": clip.write_openai(folder / "openai.pt"),
        "pac-s++-video": clip.write_pac(folder / "pac++.pth", lora=True),
    }


@pytest.fixture(scope="module")
def frames() -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    return [rng.integers(0, 256, (60, 80, 3), dtype=np.uint8) for _ in range(4)]


def loaded(name: str, files: Mapping[str, Path]) -> VideoEvaluator:
    found = find(f"{name}@{files[name.removeprefix('ref')]}").load()
    assert isinstance(found, VideoEvaluator)
    return found


def read(state: State, text: str, corpus: tuple[str, ...] = ()) -> Tokens:
    """A caption by the reference CLIP; weights worked out from the sentences of a corpus."""
    (row,) = open_clip.tokenize([text]).numpy()
    ids = row[: int(row.argmax()) + 1].tolist()
    weights = [1.0] * len(ids)
    if corpus:
        sets = [set(each[: int(each.argmax()) + 1].tolist()) for each in open_clip.tokenize(list(corpus)).numpy()]
        total = len(sets) + 1

        def weight(token: int) -> float:
            return math.log(total / (1 + sum(token in each for each in sets)))

        known = set.union(*sets)
        weights = [sum(map(weight, known)) / len(known) if each == 49407 else weight(each) for each in ids]
    return Tokens(token_embeddings(state, row), np.array(weights))


def embedded(state: State, frames: list[np.ndarray]) -> np.ndarray:
    return np.array([image_embedding(state, picture(each, clip.SIDE)) for each in frames])


def of_video(seen: np.ndarray, own: Tokens) -> float:
    precision, recall, fine = slow(seen, [1.0] * len(seen), own)
    return (dot(slow_whole(seen), own.vectors[-1]) + fine) / 2 if precision + recall > 0 else math.nan


def scored(
    evaluator: VideoEvaluator, frames: list[np.ndarray], caption: str, people: tuple[str, ...] = ()
) -> VideoScore:
    return evaluator.match(evaluator.encode_frames(frames), caption, people, evaluator.read([caption, *people]))


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize("corpus", [(), CORPUS], ids=["even", "idf"])
def test_scores_are_those_of_the_formula(
    name: str, corpus: tuple[str, ...], files: Mapping[str, Path], frames: list[np.ndarray]
) -> None:
    evaluator = loaded(name, files).weighed(clip_idf(corpus, corpus="made") if corpus else None)
    seen = embedded(STATES[name], frames)
    expected = [of_video(seen, read(STATES[name], each, corpus)) for each in CAPTIONS]
    assert sum(map(math.isfinite, expected)) >= 2
    found = [scored(evaluator, frames, each).score for each in CAPTIONS]
    np.testing.assert_allclose(found, expected, atol=2e-5, rtol=0)


@pytest.mark.parametrize("name", STATES)
def test_with_references_it_is_the_mean_with_the_largest_parts(
    name: str, files: Mapping[str, Path], frames: list[np.ndarray]
) -> None:
    state, caption = STATES[name], CAPTIONS[0]
    evaluator = loaded(f"ref{name}", files).weighed(clip_idf(CORPUS, corpus="made"))
    own, others = read(state, caption, CORPUS), [read(state, each, CORPUS) for each in REFERENCES]
    parts = [slow(each.vectors, list(each.weights), own) for each in others]
    likeness = max(dot(each.vectors[-1], own.vectors[-1]) for each in others)
    text = (likeness + max(fine for _, _, fine in parts)) / 2
    found = scored(evaluator, frames, caption, REFERENCES)
    assert found.score == pytest.approx((of_video(embedded(state, frames), own) + text) / 2, abs=2e-5)
    assert found.reference is not None


def test_a_pair_alone_is_a_pair_in_any_batch(files: Mapping[str, Path], frames: list[np.ndarray]) -> None:
    evaluator = loaded("emscore", files)
    alone = [scored(evaluator, frames, each).score for each in CAPTIONS]
    seen, texts = evaluator.encode_frames([*frames[::-1], *frames]), evaluator.read([*CAPTIONS[::-1], *REFERENCES])
    together = [evaluator.match(seen[len(frames) :], each, None, texts).score for each in CAPTIONS]
    np.testing.assert_allclose(together, alone, atol=1e-6, rtol=0)


def test_an_image_is_a_video_of_one_frame_and_what_has_no_score_harms_no_other(
    files: Mapping[str, Path], frames: list[np.ndarray]
) -> None:
    evaluator = loaded("emscore", files)
    with pytest.raises(PartlyScored) as partly:
        evaluator.score(frames[:2], ["  ", CAPTIONS[0]])
    assert partly.value.errors == ("the caption is blank", None)
    assert partly.value.scores[1] == pytest.approx(scored(evaluator, frames[1:2], CAPTIONS[0]).score, abs=1e-6)
    assert evaluator.score([], []).shape == (0,)
    with pytest.raises(InvalidInput, match="uint8 RGB"):
        evaluator.score([np.zeros((4, 4))], ["cat"])


def test_without_a_reference_there_is_no_score_and_a_reason(
    files: Mapping[str, Path], frames: list[np.ndarray]
) -> None:
    evaluator = loaded("refemscore", files)
    assert "no other caption" in scored(evaluator, frames, CAPTIONS[0], (" ",)).error
    with pytest.raises(InvalidInput, match="give a list of them for every pair"):
        evaluator.score(frames[:1], ["cat"])


def test_a_caption_that_is_cut_keeps_its_closing_marker_and_is_counted(files: Mapping[str, Path]) -> None:
    evaluator = loaded("emscore", files)
    (long,) = evaluator.encode_tokens(["dog " * 200])
    (fits,) = evaluator.encode_tokens(["dog " * 75])
    assert len(long.vectors) == 77
    np.testing.assert_array_equal(long.vectors, fits.vectors)
    assert evaluator.count_tokens("dog " * 200) == 202
    assert evaluator.truncates("dog " * 200)
    assert not evaluator.truncates("dog")


def test_the_fingerprint_names_the_frequencies_and_those_of_another_tokenizer_are_refused(
    files: Mapping[str, Path],
) -> None:
    plain = loaded("emscore", files)
    idf = clip_idf(CORPUS, corpus="made")
    weighed = plain.weighed(idf)
    assert plain.fingerprint.settings["idf"] == "none: every token counts the same"
    assert weighed.fingerprint.settings["idf"] == idf.sha256
    assert plain.fingerprint.key != weighed.fingerprint.key
    assert plain.fingerprint.settings["prefix"] == ""
    with pytest.raises(InvalidInput, match="was counted with 'letters'"):
        plain.weighed(idf.model_copy(update={"tokenizer": "letters"}))


def test_a_dual_encoder_gives_the_coarse_part_of_the_same_towers(
    files: Mapping[str, Path], frames: list[np.ndarray]
) -> None:
    twin = find(f"clipscore@{files['emscore']}").load()
    assert isinstance(twin, DualEncoder)
    seen = np.asarray(twin.encode_images(frames))
    found = coarse_score(twin, seen, CAPTIONS[0])
    own = read(STATES["emscore"], f"A photo depicts {CAPTIONS[0]}")
    assert found.score == pytest.approx(dot(slow_whole(embedded(STATES["emscore"], frames)), own.vectors[-1]), abs=2e-5)
    assert found.video is not None
    assert math.isnan(found.video.fine)
    assert coarse_score(twin, seen, " ").error == "the caption is blank"
    assert coarse_score(twin, seen[:0], "cat").error == "the video has no frame"
