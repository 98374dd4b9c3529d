"""``probes``: every controlled edit, what it claims, and what the compatibility screen leaves out."""

from pathlib import Path
from typing import Annotated

import typer

from core.commands._shared import AsJson, exit_codes, key_values, listed, note, print_json, table

app = typer.Typer(
    help="List the probes by axis and family, with what each expects of a score.",
    invoke_without_command=True,
    epilog=exit_codes(),
)


@app.callback()
def list_all(
    ctx: typer.Context,
    select: Annotated[
        list[str] | None,
        typer.Option("--probes", help="Names, families, axes, 'default', 'directional' or 'all', comma-separated."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the probes by axis and family, with what each expects of a score."""
    if ctx.invoked_subcommand is not None:
        return
    from core.probes.registry import catalogue
    from core.probes.registry import select as choose

    known = catalogue()
    chosen = choose(listed(select)) if select else tuple(known)
    ordered = sorted(chosen, key=lambda each: (each.axis.value, each.family))  # stable: catalogue order inside
    if as_json:
        fields = (
            *("name", "axis", "family", "expectation", "baseline", "edits"),
            *("modifier", "control", "default", "selector", "summary", "source"),
        )
        print_json([{field: getattr(each, field) for field in fields} for each in ordered])
    else:
        rows = []
        for each in ordered:
            expects = f"{each.expectation.value}{' (control)' if each.control else ''}"
            grid = "yes" if each.default else each.selector
            rows.append((each.axis.value, each.family, each.name, expects, each.baseline, grid, each.summary))
        table(("axis", "family", "probe", "expects", "baseline", "grid", "what it does"), rows)
    for broken in known.broken:
        note(f"{broken.where} could not be loaded: {broken.error}")


@app.command(epilog=exit_codes(ok="listed"), short_help="List the captions that the screen leaves out.")
def rejected(
    corpus: Annotated[str, typer.Option(help="Corpus whose labels are screened; 'corpora' lists them.")] = "demo",
    root: Annotated[Path | None, typer.Option(help="Folder of the corpus.")] = None,
    option: Annotated[list[str] | None, typer.Option(help="key=value of the loader, e.g. split=val2017.")] = None,
    family: Annotated[list[str] | None, typer.Option(help="Only these families, comma-separated.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the modifier-noun pairs that the compatibility screen leaves out, each with its reason."""
    from dataclasses import asdict

    from core.corpora.registry import find
    from core.probes.words.natural_captions import labelled
    from core.probes.words.screening import rejected_pairs

    wanted = listed(family)
    items = labelled(find(corpus).load(root, **key_values(option))).items
    pairs = [pair for pair in rejected_pairs(items) if not wanted or pair.family in wanted]
    if as_json:
        print_json([asdict(pair) for pair in pairs])
        return
    rows = [(each.family, each.modifier, each.label, each.code, each.items, each.detail) for each in pairs]
    table(("family", "modifier", "noun", "reason", "items", "why"), rows)
    typer.echo(f"{len(pairs):,} pairs are left out over {len(items):,} items")


@app.command(epilog=exit_codes(ok="listed"), short_help="List why an item, a variant or a score can be missing.")
def reasons(as_json: AsJson = False) -> None:
    """List the codes of items, variants and scores that are left out or null, with what each means."""
    from core.probes.rejections import CODES

    if as_json:
        print_json(dict(CODES))
    else:
        table(("reason", "what it means"), list(CODES.items()))
