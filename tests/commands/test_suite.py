"""``suite`` on tiny suites in the publishers' layouts, with an evaluator that sees colours."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from core.evaluators.references import Referenced
from core.evaluators.registry import find
from core.features.calibration.readings import Terms, calibrator
from core.features.suites.suite_result import stored
from core.features.suites.suite_tables import decision_table, risk_table
from core.settings import ROOT
from tests.commands.calling import Invoke
from tests.tiny import clip


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for name, colour in (("red.png", (250, 10, 10)), ("blue.png", (10, 10, 250)), ("green.png", (10, 250, 10))):
        Image.fromarray(np.full((24, 32, 3), colour, dtype=np.uint8)).save(folder / name)
    return folder


def pascal(folder: Path, *more: dict) -> Path:
    entries = [
        {"image": f"VOC/JPEGImages/{one}.png", "captions": [f"a {one} thing", f"a {other} thing"], "label": 0}
        for one, other in (("red", "blue"), ("blue", "green"), ("green", "red"))
    ]
    path = folder / "pascal_50s.json"
    path.write_text(json.dumps({"HC": entries, "MM": list(more)}), encoding="utf-8")
    return path


def test_pairs_are_reported_with_their_groups(invoke: Invoke, pictures: Path, colour_words: str) -> None:
    done = invoke("suite", pascal(pictures), pictures, "--evaluator", colour_words, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["suite"] == "Pascal-50S"
    assert told["before"][0]["value"] == 100.0
    assert told["before"][0]["n"] == 3


def test_two_pictures_of_one_text_are_held_to_people_s_preference(
    invoke: Invoke, pictures: Path, colour_words: str
) -> None:
    (pictures / "copy.png").write_bytes((pictures / "red.png").read_bytes())
    path = pictures / "ours.csv"
    path.write_text(
        "text,left,right,preferred,category\na red thing,red.png,blue.png,left,warm\n"
        "a blue thing,red.png,blue.png,right,cold\na green thing,green.png,red.png,right,warm\n"
        "a red thing,red.png,copy.png,left,warm\na red thing,red.png,blue.png,tie,warm\n"
    )
    done = invoke("suite", path, pictures, "--evaluator", f"{colour_words},blind-length", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["suite"], told["by_text"], told["judgements"], told["left_out"]) == ("ours", True, 4, 1)
    sees, blind = ({(row["measure"], row["group"]): row["value"] for row in each["rows"]} for each in told["reached"])
    assert sees["accuracy", "warm"] == 50.0
    assert sees["accuracy", "cold"] == 100.0
    assert sees["accuracy", ""] == pytest.approx(200 / 3)
    assert (blind["accuracy", ""], blind["accuracy_strict", ""]) == (50.0, 0.0)  # the text alone is all ties
    equal = next(each for each in told["decisions"] if each["id"] == "equal-pictures")
    assert (equal["count"], equal["of"]) == (1, "comparisons left out")


def test_a_run_says_how_easily_comparisons_of_two_pictures_turn(invoke: Invoke, pictures: Path) -> None:
    path, run = pictures / "ours.csv", ROOT / "data" / "results" / "demo"
    path.write_text("text,left,right,preferred\na red thing,red.png,blue.png,left\na bus,green.png,red.png,right\n")
    done = invoke("suite", path, pictures, "--evaluator", "conse-lite0,blind-length", "--run", run, "--json")
    assert done.exit_code == 0, done.output
    seen, blind = json.loads(done.stdout)["reached"]
    risks = {each["family"]: each for each in seen["risks"]}
    assert {"vertical-flip", "null"} <= risks.keys()
    assert all(each["n"] == 2 and 0 <= each["risk"] <= 50 for each in risks.values())
    assert seen["risks_of"].startswith("demo")
    assert all(each["gap"] == 0 for each in blind["risks"])  # it reads the text alone: whatever it says is a tie
    table = risk_table(stored()[0][0])
    assert set(table["evaluator"]) == {"conse-lite0", *(["blind-length"] if blind["risks"] else [])}
    shown = invoke("suite", path, pictures, "--run", run)
    assert "How easily a comparison turns" in shown.stdout
    refused = invoke("suite", pascal(pictures), pictures, "--run", run)
    assert refused.exit_code == 2
    assert "--run is of comparisons of two pictures of one text, and Pascal-50S has none" in refused.stderr


def test_a_missing_image_is_said_and_costs_its_pair_alone(invoke: Invoke, pictures: Path, colour_words: str) -> None:
    lost = {"image": "../../etc/passwd", "captions": ["a red thing", "a blue thing"], "label": 0}
    done = invoke("suite", pascal(pictures, lost), pictures, "--evaluator", colour_words)
    assert done.exit_code == 1
    assert "no such image" in done.stderr
    assert "100.0" in done.stdout


def test_before_and_after_calibration_stand_side_by_side(invoke: Invoke, tmp_path: Path) -> None:
    from core.corpora.registry import catalogue

    items = [item for item in catalogue().get("demo").load().items if item.label and item.image_path][:4]
    entries = [
        {"image": item.image_path.name, "captions": [f"There is a {item.label}.", "There is a submarine."], "label": 0}
        for item in items
        if item.image_path
    ]
    suite, model = tmp_path / "pascal_50s.json", tmp_path / "c.json"
    suite.write_text(json.dumps({"HC": entries}))
    terms = Terms("orbit", {"vertical-flip": 1.0}, {"vertical-flip": {"vflip": 0.0}}, {"vertical-flip": 0.0})
    model.write_text(calibrator(terms, strength=0.5, evaluator="conse-lite0").model_dump_json())
    folder = items[0].image_path.parent if items[0].image_path else tmp_path
    done = invoke("suite", suite, folder, "--calibrator", model, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert {side: told[side][0]["n"] for side in ("before", "after")} == {"before": 4, "after": 4}
    shift = Terms("shift", {"vertical-flip": 1.0}, {"vertical-flip": {"vflip": 0.0}}, {"vertical-flip": 0.0})
    model.write_text(calibrator(shift, strength=0.5, evaluator="conse-lite0").model_dump_json())
    done = invoke("suite", suite, folder, "--calibrator", model)
    assert "after equals before" in done.stderr
    assert "Preference accuracy, before and after calibration" in done.stdout
    kept = stored()[0]
    assert [bool(each.calibrated) for each in kept[0].reached] == [False, True, True]


def test_ratings_in_several_languages_are_read_language_by_language(
    invoke: Invoke, pictures: Path, tmp_path: Path, colour_words: str
) -> None:
    def line(image: str, language: str, caption: str, score: float) -> str:
        told = {"image": f"{image}.png", "language": language, "caption": caption, "score": score}
        return json.dumps(told)

    colours = ("red", "blue", "green")
    lines = [
        line(one, language, f"{language} {other} thing", float((one == other) == (language == "en")))
        for language in ("en", "de")
        for one in colours
        for other in colours
    ]
    path = tmp_path / "capeval.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    done = invoke("suite", path, pictures, "--evaluator", colour_words, "--json")
    assert done.exit_code == 0, done.output
    told = {(row["group"], row["measure"]): row for row in json.loads(done.stdout)["before"]}
    assert {key: row["value"] for key, row in told.items() if key[1] == "accuracy"} == {
        ("en", "accuracy"): 100.0,
        ("de", "accuracy"): 0.0,
    }
    assert told["en", "tau_c"]["value"] == -told["de", "tau_c"]["value"] > 0


def test_a_language_that_an_evaluator_does_not_read_is_refused(invoke: Invoke, pictures: Path, tmp_path: Path) -> None:
    path = tmp_path / "capeval.jsonl"
    line = {"image": "red.png", "language": "de", "caption": "Ein Hund.", "score": 0.5}
    path.write_text(json.dumps(line), encoding="utf-8")
    done = invoke("suite", path, pictures, "--evaluator", "blind-typicality")
    assert done.exit_code == 2
    assert "and not de, and M-CapEval1k has no other; choose another" in done.stderr
    english = {**line, "language": "en", "caption": "A dog."}
    path.write_text("\n".join(map(json.dumps, (line, english))), encoding="utf-8")
    done = invoke("suite", path, pictures, "--evaluator", "blind-typicality", "--json")
    assert done.exit_code == 1
    assert "1 captions: blind-typicality reads en and not de" in done.stderr
    assert "kept in " in done.stderr
    assert {row["group"]: row["n"] for row in json.loads(done.stdout)["before"] if row["measure"] == "tau_c"} == {
        "de": 0,
        "en": 1,
    }


def test_what_cannot_be_used_is_one_sentence(invoke: Invoke, pictures: Path, tmp_path: Path, colour_words: str) -> None:
    path = pascal(pictures)
    for arguments, sentence in (
        ([tmp_path / "none.json", pictures], "cannot be read"),
        ([path, tmp_path / "nowhere"], "no folder"),
        ([path, tmp_path], "none of the 3 images"),
        ([path, pictures, "--calibrator", path], "not a calibrator"),
    ):
        done = invoke("suite", *arguments, "--evaluator", colour_words)
        assert done.exit_code == 2
        assert sentence in done.stderr


def test_an_evaluator_with_references_gets_those_of_the_file_in_every_setting(
    invoke: Invoke, pictures: Path, tmp_path: Path
) -> None:
    metric = f"refclipscore@{clip.write_openai(tmp_path / 'tiny.pt')}"
    captions = ("a red thing", "one thing", "some thing", "this thing", "that thing")
    right = [{"id": place, "image_id": 1, "caption": text, "foil": False} for place, text in enumerate(captions)]
    held = {
        "images": [{"id": 1, "file_name": "red.png"}],
        "annotations": [*right, {"id": 0, "image_id": 1, "caption": "a blue thing", "foil": True}],
    }
    path = tmp_path / "foilv1.0_test.json"
    path.write_text(json.dumps(held))
    done = invoke("suite", path, pictures, "--evaluator", f"{metric},blind-length", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)["reached"]
    assert [each["references"] for each in told] == ["1 reference", "4 references", ""]
    loaded, pixels = find(metric).load(), np.asarray(Image.open(pictures / "red.png"))
    assert isinstance(loaded, Referenced)
    right_one, wrong = loaded.score([pixels, pixels], [captions[0], "a blue thing"], [captions[1:]] * 2)
    assert told[1]["rows"][0]["value"] == 50 * (1 + np.sign(right_one - wrong))
    held["annotations"] = held["annotations"][:1] + held["annotations"][-1:]
    path.write_text(json.dumps(held))
    done = invoke("suite", path, pictures, "--evaluator", metric)
    assert done.exit_code == 2
    assert "compares with reference captions and this file of FOIL holds none" in done.stderr


def test_options_that_contradict_each_other_are_one_sentence(invoke: Invoke, pictures: Path, tmp_path: Path) -> None:
    path, scores = pascal(pictures), tmp_path / "scores.json"
    scores.write_text('{"p0": 1}')
    for arguments, sentence in (
        ([path, pictures, "--evaluator", "a,b", "--calibrator", path], "a calibrator is of one evaluator, got 2"),
        ([path, "--scores", scores, "--evaluator", "a,b"], "name one --evaluator for each file"),
        ([path, pictures, "--also", path], "give each file of the suite once"),
        ([path, pictures, "--only", tmp_path / "none.txt"], "cannot be read"),
    ):
        done = invoke("suite", *arguments)
        assert done.exit_code == 2
        assert sentence in done.stderr


def flickr(folder: Path) -> Path:
    entries = {}
    for one, other in (("red", "blue"), ("blue", "green"), ("green", "red")):
        judged = [
            {"image_id": one, "image_path": f"{one}.png", "caption": f"a {colour} thing on a table", "rating": rating}
            for colour, rating in ((one, 4), (other, 1))
        ]
        told = [f"one {one} thing lies here", f"some {one} thing on the table"]
        entries[one] = {"image_path": f"{one}.png", "ground_truth": told, "human_judgement": judged}
    path = folder / "flickr8k.json"
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path


def test_metrics_of_references_are_rows_of_their_own_and_need_no_picture(
    invoke: Invoke, pictures: Path, tmp_path: Path, colour_words: str
) -> None:
    path = flickr(tmp_path)
    assert invoke("suite", path, pictures, "--evaluator", f"cider-d,{colour_words}").exit_code == 0
    done = invoke("suite", path, "--evaluator", "rouge-l,bleu-4,cider-d", "--references", "1", "--json")
    assert done.exit_code == 0, done.output
    told = {each["evaluator"]: each for each in json.loads(done.stdout)["reached"]}
    assert list(told) == ["rouge-l", "bleu-4", "cider-d"]
    assert told["cider-d"]["references"].startswith("1 reference")
    assert "the references of 3 images" in told["cider-d"]["made_with"]
    assert {row["value"] for row in told["rouge-l"]["rows"] if row["measure"] == "accuracy"} == {100.0}
    decisions = decision_table(stored()[0][0])
    assert decisions["done"].str.contains("document frequencies: the references of 3 images").sum() == 2
    assert len(stored()[0][0].reached) == 5  # cider-d with all references and the colours from before, three now
    model = tmp_path / "c.json"
    model.write_text("{}")
    for arguments, why in (
        ((path, pictures, "--evaluator", "cider-d", "--calibrator", model), "cider-d is none; leave --calibrator out"),
        ((path, "--evaluator", f"cider-d,{colour_words}"), "give the folders of the suite's images"),
        ((pascal(tmp_path), pictures, "--evaluator", "bleu-4"), "Pascal-50S holds none"),
    ):
        done = invoke("suite", *arguments)
        assert done.exit_code == 2
        assert why in done.stderr
