"""``score --videos`` and ``video``: captions of videos in, scores out, with what they depend on."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from core.commands._shared import Code
from core.corpora.video_frames import Sampling
from core.evaluators.registry import find
from core.evaluators.video.formula import read_idf
from core.evaluators.video.video_evaluator import VideoEvaluator, VideoScorer
from tests.commands.calling import Invoke
from tests.corpora.footage import moving, write_frames, write_video
from tests.tiny import clip

CANDIDATES = {"red": "a red square", "blue": "a blue square on grey"}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(clip.write_openai(tmp_path_factory.mktemp("tiny-command") / "openai.pt", 11))


@pytest.fixture
def footage(tmp_path: Path) -> Path:
    folder = tmp_path / "videos"
    write_frames(folder / "red", moving("red", 5))
    write_video(folder / "blue.mp4", moving("blue", 5))
    (tmp_path / "candidates.json").write_text(json.dumps(CANDIDATES))
    (tmp_path / "captions.txt").write_text("a red square\na green square\na dog\n\n")
    return folder


def test_frequencies_are_those_of_captions_in_any_layout_and_not_of_its_signs(
    invoke: Invoke, footage: Path, tmp_path: Path
) -> None:
    told = {"captions.json": json.dumps({"a": ["a red square", "a green square"], "b": "a dog"})}
    told["captions.csv"] = "video,caption\na,a red square\na,a green square\nb,a dog\n"
    for name, text in told.items():
        (tmp_path / name).write_text(text)
    for name in (*told, "captions.txt"):
        assert invoke("video", "idf", tmp_path / name, "-o", tmp_path / f"{name}.idf").exit_code == Code.OK
    first, *others = [read_idf(tmp_path / f"{name}.idf").frequencies for name in (*told, "captions.txt")]
    assert others == [first, first]


def test_captions_of_videos_get_the_evaluators_own_scores(
    invoke: Invoke, footage: Path, tmp_path: Path, tiny: str
) -> None:
    made = invoke("video", "idf", tmp_path / "captions.txt", "-o", tmp_path / "idf.json", "--corpus", "three")
    assert made.exit_code == Code.OK
    assert "3 captions" in made.stdout
    assert "left out, because blank or of more than 66 words: 1" in made.stderr
    out = tmp_path / "out.json"
    done = invoke(
        "score",
        tmp_path / "candidates.json",
        footage,
        "--videos",
        "--evaluator",
        f"emscore@{tiny}",
        "--frames",
        "3",
        "--idf",
        tmp_path / "idf.json",
        "--save_per_instance",
        out,
    )
    assert done.exit_code == Code.OK, done.stderr
    found = {name: scores["emscore@openai"] for name, scores in json.loads(out.read_text()).items()}
    evaluator = find(f"emscore@{tiny}").load()
    assert isinstance(evaluator, VideoEvaluator)
    weighed = evaluator.weighed(read_idf(tmp_path / "idf.json"))
    frames = moving("red", 5)
    seen = weighed.encode_frames([frames[0], frames[2], frames[4]])
    own = weighed.match(seen, CANDIDATES["red"], None, weighed.read([CANDIDATES["red"]]))
    assert found["red"] == pytest.approx(own.score, abs=1e-6)
    scorer = VideoScorer(weighed, Sampling(3))
    assert (
        f"fingerprint {scorer.fingerprint.key}; 3 frames, np.linspace cut to whole numbers; idf of three" in done.stderr
    )
    assert done.stdout == f"emscore@openai: {np.mean(list(found.values())):.4f}\n"


def test_a_dual_encoder_gives_its_coarse_part_under_that_name(
    invoke: Invoke, footage: Path, tmp_path: Path, tiny: str
) -> None:
    done = invoke("score", tmp_path / "candidates.json", footage, "--videos", "--evaluator", f"clipscore@{tiny}")
    assert done.exit_code == Code.OK
    assert done.stdout.startswith("clipscore@openai (average frame): ")
    assert "every frame" in done.stderr


def test_references_need_an_evaluator_that_takes_them_and_the_other_way_round(
    invoke: Invoke, footage: Path, tmp_path: Path, tiny: str
) -> None:
    people = tmp_path / "references.json"
    people.write_text(json.dumps({name: ["a square"] for name in CANDIDATES}))
    given = ("score", tmp_path / "candidates.json", footage, "--videos", "--evaluator")
    assert invoke(*given, f"refemscore@{tiny}", "--references", people).exit_code == Code.OK
    for words, said in (
        ((f"emscore@{tiny}", "--references", people), "choose refemscore"),
        ((f"refemscore@{tiny}",), "compares with reference captions; give --references"),
        ((f"clipscore@{tiny}", "--idf", tmp_path / "captions.txt"), "matches no tokens"),
        (("grounding-judge",), "embeds no frames"),
        ((f"emscore@{tiny}", "--frames", "none"), "--frames (all, or a number) must be a whole number"),
        ((f"emscore@{tiny}", "--idf", tmp_path / "captions.txt"), "is not a file of document frequencies"),
    ):
        done = invoke(*given, *words)
        assert (done.exit_code, said in done.stderr) == (Code.BAD_INPUT, True), done.stderr


def test_frames_are_of_videos_alone(invoke: Invoke, tmp_path: Path) -> None:
    done = invoke("score", tmp_path / "candidates.json", tmp_path, "--frames", "3")
    assert (done.exit_code, "give --videos" in done.stderr) == (Code.BAD_INPUT, True)


def test_a_video_that_is_broken_or_missing_costs_its_own_line(
    invoke: Invoke, footage: Path, tmp_path: Path, tiny: str
) -> None:
    (footage / "torn.mp4").write_bytes(b"\0\0\0\x18ftypisom")
    (footage / "spare.mp4").write_bytes(b"")
    (tmp_path / "candidates.json").write_text(
        json.dumps({**CANDIDATES, "torn": "a dog", "gone": "a cat", "blue": "x " * 90})
    )
    done = invoke("score", tmp_path / "candidates.json", footage, "--videos", "--evaluator", f"clipscore@{tiny}")
    assert done.exit_code == Code.FAILURES
    for said in (
        "1 caption without a video: 'gone'",
        "1 video without a caption: 'spare.mp4'",
        "no score for 'torn'",
        "longer than the text tower reads, and cut there: 1 of 3 captions",
        "2 of 4 captions",
    ):
        assert said in done.stderr


def test_a_folder_of_videos_is_described(invoke: Invoke, footage: Path) -> None:
    (footage / "captions.json").write_text(json.dumps({"red": ["a", "b"], "blue": "c", "gone": "d"}))
    told = json.loads(invoke("video", "show", footage, "--json").stdout)
    assert [(each["video"], each["frames"], each["captions"]) for each in told["videos"]] == [
        ("blue", 5, 1),
        ("red", 5, 2),
    ]
    assert told["problems"] == [f"gone: 'gone' has captions and no video in {footage}"]


def test_a_suite_of_videos_is_reported_with_what_it_depends_on(
    invoke: Invoke, footage: Path, tmp_path: Path, tiny: str
) -> None:
    path = tmp_path / "vatex_eval.json"
    path.write_text(
        json.dumps(
            {
                "video_ids": ["red", "red", "blue"],
                "candidates": ["a red square", "a dog", "a blue square"],
                "references": [["a square", "one"]] * 3,
                "human_scores": [[5, 1, 3], [4, 1, 5], [5, 2, 4]],
            }
        )
    )
    done = invoke("suite", path, footage, "--evaluator", f"emscore@{tiny},refemscore@{tiny},clipscore@{tiny}", "--json")
    assert done.exit_code == Code.OK, done.stderr
    told = json.loads(done.stdout)
    assert [(each["evaluator"], each["references"]) for each in told["reached"]] == [
        ("emscore@openai", ""),
        ("refemscore@openai", "1 reference"),
        ("refemscore@openai", "2 references"),
        ("clipscore@openai (average frame)", ""),
    ]
    assert all("10 frames, np.linspace" in each["made_with"] for each in told["reached"])
    assert (told["convention"], told["judgements"], told["images"]) == ("tau_b_raters", 9, 2)
    assert {"tau_b_raters", "rho_raters", "tau_b"} <= {row["measure"] for row in told["reached"][0]["rows"]}
    shown = invoke("suite", path, footage, "--evaluator", f"emscore@{tiny}", "--frames", "all", "--no-keep")
    assert "τ_b × 100, mean over annotators" in shown.stdout
    assert "one τ_b of all ratings is the other choice" in shown.stdout


def test_options_of_videos_are_refused_where_they_have_no_meaning(
    invoke: Invoke, footage: Path, tmp_path: Path, tiny: str
) -> None:
    pascal = tmp_path / "pascal_50s.json"
    pascal.write_text(json.dumps({"HC": [{"image": "a.png", "captions": ["a", "b"], "label": 0}]}))
    done = invoke("suite", pascal, footage, "--frames", "3")
    assert (done.exit_code, "--frames and --idf are of videos" in done.stderr) == (Code.BAD_INPUT, True)
    (tmp_path / "gts_list.pkl").write_bytes(b"\x80\x04.")
    done = invoke("suite", tmp_path / "gts_list.pkl", footage)
    assert (done.exit_code, "docs/video.md" in done.stderr) == (Code.BAD_INPUT, True)


def test_an_audit_of_videos_is_planned_with_its_frames_scored_and_refused_in_sentences(
    invoke: Invoke, footage: Path, tmp_path: Path, tiny: str
) -> None:
    done = invoke("audit", "--corpus", "demo-videos", "--dry-run")
    assert done.exit_code == Code.OK, done.stderr
    assert "unique videos" in done.stdout
    assert re.search(r"frames +64 ", done.stdout)
    assert "conse-lite2 (average frame)" in done.stdout
    assert "grounding-judge" not in done.stdout
    for asked, said in (
        (("--evaluators", "grounding-judge"), "scores one image and embeds no frames"),
        (("--subject", "template"), "has a label to make the template of; choose the subject human"),
        (("--idf", tmp_path / "gone.json"), "gone.json"),
    ):
        refused = invoke("audit", "--corpus", "demo-videos", "--dry-run", *asked)
        assert refused.exit_code == Code.BAD_INPUT
        assert said in refused.stderr
    (footage / "captions.json").write_text(json.dumps(CANDIDATES))
    made = invoke(
        "audit",
        "--corpus",
        "videos",
        "--root",
        footage,
        "--option",
        "frames=3",
        "--run-id",
        "r",
        "--probes",
        "null,frames:half",
        "--evaluators",
        f"emscore@{tiny}",
        "--out",
        tmp_path / "runs",
    )
    assert made.exit_code == Code.OK, made.stderr
    assert "2 items kept, 0 left out" in made.stdout
    assert "10 scores, 0 null" in made.stdout
