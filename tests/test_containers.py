"""The files for containers name what exists, and a head and its workers are told the same."""

import re

import pytest
import yaml

from core.audit.fingerprints import GET_RAY as GET
from core.settings import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
SERVICES = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]
GUIDE = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")


def test_every_file_that_the_image_takes_is_there_and_none_of_the_users() -> None:
    taken = [name for line in re.findall(r"^COPY (?!--)(.+) \S+$", DOCKERFILE, re.M) for name in line.split()]
    assert taken == ["requirements-lock.txt", "requirements-cluster.txt"]
    assert all((ROOT / name).is_file() for name in taken)
    assert all(f"--require-hashes -r {name}" in DOCKERFILE for name in taken)
    assert "dev" not in DOCKERFILE
    left_out = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert {".venv", ".git", "data/*", ".env"} <= {*left_out}


@pytest.mark.parametrize("name", SERVICES)
def test_head_and_workers_run_one_image_with_a_token(name: str) -> None:
    service, head = SERVICES[name], SERVICES["head"]
    assert (service["image"], service["volumes"]) == (head["image"], head["volumes"])
    assert service["environment"]["RAY_AUTH_MODE"] == "token"
    assert service["environment"]["RAY_AUTH_TOKEN"].startswith("${RAY_AUTH_TOKEN:?")  # nothing starts without one
    assert "ports" not in service  # a cluster runs the code of whoever reaches it


def test_workers_look_for_the_port_of_the_head() -> None:
    (port,) = re.findall(r"--port=(\d+)", " ".join(SERVICES["head"]["command"]))
    assert f"--address=head:{port}" in SERVICES["worker"]["command"]
    assert f"EXPOSE 8501 {port}" in DOCKERFILE
    assert f"--port={port}" in GUIDE


def test_ray_is_pinned_once() -> None:
    (pinned,) = re.findall(r"^ray==(\S+)", (ROOT / "requirements-cluster.txt").read_text(encoding="utf-8"), re.M)
    assert f'cluster = ["ray=={pinned}"]' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f"{pinned}, and adds" in GUIDE
    assert GET in GUIDE
