"""A run of imported scores on the pages: shown like any other, with its origin."""

import json
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.audit.export import export_pairs
from core.audit.imports import Imported, import_scores
from core.corpora.score_files import read_scores
from core.settings import runs_dir
from core.store.run_files import Run
from tests.audit.squares import build_corpus
from tests.pages.opening import (
    CALIBRATION,
    COMPARE,
    CONTRAST,
    FAILURES,
    FLIP_RISK,
    GEOMETRY,
    OVERVIEW,
    RESULTS,
    UNFOLDED,
    Open,
    said,
)
from tests.plans import make_plan


@pytest.fixture
def imported(open_page: Open, tmp_path: Path) -> Run:
    probes = ["vflip", "rotation", "null", "cultural", "jumble"]
    folder = export_pairs(
        make_plan(build_corpus(tmp_path / "corpus", 12), evaluators=None, probes=probes), tmp_path / "p"
    )
    ids = [json.loads(line)["id"] for line in (folder.path / "pairs.jsonl").read_text().splitlines()]
    values = np.random.default_rng(0).uniform(0.3, 0.7, len(ids))
    lines = [f"{key},{value}" for key, value in zip(ids, values, strict=True)]
    (tmp_path / "clip.csv").write_text("\n".join(["id,score", *lines[:-1]]))
    scores = read_scores(tmp_path / "clip.csv")
    told = Imported("clipscore", "ViT-B/32 <b>, fp32", (0.0, 1.0), scores)
    return import_scores(folder, [told], runs_dir(), run_id="imported-1")


def everything(app: AppTest) -> str:
    """What the page says, its tables and its choices."""
    tables = [each.value.to_csv() for each in (*app.dataframe, *app.table)]
    return "\n".join([said(app), *tables, *(str(each.options) for each in (*app.selectbox, *app.multiselect))])


def test_every_page_that_shows_stored_scores_opens_and_names_them_as_imported(open_page: Open, imported: Run) -> None:
    assert imported.manifest["counts"]["scores_null"]
    for page in (OVERVIEW, RESULTS, FAILURES, CALIBRATION, GEOMETRY, COMPARE, FLIP_RISK, CONTRAST):
        app = open_page(page)
        assert not app.exception, page
        assert "clipscore@imported" in everything(app), page


def test_the_overview_says_beside_the_name_where_the_scores_are_from(open_page: Open, imported: Run) -> None:
    shown = said(open_page(OVERVIEW, **UNFOLDED))
    (entry,) = imported.manifest["evaluators"]
    assert f"Scores imported from clip.csv (sha256 {entry['imported']['sha256'][:12]}" in shown


def test_results_tell_the_file_and_what_was_told_of_the_metric(open_page: Open, imported: Run) -> None:
    found = everything(open_page(RESULTS, question="summary", part="runs"))
    assert "scores imported from clip.csv" in found
    assert "ViT-B/32 <b>, fp32" in found
