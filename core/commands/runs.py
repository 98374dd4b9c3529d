"""``runs``: the audits on this machine and how far each came."""

from pathlib import Path
from typing import Annotated

import typer

from core.commands._shared import note, print_json, table


def runs(
    folder: Annotated[
        list[Path] | None, typer.Argument(help="Folders to look in; default: your own runs and the shipped results.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the manifests as JSON for a script.")] = False,
) -> None:
    """List the runs on this machine, your own and those that ship, with their state."""
    from core import settings
    from core.errors import StoreError
    from core.store.run_files import read_run, run_folders, seal_told, without_seal
    from core.store.whole import why_not_whole

    found = []
    for place in folder or (settings.results_dir(), settings.runs_dir()):
        for path in run_folders(place):
            try:
                found.append(read_run(path))
            except StoreError as error:
                note(str(error))
    if as_json:
        told = [{"folder": str(run.path), "verified": run.verified, "damaged": why_not_whole(run)} for run in found]
        print_json([{**each, **without_seal(run.manifest)} for each, run in zip(told, found, strict=True)])
        return
    damaged = {run.path: why for run in found if (why := why_not_whole(run))}
    columns = ("run", "state", "corpus", "items", "scores", "null", "evaluators", "seal", "folder")
    rows = []
    for run in found:
        said, counts = run.manifest, run.manifest["counts"]
        names = ", ".join(str(each.get("name")) for each in said.get("evaluators", []))
        items, state = counts.get("items_kept", counts.get("items")), "damaged" if run.path in damaged else run.status
        scores = counts.get("rows"), counts.get("scores_null")
        rows.append((run.id, state, said["corpus"].get("name"), items, *scores, names, seal_told(run), run.path))
    table(columns, rows)
    for sentence in damaged.values():
        note(sentence)
    if not found:
        note("no run yet; start one with: python -m core audit")
