"""A leaderboard that a stored run holds already: its audit scored captions of several kinds on the same pictures."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from core.features.systems.board_scores import COLUMNS, by_one_source
from core.features.systems.system_file import Leaderboard
from core.probes.base import ENGLISH, HUMAN, IDENTITY, TEMPLATE
from core.settings import results_dir
from core.store.run_files import Run
from core.store.store import Store

KINDS = {
    "Human caption": (HUMAN, IDENTITY),
    "Template caption": (TEMPLATE, IDENTITY),
    "Human caption, padded": (HUMAN, "hollow-tail"),
    "Template caption, negated": (TEMPLATE, "negation"),
}
"""System -> whose caption it has of every picture, and the probe that edited that caption; IDENTITY: none did."""

_ROWS = """
    select s.item, coalesce(i.item_group, i.pixels_sha256) as source, i.second_group, s.subject, s.caption,
           s.evaluator, s.family, s.probe, s.score
    from scores s join items i using (run, corpus, item)
    where s.run = $run and s.language = $language and s.rank = 0
          and (s.expectation = 'invariant' or list_contains($kinds, s.probe))
    order by s.item, s.evaluator, s.probe
"""


def example_run(runs: Iterable[Run]) -> Run | None:
    """The complete run of those that ship whose audit holds captions by people and by template, of most pictures."""
    fitting = [
        run
        for run in runs
        if run.path.parent == results_dir()
        and run.status == "complete"
        and {HUMAN, TEMPLATE} <= {str(each) for each in run.manifest.get("subjects") or ()}
    ]
    return max(fitting, key=lambda run: (int(run.manifest["counts"].get("items_kept") or 0), run.id), default=None)


def board_of_run(store: Store, run: Run) -> Leaderboard:
    """Enter the KINDS of captions that a run of one corpus scored as systems, with the edits of the picture that left
    them as is.

    Only unedited captions were scored on edited pictures. Tokens and named objects are in no run, so they are missing.
    """
    held = store.query(
        _ROWS, {"run": run.id, "language": ENGLISH, "kinds": sorted({probe for _, probe in KINDS.values()})}
    )
    parts = []
    for system, (subject, probe) in KINDS.items():
        own = held[held["subject"] == subject]
        unedited = own[own["probe"] == probe].assign(family="", probe="")
        parts.append(unedited.assign(system=system))
        if probe == IDENTITY:
            said = unedited.drop_duplicates("item").set_index("item")["caption"]
            edited = own[~own["probe"].isin({each for _, each in KINDS.values()})]
            parts.append(edited[edited["caption"] == edited["item"].map(said)].assign(system=system))
    rows = pd.concat(parts, ignore_index=True).assign(place=0, cut=None)
    rows[["tokens", "clip_tokens", "named", "invented"]] = np.nan
    told, pictures = run.manifest, rows.drop_duplicates("item")
    there = set(rows["evaluator"])
    prints = {
        str(each["name"]): str((each.get("fingerprint") or {}).get("key", ""))
        for each in told.get("evaluators") or ()
        if each.get("name") in there
    }
    return Leaderboard(
        run.id,
        rows[list(COLUMNS)],
        str(told["corpus"].get("name", "")),
        prints,
        by_one_source(list(pictures["source"]), list(pictures["second_group"].fillna(pictures["source"]))),
        seed=int(told.get("seed") or 0),
        created=str(told.get("created", "")),
        version=str(told.get("invariscope", "")),
    )
