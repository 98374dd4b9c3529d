"""What two runs were made with that is not the same."""

from pathlib import Path

from core.features.compare.two_sides import manifest_differences
from core.store.run_files import Run


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
