"""``audit`` from the plan to the published file, as a user of the command line meets it."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import numpy as np
import pytest
from PIL import Image

from core.audit.fingerprints import describe_machine
from core.commands._shared import Code
from core.store.run_files import read_run
from core.store.store import Store
from tests.commands.calling import Invoke, Shell
from tests.commands.conftest import EVALUATORS, ROOT
from tests.plugins.gate import PATIENCE_S, Gate

LABELS = ("bed", "car", "dog")
PROBES = ("--probes", "vertical-flip,cultural")
SHARD_CALLS = 2
"""Calls of an evaluator that a shard of 24 items needs under one image probe, 32 pairs a call."""


def photograph(path: Path, seed: int) -> None:
    pixels = np.random.default_rng(seed).integers(0, 255, (40, 56, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of images with captions and labels, and one file that is no image."""
    root = tmp_path / "photos"
    root.mkdir()
    categories = ("furniture", "vehicle", "animal")
    lines = ["image,caption,label,category"]
    for seed, (label, category) in enumerate(zip(LABELS, categories, strict=True)):
        photograph(root / f"{label}.png", seed)
        lines.append(f"{label}.png,A photo of a {label} in a red room.,{label},{category}")
    (root / "captions.csv").write_text("\n".join(lines) + "\n")
    (root / "torn.jpg").write_bytes(b"\xff\xd8\xff\xe0 torn")
    return root


@pytest.fixture
def common(folder: Path) -> tuple[object, ...]:
    return ("audit", "--corpus", "folder", "--root", folder, *PROBES, "--run-id", "first")


def test_an_audit_ends_with_a_run_that_says_what_was_kept_and_why_the_rest_was_not(
    invoke: Invoke, common: tuple[object, ...], tmp_path: Path, word_count: str
) -> None:
    done = invoke(*common, "--evaluators", word_count)
    assert done.exit_code == Code.OK, done.stderr
    run = read_run(tmp_path / "data" / "runs" / "first")
    counts = run.manifest["counts"]
    assert (run.status, counts["items_kept"], counts["items_rejected"]) == ("complete", 3, 1)
    assert done.stdout.splitlines()[0].startswith("run first: 3 items kept, 1 left out, ")
    assert all(code in done.stdout for code in counts["items_rejected_by_code"])
    assert f"{counts['rows']:,} scores, 0 null" in done.stdout
    assert done.stderr.splitlines()[-1].startswith("audit: ")
    assert run.manifest["command"].startswith("python -m core audit --corpus folder --root ")


def test_scores_are_the_evaluators_own(
    invoke: Invoke, common: tuple[object, ...], tmp_path: Path, word_count: str
) -> None:
    invoke(*common, "--evaluators", word_count)
    with Store.open(tmp_path / "data" / "runs" / "first") as store:
        found = store.query("select probe, caption, score from scores where item like 'bed%'").set_index("probe")
    assert found.loc["identity", "caption"] == "There is a bed."
    assert found.loc["identity", "score"] == pytest.approx(0.4)
    assert found.loc["vflip", "score"] == pytest.approx(0.4)
    assert found.loc["cultural:African", "caption"] == "There is an African bed."
    assert found.loc["cultural:African", "score"] == pytest.approx(0.5)


def test_captions_of_other_languages_are_scored_and_what_is_not_known_is_warned_of(
    invoke: Invoke, common: tuple[object, ...], folder: Path, tmp_path: Path, word_count: str
) -> None:
    lines = [
        "image,language,caption,label",
        "bed.png,en,A bed.,bed",
        "bed.png,de,Ein Bett.,bed",
        "bed.png,de,Noch eins.,bed",
    ]
    (folder / "captions.csv").write_text("\n".join(lines) + "\n")
    words = [*common[:5], "--probes", "vflip", "--run-id", "many", "--subject", "human", "--evaluators", word_count]
    done = invoke(*words, "--language", "de", "--language", "en", "--captions-each", "2")
    assert done.exit_code == Code.OK, done.stderr
    assert "warning: " in done.stderr
    assert "does not say which languages it reads; its scores of captions in de" in done.stderr
    run = read_run(tmp_path / "data" / "runs" / "many")
    assert "--language de --language en --captions-each 2" in run.manifest["command"]
    with Store.open(run.path) as store:
        held = store.query("select language, rank, caption from scores where probe = 'identity' order by all")
    assert held.to_numpy().tolist() == [["de", 0, "Ein Bett."], ["de", 1, "Noch eins."], ["en", 0, "A bed."]]
    refused = invoke(*words[:-2], "--evaluators", word_count, "--language", "xx")
    assert refused.exit_code == Code.BAD_INPUT
    assert "no caption of corpus 'folder' is in language 'xx'" in refused.stderr


def test_null_scores_are_counted_and_end_with_1(invoke: Invoke, common: tuple[object, ...], colour_words: str) -> None:
    done = invoke(*common, "--evaluators", colour_words)  # "There is a bed." names no colour
    assert done.exit_code == Code.FAILURES
    assert "null (column error says why)" in done.stdout
    assert "Scores without a value" in done.stdout
    assert "not-finite" in done.stdout
    assert "the evaluator gave no finite number and no reason of its own" in done.stdout


def test_the_human_caption_can_be_held_instead(
    invoke: Invoke, common: tuple[object, ...], tmp_path: Path, colour_words: str
) -> None:
    done = invoke(
        *common[:5], "--probes", "vflip", "--run-id", "human", "--subject", "human", "--evaluators", colour_words
    )
    assert done.exit_code == Code.OK, done.stderr
    with Store.open(tmp_path / "data" / "runs" / "human") as store:
        captions = store.query("select distinct caption from scores order by 1")["caption"].tolist()
    assert captions == [f"A photo of a {label} in a red room." for label in sorted(LABELS)]


def test_a_dry_run_names_the_labels_of_two_categories(
    invoke: Invoke, common: tuple[object, ...], folder: Path, word_count: str
) -> None:
    assert "Of two categories" not in invoke(*common, "--evaluators", word_count, "--dry-run").stdout
    for seed, name in enumerate(("one", "two")):
        photograph(folder / f"{name}.png", 7 + seed)
    rows = "one.png,A bench.,bench,outdoor\ntwo.png,A bench.,Bench,furniture\n"
    (folder / "captions.csv").write_text((folder / "captions.csv").read_text() + rows)
    done = invoke(*common, "--evaluators", word_count, "--dry-run")
    said = (
        "Of two categories, counted in the first: bench (outdoor or furniture, n = 1); Bench (outdoor or furniture, n"
    )
    assert said in " ".join(done.stdout.split())


def test_a_dry_run_tells_the_cost_and_touches_nothing(
    invoke: Invoke, common: tuple[object, ...], tmp_path: Path, word_count: str, colour_words: str
) -> None:
    done = invoke(*common, "--evaluators", f"{word_count},{colour_words}", "--dry-run")
    assert done.exit_code == Code.OK, done.stderr
    rows = {line.split("  ")[0].strip(): line.split() for line in done.stdout.splitlines()}
    assert rows["unique images"][2] == "6"  # three images and their flips
    assert "word-count" in rows
    assert "every unique image and caption once" in done.stdout
    assert "every pair" in done.stdout
    assert "No stored run knows the scatter of word-count, colour-words: 3 items find a median shift" in done.stdout
    assert not (tmp_path / "data").exists()


def measured(runs: Path, **speed: float) -> None:
    """A run that measured seconds an image with one thread on a machine like this one."""
    told = {name: {"images": 1000, "seconds": 1000 * seconds} for name, seconds in speed.items()}
    manifest = {
        "run": "measured",
        "status": "complete",
        "schema_version": 1,
        "created": "2026-01-01T00:00:00Z",
        "counts": {},
        "corpus": {},
        "machine": describe_machine("cpu"),
        "threads": 1,
        "speed": told,
    }
    (runs / "measured").mkdir(parents=True)
    (runs / "measured" / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


ALONE = "2 workers of 1 thread: about 1 h 00 min of scoring if none slows another, 2.0 MB of weights in memory at most"
MACHINES = (
    "3 machines like this one with 2 workers of 1 thread: about 1 h 00 min of scoring if none slows another, "
    "2.0 MB of weights in memory at most on each machine"
)
CLUSTER = (
    "a cluster of 3 machines like this one with 2 workers of 1 thread in all: about 1 h 00 min of scoring if none "
    "slows another, 2.0 MB of weights in memory at most in all, 1.0 MB in each worker"
)


@pytest.mark.parametrize(
    ("more", "line", "price"),
    [
        (("--threads", 1), ALONE, "2.50"),
        (("--threads", 1, "--machines", 3), MACHINES, "7.50"),
        (("--cluster", "auto", "--machines", 3), CLUSTER, "7.50"),
    ],
)
def test_a_dry_run_tells_shards_hours_memory_and_money(
    invoke: Invoke,
    common: tuple[object, ...],
    tmp_path: Path,
    word_count: str,
    more: tuple[object, ...],
    line: str,
    price: str,
) -> None:
    measured(
        tmp_path / "data" / "runs", **{"word-count": 600.0}
    )  # six images: one hour, and one shard cannot be shared
    asked = (*common, "--evaluators", word_count, "--dry-run", "--workers", 2, *more)
    done = invoke(*asked, "--price", 2.5)
    assert done.exit_code == Code.OK, done.stderr
    shards = next(told for told in done.stdout.splitlines() if told.strip().startswith("shards"))
    assert " ".join(shards.split()) == "shards 1 of at most 24 items, each written as a whole"
    said = " ".join(done.stdout.split())
    assert line in said
    assert f"at 2.5 for a machine and an hour: about {price}" in said
    assert "for a machine and an hour" not in invoke(*asked).stdout


@pytest.mark.parametrize("option", [("--machines", 2), ("--price", 1.0)])
def test_what_only_a_dry_run_tells_is_refused_without_one(
    invoke: Invoke, common: tuple[object, ...], word_count: str, option: tuple[object, ...]
) -> None:
    done = invoke(*common, "--evaluators", word_count, *option)
    assert done.exit_code == Code.BAD_INPUT
    assert "--machines and --price say what --dry-run would tell" in done.stderr


def test_a_dry_run_without_a_measured_speed_says_whose_is_missing(
    invoke: Invoke, common: tuple[object, ...], word_count: str
) -> None:
    done = invoke(*common, "--evaluators", word_count, "--dry-run", "--threads", 1, "--price", 9)
    said = " ".join(done.stdout.split())
    assert "time unknown, no run here measured word-count with as many threads" in said
    assert "for a machine and an hour" not in said


def test_an_existing_run_is_neither_overwritten_nor_mixed_by_accident(
    invoke: Invoke, common: tuple[object, ...], tmp_path: Path, word_count: str, colour_words: str
) -> None:
    assert invoke(*common, "--evaluators", word_count).exit_code == Code.OK
    again = invoke(*common, "--evaluators", word_count)
    assert again.exit_code == Code.BAD_INPUT
    assert "first" in again.stderr
    other = invoke(*common, "--evaluators", colour_words, "--resume")
    assert other.exit_code == Code.BAD_INPUT
    assert "evaluators" in other.stderr
    assert invoke(*common, "--evaluators", word_count, "--resume").exit_code == Code.OK
    assert invoke(*common, "--evaluators", colour_words, "--overwrite").exit_code == Code.FAILURES


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--corpus", "fulder"], "did you mean folder"),
        (["--corpus", "folder"], "--root"),
        (["--corpus", "folder", "--root", "absent"], "no folder absent"),
        (["--probes", "vflop"], "did you mean vflip"),
        (["--evaluators", "conse-lite9"], "did you mean conse-lite"),
        (["--evaluators", "absent.py:Metric"], "no file absent.py"),
        (["--option", "split"], "--option takes key=value"),
        (["--option", "color=red"], "has no option 'color'"),
        (["--limit", "0"], "--limit"),
        (["--resume"], "--resume needs --run-id"),
        (["--resume", "--overwrite", "--run-id", "x"], "exclude each other"),
        (["--run-id", "../up"], "a run id has"),
        (["--subject", "poem"], "poem"),
    ],
)
def test_bad_input_is_named_before_anything_is_written(
    invoke: Invoke, folder: Path, tmp_path: Path, arguments: list[str], said: str, word_count: str
) -> None:
    usual = {"--corpus": "folder", "--root": str(folder), "--evaluators": word_count}
    given = [word for name, value in usual.items() if name not in arguments for word in (name, value)]
    if "--corpus" in arguments:
        given = [word for word in given if word not in ("--root", str(folder))]
    done = invoke("audit", *given, *arguments)
    assert done.exit_code == Code.BAD_INPUT
    assert said in " ".join(done.stderr.split())
    assert not (tmp_path / "data" / "runs").exists()


def test_ctrl_c_says_how_to_go_on_and_that_command_ends_with_the_same_tables(
    shell: Shell, invoke: Invoke, folder: Path, tmp_path: Path
) -> None:
    for seed in range(60):
        photograph(folder / f"more-{seed:02}.png", 100 + seed)
    evaluator = f"{EVALUATORS}:GatedCount"
    words = [
        "audit",
        "--corpus",
        "folder",
        "--root",
        str(folder),
        "--probes",
        "vflip",
        "--evaluators",
        evaluator,
        "--subject",
        "human",
    ]
    lines = (folder / "captions.csv").read_text()
    lines += "".join(f"more-{seed:02}.png,Photo {seed} of a wall.,bed,furniture\n" for seed in range(60))
    (folder / "captions.csv").write_text(lines)
    assert invoke(*words, "--run-id", "whole").exit_code == Code.OK
    environment = {**os.environ, "INVARISCOPE_DATA": str(tmp_path / "data")}
    command = [sys.executable, "-m", "core", *words, "--run-id", "torn"]
    gate = Gate(tmp_path / "data")
    gate.shut(SHARD_CALLS)
    with subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and not gate.holds():
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == Code.INTERRUPTED, error
    assert len(list((tmp_path / "data" / "runs" / "torn" / "scores").glob("*.parquet"))) == 1
    gate.open()
    resume = error.splitlines()[-1].partition("resume with: ")[2]
    assert shlex.split(resume)[:3] == ["python", "-m", "core"]
    again = shell(*shlex.split(resume)[3:])
    assert again.returncode == Code.OK, again.stderr
    query = "select * exclude (run) from scores order by all"
    with (
        Store.open(tmp_path / "data" / "runs" / "torn") as torn,
        Store.open(tmp_path / "data" / "runs" / "whole") as whole,
    ):
        assert torn.query(query).equals(whole.query(query))


def test_runs_are_listed_and_published_by_their_id(
    invoke: Invoke, common: tuple[object, ...], tmp_path: Path, word_count: str
) -> None:
    assert "no run yet" in invoke("runs").stderr
    invoke(*common, "--evaluators", word_count)
    (listed,) = json.loads(invoke("runs", "--json").stdout)
    assert (listed["run"], listed["status"]) == ("first", "complete")
    assert invoke("runs").stdout.splitlines()[1].split()[:3] == ["first", "complete", "folder"]
    output = tmp_path / "handed-around.duckdb"
    done = invoke("publish", "first", "-o", output)
    assert done.exit_code == Code.OK, done.stderr
    assert done.stdout.startswith(f"1 run in {output}, ")
    twice = invoke("publish", "first", "first", "-o", tmp_path / "twice.duckdb")
    assert twice.stdout.startswith("1 run in ")
    with duckdb.connect(str(output), read_only=True) as file:
        rows = file.execute("select count(*) from scores").fetchone()
    assert rows == (listed["counts"]["rows"],)
    assert invoke("publish", "first", "-o", output).exit_code == Code.BAD_INPUT
    assert invoke("publish", "first", "-o", output, "--overwrite").exit_code == Code.OK
    assert invoke("publish", output, "-o", tmp_path / "again.duckdb").exit_code == Code.OK


def test_a_run_that_is_not_there_cannot_be_published(invoke: Invoke, tmp_path: Path) -> None:
    done = invoke("publish", "absent", "-o", tmp_path / "x.duckdb")
    assert done.exit_code == Code.BAD_INPUT
    assert "there are: none yet" in done.stderr
