"""A panel of judges: what each says over HTTP, joined as shares of their scales."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.corpora.images import encode_png, pixel_hash
from core.errors import InvalidInput
from core.evaluators.metrics.judge import sent
from core.evaluators.registry import find
from core.evaluators.scoring import score_pairs_with_errors
from tests.evaluators.judge_server import KEY, JudgeServer, true_score

IMAGE = np.random.default_rng(4).integers(0, 256, (24, 27, 3), dtype=np.uint8)
JURORS = ("a", "b", "c")
CAPTIONS = [f"Cat {number}." for number in range(30)]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[JudgeServer]:
    with JudgeServer().running() as running:
        monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
        for name, value in {"URL": running.url, "KEY": KEY, "FIRST_WAIT_S": "0.01", "ATTEMPTS": "1"}.items():
            monkeypatch.setenv(f"INVARISCOPE_JUDGE_{name}", value)
        yield running


def panel(way: str, rubric: str = "judge") -> str:
    return f"panel:{way}=" + "+".join(f"judge:{each}@{rubric}" for each in JURORS)


def said(low: int = 0, high: int = 10) -> np.ndarray:
    png = encode_png(sent(IMAGE))
    return np.array([[true_score(png, text, low, high, juror) for text in CAPTIONS] for juror in JURORS])


def test_mean_and_median_are_of_the_judges_own_answers_which_are_asked_once(server: JudgeServer) -> None:
    key = pixel_hash(IMAGE)
    pairs = [(key, caption) for caption in CAPTIONS]
    for way, expected in (("mean", said().mean(axis=0) / 10), ("median", np.median(said(), axis=0) / 10)):
        loaded = find(panel(way)).load()
        found = score_pairs_with_errors(loaded, {key: IMAGE}, pairs)
        np.testing.assert_allclose(found.scores, expected)
        assert loaded.spec.score_range == (0, 1)
    own = find("judge:b@judge").load().score([IMAGE] * len(CAPTIONS), CAPTIONS)
    assert own.tolist() == said()[1].tolist()
    assert len(server.requests) == len(JURORS) * len(CAPTIONS)


def test_a_majority_is_what_more_than_half_say_and_without_one_there_is_no_score(server: JudgeServer) -> None:
    key = pixel_hash(IMAGE)
    loaded = find(panel("majority", "protoscore")).load()
    found = score_pairs_with_errors(loaded, {key: IMAGE}, [(key, caption) for caption in CAPTIONS])
    answers = said(1, 4).T
    for row, score, error in zip(answers, found.scores, found.errors, strict=True):
        values, times = np.unique(row, return_counts=True)
        if times.max() > len(row) / 2:
            assert score == pytest.approx((values[times.argmax()] - 1) / 3)
            assert error is None
        else:
            assert np.isnan(score)
            assert str(error).endswith("[no-majority]")
    assert 0 < np.isnan(found.scores).sum() < len(CAPTIONS)


def test_a_pair_that_one_judge_cannot_score_has_no_score_with_that_judges_reason(server: JudgeServer) -> None:
    key = pixel_hash(IMAGE)
    found = score_pairs_with_errors(find(panel("mean")).load(), {key: IMAGE}, [(key, "no json: x"), (key, "A cat.")])
    assert np.isnan(found.scores[0])
    assert "not the JSON" in str(found.errors[0])
    assert found.errors[1] is None


def test_scales_are_brought_together_and_the_fingerprint_holds_every_judge(server: JudgeServer) -> None:
    name = "panel:mean=judge:a@judge+judge:a@judge~scale-5"
    kind = find(name)
    loaded = kind.load()
    png = encode_png(sent(IMAGE))
    ten, five = true_score(png, "A cat.", 0, 10, "a"), true_score(png, "A cat.", 1, 5, "a")
    assert loaded.score([IMAGE], ["A cat."])[0] == pytest.approx((ten / 10 + (five - 1) / 4) / 2)
    assert kind.spec.name == name
    assert set(loaded.fingerprint.settings["parts"]) == {"judge:a@judge", "judge:a@judge~scale-5"}
    assert loaded.see(IMAGE, "A cat.").evidence[0][1] == max(ten, five)
    assert "from 1 to 5" in loaded.asked


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("panel:mean", "give a panel as"),
        ("panel:mode=judge:a@judge+judge:b@judge", "give a panel as"),
        ("panel:mean=clipscore+judge:a@judge", "give a panel as"),
        ("panel:mean=judge:a@judge", "at least two judges"),
        ("panel:mean=judge:a@judge+judge:a@judge", "each once"),
        ("panel:mean=judge:a@judge+judge:a@clair", "is shown references"),
        ("panel:majority=judge:a@judge+judge:b@protoscore", "a majority is of one scale"),
        ("panel:mean=judge:a@judge+judge:b@none", "no rubric 'none'"),
    ],
)
def test_what_is_no_panel_is_refused_in_a_sentence(name: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        find(name)
