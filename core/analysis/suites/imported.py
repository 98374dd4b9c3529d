"""Scores that were made elsewhere, held to a suite: what the command and the page do with a file of them."""

from pathlib import Path

from core.analysis.suites.result import Reached, reached
from core.corpora.score_files import read_scores
from core.corpora.suites import Suite
from core.corpora.suites.fleur_scores import read_text_scores
from core.evaluators.imported import stored_name
from core.scoring.suite_pairs import imported_scores, scores_of_text


def reached_elsewhere(suite: Suite, path: Path, *, column: str = "", called: str = "") -> tuple[Reached, list[str]]:
    """What imported scores reach on a suite.

    Args:
        suite: whose captions were scored.
        path: a file as for import-scores, by the ids of ``--export-pairs``; or FLEUR's text, ``.txt``.
        column: of the scores, where the file has several.
        called: the metric's name; empty: the name of the file.

    Returns:
        What they reach, and one sentence for each caption without a score or with several.

    Raises:
        InvalidInput: if the file cannot be used, or is of another suite.
    """
    name = stored_name(called or path.stem)
    if path.suffix.lower() == ".txt":
        text = read_text_scores(path, column=column)
        told, found = text.told, scores_of_text(suite, text)
    else:
        scores = read_scores(path, column=column)
        told, found = scores.told, imported_scores(suite, scores)
    return reached(suite, found, evaluator=name, made_with=f"imported from {told}"), list(found.errors)
