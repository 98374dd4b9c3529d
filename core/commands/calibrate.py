"""``calibrate``: learn a calibration from a run, hold it out, write it; apply one to a run's scores."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from core.commands._shared import exit_codes, listed, note, print_json, table
from core.errors import InvalidInput

if TYPE_CHECKING:
    import pandas as pd

    from core.analysis.table import ScoreTable
    from core.calibration.fit import Fit

EPILOG = exit_codes(ok="written or shown")


class _Learning(TyperGroup):
    """``calibrate RUN …`` is ``calibrate learn RUN …``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the usual command first where none is named."""
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = ["learn", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_Learning,
    help="Learn a calibration from a run (calibrate RUN …), or apply one to a run's scores.",
    no_args_is_help=True,
    epilog=EPILOG,
)


@app.command(epilog=EPILOG, short_help="Learn from a run, choose λ*, report on the held-out half; the usual command.")
def learn(
    run: Annotated[str, typer.Argument(help="Id from 'runs', or path of a run folder or a .duckdb file.")],
    evaluator: Annotated[str, typer.Option(help="Whose scores are calibrated.")],
    reading: Annotated[str, typer.Option(help="shift, orbit, absolute, ridge or quantile.")] = "shift",
    weights: Annotated[
        str, typer.Option(help="Of orbit and absolute: uniform, sensitivity, each, or oracle (an upper bound).")
    ] = "uniform",
    epsilon: Annotated[float, typer.Option(help="Correlation with each H that may be lost.", min=0)] = 0.01,
    against: Annotated[
        list[str] | None, typer.Option(help="H: evaluators, or 'human ratings'. Default: everything else there is.")
    ] = None,
    families: Annotated[list[str] | None, typer.Option(help="Families to calibrate for. Default: all.")] = None,
    strength: Annotated[float | None, typer.Option(help="Write this λ and not λ*.", min=0, max=1)] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Calibrator to write, a .json file.")] = None,
    sweep: Annotated[Path | None, typer.Option(help="The whole sweep over λ to write, a .csv file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print before and after as JSON for a script.")] = False,
) -> None:
    """Learn a calibration on half of the images, choose λ* there, and report on the other half."""
    from core.analysis.slices import Slice
    from core.calibration.effect import before_after
    from core.calibration.file import calibrator
    from core.calibration.fit import fit, sweep_table
    from core.evaluators.calibrated import refusal
    from core.human.ratings import ratings
    from core.human.studies import list_studies
    from core.store.files import csv_text

    scores, keys = _scores(run)
    held_to = tuple(name for text in against or () for name in text.split(",")) or None
    view = scores.view(Slice(families=listed(families)))
    found = fit(
        view, evaluator=evaluator, reading=reading, weights=weights, epsilon=epsilon, against=held_to,
        ratings=ratings(list_studies()[0]),
    )  # fmt: skip
    chosen = found.choice.strength if strength is None else strength
    changed = before_after(found.scores, found.terms, chosen, found.others)
    _tell(found, chosen, changed, as_json=as_json)
    if output is not None:
        model = calibrator(found.terms, strength=chosen, evaluator=evaluator, fingerprint=keys.get(evaluator, ""))
        _write(output, model.model_dump_json(indent=2))
        if why := refusal(model):
            note(f"{output} is no evaluator: {why}. It serves 'calibrate apply' on a run's stored scores alone.")
    if sweep is not None:
        _write(sweep, csv_text(sweep_table(found, found.bands())))


@app.command("apply", epilog=EPILOG, short_help="Write a run's scores under a calibrator.")
def apply_(
    model: Annotated[Path, typer.Argument(help="Calibrator, a .json file.")],
    run: Annotated[str, typer.Argument(help="Id from 'runs', or path of a run folder or a .duckdb file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write: .csv or .parquet.")],
    name: Annotated[str | None, typer.Option(help="What the calibrated evaluator is called.")] = None,
) -> None:
    """Write the shifts of a run's calibrated families, with calibrated scores, as one more evaluator."""
    from core.analysis.slices import Slice
    from core.calibration.file import read_calibrator
    from core.calibration.rows import calibrated_shifts
    from core.store.files import csv_text

    known = read_calibrator(model)
    found = calibrated_shifts(_scores(run)[0].view(Slice(families=tuple(known.shifts))), known, name=name)
    kind = output.suffix.lower()
    if kind not in (".csv", ".parquet"):
        raise InvalidInput(f"{output} must end in .csv or .parquet")
    if kind == ".csv":
        _write(output, csv_text(found))
    else:
        from core.store.files import write_whole

        write_whole(output, lambda path: found.to_parquet(path, index=False))
        note(f"wrote {output}")
    note(f"{len(found):,} shifts of {found['evaluator'].iloc[0]}")


def _scores(run: str) -> "tuple[ScoreTable, dict[str, str]]":
    """Scores of the corpus in view of a run or published file, and its evaluators' fingerprints."""
    from core.analysis.reading import read_table
    from core.analysis.scope import narrow
    from core.commands.publish import place
    from core.store.store import Store

    with Store.open(place(run)) as store:
        scope = narrow(store)
        for sentence in scope.left_out:
            note(sentence)
        if len(scope.runs) > 1:
            note(f"corpus {scope.corpus} of {', '.join(corpus for corpus, _ in scope.runs)}")
        return read_table(store, scope.only()), _keys(store.runs())


def _keys(runs: Any) -> dict[str, str]:
    """Fingerprint of each evaluator, where the runs agree on it."""
    found: dict[str, set[str]] = {}
    for run in runs:
        for each in run.manifest.get("evaluators") or []:
            found.setdefault(str(each.get("name")), set()).add(str(each.get("fingerprint", {}).get("key", "")))
    return {name: keys.pop() for name, keys in found.items() if len(keys) == 1}


def _tell(found: "Fit", strength: float, changed: "pd.DataFrame", *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "evaluator": found.evaluator, "reading": found.terms.reading, "strength": strength,
                "chosen": found.choice.strength, "note": found.choice.note, "oracle": found.oracle,
                "caveats": list(found.caveats(strength)), "weights": dict(found.terms.weights),
                "n_dev": found.n_dev, "n_test": found.n_test,
                "before_after": changed.to_dict("records"),
            }
        )  # fmt: skip
        return
    for sentence in found.caveats(strength):
        note(sentence)
    shown = [
        (row["measure"], row["name"], "" if row["gap"] != row["gap"] else f"{row['gap']:g}", *_sides(row), row["n"])
        for row in changed.to_dict("records")
    ]
    title = f"{found.evaluator}, reading {found.terms.reading}, λ = {strength:g}, held-out split"
    table(("measure", "of", "gap", "before (95 % CI)", "after (95 % CI)", "n"), shown, title=title)
    said = f"λ* = {found.choice.strength:g} on {found.n_dev} dev items; {found.n_test} items held out"
    note(f"{said}; {found.choice.note}" if found.choice.note else said)


def _sides(row: dict[Any, Any]) -> list[str]:
    from core.report.cells import number

    sides = []
    for side in ("before", "after"):
        value, low, high = (number(row[name], digits=4) for name in (side, f"{side}_low", f"{side}_high"))
        sides.append(f"{value} ({low} to {high})" if row[f"{side}_low"] == row[f"{side}_low"] else value)
    return sides


def _write(path: Path, text: str) -> None:
    from core.store.files import write_whole

    write_whole(path, lambda place: _fill(place, text))
    note(f"wrote {path}")


def _fill(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
