"""Numbers that are printed of FLEUR, from the scores of single captions that its authors publish, where they are here.

Flickr8k-Expert and Pascal-50S need files of a megabyte each; the others are large, and each test is skipped by itself.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from core.analysis.preferences import correlations
from core.corpora.score_files import read_text_scores
from core.corpora.suites.model import TAU_B, TAU_C, Suite
from core.corpora.suites.suite_files import read_suite
from core.features.suites.suite_measures import STRICT, suite_table
from core.features.suites.suite_result import scores_of_text
from core.scoring.suite_scores import SuiteScores

SMALLEST = 10_000
"""Bytes; what is smaller is a pointer to a large file."""


@pytest.fixture(scope="module")
def fleur() -> Path:
    beside = Path(__file__).resolve().parents[4] / "shared" / "data" / "FLEUR"
    root = Path(os.environ.get("INVARISCOPE_FLEUR") or beside)
    if not (root / "results" / "fleur_flickr8k_expert.txt").is_file():
        pytest.skip(f"no checkout of FLEUR at {root}; set INVARISCOPE_FLEUR to one")
    return root


def published(fleur: Path, annotations: str, results: str) -> tuple[Suite, SuiteScores]:
    """A suite of the checkout and the authors' scores for it."""
    for file in (fleur / "annotations" / annotations, fleur / "results" / results):
        if not file.is_file() or file.stat().st_size < SMALLEST:
            pytest.skip(f"no {file} (or a pointer to it): the publisher keeps it in Git's store of large files")
    suite = read_suite(fleur / "annotations" / annotations)
    return suite, scores_of_text(suite, read_text_scores(fleur / "results" / results))


def test_flickr8k_expert_has_the_authors_tau_c(fleur: Path) -> None:
    suite = read_suite(fleur / "annotations" / "flickr8k.json")
    assert (len(suite.rated), suite.most_references) == (16_992, 5)
    scores = scores_of_text(suite, read_text_scores(fleur / "results" / "fleur_flickr8k_expert.txt"))
    assert not scores.errors
    found = correlations(
        scores.rated,
        np.array([each.rating for each in suite.rated]),
        [each.image for each in suite.rated],
        resamples=10,
    )
    assert found[TAU_C].estimate == pytest.approx(53.0, abs=0.05)  # FLEUR, Table 1


@pytest.mark.parametrize(
    ("annotations", "results", "measure", "printed"),
    [
        ("crowdflower_flickr8k.json", "fleur_flickr8k_crowdflower.txt", TAU_B, 38.6),
        ("composite.json", "fleur_composite.txt", TAU_C, 63.5),
    ],
)
def test_other_suites_of_ratings_have_the_tau_that_is_printed(
    fleur: Path, annotations: str, results: str, measure: str, printed: float
) -> None:
    suite, scores = published(fleur, annotations, results)
    assert (suite.convention, scores.errors) == (measure, ())
    found = correlations(
        scores.rated,
        np.array([each.rating for each in suite.rated]),
        [each.image for each in suite.rated],
        resamples=10,
    )
    assert found[measure].estimate == pytest.approx(printed, abs=0.05)  # PAC-S++, Table 5


def test_foil_has_the_accuracy_that_the_authors_lines_give(fleur: Path) -> None:
    suite, scores = published(fleur, "foil.json", "fleur_foil.txt")
    table = suite_table(suite, scores)
    (found,) = table.loc[(table["group"] == "") & (table["measure"] == STRICT), "value"]
    given: dict[tuple[str, str], float] = {}
    for block in (fleur / "results" / "fleur_foil.txt").read_text().split("image file : ")[1:]:
        lines = block.splitlines()
        told = dict(line.split(" : ", 1) for line in lines[1:] if " : " in line)
        given.setdefault((lines[0].strip(), " ".join(told["caption"].split())), float(told["our score"]))
    right = []
    for entries in json.loads((fleur / "annotations" / "foil.json").read_text()).values():
        for entry in entries:
            by_caption = [given[entry["image"], " ".join(each.split())] for each in entry["captions"]]
            right.append(by_caption[entry["label"]] > by_caption[1 - entry["label"]])
    assert len(suite.compared) == len(right)
    assert found == pytest.approx(100 * np.mean(right))


DOCUMENTED = {
    ("flickr8k.json", "fleur_flickr8k_expert", "our"): {
        "tau_c": 53.0,
        "tau_b": 52.7,
        "tau_c_averaged": 56.0,
    },
    ("flickr8k.json", "fleur_flickr8k_expert", "model"): {"tau_c": 34.9, "tau_b": 56.1},
    ("pascal_50s.json", "fleur_pascal", "our"): {"accuracy": 83.5, "accuracy_strict": 83.4},
    ("pascal_50s.json", "fleur_pascal", "model"): {"accuracy": 80.1, "accuracy_strict": 65.1},
}
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
