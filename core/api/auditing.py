"""An audit from Python: what ``python -m core audit`` does, with a run to ask as its answer."""

import inspect
import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.api.opened_run import Run, listed, open_run
from core.api.progress_lines import PlainLines
from core.audit.request import AuditRequest
from core.errors import InvalidInput, UnknownName

if TYPE_CHECKING:
    from core.audit.run import Existing, Progress
    from core.corpora.schema import Corpus
    from core.evaluators.base import Evaluator

_log = logging.getLogger("invariscope.api")


def audit(
    corpus: "str | Path | Corpus",
    evaluators: "str | type[Evaluator] | Iterable[str | type[Evaluator]]",
    probes: str | Iterable[str] = "default",
    *,
    options: Mapping[str, Any] | None = None,
    out: Path | str | None = None,
    resume: bool = False,
    overwrite: bool = False,
    progress: "bool | Callable[[Progress], None]" = True,
    **asked: Any,
) -> Run:
    """Score every item of a corpus under every probe with every evaluator, and store the run. A run that was stopped or
    killed goes on where it was: call it again with the same arguments, its run_id and ``resume=True``.
    ``corpus``: a registered name (``"demo"``), the path of a folder of pictures, or a Corpus.
    ``evaluators``: names, ``family:argument``, ``path/to/file.py:Name``, or classes marked with ``@evaluator(...)``,
    those of a notebook too. A class is known to this process alone: a job or the dashboard takes it from a file.
    ``probes``: names, families, axes, ``default``, ``directional`` or ``all``.
    ``options``: of the corpus's loader, e.g. ``{"split": "val2017"}``.
    ``out``: folder of runs; None: that of the user's own runs, which the dashboard shows.
    ``resume``: go on with the run of that run_id; a complete one is only checked.
    ``overwrite``: start the run of that run_id over.
    ``progress``: called with a :class:`core.audit.run.Progress` whenever an evaluator has done with a batch; True: a
    line on stderr now and then; False: nothing.
    {fields}
    Returns the complete run.
    Raises InvalidInput for what cannot be used, or a run of that id that is there or was made of something else;
    NotAvailable if an evaluator cannot be loaded here; the text says how to get it; RunStopped on Ctrl-C, or where an
    evaluator can go on for no pair; finished shards are kept; StoreError if something cannot be written, or another
    process works on this run."""
    from core import settings
    from core.audit.plan import make_plan
    from core.audit.run import RunStopped, run_audit
    from core.evaluators.pool import Pool, check_device
    from core.writing import check_folder

    if strange := [name for name in asked if name not in _ASKED]:
        raise TypeError(f"audit() got an unexpected keyword argument {strange[0]!r}")
    if resume and overwrite:
        raise InvalidInput("resume and overwrite exclude each other; choose one")
    if resume and asked.get("run_id") is None:
        raise InvalidInput("resume needs the run_id of the run to go on with")
    items = corpus_of(corpus, root=asked.get("root"), options=options)
    several = {name: listed(asked[name]) for name in ("languages",) if name in asked}
    named = {**asked, **several, "evaluators": references_of(evaluators), "probes": listed(probes)}
    request = AuditRequest.of(**named, corpus=items.name)
    plan = make_plan(items, request)
    for warning in plan.warnings:
        _log.warning("%s", warning)
    target = settings.runs_dir() if out is None else Path(out)
    usual = plan.usual_run_id()  # in a loop two audits begin within a second: a number stands behind the next
    names = (usual, *(f"{usual}-{number}" for number in range(2, 1000)))
    name = request.run_id or next((each for each in names if not (target / each).exists()), usual)
    if out is not None:
        check_folder(target / name)
    existing: Existing = "resume" if resume else "replace" if overwrite else "refuse"
    tell = progress if callable(progress) else None
    if progress is True:
        line = PlainLines("audit", "images")
        tell = lambda at: line(at.done, at.total, at.eta_s, at.doing)  # noqa: E731
    pool = Pool(device=None if request.device is None else check_device(request.device))
    try:
        stored = run_audit(
            plan,
            target,
            run_id=name,
            existing=existing,
            pool=pool,
            **{each: getattr(request, each) for each in ("workers", "threads", "renderers", "cluster", "device")},
            progress=tell,
        )
    except RunStopped as error:
        raise RunStopped(f"{error} (in Python with run_id={name!r} and resume=True)") from error
    return open_run(stored.path)


_ASKED = {
    name: field
    for name, field in AuditRequest.model_fields.items()
    if name not in ("corpus", "options", "evaluators", "probes")
}


def _spelled_out() -> None:
    """Say in the help of :func:`audit` what its further keywords are."""
    own = [each for each in inspect.signature(audit).parameters.values() if each.name != "asked"]
    further = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=field.annotation)
        for name, field in _ASKED.items()
    ]
    told = "\n    ".join(f"``{name}``: {field.description}" for name, field in _ASKED.items())
    audit.__signature__ = inspect.Signature([*own, *further], return_annotation=Run)  # type: ignore[attr-defined]
    audit.__doc__ = (audit.__doc__ or "").replace("{fields}", told)


_spelled_out()


FOLDER = "folder"  # name of the corpus that any folder of pictures is


def corpus_of(
    given: "str | Path | Corpus", *, root: Path | str | None = None, options: Mapping[str, Any] | None = None
) -> "Corpus":
    """The corpus that somebody names.
    ``given``: a registered name, ``path/to/file.py:Name`` of a loader, else the path of a folder of pictures with what
    lies beside them; a Path is always a folder; a corpus is taken as it is.
    Raises UnknownName if it is neither a name nor a folder; InvalidInput if a folder or an option is one too many, or
    cannot be used; BadCorpus if the folder does not have the shape that its loader reads."""
    from core.corpora.registry import catalogue, find
    from core.corpora.schema import Corpus
    from core.registry import names_code

    said = dict(options or {})
    if isinstance(given, Corpus):
        if root is not None or said:
            raise InvalidInput(f"corpus {given.name!r} is given as it is; leave root and options out")
        return given
    if isinstance(given, str) and (given in catalogue() or names_code(given)):
        return find(given).load(None if root is None else Path(root), **said)
    if not isinstance(given, str | Path):
        raise InvalidInput(f"a corpus is a name, the path of a folder or a Corpus, got {_kind(given)}")
    if not Path(given).is_dir():
        names = ", ".join(catalogue().names())
        raise UnknownName(f"no corpus and no folder is named {str(given)!r}; corpora: {names}")
    if root is not None:
        raise InvalidInput(f"{given} is a folder itself; leave root={str(root)!r} out")
    return catalogue().get(FOLDER).load(Path(given), **said)


def references_of(given: "str | type[Evaluator] | Iterable[str | type[Evaluator]]") -> tuple[str, ...]:
    """Evaluators as an audit names them.
    ``given``: what :func:`core.evaluators.registry.find` takes, or classes; a class that no package offers is known by
    its name in this process from now on. One alone needs no list.
    Raises InvalidInput for anything else, or a class whose name another evaluator has."""
    from core.evaluators.base import Evaluator
    from core.evaluators.functions import is_metric
    from core.evaluators.registry import offer

    found: list[str] = []
    for each in [given] if isinstance(given, str | type) or not isinstance(given, Iterable) else given:
        if isinstance(each, str):
            found.append(each)
        elif isinstance(each, type) or is_metric(each):
            found.append(offer(each))
        elif isinstance(each, Evaluator):
            name = type(each).__name__
            why = f"an audit loads its evaluators itself, on its device; give the class {name}, not {name}()"
            raise InvalidInput(why)
        else:
            told = _kind(each)
            raise InvalidInput(f"an evaluator is a name, path/to/file.py:Name, a class or a function, got {told}")
    return tuple(found)


def _kind(given: object) -> str:
    return f"{type(given).__name__} {str(given)[:80]!r}"
