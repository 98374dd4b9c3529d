"""``python -m core verify`` says whether runs are whole, and seals old ones."""

import json
import shutil
from pathlib import Path

import pytest

from core.settings import ROOT
from core.store.joined_shards import take_apart
from core.store.run_files import read_run
from tests.commands.calling import Invoke
from tests.manifests import edit_manifest

SHIPPED = ROOT / "data" / "results" / "demo-prototypes"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SHIPPED, tmp_path / "runs" / "demo-prototypes"))


def test_what_is_whole_ends_with_0_and_what_is_damaged_with_1_and_its_name(invoke: Invoke, run: Path) -> None:
    found = invoke("verify", str(run))
    assert found.exit_code == 0
    assert "whole" in found.stdout
    (run / "scores" / "joined-00000.parquet").unlink()
    found = invoke("verify", str(run))
    assert found.exit_code == 1
    assert "damaged" in found.stdout
    assert "scores/joined-00000.parquet is missing" in found.stderr
    assert invoke("verify", str(run / "nowhere")).exit_code == 2
    listed = invoke("runs", str(run.parent))
    assert "damaged" in listed.stdout
    assert "scores/joined-00000.parquet is missing" in listed.stderr
    assert "is missing" in json.loads(invoke("runs", str(run.parent), "--json").stdout)[0]["damaged"]


def test_a_folder_of_runs_and_files_is_read_whole_and_told_as_json(invoke: Invoke, versions: Path) -> None:
    found = invoke("verify", str(versions), "--json")
    assert found.exit_code == 0
    told = {each["run"]: each for each in json.loads(found.stdout)}
    named = ("first", "second", "third")
    assert set(told) == {*named, *(f"{each}-published" for each in named)}
    sealed = {"third", "third-published"}  # the older ones were written before runs were sealed
    assert {name for name, each in told.items() if each["state"] == "whole"} == sealed
    assert {told[name]["state"] for name in told.keys() - sealed} == {"unverified"}
    assert told["first"]["problems"] == []


def test_a_run_without_a_seal_is_sealed_on_request_and_says_since_when(invoke: Invoke, run: Path) -> None:
    edit_manifest(run)
    assert json.loads(invoke("verify", str(run), "--json").stdout)[0]["state"] == "unverified"
    shown = invoke("runs", str(run.parent)).stdout
    assert "unverified" in shown
    written = invoke("verify", "--write", str(run))
    assert written.exit_code == 0
    assert "nothing is said of the time before" in written.stderr
    (told,) = json.loads(invoke("verify", str(run), "--json").stdout)
    assert (told["state"], told["by"]) == ("whole", "verify")
    assert f"later, {told['sealed']}" in invoke("runs", str(run.parent)).stdout
    assert not list(run.glob(".lock"))


def test_shards_are_joined_on_request_alone(invoke: Invoke, run: Path, tmp_path: Path, versions: Path) -> None:
    third = Path(shutil.copytree(versions / "third", run.with_name("third")))
    assert invoke("verify", "--join").exit_code == 2
    assert invoke("verify", "--join", str(third)).exit_code == 0
    (told,) = json.loads(invoke("verify", str(third), "--json").stdout)
    assert (told["state"], told["by"], told["files"]) == ("whole", "audit", 5)
    take_apart(read_run(run))
    refused = invoke("verify", "--join", str(run.parent))
    assert refused.exit_code == 2
    assert "run demo-prototypes is unfinished; only a run that is complete" in refused.stderr
    assert not list(run.glob(".lock"))


def test_sealing_asks_for_a_name_and_never_seals_what_is_damaged(invoke: Invoke, run: Path) -> None:
    assert invoke("verify", "--write").exit_code == 2
    edit_manifest(run)
    (run / "items" / "joined-00000.parquet").unlink()
    assert invoke("verify", "--write", str(run)).exit_code == 1
    assert "seal" not in json.loads((run / "manifest.json").read_text(encoding="utf-8"))
