"""``probes``: every controlled edit, what it claims, and what the compatibility screen leaves out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core.commands._shared import exit_codes, key_values, listed, note, print_json, table

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping


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
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False,
) -> None:
    """List the probes by axis and family, with what each expects of a score."""
    if ctx.invoked_subcommand is not None:
        return
    from core.probes.registry import catalogue
    from core.probes.registry import select as choose

    known = catalogue()
    chosen = choose(listed(select)) if select else tuple(known)
    ordered = sorted(chosen, key=lambda each: (each.axis.value, each.family))  # stable: catalogue order inside
    fields = (
        "name",
        "axis",
        "family",
        "expectation",
        "baseline",
        "edits",
        "modifier",
        "control",
        "default",
        "selector",
        "summary",
        "source",
    )
    if as_json:
        print_json([{field: getattr(each, field) for field in fields} for each in ordered])
    else:
        table(
            ("axis", "family", "probe", "expects", "baseline", "grid", "what it does"),
            [
                (
                    each.axis.value,
                    each.family,
                    each.name,
                    f"{each.expectation.value}{' (control)' if each.control else ''}",
                    each.baseline,
                    "yes" if each.default else each.selector,
                    each.summary,
                )
                for each in ordered
            ],
        )
    for broken in known.broken:
        note(f"{broken.where} could not be loaded: {broken.error}")


@app.command(epilog=exit_codes(ok="listed"), short_help="List the captions that the screen leaves out.")
def rejected(
    corpus: Annotated[str, typer.Option(help="Corpus whose labels are screened; 'corpora' lists them.")] = "demo",
    root: Annotated[Path | None, typer.Option(help="Folder of the corpus.")] = None,
    option: Annotated[list[str] | None, typer.Option(help="key=value of the loader, e.g. split=val2017.")] = None,
    family: Annotated[list[str] | None, typer.Option(help="Only these families, comma-separated.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False,
) -> None:
    """List the modifier-noun pairs that the compatibility screen leaves out, each with its reason."""
    from dataclasses import asdict

    from core.corpora.registry import find
    from core.probes.caption_labels import labelled
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


@app.command(epilog=exit_codes(ok="read"), short_help="Say how far two taggers select the same captions.")
def taggers(
    corpus: Annotated[str, typer.Option(help="Corpus whose captions are read; 'corpora' lists them.")] = "demo",
    root: Annotated[Path | None, typer.Option(help="Folder of the corpus.")] = None,
    option: Annotated[list[str] | None, typer.Option(help="key=value of the loader, e.g. slice=all.")] = None,
    examples: Annotated[int, typer.Option(min=0, help="Captions of each step that they read otherwise, at most.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False,
) -> None:
    """Read a corpus's English captions by the rules and by spaCy, and say how far they select the same.

    The optional extra invariscope[tagger] must be installed. Intervals are over items, whose captions go together.
    """
    from core.analysis.tagging import compare
    from core.corpora.registry import find
    from core.probes.words.taggers import RULES, SPACY, tagger

    one, other = tagger(RULES), tagger(SPACY)
    items = find(corpus).load(root, **key_values(option)).items
    found = compare(items, one, other)
    if as_json:
        told = {
            "corpus": corpus,
            "items": len(items),
            "captions": found.captions,
            "taggers": [dict(one.describe()), dict(other.describe())],
        }
        print_json({**told, "steps": found.steps.to_dict("records"), "apart": found.apart.to_dict("records")})
        return
    typer.echo(f"{found.captions:,} English captions of {len(items):,} items of {corpus}, {RULES} held against {SPACY}")
    rows = [
        (
            row["step"],
            row["n"],
            row["n_one"],
            row["n_other"],
            row["n_both"],
            *(_told(row, name) for name in ("precision", "recall", "kappa")),
        )
        for row in found.steps.to_dict("records")
    ]
    table(("step", "n", RULES, SPACY, "both", "precision [95 %]", "recall [95 %]", "Cohen's κ [95 %]"), rows)
    shown = found.apart.groupby("step", sort=False).head(examples)
    if len(shown):
        apart = [
            (row["step"], row["word"], RULES if row["one"] else SPACY, row["caption"])
            for row in shown.to_dict("records")
        ]
        table(("step", "word", "yes by", "caption"), apart, title="\nRead otherwise")


def _told(row: "Mapping[Hashable, Any]", name: str) -> str:
    value, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
    if value != value:
        return "none"
    return f"{value:.3f}" if low != low else f"{value:.3f} [{low:.3f}, {high:.3f}]"


@app.command(epilog=exit_codes(ok="listed"), short_help="List why an item, a variant or a score can be missing.")
def reasons(as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False) -> None:
    """List the codes of items, variants and scores that are left out or null, with what each means."""
    from core.probes.rejections import CODES

    if as_json:
        print_json(dict(CODES))
    else:
        table(("reason", "what it means"), list(CODES.items()))
