"""``audit``: corpus × probes × evaluators, planned, run, resumed, and summed up; and the options of any audit."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core.audit.request import OFFLINE, AuditRequest
from core.commands import _outputs
from core.commands._shared import (
    Code,
    command_line,
    complain,
    exit_codes,
    key_values,
    listed,
    note,
    progress,
    references,
    table,
)
from core.errors import InvalidInput, ScoringStopped

if TYPE_CHECKING:
    from core.audit.estimate import Estimate
    from core.audit.plan import Plan
    from core.audit.run import Progress
    from core.store.run_files import Run

PROBE_FAILED = "probe-failed"  # rejection code of a variant whose probe raised what no probe should

EPILOG = exit_codes(
    ok="every pair has a score",
    failures="finished, but some scores are null or a probe failed (the run says which and why)",
)


_FIELDS = MappingProxyType({"option": "options", "language": "languages"})  # option -> field of another name
_LISTS = ("option", "probes", "evaluators", "language")
_PATHS = ("root", "idf")


def asks(options: str, **changed: Mapping[str, Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of an audit; it is told them as ``asked``: option -> value. ``options`` names all of
    the command's in their order, those that it declares itself and the request's; ``changed`` is what is another here
    of one of the request's: default, help or min."""

    def wrap(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command).parameters
        shared = [name for name in options.split() if name not in own]

        @wraps(command)
        def called(**given: Any) -> None:
            asked = {name: given.pop(name) for name in shared}
            command(**given, asked=asked)

        order = [own["ctx"]] if "ctx" in own else []
        order += [own[name] if name in own else _option(name, **changed.get(name, {})) for name in options.split()]
        by_name = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in order]
        called.__signature__ = inspect.Signature(by_name)  # type: ignore[attr-defined]
        called.__annotations__ = {each.name: each.annotation for each in order}
        return called

    return wrap


def request(asked: Mapping[str, Any], **usual: Any) -> AuditRequest:
    """What was asked; ``usual``: fields where nothing is asked of them. Raises InvalidInput for what cannot be used."""
    return AuditRequest.of(**{**usual, **fields(asked)})


def fields(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a request that options say something of."""
    read = {"option": key_values, "evaluators": references, "probes": listed, "language": listed}
    found = {_FIELDS.get(name, name): read[name](value) if name in read else value for name, value in asked.items()}
    return {name: value for name, value in found.items() if value not in (None, (), {})}


def _option(name: str, **changed: Any) -> inspect.Parameter:
    field = AuditRequest.model_fields[_FIELDS.get(name, name)]
    kind: Any = list[str] | None if name in _LISTS else Path | None if name in _PATHS else field.annotation
    least = next((each.ge for each in field.metadata if hasattr(each, "ge")), None)
    default = changed.pop("default", None if name in _LISTS else field.default)
    told = {"help": field.description, **({} if least is None else {"min": least}), **changed}
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, typer.Option(**told)]
    )


@asks(
    "corpus root option probes evaluators subject language captions_each idf limit sample seed run_id out resume "
    "overwrite device workers threads dry_run renderers cluster machines price progress_file"
)
def audit(
    ctx: typer.Context,
    asked: dict[str, Any],
    out: Annotated[
        Path | None, typer.Option(help="Folder of runs. Default: data/runs.", callback=_outputs.folder_above)
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run of that --run-id.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Start the run of that --run-id over.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done and what it costs, and stop.")
    ] = False,
    machines: Annotated[int, typer.Option(min=1, help="With --dry-run: on so many machines like this one.")] = 1,
    price: Annotated[
        float | None, typer.Option(min=0, help="With --dry-run: price of one machine for an hour.")
    ] = None,
    progress_file: _outputs.ProgressFile = None,
) -> None:
    """Score every item of a corpus under every probe with every evaluator, and store the run.

    A run that was stopped or killed goes on where it was: call it again with the same options, --run-id and --resume.
    """
    from core import settings
    from core.audit.estimate import estimate
    from core.audit.plan import make_plan, usual_evaluators
    from core.audit.run import ProgressFile, RunStopped, run_audit
    from core.corpora.registry import find
    from core.evaluators.memory import AUDIT_KEPT_MB, keep_freed
    from core.evaluators.pool import Pool
    from core.writing import check_folder

    target = out or settings.runs_dir()
    _check_options(target, resume=resume, overwrite=overwrite, run_id=asked["run_id"])
    if not dry_run and (machines > 1 or price is not None):
        raise InvalidInput("--machines and --price say what --dry-run would tell; add it, or leave them out")
    items = find(asked["corpus"]).load(asked["root"], **key_values(asked["option"]))
    wanted = request(asked, evaluators=usual_evaluators(items, OFFLINE))
    plan = make_plan(items, wanted)
    for warning in plan.warnings:
        note(f"warning: {warning}")
    hands: dict[str, Any] = {name: getattr(wanted, name) for name in ("workers", "threads", "device")}
    if dry_run:
        told = estimate(plan, target, **hands, cluster=wanted.cluster is not None)
        _tell_plan(plan, target, told, machines=machines, price=price)
        return
    name = wanted.run_id or plan.usual_run_id()
    if out is not None:
        check_folder(out / name)
    given = {**ctx.params, "progress_file": None}  # says nothing of the run
    tell = ProgressFile(progress_file) if progress_file else None
    again = command_line(ctx, {**given, "run_id": name, "resume": True, "overwrite": False})
    keep_freed(AUDIT_KEPT_MB)
    try:
        with progress("audit", unit="images") as update:

            def report(at: "Progress") -> None:
                update(at.done, at.total, at.eta_s, at.doing)
                if tell is not None:
                    tell(at)

            run = run_audit(
                plan,
                target,
                run_id=name,
                existing="resume" if resume else "replace" if overwrite else "refuse",
                pool=Pool(device=wanted.device),
                **hands,
                renderers=wanted.renderers,
                cluster=wanted.cluster,
                progress=report,
                command=command_line(ctx, given),
            )
    except (RunStopped, KeyboardInterrupt) as error:
        why = error.__cause__ if isinstance(error.__cause__, ScoringStopped) else "interrupted"
        complain(f"{why}; resume with: {again}")
        raise typer.Exit(Code.INTERRUPTED) from None
    _sum_up(run)
    counts = run.manifest["counts"]
    if counts["scores_null"] or counts["variants_rejected_by_code"].get(PROBE_FAILED):
        raise typer.Exit(Code.FAILURES)


def _check_options(target: Path, *, resume: bool, overwrite: bool, run_id: str | None) -> None:
    if resume and overwrite:
        raise InvalidInput("--resume and --overwrite exclude each other; choose one")
    if resume and run_id is None:
        from core.store.run_files import COMPLETE, list_runs

        unfinished = ", ".join(run.id for run in list_runs(target) if run.status != COMPLETE) or "none"
        raise InvalidInput(f"--resume needs --run-id; unfinished in {target}: {unfinished}")


def _tell_plan(plan: "Plan", out: Path, told: "Estimate", *, machines: int, price: float | None) -> None:
    from core.api.progress_lines import duration
    from core.corpora.curation import balance
    from core.corpora.labels import tied_in_words

    cost = told.cost
    typer.echo(f"{plan.corpus.name}: {cost.items:,} items, {len(plan.corpus.rejected):,} left out by the loader")
    for code, count in plan.corpus.rejection_counts().items():
        typer.echo(f"  {count:,} {code}")
    for remark in plan.corpus.remarks:
        typer.echo(f"  remarked {remark.count:,} times: {remark.code}")
    bins, categories = balance(plan.corpus.items)
    counted = [(name, *counts, sum(counts)) for name, counts in categories]
    table(("category", *bins, "items"), counted, title="Planned items by category and coverage in percent")
    if ties := tied_in_words(plan.corpus):
        typer.echo(ties)
    frames = sum(len(item.frames) for item in plan.corpus.items)
    edits = f"{len(plan.image_probes)} edit the image, {len(plan.caption_probes)} the caption"
    kept, working, free = (_megabytes(size) for size in (told.kept_bytes, told.working_bytes, told.free_bytes))
    rows: list[tuple[object, ...]] = [
        ("probes", len(plan.probes), edits),
        ("unique videos" if plan.videos else "unique images", cost.images, "at most: rejected variants make it less"),
        *([("frames", frames, "decoded of the videos as they are; each edit is of these")] if plan.videos else []),
        ("unique captions", cost.captions, "at most"),
        ("rows of scores", cost.rows, f"at most, {cost.pairs:,} pairs for each evaluator"),
        ("shards", told.shards, f"of at most {plan.shard_items} items, each written as a whole"),
        ("disk", kept, f"about, and {working} while it runs; {free} are free in {out}"),
    ]
    table(("", "number", ""), rows)
    works = [
        (
            each.name,
            each.inputs,
            "every unique image and caption once" if each.dual else "every pair",
            "" if each.seconds is None else f"about {duration(each.seconds)}",
            "" if each.available.ready else each.available.command,
        )
        for each in told.work
    ]
    table(("evaluator", "inputs", "which", "time in one worker, from an earlier run here", "get it with"), works)
    _tell_time(told, machines, price)
    _tell_power(plan, cost.items)


def _tell_time(told: "Estimate", machines: int, price: float | None) -> None:
    """Print how long so many workers and machines would take, what they hold, and what that costs."""
    from core.api.progress_lines import duration

    held = f"{_megabytes(told.weights_mb * 1e6)} of weights in memory at most"
    held += f" in all, {_megabytes(told.worker_mb * 1e6)} in each worker" if told.cluster else ""
    held += " on each machine" if machines > 1 and not told.cluster else ""
    who = f"{told.workers} {'worker' if told.workers == 1 else 'workers'} of {told.threads} "
    who += "thread" if told.threads == 1 else "threads"
    like = f"{machines} {'machine' if machines == 1 else 'machines'} like this one"
    if told.cluster:
        who = f"a cluster of {like} with {who} in all"
    elif machines > 1:
        who = f"{like} with {who}"
    seconds = told.seconds_on(machines)
    if seconds is None:
        missing = ", ".join(told.unmeasured)
        typer.echo(f"{who}: {held}; time unknown, no run here measured {missing} with as many threads")
        return
    typer.echo(f"{who}: about {duration(seconds)} of scoring if none slows another, {held}")
    if price is not None:
        typer.echo(f"at {price:g} for a machine and an hour: about {told.price(machines, price):,.2f}")


def _tell_power(plan: "Plan", items: int) -> None:
    from core.analysis.planned import drifting, planned, prior
    from core.store.store import default_store

    asked = {"evaluators": [spec.name for spec in plan.specs], "families": drifting(plan.probes)}
    with default_store() as store:
        known = prior(store, **asked, corpus=plan.corpus.name, subject=plan.subjects[0])
    told = planned(known, **asked, n=items)
    if len(told.table):
        rows = [
            (row.evaluator, row.family, row.n_items, f"{row.detectable:.2f} %", f"{row.run}, n = {row.n_prior}")
            for row in told.table.itertuples()
        ]
        table(("evaluator", "family", "items", "smallest drift", "scatter as in run"), rows)
    for sentence in told.sentences():
        typer.echo(sentence)


def _megabytes(size: float) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e10 else f"{max(size / 1e6, 0.1):,.1f} MB"


def _sum_up(run: "Run") -> None:
    """Say what was kept, what was left out and why, what was scored, and where it lies."""
    from core.api.progress_lines import duration
    from core.probes.rejections import meaning

    counts = run.manifest["counts"]
    seconds = duration(run.manifest["elapsed_seconds"])
    typer.echo(f"run {run.id}: {counts['items_kept']:,} items kept, {counts['items_rejected']:,} left out, {seconds}")
    for heading, kind in (("Items left out", "items"), ("Variants left out", "variants")):
        reasons = counts[f"{kind}_rejected_by_code"]
        if reasons:
            rows = [(code, number, meaning(code)) for code, number in reasons.items()]
            table(("reason", kind, "what it means"), rows, title=heading)
    null = counts["scores_null"]
    unscored = counts.get("scores_null_by_code", {})  # runs before these codes have none
    if unscored:
        rows = [(code, number, meaning(code)) for code, number in unscored.items()]
        table(("reason", "scores", "what it means"), rows, title="Scores without a value")
    typer.echo(f"{counts['rows']:,} scores, {null:,} null{' (column error says why)' if null else ''}")
    typer.echo(f"in {run.path}")
