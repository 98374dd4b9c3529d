"""``compare``: files of scores, what is written, and what is refused in one sentence with nothing written."""

import json
import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from core.report.build import build
from core.report.document import Report
from core.report.report_files import write
from core.settings import results_dir
from core.statistics.bootstrap import median_bca
from core.statistics.shift_tests import paired_test
from core.store.store import Store
from tests.analysis.made_runs import audited, score, write_run
from tests.commands.calling import Invoke

SHIPPED = results_dir()
RNG = np.random.default_rng(7)
IDS = [f"i{number:02d}" for number in range(40)]
ONE = dict(zip(IDS, RNG.uniform(0.4, 0.9, 40).round(4).tolist(), strict=True))
OTHER = {key: round(value - 0.05 + RNG.normal(0, 0.01), 4) for key, value in ONE.items() if key != "i00"} | {"x": 0.5}


def clipscore(path: Path, scores: dict[str, float]) -> Path:
    path.write_text(json.dumps({key: {"CLIPScore": value} for key, value in scores.items()}))
    return path


def capevalkit(path: Path, scores: dict[str, float]) -> Path:
    held = {"CLIPScore": 0.5, "per_item": {key: {"CLIPScore": value} for key, value in scores.items()}}
    path.write_text(json.dumps(held))
    return path


def own(path: Path, scores: dict[str, float]) -> Path:
    path.write_text("id,score\n" + "".join(f"{key},{value}\n" for key, value in scores.items()))
    return path


@pytest.mark.parametrize("write", [clipscore, capevalkit, own])
def test_two_files_of_scores_are_paired_by_id_and_the_rest_is_counted(
    invoke: Invoke, tmp_path: Path, write: type[Path]
) -> None:
    one, other = (
        clipscore(tmp_path / "one.json", ONE),
        write(tmp_path / f"b{'.csv' if write is own else '.json'}", OTHER),
    )
    told = json.loads(invoke("compare", one, other, "--format", "json").stdout)
    (row,) = told["rows"]
    shared = sorted(ONE.keys() & OTHER.keys())
    differences = np.array([ONE[key] - OTHER[key] for key in shared])
    expected = median_bca(differences)
    assert (told["shared"], told["only_a"], told["only_b"]) == (39, 1, 1)
    assert row["difference"] == pytest.approx(expected.estimate)
    assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high))
    reference = paired_test([OTHER[key] for key in shared], [ONE[key] for key in shared])
    assert row["p"] == pytest.approx(reference.p)
    assert row["verdict"] == "drift differs"


def test_ids_are_one_item_whatever_their_padding_and_ending_where_that_is_unique(
    invoke: Invoke, tmp_path: Path
) -> None:
    one = {"000000000123.jpg": 0.5, "7": 0.6, "cat.jpg": 0.1, "dog.jpg": 0.2, "dog.png": 0.3, "a.1": 0.9}
    other = {"123": 0.4, "007": 0.3, "cat.PNG": 0.2, "dog.jpg": 0.7, "a.2": 0.9}
    sides = own(tmp_path / "one.csv", one), own(tmp_path / "other.csv", other)
    told = json.loads(invoke("compare", *sides, "--format", "json").stdout)
    assert (told["shared"], told["only_a"], told["only_b"]) == (4, 2, 1)
    assert told["rows"][0]["difference"] == pytest.approx(np.median([0.1, 0.3, -0.1, -0.5]))


def test_junit_and_markdown_hold_every_row(invoke: Invoke, tmp_path: Path) -> None:
    one, other = clipscore(tmp_path / "one.json", ONE), own(tmp_path / "other.csv", OTHER)
    suite = ElementTree.fromstring(invoke("compare", one, other, "--format", "junit").stdout)
    assert suite.attrib["tests"] == suite.attrib["failures"] == "1"
    assert "drift differs" in suite.find("testcase/failure").attrib["message"]  # type: ignore[union-attr]
    invoke("compare", one, other, "--format", "markdown", "-o", tmp_path / "said.md")
    said = (tmp_path / "said.md").read_text()
    assert "39 items on both sides, 1 only on A, 1 only on B" in said
    assert "| --: |" in said


def test_what_cannot_be_compared_is_one_sentence_and_writes_nothing(invoke: Invoke, tmp_path: Path) -> None:
    one = clipscore(tmp_path / "one.json", ONE)
    same = own(tmp_path / "same.csv", ONE)
    strange = own(tmp_path / "strange.csv", {f"z{key}": value for key, value in ONE.items()})
    cut = tmp_path / "cut.json"
    cut.write_text(one.read_text()[:-30])
    nothing = own(tmp_path / "nan.csv", dict.fromkeys(IDS, math.nan))
    wrong = {
        "the same to each of the 40 items": (one, same),
        "none of them the same": (one, strange),
        "both sides are the file": (one, one),
        "cut.json": (cut, one),
        "no number": (one, nothing),
        "a file of scores is held against another one": (one,),
        "both sides are conse-lite0": (SHIPPED / "demo", "--b", "evaluator=conse-lite0"),
        "of subject template and": (SHIPPED / "demo", SHIPPED / "demo-captions"),
        "no item in common": (SHIPPED / "demo", SHIPPED / "demo-prototypes", "--b", "subject=human"),
        "no shift of evaluator 'nobody'": (SHIPPED / "demo", "--b", "evaluator=nobody"),
        "--by takes": (SHIPPED / "demo", "--by", "mood"),
        "no run 'nowhere'": (SHIPPED / "demo", "nowhere"),
        "name=value": (SHIPPED / "demo", "--a", "evaluator"),
        "--format knows": (SHIPPED / "demo", "--format", "yaml"),
    }
    for sentence, sides in wrong.items():
        done = invoke(
            "compare", *sides, "-o", tmp_path / "out.json", *(() if "yaml" in sides else ("--format", "json"))
        )
        assert done.exit_code == 2, (sentence, done.output)
        assert sentence in done.stderr, done.stderr
        assert done.stderr.count("error:") == 1
        assert not (tmp_path / "out.json").exists(), sentence


def test_other_languages_are_refused_unless_chosen(invoke: Invoke, tmp_path: Path) -> None:
    one, other = (write_run(tmp_path / name, rows(language)) for name, language in (("one", "en"), ("other", "de")))
    done = invoke("compare", one, other, "-o", tmp_path / "out.md")
    assert done.exit_code == 2
    assert "A holds captions of language en and B of de; choose with" in done.stderr
    assert not (tmp_path / "out.md").exists()
    told = json.loads(invoke("compare", one, other, "--b", "language=de", "--format", "json").stdout)
    assert ("in en" in told["a"], "in de" in told["b"]) == (True, True)


def test_two_runs_of_one_id_are_two_runs_and_their_evaluator_the_same(invoke: Invoke, tmp_path: Path) -> None:
    for folder, seed in (("monday", 0), ("tuesday", 10)):
        both = [row for place, each in enumerate("fe") for row in audited("vflip", evaluator=each, seed=seed + place)]
        write_run(tmp_path / folder / "nightly", both)
    one, other = (tmp_path / folder / "nightly" for folder in ("monday", "tuesday"))
    told = json.loads(invoke("compare", one, other, "--format", "json").stdout)
    assert told["a"] == told["b"]
    assert told["a"].startswith("e in run nightly")
    assert {row["how"] for row in told["rows"]} == {"paired by item"}
    assert any(row["difference"] for row in told["rows"])


def rows(language: str) -> list[dict[str, Any]]:
    """Twelve items, flipped, whose scores differ by the language."""
    moved = 0.1 if language == "en" else 0.2
    return [
        score(f"i{number:02d}", probe, 0.5 + 0.01 * number - (moved if probe == "vflip" else 0.0), language=language)
        for number in range(12)
        for probe in ("identity", "vflip")
    ]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Report]]:
    """Reports of three runs, written: ``b`` has one family more than ``a``, ``de`` is of captions in German."""
    folder, made = tmp_path_factory.mktemp("reports"), {}
    probes = {"a": ("vflip",), "b": ("vflip", "rotate-5", "rotate+5"), "de": ("vflip",)}
    for name, wanted in probes.items():
        language = name if name == "de" else "en"
        rows = [
            row
            for place, each in enumerate("ef")
            for row in audited(*wanted, evaluator=each, seed=2 * ord(name[0]) + place, language=language)
        ]
        with Store.open(write_run(folder / "runs" / name, rows)) as store:
            report = build(store, whole=False, figures=False)
        write(report, folder / name, formats=("md",))
        made[name] = (folder / name, report)
    return made


def test_two_reports_are_compared_by_the_headline_numbers_that_both_have(
    invoke: Invoke, reports: dict[str, tuple[Path, Report]]
) -> None:
    (one, of_one), (other, of_other) = (reports[name] for name in "ab")
    told = json.loads(invoke("compare", one, other / "data", "--format", "json").stdout)
    tables = [{table.id: table.frame for table in each.tables} for each in (of_one, of_other)]
    flips = [each["T3"].set_index("evaluator")["median_percent"] for each in tables]
    rows = {row["evaluator"]: row for row in told["rows"] if row["question"] == "T3"}
    assert set(rows) == {"e", "f"}
    for name, row in rows.items():
        assert (row["a_value"], row["b_value"]) == (flips[0][name], flips[1][name])
        assert row["difference"] == flips[0][name] - flips[1][name]
    assert told["shared"] == len(told["rows"])
    assert told["only_b"] > told["only_a"] == 0  # of rotations
    assert "runs" in [each["what"] for each in told["made_with"]]
    by_question: dict[str, list[float]] = {}
    for row in told["rows"]:
        by_question.setdefault(row["question"], []).append(abs(row["difference"]))
    assert all(sizes == sorted(sizes, reverse=True) for sizes in by_question.values())


def test_two_evaluators_of_a_report_are_compared_and_nothing_is_claimed(
    invoke: Invoke, reports: dict[str, tuple[Path, Report]]
) -> None:
    folder, report = reports["b"]
    of = ("compare", folder, "--a", "evaluator=e", "--b", "evaluator=f")
    said = invoke(*of, "--format", "markdown").stdout
    flips = next(table.frame for table in report.tables if table.id == "T3").set_index("evaluator")["median_percent"]
    assert f"{flips['e'] - flips['f']:+.2f}".replace("-", "−") in said
    assert "have no interval and no test" in said
    suite = ElementTree.fromstring(invoke(*of, "--format", "junit").stdout)
    assert suite.attrib["failures"] == "0"
    assert suite.attrib["skipped"] == suite.attrib["tests"] == str(len(suite.findall("testcase/skipped"))) != "0"


def test_reports_that_cannot_be_compared_are_one_sentence_each(
    invoke: Invoke, reports: dict[str, tuple[Path, Report]], tmp_path: Path
) -> None:
    one, _ = reports["a"]
    text = (one / "data" / "headlines.json").read_text("utf-8")
    held = json.loads(text)
    files = {
        "newer": text.replace('"format":1', '"format":2'),
        "cut": text[:-40],
        "stranger": json.dumps({**held, "questions": [{**held["questions"][0], "id": "T99"}]}),
        "empty": "{}",
    }
    for name, content in files.items():
        (tmp_path / name / "data").mkdir(parents=True)
        (tmp_path / name / "data" / "headlines.json").write_text(content, "utf-8")
    (tmp_path / "old" / "data").mkdir(parents=True)
    (tmp_path / "old" / "data" / "INDEX.md").touch()
    wrong = {
        "of format 2, and this version reads up to 1": (one, tmp_path / "newer"),
        "headlines.json is not valid JSON": (one, tmp_path / "cut"),
        "no row of a question in common": (one, tmp_path / "stranger"),
        "is not the headline numbers of a report": (one, tmp_path / "empty"),
        "has no headlines.json; write it anew": (one, tmp_path / "old"),
        "language en, and B of": (one, reports["de"][0]),
        "the same in each of": (one, one),
        "no evaluator 'nobody'; evaluators: e, f": (one, "--b", "evaluator=nobody"),
        "choose an evaluator alone": (one, "--b", "families=blur"),
        "a report is held against another one": (one, SHIPPED / "demo"),
    }
    for sentence, sides in wrong.items():
        done = invoke("compare", *sides, "-o", tmp_path / "out.json", "--format", "json")
        assert done.exit_code == 2, (sentence, done.output)
        assert sentence in " ".join(done.stderr.split()), done.stderr
        assert done.stderr.count("error:") == 1
        assert not (tmp_path / "out.json").exists(), sentence
