"""``evaluators``: which ones there are, whether they can run here, and how to get what is missing."""

from typing import Annotated, Any

import typer

from core.commands._shared import exit_codes, note, print_json, table

EPILOG = exit_codes()
app = typer.Typer(
    help="List the evaluators, whether they can run here, and the command that gets what is missing.",
    invoke_without_command=True,
    epilog=EPILOG,
)


@app.callback()
def list_all(
    ctx: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False,
) -> None:
    """List the evaluators, whether they can run here, and the command that gets what is missing."""
    if ctx.invoked_subcommand is not None:
        return
    from core.evaluators.registry import catalogue

    known = catalogue()
    records = [_record(each) for each in known]
    if as_json:
        print_json(records)
    else:
        rows = [(r["name"], "ready" if r["ready"] else "not available", r["title"], r["command"]) for r in records]
        table(("evaluator", "here", "what it is", "get it with"), rows)
    for broken in known.broken:
        note(f"{broken.where} could not be loaded: {broken.error}")


@app.command(epilog=exit_codes(ok="shown"), short_help="Load one evaluator and show its fingerprint.")
def show(
    name: Annotated[str, typer.Argument(help="A name from the list, or path/to/file.py:Name.")],
    device: Annotated[str, typer.Option(help="Where to load it: cpu, cuda, mps.")] = "cpu",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False,
) -> None:
    """Load one evaluator and show its fingerprint: everything that its scores depend on."""
    from core.errors import NotAvailable
    from core.evaluators.registry import find

    evaluator = find(name)
    record = _record(evaluator)
    if not record["ready"]:
        raise NotAvailable(f"{name} is not available: {record['reason']}; get it with: {record['command']}")
    fingerprint = evaluator.load(device=device).fingerprint
    record["fingerprint"] = {"key": fingerprint.key, **fingerprint.as_dict()}
    if as_json:
        print_json(record)
        return
    flat = {
        **{key: value for key, value in record.items() if key != "fingerprint"},
        **_flat("fingerprint", record["fingerprint"]),
    }
    table(("what", "value"), [(key, value) for key, value in flat.items() if value not in ("", None)])


def _record(evaluator: Any) -> dict[str, Any]:
    """Everything that is known of an evaluator without loading it."""
    from core.evaluators.base import describe

    available = evaluator.availability()
    return {
        **describe(evaluator.spec),
        "ready": available.ready,
        "reason": available.reason,
        "command": available.command,
    }


def _flat(prefix: str, values: dict[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= _flat(f"{prefix}.{key}", value) if isinstance(value, dict) else {f"{prefix}.{key}": value}
    return flat
