"""``regions``: what UMIC needs beside its weights."""

from pathlib import Path
from typing import Annotated, Any

import typer

from core.commands import _outputs, audit
from core.commands._shared import Code, exit_codes, key_values, note, progress

app = typer.Typer(
    help="Regions for UMIC: find them in pictures, or among another detector's files.", no_args_is_help=True
)


@app.command(epilog=exit_codes(ok="written", failures="some pictures cannot be read; the others are written"))
def extract(
    pictures: Annotated[Path, typer.Argument(help="A picture, or a folder of pictures, folders inside it included.")],
    out: Annotated[Path, typer.Option(help="Folder to write the regions into.", callback=_outputs.folder)],
    device: Annotated[str, typer.Option(help="cpu, cuda, mps; empty: the best that is here.")] = "",
) -> None:
    """Find regions in pictures with bottom-up attention, and write them in the layout of UNITER's authors.

    UMIC needs none of this where it runs beside the detector: it finds regions as it scores. A folder of them serves
    machines without a GPU, where a picture takes the detector about 12 seconds of one core. Get the detector with:
    python -m core evaluators get umic.
    """
    from core.corpora.image_header import SUFFIXES
    from core.errors import InvalidInput, NotAvailable
    from core.evaluators.metrics.umic import GET, REGIONS, Umic
    from core.evaluators.pool import best_device
    from core.evaluators.regions.source import extract_regions

    every = [pictures] if pictures.is_file() else sorted(each for each in pictures.rglob("*") if each.is_file())
    chosen = [each for each in every if each.suffix.lower() in SUFFIXES]
    if not chosen:
        raise InvalidInput(f"no picture at {pictures}; give a folder of {', '.join(SUFFIXES)} files")
    detector = Umic.detector(device or best_device())
    if detector is None:
        raise NotAvailable(f"the detector of UMIC's regions is not here; get it with: {GET}")
    with progress("extract", unit="pictures") as update:
        found, unread = extract_regions(chosen, out, detector, progress=lambda done: update(done, len(chosen), None))
    typer.echo(f"{found:,} of {len(chosen):,} pictures have regions in {out}")
    for sentence in unread:
        note(sentence)
    note(f"use them with: {REGIONS}={out}")
    if unread:
        raise typer.Exit(Code.FAILURES)


@app.command(epilog=exit_codes(ok="written"))
@audit.asks("folder corpus root option", corpus={"default": "coco"})
def index(
    asked: dict[str, Any],
    folder: Annotated[Path, typer.Argument(help="Folder of regions: npz files, or LMDB as UMIC's authors ship it.")],
) -> None:
    """Find a corpus's pictures among precomputed regions by their file names, and write index.json beside them."""
    from core.corpora.registry import find
    from core.evaluators.regions.source import index_regions

    found, total = index_regions(find(asked["corpus"]).load(asked["root"], **key_values(asked["option"])), folder)
    typer.echo(f"{found:,} of {total:,} pictures have regions in {folder}")
    note(f"use them with: INVARISCOPE_UMIC_REGIONS={folder}")
