"""The campaign in short, and that it would tell if something were wrong."""

import gc
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.Text_pb2 import Text

from core.errors import InvalidInput
from core.features.human.studies import LOG
from core.settings import ROOT
from core.store.log import encode
from siege import __main__ as campaign
from siege import (
    crowd,
    damages,
    files,
    guest,
    kills,
    life,
    links,
    people,
    published,
    sessions,
    tests,
    texts,
    uploads,
    workers,
    writers,
)
from siege.__main__ import HEADS, KINDS, SLOW
from siege.course import figure
from siege.damage import DAMAGES
from siege.damages import shards
from siege.trials import LONGEST, Finding, Tally
from siege.written import OLD, Writer


@pytest.mark.whole
@pytest.mark.parametrize(
    "kind", [*(kind for kind in KINDS if kind not in SLOW), pytest.param("sessions", marks=pytest.mark.browser)]
)
def test_a_short_campaign_finds_nothing(kind: str, tmp_path: Path) -> None:
    told = tmp_path / "told.json"
    words = [sys.executable, "-m", "siege", "--quick", "--only", kind, "--json", str(told)]
    found = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    (sums,) = json.loads(told.read_text(encoding="utf-8"))["kinds"]
    assert sums["tried"] > 2 or kind == "people"
    assert sums["tried"] == sums["counts"].get("survived", 0) + sums["counts"].get("refused", 0)
    assert f"| {kind} | {sums['tried']} |" in found.stdout


def test_every_kind_has_its_module() -> None:
    modules = (
        uploads,
        files,
        texts,
        links,
        published,
        damages,
        kills,
        writers,
        workers,
        people,
        sessions,
        crowd,
        tests,
    )
    assert [module.__name__ for module in modules] == [f"siege.{kind}" for kind in KINDS]


def test_a_folder_that_is_neither_the_old_nor_the_new_is_lost(tmp_path: Path) -> None:
    writer = Writer("report", (), "out", {"report.md": OLD, "data/S1.csv": OLD})
    writer.prepare(tmp_path)
    (tmp_path / "out" / "report.md").write_text("new")
    (tmp_path / "out" / "data" / "S1.csv").write_text("new")
    writer.learn(tmp_path)
    assert writer.state(tmp_path) == "new"
    writer.prepare(tmp_path)
    assert writer.state(tmp_path) == "old"
    (tmp_path / "out" / "report.md").write_text("new")
    with pytest.raises(Finding, match=r"out is neither the old nor the new: \['data/S1.csv'\] of 2"):
        writer.state(tmp_path)


def test_what_may_not_be_is_counted_and_told() -> None:
    tally = Tally("any", limit_mb=40)

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
    tally.attempt("large", large)
    tally.note_growth(39.0)
    tally.note_growth(41.0)
    assert tally.counts == {"traceback": 3, "refused": 1, "lost": 1, "survived": 2, "large": 2}
    assert tally.failed == 6
    assert [line.split(": ")[1] for line in tally.found] == [
        "bug",
        "wordless",
        "endless",
        "lost",
        "large",
        "memory of the server",
    ]


def test_a_kind_that_dies_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "siege"
    broken.mkdir()
    for name in ("__init__", "__main__", "trials", "memory"):
        (broken / f"{name}.py").write_bytes((ROOT / "siege" / f"{name}.py").read_bytes())
    (broken / "uploads.py").write_text("import os\ndef run(tally, seed, *, quick):\n    os.abort()\n")
    env = {"PYTHONPATH": f"{tmp_path}:{ROOT}", "PATH": "/usr/bin:/bin"}
    words = [sys.executable, "-m", "siege", "--only", "uploads"]
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
    by_kind = {kind: cells[0] for (kind, _), cells in zip(rows, columns, strict=True)}
    not_met = {kind: cells for (kind, _), cells in zip(rows, columns, strict=True) if cells[0] != cells[1] + cells[2]}
    large = HEADS.index("large") - 1
    assert {kind: cells[0] - cells[1] - cells[2] - cells[large] for kind, cells in not_met.items()} in (
        {},
        {"crowd": 0},
    )
    assert not not_met or "**Not reached**" in text
    assert sum(by_kind[each] for each in ("uploads", "files", "texts", "links", "published")) >= 400
    assert by_kind["kills"] >= 50
    assert by_kind["damages"] >= 150
    # an audit meets KILLS kills at most, so fewer audits cannot have met all the workers that are to be killed
    assert by_kind["workers"] >= workers.KILLED / workers.KILLS + workers.AUDITS
    assert by_kind["people"] >= 5
    assert by_kind["crowd"] >= 60
    assert by_kind["tests"] >= 50


def test_kills_that_meet_no_worker_do_not_count() -> None:
    tally, killed, asked = Tally("workers"), list[int](), list[int]()

    def every_other(number: int) -> None:
        asked.append(number)
        killed.extend([number] * (number % 2))

    workers.until_killed(tally, 3, killed, every_other)
    assert (asked, killed, tally.failed) == ([0, 1, 2, 3, 4, 5], [1, 3, 5], 0)
    assert tally.notes == ["3 workers were killed in 6 audits"]
    workers.until_killed(tally, 2, [], asked.append)
    assert (tally.failed, "only 0 of 2 kills met a worker" in tally.found[0]) == (1, True)


def test_scores_of_another_session_would_be_found() -> None:
    alone = {(0, 0): b"a", (1, 0): b"b"}
    crowd.same(crowd.Answer((0, 0), b"a", "", 1.0), alone)
    with pytest.raises(Finding, match="those of session 1"):
        crowd.same(crowd.Answer((0, 0), b"b", "", 1.0), alone)
    with pytest.raises(Finding, match="other than a lone session has: b'c'"):
        crowd.same(crowd.Answer((0, 0), b"c", "", 1.0), alone)
    with pytest.raises(Finding, match="no scores: gone"):
        crowd.same(crowd.Answer((0, 0), None, "gone", 1.0), alone)


def test_votes_that_were_lost_doubled_or_given_to_another_would_be_found(tmp_path: Path) -> None:
    def log(*rows: tuple[str, str, int]) -> Path:
        said = ({"annotator": who, "item": item, "question": "A", "answer": answer} for who, item, answer in rows)
        (tmp_path / LOG).write_bytes(b"".join(encode({"row": "answer", **each}) for each in said))
        return tmp_path

    told = {("ada", "1", "A"): "1", ("bo", "1", "A"): "2"}
    people.kept(log(("ada", "1", 1), ("bo", "1", 2), ("bo", "2", 2)), told)
    with pytest.raises(Finding, match="1 of 2 acknowledged answers are not in the log"):
        people.kept(log(("ada", "1", 1)), told)
    with pytest.raises(Finding, match="stand twice"):
        people.kept(log(("ada", "1", 1), ("bo", "1", 2), ("bo", "1", 2)), told)
    with pytest.raises(Finding, match="not as they were given"):
        people.kept(log(("ada", "1", 2), ("bo", "1", 2)), told)
    with pytest.raises(Finding, match="has answers of another"):
        people.kept(log(("ada", "1", 1), ("bo", "1", 2), ("ada", "2", 2)), told)


def test_what_a_long_life_may_not_leave_would_be_found(tmp_path: Path) -> None:
    own, other = (Element(text=Text(body=f"guest{who}x0.png")) for who in (3, 12))
    guest.check_marks([own], 3)
    with pytest.raises(Finding, match="what guest 12 brought"):
        guest.check_marks([own, other], 3)
    (tmp_path / "tmp").mkdir()
    life.check_files(tmp_path / "tmp", tmp_path)
    (tmp_path / "tmp" / "left").touch()
    with pytest.raises(Finding, match=r"1 files are left, e\.g\. .*left"):
        life.check_files(tmp_path / "tmp", tmp_path)
    life.check_memory(1000.0, 1100.0)
    with pytest.raises(Finding, match="held 1000 MB before the guests came and 1101 MB after"):
        life.check_memory(1000.0, 1101.0)
    with pytest.raises(Finding, match="is no run"):
        life.check_audit(tmp_path / "gone")


def test_the_figure_of_a_long_life_holds_its_course() -> None:
    drawn = figure([(600.0, 0, 1400.0), (630.0, 30, 1850.0), (660.0, 0, 1450.0)])
    assert drawn.frame.groupby("panel").value.apply(list).to_dict() == {
        "Guests": [0.0, 30.0, 0.0],
        "MB": [1400.0, 1850.0, 1450.0],
    }
    assert drawn.frame.label.max() == 1.0


def test_a_test_that_fails_or_cannot_run_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "test_some.py"
    path.write_text("def test_good(): pass\ndef test_bad(): assert 1 == 2\n")
    tally = Tally("tests")
    tests.run(tally, 0, quick=False, files=(str(path), str(tmp_path / "test_gone.py")))
    assert tally.counts == {"survived": 1, "lost": 2}
    assert tally.wall_s > 0.1, "the time of pytest is the time of its trials"
    assert "assert 1 == 2" in tally.found[0]


@pytest.mark.parametrize("words", [["--sessions", "0"], ["--seconds", "-1"], ["--sessions", "x"]])
def test_numbers_of_the_crowd_are_checked(words: list[str]) -> None:
    found = subprocess.run(
        [sys.executable, "-m", "siege", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert found.returncode == 2
    assert words[0] in found.stderr


def test_a_campaign_that_takes_too_long_ends_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    at_once, most, order = [0], [0], list[str]()

    def apart(kind: str, *_: object) -> dict[str, object]:
        at_once[0] += 1
        most[0] = max(most[0], at_once[0])
        time.sleep(0.05)
        order.append(kind)
        at_once[0] -= 1
        tally = Tally(kind)
        tally.counts["survived"] = 1
        return tally.as_dict()

    monkeypatch.setattr(campaign, "_apart", apart)
    assert campaign._campaign(list(KINDS), 1, {}, quick=False, out=None) == 0
    assert most[0] == 2
    assert order[-1] == "crowd"
    assert re.findall(r"^\| (\w+) \| 1 \|", capsys.readouterr().out, re.M) == list(KINDS)
    monkeypatch.setattr(campaign, "MOST_ALL_S", 0.1)
    assert campaign._campaign(list(KINDS), 1, {}, quick=False, out=None) == 1
    assert "minutes and may take" in capsys.readouterr().err
    assert campaign._campaign(["uploads"], 1, {}, quick=False, out=None) == 0
