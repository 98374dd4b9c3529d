"""Runs for the tests of the scope: two of one corpus, two subjects, two corpora, two evaluators."""

from pathlib import Path
from typing import Any

import numpy as np

from core.settings import runs_dir
from tests.analysis.made_runs import PROBES, scores_of, write_run

PICTURE = ("identity", "vflip", "rotate-5", "rotate+5", "null:shift1", "base", "gender:plain", "gender:boy")

RUNS = {"first": 14, "second": 12, "tiles-1": 11}
"""Run -> its items: ``first`` and ``second`` are of corpus ``squares``, ``tiles-1`` of corpus ``tiles``."""


def write_runs() -> None:
    """Write the runs among the user's own.

    ``first`` holds evaluators ``ant`` and ``bee`` under the template and ``ant`` under the human caption, ``second``
    ``ant`` alone, ``tiles-1`` both under the human caption alone, and no word.
    """
    _write("first", "squares", [("ant", "template"), ("bee", "template"), ("ant", "human")])
    _write("second", "squares", [("ant", "template")])
    _write("tiles-1", "tiles", [("ant", "human"), ("bee", "human")])


def _write(run: str, corpus: str, sides: list[tuple[str, str]]) -> Path:
    rng = np.random.default_rng(len(run))
    probes = [name for name in PICTURE if corpus == "squares" or name != "gender:boy"]
    rows: list[dict[str, Any]] = []
    for evaluator, subject in sides:
        told = {"corpus": corpus, "evaluator": evaluator, "subject": subject}
        rows += scores_of(probes, RUNS[run], lambda probe, place: 0.4 + 0.2 * rng.random(), **told)
    captions = {name: f"There is a {PROBES[name].get('modifier', '')} cat.".replace("  ", " ") for name in PICTURE}
    rows = [{**row, "caption": captions[row["probe"]], "coverage": 0.5} for row in rows]
    evaluators = [{"name": name} for name in dict.fromkeys(evaluator for evaluator, _ in sides)]
    return write_run(
        runs_dir() / run,
        rows,
        corpus={"name": corpus, "fingerprint": "0" * 64},
        evaluators=evaluators,
        counts={"items_kept": RUNS[run], "items_rejected": 0, "pairs": len(rows), "scores_null": 0, "rows": len(rows)},
    )
