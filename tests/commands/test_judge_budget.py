"""An audit whose judge may ask no more: it says why, keeps what was answered, and goes on with a fresh budget."""

from pathlib import Path

import pytest

from core.store.run_files import COMPLETE, INTERRUPTED, read_run
from tests.commands.calling import Invoke
from tests.evaluators.judge_server import KEY, MODEL, JudgeServer


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
