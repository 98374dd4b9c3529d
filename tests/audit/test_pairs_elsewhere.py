"""Pairs that are written out, scored by a script that knows nothing of Invariscope, and read back, equal an audit."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from core.analysis.questions import catalogue
from core.analysis.questions.question import Options
from core.analysis.reading import read_table
from core.audit.export import export_pairs, size_of
from core.audit.imports import Imported, import_scores
from core.audit.pair_folder import PairFolder, read_pair_folder
from core.audit.plan import Plan
from core.audit.record import plan_again
from core.audit.run import RunStopped, run_audit
from core.corpora.images import pixel_hash
from core.corpora.schema import Corpus, Origin
from core.corpora.score_files import read_scores
from core.errors import InvalidInput, StoreError
from core.evaluators.pool import Pool
from core.evaluators.registry import find
from core.evaluators.weights.fetched import checked_label
from core.features.calibration.fit import fit
from core.features.calibration.readings import Terms, calibrator
from core.report.build import build
from core.report.document import parse_signature, signature_of
from core.report.fairness_card import card_report
from core.store.joined_shards import join
from core.store.run_files import Run
from core.store.store import Store
from tests.audit.squares import PAIRED, PLUGINS, build_corpus
from tests.plans import make_plan

OPTIONS: Mapping[str, Any] = {
    "probes": ["vflip", "blur", "null", "cultural", "negation"],
    "subjects": ("template", "human"),
    "shard_items": 3,
}

SCRIPT = """
import json, sys
import numpy as np
from PIL import Image
from histogram import caption_vector, image_vector
folder, out = sys.argv[1:]
with open(out, "w") as file:
    print("score,id", file=file)
    for line in reversed(open(f"{folder}/pairs.jsonl", encoding="utf-8").readlines()):
        pair = json.loads(line)
        image = np.asarray(Image.open(f"{folder}/{pair['image']}"))
        print(repr(float(image_vector(image) @ caption_vector(pair["caption"]))), pair["id"], sep=",", file=file)
"""
"""A metric that runs elsewhere: reads the files, writes a CSV from the last pair to the first."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("elsewhere")


@pytest.fixture(scope="module")
def corpus(root: Path) -> Corpus:
    return replace(build_corpus(root / "corpus", 7), origin=Origin("squares", root / "corpus"))


@pytest.fixture(scope="module")
def plan(corpus: Corpus) -> Plan:
    return make_plan(corpus, evaluators=None, **OPTIONS)


@pytest.fixture(scope="module")
def folder(plan: Plan, root: Path) -> PairFolder:
    return export_pairs(plan, root / "pairs", by_pair=True)


@pytest.fixture(scope="module")
def scores(folder: PairFolder, root: Path) -> Path:
    script, out = root / "metric.py", root / "scores.csv"
    script.write_text(SCRIPT)
    # other kernels and thread counts round otherwise: only the way of the numbers is tried here
    sums = {name: value for name, value in os.environ.items() if name.startswith(("OMP_", "OPENBLAS_", "MKL_"))}
    env = sums | {"PYTHONPATH": f"{PLUGINS}:{PLUGINS.parents[1]}", "PATH": "/usr/bin"}
    subprocess.run([sys.executable, script, folder.path, out], check=True, env=env, timeout=120)
    return out


@pytest.fixture(scope="module")
def direct(corpus: Corpus, root: Path) -> Run:
    plan = make_plan(corpus, evaluators=[PAIRED], **OPTIONS)
    return run_audit(plan, root / "runs", run_id="direct", pool=Pool(100, "cpu"))


@pytest.fixture(scope="module")
def imported(folder: PairFolder, scores: Path, root: Path) -> Run:
    return import_scores(folder, [told(scores)], root / "runs", run_id="imported")


def told(path: Path, name: str = "clipscore", **column: str) -> Imported:
    return Imported(name, "v1, fp32", (0.0, 1.0), read_scores(path, **column))


def frame(run: Run, table: str) -> pd.DataFrame:
    return pq.read_table(run.path / table).to_pandas().drop(columns="run")


def pairs_of(folder: PairFolder) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder.path / "pairs.jsonl").read_text(encoding="utf-8").splitlines()]


def test_the_round_trip_gives_the_rows_of_the_direct_run(imported: Run, direct: Run) -> None:
    for table in ("items", "variants", "rejections"):
        pd.testing.assert_frame_equal(frame(imported, table), frame(direct, table))
        assert len(frame(direct, table))
    one, other = frame(imported, "scores"), frame(direct, "scores")
    np.testing.assert_allclose(one["score"], other["score"], rtol=0, atol=1e-12)
    unknown = ["evaluator", "score", "object_inside", "truncated"]
    pd.testing.assert_frame_equal(one.drop(columns=unknown), other.drop(columns=unknown))
    assert set(one["evaluator"]) == {"clipscore@imported"}
    assert one[["object_inside", "truncated"]].isna().all().all()  # nobody knows the metric's crop and tokens


def test_the_run_says_where_its_scores_are_from(imported: Run, direct: Run, folder: PairFolder) -> None:
    here, there = imported.manifest, direct.manifest
    same = ("corpus", "probes", "subjects", "seed", "lexicons", "words", "content_sha256", "status", "rejected_items")
    assert {name: here[name] for name in same} == {name: there[name] for name in same}
    counted = ("items", "items_kept", "rows", "pairs", "scores_null", "unique_images", "unique_captions")
    assert {name: here["counts"][name] for name in counted} == {name: there["counts"][name] for name in counted}
    (entry,) = here["evaluators"]
    assert entry["imported"]["file"] == "scores.csv"
    assert entry["imported"]["fingerprint"] == "v1, fp32"
    assert (entry["imported"]["missing"], entry["imported"]["without_number"]) == (0, 0)
    assert entry["fingerprint"]["settings"]["pairs"] == folder.digest
    assert len(entry["imported"]["sha256"]) == 64


def test_every_image_is_there_once_and_is_the_image_of_its_name(folder: PairFolder) -> None:
    files = sorted((folder.path / "images").rglob("*.png"))
    pairs = pairs_of(folder)
    assert {path.relative_to(folder.path).as_posix() for path in files} == {pair["image"] for pair in pairs}
    for path in files:
        assert pixel_hash(np.asarray(Image.open(path))) == path.stem
        assert path.parent.name == path.stem[:2]
    assert len({pair["id"] for pair in pairs}) == len(pairs) == folder.told["counts"]["pairs"]
    candidates = json.loads((folder.path / "candidates.json").read_text(encoding="utf-8"))
    assert candidates == {pair["id"]: pair["caption"] for pair in pairs}
    for pair in pairs[:20]:
        assert (folder.path / "by-pair" / f"{pair['id']}.png").samefile(folder.path / pair["image"])
    size = size_of(make_plan_again(folder))
    assert folder.told["counts"]["images"] <= size.images
    assert folder.told["counts"]["pairs"] <= size.pairs


def make_plan_again(folder: PairFolder) -> Plan:
    root = folder.path.parent / "corpus"
    return make_plan(build_corpus(root, 7), evaluators=None, **OPTIONS)


def test_a_plan_that_is_exported_twice_has_the_same_digest_and_ids(folder: PairFolder, tmp_path: Path) -> None:
    again = export_pairs(make_plan_again(folder), tmp_path / "again")
    assert again.digest == folder.digest
    assert pairs_of(again) == pairs_of(folder)


def test_an_export_goes_on_where_it_stopped(plan: Plan, folder: PairFolder, tmp_path: Path) -> None:
    asked = iter([False, False, True])
    with pytest.raises(RunStopped, match="goes on"):
        export_pairs(plan, tmp_path / "pairs", stop=lambda: next(asked, True))
    begun = read_pair_folder(tmp_path / "pairs")
    assert not begun.complete
    with pytest.raises(InvalidInput, match="not complete"):
        import_scores(begun, [], tmp_path)
    assert pairs_of(export_pairs(plan, tmp_path / "pairs")) == pairs_of(folder)
    lost = next((tmp_path / "pairs" / "images").rglob("*.png"))
    lost.unlink()
    export_pairs(plan, tmp_path / "pairs")
    assert lost.is_file()


def test_a_folder_of_something_else_is_left_alone(
    plan: Plan, corpus: Corpus, folder: PairFolder, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InvalidInput, match="not empty"):
        export_pairs(plan, tmp_path)
    with pytest.raises(InvalidInput, match="another plan"):
        export_pairs(make_plan(corpus, evaluators=None, **{**OPTIONS, "seed": 7}), folder.path)
    with pytest.raises(InvalidInput, match="GB of pixels"):
        export_pairs(plan, tmp_path / "large", most_bytes=1000)
    assert not (tmp_path / "large").exists()


def test_a_changed_plan_is_refused(folder: PairFolder, tmp_path: Path) -> None:
    said = json.loads((folder.path / "plan.json").read_text())
    said["manifest"]["seed"] = 1
    (tmp_path / "plan.json").write_text(json.dumps(said))
    with pytest.raises(StoreError, match="was changed"):
        read_pair_folder(tmp_path)
    with pytest.raises(StoreError, match=r"holds no plan\.json"):
        read_pair_folder(tmp_path / "nowhere")


def test_a_shard_that_no_export_wrote_is_refused(plan: Plan, scores: Path, tmp_path: Path) -> None:
    folder = export_pairs(plan_of_one(plan), tmp_path / "pairs")
    path = folder.given_path(0)
    table = pq.read_table(path)
    for name, value in (("id", "../../stolen"), ("image", "images/../../../etc/passwd"), ("image", None)):
        place = table.schema.get_field_index(name)
        column = pa.array([value, *table[name].to_pylist()[1:]], pa.string())
        pq.write_table(table.set_column(place, table.schema.field(name), column), path)
        with pytest.raises(StoreError, match="no export writes"):
            import_scores(folder, [told(scores)], tmp_path)
    pq.write_table(table.replace_schema_metadata({}), path)
    with pytest.raises(StoreError, match="of another export"):
        folder.given(0)
    path.write_bytes(b"PAR1")
    with pytest.raises(StoreError, match="cannot be read"):
        folder.given(0)
    assert export_pairs(plan_of_one(plan), tmp_path / "pairs").given(0).equals(table)


def plan_of_one(plan: Plan) -> Plan:
    return replace(plan, corpus=replace(plan.corpus, items=plan.corpus.items[:1]))


def test_half_the_rows_and_rows_without_a_number_are_null_with_their_reason(
    folder: PairFolder, scores: Path, tmp_path: Path
) -> None:
    lines = scores.read_text().splitlines()
    number, lost = lines[1].split(",")[1], lines[2].split(",")[1]
    kept = [lines[0], f"NaN,{number}", *lines[3 : len(lines) // 2]]
    (tmp_path / "half.csv").write_text("\n".join(kept) + "\n")
    run = import_scores(folder, [told(tmp_path / "half.csv")], tmp_path, run_id="half")
    rows = frame(run, "scores")
    ids = [key for index in range(folder.shards) for key in folder.given(index)["id"].to_pylist()]
    by_id = rows.assign(id=ids).set_index("id")
    assert set(by_id.loc[[number], "error"]) == {"half.csv gives no number [no-number]"}
    assert set(by_id.loc[[lost], "error"]) == {"not in half.csv [not-in-file]"}
    assert rows["score"].isna().equals(rows["error"].notna())
    assert set(run.manifest["counts"]["scores_null_by_code"]) == {"no-number", "not-in-file"}
    (entry,) = run.manifest["evaluators"]
    assert entry["imported"]["without_number"] == 1
    assert entry["imported"]["missing"] == len(set(ids)) - (len(kept) - 1)
    assert run.manifest["counts"]["scores_null"] == rows["score"].isna().sum()


def test_rows_of_another_run_are_refused_with_their_number(
    folder: PairFolder, scores: Path, corpus: Corpus, tmp_path: Path
) -> None:
    other = make_plan(replace(corpus, items=corpus.items[:1]), evaluators=None, probes=["hflip"])
    foreign = [pair["id"] for pair in pairs_of(export_pairs(other, tmp_path / "other"))]
    ours = {pair["id"] for pair in pairs_of(folder)}
    new = [each for each in foreign if each not in ours]
    assert new
    (tmp_path / "mixed.csv").write_text(scores.read_text() + "".join(f"0.5,{each}\n" for each in new))
    with pytest.raises(InvalidInput, match=rf"{len(new)} of .* ids are no pair .*{new[0]}"):
        import_scores(folder, [told(tmp_path / "mixed.csv")], tmp_path)
    assert not list(tmp_path.glob("squares-*"))


def test_a_bad_range_name_or_fingerprint_is_refused(folder: PairFolder, scores: Path, tmp_path: Path) -> None:
    good = told(scores)
    for bad, why in (
        (replace(good, score_range=(0.9, 1.0)), "outside the range"),
        (replace(good, score_range=(1.0, 0.0)), "must rise"),
        (replace(good, fingerprint=" "), "fingerprint"),
        (replace(good, name=""), "name"),
    ):
        with pytest.raises(InvalidInput, match=why):
            import_scores(folder, [bad], tmp_path)
    with pytest.raises(InvalidInput, match="once"):
        import_scores(folder, [good, replace(good, name="clipscore@imported")], tmp_path)


def test_no_evaluator_of_this_machine_can_be_meant_by_the_name_of_imported_scores(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="nothing new can be scored"):
        find("clipscore@imported")
    with pytest.raises(InvalidInput, match="marks imported scores"):
        checked_label("imported")
    terms = Terms("orbit", {"vertical-flip": 1.0}, {"vertical-flip": {"vflip": 0.0}}, {"vertical-flip": 0.0})
    model = calibrator(terms, strength=0.5, evaluator="clipscore@imported").model_dump_json()
    (tmp_path / "model.json").write_text(model)
    with pytest.raises(InvalidInput, match="nothing new can be scored"):
        find(str(tmp_path / "model.json"))


def test_two_metrics_make_one_run_that_store_card_report_and_calibration_take(
    folder: PairFolder, scores: Path, tmp_path: Path
) -> None:
    run = import_scores(folder, [told(scores, "one"), told(scores, "two")], tmp_path, run_id="both")
    with pytest.raises(InvalidInput, match="exists"):
        import_scores(folder, [told(scores, "one")], tmp_path, run_id="both")
    rows = frame(run, "scores")
    assert list(rows["item"]) == sorted(rows["item"])
    one, two = (rows[rows["evaluator"] == f"{name}@imported"]["score"].to_numpy() for name in ("one", "two"))
    np.testing.assert_array_equal(one, two)
    with Store.open(run.path) as store:
        assert not store.problems
        table = read_table(store)
        card = card_report(store)
        (question,) = [each for each in catalogue(table) if each.id == "S0"]
        shown = question.compute(table.view(), Options())
        signed_line = signature_of(table, store.runs())
        signed = parse_signature(signed_line)
        report = build(store)
        assert fit(table.view(), evaluator="one@imported").terms
    assert card.count("<p>Scores imported from scores.csv (sha256 ") == 2
    assert "fingerprint as told: v1, fp32" in card
    assert report.signature == signed_line
    assert "origin" in [column.name for column in question.columns]
    assert shown["origin"].str.startswith("scores imported from scores.csv").all()
    assert [each.rpartition("@")[0] for each in signed["evaluators"]] == ["one@imported", "two@imported"]


def test_scores_stand_beside_those_of_the_run_whose_pairs_they_are_of(
    folder: PairFolder, scores: Path, direct: Run, imported: Run, corpus: Corpus, tmp_path: Path
) -> None:
    run = import_scores(folder, [told(scores)], tmp_path, run_id="both", beside=direct)
    rows = frame(run, "scores")
    for name, alone in (("paired-histogram", direct), ("clipscore@imported", imported)):
        own = rows[rows["evaluator"] == name].reset_index(drop=True)
        pd.testing.assert_frame_equal(own, frame(alone, "scores"), check_dtype=False)
    assert list(rows["item"]) == sorted(rows["item"])
    for table in ("items", "variants", "rejections"):
        pd.testing.assert_frame_equal(frame(run, table), frame(direct, table))
    assert [each["name"] for each in run.manifest["evaluators"]] == ["paired-histogram", "clipscore@imported"]
    assert run.manifest["counts"]["calls"] == direct.manifest["counts"]["calls"]
    joined = join(Path(shutil.copytree(direct.path, tmp_path / "joined" / direct.id)))
    again = import_scores(folder, [told(scores)], tmp_path, run_id="both-again", beside=joined)
    pd.testing.assert_frame_equal(frame(again, "scores"), rows)
    with Store.open(run.path) as store:
        assert not store.problems
        assert set(read_table(store).evaluators) == {"paired-histogram", "clipscore@imported"}
    with pytest.raises(InvalidInput, match="once"):
        import_scores(folder, [told(scores)], tmp_path, beside=imported)
    other = make_plan(corpus, evaluators=[PAIRED], **{**OPTIONS, "probes": ["vflip"], "seed": 3})
    strange = run_audit(other, tmp_path, run_id="other", pool=Pool(100, "cpu"))
    with pytest.raises(InvalidInput, match="other probes, seed than"):
        import_scores(folder, [told(scores)], tmp_path, beside=strange)


def test_a_run_is_exported_from_its_manifest_and_refused_where_its_corpus_changed(
    direct: Run, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.audit.record.origin_of_run", lambda run: None)
    monkeypatch.setattr("core.audit.record.read_again", lambda origin: plan.corpus)
    again = plan_again(direct)
    assert again.fingerprint() == plan.fingerprint()
    monkeypatch.setattr(
        "core.audit.record.read_again", lambda origin: replace(plan.corpus, items=plan.corpus.items[:-1])
    )
    with pytest.raises(InvalidInput, match="other corpus than"):
        plan_again(direct)
