"""A judge that means no good costs a deadline and some bytes, and never an answer that was paid for."""

import json
import logging
import os
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.corpora.images import pixel_hash
from core.errors import ScoringStopped
from core.evaluators.base import PartlyScored
from core.evaluators.cache import PAIR, EmbeddingCache, pair_key
from core.evaluators.metrics.judge import Judge
from core.evaluators.network import asking as journals
from core.evaluators.network.endpoint import Endpoint
from core.evaluators.network.rubrics import LONGEST_REASON, NoVerdict, one_line, read_verdict
from tests.evaluators.hostile_judge import SCORE, USAGES, HostileJudge, completion
from tests.evaluators.judge_server import KEY, MODEL
from tests.evaluators.test_judge import RUBRIC, picture

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def server() -> Iterator[HostileJudge]:
    with HostileJudge().running() as running:
        yield running  # type: ignore[misc]


@pytest.fixture
def endpoint(server: HostileJudge) -> Endpoint:
    return Endpoint(server.url, MODEL, KEY, timeout_s=60, attempts=1, first_wait_s=0.01, longest_wait_s=0.02)


def reason(endpoint: Endpoint, caption: str) -> str:
    """Why a caption has no score, beside another that has its own."""
    with pytest.raises(PartlyScored) as raised:
        Judge(endpoint, RUBRIC).score([picture()] * 2, ["plainly", caption])
    assert raised.value.scores[0] == SCORE
    told = raised.value.errors[1]
    assert told is not None
    assert told.isprintable()
    assert len(told) < 400
    assert KEY not in told
    return told


@pytest.mark.parametrize("which", ["body", "headers"])
def test_an_answer_of_a_byte_at_a_time_ends_at_the_deadline_of_the_whole(endpoint: Endpoint, which: str) -> None:
    told = reason(replace(endpoint, timeout_s=1), f"drip: {which}")
    assert "no answer within 1 s in each of 1 tries" in told


@pytest.mark.parametrize("which", ["", "with an error"])
def test_a_bomb_is_not_unpacked(endpoint: Endpoint, server: HostileJudge, which: str) -> None:
    patient = replace(endpoint, attempts=3)
    tracemalloc.start()
    try:
        assert "more than 1,000,000 bytes" in reason(patient, f"bomb: {which}")
        assert tracemalloc.get_traced_memory()[1] < 50e6, "of the 200 MB that it unpacks to"
    finally:
        tracemalloc.stop()
    assert server.asked[f"bomb: {which}"] == 1  # it would be paid for again


def test_an_answer_without_end_is_left(endpoint: Endpoint) -> None:
    assert "more than 1,000,000 bytes" in reason(endpoint, "endless: answer")


@pytest.mark.parametrize("which", ["gzip", "deflate", "identity"])
def test_a_packed_answer_is_read(endpoint: Endpoint, which: str) -> None:
    assert Judge(endpoint, RUBRIC).score([picture()], [f"packed: {which}"]).tolist() == [SCORE]


@pytest.mark.parametrize(("which", "told"), [("br", "packed its answer as 'br'"), ("zstd", "'zstd'")])
def test_another_packing_than_was_asked_for_is_refused(endpoint: Endpoint, which: str, told: str) -> None:
    assert told in reason(endpoint, f"packed: {which}")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_nobody_is_led_to_another_host_with_key_and_picture(
    endpoint: Endpoint, server: HostileJudge, status: int
) -> None:
    with HostileJudge().running() as thief:
        server.elsewhere = thief.url + "/chat/completions"
        with pytest.raises(ScoringStopped, match="redirects to http://127") as raised:
            Judge(endpoint, RUBRIC).score([picture()], [f"redirect: {status} away"])
        assert thief.requests == []
    assert KEY not in str(raised.value)


def test_a_redirect_that_stays_and_asks_the_same_is_followed(endpoint: Endpoint, server: HostileJudge) -> None:
    assert Judge(endpoint, RUBRIC).score([picture()], ["redirect: 307 here"]).tolist() == [SCORE]
    assert [each["path"] for each in server.requests] == ["/v1/chat/completions", "/v1/moved"]


def test_redirects_in_a_circle_end(endpoint: Endpoint, server: HostileJudge) -> None:
    with pytest.raises(ScoringStopped, match="4 times in a row"):
        Judge(endpoint, RUBRIC).score([picture()], ["redirect: 308 around"])
    assert len(server.requests) == 4


@pytest.mark.parametrize("which", ["302 here", "300 nowhere", "307 broken"])
def test_a_redirect_that_loses_the_question_is_not_followed(endpoint: Endpoint, which: str) -> None:
    with pytest.raises(ScoringStopped, match="set INVARISCOPE_JUDGE_URL"):
        Judge(endpoint, RUBRIC).score([picture()], [f"redirect: {which}"])


@pytest.mark.parametrize("which", USAGES)
def test_a_score_is_kept_whatever_is_said_about_its_tokens(
    endpoint: Endpoint, which: str, caplog: pytest.LogCaptureFixture
) -> None:
    judge = Judge(replace(endpoint, price_in=10.0, price_out=10.0), RUBRIC)
    with caplog.at_level(logging.WARNING, logger="invariscope.judge"):
        assert judge.score([picture()], [f"usage: {which}"]).tolist() == [SCORE]
    assert (judge.budget.unknown, judge.budget.cost) == (1, 0.0)
    assert "its cost is unknown" in caplog.text


def test_a_budget_of_money_stops_where_costs_are_unknown_and_keeps_the_answer(
    endpoint: Endpoint, server: HostileJudge, tmp_path: Path
) -> None:
    dear = replace(endpoint, most_cost=5.0, price_in=10.0, price_out=10.0, concurrency=1)
    captions = ["usage: negative", "plainly 1", "plainly 2"]
    with pytest.raises(ScoringStopped, match=r"cannot be kept: .* 1 of 1 answers"):
        Judge(dear, RUBRIC, tmp_path / "answers.jsonl").score([picture()] * 3, captions)
    Judge(endpoint, RUBRIC, tmp_path / "answers.jsonl").score([picture()] * 3, captions)
    assert server.asked == dict.fromkeys(captions, 1)


def test_a_long_reason_costs_no_score_and_is_cut_to_whole_sentences() -> None:
    told = read_verdict(json.dumps({"score": 3, "reason": "It is \n\x1b[31ma cat.\u202e " * 900}))
    assert told.score == 3
    assert told.reason.isprintable()
    assert LONGEST_REASON // 2 < len(told.reason) <= LONGEST_REASON
    assert told.reason.endswith("cat.")


def test_one_line_keeps_what_is_short_and_cuts_at_a_word() -> None:
    assert one_line(" A cat,\n\tseen. ", limit=40) == "A cat, seen."
    assert one_line("word " * 20, limit=23) == "word word word word…"
    assert one_line("w" * 50, limit=10) == "w" * 9 + "…"


@pytest.mark.parametrize("score", ["NaN", "Infinity", "-1", "1e999", "true", '"7"', "null", "[7]", "0.9", "7.5"])
def test_what_is_no_score_is_none(score: str) -> None:
    with pytest.raises(NoVerdict):
        read_verdict(f'{{"score": {score}, "reason": "r"}}')
    assert read_verdict('{"score": 7.0, "reason": "r"}').score == 7.0


@pytest.mark.parametrize(
    "body",
    ["", "[]", "null", "[" * 5000, "9" * 5000, '{"choices": 7}', '{"choices": []}', '{"choices": [{"message": 1}]}'],
)
def test_an_answer_that_is_no_completion_is_a_sentence(endpoint: Endpoint, body: str) -> None:
    assert "the judge's answer" in reason(endpoint, f"raw: {body}")


def test_an_answer_that_names_no_model_is_believed(endpoint: Endpoint) -> None:
    told = json.dumps(completion(model=["eye-1"]))
    assert Judge(endpoint, RUBRIC).score([picture()], [f"raw: {told}"]).tolist() == [SCORE]


CHILD = """
import sys
from pathlib import Path
from core.evaluators.metrics.judge import Judge
from core.evaluators.network.endpoint import Endpoint
from tests.evaluators.test_judge import RUBRIC, picture
url, path, *captions = sys.argv[1:]
judge = Judge(Endpoint(url, "eye-1", "k", timeout_s=60, concurrency=2), RUBRIC, Path(path))
judge.score([picture()] * len(captions), captions)
"""


def test_an_answer_that_was_paid_for_outlives_a_kill(server: HostileJudge, endpoint: Endpoint, tmp_path: Path) -> None:
    journal = tmp_path / "answers.jsonl"
    captions = ["hold: for ever", *(f"plainly {number}" for number in range(5))]
    child = subprocess.Popen([sys.executable, "-c", CHILD, server.url, str(journal), *captions], cwd=ROOT)
    try:
        wait_for(lambda: journal.is_file() and journal.read_bytes().count(b"\n") == 5, child)
    finally:
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
    server.asked.clear()
    found = Judge(endpoint, RUBRIC, journal).score([picture()] * 5, captions[1:])
    assert found.tolist() == [SCORE] * 5
    assert not server.asked


def wait_for(happened: object, child: "subprocess.Popen[bytes]") -> None:
    for _ in range(1200):
        if happened():  # type: ignore[operator]
            return
        assert child.poll() is None
        time.sleep(0.05)
    raise AssertionError("it did not happen within a minute")


def test_a_torn_or_damaged_line_costs_itself_alone(server: HostileJudge, endpoint: Endpoint, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    captions = [f"plainly {number}" for number in range(4)]
    one_by_one = replace(endpoint, concurrency=1)
    Judge(one_by_one, RUBRIC, path).score([picture()] * 4, captions)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1].replace(b"7", b"8") + lines[2] + lines[3][:-20])
    server.asked.clear()
    assert Judge(one_by_one, RUBRIC, path).score([picture()] * 4, captions).tolist() == [SCORE] * 4
    assert server.asked == {captions[1]: 1, captions[3]: 1}
    server.asked.clear()
    Judge(one_by_one, RUBRIC, path).score([picture()] * 4, captions)
    assert not server.asked


def test_what_another_process_paid_for_meanwhile_is_not_asked_again(
    server: HostileJudge, endpoint: Endpoint, tmp_path: Path
) -> None:
    path = tmp_path / "answers.jsonl"
    early = Judge(endpoint, RUBRIC, path)
    early.score([picture()], ["plainly 1"])
    Judge(endpoint, RUBRIC, path).score([picture()], ["plainly 2"])
    early.score([picture()] * 2, ["plainly 1", "plainly 2"])
    assert server.asked == {"plainly 1": 1, "plainly 2": 1}


def test_nothing_is_asked_where_an_answer_cannot_be_kept(
    server: HostileJudge, endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(ScoringStopped, match="cannot be kept in"):
        Judge(endpoint, RUBRIC, tmp_path / "file" / "answers.jsonl").score([picture()], ["plainly"])
    assert not server.requests

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    judge = Judge(replace(endpoint, concurrency=1), RUBRIC, tmp_path / "answers.jsonl")
    with monkeypatch.context() as patched:
        patched.setattr(judge._answers, "check", lambda: None)
        patched.setattr(journals.os, "fsync", full)
        with pytest.raises(ScoringStopped, match="No space left"):
            judge.score([picture()] * 9, [f"plainly {number}" for number in range(9)])
    assert len(server.requests) <= 2


def test_answers_of_the_earlier_cache_are_not_paid_for_again(
    server: HostileJudge, endpoint: Endpoint, tmp_path: Path
) -> None:
    judge = Judge(endpoint, RUBRIC)
    earlier = EmbeddingCache(tmp_path / "judge.sqlite")
    key = pair_key(pixel_hash(picture()), "plainly")
    earlier.put_many(f"judge:{judge._digest}:{MODEL}", PAIR, {key: np.array(4.0)})
    earlier.close()
    again = Judge(endpoint, RUBRIC, tmp_path / "answers.jsonl", earlier=tmp_path / "judge.sqlite")
    assert again.score([picture()], ["plainly"]).tolist() == [4.0]
    assert not server.requests
