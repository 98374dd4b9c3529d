"""A suite, an evaluator's scores of it and the stored result, for the tests of every room."""

import json
from pathlib import Path

import numpy as np

from core.corpora.suites.suite_files import read_suite
from core.features.suites.suite_result import Reached, SuiteResult, added, reached, result_of
from core.scoring.suite_scores import SuiteScores

GROUPS = ("HC", "HI", "HM", "MM")


def pascal_file(folder: Path) -> Path:
    """Pascal-50S with four groups of twelve pairs."""
    folder.mkdir(parents=True, exist_ok=True)
    held = {
        group: [
            {
                "image": f"{group}{number}.jpg",
                "captions": [f"right {number}", f"wrong {number}"],
                "label": 0,
                "references": [f"reference {each}" for each in range(6)],
            }
            for number in range(12)
        ]
        for group in GROUPS
    }
    path = folder / "pascal_50s.json"
    path.write_text(json.dumps(held))
    return path


def pascal_result(folder: Path, *evaluators: str) -> SuiteResult:
    """Evaluators on :func:`pascal_file`: right in three of four pairs, with a tie in every group but one."""
    path = pascal_file(folder)
    suite = read_suite(path)
    preferred = np.array([1.0, 1.0, 1.0, 0.0] * 12)
    preferred[[0, 12, 24]] = 0.5
    scores = SuiteScores(np.array([]), preferred, np.full(48, 0.5), ())
    return added(
        result_of(suite, [path]),
        *(reached(suite, scores, evaluator=name, made_with="fingerprint 1") for name in evaluators),
    )


def calibrated(entry: Reached) -> Reached:
    """The same numbers with a calibrator."""
    return entry.model_copy(update={"calibrated": "c.json, orbit, λ = 0.5"})
