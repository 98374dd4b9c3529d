"""``evaluators``: which ones there are, whether they can run here, and how to get what is missing."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core.commands import _outputs
from core.commands._shared import AsJson, Code, Teller, exit_codes, note, print_json, progress, table

if TYPE_CHECKING:
    from core.evaluators.weights.catalogue import Weights
    from core.evaluators.weights.fetched import Published

EPILOG = exit_codes()
app = typer.Typer(
    help="List the evaluators, whether they can run here, and the command that gets what is missing.",
    invoke_without_command=True,
    epilog=EPILOG,
)


@app.callback()
def list_all(ctx: typer.Context, as_json: AsJson = False) -> None:
    """List the evaluators, whether they can run here, and the command that gets what is missing."""
    if ctx.invoked_subcommand is not None:
        return
    from core.evaluators.registry import catalogue, families

    known = catalogue()
    records = [_record(each) for each in known]
    if as_json:
        print_json(records)
    else:
        rows = []
        for record in records:
            read = record["languages"]  # all of them stand in the JSON and in ``show``
            reads = f"{', '.join(read[:6])}{f' … ({len(read)})' if len(read) > 6 else ''}" or "unknown"
            here = "ready" if record["ready"] else "not available"
            rows.append((record["name"], here, record["title"], reads, record["command"]))
        table(("evaluator", "here", "what it is", "reads", "get it with"), rows)
    for each in families():
        note(f"more on demand: {each.form}")
    for broken in known.broken:
        note(f"{broken.where} could not be loaded: {broken.error}")


@app.command(epilog=exit_codes(ok="shown"), short_help="Load one evaluator and show its fingerprint.")
def show(
    name: Annotated[str, typer.Argument(help="A name from the list, or path/to/file.py:Name.")],
    device: Annotated[str, typer.Option(help="Where to load it: cpu, cuda, mps.")] = "cpu",
    as_json: AsJson = False,
) -> None:
    """Load one evaluator and show its fingerprint: everything that its scores depend on."""
    from core.evaluators.registry import find

    evaluator = find(name)
    record = _record(evaluator)
    evaluator.check_available()
    loaded = evaluator.load(device=device)
    fingerprint = loaded.fingerprint
    record["fingerprint"] = {"key": fingerprint.key, **fingerprint.as_dict()}
    if asked := loaded.asked:
        record["asked"] = asked
    if as_json:
        print_json(record)
        return
    flat = {
        **{key: value for key, value in record.items() if key != "fingerprint"},
        **_flat("fingerprint", record["fingerprint"]),
    }
    asked = flat.pop("asked", "")
    flat.pop("fingerprint.settings.text", None)  # it stands below, in its lines
    table(("what", "value"), [(key, value) for key, value in flat.items() if value not in ("", None)])
    if asked:
        typer.echo(f"\nWhat is asked:\n\n{asked}")


@app.command(
    epilog=exit_codes(
        ok="the weights are here", failures="they are here, and score the publisher's own example otherwise"
    ),
    short_help="Fetch the weights of a published evaluator.",
)
def get(
    name: Annotated[str, typer.Argument(help="A name from the list, or open_clip:MODEL/WEIGHTS.")],
    weights: Annotated[
        Path | None, typer.Option(help="A file or folder that is here already: check it and remember where it is.")
    ] = None,
    label: Annotated[
        str | None, typer.Option("--as", help="With --weights: list it beside the published one, as NAME@LABEL.")
    ] = None,
    optional: Annotated[
        bool, typer.Option(help="Also fetch what it can do without, such as the detector of UMIC's regions.")
    ] = True,
    progress_file: _outputs.ProgressFile = None,
    job: Annotated[str | None, typer.Option(hidden=True)] = None,  # noqa: ARG001  # names the process of a job
) -> None:
    """Fetch the weights of a published evaluator, check them, and say where they are.

    Where they come from and how large they are is said first; where no command can fetch a part of them, nothing is
    fetched, and it says what to do. A download that was cut off goes on where it stopped. With --weights no weights
    are fetched. Last, where the publisher prints values for an example, its pictures and captions are fetched and
    scored, and must give these values; without a network it says that nothing was checked.
    """
    from core.errors import InvalidInput, NotAvailable
    from core.evaluators.registry import find
    from core.evaluators.weights.fetched import Published, keep, optional_sets, sets, usual

    kind = find(name)
    if not issubclass(kind, Published):
        raise InvalidInput(f"{name} has no weights to fetch; it is listed by: python -m core evaluators show {name}")
    if weights is None and label is not None:
        raise InvalidInput("--as names a checkpoint given with --weights PATH; give both")
    if weights is not None:
        _remember(kind, weights, label)
        if label is None:
            _self_check(kind)
        return
    _say_what_comes(kind)
    needed, further = sets(kind.entry), optional_sets(kind.entry) if optional else ()
    tell = Teller(progress_file, 100, parts=len(needed) + len(further))  # percent of all sets
    for known in (*needed, *further):
        try:
            _fetch(known, tell)
        except NotAvailable as error:
            if known in needed:
                raise
            note(f"{kind.spec.name} can do without {known.title}, which is not here: {error}")
    if ":" in kind.spec.name:  # made on demand: the list knows it from now on
        keep(kind.spec.name, usual(sets(kind.entry)[0]))
    here = kind.availability()
    lacking = f"has its weights, but cannot score yet: {here.reason}"
    typer.echo(f"{kind.spec.name} {'is ready' if here.ready else lacking}")
    _self_check(kind)
    tell.complete()


def _say_what_comes(kind: "type[Published]") -> None:
    """Say what will be fetched and how large it is; NotAvailable, before anything is, if a set that it needs cannot."""
    from core.errors import NotAvailable
    from core.evaluators.weights.download import refusal

    missing = [place.weights for place in kind.places() if place.missing]
    for known in missing:
        if why := refusal(known):
            raise NotAvailable(f"nothing was fetched for {kind.spec.name}, which cannot score without this. {why}")
    if missing:
        told = "; ".join(f"{known.title} from {known.where}" for known in missing)
        note(f"{kind.spec.name} needs {told}. {kind.entry.size}")


def _self_check(kind: "type[Published]") -> None:
    from core.evaluators.pool import Pool
    from core.evaluators.self_check import example_of, self_check

    if example_of(kind.spec.name) is None or not kind.availability().ready:
        return
    with Pool().lease(kind.spec.name) as loaded:
        found = self_check(loaded)
    assert found is not None
    if found.outcome == "passed":
        typer.echo(found.told)
        return
    note(found.told)
    if found.outcome == "failed":
        raise typer.Exit(Code.FAILURES)


def _fetch(known: "Weights", tell: "Teller") -> None:
    from core.evaluators.weights.download import fetch
    from core.evaluators.weights.fetched import Place, kept, usual

    place = Place(known, kept().get(known.id, usual(known)))
    if place.missing:
        with progress(f"fetching {known.title}", unit="files" if known.kind == "hub" else "bytes") as update:
            fetch(known, tell.beside(update))
        place = Place(known, usual(known))
    _say(place.digest(), known, place.path)
    tell.part_done()


def _say(digest: str, known: "Weights", path: Path) -> None:
    published = all(each.sha256 for each in known.files)
    checked = "as published" if published else "no hash is published; recorded with every score"
    typer.echo(f"{known.title}: {path}\n  sha256 {digest} ({checked})")


def _remember(kind: "type[Published]", path: Path, label: str | None) -> None:
    """Check what lies at a path and remember it: for the published evaluators, or under its own label."""
    from core.errors import InvalidInput, NotAvailable
    from core.evaluators.registry import CHECKPOINT, find
    from core.evaluators.weights.fetched import Place, checked_label, keep, optional_sets, optional_within, sets, within

    if not path.exists():
        raise InvalidInput(f"no file or folder {path}; give the path of the weights")
    optional = [place for known in optional_sets(kind.entry) if (place := optional_within(known, path))]
    named = path.is_file() and bool(optional)  # a file's name says what it can do without
    found = [] if named else [place for known in sets(kind.entry) if (place := within(known, path))]
    if not found and (label is not None or not optional):
        every = (*sets(kind.entry), *optional_sets(kind.entry))
        wanted = "; ".join(f"{each.title} ({each.files[0].name} …)" for each in every)
        raise InvalidInput(f"{path} holds none of what {kind.spec.name} needs: {wanted}")
    if label is not None:
        name = f"{kind.spec.name}{CHECKPOINT}{checked_label(label)}"
        find(f"{kind.spec.name}{CHECKPOINT}{path}").load()  # a file that cannot be loaded is not worth keeping
        keep(name, path)
        typer.echo(f"{name} is ready: {path}")
        return
    for place in found:
        _refuse_no_checkpoint(place)
        try:
            Place(place.weights, place.path).digest()
        except NotAvailable as error:
            wrong = str(error).split(" has ", 1)[-1].split(":", 1)[0]
            raise InvalidInput(
                f"{path} is not the published file ({wrong}); score with it as {kind.spec.name}{CHECKPOINT}{path}, or "
                "list it under its own name with --as LABEL"
            ) from error
    for place in optional:
        kind.try_optional(place)
    if found:
        find(f"{kind.spec.name}{CHECKPOINT}{path}").load()
    if found and ":" in kind.spec.name:
        keep(kind.spec.name, path)
    for place in (*found, *optional):
        keep(place.weights.id, place.path)
        _say(replace(place, own=False).digest(), place.weights, place.path)


def _refuse_no_checkpoint(place: Any) -> None:
    """Say what a file is that is no checkpoint at all, before its hash is held against the publisher's."""
    from core.evaluators.weights.checkpoints import KINDS, refuse_other

    for file in place.files():
        if file == place.path or file.suffix in KINDS:
            refuse_other(file)


def _record(evaluator: Any) -> dict[str, Any]:
    return asdict(evaluator.spec) | asdict(evaluator.availability())


def _flat(prefix: str, values: dict[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= _flat(f"{prefix}.{key}", value) if isinstance(value, dict) else {f"{prefix}.{key}": value}
    return flat
