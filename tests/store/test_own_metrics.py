"""What a manifest says of evaluators by path is checked, and a file that is gone or another is a sentence."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.settings import ROOT, data_dir
from core.store.run_files import Run
from core.store.run_sources import (
    MOST_BYTES,
    audited_here_file,
    checked_metrics,
    is_audited_code,
    note_audited,
    own_metrics,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)


def run(entries: Any, *, created: str = "2026-01-01", name: str = "mine") -> Run:
    return Run(Path(name), {"run": name, "created": created, "evaluators": entries})


def entry(path: Path, **file: Any) -> dict[str, Any]:
    return {"name": "own", "reference": f"{path}:Own", **({"file": file} if file else {})}


def test_the_run_made_last_says_which_file_it_is(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text("x = 1\n", encoding="utf-8")
    digest = hashlib.sha256(b"x = 1\n").hexdigest()
    note_audited({"evaluators": [entry(path, sha256=digest)]})
    old = run([entry(tmp_path / "old.py", sha256="0" * 64)], name="old")
    new = run([entry(path, sha256=digest, text_encoder=True)], created="2026-02-01")
    found = own_metrics([new, old])["own"]
    assert (found.run, found.reference, found.text_encoder, found.problem) == ("mine", f"{path}:Own", True, "")


def test_a_path_of_the_checkout_is_found_from_anywhere() -> None:
    path = "assets/templates/metric.py"
    note_audited({"evaluators": [entry(Path(path), sha256=hashlib.sha256((ROOT / path).read_bytes()).hexdigest())]})
    found = own_metrics([run([{"name": "own", "reference": "assets/templates/metric.py:MyMetric"}])])["own"]
    assert found.path == ROOT / "assets" / "templates" / "metric.py"
    assert (found.sha256, found.text_encoder, found.problem) == (None, None, "")


def test_a_check_says_which_file_it_was_and_the_last_of_a_name_counts(tmp_path: Path) -> None:
    path, reports = tmp_path / "own.py", tmp_path / "checks"
    path.write_text("x = 1\n", encoding="utf-8")
    reports.mkdir()
    digest = hashlib.sha256(b"x = 1\n").hexdigest()
    source = entry(path, sha256=digest)
    for when, (name, told) in enumerate(
        {"old": entry(tmp_path / "old.py"), "new": source, "installed": {}, "strange": 3, "list": [source]}.items()
    ):
        report = reports / f"{name}.json"
        report.write_text(json.dumps({"source": told}))
        os.utime(report, (when, when))
    (reports / "broken.json").write_text("{")
    (reports / "none.json").write_text("[]")
    assert set(checked_metrics(reports)) == {"own"}
    found = checked_metrics(reports)["own"]
    assert (found.run, found.reference) == ("new", f"{path}:Own")
    assert f"check new names {path}, and no audit or check on this machine" in found.problem
    note_audited({"evaluators": [source]})
    assert not found.problem
    path.write_text("x = 2\n", encoding="utf-8")
    assert "was changed since check new was made with it; put the old file back, or check it again" in found.problem


@pytest.mark.parametrize("change", ["gone", "changed", "folder", "large"])
def test_a_file_that_is_not_the_one_is_named(tmp_path: Path, change: str) -> None:
    path = tmp_path / "own.py"
    if change == "folder":
        path.mkdir()
    elif change != "gone":
        path.write_bytes(b"#" * (MOST_BYTES + 1 if change == "large" else 3))
    problem = own_metrics([run([entry(path, sha256="0" * 64)])])["own"].problem
    assert str(path) in problem
    said = {"changed": "was changed since run mine", "gone": "is gone"}
    assert said.get(change, "cannot be read as a file of code any more") in problem


@pytest.mark.parametrize(
    "reference",
    ["conse-lite0", "open_clip:a/b", "/x/own.py", "/x/own.py:a b", "/x/own.py:", "/x\0/own.py:Own", 3, None],
)
def test_what_names_no_class_of_a_file_is_none(reference: object) -> None:
    assert own_metrics([run([{"name": "own", "reference": reference}])]) == {}


@given(entries=JSON, file=JSON)
def test_a_manifest_of_a_stranger_breaks_nothing(entries: Any, file: Any) -> None:
    assert own_metrics([run(entries)]) == {}
    found = own_metrics([run([{"name": "own", "reference": "/no/such.py:Own", "file": file}])])["own"]
    assert "is gone" in found.problem


def test_a_file_that_no_audit_here_scored_with_is_not_asked(tmp_path: Path) -> None:
    path = tmp_path / "evil.py"
    path.write_text("x = 2\n", encoding="utf-8")
    digest = hashlib.sha256(b"x = 2\n").hexdigest()
    for told in (entry(path, sha256=digest), entry(path)):
        assert "no audit or check on this machine was made with that file" in own_metrics([run([told])])["own"].problem
    note_audited({"evaluators": [entry(tmp_path / "other.py", sha256=digest), entry(path, sha256="0" * 64)]})
    assert "no audit or check on this machine" in own_metrics([run([entry(path, sha256=digest)])])["own"].problem
    note_audited({"evaluators": [entry(path, sha256=digest)]})
    assert own_metrics([run([entry(path, sha256=digest)])])["own"].problem == ""


def test_the_list_of_audited_code_lies_outside_the_data_folder_and_holds_a_file_once(tmp_path: Path) -> None:
    told = [entry(tmp_path / "own.py", sha256="1" * 64)]
    note_audited({"evaluators": told * 2})
    before = audited_here_file().read_bytes()
    note_audited({"evaluators": told})
    assert audited_here_file().read_bytes() == before
    assert is_audited_code(tmp_path / "own.py", "1" * 64)
    assert not audited_here_file().is_relative_to(data_dir())


def test_a_list_that_cannot_be_written_stops_no_audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "weights").write_text("in the way")
    monkeypatch.setenv("INVARISCOPE_WEIGHTS", str(tmp_path / "weights"))
    note_audited({"evaluators": [entry(tmp_path / "own.py", sha256="1" * 64)]})
    assert not is_audited_code(tmp_path / "own.py", "1" * 64)
