"""``suite``: evaluators on a human-labelled suite, and why their numbers are what they are."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.commands import _outputs, _suite
from core.commands._shared import exit_codes, note, print_json
from core.errors import InvalidInput

if TYPE_CHECKING:
    from core.analysis.suite_result import Reached
    from core.corpora.suites import Suite

EPILOG = exit_codes(ok="every caption has a score", failures="reported, but some captions have no score")

USUAL = "conse-lite0"
"""Evaluator where none is named."""


def suite(
    annotations: Annotated[
        Path,
        typer.Argument(
            help="flickr8k.json, CrowdFlowerAnnotations.txt, pascal_50s.json, 8k_correctness.csv, capeval.jsonl, …"
        ),
    ],
    images: Annotated[
        list[Path] | None, typer.Argument(help="Folders of the images or videos; none is needed beside --scores.")
    ] = None,
    also: Annotated[
        list[Path] | None, typer.Option(help="A further file of the same suite, pooled with the first: Composite's.")
    ] = None,
    evaluator: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Name or path/to/file.py:Name, several separated by commas; also bleu-4, rouge-l and cider-d, which "
            f"read the references alone; beside --scores, what each metric is called. Default: {USUAL}."
        ),
    ] = None,
    calibrator: Annotated[
        Path | None, typer.Option(help="Calibrator of that evaluator: report before and after.")
    ] = None,
    references: Annotated[
        list[int] | None,
        typer.Option(
            help="How many references an evaluator that takes some compares with; repeated: each in turn. Default: "
            "all, FOIL 1 and 4, Pascal-50S 5."
        ),
    ] = None,
    draws: Annotated[
        int | None, typer.Option(help="Seeded draws of the references, averaged. Default: 1, Pascal-50S 5.")
    ] = None,
    keep_self_references: Annotated[
        bool,
        typer.Option(
            "--keep-self-references", help="Keep Flickr8k's ratings of an image's own references; the field drops them."
        ),
    ] = False,
    frames: Annotated[
        str | None,
        typer.Option(help="Of each video of VATEX-EVAL or ActivityNet-FOIL: 'all', or so many. Default: 10, all."),
    ] = None,
    idf: Annotated[
        Path | None, typer.Option(help="Document frequencies that weigh the tokens of a video's captions: 'video idf'.")
    ] = None,
    only: Annotated[Path | None, typer.Option(help="A split: a text file of image names, one a line.")] = None,
    export_to: Annotated[
        Path | None,
        typer.Option(
            "--export-pairs",
            help="Write the captions into this folder for another metric to score, and stop.",
            callback=_outputs.folder,
        ),
    ] = None,
    scores: Annotated[
        list[Path] | None,
        typer.Option(
            help="Scores of the exported captions, in a file as for import-scores, or FLEUR's text (.txt); repeated: "
            "several metrics."
        ),
    ] = None,
    column: Annotated[str, typer.Option(help="Column of --scores, where it has several.")] = "",
    keep: Annotated[bool, typer.Option(help="Keep the result in the data folder, for the page Suites.")] = True,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, mps. Default: the best there is.")] = None,
    progress_file: _outputs.ProgressFile = None,
    job: Annotated[str | None, typer.Option(hidden=True)] = None,  # noqa: ARG001  # names the process of a job
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False,
) -> None:
    """Hold evaluators to people's judgements of images, or of videos.

    Of images: Flickr8k, Pascal-50S, Composite, FOIL, CapArena, M-CapEval1k. Of videos: VATEX-EVAL, ActivityNet-FOIL.
    The suite's files and images are its publisher's; nothing is downloaded. Intervals are over images. Every decision
    on the way to a number is printed with the count that it concerns. A metric that runs elsewhere scores what
    --export-pairs writes; its file is read with --scores. The page Suites shows what is kept.
    """
    from core.analysis.suite_result import added, result_of, store

    names = [name.strip() for each in evaluator or () for name in each.split(",") if name.strip()]
    elsewhere = bool(images or calibrator or export_to or device or references or draws or frames or idf)
    _check(names, len(scores or ()), calibrator=calibrator is not None, images=bool(images), elsewhere=elsewhere)
    files = [annotations, *(also or ())]
    held, options = _suite.read(files, keep_self_references=keep_self_references, only=only)
    _check_footage(held, given=bool(frames or idf), calibrator=calibrator is not None)
    if export_to is not None:
        _export(held, images or [], export_to)
        return
    if scores:
        called = names or [""] * len(scores)
        found = [_suite.imported(held, path, column, name) for path, name in zip(scores, called, strict=True)]
    else:
        tell = _suite.Teller(progress_file, len(names) or 1)
        made = (
            _evaluated(held, images or [], name, calibrator, device, references or (), draws, tell, (frames, idf))
            for name in names or (USUAL,)
        )
        found = [each for of_one in made for each in of_one]
    entries, errors = [entry for entry, _ in found], [error for _, lost in found for error in lost]
    result = added(result_of(held, files, options), *entries)
    if as_json:
        print_json(_suite.as_json(result, held.left_out))
    else:
        _suite.show(result)
    if keep:
        note(f"kept in {store(result)}; the page Suites shows it")
    if not scores:
        tell.complete()
    _suite.complain_unscored(errors)


def _check(names: list[str], files: int, *, calibrator: bool, images: bool, elsewhere: bool) -> None:
    """Refuse options that contradict each other."""
    from core.evaluators.references import BY_WORDS

    if files and elsewhere:
        raise InvalidInput("--scores needs no images, device, references or calibrator: leave them out")
    if not files and not images and not (names and set(names) <= set(BY_WORDS)):
        raise InvalidInput("give the folders of the suite's images, or --scores made elsewhere")
    if files and names and len(names) != files:
        raise InvalidInput(f"name one --evaluator for each file of --scores, got {len(names)} and {files} files")
    if calibrator and len(names) > 1:
        raise InvalidInput(f"a calibrator is of one evaluator, got {len(names)}; name the one")


def _check_footage(held: "Suite", *, given: bool, calibrator: bool) -> None:
    """Refuse what has no meaning for the suite's kind of picture."""
    if given and not held.videos:
        raise InvalidInput(f"--frames and --idf are of videos, and {held.name} is of images; leave them out")
    if calibrator and held.videos:
        raise InvalidInput(f"a calibrator is of scores of images, and {held.name} is of videos; leave it out")


def _export(held: "Suite", folders: list[Path], out: Path) -> None:
    from core.scoring.suite_pairs import export_suite

    written, missing = export_suite(held, folders, out)
    typer.echo(f"{written:,} captions of {held.name} in {out}")
    if missing:
        note(f"{missing:,} captions are left out: their images are not in the folders")
        raise typer.Exit(1)


def _evaluated(
    held: "Suite",
    folders: list[Path],
    name: str,
    calibrator: Path | None,
    device: str | None,
    counts: "list[int] | tuple[int, ...]",
    draws: int | None,
    tell: "_suite.Teller",
    footage: "tuple[str | None, Path | None]",
) -> "list[tuple[Reached, list[str]]]":
    """An evaluator, and with its calibrator where one is given."""
    from core.evaluators.calibrator import read_calibrator
    from core.evaluators.references import BY_WORDS

    if name in BY_WORDS:
        if calibrator is not None:
            raise InvalidInput(f"a calibrator is of an evaluator, and {name} is none; leave --calibrator out")
        return list(_suite.by_words(held, name, counts=counts, draws=draws, tell=tell))
    model = read_calibrator(calibrator) if calibrator is not None else None
    if model is not None and model.evaluator != name:
        raise InvalidInput(f"{calibrator} was learnt for {model.evaluator!r}; use --evaluator {model.evaluator}")
    found = list(_suite.scored(held, folders, name, device, counts=counts, draws=draws, tell=tell, footage=footage))
    if model is None or calibrator is None:
        return found
    told = f"{calibrator.name}, {model.reading}, λ = {model.strength:g}"
    if model.reading in ("shift", "ridge", "quantile"):
        note(f"the reading {model.reading} leaves unedited pairs as they are: after equals before")
        return found + [(entry.model_copy(update={"calibrated": told}), []) for entry, _ in found]
    after = _suite.scored(
        held,
        folders,
        str(calibrator),
        device,
        counts=counts,
        draws=draws,
        called=found[0][0].evaluator,
        calibrated=told,
    )
    return found + [(entry, []) for entry, _ in after]
