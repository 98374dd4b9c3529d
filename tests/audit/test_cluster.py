"""Actors of a Ray cluster do the work of an audit, to the very bytes; run where the optional extra is installed."""

import logging
import os
import pickle
import re
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.audit.fingerprints import GET_RAY, has_ray
from core.audit.plan import Plan
from core.audit.run import Progress, RunStopped, run_audit
from core.audit.workers import teams
from core.commands._shared import Code
from core.errors import InvalidInput, NotAvailable
from core.evaluators.pool import Pool
from core.settings import data_dir
from core.store.run_files import Run, read_run
from tests.audit.squares import HISTOGRAM, PAIRED, PLUGINS, build_corpus
from tests.plans import make_plan

MORTAL = f"{PLUGINS / 'mortal.py'}:Mortal"
HEAD = (
    "import ray; made = ray.init(num_cpus=2, include_dashboard=False, logging_level='ERROR'); "
    "print('at', made.address_info['gcs_address'], flush=True); input()"
)

needs_ray = pytest.mark.skipif(not has_ray(), reason=f"Ray is not here; get it with: {GET_RAY}")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path_factory.mktemp("data")))  # of the nodes, too
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
    with subprocess.Popen(
        [sys.executable, "-c", HEAD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path_factory.mktemp("head"),
    ) as head:
        assert head.stdout is not None
        told = next((line.split()[1] for line in head.stdout if line.startswith("at ")), "")
        assert told, "no cluster began"
        yield told
        head.kill()
    monkeypatch.undo()


def plan_of(root: Path, *evaluators: str) -> Plan:
    return make_plan(build_corpus(root / "corpus", 8), evaluators=evaluators, shard_items=2, batch_size=4)


def content(run: Run) -> dict[Path, bytes]:
    return {path.relative_to(run.path): path.read_bytes() for path in sorted(run.path.rglob("*.parquet"))}


@needs_ray
def test_actors_of_whom_one_dies_give_the_bytes_of_one_process(
    address: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    plan = plan_of(tmp_path, HISTOGRAM, PAIRED, MORTAL)
    pool = Pool(100, "cpu")
    alone = run_audit(plan, tmp_path / "alone", run_id="r", pool=pool, threads=1)
    lives = data_dir() / "lives"
    lives.write_text("1", encoding="utf-8")
    told: list[Progress] = []
    with caplog.at_level(logging.WARNING, "invariscope.audit"):
        run = run_audit(
            plan, tmp_path / "cluster", run_id="r", pool=pool, workers=2, cluster=address, progress=told.append
        )
    assert re.fullmatch(r"a worker ended with the death of process \d+ on \S+ while .*; .*", caplog.messages[0])
    assert lives.read_text(encoding="utf-8") == "0"
    assert content(run) == content(alone)
    assert run.manifest["counts"] == alone.manifest["counts"]
    assert run.manifest["threads"] == 1
    assert [each.done for each in told] == sorted(each.done for each in told)


@needs_ray
def test_a_run_on_a_cluster_is_stopped_and_goes_on_here(address: str, tmp_path: Path) -> None:
    plan, pool = plan_of(tmp_path, HISTOGRAM), Pool(100, "cpu")
    told: list[Progress] = []
    with pytest.raises(RunStopped, match="start the same run again"):
        run_audit(
            plan,
            tmp_path / "runs",
            run_id="r",
            pool=pool,
            cluster=address,
            progress=told.append,
            stop=lambda: told[-1].shard > 0,
        )
    assert read_run(tmp_path / "runs" / "r").status == "interrupted"
    run = run_audit(plan, tmp_path / "runs", run_id="r", pool=pool)
    assert content(run) == content(run_audit(plan, tmp_path / "whole", run_id="r", pool=pool, threads=1))


@needs_ray
def test_more_actors_than_there_is_room_for_are_refused(address: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"the cluster has 2 cores and 0 cards, room for 2 workers of 1 cores; ask"):
        run_audit(plan_of(tmp_path, HISTOGRAM), tmp_path, pool=Pool(100, "cpu"), workers=3, cluster=address)


@needs_ray
@pytest.mark.parametrize(
    ("where", "why"), [("nonsense address", ""), ("127.0.0.1:9", "Connection refused"), ("nobody.invalid:6379", "")]
)
def test_an_address_where_no_cluster_is_is_told(tmp_path: Path, where: str, why: str) -> None:
    with pytest.raises(NotAvailable, match=rf"no Ray cluster answers at '{where}' \(.*{why}"):
        run_audit(plan_of(tmp_path, HISTOGRAM), tmp_path, pool=Pool(100, "cpu"), cluster=where)


@needs_ray
def test_whoever_listens_and_is_no_cluster_is_told_at_the_first_try(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, HISTOGRAM)
    with socket.create_server(("127.0.0.1", 0)) as other:
        where = f"127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(NotAvailable, match=f"no Ray cluster answers at '{where}'"):
            run_audit(plan, tmp_path, pool=Pool(100, "cpu"), cluster=where)


@needs_ray
@pytest.mark.parametrize("token", ["", "0" * 64])
def test_a_missing_or_another_token_is_told(address: str, tmp_path: Path, token: str) -> None:
    command = [
        sys.executable,
        "-m",
        "core",
        "audit",
        "--limit",
        "2",
        "--probes",
        "vflip",
        "--evaluators",
        HISTOGRAM,
        "--cluster",
        address,
        "--out",
        tmp_path / "runs",
    ]
    done = subprocess.run(command, env={**os.environ, "RAY_AUTH_TOKEN": token}, capture_output=True, text=True)
    assert done.returncode == Code.NOT_AVAILABLE
    assert f"error: no Ray cluster answers at '{address}'" in done.stderr
    assert "set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN here as there" in done.stderr


def test_an_actor_s_death_is_a_few_words() -> None:
    told = (
        "The actor died unexpectedly before finishing this task.\n\tclass_name: Actor\n\tactor_id: 72e3"
        "\n\tpid: 6528\n\tnamespace: e540\n\tip: 192.0.2.2\nThe actor is dead."
    )
    assert teams._death(told) == "the death of process 6528 on 192.0.2.2"
    assert teams._death(f"The actor\nis unavailable {'x' * 300}").startswith("The actor is unavailable xxx")
    assert len(teams._death("x" * 300)) == 200


def test_an_actor_hears_messages_in_the_order_in_which_they_were_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[int] = []
    monkeypatch.setattr(teams, "serve", lambda come, _: heard.extend(come))
    actor = teams.Actor()
    for number in (2, 0, 1, 4, 3):
        actor.give(number, pickle.dumps(number))
    actor._inbox.stop()
    deadline = time.monotonic() + 60
    while heard != [0, 1, 2, 3, 4]:
        assert time.monotonic() < deadline, heard
        time.sleep(0.01)


def test_without_ray_the_command_that_gets_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teams, "has_ray", lambda: False)
    with pytest.raises(NotAvailable, match=r"invariscope\[cluster\] \(ray is not installed\); get it with: python -m "):
        run_audit(plan_of(tmp_path, HISTOGRAM), tmp_path, pool=Pool(100, "cpu"), cluster="auto")
