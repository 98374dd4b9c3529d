"""The judge against a real server over HTTP that misbehaves on purpose."""

import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.corpora.images import encode_png, pixel_hash
from core.errors import InvalidInput, NotAvailable, ScoringStopped
from core.evaluators.base import PartlyScored
from core.evaluators.metrics.judge import LONGEST_SIDE, Judge, sent
from core.evaluators.network.endpoint import Endpoint
from core.evaluators.registry import catalogue
from core.evaluators.scoring import score_pairs_with_errors
from tests.evaluators.judge_server import KEY, MODEL, JudgeServer, true_score

RUBRIC = "Judge it."


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer().running() as running:
        yield running


@pytest.fixture
def endpoint(server: JudgeServer) -> Endpoint:
    return Endpoint(
        server.url, MODEL, KEY, timeout_s=60, attempts=3, first_wait_s=0.01, longest_wait_s=0.02, concurrency=3
    )


@pytest.fixture
def judge(endpoint: Endpoint) -> Judge:
    return Judge(endpoint, RUBRIC)


def picture(seed: int = 0, side: int = 24) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (side, side + 3, 3), dtype=np.uint8)


def truth(image: np.ndarray, caption: str) -> float:
    return float(true_score(encode_png(sent(image)), caption))


def test_a_score_is_what_the_server_said_of_the_very_pixels_and_words(judge: Judge) -> None:
    images, captions = [picture(1), picture(2), picture(1)], ["A cat.", "Ein Hund: größer", ""]
    expected = [truth(image, caption) for image, caption in zip(images, captions, strict=True)]
    assert judge.score(images, captions).tolist() == expected


def test_the_request_is_frozen(judge: Judge, server: JudgeServer) -> None:
    judge.score([picture()], ["A cat."])
    (asked,) = server.requests
    assert asked["path"] == "/v1/chat/completions"
    assert (asked["model"], asked["temperature"], asked["seed"], asked["n"]) == (MODEL, 0, 2025, 1)
    assert asked["messages"][0] == {"role": "system", "content": RUBRIC}
    shape = asked["response_format"]["json_schema"]
    assert shape["strict"] is True
    assert shape["schema"]["required"] == ["score", "reason"]


@pytest.mark.parametrize("caption", ["busy twice: a cat", "broken once: a cat", "cut once: a cat"])
def test_a_passing_trouble_is_waited_out(judge: Judge, server: JudgeServer, caption: str) -> None:
    assert judge.score([picture()], [caption]).tolist() == [truth(picture(), caption)]
    assert server.asked[caption] == (3 if "twice" in caption else 2)


@pytest.mark.parametrize(
    ("caption", "reason", "tries"),
    [
        ("busy: a cat", "status 429 in each of 3 tries", 3),
        ("broken: a cat", "status 503 in each of 3 tries", 3),
        ("cut: a cat", "broke in each of 3 tries", 3),
        ("no json: a cat", "not the JSON it was asked for", 1),
        ("half json: a cat", "not the JSON it was asked for", 1),
        ("wrong shape: a cat", "score: Field required", 1),
        ("too much: a cat", "is 70, which is not on the scale from 0 to 10", 1),
        ("a word: a cat", "valid number", 1),
        ("long: a cat", "cut off", 1),
        ("too large: a cat", "status 400", 1),
    ],
)
def test_what_has_no_answer_is_null_with_its_reason_and_the_others_are_scored(
    judge: Judge, server: JudgeServer, caption: str, reason: str, tries: int
) -> None:
    assert reason in why_null(judge, caption)
    assert server.asked[caption] == tries


def test_what_is_not_answered_in_time_is_null_with_its_reason_and_the_others_are_scored(
    endpoint: Endpoint, server: JudgeServer
) -> None:
    judge = Judge(replace(endpoint, timeout_s=1), RUBRIC)
    assert "no answer within 1 s in each of 3 tries" in why_null(judge, "slow: a cat")
    assert server.asked["slow: a cat"] == 3


def why_null(judge: Judge, caption: str) -> str:
    """The reason why a caption has no score between two that have theirs."""
    image = picture()
    key = pixel_hash(image)
    found = score_pairs_with_errors(judge, {key: image}, [(key, "before"), (key, caption), (key, "after")])
    assert found.scores[[0, 2]].tolist() == [truth(image, "before"), truth(image, "after")]
    assert np.isnan(found.scores[1])
    assert found.errors[0] is found.errors[2] is None
    reason = found.errors[1]
    assert reason is not None
    assert KEY not in reason
    return reason


def test_every_pair_of_a_rough_day_is_scored_or_null_with_a_reason(judge: Judge) -> None:
    rough = ["busy twice", "broken once", "cut once", "no json", "wrong shape", "fine", "fenced", "dated model", "cut"]
    image = picture()
    key = pixel_hash(image)
    pairs = [(key, f"{kind}: {number}") for number in range(4) for kind in rough]
    found = score_pairs_with_errors(judge, {key: image}, pairs)
    for (_, caption), score, error in zip(pairs, found.scores, found.errors, strict=True):
        if caption.partition(":")[0] in ("no json", "wrong shape", "cut"):
            assert np.isnan(score)
            assert error
        else:
            assert score == truth(image, caption)
            assert error is None


def test_a_failed_score_raises_with_what_was_scored(judge: Judge) -> None:
    with pytest.raises(PartlyScored, match="1 of 2 pairs") as raised:
        judge.score([picture(), picture()], ["A cat.", "no json: a cat"])
    assert raised.value.scores[0] == truth(picture(), "A cat.")
    assert raised.value.errors[0] is None


@pytest.mark.parametrize(("concurrency", "pairs"), [(1, 32), (4, 32), (64, 512)])
def test_a_batch_keeps_every_place_in_the_air_taken(endpoint: Endpoint, concurrency: int, pairs: int) -> None:
    assert Judge(replace(endpoint, concurrency=concurrency), "rubric").full_batch == pairs


def test_a_repeat_is_not_asked_again_and_is_the_same_to_the_bit(
    endpoint: Endpoint, server: JudgeServer, tmp_path: Path
) -> None:
    answers = tmp_path / "answers.jsonl"
    first = Judge(endpoint, RUBRIC, answers).score([picture(), picture(3)], ["A cat.", "A dog."])
    asked = len(server.requests)
    again = Judge(replace(endpoint, url="http://127.0.0.1:9/v1"), RUBRIC, answers)
    assert again.score([picture(), picture(3)], ["A cat.", "A dog."]).tobytes() == first.tobytes()
    assert len(server.requests) == asked == 2
    with pytest.raises(PartlyScored):  # another rubric is another question
        Judge(replace(endpoint, url="http://127.0.0.1:9/v1"), RUBRIC + "!", answers).score([picture()], ["A cat."])


def test_as_many_requests_are_under_way_as_allowed_and_no_more(judge: Judge, server: JudgeServer) -> None:
    judge.score([picture()] * 12, [f"together: {number}" for number in range(12)])  # answered three at a time
    assert server.most_at_once == 3


def test_a_spent_budget_stops_and_a_fresh_one_goes_on(endpoint: Endpoint, server: JudgeServer, tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    captions = [f"Cat {number}." for number in range(8)]
    with pytest.raises(ScoringStopped, match="budget of 5 requests is spent"):
        Judge(replace(endpoint, most_requests=5), RUBRIC, answers).score([picture()] * 8, captions)
    assert len(server.requests) == 5
    scores = Judge(replace(endpoint, most_requests=5), RUBRIC, answers).score([picture()] * 8, captions)
    assert scores.tolist() == [truth(picture(), caption) for caption in captions]
    assert len(server.requests) == 8


def test_a_budget_of_money_counts_the_tokens_of_the_answers(endpoint: Endpoint, server: JudgeServer) -> None:
    dear = replace(endpoint, most_cost=0.05, price_in=10.0, price_out=100.0, concurrency=1)  # 0.012 an answer
    judge = Judge(dear, RUBRIC)
    with pytest.raises(ScoringStopped, match=r"budget of 0\.05 is spent \(0\.06\)"):
        judge.score([picture()] * 9, [f"Cat {number}." for number in range(9)])
    assert len(server.requests) == judge.budget.requests == 5
    assert judge.budget.cost == pytest.approx(5 * 0.012)


def test_an_endpoint_that_answers_for_another_model_ends_the_scoring(judge: Judge) -> None:
    with pytest.raises(ScoringStopped, match=r"'eye-1'.*'blind-2'"):
        judge.score([picture()], ["other model: a cat"])


def test_a_refused_key_ends_the_scoring_and_is_never_said(
    endpoint: Endpoint, server: JudgeServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    wrong = replace(endpoint, key="sk-wrong-key")
    judge = Judge(wrong, RUBRIC)
    with pytest.raises(ScoringStopped, match="refused the judge's key") as raised:
        judge.score([picture()] * 6, [f"Cat {number}." for number in range(6)])
    said = [str(raised.value), repr(wrong), json.dumps(judge.fingerprint.as_dict()), caplog.text]
    assert not any("sk-wrong-key" in text for text in said)
    assert len(server.requests) <= wrong.concurrency


def test_a_large_image_is_sent_smaller_in_its_own_shape() -> None:
    small = sent(np.zeros((900, 3000, 3), dtype=np.uint8))
    assert small.shape == (307, LONGEST_SIDE, 3)
    assert sent(picture()).shape == picture().shape


def test_the_environment_names_the_endpoint_and_its_limits() -> None:
    given = {"URL": "https://host.example/v1/", "MODEL": "m", "KEY": "k", "CONCURRENCY": "2", "MOST_REQUESTS": "9"}
    found = Endpoint.from_environment({f"INVARISCOPE_JUDGE_{name}": value for name, value in given.items()})
    assert (found.url, found.model, found.key) == ("https://host.example/v1", "m", "k")
    assert (found.concurrency, found.most_requests, found.host) == (2, 9, "host.example")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"URL": "file:///etc/passwd"}, "http:// or https://"),
        ({"URL": "https://name:word@host/v1"}, "no name, password or query"),
        ({"CONCURRENCY": "none"}, "whole number above 0, got 'none'"),
        ({"TIMEOUT_S": "-1"}, "number above 0, got '-1'"),
        ({"MOST_COST": "5"}, "PRICE_IN"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(given: dict[str, str], message: str) -> None:
    usual = {"URL": "https://host.example/v1", "MODEL": "m"}
    with pytest.raises(InvalidInput, match=message):
        Endpoint.from_environment({f"INVARISCOPE_JUDGE_{name}": value for name, value in (usual | given).items()})


def test_without_an_endpoint_the_judge_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("URL", "MODEL", "KEY"):
        monkeypatch.delenv(f"INVARISCOPE_JUDGE_{name}", raising=False)
    found = catalogue().get("judge").availability()
    assert not found.ready
    assert "INVARISCOPE_JUDGE_URL and INVARISCOPE_JUDGE_MODEL not set" in found.reason
    with pytest.raises(NotAvailable):
        Judge.load()


def test_the_judge_of_the_catalogue_asks_the_endpoint_of_the_environment(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path))
    for name, value in {"URL": server.url, "MODEL": MODEL, "KEY": KEY}.items():
        monkeypatch.setenv(f"INVARISCOPE_JUDGE_{name}", value)
    judge = catalogue().get("judge").load()
    assert judge.score([picture()], ["A caption of the catalogue's judge."]).shape == (1,)
    assert "0 to 10" in server.requests[0]["messages"][0]["content"]
    assert (tmp_path / "judge" / "answers.jsonl").is_file()


@pytest.fixture
def four(server: JudgeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Judge:
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path))
    for name, value in {"URL": server.url, "MODEL": MODEL, "KEY": KEY}.items():
        monkeypatch.setenv(f"INVARISCOPE_JUDGE_{name}", value)
    found = catalogue().get("judge-protoscore").load()
    assert isinstance(found, Judge)
    return found


def test_the_rubric_of_paper_e_is_asked_for_a_number_from_1_to_4_and_no_reason(
    four: Judge, server: JudgeServer, tmp_path: Path
) -> None:
    images, captions = [picture(seed) for seed in range(12)], [f"A bird, the {seed}." for seed in range(12)]
    found = four.score(images, captions).tolist()
    pairs = zip(images, captions, strict=True)
    assert found == [float(true_score(encode_png(sent(image)), caption, 1, 4)) for image, caption in pairs]
    assert (four.spec.score_range, min(found), max(found)) == ((1.0, 4.0), 1.0, 4.0)
    assert server.requests[0]["messages"][0]["content"].startswith("You are a strict expert judge")
    assert server.requests[0]["response_format"]["json_schema"]["schema"]["required"] == ["score"]
    asked = len(server.requests)
    assert type(four).load().score(images, captions).tolist() == found
    assert len(server.requests) == asked


def test_both_rubrics_are_told_apart_and_keep_answers_of_their_own(four: Judge, server: JudgeServer) -> None:
    ten = catalogue().get("judge").load()
    assert four.fingerprint.name != ten.fingerprint.name
    assert dict(four.fingerprint.settings) != dict(ten.fingerprint.settings)
    image, caption = picture(5), "One pair under both rubrics."
    assert four.score([image], [caption]).tolist() == [float(true_score(encode_png(sent(image)), caption, 1, 4))]
    assert ten.score([image], [caption]).tolist() == [truth(image, caption)]
    assert server.asked[caption] == 2


@pytest.mark.parametrize(
    ("caption", "reason"),
    [
        ("off the scale: a cat", "is 5, which is not on the scale from 1 to 4"),
        ("chatty: a cat", "reason: Extra inputs are not permitted"),
    ],
)
def test_an_answer_off_the_scale_of_its_rubric_is_no_score(four: Judge, caption: str, reason: str) -> None:
    with pytest.raises(PartlyScored) as told:
        four.score([picture()], [caption])
    assert reason in str(told.value.errors[0])
