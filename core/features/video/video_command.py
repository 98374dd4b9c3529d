"""``video``: document frequencies, and what a folder of videos holds."""

from pathlib import Path
from typing import Annotated

import typer

from core.commands import _outputs
from core.commands._shared import exit_codes, note, print_json, table

app = typer.Typer(help="Videos: count document frequencies, look at a folder.", no_args_is_help=True)


@app.command(epilog=exit_codes(ok="written"))
def idf(
    captions: Annotated[
        Path, typer.Argument(help="Captions, one a line of a .txt, e.g. VATEX's training part; or as for 'score'.")
    ],
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
    from core.corpora.caption_tables import ENDINGS, read_caption_table
    from core.corpora.corpus_files import read_text
    from core.evaluators.video.video_evaluator import clip_idf
    from core.store.text_files import json_text

    ending = Path(captions.name.lower().removesuffix(".gz")).suffix
    if ending in ENDINGS and ending != ".txt":
        texts = [text for row in read_caption_table(captions).rows() for text in row.captions or row.references]
    else:
        texts = read_text(captions).removesuffix("\n").split("\n")
    made = clip_idf(texts, corpus=corpus or captions.name)
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
