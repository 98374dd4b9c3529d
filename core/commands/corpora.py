"""``corpora``: which ones can be read, what a folder yields, and the demo corpus's own build."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core.commands._shared import AsJson, exit_codes, key_values, note, print_json, table

if TYPE_CHECKING:
    from core.corpora.schema import Corpus

app = typer.Typer(
    help="List the corpora that can be read, count what a folder yields, build the demo corpus.",
    invoke_without_command=True,
    epilog=exit_codes(),
)


@app.callback()
def list_all(ctx: typer.Context, as_json: AsJson = False) -> None:
    """List the corpora that can be read."""
    if ctx.invoked_subcommand is not None:
        return
    from core.corpora.registry import catalogue

    known = catalogue()
    if as_json:
        fields = ("name", "summary", "needs_root")
        print_json([{**{field: getattr(each, field) for field in fields}, "options": each.takes} for each in known])
    else:
        rows = [(each.name, "yes" if each.needs_root else "no", each.summary) for each in known]
        table(("corpus", "needs --root", "what it is"), rows)
        options = [(each.name, key, meaning) for each in known for key, meaning in each.takes.items()]
        if options:
            table(("corpus", "--option", "what it means"), options, title="\nOptions, as --option key=value")
    for broken in known.broken:
        note(f"{broken.where} could not be loaded: {broken.error}")


@app.command(epilog=exit_codes(ok="read"), short_help="Count what is kept, and why the rest is not.")
def show(
    name: Annotated[str, typer.Argument(help="A name from the list.")],
    root: Annotated[Path | None, typer.Option(help="Folder of the corpus.")] = None,
    option: Annotated[list[str] | None, typer.Option(help="key=value of the loader, e.g. split=val2017.")] = None,
    as_json: AsJson = False,
) -> None:
    """Read a corpus and count what was kept, and what was left out by reason."""
    from core.corpora.registry import find
    from core.probes.words.natural_captions import labelled

    corpus = labelled(find(name).load(root, **key_values(option)))
    record = summary(corpus)
    if as_json:
        print_json(record)
        return
    typer.echo(f"{corpus.name}: {record['kept']:,} items kept, {record['rejected']:,} left out")
    typer.echo("An audit opens the pictures; one that cannot be read is left out there, with its reason.")
    if corpus.rejected:
        examples = {each.code: each.detail for each in reversed(corpus.rejected)}
        rows = [(code, count, examples[code]) for code, count in record["reasons"].items()]
        table(("reason", "items", "for example"), rows, title="Left out")
    if corpus.remarks:
        rows = [(each.code, each.count, f"{each.subject}: {each.detail}") for each in corpus.remarks]
        table(("remark", "times", "for example"), rows, title="Remarks: no item is lost to these")
    if record["tied"]:
        ties = [(label, each["category"], each["or"], each["items"]) for label, each in record["tied"].items()]
        items = sum(each["items"] for each in record["tied"].values())
        title = f"Tied labels: {items:,} items"
        table(("label", "category", "or", "items"), ties, title=title)
    counted = {"category": "categories", "coverage %": "coverage", "captions": "captions", "label from": "labels"}
    for heading, name in counted.items():
        if counts := record[name]:
            table((heading, "items"), list(counts.items()))


def summary(corpus: "Corpus") -> dict[str, Any]:
    """Count a corpus: kept, left out by reason, by category, by coverage bin, by caption language; its tied labels."""
    from collections import Counter

    from core.corpora.labels import told_ties
    from core.corpora.schema import COVERAGE_BINS
    from core.probes.words.natural_captions import origins

    bins = Counter(item.coverage_bin or "no box" for item in corpus.items)
    return {
        "corpus": corpus.name,
        "kept": len(corpus.items),
        "rejected": len(corpus.rejected),
        "reasons": corpus.rejection_counts(),
        "remarks": {each.code: each.count for each in corpus.remarks},
        "categories": dict(Counter(item.category or "none" for item in corpus.items).most_common()),
        "tied": told_ties(corpus),
        "coverage": {name: bins[name] for name in (*COVERAGE_BINS, "no box") if bins[name]},
        "captions": dict(Counter(language for item in corpus.items for language in item.captions).most_common()),
        "labels": origins(corpus.items),
        "with_mask": sum(item.mask is not None for item in corpus.items),
    }
