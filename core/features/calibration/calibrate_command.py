"""``calibrate``: learn a calibration from a run, hold it out, write it; apply one to a run's scores."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from core.commands import _outputs
from core.commands._shared import Code, complain, exit_codes, key_values, listed, note, print_json, progress, show_table
from core.commands._shared import references as names
from core.errors import InvalidInput, ScoringStopped

if TYPE_CHECKING:
    import pandas as pd

    from core.analysis.table import ScoreTable
    from core.audit.run import Progress
    from core.features.calibration.fit import Fit
    from core.features.calibration.measured import Asked, Measured, Settled
    from core.features.calibration.reference_order import ReferenceOrder
    from core.features.human.studies import Study
    from core.store.run_files import Run


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
        list[str] | None,
        typer.Option(
            help="H: evaluators, 'human ratings', or bleu-4, rouge-l and cider-d beside the other captions of each "
            "image. Default: every other evaluator, and people."
        ),
    ] = None,
    families: Annotated[list[str] | None, typer.Option(help="Families to calibrate for. Default: all.")] = None,
    strength: Annotated[float | None, typer.Option(help="Take this λ and not the usual one.", min=0, max=1)] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Calibrator to write, a .json file; - for standard output.", callback=_outputs.text
        ),
    ] = None,
    sweep: Annotated[
        Path | None,
        typer.Option(
            help="The whole sweep over λ to write, a .csv file; - for standard output.", callback=_outputs.text
        ),
    ] = None,
    measure: Annotated[
        bool,
        typer.Option(
            "--measure",
            help="Score the variants of the variants: what orbit and absolute do, measured. The dev half chooses λ, "
            "the held-out half is reported. Called again, it goes on where it stopped.",
        ),
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Measure anew what was measured already.")] = False,
    subject: Annotated[
        str | None, typer.Option(help="Caption that was held: template or human. Default: the run's first.")
    ] = None,
    language: Annotated[str | None, typer.Option(help="Language of the captions, e.g. en.")] = None,
    root: Annotated[
        Path | None, typer.Option(help="Folder of the corpus to measure on, or with references. Default: the run's.")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="key=value of the corpus, as the audit had it, e.g. split=val2017.")
    ] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, mps. Default: the best there is.")] = None,
    progress_file: _outputs.ProgressFile = None,
    job: Annotated[str | None, typer.Option(hidden=True)] = None,  # noqa: ARG001  # names the process of a job
    as_json: Annotated[bool, typer.Option("--json", help="Print before and after as JSON for a script.")] = False,
) -> None:
    """Learn a calibration on half of the images, choose λ* there, and report on the other half.

    What orbit and absolute do to stored shifts follows from the formula, so these choose no λ. With --measure the
    evaluator scores the variants of every variant: λ* is chosen by the dev half of that, and both are shown.
    """
    from core.analysis.slices import Slice
    from core.evaluators.calibrated import refusal
    from core.features.calibration.effect import before_after
    from core.features.calibration.fit import fit, sweep_table
    from core.features.calibration.measured import Asked, find, refused, settled
    from core.features.calibration.readings import MEASURED, calibrator
    from core.features.calibration.reference_order import asked_for, reference_order
    from core.features.calibration.sweep import LAMBDAS
    from core.features.human.votes import ratings
    from core.store.text_files import csv_text

    if strength is not None and strength not in LAMBDAS:
        raise InvalidInput(f"--strength must be one of the strengths swept, 0, 0.05, …, 1, got {strength:g}")
    held_to = names(against) or None  # on commas alone: 'human ratings' holds a blank
    scores, keys, source, captions = _scores(run, subject, language)
    words = asked_for(held_to, scores.evaluators)
    order = None
    if words:
        order = reference_order(captions, scores.scope, source, words, root=root, options=key_values(option))
    view = scores.view(Slice(families=listed(families)))
    found = fit(
        view,
        evaluator=evaluator,
        reading=reading,
        weights=weights,
        epsilon=epsilon,
        against=held_to,
        ratings=ratings(_studies()),
        judged=order.values if order else {},
    )
    own = None
    if measure:
        asked = Asked(source, found, scores.scope.subject, scores.scope.language)
        known = {"subject": asked.subject, "language": asked.language}
        own = None if again or refused(found) else find(found, source, **known)[0]
        if why := refused(found):
            if found.basis == MEASURED:
                note(why)
            else:
                raise InvalidInput(why)
        elif own is None:
            measuring(asked, root=root, options=key_values(option), device=device, progress_file=progress_file)
            own = find(found, source, **known)[0]
        else:
            note(f"measured on {own.file.made}; --again measures anew")
    usual = settled(found, own)
    chosen = usual.strength if strength is None else strength
    changed = before_after(found.scores, found.terms, chosen, found.others)
    tell(found, usual, chosen, changed, own, order, as_json=as_json)
    if output is not None:
        model = calibrator(found.terms, strength=chosen, evaluator=evaluator, fingerprint=keys.get(evaluator, ""))
        _write(output, model.model_dump_json(indent=2) + "\n")
        if why := refusal(model):
            note(f"{output} is no evaluator: {why}. It serves 'calibrate apply' on a run's stored scores alone.")
    if sweep is not None:
        along = {} if own is None else own.sweeps
        _write(sweep, csv_text(sweep_table(found, found.bands(), measured=along, allowed=usual.choice.allowed)))


@app.command("apply", epilog=EPILOG, short_help="Write a run's scores under a calibrator.")
def apply_(
    model: Annotated[Path, typer.Argument(help="Calibrator, a .json file.")],
    run: Annotated[str, typer.Argument(help="Id from 'runs', or path of a run folder or a .duckdb file.")],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="File to write: .csv or .parquet; - for CSV on standard output.",
            callback=_outputs.text,
        ),
    ],
    name: Annotated[str | None, typer.Option(help="What the calibrated evaluator is called.")] = None,
) -> None:
    """Write the shifts of a run's calibrated families, with calibrated scores, as one more evaluator."""
    from core.analysis.slices import Slice
    from core.evaluators.calibrated import read_calibrator
    from core.features.calibration.sweep import calibrated_shifts
    from core.store.text_files import csv_text

    known = read_calibrator(model)
    found = calibrated_shifts(_scores(run)[0].view(Slice(families=tuple(known.shifts))), known, name=name)
    kind = ".csv" if output == _outputs.STDOUT else output.suffix.lower()
    if kind not in (".csv", ".parquet"):
        raise InvalidInput(f"{output} must end in .csv or .parquet")
    if kind == ".csv":
        _write(output, csv_text(found))
    else:
        from core.writing import write_whole

        write_whole(output, lambda path: found.to_parquet(path, index=False))
        note(f"wrote {output}")
    note(f"{len(found):,} shifts of {found['evaluator'].iloc[0]}")


def _scores(
    run: str, subject: str | None = None, language: str | None = None
) -> "tuple[ScoreTable, dict[str, str], Run, pd.DataFrame]":
    """Scores of the corpus in view of a run or published file, its evaluators' fingerprints, that run, its captions."""
    from core.analysis.reading import read_table
    from core.analysis.scope import Scope, narrow
    from core.api.opened_run import place
    from core.features.calibration.reference_order import unedited_captions
    from core.store.store import Store

    with Store.open(place(run)) as store:
        scope = narrow(store, Scope(subject=subject, language=language))
        for sentence in scope.left_out:
            note(sentence)
        if len(scope.runs) > 1:
            note(f"corpus {scope.corpus} of {', '.join(corpus for corpus, _ in scope.runs)}")
        runs = store.runs()
        source = next(each for each in runs if each.id == scope.only().run)
        scores = read_table(store, scope.only())
        captions = unedited_captions(scores)
    found: dict[str, set[str]] = {}
    for each in (told for run in runs for told in run.manifest.get("evaluators") or []):
        found.setdefault(str(each.get("name")), set()).add(str(each.get("fingerprint", {}).get("key", "")))
    keys = {name: own.pop() for name, own in found.items() if len(own) == 1}  # where the runs agree on it
    return scores, keys, source, captions


def _write(path: Path, text: str) -> None:
    _outputs.write_text(path, text)
    note(f"wrote {path}")


def _studies() -> "list[Study]":
    """The studies that are here; what of them does not count is said."""
    from core.features.human.studies import list_studies

    found, problems = list_studies()
    for problem in problems:
        note(problem)
    return found


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
    """Print what a strength λ changes on the held-out split, as :func:`core.features.calibration.effect.before_after`
    has it."""
    scored = None if own is None else own.effect(strength)
    caveats = [*found.caveats(strength, measured=own is not None), *(() if own is None else own.caveats(strength))]
    caveats += filter(None, (found.left_out,))
    if as_json:
        about = {"evaluator": found.evaluator, "reading": found.terms.reading, "strength": strength}
        about |= {"chosen": usual.chosen, "whence": usual.whence, "note": usual.choice.note}
        about |= {"oracle": found.oracle, "caveats": caveats, "basis": found.basis}
        about |= {"weights": dict(found.terms.weights), "n_dev": found.n_dev, "n_test": found.n_test}
        about |= {"n_left_out": found.n_left_out, "before_after": changed.to_dict("records")}
        if order is not None:
            about["references"] = {"n": order.n, "items": order.items, "told": order.told}
        if own is not None and scored is not None:
            of = {"images": own.file.images, "made": own.file.made}
            about["measured"] = {**of, "before_after": scored.to_dict("records")}
        print_json(about)
        return
    for sentence in filter(None, (*caveats, found.people, *(order.told if order is not None else ()))):
        note(sentence)
    from core.features.calibration.questions import CHANGES

    heading = f"{found.evaluator}, reading {found.terms.reading}, λ = {strength:g}, held-out split"
    if own is None or scored is None:
        show_table(changed, CHANGES, f"{heading}, {found.basis}")
    else:  # what is measured, beside what holds by construction
        by_formula = changed[changed["gap"].isna()].set_index(["measure", "name"])["after"]
        whole = scored[scored["gap"].isna()].join(by_formula.rename("constructed"), on=["measure", "name"])
        show_table(whole, CHANGES, f"{heading}, measured on {own.file.images:,} pictures")
    said = f"{usual.told}; {found.n_dev} dev items, {found.n_test} held out"
    note(f"{said}; {usual.choice.note}" if usual.choice.note else said)


def measuring(
    asked: "Asked", *, root: Path | None, options: Mapping[str, str], device: str | None, progress_file: Path | None
) -> None:
    """Score what a calibration needs, telling how far it is; Ctrl-C keeps what was finished."""
    from core.audit.run import ProgressFile, RunStopped
    from core.evaluators.pool import Pool
    from core.features.calibration.measured import measure

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
