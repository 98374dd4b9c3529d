"""``export-pairs``, ``import-scores`` and ``suite --scores`` as a user meets them, scored by ``score`` in between."""

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from core.commands._shared import Code
from tests.audit.squares import PAIRED
from tests.commands.calling import Invoke

PROBES = ("--probes", "vertical-flip,cultural", "--subject", "both")


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    root = tmp_path / "photos"
    root.mkdir()
    lines = ["image,caption,label,category"]
    for seed, (label, category) in enumerate((("bed", "furniture"), ("car", "vehicle"), ("dog", "animal"))):
        pixels = np.random.default_rng(seed).integers(0, 255, (40, 56, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(root / f"{label}.png")
        lines.append(f"{label}.png,A photo of a {label} in a red room.,{label},{category}")
    (root / "captions.csv").write_text("\n".join(lines) + "\n")
    return root


def scores(folder: Path) -> dict[tuple[str, str, str], float]:
    rows = pq.read_table(folder / "scores").to_pylist()
    return {(row["item"], row["probe"], row["subject"]): row["score"] for row in rows}


def test_pairs_scored_through_the_files_of_clipscore_and_of_capevalkit_are_the_direct_run(
    invoke: Invoke, photos: Path, tmp_path: Path
) -> None:
    pairs, runs = tmp_path / "pairs", tmp_path / "data" / "runs"
    corpus = ("--corpus", "folder", "--root", photos, *PROBES)
    assert invoke("audit", *corpus, "--evaluators", PAIRED, "--run-id", "direct").exit_code == Code.OK
    planned = invoke("export-pairs", *corpus, "--dry-run")
    assert planned.exit_code == Code.OK, planned.stderr
    assert "unique images" in planned.stdout
    done = invoke("export-pairs", "direct", "-o", pairs, "--by-pair")
    assert done.exit_code == Code.OK, done.stderr
    assert f"{len((pairs / 'pairs.jsonl').read_text().splitlines())} pairs of 6 images" in done.stdout
    # clipscore's files, then CaptionEvalKit's
    asked = ("--evaluator", PAIRED, "--called", "Colours")
    files = ("score", pairs / "candidates.json", pairs / "by-pair")
    assert invoke(*files, *asked, "--save_per_instance", tmp_path / "a.json").exit_code == Code.OK
    lines = ("score", pairs / "pairs.jsonl", pairs)
    assert invoke(*lines, *asked, "--output", tmp_path / "b.json").exit_code == Code.OK
    for name in ("a", "b"):
        about = ("--evaluator", "colours", "--fingerprint", "v1, \N{SNOWMAN}", "--range", "0,")
        done = invoke("import-scores", tmp_path / f"{name}.json", "--pairs", pairs, *about, "--run-id", name)
        assert done.exit_code == Code.OK, done.stderr
        found, expected = scores(runs / name), scores(runs / "direct")
        assert found.keys() == expected.keys()
        assert max(abs(found[key] - expected[key]) for key in expected) <= 1e-12
    assert "colours@imported" in invoke("runs").stdout
    again = invoke("import-scores", tmp_path / "a.json", "--pairs", pairs, *about, "--run-id", "a")
    assert again.exit_code == Code.BAD_INPUT
    assert "exists" in again.stderr


def test_a_sample_is_the_one_that_an_audit_draws_and_stays_with_its_scores(
    invoke: Invoke, photos: Path, tmp_path: Path
) -> None:
    pairs, drawn = tmp_path / "pairs", ("--sample", "2", "--seed", "11")
    corpus = ("--corpus", "folder", "--root", photos, "--probes", "vflip", *drawn)
    assert invoke("audit", *corpus, "--evaluators", PAIRED, "--run-id", "direct").exit_code == Code.OK
    done = invoke("export-pairs", *corpus, "-o", pairs)
    assert done.exit_code == Code.OK, done.stderr
    runs = tmp_path / "data" / "runs"
    direct = scores(runs / "direct")
    assert {item for item, _, _ in direct} < {"bed.png", "car.png", "dog.png"}
    lines = [json.loads(line)["id"] for line in (pairs / "pairs.jsonl").read_text().splitlines()]
    (pairs / "mine.csv").write_text("id,score\n" + "".join(f"{id_},0.5\n" for id_ in lines))
    about = ("--evaluator", "mine", "--fingerprint", "v1", "--range", "0,1", "--run-id", "back")
    assert invoke("import-scores", pairs / "mine.csv", *about).exit_code == Code.OK
    assert scores(runs / "back").keys() == direct.keys()
    told = json.loads((runs / "back" / "manifest.json").read_text())["corpus"]
    assert (told["items"], told["sample"], told["limit"]) == (2, 2, None)
    again = invoke("export-pairs", "back", "-o", tmp_path / "again")  # the run says how its sample was drawn
    assert again.exit_code == Code.OK, again.stderr
    assert (tmp_path / "again" / "pairs.jsonl").read_text() == (pairs / "pairs.jsonl").read_text()


def test_what_is_missing_ends_with_a_code_of_its_own(invoke: Invoke, photos: Path, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs"
    corpus = ("--corpus", "folder", "--root", photos, "--probes", "vflip")
    assert invoke("export-pairs", *corpus, "-o", pairs).exit_code == Code.OK
    first = json.loads((pairs / "pairs.jsonl").read_text().splitlines()[0])["id"]
    (pairs / "mine.csv").write_text(f"id,score\n{first},0.5\n")
    about = ("--evaluator", "mine", "--fingerprint", "v1", "--range", "0,1")
    done = invoke("import-scores", pairs / "mine.csv", *about)
    assert done.exit_code == Code.FAILURES, done.stderr
    assert "5 null" in done.stdout
    for arguments, why in (
        (("import-scores", pairs / "mine.csv", *about[:4], "--range", "high"), "--range takes"),
        (("import-scores", pairs / "mine.csv", *about[:4], "--range", "nan,1"), "--range takes"),
        (("import-scores", pairs / "mine.csv", pairs / "mine.csv", *about), "2 files and 1"),
        (("import-scores", pairs / "mine.csv", *about, "--pairs", tmp_path), "holds no plan.json"),
        (("export-pairs", "-o", tmp_path / "x"), "give a run or --corpus"),
        (("export-pairs", "none", "--limit", "3", "-o", tmp_path / "x"), "leave the options of a corpus out"),
        (("export-pairs", "none", "--sample", "3", "-o", tmp_path / "x"), "leave the options of a corpus out"),
        (("export-pairs", *corpus, "--limit", "2", "--sample", "2", "-o", tmp_path / "x"), "exclude each other"),
        (("export-pairs", "none", "-o", tmp_path / "x"), "no run 'none'"),
        (("export-pairs", *corpus, "-o", tmp_path / "x", "--most-gb", "0"), "GB of pixels"),
        (("export-pairs", *corpus, "-o", tmp_path / "x", "--most-gb", "inf"), "number of GB"),
        (("export-pairs", *corpus), "--output"),
    ):
        done = invoke(*arguments)
        assert done.exit_code == Code.BAD_INPUT
        assert why in done.stderr


def test_a_suite_is_held_to_scores_that_were_made_elsewhere(invoke: Invoke, tmp_path: Path, colour_words: str) -> None:
    for name, colour in (("red.png", (250, 10, 10)), ("blue.png", (10, 10, 250)), ("green.png", (10, 250, 10))):
        Image.fromarray(np.full((24, 32, 3), colour, dtype=np.uint8)).save(tmp_path / name)
    entries = [
        {"image": f"VOC/{one}.png", "captions": [f"a {one} thing", f"a {other} thing"], "label": 0}
        for one, other in (("red", "blue"), ("blue", "green"), ("green", "red"))
    ]
    suite, pairs = tmp_path / "pascal_50s.json", tmp_path / "given"
    suite.write_text(json.dumps({"HC": entries}))
    direct = invoke("suite", suite, tmp_path, "--evaluator", colour_words, "--json")
    done = invoke("suite", suite, tmp_path, "--export-pairs", pairs)
    assert done.exit_code == Code.OK, done.stderr
    assert "6 captions" in done.stdout
    invoke("score", pairs / "pairs.jsonl", "--evaluator", colour_words, "--output", tmp_path / "scores.json")
    told = invoke("suite", suite, "--scores", tmp_path / "scores.json", "--evaluator", "colours", "--json")
    assert told.exit_code == Code.OK, told.stderr
    assert json.loads(told.stdout)["evaluator"] == "colours@imported"
    assert json.loads(told.stdout)["before"] == json.loads(direct.stdout)["before"]
    assert "imported from scores.json (sha256 " in told.stderr
    held = json.loads((tmp_path / "scores.json").read_text())["per_item"]
    first = [json.loads(line)["id"] for line in (pairs / "pairs.jsonl").read_text().splitlines()[:2]]
    (tmp_path / "half.json").write_text(json.dumps({key: held[key] for key in first}))
    half = invoke("suite", suite, "--scores", tmp_path / "half.json", "--json")
    assert half.exit_code == Code.FAILURES
    assert json.loads(half.stdout)["before"][0]["n"] == 1
    assert "not in half.json" in half.stderr
    (tmp_path / "other.json").write_text(json.dumps({**held, "p0": {"ColourWords": 1.0}, "p1": 1.0}))
    for arguments, why in (
        (("--scores", tmp_path / "other.json"), "2 of 8 ids are no pair of Pascal-50S"),
        ((), "--scores made elsewhere"),
        ((tmp_path, "--scores", tmp_path / "half.json"), "leave them out"),
        ((tmp_path, "--export-pairs", pairs), "exists"),
    ):
        done = invoke("suite", suite, *arguments)
        assert done.exit_code == Code.BAD_INPUT
        assert why in done.stderr
