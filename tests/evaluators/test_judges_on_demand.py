"""Any number of models and rubrics as judges, each an evaluator of its own, against a real server over HTTP."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.corpora.images import encode_png
from core.errors import InvalidInput
from core.evaluators.metrics.judge import Judge, ReferencedJudge, sent
from core.evaluators.network.endpoint import endpoint_of
from core.evaluators.network.rubrics import NoVerdict, Rubric, find_rubric, read_verdict
from core.evaluators.registry import find, names_file
from tests.evaluators.judge_server import KEY, MODEL, JudgeServer, true_score

IMAGE = np.random.default_rng(4).integers(0, 256, (24, 27, 3), dtype=np.uint8)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[JudgeServer]:
    with JudgeServer().running() as running:
        monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
        for name, value in {"URL": running.url, "KEY": KEY}.items():
            monkeypatch.setenv(f"INVARISCOPE_JUDGE_{name}", value)
        yield running


def test_models_and_rubrics_make_evaluators_that_are_told_apart(server: JudgeServer) -> None:
    names = [f"judge:{model}@{rubric}" for model in (MODEL, "org/eye:2b") for rubric in ("judge", "judge~scale-5")]
    kinds = [find(name) for name in names]
    assert [kind.spec.name for kind in kinds] == names
    assert [kind.spec.score_range for kind in kinds] == [(0, 10), (1, 5)] * 2
    loaded = [kind.load() for kind in kinds]
    assert len({each.fingerprint.key for each in loaded}) == 4
    found = [each.score([IMAGE], ["A cat."])[0] for each in loaded]
    png = encode_png(sent(IMAGE))
    expected = [true_score(png, "A cat.", *ends, name) for name in (MODEL, "org/eye:2b") for ends in ((0, 10), (1, 5))]
    assert found == expected
    assert [each["model"] for each in server.requests] == [MODEL, MODEL, "org/eye:2b", "org/eye:2b"]


def test_a_fingerprint_has_model_kind_of_endpoint_rubric_scale_and_order(server: JudgeServer) -> None:
    told = find(f"judge:{MODEL}@judge~picture-last").load().fingerprint
    rubric = find_rubric("judge~picture-last")[1]
    assert told.weights == MODEL
    assert {name: told.settings[name] for name in ("endpoint", "rubric", "low", "high", "picture", "temperature")} == {
        "endpoint": "chat/completions",
        "rubric": rubric.digest,
        "low": 0,
        "high": 10,
        "picture": "last",
        "temperature": 0,
    }
    assert KEY not in json.dumps(told.as_dict())


def test_the_judge_of_the_environment_and_the_named_one_share_what_was_paid_for(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INVARISCOPE_JUDGE_MODEL", MODEL)
    first = find("judge").load().score([IMAGE], ["A cat."])
    assert find(f"judge:{MODEL}").spec.name == f"judge:{MODEL}@judge"
    assert find(f"judge:{MODEL}").load().score([IMAGE], ["A cat."]).tolist() == first.tolist()
    assert len(server.requests) == 1
    find(f"judge:{MODEL}@judge~repeat-2").load().score([IMAGE], ["A cat."])
    find(f"judge:{MODEL}@judge~scale-100").load().score([IMAGE], ["A cat."])
    assert len(server.requests) == 3
    assert server.requests[0] == server.requests[1]  # a repeat is the very same question
    again = find(f"judge:{MODEL}@judge~scale-100").load().score([IMAGE], ["A cat."])  # kept on a scale beyond 10
    assert again.tolist() == [true_score(encode_png(sent(IMAGE)), "A cat.", 0, 100)]
    assert len(server.requests) == 3


def test_clair_is_shown_references_and_no_picture_and_asked_once_whatever_the_picture(server: JudgeServer) -> None:
    clair = find(f"judge:{MODEL}@clair")
    assert (clair.spec.takes_references, clair.spec.score_range, clair.spec.languages) == (True, (0, 100), ("en",))
    loaded = clair.load()
    assert isinstance(loaded, ReferencedJudge)
    other = np.zeros((9, 9, 3), dtype=np.uint8)
    found = loaded.score([IMAGE, other, IMAGE], ["A cat."] * 3, [["A pet."], ["A pet."], ["A dog."]])
    assert len(server.requests) == 2
    assert found[0] == found[1]
    assert "image_url" not in json.dumps(server.requests)
    with pytest.raises(InvalidInput, match="compares with reference captions"):
        loaded.score([IMAGE], ["A cat."])


def test_fleurs_prompt_gets_a_bare_number(server: JudgeServer) -> None:
    loaded = find(f"judge:{MODEL}@fleur").load()
    assert isinstance(loaded, Judge)
    (score,) = loaded.score([IMAGE], ["A cat."])
    assert 0 <= score <= 1
    assert "response_format" not in server.requests[0]
    assert server.requests[0]["messages"][0]["role"] == "user"


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("0.7", 0.7),
        (" Score: 0.85.", 0.85),
        ("1", 1.0),
        ("0.7 of 1.0", None),
        ("1.2", None),
        ("none", None),
        ("", None),
        ("1%", None),
        ("\u22121", None),
        ("0\u20131", None),
        ("0½", None),
        ("less than 0.7", None),
        ("Score: at most a 0.7", None),
        ("not more than 1", None),
        ("score < 0.7", None),
        ("between 0.7 and one", None),
        ("0.7 or more", None),
        ("0.7+", None),
        ("more than 0.7/1", None),
        ("<score>0.7</score>", 0.7),
        ("Overall score: 0.7 (more than most)", 0.7),
        ("<think>\n0 or 1?\n</think>\n\n0.7", 0.7),
    ],
)
def test_a_bare_number_is_read_with_suspicion(answer: str, score: float | None) -> None:
    form = Rubric(text="?", low=0, high=1, whole=False, answer="number")
    if score is None:
        with pytest.raises(NoVerdict):
            read_verdict(answer, form)
    else:
        assert read_verdict(answer, form).score == score


def test_a_percentage_is_its_number_on_a_scale_to_a_hundred_alone() -> None:
    assert read_verdict("Score: 85 %", Rubric(text="?", low=0, high=100, answer="number")).score == 85
    with pytest.raises(NoVerdict):
        read_verdict("8%", Rubric(text="?", low=0, high=10, answer="number"))


def test_what_a_model_thinks_before_its_answer_is_no_part_of_it() -> None:
    """Qwen 3 without thinking writes an empty thought."""
    for thought in ("<think>\n\n</think>\n\n", '<think>{"score": 3}</think>'):
        assert read_verdict(f'{thought}{{"score": 8, "reason": "so"}}').score == 8
    with pytest.raises(NoVerdict):
        read_verdict('<think>{"score": 3}')


def test_a_file_names_where_each_model_is_asked_its_price_and_what_it_reads(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "models.toml"
    file.write_text(
        f'["{MODEL}"]\nkey_variable = "EYE_KEY"\nprice_in = 2.5\nprice_out = 10\nlanguages = ["de", "en"]\n'
        '["elsewhere"]\nurl = "https://host.example/v1"\nconcurrency = 9\n',
        encoding="utf-8",
    )
    monkeypatch.setenv("INVARISCOPE_JUDGE_MODELS", str(file))
    assert find(f"judge:{MODEL}@judge").availability().reason.endswith("EYE_KEY, which is not set")
    monkeypatch.setenv("EYE_KEY", KEY)
    kind = find(f"judge:{MODEL}@judge")
    assert kind.spec.languages == ("de", "en")
    assert "A million tokens cost 2.5 read and 10 written." in kind.spec.summary
    assert find(f"judge:{MODEL}@fleur").spec.languages == ("en",)
    judge = kind.load()
    assert isinstance(judge, Judge)
    judge.score([IMAGE], ["A cat."])
    assert judge.budget.cost == pytest.approx((2.5 * 1000 + 10 * 20) / 1e6)
    other = endpoint_of("elsewhere")
    assert (other.url, other.concurrency, other.key) == ("https://host.example/v1", 9, "")  # no key but its own


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('["m"]\ncolour = 1', "has colour; there may be"),
        ('["m"]\nkey = "sk-1"', "has key; there may be"),
        ('["m"]\nconcurrency = "no"', "CONCURRENCY must be a whole number"),
        ('m = "x"', "must hold tables"),
        ("[", "no TOML that can be read"),
    ],
)
def test_a_file_of_models_that_cannot_be_used_is_refused(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, said: str
) -> None:
    file = tmp_path / "models.toml"
    file.write_text(text, encoding="utf-8")
    monkeypatch.setenv("INVARISCOPE_JUDGE_MODELS", str(file))
    with pytest.raises(InvalidInput, match=said):
        endpoint_of("m")


@pytest.mark.parametrize("reference", ["judge:", "judge:@judge", "judge:m@", "judge:m@no-such"])
def test_what_is_no_judge_is_refused_in_a_sentence(reference: str) -> None:
    with pytest.raises(InvalidInput):
        find(reference)


def test_a_rubric_by_path_is_a_file_to_whoever_asks(tmp_path: Path) -> None:
    assert names_file("judge:m@mine.toml")
    assert not names_file("judge:org/eye@judge")
