"""A judge asked offline, and one that may ask no more: what was answered is kept, and an audit says why and goes on."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from core.commands._shared import Code
from core.store.run_files import COMPLETE, INTERRUPTED, read_run
from tests.commands.calling import Invoke
from tests.evaluators import batch_runner as runner
from tests.evaluators.judge_server import KEY, MODEL, JudgeServer

CORPUS = ("--corpus", "demo", "--limit", "3", "--probes", "vertical-flip,cultural", "--subject", "human")
JUDGES = (f"judge:{MODEL}@judge", "judge:org/other@judge~scale-5")

Export = Callable[..., tuple[Path, list[list[dict[str, Any]]]]]


@pytest.fixture
def export(invoke: Invoke, tmp_path: Path) -> Export:
    """Write pairs and batches; the folder, and the requests judge by judge."""

    def call(kind: str, *judges: str, more: tuple[object, ...] = ()) -> tuple[Path, list[list[dict[str, Any]]]]:
        pairs = tmp_path / f"pairs-{kind}"
        named = [word for judge in judges for word in ("--judge", judge)]
        done = invoke("export-pairs", *CORPUS, "-o", pairs, "--batch", kind, *named, *more)
        assert done.exit_code == Code.OK, done.stderr
        told = {json.loads(file.read_text())["name"]: file.parent for file in pairs.glob("batch/*/judge.json")}
        return pairs, [runner.read_requests(told[judge]) for judge in judges]

    return call


def scores(folder: Path) -> dict[tuple[str, str, str], tuple[float | None, str | None]]:
    rows = pq.read_table(folder / "scores").to_pylist()
    return {
        (row["item"], row["probe"], row["evaluator"].removesuffix("@imported")): (row["score"], row["error"])
        for row in rows
    }


@pytest.mark.parametrize(
    ("kind", "answer"), [("openai", runner.openai_answer), ("vllm", runner.vllm_answer)], ids=["openai", "vllm"]
)
def test_a_batch_in_shuffled_pieces_gives_the_scores_of_the_same_judges_over_http(
    invoke: Invoke, export: Export, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, answer: Any
) -> None:
    runs = tmp_path / "data" / "runs"
    with JudgeServer().running() as server:
        monkeypatch.setenv("INVARISCOPE_JUDGE_URL", server.url)
        monkeypatch.setenv("INVARISCOPE_JUDGE_KEY", KEY)
        direct = invoke("audit", *CORPUS, "--evaluators", ",".join(JUDGES), "--run-id", "direct")
    assert direct.exit_code == Code.OK, direct.stderr
    pairs, asked = export(kind, *JUDGES, more=("--batch-lines", "4"))
    assert len(list(pairs.glob("batch/*/requests-*.jsonl"))) >= 4
    if kind == "vllm":
        assert all("file://" in json.dumps(each) for each in asked[0])
    lines = [answer(request, number) for number, request in enumerate(asked[0] + asked[1])]
    random.Random(5).shuffle(lines)
    files = [runner.write_answers(tmp_path / f"out-{n}.jsonl", lines[n::3]) for n in range(3)]
    monkeypatch.setenv("INVARISCOPE_JUDGE_PRICE_IN", "2")
    monkeypatch.setenv("INVARISCOPE_JUDGE_PRICE_OUT", "10")
    done = invoke("import-scores", "--batch", *files, "--pairs", pairs, "--run-id", "batch")
    assert done.exit_code == Code.OK, done.stderr
    assert scores(runs / "batch") == scores(runs / "direct")
    count = len(asked[0])
    cost = (2 * 1000 + 10 * 20) * count / 1e6
    assert f"{count} of {count} questions have a score." in done.stdout.replace("\n", " ")
    assert f"{count * 1000:,} tokens read and {count * 20:,} written, {cost:.4g} at the prices" in done.stdout
    entry = json.loads((runs / "batch" / "manifest.json").read_text())["evaluators"][0]
    assert entry["spec"]["score_range"] == [0, 10]
    assert (entry["imported"]["batch"]["answered"], entry["imported"]["batch"]["cost"]) == (count, pytest.approx(cost))
    assert entry["imported"]["rubric"]["text"].startswith("You judge how well")


def test_missing_doubled_foreign_failed_and_damaged_answers_are_counted_in_a_sentence_each(
    invoke: Invoke, export: Export, tmp_path: Path
) -> None:
    pairs, (asked,) = export("openai", JUDGES[0])
    good = [runner.openai_answer(request, number) for number, request in enumerate(asked)]
    later = runner.openai_answer(asked[0], 90, '{"score": 3, "reason": "again"}')
    first = json.loads(good[0]["response"]["body"]["choices"][0]["message"]["content"])["score"]
    answers = [later, *good[:-4], good[1]]
    answers.append(runner.openai_answer(asked[-4], 91, '{"score": 70, "reason": "generous"}'))
    failed = [runner.openai_error(asked[-3], 92), runner.vllm_error(asked[-2], 93, text=False)]
    foreign = [{**good[2], "custom_id": "p" + "0" * 31 + "-00000000"}, {**good[3], "custom_id": "mine"}]
    foreign.append({**good[3], "custom_id": "p" + "1" * 31 + good[3]["custom_id"][-9:]})
    file = runner.write_answers(tmp_path / "answers.jsonl", answers + failed + foreign)
    with file.open("a") as more:
        more.write('{"id": "batch_req_7", "custom_id": "p')  # the download was cut off
    done = invoke("import-scores", "--batch", file, "--pairs", pairs, "--run-id", "rough")
    assert done.exit_code == Code.FAILURES, done.stderr
    said = " ".join(done.stdout.split())
    assert f"{len(asked) - 4} of {len(asked)} questions have a score." in said
    assert "Missing: 1 question has no answer in the files" in said
    assert "Failed: 3 questions have an answer without a score, such as: " in said
    differs = first != 3
    assert f"Doubled: 2 answers beyond the first{', 1 of them with another score' if differs else ''}; the" in said
    assert f"{(len(asked) - 1) * 1000:,} tokens read" in said  # paid once where one line stands twice
    assert "Foreign: 3 answers are to no question" in done.stderr
    assert "Unreadable: 1 lines are no answers" in done.stderr
    rows = pq.read_table(tmp_path / "data" / "runs" / "rough" / "scores").to_pylist()
    reasons = {row["error"] for row in rows if row["error"]}
    assert {each.rpartition(" [")[0] for each in reasons} == {
        "not in answers.jsonl",
        "the judge's score is 70, which is not on the scale from 0 to 10 that it was asked for",
        "the endpoint did not answer: batch_expired: This request could not be executed before the completion window "
        "expired.",
        "the endpoint did not answer (status 404): 404: The model does not exist.",
    }


def test_a_question_that_was_answered_again_counts_its_earliest_score_in_any_order(
    invoke: Invoke, export: Export, tmp_path: Path
) -> None:
    pairs, (asked,) = export("vllm", JUDGES[0])
    lines = [runner.vllm_error(asked[0], 1)]
    lines += [runner.vllm_answer(asked[0], 9 - n, f'{{"score": {n}, "reason": ""}}') for n in range(3)]
    found = []
    for order in (lines, lines[::-1], lines[2:] + lines[:2]):
        file = runner.write_answers(tmp_path / "answers.jsonl", order)
        run = ("--pairs", pairs, "--run-id", "again", "--overwrite")
        assert invoke("import-scores", "--batch", file, *run).exit_code == Code.FAILURES
        rows = pq.read_table(tmp_path / "data" / "runs" / "again" / "scores").to_pylist()
        found.append([row["score"] for row in rows if row["score"] is not None])
    assert found[0] == found[1] == found[2]
    assert set(found[0]) == {2.0}


def test_clair_is_asked_once_a_caption_and_only_where_there_are_references(
    invoke: Invoke, export: Export, tmp_path: Path
) -> None:
    pairs, (asked, all_asked) = export("openai", f"judge:{MODEL}@clair", JUDGES[0])
    assert 0 < len(asked) < len(all_asked)
    assert "image_url" not in json.dumps(asked)
    file = runner.write_answers(tmp_path / "a.jsonl", [runner.openai_answer(each, n) for n, each in enumerate(asked)])
    done = invoke("import-scores", "--batch", file, "--pairs", pairs, "--run-id", "clair")
    assert f"judge:{JUDGES[0][6:]}: none of the files has a score for it" in " ".join(done.stderr.split())
    rows = pq.read_table(tmp_path / "data" / "runs" / "clair" / "scores").to_pylist()
    by_caption: dict[tuple[str, str], set[float]] = {}
    for row in rows:
        if row["score"] is not None:
            by_caption.setdefault((row["item"], row["caption"]), set()).add(row["score"])
    assert by_caption
    assert all(len(each) == 1 for each in by_caption.values())


def test_what_cannot_be_a_batch_is_refused_in_a_sentence(invoke: Invoke, export: Export, tmp_path: Path) -> None:
    out = ("export-pairs", *CORPUS, "-o", tmp_path / "x")
    pairs, (asked,) = export("openai", JUDGES[0])
    answers = [runner.openai_answer(asked[0], 1)]
    file = runner.write_answers(tmp_path / "a.jsonl", answers)
    other = runner.write_answers(tmp_path / "b.jsonl", [{**answers[0], "custom_id": "p1-2"}])
    long = tmp_path / "c.jsonl"
    long.write_bytes(b"x" * 1_000_002)
    plain = tmp_path / "plain"
    assert invoke("export-pairs", *CORPUS, "-o", plain).exit_code == Code.OK
    back = ("import-scores", "--batch")
    for arguments, why in (
        ((*out, "--batch", "openai"), "--judge judge:MODEL@RUBRIC, both"),
        ((*out, "--judge", JUDGES[0]), "--judge judge:MODEL@RUBRIC, both"),
        ((*out, "--batch", "other", "--judge", JUDGES[0]), "--batch openai or vllm"),
        ((*out, "--batch", "openai", "--judge", "grounding-judge"), "is no judge:MODEL@RUBRIC"),
        ((*out, "--batch", "openai", "--judge", "judge"), "is no judge:MODEL@RUBRIC"),
        (
            ("export-pairs", *CORPUS, "-o", pairs, "--batch", "openai", "--judge", JUDGES[0], "--batch-mb", "0.001"),
            "allow",
        ),
        ((*back, file, "--pairs", pairs, "--evaluator", "x"), "the batch says it"),
        ((*back, file, "--pairs", plain), "has no batch"),
        ((*back, other, "--pairs", pairs), "no answer holds a score"),
        ((*back, long, "--pairs", pairs), "more than 1,000,000 bytes"),
        ((*back, tmp_path / "none.jsonl", "--pairs", pairs), "cannot be read"),
    ):
        done = invoke(*arguments)
        assert done.exit_code == Code.BAD_INPUT, done.stdout
        assert why in " ".join(done.stderr.split())


def test_a_spent_budget_is_said_and_a_fresh_one_goes_on(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = (
        "audit",
        "--corpus",
        "demo",
        "--limit",
        "2",
        "--probes",
        "vflip,hflip",
        "--evaluators",
        "judge",
        "--run-id",
        "judged",
        "--out",
        str(tmp_path),
    )
    monkeypatch.setenv("INVARISCOPE_CACHE", str(tmp_path / "cache"))
    with JudgeServer().running() as server:
        for name, value in {"URL": server.url, "MODEL": MODEL, "KEY": KEY, "MOST_REQUESTS": "3"}.items():
            monkeypatch.setenv(f"INVARISCOPE_JUDGE_{name}", value)
        stopped = invoke(*command)
        assert stopped.exit_code == 130
        assert "budget of 3 requests is spent" in stopped.stderr
        assert "--resume" in stopped.stderr
        assert read_run(tmp_path / "judged").status == INTERRUPTED
        done = invoke(*command, "--resume")
        assert done.exit_code == 0, done.stderr
        assert len(server.requests) == 6  # two items, three pictures each: none was asked about twice
    assert read_run(tmp_path / "judged").status == COMPLETE


def test_several_judges_stand_in_one_run(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judges = [f"judge:{MODEL}@judge", "judge:org/other@judge", f"judge:{MODEL}@clair"]
    with JudgeServer().running() as server:
        for name, value in {"URL": server.url, "KEY": KEY}.items():
            monkeypatch.setenv(f"INVARISCOPE_JUDGE_{name}", value)
        done = invoke(
            *("audit", "--corpus", "demo", "--limit", "2", "--probes", "vflip,hflip", "--run-id", "several"),
            *("--evaluators", ",".join(judges), "--out", str(tmp_path)),
        )
    assert done.exit_code == 0, done.stderr
    run = read_run(tmp_path / "several")
    assert [each["name"] for each in run.manifest["evaluators"]] == judges
    assert run.manifest["counts"]["scores_null"] == 0
