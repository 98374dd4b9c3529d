"""``score``: a captioner's output in, scores out, in the files of clipscore or of CaptionEvalKit."""

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from core import __version__
from core.commands import _outputs
from core.commands._shared import Code, exit_codes, json_text, note, progress
from core.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.commands._score_files import Job, Report
    from core.evaluators.video.video_evaluator import VideoScorer
    from core.scoring.caption_scores import CaptionScore

_Given = TypeVar("_Given", str, Path)
ERRORS_SHOWN = 5
USUAL = "conse-lite2"  # evaluator where none is named

EPILOG = exit_codes(
    ok="every caption has a score",
    failures="some images were missing or unreadable, or some captions could not be scored",
)


def score(
    candidates: Annotated[
        Path | None,
        typer.Argument(
            help="A captioner's file: candidates.json, COCO's results, JSON lines, CSV …; docs/corpora.md lists them."
        ),
    ] = None,
    images: Annotated[
        Path | None, typer.Argument(help="Folder of the images; their names without suffix are the ids.")
    ] = None,
    candidates_option: Annotated[
        list[Path] | None, typer.Option("--candidates_json", "--predictions", help="The same, as an option.")
    ] = None,
    images_option: Annotated[
        list[Path] | None, typer.Option("--image_dir", "--image-dir", help="The same, as an option.")
    ] = None,
    references: Annotated[
        list[Path] | None,
        typer.Option(
            "--references",
            "--references_json",
            help="Captions by people in any of these layouts, or COCO's; adds the score with references.",
        ),
    ] = None,
    evaluator: Annotated[
        list[str] | None,
        typer.Option(
            "--evaluator",
            "--metric",
            help="A name from 'evaluators', CaptionEvalKit's (CLIPScore, PAC-S, RefCLIPScore …), NAME@CHECKPOINT, or "
            f"path/to/file.py:Name. Default: {USUAL}.",
        ),
    ] = None,
    called: Annotated[
        str | None,
        typer.Option(
            "--called", help="Name of the metric in the output; default: CaptionEvalKit's, else the evaluator's own."
        ),
    ] = None,
    per_instance: Annotated[
        Path | None,
        typer.Option(
            "--save_per_instance",
            help="Write {id: {metric: score}} here, as clipscore does; - for standard output.",
            callback=_outputs.text,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write {metric: mean, per_item: …} here, as CaptionEvalKit does; - for standard output.",
            callback=_outputs.text,
        ),
    ] = None,
    videos: Annotated[
        bool, typer.Option("--videos", help="The folder has videos, or folders of frames: docs/video.md.")
    ] = False,
    frames: Annotated[
        str | None, typer.Option(help="Of each video: 'all' (default) or so many, evenly spaced; VATEX-EVAL: 10.")
    ] = None,
    idf: Annotated[Path | None, typer.Option(help="Document frequencies that weigh the tokens: 'video idf'.")] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, mps; default: the best there is.")] = None,
    other_metrics: Annotated[
        int,
        typer.Option(
            "--compute_other_ref_metrics",
            min=0,
            max=1,
            help="1: also BLEU-1 to BLEU-4, METEOR, ROUGE-L and CIDEr-D; needs references.",
        ),
    ] = 0,
    refpac: Annotated[
        bool,
        typer.Option("--compute_refpac", help="pacscore's switch: references are always used where they are given."),
    ] = False,
    pace: Annotated[bool, typer.Option("--pace", help="Also say the seconds a pair, and on which device.")] = False,
) -> None:
    """Score a captioner's captions; stands in for clipscore's script and for CaptionEvalKit's score command.

    Prints "NAME: mean" over the captions that have a score. What else is worth knowing goes to stderr: how many were
    scored, which images were missing or left over, which captions could not be scored and why. JSON lines without
    --output are answered on stdout in CaptionEvalKit's shape. With --videos, captions are of videos.
    """
    from core.commands._score_files import read_job, report_of
    from core.corpora.video_frames import Sampling
    from core.evaluators.base import DualEncoder, cut_captions
    from core.evaluators.other_packages import published_name
    from core.evaluators.pool import Pool
    from core.evaluators.references import Referenced
    from core.evaluators.registry import find
    from core.evaluators.video.video_evaluator import check_scores_videos, video_scorer
    from core.scoring.caption_scores import check_scorable, pace_told, score_captions

    captions = _once("files of captions", [candidates], candidates_option)
    folder = _once("folders of images", [images], images_option)
    people = _once("files of references", references)
    given = _once("metrics", evaluator) or USUAL
    known = published_name(given)
    name, shown = (known.evaluator, known.shown) if known else (given, "")
    switches = {"--compute_other_ref_metrics": other_metrics, "--compute_refpac": refpac}
    if people is None and (switch := next((each for each, asked in switches.items() if asked), None)):
        raise InvalidInput(f"{switch} needs references; give them with --references")
    if not videos and (frames or idf):
        raise InvalidInput("--frames and --idf are of videos; give --videos, or leave them out")
    compares = videos or issubclass(find(name), DualEncoder | Referenced)
    if people is not None and not compares:
        use = "they serve the other metrics alone" if other_metrics else f"{people} is not used"
        note(f"{name} compares no captions with references; {use}")
    job = read_job(captions, folder, people if compares or other_metrics else None, videos=videos)
    for remark in job.remarks():
        note(remark)
    lines = job.lines if compares else tuple(replace(line, references=()) for line in job.lines)
    texts = [line.caption for line in lines]
    check_scorable(find(name).spec, texts, references=any(line.references for line in lines))
    if videos:
        check_scores_videos(find(name), idf=idf is not None, references=people is not None)
    pool = Pool(device=device)
    with pool.lease(name) as loaded, progress("scoring", unit="inputs") as update:
        if sentence := cut_captions(loaded, texts):
            note(sentence)
        begun = time.perf_counter()
        if videos:
            scorer = video_scorer(loaded, sampling=Sampling.from_option(frames or "all", name="--frames"), idf=idf)
            scores = _of_videos(scorer, job, progress=update)
            shown, beside, signature = called or scorer.name, False, f"{scorer.name}, {scorer.told}"
        else:
            scores = score_captions(loaded, lines, progress=update)
            shown, beside = called or shown or loaded.spec.name, compares and not loaded.spec.takes_references
            signature = f"{loaded.spec.name}, fingerprint {loaded.fingerprint.key}"
        taken = time.perf_counter() - begun
    report = report_of(job, scores, name=shown, beside=beside)
    report = _beside_references(report, job) if other_metrics else report
    _explain(report, signature)
    if pace:
        note(pace_told(pool, name, seconds=taken, pairs=report.scored))
    _write(job, report, per_instance=per_instance, output=output)
    if report.scored < len(report.per_item):
        raise typer.Exit(Code.FAILURES)


def _beside_references(report: "Report", job: "Job") -> "Report":
    from core.commands._score_files import with_reference_metrics
    from core.scoring.reference_metrics import CIDER, TOKENIZER, compare, fingerprint, lacking

    captions, people = [line.caption for line in job.lines], [line.references for line in job.lines]
    compared = compare(captions, people, meteor=not lacking())
    note(f"beside references: {compared.n:,} captions by {fingerprint()}: {TOKENIZER}")
    if reason := lacking():
        note(reason)
    if compared.n and math.isnan(compared.means[CIDER]):
        note(
            f"no {CIDER}: it weighs words by the pictures whose references say them, so that two pictures are needed; "
            "of one, pycocoevalcap gives 0 whatever the caption says"
        )
    return with_reference_metrics(report, compared, job.lines)


def _once(what: str, *given: "Sequence[_Given | None] | None") -> "_Given | None":
    """The only one that is given; two are refused, since one of them would be ignored."""
    named = [each for group in given for each in group or () if each is not None]
    if len(named) > 1:
        raise InvalidInput(f"two {what} are given, {named[0]} and {named[1]}; leave one out")
    return named[0] if named else None


def _of_videos(
    scorer: "VideoScorer", job: "Job", *, progress: "Callable[[int, int], None]"
) -> "tuple[CaptionScore, ...]":
    from core.corpora.video_folder import kinds_told
    from core.scoring.caption_scores import CaptionScore, unscored
    from core.scoring.suite_scores import VideoLine, score_videos

    lost = unscored(scorer.evaluator.spec, job.lines)
    worded = [line for line, reason in zip(job.lines, lost, strict=True) if not reason]
    lines = [VideoLine(line.id, line.caption, line.image, line.references) for line in worded]
    note(f"videos: {kinds_told(line.path for line in lines)}")
    said: list[str] = []
    found = iter(score_videos(scorer, lines, progress=progress, remark=said.append))
    for sentence in said[:ERRORS_SHOWN]:
        note(sentence)
    if len(said) > ERRORS_SHOWN:
        note(f"{len(said) - ERRORS_SHOWN:,} more videos like the last")
    return tuple(
        CaptionScore(line.id, None if each.error else each.score, error=each.error)
        if not reason and (each := next(found))
        else CaptionScore(line.id, None, error=reason)
        for line, reason in zip(job.lines, lost, strict=True)
    )


def _explain(report: "Report", signature: str) -> None:
    for item, error in list(report.errors.items())[:ERRORS_SHOWN]:
        note(f"no score for {item!r}: {error}")
    if len(report.errors) > ERRORS_SHOWN:
        note(f"no score for {len(report.errors) - ERRORS_SHOWN:,} more")
    note(f"{report.scored:,} of {len(report.per_item):,} captions scored by {signature}, invariscope {__version__}")


def _write(job: "Job", report: "Report", *, per_instance: Path | None, output: Path | None) -> None:
    """Print the means and write the files; JSON lines without --output go to stdout in their own shape."""
    if per_instance is not None:
        _outputs.write_text(per_instance, json_text(report.per_item, indent=None))
    whole = json_text(report.as_capevalkit())
    if output is not None:
        _outputs.write_text(output, whole)
    if job.as_jsonl and output is None:
        typer.echo(whole)
        return
    for metric, value in report.means.items():
        typer.echo(f"{metric}: {'nan' if value is None else format(value, '.4f')}")
