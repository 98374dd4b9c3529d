"""What a run tests, in words, and what two runs were made with that is not the same: from their manifests."""

import json
from pathlib import Path

import pytest

from core.analysis.scope import purpose
from core.features.compare.two_sides import manifest_differences
from core.settings import results_dir
from core.store.run_files import Run


def probe(
    name: str, family: str, expectation: str = "invariant", *, edits: str = "image", axis: str = "spatial"
) -> dict:
    return {"name": name, "family": family, "expectation": expectation, "edits": edits, "axis": axis}


NULL = probe("null:jpeg95", "null", axis="null")
FLIPS = [probe("vflip", "vertical-flip"), probe("hflip", "horizontal-flip")]
WORDS = probe("cultural:African", "cultural", edits="caption", axis="societal")
WRONG = [probe(f"foil:{n}", "foil", "directional", edits="caption", axis="semantic") for n in range(3)]
TURNS = [probe(f"rotation:degrees{n}", "rotation") for n in (1, 2, 5)]


@pytest.mark.parametrize(
    ("probes", "told"),
    [
        ([NULL, *FLIPS], "Harmless edits of pictures: Upside down, Mirrored"),
        ([NULL, *FLIPS, WORDS], "Harmless edits of pictures and captions: Upside down, Mirrored, Cultural words"),
        ([*FLIPS, *WRONG], "Broken meanings: Wrong object (FOIL); harmless edits"),
        ([WRONG[0], *FLIPS], "Broken meanings: Wrong object (FOIL); harmless edits"),
        ([NULL, *TURNS], "Harmless edits of pictures at several strengths: Turned"),
        (
            [*TURNS, *FLIPS, WORDS],
            "Harmless edits of pictures and captions at several strengths: Turned, Upside down and 2 more",
        ),
        ([NULL], "Invisible edits alone"),
        ([], ""),
        ("<script>", ""),
        ([3, {"name": "x"}], ""),
    ],
)
def test_a_run_says_what_most_of_its_probes_are_first(probes: object, told: str) -> None:
    assert purpose({"probes": probes}) == told


def test_every_shipped_run_says_what_it_tests() -> None:
    for path in sorted(results_dir().glob("*/manifest.json")):
        assert purpose(json.loads(path.read_text("utf-8"))).count(": ") == 1, path


def test_what_two_runs_were_made_with_is_told_by_name(tmp_path: Path) -> None:
    made = {
        "run": "a",
        "seed": 2025,
        "created": "monday",
        "corpus": {"name": "demo", "root": "/one"},
        "evaluators": [{"name": "e", "fingerprint": {"weights": "11", "precision": "float32"}}],
        "versions": {"torch": "2.15.0"},
    }
    other = made | {
        "run": "b",
        "created": "tuesday",
        "corpus": {"name": "demo", "root": "/other"},
        "evaluators": [{"name": "e", "fingerprint": {"weights": "22", "precision": "float32"}}, {"name": "f"}],
    }
    table = manifest_differences(Run(tmp_path, made), Run(tmp_path, other)).set_index("what")
    assert set(table.index) == {"evaluators.e.fingerprint.weights", "evaluators.f.name"}
    assert list(table.loc["evaluators.e.fingerprint.weights"]) == ["11", "22"]
    assert list(table.loc["evaluators.f.name"]) == ["", "present"]
    assert manifest_differences(Run(tmp_path, made), Run(tmp_path, made)).empty
