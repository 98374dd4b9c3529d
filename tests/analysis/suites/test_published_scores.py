"""Numbers that FLEUR's authors print, from the scores of single captions that they publish, where they are here."""

import os
from pathlib import Path

import numpy as np
import pytest

from core.analysis.preferences import taus
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
