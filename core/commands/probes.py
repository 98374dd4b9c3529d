"""``probes``: every controlled edit, what it claims, and what the compatibility screen leaves out."""

from typing import TYPE_CHECKING, Annotated

import typer

from core.commands._shared import exit_codes, listed, note, print_json, table

if TYPE_CHECKING:
    from core.probes.base import Probe

app = typer.Typer(
    help="List the probes by axis and family, with what each expects of a score.",
    invoke_without_command=True,
    epilog=exit_codes(),
)


@app.callback()
def list_all(
    ctx: typer.Context,
    select: Annotated[
        list[str] | None, typer.Option("--probes", help="Names, families, axes, 'default' or 'all', comma-separated.")
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
                    _expects(each),
                    each.baseline,
                    "yes" if each.default else "",
                    each.summary,
                )
                for each in ordered
            ],
        )
    for broken in known.broken:
        note(f"{broken.where} could not be loaded: {broken.error}")


def _expects(probe: "Probe") -> str:
    return f"{probe.expectation.value}{' (control)' if probe.control else ''}"
