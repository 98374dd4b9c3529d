"""The campaign in short, and that it would tell if something were wrong."""

import gc
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import InvalidInput
from core.settings import ROOT
from siege import damages, kills, links, pictures, published, sessions, texts, workers
from siege.__main__ import HEADS, KINDS, SLOW
from siege.damage import DAMAGES
from siege.damages import shards
from siege.trials import LONGEST, Finding, Tally


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in SLOW])
def test_a_short_campaign_finds_nothing(kind: str, tmp_path: Path) -> None:
    told = tmp_path / "told.json"
    words = [sys.executable, "-m", "siege", "--quick", "--only", kind, "--json", str(told)]
    found = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    (sums,) = json.loads(told.read_text(encoding="utf-8"))["kinds"]
    assert sums["tried"] > 2
    assert sums["tried"] == sums["counts"].get("survived", 0) + sums["counts"].get("refused", 0)
    assert f"| {kind} | {sums['tried']} |" in found.stdout


def test_every_kind_has_its_module() -> None:
    modules = (pictures, texts, links, published, damages, kills, workers, sessions)
    assert [module.__name__ for module in modules] == [f"siege.{kind}" for kind in KINDS]


def test_what_may_not_be_is_counted_and_told() -> None:
    tally = Tally("any")

    def bug() -> None:
        raise KeyError("x")

    def refused() -> None:
        raise InvalidInput("the number must be positive, got -1")

    def wordless() -> None:
        raise InvalidInput("two\nlines")

    def endless() -> None:
        raise InvalidInput("x" * (LONGEST + 1))

    def lost() -> None:
        raise Finding("lost", "a row is gone")

    def large() -> None:
        held = bytearray(b"x" * 400_000_000)
        assert held[-1]

    for name, action in {
        "bug": bug,
        "refused": refused,
        "wordless": wordless,
        "endless": endless,
        "lost": lost,
    }.items():
        tally.attempt(name, action)
    tally.attempt("fine", lambda: None)
    gc.collect()  # what other tests left must not go in the midst of it and hide what comes
    tally.attempt("large", large, most_mb=40)
    assert tally.counts == {"traceback": 3, "refused": 1, "lost": 1, "survived": 1, "large": 1}
    assert tally.failed == 5
    assert [line.split(": ")[1] for line in tally.found] == ["bug", "wordless", "endless", "lost", "large"]


def test_a_kind_that_dies_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "siege"
    broken.mkdir()
    for name in ("__init__", "__main__", "trials", "memory"):
        (broken / f"{name}.py").write_bytes((ROOT / "siege" / f"{name}.py").read_bytes())
    (broken / "pictures.py").write_text("import os\ndef run(tally, seed, *, quick):\n    os.abort()\n")
    env = {"PYTHONPATH": f"{tmp_path}:{ROOT}", "PATH": "/usr/bin:/bin"}
    words = [sys.executable, "-m", "siege", "--only", "pictures"]
    found = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert "the campaign's own process ended with" in found.stderr


def test_silent_damage_would_be_found(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"one")
    damages._compare(lambda each: (each.read_bytes(), False), path, b"one")
    with pytest.raises(Finding, match="answers otherwise"):
        damages._compare(lambda each: (each.read_bytes(), False), path, b"two")


@pytest.mark.parametrize("how", DAMAGES)
def test_every_damage_changes_something(how: str, tmp_path: Path) -> None:
    import random

    (tmp_path / "a").mkdir()
    for name in "xy":
        (tmp_path / "a" / name).write_bytes(name.encode() * 2000)
    before = {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()}
    DAMAGES[how](tmp_path / "a" / "x", random.Random(1))
    assert {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()} != before


def test_rows_that_were_lost_or_doubled_would_be_found(tmp_path: Path) -> None:
    with pytest.raises(Finding, match="not in the log") as lost:
        kills._kept(["a"], ["a", "b"], 0)
    with pytest.raises(Finding, match="stand twice") as doubled:
        kills._kept(["a", "a"], ["a"], 0)
    with pytest.raises(Finding, match="stood there before are gone"):
        kills._kept(["a"], ["a"], 2)
    assert (lost.value.result, doubled.value.result) == ("lost", "doubled")
    for name in ("one", "two"):
        (tmp_path / name / "scores").mkdir(parents=True)
        (tmp_path / name / "scores" / "s.parquet").write_bytes(name.encode())
    with pytest.raises(Finding, match="other bytes"):
        kills.same(tmp_path / "one", tmp_path / "two")
    assert len(shards(tmp_path / "one")) == 1


def test_the_table_of_the_documents_is_one_of_the_campaign() -> None:
    text = (ROOT / "docs" / "security.md").read_text(encoding="utf-8").partition("## The campaign")[2]
    rows = re.findall(r"^\| (\w+) \| ([\d, |.–]+) \|$", text, re.M)
    assert [kind for kind, _ in rows] == list(KINDS)
    columns = [[float(cell.replace(",", "").replace("–", "nan")) for cell in cells.split(" | ")] for _, cells in rows]
    assert {len(each) for each in columns} == {len(HEADS) - 1}
    assert all(tried == survived + refused for tried, survived, refused, *_ in columns)
    by_kind = {kind: cells[0] for (kind, _), cells in zip(rows, columns, strict=True)}
    assert sum(by_kind[each] for each in ("pictures", "texts", "links", "published")) >= 400
    assert by_kind["kills"] >= 50
    assert by_kind["damages"] >= 150
    assert by_kind["workers"] >= 15
