"""``selfcheck``: what this tool finds of evaluators whose truth is known, at the n of a corpus or a run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core.commands._shared import Code, exit_codes, note, print_json, progress, table

if TYPE_CHECKING:
    from core.features.selfcheck.detection import Selfcheck
    from core.features.selfcheck.planted import PlantedAudit

EPILOG = exit_codes(ok="done, whatever was found", failures="a stored score is not the one that was planted")


def selfcheck(
    corpus: Annotated[str, typer.Option(help="demo, coco, folder, …: 'corpora' lists them.")] = "demo",
    root: Annotated[Path | None, typer.Option(help="Folder of the corpus, where it needs one.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first items.")] = None,
    run: Annotated[
        str | None, typer.Option(help="Id or path of a run: its items, as its report has them, and no picture is read.")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, max=2000, help="How often the items are resampled.")] = 100,
    seed: Annotated[int, typer.Option(help="Of everything that is drawn.")] = 2025,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False,
) -> None:
    """Audit planted evaluators with known truth, and say what would have been found of them at this n.

    One stands still, three have noise alone, nine lose 5, 10 or 25 % of the score in 30 % of the sources where the
    picture is upside down, one reads length only, one notices only negation. Repeats draw the corpus's sources anew and
    judge by what reports and 'check' judge by: how often a planted fall is found, how often noise alone is, and the
    smallest fall that is found in four of five repeats. The result is kept beside the runs, and a report on the same
    items has a line of it in its methods.
    """
    from core.corpora.registry import find
    from core.features.selfcheck.detection import digest_of, lines, write_selfcheck
    from core.features.selfcheck.detection import selfcheck as made
    from core.features.selfcheck.planted import audit_planted

    audit = audit_planted(find(corpus).load(root), seed=seed, limit=limit) if run is None else _of_run(run)
    if audit.apart:
        note(f"{audit.apart:,} of {audit.compared:,} stored scores are not what was planted: the audit is at fault")
        raise typer.Exit(Code.FAILURES)
    with progress("resampling", unit="repeats") as update:
        found = made(audit, digest_of(audit.items), repeats=repeats, seed=seed, progress=update)
    path = write_selfcheck(found)
    if as_json:
        print_json(as_plain(found))
    else:
        told = [(row, f"{row['rate']:.0f}", f"{row['low']:.0f} to {row['high']:.0f}") for row in lines(found)]
        names = ("planted", "family", "finding", "is")
        rows = [(*(row[name] for name in names), *rate, row["n"], row["note"]) for row, *rate in told]
        header = ("planted", "edits", "finding", "", "repeats with it, %", "95 % interval", "n", "remark")
        title = f"Planted evaluators on {found.corpus}: {found.items:,} items, {found.sources:,} sources"
        table(header, rows, title=title)
        if found.compared:
            note(f"{found.compared:,} scores of the audit were held against what was planted; all are the same")
        note(found.sentence())
    note(f"kept as {path}")


def _of_run(reference: str) -> "PlantedAudit":
    from core.analysis.reading import read_table
    from core.api.opened_run import place
    from core.errors import StoreError
    from core.features.selfcheck.planted import PlantedAudit, items_of, sources_of
    from core.store.store import Store

    with Store.open([place(reference)]) as store:
        if not store.runs():
            raise StoreError(store.problems[0] if store.problems else f"{reference} holds no run")
        found = read_table(store)
    table = found.only(found.scope.corpus)
    return PlantedAudit(table.scope.corpus, items_of(table), sources_of(table))


def as_plain(found: "Selfcheck") -> dict[str, Any]:
    """A selfcheck for a script: the page's rows, the smallest falls, and the line that reports have."""
    from core.analysis.effects import ends
    from core.features.selfcheck.detection import lines
    from core.features.selfcheck.planted import NOISES

    names = ("corpus", "items", "sources", "tests", "repeats", "seed", "compared", "digest")
    smallest = [(noise, found.smallest(noise)) for noise in NOISES]
    return {
        **{name: getattr(found, name) for name in names},
        "lines": list(lines(found)),
        "smallest_fall_percent": [{"noise_percent": 100 * noise, **ends(each)} for noise, each in smallest],
        "methods": found.sentence(),
    }
