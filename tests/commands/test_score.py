"""``score`` stands in for clipscore's script and for CaptionEvalKit's score command."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from core.commands._shared import Code
from core.evaluators.other_packages import PublishedName, published_name
from core.evaluators.registry import find
from core.evaluators.weights.fetched import keep
from core.scoring.reference_metrics import lacking
from tests.commands.calling import Invoke, Shell
from tests.tiny import clip

COLOURS = {"red": (200, 0, 0), "green": (0, 90, 0), "blue": (0, 0, 255)}
CANDIDATES = {"red": "a red door", "green": "a red and green door", "blue": "a red door"}
SCORES = {"red": 2.5, "green": 2.5 / math.sqrt(2), "blue": 0.0}
MEAN = sum(SCORES.values()) / 3


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "images"
    folder.mkdir()
    for name, colour in COLOURS.items():
        Image.fromarray(np.full((6, 7, 3), colour, dtype=np.uint8)).save(folder / f"{name}.png")
    return folder


@pytest.fixture
def candidates(tmp_path: Path) -> Path:
    path = tmp_path / "candidates.json"
    path.write_text(json.dumps(CANDIDATES))
    return path


@pytest.fixture
def predictions(tmp_path: Path) -> Path:
    path = tmp_path / "predictions.jsonl"
    rows = [{"id": name, "caption": text, "image": f"{name}.png"} for name, text in CANDIDATES.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_clipscores_command_line_gives_clipscores_output(
    shell: Shell, candidates: Path, photos: Path, tmp_path: Path, colour_words: str
) -> None:
    saved = tmp_path / "out.json"
    done = shell("score", candidates, photos, "--evaluator", colour_words, "--save_per_instance", saved)
    assert (done.returncode, done.stdout) == (Code.OK, f"colour-words: {MEAN:.4f}\n"), done.stderr
    per_instance = json.loads(saved.read_text())
    assert {name: scores["colour-words"] for name, scores in per_instance.items()} == pytest.approx(SCORES, abs=1e-6)
    assert "3 of 3 captions scored by colour-words, fingerprint" in done.stderr


def test_the_pace_is_told_where_it_is_asked_for(
    invoke: Invoke, candidates: Path, photos: Path, colour_words: str
) -> None:
    asked = ("score", candidates, photos, "--evaluator", colour_words, "--device", "cpu")
    told = [line for line in invoke(*asked, "--pace").stderr.splitlines() if "s a pair" in line]
    assert len(told) == 1
    assert told[0].endswith(" s a pair on cpu, over 3 pairs, without loading the model")
    assert 0 < float(told[0].split(": ")[-1].split()[0]) < 60
    assert "s a pair" not in invoke(*asked).stderr


def test_references_add_a_second_line(
    invoke: Invoke, candidates: Path, photos: Path, tmp_path: Path, colour_words: str
) -> None:
    people = tmp_path / "references.json"
    people.write_text(
        json.dumps({"red": ["a red gate", "a blue gate"], "green": "a green gate", "blue": ["a blue gate"]})
    )
    done = invoke(
        "score", candidates, photos, "--references_json", people, "--evaluator", colour_words, "--called", "ColourS"
    )
    likeness = {"red": 1.0, "green": 1 / math.sqrt(2), "blue": 0.0}
    with_references = [
        2 * SCORES[k] * likeness[k] / (SCORES[k] + likeness[k]) if likeness[k] else 0.0 for k in likeness
    ]
    assert done.stdout == f"ColourS: {MEAN:.4f}\nRefColourS: {sum(with_references) / 3:.4f}\n"


def test_capevalkits_command_line_gives_capevalkits_output(
    invoke: Invoke, predictions: Path, photos: Path, tmp_path: Path, colour_words: str
) -> None:
    output = tmp_path / "new" / "scores.json"
    people = tmp_path / "references.jsonl"
    people.write_text("".join(json.dumps({"id": name, "references": ["a red gate"]}) + "\n" for name in CANDIDATES))
    done = invoke(
        "score",
        "--metric",
        colour_words,
        "--predictions",
        predictions,
        "--references",
        people,
        "--image-dir",
        photos,
        "--output",
        output,
    )
    assert done.exit_code == Code.OK, done.stderr
    result = json.loads(output.read_text())
    assert set(result) == {"colour-words", "refcolour-words", "per_item"}
    assert result["colour-words"] == pytest.approx(MEAN, abs=1e-6)
    assert {name: each["colour-words"] for name, each in result["per_item"].items()} == pytest.approx(SCORES, abs=1e-6)
    assert list(result["per_item"]) == sorted(CANDIDATES)


def test_json_lines_without_an_output_file_are_answered_in_their_own_shape(
    invoke: Invoke, predictions: Path, photos: Path, colour_words: str
) -> None:
    result = json.loads(invoke("score", predictions, photos, "--evaluator", colour_words).stdout)
    assert result["colour-words"] == pytest.approx(MEAN, abs=1e-6)


def test_both_formats_give_the_same_numbers(
    invoke: Invoke, candidates: Path, predictions: Path, photos: Path, tmp_path: Path, colour_words: str
) -> None:
    for name, source in (("a.json", candidates), ("b.json", predictions)):
        invoke("score", source, photos, "--evaluator", colour_words, "--output", tmp_path / name)
    assert (tmp_path / "a.json").read_text() == (tmp_path / "b.json").read_text()


def test_what_is_missing_or_left_over_is_counted_and_null(
    invoke: Invoke, photos: Path, candidates: Path, tmp_path: Path, colour_words: str
) -> None:
    candidates.write_text(json.dumps({**CANDIDATES, "gone": "a red door", "green": "no colour at all"}))
    Image.new("RGB", (5, 5)).save(photos / "extra.png")
    (photos / "notes.txt").write_text("no image")
    (photos / "red.png").write_bytes(b"torn")
    saved = tmp_path / "out.json"
    done = invoke("score", candidates, photos, "--evaluator", colour_words, "--save_per_instance", saved)
    assert done.exit_code == Code.FAILURES
    assert done.stdout == "colour-words: 0.0000\n"
    per_instance = json.loads(saved.read_text())
    assert {name: scores["colour-words"] for name, scores in per_instance.items()} == {
        "red": None,
        "green": None,
        "blue": 0.0,
        "gone": None,
    }
    assert "1 caption without an image: 'gone'" in done.stderr
    assert "1 image without a caption: 'extra.png'" in done.stderr
    assert "no score for 'red': " in done.stderr
    assert "no score for 'green': " in done.stderr
    assert "1 of 4 captions scored" in done.stderr


def test_a_folder_where_nothing_can_be_scored_has_no_mean(
    invoke: Invoke, photos: Path, candidates: Path, colour_words: str
) -> None:
    candidates.write_text(json.dumps({"red": "no colour"}))
    done = invoke("score", candidates, photos, "--evaluator", colour_words)
    assert (done.exit_code, done.stdout) == (Code.FAILURES, "colour-words: nan\n")


def test_an_id_may_carry_its_suffix(invoke: Invoke, photos: Path, candidates: Path, colour_words: str) -> None:
    candidates.write_text(json.dumps({"red.png": "a red door"}))
    assert invoke("score", candidates, photos, "--evaluator", colour_words).stdout == "colour-words: 2.5000\n"


def test_two_images_of_one_name_are_refused(invoke: Invoke, photos: Path, candidates: Path, colour_words: str) -> None:
    Image.new("RGB", (5, 5)).save(photos / "red.jpg")
    done = invoke("score", candidates, photos, "--evaluator", colour_words)
    assert done.exit_code == Code.BAD_INPUT
    assert "may be red.jpg, red.png" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "score needs the captions"),
        (["absent.json", "{photos}"], "absent.json cannot be read"),
        (["{candidates}", "absent"], "no folder absent"),
        (["{candidates}"], "names no image"),
        (["{candidates}", "{photos}", "--evaluator", "clipscor"], "no evaluator is named 'clipscor'"),
        (["{candidates}", "{photos}", "--references", "{partial}"], "has no reference for 'green', 'blue'"),
        (["{candidates}", "{empty}"], "none of the 3 captions"),
        (["{twice}", "{photos}"], "id 'red' was there before; keep one"),
        (["{blank}", "{photos}"], "holds no caption"),
        (["{systems}", "{photos}"], "which of the columns first, second are the captions?"),
    ],
)
def test_bad_input_is_one_sentence(
    invoke: Invoke, candidates: Path, photos: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    (tmp_path / "partial.json").write_text('{"red": "a red gate"}')
    (tmp_path / "empty").mkdir()
    tables = {
        "twice": "image,caption\nred,a gate\nred,a wall\n",
        "blank": "image,caption\nred,\n",
        "systems": "image,first,second\nred,a gate,a wall\n",
    }
    for name, text in tables.items():
        (tmp_path / f"{name}.csv").write_text(text)
    known = {
        "candidates": candidates,
        "photos": photos,
        "partial": tmp_path / "partial.json",
        "empty": tmp_path / "empty",
        **{name: tmp_path / f"{name}.csv" for name in tables},
    }
    done = invoke("score", *(argument.format(**known) for argument in arguments))
    assert done.exit_code == Code.BAD_INPUT
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_a_result_that_cannot_be_written_says_so(
    invoke: Invoke, candidates: Path, photos: Path, tmp_path: Path, colour_words: str
) -> None:
    (tmp_path / "file").write_text("")
    done = invoke(
        "score", candidates, photos, "--evaluator", colour_words, "--save_per_instance", tmp_path / "file" / "x.json"
    )
    assert done.exit_code == Code.BAD_INPUT
    assert "cannot be written" in done.stderr


def test_what_is_named_twice_is_refused_instead_of_ignored(
    invoke: Invoke, candidates: Path, photos: Path, tmp_path: Path, colour_words: str
) -> None:
    other = tmp_path / "other.json"
    other.write_text("{}")
    done = invoke("score", candidates, photos, "--candidates_json", other, "--evaluator", colour_words)
    assert done.exit_code == Code.BAD_INPUT
    assert "two files of captions are given" in done.stderr
    done = invoke("score", candidates, photos, "--image_dir", tmp_path, "--evaluator", colour_words)
    assert done.exit_code == Code.BAD_INPUT
    assert "two folders of images are given" in done.stderr


def test_an_id_may_name_a_folder_below_that_of_the_images(
    invoke: Invoke, photos: Path, candidates: Path, tmp_path: Path, colour_words: str
) -> None:
    (photos / "val").mkdir()
    (photos / "red.png").rename(photos / "val" / "000123.png")
    Image.new("RGB", (5, 5)).save(photos / "val" / "extra.png")
    candidates.write_text(json.dumps({"val/000123": "a red door", "blue": "a red door", "test/000123": "a red door"}))
    saved = tmp_path / "out.json"
    done = invoke("score", candidates, photos, "--evaluator", colour_words, "--save_per_instance", saved)
    per_instance = json.loads(saved.read_text())
    assert {name: scores["colour-words"] for name, scores in per_instance.items()} == {
        "val/000123": pytest.approx(2.5),
        "blue": 0.0,
        "test/000123": None,
    }
    assert "1 caption without an image: 'test/000123'" in done.stderr
    assert "2 images without a caption: 'green.png', 'val/extra.png'" in done.stderr


@pytest.mark.parametrize("outside", ["../secret", "val/../../secret", "{folder}/secret", "linked/secret"])
def test_an_id_never_leads_out_of_the_folder(
    invoke: Invoke, photos: Path, candidates: Path, tmp_path: Path, colour_words: str, outside: str
) -> None:
    Image.fromarray(np.full((6, 7, 3), COLOURS["red"], dtype=np.uint8)).save(tmp_path / "secret.png")
    (photos / "linked").symlink_to(tmp_path)
    candidates.write_text(json.dumps({"red": "a red door", outside.format(folder=tmp_path): "a red door"}))
    done = invoke("score", candidates, photos, "--evaluator", colour_words)
    assert (done.exit_code, done.stdout) == (Code.BAD_INPUT, "")
    assert "secret" in done.stderr


def test_an_image_that_a_line_names_is_not_looked_for_above_the_folder(
    invoke: Invoke, photos: Path, predictions: Path, tmp_path: Path, colour_words: str
) -> None:
    Image.fromarray(np.full((6, 7, 3), COLOURS["red"], dtype=np.uint8)).save(tmp_path / "secret.png")
    predictions.write_text(json.dumps({"id": "red", "caption": "a red door", "image": "../secret.png"}) + "\n")
    done = invoke("score", predictions, photos, "--evaluator", colour_words)
    assert done.exit_code == Code.BAD_INPUT
    assert "climbs out of" in done.stderr


def test_every_value_below_per_item_is_a_number_as_capevalkits_reader_wants_it(
    invoke: Invoke, predictions: Path, photos: Path, tmp_path: Path, colour_words: str
) -> None:
    (photos / "red.png").unlink()
    lines = predictions.read_text() + json.dumps({"id": "grey", "caption": "a grey door", "image": "blue.png"}) + "\n"
    predictions.write_text(lines)
    output = tmp_path / "scores.json"
    done = invoke(
        "score", "--metric", colour_words, "--predictions", predictions, "--image-dir", photos, "--output", output
    )
    assert done.exit_code == Code.FAILURES
    result = json.loads(output.read_text())
    read = {item: float(scores["colour-words"]) for item, scores in result["per_item"].items()}
    assert read == {"green": pytest.approx(SCORES["green"]), "blue": 0.0}
    assert set(result["errors"]) == {"red", "grey"}
    assert result["errors"]["red"] == "no image of this id was found"
    assert result["colour-words"] == pytest.approx(sum(read.values()) / 2)


def test_the_score_that_was_asked_for_is_the_first_of_an_id_whatever_it_is_called(
    invoke: Invoke, predictions: Path, photos: Path, tmp_path: Path, colour_words: str
) -> None:
    people = tmp_path / "references.jsonl"
    people.write_text("".join(json.dumps({"id": name, "references": ["a red gate"]}) + "\n" for name in CANDIDATES))
    done = invoke(
        "score",
        predictions,
        photos,
        "--metric",
        colour_words,
        "--references",
        people,
        "--called",
        "zeta",
        "--compute_other_ref_metrics",
        1,
    )
    result = json.loads(done.stdout)
    assert list(result["per_item"]) == sorted(CANDIDATES)
    assert {next(iter(scores)) for scores in result["per_item"].values()} == {"zeta"}


def test_references_given_to_a_metric_that_takes_none_are_no_error(
    invoke: Invoke, predictions: Path, photos: Path, tmp_path: Path, word_count: str
) -> None:
    people = tmp_path / "references.jsonl"
    people.write_text(json.dumps({"id": "red", "references": []}) + "\n")
    done = invoke(
        "score", "--metric", word_count, "--predictions", predictions, "--references", people, "--image-dir", photos
    )
    assert done.exit_code == Code.OK, done.stderr
    assert set(json.loads(done.stdout)) == {"word-count", "per_item"}
    assert f"compares no captions with references; {people} is not used" in done.stderr


@pytest.mark.parametrize(
    ("given", "shown"), [("PACScore", "PAC-S"), ("pac-s", "PAC-S"), ("RefPAC-S", "RefPAC-S"), ("pacscore", "PAC-S")]
)
def test_a_metric_goes_by_capevalkits_name_and_stands_under_it(
    invoke: Invoke,
    candidates: Path,
    photos: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    given: str,
    shown: str,
) -> None:
    monkeypatch.setenv("INVARISCOPE_WEIGHTS", str(tmp_path / "weights"))
    keep("pac-s-vit-b-32", clip.write_pac(tmp_path / "clip_ViT-B-32.pth"))
    people = tmp_path / "references.json"
    people.write_text(json.dumps({key: ["a gate"] for key in CANDIDATES}))
    done = invoke("score", candidates, photos, "--metric", given, "--references", people)
    assert done.exit_code == Code.OK, done.stderr
    expected = [shown] if shown.startswith("Ref") else [shown, f"Ref{shown}"]
    assert [line.split(": ")[0] for line in done.stdout.splitlines()] == expected


@pytest.mark.parametrize(
    ("given", "evaluator", "key"),
    [
        ("CLIPScore", "clipscore", "CLIPScore"),
        ("refclipscore", "refclipscore", "RefCLIPScore"),
        ("pacscore-vitl", "pac-s-l14", "PAC-S"),
        ("refpacscore-vitl", "refpac-s-l14", "RefPAC-S"),
        ("pacscorepp", "pac-s++", "PAC-S++"),
        ("RefPAC-S++", "refpac-s++", "RefPAC-S++"),
        ("FLEUR", "fleur", "FLEUR"),
        ("reffleur", "reffleur", "RefFLEUR"),
    ],
)
def test_capevalkits_names_mean_evaluators_that_there_are(given: str, evaluator: str, key: str) -> None:
    assert published_name(given) == PublishedName(evaluator, key)
    assert find(evaluator).spec.name == evaluator


def test_a_metric_of_capevalkit_that_is_not_here_says_so(invoke: Invoke, candidates: Path, photos: Path) -> None:
    done = invoke("score", candidates, photos, "--metric", "Polos")
    assert done.exit_code == Code.BAD_INPUT
    assert "Polos is not computed here" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("{a}", "{p}", "--candidates_json", "{b}"), "two files of captions"),
        (("{p}", "--candidates_json", "{b}"), "two files of captions"),
        (("--predictions", "{a}", "--candidates_json", "{b}", "--image_dir", "{p}"), "two files of captions"),
        (("{a}", "--image_dir", "{p}", "--image-dir", "."), "two folders of images"),
        (("{a}", "{p}", "--references", "{a}", "--references_json", "{b}"), "two files of references"),
        (("{a}", "{p}", "--metric", "conse-lite0", "--evaluator", "conse-lite2"), "two metrics"),
    ],
)
def test_two_ways_to_name_one_thing_are_refused_together(
    invoke: Invoke, candidates: Path, photos: Path, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    known = {"a": candidates, "b": tmp_path / "b.json", "p": photos}
    done = invoke("score", *(each.format(**known) for each in arguments))
    assert (done.exit_code, done.stdout) == (Code.BAD_INPUT, "")
    assert f"{said} are given" in done.stderr


def test_the_switch_of_clipscore_adds_what_words_alone_say(
    invoke: Invoke, candidates: Path, photos: Path, tmp_path: Path, word_count: str
) -> None:
    people = tmp_path / "references.json"
    people.write_text(json.dumps({"red": ["a red door"], "green": ["a red and green door"], "blue": ["a blue gate"]}))
    saved = tmp_path / "out.json"
    done = invoke(
        "score",
        candidates,
        photos,
        "--references_json",
        people,
        "--evaluator",
        word_count,
        "--compute_other_ref_metrics",
        1,
        "--save_per_instance",
        saved,
    )
    assert done.exit_code == Code.OK, done.stderr
    printed = dict(line.split(": ") for line in done.stdout.splitlines())
    meteor = [] if lacking() else ["METEOR"]
    assert list(printed) == ["BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", *meteor, "ROUGE-L", "CIDEr-D", "word-count"]
    assert ("METEOR is a program in Java" in done.stderr) == (not meteor)
    assert printed["BLEU-1"] == f"{9 / 11:.4f}"
    per_instance = json.loads(saved.read_text())
    assert per_instance["red"]["ROUGE-L"] == 1.0
    assert per_instance["blue"]["ROUGE-L"] == pytest.approx(1 / 3)
    assert "3 captions by pycocoevalcap 1.2" in done.stderr
    assert "pycocoevalcap's Penn Treebank tokenizer" in done.stderr
    assert "they serve the other metrics alone" in done.stderr


def test_what_compares_with_references_needs_some(invoke: Invoke, candidates: Path, photos: Path) -> None:
    done = invoke("score", candidates, photos, "--compute_other_ref_metrics", 1)
    assert done.exit_code == Code.BAD_INPUT
    assert "--compute_other_ref_metrics needs references" in done.stderr
    done = invoke("score", candidates, photos, "--metric", "CIDEr")
    assert "beside one with --compute_other_ref_metrics 1" in done.stderr


def test_an_empty_caption_costs_its_line_and_counts_nothing_beside_references(
    invoke: Invoke, photos: Path, tmp_path: Path, colour_words: str
) -> None:
    """As pycocoevalcap 1.2 on the same captions with empty candidates: ROUGE-L 1/3."""
    predictions, people = tmp_path / "p.jsonl", tmp_path / "r.json"
    predictions.write_text(
        '{"id": "red", "caption": null}\n{"id": "green", "caption": "nan"}\n{"id": "blue", "caption": "a blue door"}\n'
    )
    people.write_text(json.dumps({name: [f"a {name} door"] for name in ("red", "green", "blue")}))
    done = invoke(
        "score",
        predictions,
        photos,
        "--evaluator",
        colour_words,
        "--references",
        people,
        "--compute_other_ref_metrics",
        "1",
    )
    assert done.exit_code == Code.FAILURES, done.stderr
    told = json.loads(done.stdout)
    assert told["ROUGE-L"] == pytest.approx(1 / 3)
    assert told["errors"] == {"red": "the caption is empty", "green": "the caption is empty"}
    assert "1 of 3 captions scored" in done.stderr


def test_of_one_picture_there_is_no_cider_and_its_caption_is_scored(
    invoke: Invoke, photos: Path, tmp_path: Path, colour_words: str
) -> None:
    captions, people = tmp_path / "c.json", tmp_path / "r.json"
    captions.write_text('{"red": "a red door"}')
    people.write_text('{"red": ["a red door"]}')
    done = invoke(
        "score",
        captions,
        photos,
        "--evaluator",
        colour_words,
        "--references",
        people,
        "--compute_other_ref_metrics",
        "1",
    )
    assert done.exit_code == Code.OK, done.stderr
    assert "CIDEr-D" not in done.stdout
    assert "two pictures are needed" in done.stderr
    assert "1 of 1 captions scored" in done.stderr
