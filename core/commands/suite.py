"""``suite``: an evaluator on a human-labelled suite, before and after calibration."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core.commands._shared import exit_codes, note, print_json, table
from core.errors import InvalidInput

if TYPE_CHECKING:
    import pandas as pd

    from core.corpora.suites import Suite

EPILOG = exit_codes(ok="every caption has a score", failures="reported, but some captions have no score")

ERRORS_SHOWN = 3

USUAL = "conse-lite0"
"""Evaluator where none is named."""

_MEASURES = {"tau_b": "τ_b × 100", "tau_c": "τ_c × 100", "accuracy": "preference accuracy, %",
             "length": "ρ of score and words × 100", "length_rated": "… ratings held × 100"}  # fmt: skip


def suite(
    annotations: Annotated[
        Path,
        typer.Argument(
            help="flickr8k.json, CrowdFlowerAnnotations.txt, pascal_50s.json, 8k_correctness.csv, capeval.jsonl, …"
        ),
    ],
    images: Annotated[
        list[Path] | None, typer.Argument(help="Folders of the images; none is needed beside --scores.")
    ] = None,
    evaluator: Annotated[
        str | None,
        typer.Option(
            help=f"Name or path/to/file.py:Name; beside --scores, what the metric is called. Default: {USUAL}."
        ),
    ] = None,
    calibrator: Annotated[
        Path | None, typer.Option(help="Calibrator of that evaluator: report before and after.")
    ] = None,
    export_to: Annotated[
        Path | None,
        typer.Option(
            "--export-pairs", help="Write the captions into this folder for another metric to score, and stop."
        ),
    ] = None,
    scores: Annotated[
        Path | None, typer.Option(help="Scores of the exported captions, in a file as for import-scores.")
    ] = None,
    column: Annotated[str, typer.Option(help="Column of --scores, where it has several.")] = "",
    device: Annotated[str | None, typer.Option(help="cpu, cuda, mps. Default: the best there is.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False,
) -> None:
    """Hold an evaluator to people's judgements: Flickr8k-Expert, -CF, Pascal-50S, Composite, FOIL, M-CapEval1k.

    The suite's files and images are its publisher's; nothing is downloaded. Intervals are over images. A metric that
    runs elsewhere scores what --export-pairs writes; its file is read with --scores.
    """
    from core.corpora.suites import read_suite
    from core.evaluators.calibrator import read_calibrator

    held = read_suite(annotations)
    if not held.rated and not held.compared:
        raise InvalidInput(f"{annotations} holds no usable judgement; {held.left_out} entries were left out")
    if scores is not None and (images or calibrator or export_to or device):
        raise InvalidInput("--scores needs no images and no device, and no calibrator: leave them out")
    if scores is None and not images:
        raise InvalidInput("give the folders of the suite's images, or --scores made elsewhere")
    if export_to is not None:
        _export(held, images or [], export_to)
        return
    if scores is not None:
        name, before, errors = _imported(held, scores, column, evaluator)
        _tell(held, annotations, name, before, None, errors, as_json=as_json)
        return
    assert images is not None
    evaluator = evaluator or USUAL
    model = read_calibrator(calibrator) if calibrator is not None else None
    if model is not None and model.evaluator != evaluator:
        raise InvalidInput(f"{calibrator} was learnt for {model.evaluator!r}; use --evaluator {model.evaluator}")
    before, errors = _report(held, images, evaluator, device)
    after = None
    if model is not None and model.reading in ("shift", "ridge", "quantile"):
        note(f"the reading {model.reading} leaves unedited pairs as they are: after equals before")
        after = before
    elif model is not None:
        after, _ = _report(held, images, str(calibrator), device)
    _tell(held, annotations, evaluator, before, after, errors, as_json=as_json)


def _tell(
    held: "Suite",
    annotations: Path,
    evaluator: str,
    before: "pd.DataFrame",
    after: "pd.DataFrame | None",
    errors: tuple[str, ...],
    *,
    as_json: bool,
) -> None:
    """Print the numbers and what they are not of; exit code 1 where a caption has no score."""
    _show(held, evaluator, before, after, as_json=as_json)
    for sentence in errors[:ERRORS_SHOWN]:
        note(sentence)
    if len(errors) > ERRORS_SHOWN:
        note(f"and {len(errors) - ERRORS_SHOWN:,} more without a score")
    if held.left_out:
        note(f"{held.left_out:,} entries of {annotations.name} have no usable rating or caption and are left out")
    if errors:
        raise typer.Exit(1)


def _export(held: "Suite", folders: list[Path], out: Path) -> None:
    from core.scoring.suite_pairs import export_suite

    written, missing = export_suite(held, folders, out)
    typer.echo(f"{written:,} captions of {held.name} in {out}")
    if missing:
        note(f"{missing:,} captions are left out: their images are not in the folders")
        raise typer.Exit(1)


def _imported(
    held: "Suite", path: Path, column: str, evaluator: str | None
) -> "tuple[str, pd.DataFrame, tuple[str, ...]]":
    from core.analysis.preferences import suite_table
    from core.corpora.score_files import read_scores
    from core.evaluators.imported import stored_name
    from core.scoring.suite_pairs import imported_scores

    name, scores = stored_name(evaluator or path.stem), read_scores(path, column=column)
    found = imported_scores(held, scores)
    note(f"{name}: scores imported from {scores.told}, not made here")
    return name, suite_table(held, found.rated, found.preferred, found.other), found.errors


def _report(
    held: "Suite", folders: list[Path], reference: str, device: str | None
) -> "tuple[pd.DataFrame, tuple[str, ...]]":
    from core.analysis.preferences import suite_table
    from core.commands._progress import progress
    from core.evaluators.pool import Pool
    from core.scoring.suites import score_suite

    with Pool(device=device).lease(reference) as loaded, progress("scoring", unit="inputs") as update:
        found = score_suite(loaded, held, folders, progress=update)
        note(f"{loaded.spec.name}, fingerprint {loaded.fingerprint.key}")
    return suite_table(held, found.rated, found.preferred, found.other), found.errors


def _show(
    held: "Suite", evaluator: str, before: "pd.DataFrame", after: "pd.DataFrame | None", *, as_json: bool
) -> None:
    if as_json:
        told: dict[str, Any] = {"suite": held.name, "evaluator": evaluator, "left_out": held.left_out}
        told |= {"before": before.to_dict("records")}
        print_json(told if after is None else {**told, "after": after.to_dict("records")})
        return
    sides = [before] if after is None else [before, after]
    rows = [
        (
            _MEASURES[str(first["measure"])],
            first["group"] or "all",
            *map(_told, (first, *rest)),
            first["n"],
            first["ties"],
        )
        for first, *rest in zip(*(side.to_dict("records") for side in sides), strict=True)
    ]
    heads = ["value (95 % CI)"] if after is None else ["before (95 % CI)", "after (95 % CI)"]
    table(("measure", "of", *heads, "n", "ties"), rows, title=f"{held.name}, {evaluator}; ties count 0.5")


def _told(row: dict[Any, Any]) -> str:
    value, low, high = (float(row[name]) for name in ("value", "low", "high"))
    return f"{value:.1f} ({low:.1f} to {high:.1f})" if low == low else f"{value:.1f} {row['note']}".strip()
