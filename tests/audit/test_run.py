"""An audit gives, row by row, what scoring each variant by hand gives, and keeps going where something breaks."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from core.analysis.scope import items_said
from core.audit.plan import Plan
from core.audit.run import Progress, RunStopped, run_audit
from core.corpora.item_pictures import read_item
from core.corpora.schema import Corpus
from core.errors import InvalidInput, NotAvailable, ProbeRejected, StoreError
from core.evaluators.pool import Pool
from core.probes.base import Subject
from core.probes.registry import catalogue
from core.probes.rejections import meaning
from core.probes.scene import Scene
from core.probes.words.templates import base_caption, length_matched
from core.registry import load_object
from core.seeds import stream
from core.store.run_files import Run, list_runs
from core.store.schema import SCHEMAS
from core.store.store import Store
from tests.audit.squares import HISTOGRAM, PAIRED, build_corpus
from tests.plans import make_plan
from tests.tiny.vlm import write_llava

Histogram = load_object(HISTOGRAM)


@pytest.fixture
def pool() -> Pool:
    return Pool(100, "cpu")


def frame(run: Run, table: str = "scores") -> pd.DataFrame:
    return pq.read_table(run.path / table).to_pandas()


def plan_of(corpus: Corpus, **options: object) -> Plan:
    return make_plan(corpus, **{"evaluators": [HISTOGRAM], "shard_items": 3, "batch_size": 8, **options})  # type: ignore[arg-type]


def test_every_row_is_the_score_of_its_variant_made_by_hand(squares: Corpus, tmp_path: Path, pool: Pool) -> None:
    plan = plan_of(squares, evaluators=[HISTOGRAM, PAIRED], subjects=("template", "human"))
    run = run_audit(plan, tmp_path, run_id="whole", pool=pool)
    table = frame(run)
    rejected = set(
        frame(run, "rejections").dropna(subset=["probe"])[["item", "probe"]].itertuples(index=False, name=None)
    )
    evaluator = Histogram.load()
    expected = {}
    for item in squares.items:
        assert item.label is not None
        pixels = read_item(item).pixels
        captions = {"template": base_caption(item.label), "human": item.captions["en"][0]}
        held = Subject("template", "en", 0, captions["template"])
        for subject, caption in captions.items():
            expected[item.id, "identity", subject] = (pixels, caption)
        for probe in plan.probes:
            try:
                variant = probe.make(Scene(item, pixels), held, stream(plan.seed, item.id, probe.name))
            except ProbeRejected:
                assert (item.id, probe.name) in rejected
                continue
            image = pixels if variant.pixels is None else variant.pixels
            for subject in ("template",) if probe.edits == "caption" else ("template", "human"):
                text = captions[subject] if variant.caption is None else variant.caption
                expected[item.id, probe.name, subject] = (image, text)
    for name in ("histogram", "paired-histogram"):
        own = table[table.evaluator == name].set_index(["item", "probe", "subject"])
        assert set(own.index) == set(expected)
        assert own.index.is_unique
        for key, (image, text) in expected.items():
            assert own.loc[key, "caption"] == text
            assert own.loc[key, "score"] == pytest.approx(evaluator.score([image], [text])[0], abs=1e-5)
    assert run.manifest["counts"]["pairs"] == len(expected)
    assert run.manifest["counts"]["rows"] == len(table) == 2 * len(expected)


def test_the_rows_carry_what_the_probe_and_the_item_say(squares: Corpus, tmp_path: Path, pool: Pool) -> None:
    run = run_audit(plan_of(squares), tmp_path, pool=pool)
    table = frame(run).set_index(["item", "probe"])
    identity = table.loc["item-1", "identity"]
    assert identity.family == "identity"
    assert identity[["axis", "baseline", "expectation", "modifier"]].isna().all()
    assert (identity.label, identity.category, identity.coverage_bin) == ("dog", "animal", "0-10")
    assert identity.coverage == pytest.approx(400 / (64 * 80))
    assert identity.object_inside == 1.0
    modified = table.loc["item-0", "cultural:African"]
    assert (modified.axis, modified.family, modified.modifier) == ("societal", "cultural", "African")
    assert modified.baseline == length_matched(
        "cultural", modified.caption, "bed", count_tokens=Histogram.load().count_tokens
    )
    assert table.loc["item-0", "base"].baseline == "identity"
    assert table.loc["item-0", "base"].score == table.loc["item-0", "identity"].score
    for name, schema in SCHEMAS.items():
        for path in (run.path / name).glob("*.parquet"):
            assert pq.read_schema(path).equals(schema), path
    assert set(frame(run).run) == {run.id}


def test_two_runs_give_the_same_bytes(squares: Corpus, tmp_path: Path) -> None:
    for place in ("one", "two"):
        run_audit(
            plan_of(squares, evaluators=[HISTOGRAM, PAIRED]), tmp_path / place, run_id="demo", pool=Pool(100, "cpu")
        )
    names = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.parquet"))
    assert len(names) == len(SCHEMAS) * 3 + 1
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


def test_shard_and_batch_sizes_do_not_change_the_answer(squares: Corpus, tmp_path: Path, pool: Pool) -> None:
    tables = []
    for shard_items, batch_size in ((1, 1), (3, 5), (100, 64)):
        plan = plan_of(squares, shard_items=shard_items, batch_size=batch_size)
        run = run_audit(plan, tmp_path / str(shard_items), run_id="x", pool=pool)
        tables.append(frame(run))
    for other in tables[1:]:
        pd.testing.assert_frame_equal(tables[0], other, rtol=0, atol=1e-6)


@pytest.mark.parametrize("shard_items", [2, 6])
def test_equal_captions_are_encoded_once_a_run_and_equal_images_once_a_shard(
    tmp_path: Path, pool: Pool, shard_items: int
) -> None:
    corpus = build_corpus(tmp_path / "corpus", 6)
    first = corpus.items[0]
    twins = tuple(replace(first, id=f"twin-{index}") for index in range(6))
    plan = plan_of(replace(corpus, items=twins), shard_items=shard_items)
    with pool.lease(HISTOGRAM) as evaluator:
        assert isinstance(evaluator, object)
    run = run_audit(plan, tmp_path / "runs", pool=pool)
    with pool.lease(HISTOGRAM) as evaluator:
        images, captions = sum(evaluator.image_calls), sum(evaluator.caption_calls)  # type: ignore[attr-defined]
    counts = run.manifest["counts"]
    table = frame(run)
    deterministic = [probe for probe in plan.image_probes if probe.family in ("vertical-flip", "horizontal-flip")]
    assert captions == counts["unique_captions"] == counts["caption_encodings"] == table.caption.nunique()
    assert images == counts["image_encodings"]
    assert (images == counts["unique_images"]) == (shard_items == 6)
    assert counts["unique_images"] <= 1 + len(deterministic) + 6 * (len(plan.image_probes) - len(deterministic))


def test_the_manifest_says_what_was_done_and_names_no_folder_of_this_machine(
    squares: Corpus, tmp_path: Path, pool: Pool
) -> None:
    run = run_audit(plan_of(squares, limit=4), tmp_path / "runs", pool=pool, command="python -m core audit --limit 4")
    told = json.loads((run.path / "manifest.json").read_text(encoding="utf-8"))
    assert told["status"] == "complete"
    assert told["corpus"]["items"] == told["counts"]["items_kept"] == 4
    assert told["corpus"]["tied"] == {"umbrella": {"category": "accessory", "or": "outdoor", "items": 1}}
    assert told["counts"]["items_rejected_by_code"] == {"crowd": 1}
    assert told["rejected_items"] == [{"item": "item-x", "code": "crowd", "detail": "it is a crowd"}]
    assert told["command"] == "python -m core audit --limit 4"
    assert [each["name"] for each in told["evaluators"]] == ["histogram"]
    assert told["evaluators"][0]["reference"] == "tests/plugins/histogram.py:Histogram"
    assert told["seed"] == 2025
    assert told["versions"]["invariscope"]
    assert told["machine"]["device"] == "cpu"
    assert told["lexicons"]
    assert {probe["name"] for probe in told["probes"]} >= {"base", "cultural:African"}
    assert frame(run, "items").image.tolist() == ["000.png", "001.png", "002.png", "003.png"]
    root = run.corpus_root()
    assert root is not None
    assert (root / "000.png").is_file()
    assert not (run.path / "work").exists()
    assert not (run.path / ".lock").exists()


def test_progress_counts_to_the_end(squares: Corpus, tmp_path: Path, pool: Pool) -> None:
    told: list[Progress] = []
    run_audit(plan_of(squares), tmp_path, pool=pool, progress=told.append)
    assert [each.done for each in told] == sorted(each.done for each in told)
    assert told[0].phase == "loading"
    assert (told[-1].phase, told[-1].done, told[-1].shard) == ("complete", told[-1].total, 3)
    assert told[-1].eta_s == 0
    assert all(each.eta_s is not None for each in told if each.phase == "scoring" and each.done)


def test_progress_says_which_evaluator_is_loaded_and_which_scores(squares: Corpus, tmp_path: Path, pool: Pool) -> None:
    told: list[Progress] = []
    plan = plan_of(squares, evaluators=[HISTOGRAM, PAIRED])
    run_audit(plan, tmp_path, pool=pool, progress=told.append)
    names = [kind.spec.name for kind in plan.kinds]
    assert len(names) > 1
    expected = [f"{name}, {place} of {len(names)}" for place, name in enumerate(names, 1)]
    for phase in ("loading", "scoring"):
        at_work = [each.at_work for each in told if each.phase == phase and each.at_work]
        assert list(dict.fromkeys(at_work)) == expected
    assert f"loading {expected[0]}" in {each.doing for each in told}
    assert told[-1].doing == ""


def test_images_that_vanish_or_break_cost_their_own_items_alone(squares: Corpus, tmp_path: Path, pool: Pool) -> None:
    plan = plan_of(squares)
    paths = [item.image_path for item in squares.items]
    assert all(paths)
    paths[1].unlink()  # type: ignore[union-attr]
    paths[2].write_bytes(b"")  # type: ignore[union-attr]
    paths[4].write_bytes(paths[3].read_bytes()[:200])  # type: ignore[union-attr]
    run = run_audit(plan, tmp_path / "runs", pool=pool)
    assert run.manifest["counts"]["items_kept"] == 4
    assert run.manifest["counts"]["items_rejected_by_code"] == {"unreadable-image": 2, "crowd": 1, "missing-image": 1}
    (said,) = items_said([run], [run.id])
    kept = run.manifest["counts"]["items_kept"]
    assert said.startswith(f"Run {run.id} left out 4 of {kept + 4} items: 2 × ")
    assert all(f"1 × {meaning(code)}" in said for code in ("crowd", "missing-image"))
    assert items_said([run], ["another"]) == ()
    rejected = frame(run, "rejections")
    details = rejected[rejected.probe.isna()].set_index("item").detail
    assert "001.png" in details["item-1"]
    assert not details.str.contains(str(tmp_path)).any()
    assert set(frame(run).item) == {"item-0", "item-3", "item-5", "item-6"}


def test_a_corpus_that_vanishes_during_the_run_costs_what_was_not_read_yet(
    make_squares: Callable[[int], Corpus], tmp_path: Path, pool: Pool
) -> None:
    corpus = make_squares(12)

    def remove(progress: Progress) -> None:
        if progress.done:
            for item in corpus.items:
                assert item.image_path is not None
                item.image_path.unlink(missing_ok=True)

    run = run_audit(plan_of(corpus, shard_items=1), tmp_path / "runs", pool=pool, progress=remove)
    counts = run.manifest["counts"]
    assert run.status == "complete"
    assert counts["items_kept"] >= 1
    assert counts["items_rejected_by_code"]["missing-image"] >= 1
    assert counts["items_kept"] + counts["items_rejected_by_code"]["missing-image"] == 12


def test_an_evaluator_that_chokes_on_one_caption_leaves_a_null_with_its_reason(
    squares: Corpus, tmp_path: Path, pool: Pool
) -> None:
    items = list(squares.items)
    items[2] = replace(items[2], captions={"en": ("A poison.",)})
    plan = plan_of(replace(squares, items=tuple(items)), subjects=("human",), probes=["vflip"])
    run = run_audit(plan, tmp_path, pool=pool)
    table = frame(run)
    assert table[table.item == "item-2"].score.isna().all()
    assert set(table[table.item == "item-2"].error) == {"ValueError: cannot read 'A poison.'"}
    assert table[table.item != "item-2"].score.notna().all()
    assert run.manifest["counts"]["scores_null"] == (table.item == "item-2").sum()
    assert run.manifest["counts"]["scores_null_by_code"] == {"uncoded": (table.item == "item-2").sum()}


def test_answers_that_were_cut_are_counted_by_their_code(squares: Corpus, tmp_path: Path) -> None:
    write_llava(tmp_path / "llava")  # its weights are random: it writes on and on
    corpus = replace(squares, items=squares.items[:2])
    plan = plan_of(corpus, evaluators=[f"fleur@{tmp_path / 'llava'}"], subjects=("human",), probes=["vflip"])
    run = run_audit(plan, tmp_path / "runs", pool=Pool(1e6, "cpu"))
    table = frame(run)
    assert table.score.isna().all()
    assert table.error.str.endswith(" [answer-cut]").all()
    assert run.manifest["counts"]["scores_null_by_code"] == {"answer-cut": len(table)}


def test_items_without_label_or_caption_are_left_out_by_subject(squares: Corpus, tmp_path: Path, pool: Pool) -> None:
    items = list(squares.items)
    items[0] = replace(items[0], label=None)
    items[1] = replace(items[1], captions={})
    items[2] = replace(items[2], label=None, captions={"de": ("Ein Bett.",)})
    items[3] = replace(items[3], captions={"en": ("\ud800",)})
    run = run_audit(plan_of(replace(squares, items=tuple(items)), subjects=("template", "human")), tmp_path, pool=pool)
    table = frame(run)
    identity = table[table.probe == "identity"].groupby("item").subject.agg(sorted).to_dict()
    assert identity["item-0"] == ["human"]
    assert identity["item-1"] == ["template"]
    assert "item-2" not in identity
    assert identity["item-3"] == ["template"]
    rejected = frame(run, "rejections").groupby("item").code.agg(set)
    assert {"no-label"} <= rejected["item-0"]
    unlabelled = frame(run, "rejections").query("item == 'item-0' and code == 'no-label'")
    assert set(unlabelled.probe) == {"identity", *(probe.name for probe in plan_of(squares).caption_probes)}
    assert {"no-human-caption"} <= rejected["item-1"]
    assert rejected["item-2"] == {"no-caption"}
    assert {"bad-caption"} <= rejected["item-3"]


@pytest.mark.parametrize("caption", ["", "x", "y " * 5000, "👩‍🚀🐶", "כלב על הספה", "a\x00b\nc"])
def test_captions_of_any_kind_are_scored_and_stored_unchanged(
    squares: Corpus, tmp_path: Path, pool: Pool, caption: str
) -> None:
    items = (replace(squares.items[0], captions={"en": (caption,)}),)
    run = run_audit(plan_of(replace(squares, items=items), subjects=("human",), probes=["vflip"]), tmp_path, pool=pool)
    table = frame(run)
    assert set(table.caption) == {caption}
    assert table.score.notna().all()
    assert set(table.truncated) == {len(caption.split()) > 77}


def test_a_probe_that_raises_costs_its_own_variant(
    squares: Corpus, tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(squares, probes=["vflip", "base"])

    def breaks(scene: Scene, subject: Subject, rng: np.random.Generator) -> None:
        if scene.item.id == "item-3":
            raise ZeroDivisionError("no pixels left")
        return catalogue().get("vflip").make_function(scene, subject, rng)  # type: ignore[return-value]

    probes = tuple(replace(probe, make_function=breaks) if probe.name == "vflip" else probe for probe in plan.probes)
    run = run_audit(replace(plan, probes=probes), tmp_path, pool=pool)
    rejected = frame(run, "rejections").set_index("item")
    assert rejected.loc["item-3", "code"] == "probe-failed"
    assert "ZeroDivisionError: no pixels left" in rejected.loc["item-3", "detail"]
    assert (frame(run).probe == "vflip").sum() == 6


def test_an_existing_run_is_resumed_refused_or_replaced_as_told(squares: Corpus, tmp_path: Path, pool: Pool) -> None:
    run = run_audit(plan_of(squares), tmp_path, run_id="r", pool=pool)
    before = {path: path.stat().st_mtime_ns for path in run.path.glob("scores/*")}
    again = run_audit(plan_of(squares), tmp_path, run_id="r", pool=pool)
    assert {path: path.stat().st_mtime_ns for path in run.path.glob("scores/*")} == before
    assert again.manifest["counts"] == run.manifest["counts"]
    with pytest.raises(InvalidInput, match="run r exists"):
        run_audit(plan_of(squares), tmp_path, run_id="r", pool=pool, existing="refuse")
    for changed, what in (({"seed": 7}, "seed"), ({"probes": ["base"]}, "probes"), ({"limit": 2}, "corpus")):
        with pytest.raises(InvalidInput, match=f"begun with other {what}; choose another run id"):
            run_audit(plan_of(squares, **changed), tmp_path, run_id="r", pool=pool)
    with pytest.raises(InvalidInput, match="begun with other evaluators"):
        run_audit(plan_of(squares, evaluators=[PAIRED]), tmp_path, run_id="r", pool=pool)
    with pytest.raises(NotAvailable):
        run_audit(plan_of(squares), tmp_path, run_id="r", pool=Pool(5, "cpu"), existing="replace")
    assert frame(run).item.nunique() == 7
    small = run_audit(plan_of(squares, limit=2), tmp_path, run_id="r", pool=pool, existing="replace")
    assert frame(small).item.nunique() == 2


def test_a_damaged_shard_of_a_complete_run_is_made_anew(squares: Corpus, tmp_path: Path, pool: Pool) -> None:
    run = run_audit(plan_of(squares), tmp_path, run_id="r", pool=pool)
    whole = {path: path.read_bytes() for path in run.path.rglob("*.parquet")}
    shard = run.path / "scores" / "shard-00001.parquet"
    data = bytearray(shard.read_bytes())
    data[300] ^= 0xFF
    shard.write_bytes(data)
    (run.path / "items" / "shard-00002.parquet").unlink()
    run_audit(plan_of(squares), tmp_path, run_id="r", pool=pool)
    pd.testing.assert_frame_equal(
        frame(run),
        pd.concat([pq.read_table(pa).to_pandas() for pa in sorted(run.path.glob("scores/*"))], ignore_index=True),
    )
    tables = {path: pq.read_table(path) for path in whole}
    for path, data_before in whole.items():
        path.write_bytes(data_before)
        assert pq.read_table(path).equals(tables[path]), path


def test_an_evaluator_that_cannot_be_loaded_ends_the_run_before_it_begins(squares: Corpus, tmp_path: Path) -> None:
    with pytest.raises(NotAvailable, match="pool may hold 5 MB"):
        run_audit(plan_of(squares), tmp_path / "runs", run_id="r", pool=Pool(5, "cpu"))
    assert not (tmp_path / "runs" / "r").exists()


def test_evaluators_without_room_for_all_take_turns_and_score_the_same(
    squares: Corpus, tmp_path: Path, pool: Pool, caplog: pytest.LogCaptureFixture
) -> None:
    plan = plan_of(squares, evaluators=[HISTOGRAM, PAIRED])
    together = run_audit(plan, tmp_path / "together", run_id="r", pool=pool)
    assert not caplog.text
    narrow = Pool(15, "cpu", patience_s=0.0)
    in_turns = run_audit(plan, tmp_path / "turns", run_id="r", pool=narrow)
    assert "no room in 15 MB together and are loaded in turns" in caplog.text
    assert len(narrow.loaded()) == 1
    pd.testing.assert_frame_equal(frame(together), frame(in_turns))


FILED = """
from pathlib import Path
from core.evaluators.base import Fingerprint, evaluator
from tests.plugins.histogram import SPEC, PairedHistogram

@evaluator(name="filed", title="With a file of weights", **SPEC)
class Filed(PairedHistogram):
    def __init__(self):
        super().__init__()
        self.weights = Path({path!r}).read_text()

    @property
    def fingerprint(self):
        return Fingerprint("filed", self.weights, "", "float32")
"""


def test_an_evaluator_that_comes_back_as_another_one_ends_the_run(squares: Corpus, tmp_path: Path) -> None:
    weights, plugin = tmp_path / "weights.txt", tmp_path / "filed.py"
    weights.write_text("first")
    plugin.write_text(FILED.format(path=str(weights)))

    def swap(told: Progress) -> None:
        if told.phase == "scoring":
            weights.write_text("second")

    plan = plan_of(squares, evaluators=[HISTOGRAM, f"{plugin}:Filed"])
    with pytest.raises(RunStopped, match=r"Filed is not the one that this run began with any more; run r stopped"):
        run_audit(plan, tmp_path / "runs", run_id="r", pool=Pool(15, "cpu", patience_s=0.0), progress=swap)
    weights.write_text("first")
    assert run_audit(plan, tmp_path / "runs", run_id="r", pool=Pool(100, "cpu")).status == "complete"


def test_told_to_stop_the_run_keeps_what_it_has_and_goes_on_later(squares: Corpus, tmp_path: Path, pool: Pool) -> None:
    finished: list[int] = []
    with pytest.raises(RunStopped, match=r"run r stopped after 1 of 3 shards; start the same run again"):
        run_audit(
            plan_of(squares),
            tmp_path,
            run_id="r",
            pool=pool,
            progress=lambda told: finished.append(told.shard),
            stop=lambda: finished[-1] >= 1,
        )
    (stopped,) = list_runs(tmp_path)
    assert stopped.status == "interrupted"
    run = run_audit(plan_of(squares), tmp_path, run_id="r", pool=pool)
    whole = run_audit(plan_of(squares), tmp_path / "whole", run_id="r", pool=Pool(100, "cpu"))
    assert run.manifest["counts"] == whole.manifest["counts"]
    pd.testing.assert_frame_equal(frame(run), frame(whole))


@pytest.mark.parametrize("bad", ["", "../up", "a/b", ".hidden", "x" * 101, "naïve run"])
def test_a_run_id_is_a_plain_name(squares: Corpus, tmp_path: Path, pool: Pool, bad: str) -> None:
    if not bad:
        assert run_audit(plan_of(squares, limit=1), tmp_path, run_id=bad, pool=pool).id.startswith("squares-")
        return
    with pytest.raises(InvalidInput, match="a run id has 1 to 100"):
        run_audit(plan_of(squares), tmp_path, run_id=bad, pool=pool)


def test_a_folder_that_cannot_be_written_is_one_sentence(squares: Corpus, tmp_path: Path, pool: Pool) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(StoreError, match=r"file.*cannot be written"):
        run_audit(plan_of(squares), tmp_path / "file", run_id="r", pool=pool)


def test_the_scores_of_a_run_can_be_asked_for_at_once(squares: Corpus, tmp_path: Path, pool: Pool) -> None:
    run = run_audit(plan_of(squares), tmp_path, pool=pool)
    with Store.open(run.path) as store:
        assert store.query("select count(*) n from scores").n[0] == run.manifest["counts"]["rows"]
