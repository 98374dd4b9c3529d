"""``suite``: evaluators on a human-labelled suite, and why their numbers are what they are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core.commands import _outputs
from core.commands._shared import Teller, exit_codes, note, print_json, progress, show_table
from core.errors import InvalidInput

if TYPE_CHECKING:
    from core.commands._shared import Update
    from core.corpora.suites.model import Suite
    from core.evaluators.base import Evaluator
    from core.evaluators.video.video_evaluator import VideoScorer
    from core.features.suites.pair_risks import RunShifts
    from core.features.suites.suite_result import Reached, SuiteResult


EPILOG = exit_codes(ok="every caption has a score", failures="reported, but some captions have no score")
USUAL = "conse-lite0"  # evaluator where none is named


def suite(
    annotations: Annotated[
        Path,
        typer.Argument(
            help="flickr8k.json, CrowdFlowerAnnotations.txt, pascal_50s.json, 8k_correctness.csv, mine.csv, …"
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
    run: Annotated[
        Path | None,
        typer.Option(
            help="Of two pictures of a text: a run of these evaluators, whose edits say how easily a comparison turns."
        ),
    ] = None,
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
    keep: Annotated[bool, typer.Option(help="Keep the result in the data folder, for Does it notice?, Suites.")] = True,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, mps. Default: the best there is.")] = None,
    progress_file: _outputs.ProgressFile = None,
    job: Annotated[str | None, typer.Option(hidden=True)] = None,  # noqa: ARG001  # names the process of a job
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False,
) -> None:
    """Hold evaluators to people's judgements of images, or of videos.

    Of images: Flickr8k, Pascal-50S, Composite, FOIL, CapArena, M-CapEval1k, or ratings of your own (image, caption,
    rating). Of two pictures of a text: Pick-a-Pic, MJ-Bench, HPDv2, GenAI-Bench, GenAI-Arena, TIFA, or your own. Of
    videos: VATEX-EVAL, ActivityNet-FOIL. The suite's files and images are its publisher's; nothing is downloaded.
    Intervals are over images, or texts. Every decision on the way to a number is printed with the count that it
    concerns. A metric that runs elsewhere scores what --export-pairs writes; its file is read with --scores. The page
    Suites shows what is kept.
    """
    from core.features.suites.pair_risks import shifts_of
    from core.features.suites.suite_result import added, result_of, store
    from core.scoring.suite_scores import asked_of, without_equal_pictures

    names = [name.strip() for each in evaluator or () for name in each.split(",") if name.strip()]
    elsewhere = bool(images or calibrator or export_to or device or references or draws or frames or idf or run)
    _check(names, len(scores or ()), calibrator=calibrator is not None, images=bool(images), elsewhere=elsewhere)
    files = [annotations, *(also or ())]
    held, options = read(files, keep_self_references=keep_self_references, only=only)
    if images:
        held = without_equal_pictures(held, images)
    _check_footage(held, given=bool(frames or idf), calibrator=calibrator is not None)
    shifts = None if run is None else shifts_of(run, held)
    if export_to is not None:
        _export(held, images or [], export_to)
        return
    if scores:
        called = names or [""] * len(scores)
        found = [imported(held, path, column, name) for path, name in zip(scores, called, strict=True)]
    else:
        names = names or [USUAL]
        tell = Teller(progress_file, len(names) * len(asked_of(held)), parts=len(names))
        asked = Asked(held, images or [], device, references or (), draws, (frames, idf), shifts, tell)
        found = [each for name in names for each in _evaluated(asked, name, calibrator)]
    entries, errors = [entry for entry, _ in found], [error for _, lost in found for error in lost]
    result = added(result_of(held, files, options), *entries)
    if as_json:
        print_json(as_plain(result, held.left_out))
    else:
        show(result)
    if keep:
        note(f"kept in {store(result)}; Does it notice?, Suites, shows it")
    if not scores:
        tell.complete()
    complain_unscored(errors)


def _check(names: list[str], files: int, *, calibrator: bool, images: bool, elsewhere: bool) -> None:
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
    from core.features.suites.suite_result import export_suite

    written, missing = export_suite(held, folders, out)
    typer.echo(f"{written:,} captions of {held.name} in {out}")
    if missing:
        note(f"{missing:,} captions are left out: their images are not in the folders")
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True)
class Asked:
    """A suite, and how evaluators are held to it."""

    held: "Suite"  # the suite
    folders: Sequence[Path]  # of its images or videos
    device: str | None  # where evaluators run; None: the best there is
    counts: Sequence[int]  # ``--references``
    draws: int | None  # ``--draws``
    footage: tuple[str | None, Path | None]  # ``--frames`` and ``--idf``
    shifts: "RunShifts | None"  # of the run whose edits say how easily a comparison turns
    tell: "Teller"  # of the evaluators one after the other


def _evaluated(asked: Asked, name: str, calibrator: Path | None) -> "list[tuple[Reached, list[str]]]":
    """An evaluator, and with its calibrator where one is given."""
    from core.evaluators.calibrated import read_calibrator
    from core.evaluators.references import BY_WORDS

    if name in BY_WORDS:
        if calibrator is not None:
            raise InvalidInput(f"a calibrator is of an evaluator, and {name} is none; leave --calibrator out")
        return list(by_words(asked, name))
    model = read_calibrator(calibrator) if calibrator is not None else None
    if model is not None and model.evaluator != name:
        raise InvalidInput(f"{calibrator} was learnt for {model.evaluator!r}; use --evaluator {model.evaluator}")
    found = list(scored(asked, name))
    if model is None or calibrator is None:
        return found
    told = f"{calibrator.name}, {model.reading}, λ = {model.strength:g}"
    if model.reading in ("shift", "ridge", "quantile"):
        note(f"the reading {model.reading} leaves unedited pairs as they are: after equals before")
        return found + [(entry.model_copy(update={"calibrated": told}), []) for entry, _ in found]
    alone = replace(asked, shifts=None, tell=Teller(None, 0))
    after = scored(alone, str(calibrator), called=found[0][0].evaluator, calibrated=told)
    return found + [(entry, []) for entry, _ in after]


ERRORS_SHOWN = 3
_MOST_NAMES = 1_000_000


def read(files: Sequence[Path], *, keep_self_references: bool, only: Path | None) -> "tuple[Suite, list[str]]":
    """The suite, and in words how it was read where that is not the usual way."""
    from core.corpora.corpus_files import read_text
    from core.corpora.suites.model import only_images
    from core.corpora.suites.suite_files import read_suites

    held = read_suites(files, keep_self_references=keep_self_references)
    options = ["self-references kept"] if keep_self_references else []
    if only is not None:
        names = [line.strip() for line in read_text(only).splitlines() if line.strip()]
        if not 1 <= len(names) <= _MOST_NAMES:
            raise InvalidInput(f"{only} must name 1 to {_MOST_NAMES:,} images, one a line, got {len(names):,}")
        held = only_images(held, names)
        options.append(f"only the images of {only.name}")
    if not held.rated and not held.compared:
        raise InvalidInput(f"{files[0]} holds no usable judgement; {held.left_out} entries were left out")
    return held, options


def scored(
    asked: Asked, reference: str, *, called: str = "", calibrated: str = ""
) -> "Iterator[tuple[Reached, list[str]]]":
    """What an evaluator reaches, once for each way to compare with references, and what could not be scored."""
    from core.evaluators.pool import Pool
    from core.evaluators.references import Referenced
    from core.features.suites.pair_risks import pair_risks
    from core.features.suites.suite_result import reached
    from core.scoring.suite_scores import check_references, score_suite, score_video_suite, settings_of, stacked

    held, tell = asked.held, asked.tell
    with Pool(device=asked.device).lease(reference) as loaded:
        scorer = _video_scorer(loaded, held, asked.footage) if held.videos else None
        name = scorer.name if scorer else loaded.spec.name
        made_with = scorer.told if scorer else f"fingerprint {loaded.fingerprint.key}"
        note(f"{name}, {made_with}")
        if isinstance(loaded, Referenced):
            check_references(loaded.spec.name, held)
        elif asked.counts or asked.draws:
            note(f"{loaded.spec.name} takes no references: --references and --draws change nothing")
        settings = settings_of(held, asked.counts, asked.draws) if isinstance(loaded, Referenced) else (None,)
        read, readings = 0, sum(each.draws if each else 1 for each in settings)
        for setting in settings:
            parts = list(setting.suites(held)) if setting else [held]
            found = []
            for part in parts:
                with progress("scoring", unit="inputs") as update:

                    def both(done: int, total: int, update: "Update" = update, read: int = read) -> None:
                        update(done, total)
                        tell(read + (done / total if total else 1.0), readings)

                    found.append(
                        score_video_suite(scorer, part, asked.folders, progress=both)
                        if scorer
                        else score_suite(loaded, part, asked.folders, progress=both)
                    )
                read += 1
            whole = stacked(found) if len(found) > 1 else found[0]
            told: dict[str, Any] = {"evaluator": called or name, "made_with": made_with}
            if asked.shifts is not None:
                risks = pair_risks(held, whole, asked.shifts.table, name)
                told |= {"risks": risks, "risks_of": asked.shifts.told(name, loaded.fingerprint.key)}
            yield reached(held, whole, setting=setting, calibrated=calibrated, **told), list(whole.errors)
    tell.part_done()


def by_words(asked: Asked, name: str) -> "Iterator[tuple[Reached, list[str]]]":
    """What a metric of words alone reaches, once for each way to compare with references; no image is read."""
    from core.features.suites.suite_result import reached
    from core.scoring.suite_scores import check_words, made_with, score_words, settings_of, stacked

    held = asked.held
    check_words(held, name)
    told = made_with(held, name)
    note(f"{name}, {told}")
    settings = settings_of(held, asked.counts, asked.draws)
    read, readings = 0, sum(each.draws for each in settings)
    for setting in settings:
        found = []
        for part in setting.suites(held):
            found.append(score_words(part, name))
            read += 1
            asked.tell(read, readings)
        whole = stacked(found) if len(found) > 1 else found[0]
        yield reached(held, whole, setting=setting, evaluator=name, made_with=told), list(whole.errors)
    asked.tell.part_done()


def _video_scorer(loaded: "Evaluator", held: "Suite", footage: tuple[str | None, Path | None]) -> "VideoScorer":
    from core.corpora.video_frames import Sampling
    from core.evaluators.video.video_evaluator import video_scorer
    from core.scoring.suite_scores import usual_sampling

    frames, idf = footage
    sampling = Sampling.from_option(frames, name="--frames") if frames else usual_sampling(held)
    return video_scorer(loaded, sampling=sampling, idf=idf)


def imported(held: "Suite", path: Path, column: str, called: str) -> "tuple[Reached, list[str]]":
    """What scores reach that were made elsewhere."""
    from core.features.suites.suite_result import reached_elsewhere

    entry, errors = reached_elsewhere(held, path, column=column, called=called)
    note(f"{entry.evaluator}: scores {entry.made_with}, not made here")
    return entry, errors


def show(result: "SuiteResult") -> None:
    """Print what was reached, the captioners where the suite ranks some, before and after, and every decision."""
    from core.features.suites import suite_tables as tables

    title = f"{result.told}; 95 % intervals over {'texts' if result.by_text else 'images'}"
    show_table(tables.reached_table([result]), tables.reached_columns([result]), title)
    for frame, own, title in (
        (tables.agreement_table(result), tables.AGREEMENT_COLUMNS, "Order of captioners, people's and the evaluator's"),
        (tables.rank_table(result), tables.RANK_COLUMNS, "Captioners"),
    ):
        if len(frame):
            show_table(frame, own, title)
    risks = tables.risk_table(result)
    if len(risks):
        show_table(risks, tables.RISK_COLUMNS, "How easily a comparison turns: flip risk at the comparisons' own gaps")
    both = tables.before_and_after([result])
    if both["after"].notna().any():
        show_table(both, tables.BEFORE_COLUMNS, "Preference accuracy, before and after calibration")
    show_table(tables.decision_table(result), tables.DECISION_COLUMNS, "Why is mine different? Every decision")


def as_plain(result: "SuiteResult", left_out: int) -> dict[str, Any]:
    """The result for a script; of one evaluator also as ``evaluator``, ``before`` and ``after``."""
    told: dict[str, Any] = {**result.model_dump(mode="json"), "left_out": left_out}
    before = [each for each in told["reached"] if not each["calibrated"]]
    if len(before) == 1:
        told |= {"evaluator": before[0]["evaluator"], "before": before[0]["rows"]}
        after = [each for each in told["reached"] if each["calibrated"]]
        told |= {"after": after[0]["rows"]} if after else {}
    return told


def complain_unscored(errors: Sequence[str]) -> None:
    """Say what has no score; exit code 1 where there is something."""
    for sentence in errors[:ERRORS_SHOWN]:
        note(sentence)
    if len(errors) > ERRORS_SHOWN:
        note(f"and {len(errors) - ERRORS_SHOWN:,} more without a score")
    if errors:
        raise typer.Exit(1)
