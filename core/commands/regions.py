"""``regions``: what UMIC needs beside its weights."""

from pathlib import Path
from typing import Annotated

import typer

from core.commands._shared import exit_codes, key_values, listed, note

app = typer.Typer(help="Regions for UMIC: pictures out to a detector, its files back.", no_args_is_help=True)

Corpus = Annotated[str, typer.Option(help="demo, coco, folder, …: 'corpora' lists them.")]
Root = Annotated[Path | None, typer.Option(help="Folder of the corpus, where it needs one.")]
Options = Annotated[list[str] | None, typer.Option("--option", help="key=value of the corpus, e.g. split=val2017.")]


@app.command(epilog=exit_codes(ok="written"))
def export(
    out: Annotated[Path, typer.Option(help="Folder to write the pictures into.")],
    corpus: Corpus = "demo",
    root: Root = None,
    option: Options = None,
    probes: Annotated[
        list[str] | None, typer.Option(help="Names, families, axes, 'default' or 'all', comma-separated.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first items.")] = None,
) -> None:
    """Write every picture that an audit would score, for a bottom-up-attention detector to find regions in.

    Let the detector write NAME.npz (features, norm_bb, conf) for each NAME.png, put the files into one folder and name
    it with INVARISCOPE_UMIC_REGIONS.
    """
    from core.audit.plan import make_plan
    from core.audit.region_files import export_pictures
    from core.commands._progress import progress
    from core.corpora.registry import catalogue

    plan = make_plan(
        catalogue().get(corpus).load(root, **key_values(option)),
        evaluators=("umic",),
        probes=listed(probes) or ("default",),
        root=root,
        limit=limit,
    )
    total = plan.cost().images
    with progress("export", unit="images") as update:
        count = export_pictures(plan, out, progress=lambda done: update(done, total, None))
    typer.echo(f"{count:,} pictures in {out}")


@app.command(epilog=exit_codes(ok="written"))
def index(
    folder: Annotated[Path, typer.Argument(help="Folder of regions: npz files, or LMDB as UMIC's authors ship it.")],
    corpus: Corpus = "coco",
    root: Root = None,
    option: Options = None,
) -> None:
    """Find a corpus's pictures among precomputed regions by their file names, and write index.json beside them."""
    from core.audit.region_files import index_regions
    from core.corpora.registry import catalogue

    found, total = index_regions(catalogue().get(corpus).load(root, **key_values(option)), folder)
    typer.echo(f"{found:,} of {total:,} pictures have regions in {folder}")
    note(f"use them with: INVARISCOPE_UMIC_REGIONS={folder}")
