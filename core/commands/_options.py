"""Options of an audit that every command that runs one takes: at once, or as a job."""

from pathlib import Path
from typing import Annotated

import typer

CorpusName = Annotated[str, typer.Option(help="demo, coco, folder, …: 'corpora' lists them.")]
Root = Annotated[Path | None, typer.Option(help="Folder of the corpus, where it needs one.")]
CorpusOption = Annotated[list[str] | None, typer.Option(help="key=value of the corpus, e.g. split=val2017.")]
Probes = Annotated[
    list[str] | None,
    typer.Option(help="Names, families, axes, 'default', 'directional' or 'all', comma-separated."),
]
Languages = Annotated[list[str] | None, typer.Option(help="Languages of the human captions, e.g. en,de. Default: en.")]
CaptionsEach = Annotated[
    int, typer.Option(min=1, help="Most human captions of an item in each language, the first ones.")
]
Limit = Annotated[int | None, typer.Option(min=1, help="Only the first items.")]
Sample = Annotated[
    int | None, typer.Option(min=1, help="Draw so many items by the seed, evenly over category and coverage.")
]
Device = Annotated[str | None, typer.Option(help="cpu, cuda, mps. Default: the best there is.")]
Workers = Annotated[
    int, typer.Option(min=1, help="Processes that render and score, each with models of its own. Same bytes.")
]
Cluster = Annotated[
    str | None,
    typer.Option(help="Address of a Ray cluster whose actors do it: auto, HOST:6379. docs/cluster.md starts one."),
]
