"""The whole report of some runs."""

from collections.abc import Sequence

from core import __version__
from core.analysis.bootstrap import RESAMPLES
from core.analysis.contrasts import MARGIN
from core.audit.manifest import COMPLETE, Run
from core.audit.store import Store
from core.errors import InvalidInput
from core.report.calibrated import calibration
from core.report.cube import Cube, read_cube
from core.report.flips import flips
from core.report.framing import framing
from core.report.model import Figure, Missing, Part, Report, Table
from core.report.objects import objects
from core.report.replication import replication
from core.report.signature import signature
from core.report.spatial import spatial
from core.report.summary import listed, summary
from core.seeds import RUN_SEED


def build(store: Store, runs: Sequence[str] | None = None, *, subject: str | None = None) -> Report:
    """Make every table and figure that the runs allow, and name those that they do not.

    Args:
        store: opened runs.
        runs: their ids; None: every run that is open.
        subject: which caption is held, ``template`` or ``human``; None: the template's where it was scored.

    Raises:
        InvalidInput: if there is no run, one is not open, or two of them scored the same pair.
    """
    chosen = _chosen(store, runs)
    cube = read_cube(store, [run.id for run in chosen], subject=subject)
    parts: tuple[Part, ...] = (
        summary(cube, chosen, store), spatial(cube), objects(cube), framing(cube), replication(cube),
        flips(cube), calibration(cube),
    )  # fmt: skip
    return Report(
        title=f"Invariance report: {', '.join(run.id for run in chosen)}",
        signature=_signature(cube, chosen),
        about=_about(cube, chosen, store),
        tables=tuple(sorted((each for part in parts for each in part.tables), key=_order)),
        figures=tuple(sorted((each for part in parts for each in part.figures), key=_order)),
        missing=tuple(sorted((each for part in parts for each in part.missing), key=_order)),
    )


def signature_of(store: Store, runs: Sequence[str] | None = None, *, subject: str | None = None) -> str:
    """The line that :func:`build` would put into the report of these runs, without the report."""
    chosen = _chosen(store, runs)
    return _signature(read_cube(store, [run.id for run in chosen], subject=subject), chosen)


def _chosen(store: Store, runs: Sequence[str] | None) -> list[Run]:
    there = {run.id: run for run in store.runs()}
    names = list(dict.fromkeys(there if runs is None else runs))
    unknown = [name for name in names if name not in there]
    if unknown or not names:
        known = ", ".join(there) or "none yet"
        raise InvalidInput(f"no run {unknown[0]!r} here; there are: {known}" if unknown else "name a run to report on")
    return [there[name] for name in names]


def _order(each: Table | Figure | Missing) -> tuple[str, int, str]:
    name = each.id
    digits = "".join(each for each in name if each.isdigit())
    return name[0].replace("S", "Z"), int(digits or 0), name


def _signature(cube: Cube, runs: Sequence[Run]) -> str:
    corpora = {f"{run.manifest['corpus'].get('name')}@{str(run.manifest['corpus'].get('fingerprint'))[:8]}": None
               for run in runs}  # fmt: skip
    evaluators = {
        f"{each.get('name')}@{str(each.get('fingerprint', {}).get('key'))[:8]}": None
        for run in runs for each in listed(run) if each.get("name") in cube.evaluators
    }  # fmt: skip
    return signature(
        {
            "invariscope": __version__, "runs": sorted(run.id for run in runs), "corpora": sorted(corpora),
            "evaluators": sorted(evaluators), "subject": cube.subject, "seed": str(RUN_SEED), "boot": str(RESAMPLES),
            "margin": f"{MARGIN:g}", "sha": cube.digest(),
        }
    )  # fmt: skip


def _about(cube: Cube, runs: Sequence[Run], store: Store) -> dict[str, str]:
    scored = int((cube.scores == cube.scores).sum())
    asked = int(store.query(
        "select count(*) as n from scores where subject = $subject and list_contains($runs, run)",
        {"subject": cube.subject, "runs": [run.id for run in runs]},
    )["n"].iloc[0])  # fmt: skip
    about = {
        "Runs": "; ".join(
            f"{run.id} (corpus {run.manifest['corpus'].get('name')}, {run.status}, "
            f"Invariscope {run.manifest.get('invariscope', 'unknown')})" for run in runs
        ),
        "Items": ", ".join(f"{int(cube.of_corpus(name).sum())} of {name}" for name in cube.corpora),
        "Evaluators": ", ".join(cube.evaluators),
        "Scores": f"{scored} scores under {len(cube.probes)} probes, {asked - scored} pairs could not be scored",
        "Captions": f"subject {cube.subject}",
    }  # fmt: skip
    unfinished = [run.id for run in runs if run.status != COMPLETE]
    if unfinished:
        about["Not finished"] = f"{', '.join(unfinished)}: these numbers are not all there; start the audit again first"
    return about
