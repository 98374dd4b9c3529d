"""The commands that list: evaluators, corpora, probes, runs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from core.commands._shared import Code
from core.corpora.registry import catalogue as corpora
from core.evaluators.registry import catalogue as evaluators
from core.probes.registry import catalogue as probes
from core.probes.rejections import CODES
from core.settings import ROOT
from tests.commands.calling import Invoke
from tests.corpora.openimages_folder import OpenImagesFolder


def test_every_evaluator_is_listed_with_how_to_get_it(invoke: Invoke) -> None:
    records = json.loads(invoke("evaluators", "--json").stdout)
    assert [each["name"] for each in records] == list(evaluators().names())
    assert all(each["ready"] or (each["reason"] and each["command"]) for each in records)
    shown = invoke("evaluators").stdout
    assert all(name in shown for name in evaluators().names())


def test_every_evaluator_says_which_languages_it_reads_or_that_nobody_knows(invoke: Invoke) -> None:
    languages = {each["name"]: each["languages"] for each in json.loads(invoke("evaluators", "--json").stdout)}
    assert {name: languages[name] for name in ("conse-lite0", "grounding-judge", "clipscore", "judge")} == {
        "conse-lite0": ["en"],
        "grounding-judge": ["en"],
        "clipscore": ["en"],
        "judge": [],
    }
    assert {"en", "de", "fr", "es", "ja"} == set(languages["pr-mcs"]) <= set(languages["mcs"])
    shown = {line.split()[0]: line for line in invoke("evaluators").stdout.splitlines() if line.strip()}
    assert "unknown" in shown["judge"]
    assert "de, en, es, fr, ja" in shown["pr-mcs"]
    assert "(50)" in shown["mcs"]


def test_every_reason_for_leaving_something_out_is_listed_with_its_meaning(invoke: Invoke) -> None:
    told = json.loads(invoke("probes", "reasons", "--json").stdout)
    assert told == dict(CODES)
    plain = invoke("probes", "reasons").stdout
    assert all(code in plain and meaning in plain for code, meaning in CODES.items())


def test_an_evaluator_on_disk_shows_its_fingerprint(invoke: Invoke, colour_words: str) -> None:
    record = json.loads(invoke("evaluators", "show", colour_words, "--json").stdout)
    assert record["fingerprint"]["preprocessing"] == "mean of all pixels"
    assert len(record["fingerprint"]["key"]) == 16
    plain = invoke("evaluators", "show", colour_words).stdout
    assert record["fingerprint"]["key"] in plain
    assert "fingerprint.weights" in plain


def test_a_file_without_its_class_is_told_what_to_write(invoke: Invoke, colour_words: str) -> None:
    path, _, name = colour_words.partition(":")
    result = invoke("evaluators", "show", path)
    assert result.exit_code == Code.BAD_INPUT
    assert f"defines 3 metrics; say which: {path}:{name} or " in result.stderr


def test_a_python_without_the_packages_says_how_to_get_them() -> None:
    bare = subprocess.run(
        [sys.executable, "-S", "-m", "core"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert bare.returncode == Code.NOT_AVAILABLE
    assert "lacks the package typer; run `make setup`" in bare.stderr
    assert "Traceback" not in bare.stderr


def test_an_evaluator_without_its_weights_is_not_available(invoke: Invoke, tmp_path: Path) -> None:
    source = Path(__file__).with_name("colour_words.py").read_text()
    absent = tmp_path / "absent.py"
    absent.write_text(
        source.replace(
            "    @classmethod\n    def load",
            "    @classmethod\n    def availability(cls):\n        from core.evaluators.base import Availability\n"
            "        return Availability(False, 'no weights', 'pip install colour-words')\n\n"
            "    @classmethod\n    def load",
            1,
        )
    )
    result = invoke("evaluators", "show", f"{absent}:ColourWords")
    assert result.exit_code == Code.NOT_AVAILABLE
    assert "pip install colour-words" in result.stderr


def test_an_unknown_evaluator_names_the_closest(invoke: Invoke) -> None:
    result = invoke("evaluators", "show", "conse-lit0")
    assert result.exit_code == Code.BAD_INPUT
    assert "did you mean conse-lite0" in result.stderr


def test_every_corpus_is_listed(invoke: Invoke) -> None:
    records = json.loads(invoke("corpora", "--json").stdout)
    assert [each["name"] for each in records] == list(corpora().names())
    shown = invoke("corpora").stdout
    assert all(each["summary"] in shown for each in records)


def test_a_corpus_that_needs_a_folder_says_so(invoke: Invoke) -> None:
    result = invoke("corpora", "show", "coco")
    assert result.exit_code == Code.BAD_INPUT
    assert "--root" in result.stderr


@pytest.mark.coco
def test_a_corpus_counts_what_is_kept_and_why_the_rest_is_not(invoke: Invoke, coco_root: Path) -> None:
    arguments = ("corpora", "show", "coco", "--root", coco_root, "--option", "split=val2017")
    record = json.loads(invoke(*arguments, "--json").stdout)
    assert record["kept"] > 0
    assert sum(record["reasons"].values()) == record["rejected"]
    assert sum(record["categories"].values()) == sum(record["coverage"].values()) == record["kept"]
    shown = invoke(*arguments).stdout
    assert f"{record['kept']} items kept, {record['rejected']} left out" in shown
    assert all(code in shown for code in record["reasons"])


def test_a_corpus_lists_the_labels_that_could_belong_to_another_category(invoke: Invoke, tmp_path: Path) -> None:
    made = OpenImagesFolder(tmp_path)
    made.header = False
    for key, name in (("a", "Lifejacket"), ("b", "Lifejacket"), ("c", "Cat")):
        made.image(key)
        made.box(key, name)
    arguments = ("corpora", "show", "openimages", "--root", made.write())
    record = json.loads(invoke(*arguments, "--json").stdout)
    assert record["tied"] == {"personal flotation device": {"category": "sports", "or": "accessory", "items": 2}}
    shown = invoke(*arguments).stdout
    assert "Tied labels: 2 items" in shown
    assert all(word in shown for word in ("personal flotation device", "accessory"))


def test_every_probe_is_listed_by_axis_and_family(invoke: Invoke) -> None:
    records = json.loads(invoke("probes", "--json").stdout)
    assert {each["name"] for each in records} == set(probes().names())
    keys = [(each["axis"], each["family"]) for each in records]
    assert keys == sorted(keys)
    shown = invoke("probes", "--probes", "cultural").stdout.splitlines()
    assert len(shown) - 1 == sum(each["family"] == "cultural" for each in records)
    assert all("cultural:" in line for line in shown[1:])


def test_a_probe_that_does_not_exist_is_bad_input(invoke: Invoke) -> None:
    assert invoke("probes", "--probes", "upside-down").exit_code == Code.BAD_INPUT


@pytest.mark.coco
def test_pairs_that_the_screen_leaves_out_come_with_their_reason(invoke: Invoke, coco_root: Path) -> None:
    arguments = (
        "probes",
        "rejected",
        "--corpus",
        "coco",
        "--root",
        coco_root,
        "--option",
        "split=val2017",
        "--family",
        "emotion",
    )
    pairs = json.loads(invoke(*arguments, "--json").stdout)
    assert pairs
    assert all(each["family"] == "emotion" and each["code"] and each["detail"] for each in pairs)
    assert f"{len(pairs):,} pairs are left out" in invoke(*arguments).stdout
