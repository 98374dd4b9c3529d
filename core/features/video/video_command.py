"""``video``: document frequencies, what a folder of videos holds, and what edits of frames do to scores."""

from pathlib import Path
from typing import Annotated

import typer

from core.commands import _outputs
from core.commands._shared import Code, exit_codes, note, print_json, table

app = typer.Typer(
    help="Videos: count document frequencies, look at a folder, score its captions under edits of the frames.",
    no_args_is_help=True,
)


@app.command(epilog=exit_codes(ok="written"))
def idf(
    captions: Annotated[Path, typer.Argument(help="A text file of captions, one a line, e.g. VATEX's training part.")],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="File to write, e.g. idf.json; - for standard output.", callback=_outputs.text
        ),
    ],
    corpus: Annotated[str | None, typer.Option(help="What the captions are. Default: the name of the file.")] = None,
) -> None:
    """Count in how many captions each of CLIP's tokens stands, for emscore, pac-s++-video and their twins.

    Captions of more than 66 words are left out, as EMScore's authors do.
    """
    from core.corpora.corpus_files import read_text
    from core.evaluators.video.video_evaluator import clip_idf
    from core.store.text_files import json_text

    made = clip_idf(read_text(captions).splitlines(), corpus=corpus or captions.name)
    _outputs.write_text(out, json_text(made.model_dump(mode="json")))
    typer.echo(f"{made.sentences:,} captions, {len(made.frequencies):,} tokens, sha256 {made.sha256}: {out}")
    if made.left_out:
        note(f"left out, because blank or of more than 66 words: {made.left_out:,}")


@app.command(epilog=exit_codes(ok="read"))
def show(
    folder: Annotated[Path, typer.Argument(help="A folder of videos with captions.json or captions.csv.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False,
) -> None:
    """Say what a folder of videos holds: frames, size, length, captions, and what cannot be used."""
    from core.corpora.video_folder import read_video_folder
    from core.corpora.video_frames import open_video
    from core.errors import BadImage

    held = read_video_folder(folder)
    rows, problems = [], [f"{each.subject}: {each.detail}" for each in held.rejected]
    for video in held.videos:
        try:
            footage = open_video(video.path)
        except BadImage as error:
            problems.append(str(error))
            continue
        problems += [f"{video.path.name}: {each}" for each in footage.notes]
        told = {name: getattr(footage, name) for name in ("frames", "width", "height", "seconds")}
        rows.append({"video": video.id, "file": video.path.name, **told, "captions": len(video.captions)})
    if as_json:
        print_json({"videos": rows, "problems": problems})
        return
    table(
        ("video", "file", "frames", "width", "height", "seconds", "captions"), [tuple(each.values()) for each in rows]
    )
    for sentence in problems:
        note(sentence)


@app.command(epilog=exit_codes(ok="scored", failures="reported, but some videos could not be read or scored"))
def edits(
    folder: Annotated[Path | None, typer.Argument(help="A folder of videos with captions. Default: the demo.")] = None,
    evaluator: Annotated[
        str, typer.Option(help="Name, NAME@CHECKPOINT or path/to/file.py:Name; it takes no references.")
    ] = "conse-lite2",
    frames: Annotated[str, typer.Option(help="Of each video: 'all', or so many, evenly spaced.")] = "8",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Write every row here, as CSV; - for standard output.", callback=_outputs.text
        ),
    ] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, mps; default: the best there is.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False,
) -> None:
    """Score the first caption of every video of a folder under edits of its frames.

    The video backwards is listed as what it is: the same score by construction, not a measurement.
    """
    from core.commands._progress import progress
    from core.corpora.demo import demo_dir
    from core.corpora.video_folder import read_video_folder
    from core.corpora.video_frames import Sampling
    from core.evaluators.pool import Pool
    from core.evaluators.video.video_evaluator import video_scorer
    from core.features.video import video_edits
    from core.features.video.video_edits import score_folder_edits
    from core.report.document import Table, cells
    from core.store.text_files import csv_text

    held = read_video_folder(folder or demo_dir() / "videos")
    sampling = Sampling.from_option(frames, name="--frames")
    with Pool(device=device).lease(evaluator) as loaded, progress("scoring", unit="videos") as update:
        rows, problems = score_folder_edits(loaded, held, sampling=sampling, progress=update)
        note(video_scorer(loaded, sampling=sampling).told)
    found = video_edits.edit_summary(rows)
    if out is not None:
        _outputs.write_text(out, csv_text(rows))
    if as_json:
        print_json({"edits": found.to_dict("records"), "problems": problems})
    else:
        made = Table("", "", "", found, video_edits.SUMMARY)
        table([each.header for each in video_edits.SUMMARY], cells(made), title=f"{len(held.videos)} videos")
        typer.echo(video_edits.NOTE)
    for sentence in problems:
        note(sentence)
    if problems or found["missing"].any():
        raise typer.Exit(Code.FAILURES)
