"""Numbers that FLEUR's authors print, from the scores of single captions that they publish, where they are here."""

import os
from pathlib import Path

import numpy as np
import pytest

from core.analysis.preferences import taus
from core.analysis.suites.measures import suite_table
from core.corpora.suites import TAU_C, read_suite
from core.corpora.suites.fleur_scores import read_text_scores
from core.scoring.suite_pairs import scores_of_text


@pytest.fixture(scope="module")
def fleur() -> Path:
    beside = Path(__file__).resolve().parents[4] / "shared" / "data" / "FLEUR"
    root = Path(os.environ.get("INVARISCOPE_FLEUR") or beside)
    if not (root / "results" / "fleur_flickr8k_expert.txt").is_file():
        pytest.skip(f"no checkout of FLEUR at {root}; set INVARISCOPE_FLEUR to one")
    return root


def test_flickr8k_expert_has_the_authors_tau_c(fleur: Path) -> None:
    suite = read_suite(fleur / "annotations" / "flickr8k.json")
    assert (len(suite.rated), suite.most_references) == (16_992, 5)
    scores = scores_of_text(suite, read_text_scores(fleur / "results" / "fleur_flickr8k_expert.txt"))
    assert not scores.errors
    found = taus(scores.rated, np.array([each.rating for each in suite.rated]),
                 [each.image for each in suite.rated], resamples=10)  # fmt: skip
    assert found[TAU_C].estimate == pytest.approx(53.0, abs=0.05)  # FLEUR, Table 1


DOCUMENTED = {
    ("flickr8k.json", "fleur_flickr8k_expert", "our"): {
        "tau_c": 53.0, "tau_b": 52.7, "tau_c_averaged": 56.0,
    },
    ("flickr8k.json", "fleur_flickr8k_expert", "model"): {"tau_c": 34.9, "tau_b": 56.1},
    ("pascal_50s.json", "fleur_pascal", "our"): {"accuracy": 83.5, "accuracy_strict": 83.4},
    ("pascal_50s.json", "fleur_pascal", "model"): {"accuracy": 80.1, "accuracy_strict": 65.1},
}  # fmt: skip
"""The numbers of docs/suites.md, by the authors' annotations, their results and the column of scores."""


@pytest.mark.parametrize(("annotations", "results", "column"), DOCUMENTED)
def test_numbers_of_the_docs_are_those_of_the_published_scores(
    fleur: Path, tmp_path: Path, annotations: str, results: str, column: str
) -> None:
    suite = read_suite(fleur / "annotations" / annotations)
    held = tmp_path / "scores.txt"
    held.write_bytes(b"".join(path.read_bytes() for path in sorted((fleur / "results").glob(f"{results}*.txt"))))
    table = suite_table(suite, scores_of_text(suite, read_text_scores(held, column=column)))
    found = table[table["group"] == ""].set_index("measure")["value"]
    wanted = DOCUMENTED[annotations, results, column]
    assert {name: round(found[name], 1) for name in wanted} == pytest.approx(wanted, abs=0.051)
