"""What ``calibrate`` says of a calibration: before and after, held out, by construction and measured."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from core.commands._shared import Code, complain, note, print_json, table
from core.errors import ScoringStopped

if TYPE_CHECKING:
    import pandas as pd

    from core.audit.run import Progress
    from core.calibration.fit import Fit
    from core.calibration.measured import Measured, Settled
    from core.calibration.measuring import Asked
    from core.calibration.reference_order import ReferenceOrder


def tell(
    found: "Fit",
    usual: "Settled",
    strength: float,
    changed: "pd.DataFrame",
    own: "Measured | None",
    order: "ReferenceOrder | None",
    *,
    as_json: bool,
) -> None:
    """Print what a strength changes on the held-out split.

    Args:
        found: the calibration.
        usual: its strength where none is named, and where that comes from.
        strength: λ.
        changed: of :func:`core.calibration.effect.before_after`.
        own: the calibration as measured; None where it was not.
        order: H from references; None where it is held to none.
        as_json: for a script.
    """
    scored = None if own is None else own.effect(strength)
    caveats = [*found.caveats(strength, measured=own is not None), *(() if own is None else own.caveats(strength))]
    if as_json:
        about = {
            "evaluator": found.evaluator,
            "reading": found.terms.reading,
            "strength": strength,
            "chosen": usual.chosen,
            "whence": usual.whence,
            "note": usual.choice.note,
            "oracle": found.oracle,
            "caveats": caveats,
            "basis": found.basis,
            "weights": dict(found.terms.weights),
            "n_dev": found.n_dev,
            "n_test": found.n_test,
            "before_after": changed.to_dict("records"),
        }
        if order is not None:
            about["references"] = {"n": order.n, "items": order.items, "told": order.told}
        if own is not None and scored is not None:
            about["measured"] = {
                "images": own.file.images,
                "made": own.file.made,
                "before_after": scored.to_dict("records"),
            }
        print_json(about)
        return
    for sentence in (*caveats, *(order.told if order is not None else ())):
        note(sentence)
    heading = f"{found.evaluator}, reading {found.terms.reading}, λ = {strength:g}, held-out split"
    if own is None or scored is None:
        _whole(changed, f"{heading}, {found.basis}")
    else:
        _beside(changed, scored, f"{heading}, measured on {own.file.images:,} pictures")
    said = f"{usual.told}; {found.n_dev} dev items, {found.n_test} held out"
    note(f"{said}; {usual.choice.note}" if usual.choice.note else said)


def measuring(
    asked: "Asked", *, root: Path | None, options: Mapping[str, str], device: str | None, progress_file: Path | None
) -> None:
    """Score what a calibration needs, telling how far it is; Ctrl-C keeps what was finished."""
    from core.audit.run import RunStopped
    from core.calibration.measuring import measure
    from core.commands._progress import progress
    from core.evaluators.pool import Pool
    from core.jobs.progress import ProgressFile

    tell_file = None if progress_file is None else ProgressFile(progress_file)
    ended: list[Callable[[], None]] = []
    try:
        with progress("measure", unit="pictures") as update:

            def report(at: "Progress") -> None:
                update(at.done, at.total, at.eta_s, at.doing)
                if tell_file is not None:
                    if at.phase == "complete":  # said once the result is on the disk
                        ended.append(lambda: tell_file(at))
                    else:
                        tell_file(at)

            _, path = measure(asked, root=root, options=options, pool=Pool(device=device), progress=report)
    except (RunStopped, KeyboardInterrupt) as error:
        why = error.__cause__ if isinstance(error.__cause__, ScoringStopped) else "interrupted"
        complain(f"{why}; the same command goes on where it stopped")
        raise typer.Exit(Code.INTERRUPTED) from None
    for say in ended:
        say()
    note(f"wrote {path}")


def _whole(changed: "pd.DataFrame", title: str) -> None:
    rows = [
        (
            row["measure"],
            row["name"],
            "" if row["gap"] != row["gap"] else f"{row['gap']:g}",
            *_sides(row),
            _ratio(row),
            row["n"],
        )
        for row in changed.to_dict("records")
    ]
    columns = ("measure", "of", "gap", "before (95 % CI)", "after (95 % CI)", "after / before", "n")
    table(columns, rows, title=title)


def _beside(changed: "pd.DataFrame", scored: "pd.DataFrame", title: str) -> None:
    """Measured beside what holds by construction, each over the spread of its own side's clean scores."""
    from core.report.document import number

    told = {(row["measure"], row["name"]): row for row in changed.to_dict("records") if row["gap"] != row["gap"]}
    rows = [
        (
            row["measure"],
            row["name"],
            _sides(row)[0],
            number(told[row["measure"], row["name"]]["after"], digits=4),
            _sides(row)[1],
            _ratio(row),
            row["n"],
        )
        for row in scored.to_dict("records")
        if row["gap"] != row["gap"]
    ]
    columns = (
        "measure",
        "of",
        "before (95 % CI)",
        "by construction",
        "measured (95 % CI)",
        "after / before",
        "n",
    )
    table(columns, rows, title=title)


def _sides(row: Mapping[Any, Any]) -> list[str]:
    from core.report.document import number

    sides = []
    for side in ("before", "after"):
        value, low, high = (number(row[name], digits=4) for name in (side, f"{side}_low", f"{side}_high"))
        sides.append(f"{value} ({low} to {high})" if row[f"{side}_low"] == row[f"{side}_low"] else value)
    return sides


def _ratio(row: Mapping[Any, Any]) -> str:
    if row["ratio"] != row["ratio"]:
        return ""
    ends = f" ({row['ratio_low']:.3f} to {row['ratio_high']:.3f})" if row["ratio_low"] == row["ratio_low"] else ""
    return f"{row['ratio']:.3f}{ends}"
