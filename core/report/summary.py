"""What the paper asks for beside its numbered tables: every family at once, agreement, the noise floor, the rejects."""

import json
from collections.abc import Mapping, Sequence
from itertools import combinations

import pandas as pd

from core.analysis.rank_agreement import rank_agreement
from core.audit.manifest import Run
from core.audit.store import Store
from core.report.cube import Cube
from core.report.framing import controls
from core.report.model import Column, Missing, Part, Table
from core.report.shifts import ABSOLUTE, CORPUS, COUNT, EVALUATOR, HOW, PERCENT, TESTS, contrasts, corpora

_REJECTIONS = """
select corpus, coalesce(probe, '') as probe, code, count(*) as n from rejections
where list_contains($runs, run) group by all order by corpus, n desc, probe, code
"""


def summary(cube: Cube, runs: Sequence[Run], store: Store) -> Part:
    """Tables without a number in the paper."""
    families = _families(cube)
    tables = [_evaluators(runs), families, _agreement(cube), _controls(cube), _rejections(store, runs)]
    missing = [] if len(cube.evaluators) > 1 else [
        Missing("S11", "3.3, rank agreement", "it compares evaluators and the runs hold one; audit a second one")
    ]  # fmt: skip
    return Part(tuple(each for each in tables if len(each.frame)), missing=tuple(missing))


def _families(cube: Cube) -> Table:
    names = sorted(map(str, cube.probes["family"].dropna().unique()))
    groups = {name: cube.chosen(family=name, control=False) or cube.chosen(family=name) for name in names}
    frame = contrasts(cube, {name: probes for name, probes in groups.items() if probes})
    if len(frame):
        axis = {name: str(cube.probes.loc[probes[0], "axis"]) for name, probes in groups.items() if probes}
        frame["axis"] = frame["group"].map(axis)
        null = frame[frame["axis"] == "null"].set_index(["evaluator", "corpus"])["median_abs_percent"]
        frame["null_band"] = [
            null.get((row["evaluator"], row["corpus"]), float("nan")) for _, row in frame.iterrows()
        ]  # fmt: skip
        frame = frame.sort_values(["evaluator", "corpus", "axis", "group"], ignore_index=True)
    columns = (EVALUATOR, CORPUS, Column("axis", "Axis", kind="text"), Column("group", "Family", kind="text"), COUNT,
               PERCENT, ABSOLUTE, Column("null_band", "Null band"), *TESTS)  # fmt: skip
    note = (f"{HOW} Null band: the median |%Δ| under edits that nobody can see, the evaluator's noise floor. Families "
            "of the axis null and blur are controls.")  # fmt: skip
    return Table("S1", "Every family: how far scores move although the meaning does not", note, frame, columns)


def _agreement(cube: Cube) -> Table:
    records = []
    for one, other in combinations(cube.evaluators, 2):
        for corpus, keep in corpora(cube, pooled=True):
            found = rank_agreement(cube.clean(one)[keep], cube.clean(other)[keep])
            records.append(
                {"evaluator": one, "other": other, "corpus": corpus, "n_items": found.n, "spearman": found.spearman,
                 "kendall_b": found.kendall_b, "kendall_c": found.kendall_c, "p": found.kendall_p, "note": found.note}
            )  # fmt: skip
    columns = (EVALUATOR, Column("other", "and", kind="text"), CORPUS, COUNT, Column("spearman", "Spearman’s ρ"),
               Column("kendall_b", "Kendall’s τ_b"), Column("kendall_c", "τ_c"),
               Column("p", "p (τ = 0)", kind="p"))  # fmt: skip
    note = "Rank correlations of the clean scores of the same items; corpus “all”: the items of every corpus together."
    return Table("S11", "Do the evaluators order the items alike?", note, pd.DataFrame(records), columns, "3.3")


def _controls(cube: Cube) -> Table:
    frame = controls(cube)
    columns = (EVALUATOR, CORPUS, Column("group", "Control", kind="text"), COUNT, PERCENT, *TESTS)
    return Table("S12", "Neutral words: how far the controls themselves move from the bare caption", HOW, frame,
                 columns, "A.3")  # fmt: skip


def _rejections(store: Store, runs: Sequence[Run]) -> Table:
    frame = store.query(_REJECTIONS, {"runs": [run.id for run in runs]})
    frame["probe"] = frame["probe"].replace("", "the item itself")
    columns = (CORPUS, Column("probe", "Probe", kind="text"), Column("code", "Reason", kind="text"),
               Column("n", "n items", digits=0))  # fmt: skip
    note = "Items and pairs that were left out, with the reason's short name; python -m core probes explains them."
    return Table("S13", "What was left out, and why", note, frame, columns, "A.3")


def _evaluators(runs: Sequence[Run]) -> Table:
    records = [
        {"run": run.id, "corpus": str(run.manifest["corpus"].get("name", "")), "evaluator": each.get("name"),
         "weights": _of(each, "fingerprint", "weights")[:24], "precision": _of(each, "fingerprint", "precision"),
         "fingerprint": _of(each, "fingerprint", "key"),
         "versions": json.dumps(dict(each.get("fingerprint", {}).get("versions", {})), sort_keys=True)}
        for run in runs for each in listed(run)
    ]  # fmt: skip
    columns = (Column("run", "Run", kind="text"), CORPUS, EVALUATOR, Column("fingerprint", "Fingerprint", kind="text"),
               Column("weights", "Weights (sha256, first digits)", kind="text"),
               Column("precision", "Precision", kind="text"))  # fmt: skip
    note = "The fingerprint covers weights, preprocessing, precision, library versions and settings."
    return Table("S0", "Evaluators", note, pd.DataFrame(records), columns)


def listed(run: Run) -> list[Mapping]:
    """Evaluators of a run, as its manifest tells; what is no mapping is left out."""
    entries = run.manifest.get("evaluators")
    return [each for each in entries if isinstance(each, dict)] if isinstance(entries, list) else []


def _of(entry: Mapping, *path: str) -> str:
    found: object = entry
    for name in path:
        found = found.get(name, "") if isinstance(found, Mapping) else ""
    return str(found)
