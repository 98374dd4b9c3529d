"""Videos as items of an audit, and their pairs written out and read back: scores as the commands give them."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from PIL import Image

from core.audit.estimate import estimate
from core.audit.export import export_pairs, size_of
from core.audit.fingerprints import corpus_fingerprint
from core.audit.imports import Imported, import_scores
from core.audit.pair_folder import PairFolder
from core.audit.plan import Plan, usual_evaluators, usual_subjects
from core.audit.run import RunStopped, run_audit
from core.corpora.images import pixel_hash
from core.corpora.registry import catalogue
from core.corpora.schema import Corpus
from core.corpora.score_files import read_scores
from core.corpora.video_folder import VideoFolder, read_video_folder
from core.corpora.video_frames import Sampling, open_video
from core.errors import InvalidInput
from core.evaluators.base import Evaluator
from core.evaluators.pool import Pool
from core.evaluators.registry import find
from core.evaluators.video.video_evaluator import clip_idf, video_scorer
from core.features.video.video_edits import score_edits
from core.scoring.suite_scores import VideoLine, sampled, score_videos
from core.store.run_files import Run
from tests.audit.filmed import build_videos, write_footage
from tests.audit.squares import ORDERED, PAIRED
from tests.audit.test_resume import content
from tests.plans import make_plan
from tests.tiny import clip

FRAMES = 4
SAME = {
    "re-encoded": "null:jpeg95",
    "mirrored": "hflip",
    "upside down": "vflip",
    "every second frame": "frames:half",
    "other video": "frames:other-video",
    "original": "identity",
}
"""Edit of the page Video -> probe of the audit."""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(clip.write_openai(tmp_path_factory.mktemp("tiny-items") / "openai.pt", 11))


@pytest.fixture(scope="module")
def footage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_footage(tmp_path_factory.mktemp("footage"))


@pytest.fixture(scope="module")
def corpus(footage: Path) -> Corpus:
    return catalogue().get("videos").load(footage, frames=FRAMES)


@pytest.fixture(scope="module")
def names(tiny: str) -> tuple[str, ...]:
    return f"emscore@{tiny}", f"clipscore@{tiny}", f"refemscore@{tiny}"


@pytest.fixture(scope="module")
def run(corpus: Corpus, names: Sequence[str], tmp_path_factory: pytest.TempPathFactory) -> Run:
    plan = make_plan(corpus, evaluators=names, subjects=("human",))
    return run_audit(plan, tmp_path_factory.mktemp("runs"), run_id="r", pool=Pool(2000, "cpu"))


def table(run: Run, name: str) -> pd.DataFrame:
    return pd.concat(pq.read_table(path).to_pandas() for path in sorted((run.path / name).glob("*.parquet")))


def test_an_item_is_a_video_with_its_frames_its_source_and_another_video(corpus: Corpus, footage: Path) -> None:
    first, second, third = corpus.items
    assert first.frames == Sampling(FRAMES).places(6)
    assert len({item.group for item in corpus.items}) == 3
    assert [item.rivals[0].facts["video"] for item in corpus.items] == ["v1", "v2", "v0"]
    assert second.rivals[0].frames == third.frames
    assert first.captions["en"][0] == "The red square number 0."
    other = catalogue().get("videos").load(footage, frames=3)
    assert corpus_fingerprint(other) != corpus_fingerprint(corpus)
    everyone = catalogue().get("videos").load(footage, frames="all")
    assert [len(item.frames) for item in everyone.items] == [6, 7, 8]


def _edited(evaluator: Evaluator, held: VideoFolder) -> Iterator[pd.DataFrame]:
    seen = [list(sampled(open_video(video.path), Sampling(FRAMES))) for video in held.videos]
    for place, (video, frames) in enumerate(zip(held.videos, seen, strict=True)):
        other = seen[(place + 1) % len(seen)]
        yield score_edits(evaluator, frames, video.captions[:1], other=other).assign(video=video.id)


def test_the_scores_are_those_of_the_edits_of_the_page_video(run: Run, footage: Path, names: Sequence[str]) -> None:
    scores = table(run, "scores")
    held = read_video_folder(footage)
    for reference in names[:2]:
        evaluator = find(reference).load()
        edits = pd.concat(_edited(evaluator, held), ignore_index=True)
        own = scores[scores["evaluator"] == edits["evaluator"].iloc[0]].set_index(["item", "probe"])["score"]
        assert len(own) > 3 * len(SAME)
        compared = edits[edits["edit"].isin(SAME)]
        assert len(compared) == 3 * len(SAME)
        for row in compared.itertuples():
            assert own[row.video, SAME[str(row.edit)]] == pytest.approx(row.score, abs=1e-6), row.edit


def test_the_scores_are_those_of_score_videos_with_references_too(
    run: Run, corpus: Corpus, names: Sequence[str]
) -> None:
    scores = table(run, "scores")
    lines = [
        VideoLine(item.id, item.captions["en"][0], item.image_path or Path(), item.captions["en"][1:])
        for item in corpus.items
    ]
    for reference in names:
        scorer = video_scorer(find(reference).load(), sampling=Sampling(FRAMES))
        found = score_videos(scorer, lines)
        own = scores[(scores["evaluator"] == scorer.name) & (scores["probe"] == "identity")].set_index("item")["score"]
        for line, each in zip(lines, found, strict=True):
            assert own[line.id] == pytest.approx(each.score, abs=1e-6)


def test_document_frequencies_weigh_the_tokens_and_stand_in_the_fingerprint(
    run: Run, corpus: Corpus, names: Sequence[str], tmp_path: Path
) -> None:
    idf = clip_idf(["The red square.", "The blue square.", "A dog."], corpus="three")
    plan = make_plan(corpus, evaluators=names[:2], subjects=("human",), probes=["frames:half"], idf=idf)
    weighed = run_audit(plan, tmp_path, run_id="r", pool=Pool(2000, "cpu"))
    keys = [[each["fingerprint"]["key"] for each in made.manifest["evaluators"]] for made in (run, weighed)]
    assert keys[0][0] != keys[1][0]
    assert keys[0][1] == keys[1][1]
    assert weighed.manifest["evaluators"][0]["fingerprint"]["settings"]["idf"] == idf.sha256
    scores = table(weighed, "scores")
    own = scores[(scores["evaluator"] == "emscore@openai") & (scores["probe"] == "identity")].set_index("item")["score"]
    scorer = video_scorer(find(names[0]).load(), sampling=Sampling(FRAMES), idf=idf)
    lines = [VideoLine(item.id, item.captions["en"][0], item.image_path or Path()) for item in corpus.items]
    for line, each in zip(lines, score_videos(scorer, lines), strict=True):
        assert own[line.id] == pytest.approx(each.score, abs=1e-6)
    with pytest.raises(InvalidInput, match="was begun with other evaluators"):
        run_audit(replace(plan, idf=None), tmp_path, run_id="r", pool=Pool(2000, "cpu"))
    with pytest.raises(InvalidInput, match="none is chosen; leave --idf out"):
        make_plan(corpus, evaluators=names[1:2], subjects=("human",), idf=idf)


def test_what_is_by_construction_is_left_out_by_name_and_never_a_score(run: Run) -> None:
    assert "frames:backwards" not in set(table(run, "scores")["probe"])
    left_out = table(run, "rejections")
    turned = left_out[left_out["probe"] == "frames:backwards"]
    assert set(turned["code"]) == {"order-free"}
    assert len(turned) == 3 * 3
    assert turned["detail"].str.contains("by construction").all()
    assert "frames:backwards" in {probe["name"] for probe in run.manifest["probes"]}


def test_a_dry_run_counts_what_is_scored(run: Run, corpus: Corpus, names: Sequence[str], tmp_path: Path) -> None:
    plan = make_plan(corpus, evaluators=names, subjects=("human",))
    assert plan.cost().rows == run.manifest["counts"]["rows"]
    told = estimate(plan, tmp_path, runs=[])
    assert [each.name for each in told.work] == [each["name"] for each in run.manifest["evaluators"]]
    assert [each.dual for each in told.work] == [False, True, False]


def test_a_caption_that_names_a_side_or_a_motion_stands_beside_no_edit_that_turns_it(
    footage: Path, names: Sequence[str], tmp_path: Path
) -> None:
    corpus = catalogue().get("videos").load(footage, frames=2)
    first, second, _ = corpus.items
    sided = replace(first, captions={"en": ("The square moves rightwards.",)})
    lifted = replace(second, captions={"en": ("The square moves upwards.",)})
    plan = make_plan(
        replace(corpus, items=(sided, lifted)), evaluators=names[1:2], subjects=("human",), probes=["hflip", "vflip"]
    )
    run = run_audit(plan, tmp_path, run_id="r", pool=Pool(2000, "cpu"))
    scores = table(run, "scores")
    assert set(scores.loc[scores["item"] == "v0", "probe"]) == {"identity", "vflip"}
    assert set(scores.loc[scores["item"] == "v1", "probe"]) == {"identity", "hflip"}
    assert run.manifest["counts"]["variants_rejected_by_code"] == {"caption-names-place": 2}


def test_an_evaluator_that_reads_the_order_is_measured_backwards(tmp_path: Path) -> None:
    write_footage(tmp_path / "videos", 2)
    plan = make_plan(
        catalogue().get("videos").load(tmp_path / "videos"),
        evaluators=[ORDERED],
        subjects=("human",),
        probes=["frames:backwards"],
    )
    run = run_audit(plan, tmp_path / "runs", run_id="r", pool=Pool(2000, "cpu"))
    scores = table(run, "scores").set_index(["probe", "item"])["score"]
    assert (scores["identity"].abs() > 1e-3).all()
    np.testing.assert_allclose(scores["frames:backwards"], -scores["identity"])
    assert plan.cost().rows == len(scores) == 4


def test_an_interrupted_run_goes_on_to_the_same_bytes(tmp_path: Path, names: Sequence[str]) -> None:
    plan = make_plan(
        build_videos(tmp_path / "videos", 4, frames=2),
        evaluators=names,
        subjects=("human",),
        probes=["null", "frames:half"],
        shard_items=1,
    )
    whole = run_audit(plan, tmp_path / "whole", run_id="r", pool=Pool(2000, "cpu"))
    calls = iter(range(1000))
    with pytest.raises(RunStopped, match=r"after [123] of 4 shards"):
        run_audit(plan, tmp_path / "runs", run_id="r", pool=Pool(2000, "cpu"), stop=lambda: next(calls) > 12)
    again = run_audit(plan, tmp_path / "runs", run_id="r", pool=Pool(2000, "cpu"))
    assert content(again.path) == content(whole.path)
    assert again.manifest["counts"] == whole.manifest["counts"]


def test_who_cannot_score_videos_and_who_scores_nothing_else_is_refused(
    corpus: Corpus, squares: Corpus, names: Sequence[str]
) -> None:
    with pytest.raises(InvalidInput, match="embeds no frames; choose emscore"):
        make_plan(corpus, evaluators=[PAIRED])
    with pytest.raises(InvalidInput, match="embeds no frames; choose emscore"):
        make_plan(corpus, evaluators=["grounding-judge"])
    with pytest.raises(InvalidInput, match="scores videos, and the items of corpus 'squares' are pictures"):
        make_plan(squares, evaluators=names[:1])
    both = replace(corpus, items=(*corpus.items, *squares.items))
    with pytest.raises(InvalidInput, match="has pictures and videos"):
        make_plan(both, evaluators=names[1:2])
    assert usual_evaluators(corpus, ["conse-lite0", "grounding-judge"]) == ("conse-lite0",)
    assert usual_subjects(corpus) == ("human",)
    assert usual_subjects(squares) == ("template",)


def test_blind_readers_read_the_captions_of_videos(corpus: Corpus, tmp_path: Path) -> None:
    plan = make_plan(corpus, evaluators=["blind-length"], subjects=("human",), probes=["frames:other-video"])
    scores = table(run_audit(plan, tmp_path, run_id="r", pool=Pool(2000, "cpu")), "scores")
    assert set(scores["evaluator"]) == {"blind-length"}
    assert scores.groupby("item")["score"].nunique().eq(1).all()


def test_edits_of_captions_stand_beside_videos(corpus: Corpus, names: Sequence[str], tmp_path: Path) -> None:
    plan = make_plan(corpus, evaluators=names[:1], subjects=("human",), probes=["order"], limit=1)
    run = run_audit(plan, tmp_path, run_id="r", pool=Pool(2000, "cpu"))
    scores = table(run, "scores")
    edited = scores[scores["probe"] != "identity"]
    assert len(edited)
    assert (edited["caption"] != corpus.items[0].captions["en"][0]).all()
    assert edited["score"].notna().all()


def test_what_edits_one_picture_is_left_out_of_a_choice_and_rejected_by_name(
    corpus: Corpus, names: Sequence[str], tmp_path: Path
) -> None:
    plan = make_plan(corpus, evaluators=names[1:2], subjects=("human",), probes=["default"])
    assert {"frames:half", "hflip", "null:jpeg95"} <= {probe.name for probe in plan.probes}
    assert not [probe for probe in plan.probes if probe.name.startswith("reposition")]
    named = make_plan(corpus, evaluators=names[1:2], subjects=("human",), probes=["reposition-TL"], limit=1)
    run = run_audit(named, tmp_path, run_id="r", pool=Pool(2000, "cpu"))
    assert run.manifest["counts"]["variants_rejected_by_code"] == {"not-of-videos": 1}


def test_a_changed_video_is_left_out_with_its_reason(tmp_path: Path, names: Sequence[str]) -> None:
    corpus = build_videos(tmp_path / "videos", 2)
    torn = tmp_path / "videos" / "v1" / "3.png"
    torn.write_bytes(torn.read_bytes()[:-40])
    plan = make_plan(corpus, evaluators=names[1:2], subjects=("human",), probes=["null"])
    run = run_audit(plan, tmp_path / "runs", run_id="r", pool=Pool(2000, "cpu"))
    assert run.manifest["counts"]["items_rejected_by_code"] == {"unreadable-image": 1}
    assert table(run, "scores")["score"].notna().all()


def test_scores_of_a_video_do_not_hang_on_what_stands_beside_it(
    run: Run, corpus: Corpus, tmp_path: Path, names: Sequence[str]
) -> None:
    alone = make_plan(replace(corpus, items=corpus.items[1:2]), evaluators=names, subjects=("human",), batch_size=1)
    own = table(run_audit(alone, tmp_path, run_id="r", pool=Pool(2000, "cpu")), "scores")
    keys = ["evaluator", "item", "probe"]
    both = own.merge(table(run, "scores"), on=keys, suffixes=("", "_run"))
    assert len(both) == len(own)
    np.testing.assert_allclose(both["score"], both["score_run"], atol=1e-6)
    assert run.manifest["counts"]["scores_null"] == 0


PROBES = ("frames:half", "frames:backwards", "hflip")


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    corpus = build_videos(tmp_path_factory.mktemp("videos") / "videos", 3)
    return make_plan(corpus, evaluators=None, subjects=("human",), probes=PROBES, shard_items=2)


@pytest.fixture(scope="module")
def folder(plan: Plan, tmp_path_factory: pytest.TempPathFactory) -> PairFolder:
    return export_pairs(plan, tmp_path_factory.mktemp("out") / "pairs")


def frames_of(path: Path) -> np.ndarray:
    return np.stack([np.asarray(Image.open(each)) for each in sorted(path.iterdir())])


def test_every_stack_is_a_folder_of_its_frames_named_by_its_hash(folder: PairFolder, plan: Plan) -> None:
    places = {pair.image for pair in folder.pairs()}
    assert len(places) == 3 * (1 + len(PROBES)) == folder.told["counts"]["images"]
    for place in places:
        assert pixel_hash(frames_of(folder.path / place)) == Path(place).name
    assert size_of(plan).bytes == 3 * 4 * 3 * 64 * 48 * 4


def test_a_metric_that_reads_the_order_gives_the_run_that_an_audit_of_it_gives(
    folder: PairFolder, plan: Plan, tmp_path: Path
) -> None:
    lines = ["id,score"]
    for line in (folder.path / "pairs.jsonl").read_text().splitlines():
        pair = json.loads(line)
        left = frames_of(folder.path / pair["image"])[:, :, :32].mean(axis=(1, 2, 3)) / 255
        lines.append(f"{pair['id']},{left[-1] - left[0]!r}".replace("np.float64(", "").replace(")", ""))
    (tmp_path / "scores.csv").write_text("\n".join(lines))
    told = Imported("mine", "by hand", (-1.0, 1.0), read_scores(tmp_path / "scores.csv"))
    run = import_scores(folder, [told], tmp_path / "runs", run_id="imported")
    own = make_plan(plan.corpus, evaluators=[ORDERED], subjects=("human",), probes=PROBES, shard_items=2)
    audited = run_audit(own, tmp_path / "runs", run_id="audited", pool=Pool(2000, "cpu"))
    keys = ["item", "probe", "score"]
    one, other = (
        pq.read_table(each.path / "scores").to_pandas()[keys].sort_values(keys[:2]).reset_index(drop=True)
        for each in (run, audited)
    )
    assert one[keys[:2]].equals(other[keys[:2]])
    np.testing.assert_allclose(one["score"], other["score"], atol=1e-9)
    assert (one.loc[one["probe"] == "frames:backwards", "score"].abs() > 1e-3).all()


def test_what_is_missing_is_made_again_and_links_by_pair_are_refused(
    plan: Plan, folder: PairFolder, tmp_path: Path
) -> None:
    lost = next((folder.path / "images").rglob("00001.png"))
    lost.unlink()
    export_pairs(plan, folder.path)
    assert lost.is_file()
    with pytest.raises(InvalidInput, match="the items are videos, each a folder of frames"):
        export_pairs(plan, tmp_path / "linked", by_pair=True)
