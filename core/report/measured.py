"""What a report holds of calibrations that were measured: before, by construction, and after as scored, held out."""

from collections.abc import Iterator, Sequence

import pandas as pd

from core.analysis.questions.base import Column
from core.analysis.questions.columns import EVALUATOR
from core.analysis.slices import Slice
from core.analysis.table import ScoreTable
from core.calibration.effect import before_after
from core.calibration.fit import Fit, fit
from core.calibration.measured import Measured, measured, settled, unfit
from core.calibration.measurement import Measurement, read_all
from core.calibration.questions import EPSILON, MEASURED_TABLE
from core.calibration.readings import EACH, UNIFORM
from core.errors import InvalidInput
from core.report.model import Missing, Table
from core.store.manifest import Run

WEIGHTS = (UNIFORM, EACH)
"""Weightings of the table: the one of tables 14 to 16, and w = 1 for every family."""

_TITLE = "Calibration as measured: sensitivity before, by construction and as scored, held out"
_NOTE = (
    "Reading orbit, over the families that were measured: the evaluator scored the variants and their own variants, so "
    "that nothing rests on the formula. λ is chosen on the dev split by what was measured, where the measurement holds "
    "it. Sensitivity: median over items of an item's median |Δ|, in standard deviations of the clean scores of the "
    "same side, of the held-out half of the sources; 95 % intervals, of the ratio by bootstrap samples of both sides. "
    "By construction: the same ratio as the formula says it (tables 14 to 16). Clean SD: what is left of the spread "
    "of the clean scores, that much of a fall would be no gain."
)
_COLUMNS = (
    EVALUATOR, Column("weights", "Weights", kind="text"), Column("name", "Family", kind="text"),
    Column("n", "n", digits=0), Column("strength", "λ"), Column("whence", "λ is", kind="text"),
    Column("before", "Median |Δ|, SD, held out, before → after [95 % CI]", digits=4, low="before_low",
           high="before_high", to="after"),
    Column("ratio", "Measured / before [95 % CI]", digits=3, low="ratio_low", high="ratio_high"),
    Column("constructed", "By construction / before", digits=3), Column("spread", "Clean SD, %", digits=1),
    Column("made", "Measured on", kind="text"), Column("note", "Remark", kind="text"),
)  # fmt: skip


def measured_tables(table: ScoreTable, runs: Sequence[Run]) -> tuple[list[Table], list[Missing]]:
    """The table of every stored measurement of the reference corpus' run, or why there is none.

    Args:
        table: the scores.
        runs: of the scope.

    Returns:
        One table, a row a measurement, weighting and family, or none; and what is missing. Of several measurements of
        one evaluator and the same families the latest that serves is taken.
    """
    run = next((each for each in runs if each.id == dict(table.scope.runs)[table.reference]), None)
    files, said = read_all(run.id) if run is not None else ((), ())
    frames, told, known = list[pd.DataFrame](), list(said), set[tuple[str, tuple[str, ...]]]()
    for file in (each for each in files if each.evaluator in table.evaluators):
        of = (file.evaluator, tuple(sorted(file.families)))
        if run is None or of in known:
            continue
        try:
            frames += list(_rows_of(table, run, file))
        except InvalidInput as error:
            told.append(f"A measurement of {file.made} is not shown. {error}")
            continue
        known.add(of)
    if frames:
        return [Table(MEASURED_TABLE, _TITLE, _NOTE, pd.concat(frames, ignore_index=True), _COLUMNS)], []
    nothing = "no calibration of these runs was measured; the page Calibration and calibrate --measure do it"
    return [], [Missing(MEASURED_TABLE, "", " ".join(told) or nothing)]


def _rows_of(table: ScoreTable, run: Run, file: Measurement) -> Iterator[pd.DataFrame]:
    """Rows of a measurement under every weighting.

    Raises:
        InvalidInput: if it serves no calibration of these scores.
    """
    view = table.only(table.reference).view(Slice(families=tuple(file.families)))
    for weights in WEIGHTS:
        found = fit(view, evaluator=file.evaluator, reading="orbit", weights=weights, epsilon=EPSILON)
        if why := unfit(found, file, run, subject=table.scope.subject, language=table.scope.language):
            raise InvalidInput(why)
        yield _rows(found, measured(found, file)).assign(
            evaluator=file.evaluator, corpus=table.reference, weights=weights, made=file.made
        )


def _rows(found: Fit, own: Measured) -> pd.DataFrame:
    """Each family before and after at the λ that is chosen, and what the formula says of it."""
    usual = settled(found, own)
    asked = ("sensitivity",)
    scored = own.effect(usual.strength, measures=asked)
    built = before_after(found.scores, found.terms, usual.strength, found.others, measures=asked)
    of_formula = built.set_index("name")["ratio"]
    at = own.sweep.lambdas.index(usual.strength)
    return scored.drop(columns=["measure", "gap"]).assign(
        constructed=scored["name"].map(of_formula), strength=usual.strength, whence=usual.whence,
        spread=100 * own.sweep.spread[at] / own.sweep.spread[0],
        note=" ".join(filter(None, (usual.choice.note, *own.caveats(usual.strength)))),
    )  # fmt: skip
