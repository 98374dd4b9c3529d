"""``leaderboard`` ranks files of captions, keeps the scores, and says in a sentence what it cannot use."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from core.commands._shared import Code
from core.scoring.reference_metrics import ready_words
from tests.commands.calling import Invoke


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "images"
    folder.mkdir()
    for number in range(12):
        pixels = np.zeros((8, 8, 3), dtype=np.uint8)
        pixels[..., 0], pixels[..., 1] = 255, 20 * number
        Image.fromarray(pixels).save(folder / f"p{number}.png")
    return folder


def write(path: Path, captions: dict[str, str]) -> Path:
    path.write_text(json.dumps(captions), "utf-8")
    return path


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    names = [f"p{number}" for number in range(12)]
    return [
        write(tmp_path / "red.json", dict.fromkeys(names, "a red door")),
        write(tmp_path / "green.json", dict.fromkeys(names, "a green door")),
        write(tmp_path / "both.json", {**dict.fromkeys(names, "a red and green door"), "lost": "a blue door"}),
    ]


def test_three_files_are_ranked_kept_and_shown_again(
    invoke: Invoke, files: list[Path], photos: Path, colour_words: str, tmp_path: Path
) -> None:
    out = tmp_path / "tables"
    done = invoke(
        "leaderboard",
        *files,
        "--images",
        photos,
        "--evaluators",
        colour_words,
        "--edits",
        "vflip",
        "--name",
        "mine",
        "--out",
        out,
        "--pace",
    )
    assert done.exit_code == Code.OK, done.output
    assert "s a pair on" in done.stderr
    first = pd.read_csv(out / "standings.csv", encoding="utf-8")
    cosines = {}
    for system, words in (("red", (1, 0)), ("green", (0, 1)), ("both", (1, 1))):
        pictures = np.array([(255.0, 20.0 * number) for number in range(12)])
        unit = pictures / np.linalg.norm(pictures, axis=1, keepdims=True)
        cosines[system] = 2.5 * (unit @ np.array(words) / np.linalg.norm(words)).mean()
    assert first["system"].tolist() == sorted(cosines, key=lambda name: -cosines[name])
    assert first["mean"].tolist() == pytest.approx(sorted(cosines.values(), reverse=True), abs=1e-6)
    assert "1 entry" in done.stderr
    assert "'lost'" in done.stderr
    assert "0 of 1 edits" in done.stdout
    again = invoke("leaderboard", "mine")
    assert again.stdout == done.stdout
    listed = invoke("leaderboard")
    assert "mine" in listed.stdout
    taken = invoke("leaderboard", *files, "--images", photos, "--evaluators", colour_words, "--name", "mine")
    assert taken.exit_code == Code.BAD_INPUT
    assert "kept already" in taken.stderr


def test_a_caption_without_a_score_ends_with_failures(
    invoke: Invoke, files: list[Path], photos: Path, colour_words: str, tmp_path: Path
) -> None:
    names = [f"p{number}" for number in range(12)]
    plain = write(tmp_path / "plain.json", {**dict.fromkeys(names, "a red door"), "p3": "a door"})
    done = invoke("leaderboard", files[0], f"ours={plain}", "--images", photos, "--evaluators", colour_words, "--json")
    assert done.exit_code == Code.FAILURES
    told = json.loads(done.stdout)
    assert {row["system"]: row["n_items"] for row in told["standings"]} == {"red": 11, "ours": 11}
    assert "p3.png, ours" in told["left_out"][0]


def test_the_row_of_people_is_a_reference_a_picture(
    invoke: Invoke, files: list[Path], photos: Path, colour_words: str, tmp_path: Path
) -> None:
    references = tmp_path / "references.json"
    references.write_text(json.dumps({f"p{number}": ["a red wall", "a red gate"] for number in range(12)}), "utf-8")
    done = invoke(
        "leaderboard",
        files[1],
        "--images",
        photos,
        "--references",
        references,
        "--human",
        "--evaluators",
        colour_words,
        "--json",
    )
    assert done.exit_code == Code.OK, done.output
    assert [row["system"] for row in json.loads(done.stdout)["standings"]] == ["human", "green"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("a.json",), "--images FOLDER or --corpus NAME"),
        (("nothing",), "no leaderboard 'nothing'"),
        (("{red}", "--images", "{photos}", "--corpus", "demo"), "exclude each other"),
        (("{red}", "{red}", "--images", "{photos}"), "two systems are called 'red'"),
        (("{red}", "--images", "{photos}", "--edits", "gender"), "no harmless edit"),
        (("{red}", "--images", "{photos}", "--name", "../x"), "name holds"),
        (("{red}", "--corpus", "demo"), "no system captions a picture of corpus 'demo'"),
        (("gone.json", "--corpus", "demo"), "cannot be read"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(
    invoke: Invoke, files: list[Path], photos: Path, arguments: tuple[str, ...], named: str
) -> None:
    given = [each.format(red=files[0], photos=photos) for each in arguments]
    done = invoke("leaderboard", *given)
    assert done.exit_code == Code.BAD_INPUT
    assert named in done.stderr
    assert done.stderr.startswith("error: ")


def test_references_stand_beside_the_standings_and_rank_too(
    invoke: Invoke, files: list[Path], photos: Path, colour_words: str, tmp_path: Path
) -> None:
    people = tmp_path / "references.json"
    names = [f"p{number}" for number in range(12)]
    people.write_text(json.dumps({name: [f"a red gate {at}", "the red gate"] for at, name in enumerate(names)}))
    out = tmp_path / "tables"
    done = invoke(
        "leaderboard",
        *files,
        "--images",
        photos,
        "--evaluators",
        colour_words,
        "--references",
        people,
        "--human",
        "--beside-references",
        "--name",
        "mine",
        "--out",
        out,
    )
    assert done.exit_code == Code.OK, done.output
    beside = pd.read_csv(out / "references.csv").set_index(["system", "metric"])
    assert beside.loc[("red", "BLEU-1"), "value"] == pytest.approx(2 / 3)
    assert beside.loc[("red", "BLEU-2"), "value"] == pytest.approx((2 / 3 * 1 / 2) ** 0.5)
    assert beside.loc[("green", "BLEU-2"), "value"] == pytest.approx(0, abs=1e-6)
    assert set(beside["n_items"]) == {12}
    ranked = pd.read_csv(out / "standings.csv")
    rouge = ranked[ranked["evaluator"] == "ROUGE-L"].set_index("system")["mean"]
    assert rouge["red"] == pytest.approx(beside.loc[("red", "ROUGE-L"), "value"])
    # the drawn reference is no reference of itself: the other one is left
    assert rouge["human"] < 1
    agreement = pd.read_csv(out / "agreement.csv")
    assert {"ROUGE-L", "CIDEr-D"} <= set(agreement["other"])
    assert "words as pycocoevalcap's Penn Treebank tokenizer cuts them" in done.stderr
    again = invoke("leaderboard", "mine", "--json")
    assert len(json.loads(again.stdout)["references"]) == 4 * (len(ready_words()) + 3)  # BLEU-1 to BLEU-3, too


def test_without_references_nothing_stands_beside_and_the_reason_is_told(
    invoke: Invoke, files: list[Path], photos: Path, colour_words: str
) -> None:
    done = invoke("leaderboard", *files, "--images", photos, "--evaluators", colour_words, "--beside-references")
    assert done.exit_code == Code.OK, done.output
    assert "BLEU-4, METEOR, ROUGE-L, CIDEr-D: 0 of these pictures have references" in done.stderr
