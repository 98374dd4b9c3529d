"""Measuring a calibration: score the variants of the variants of every item, and keep what was said.

The dev items choose λ, the held-out ones are reported.
"""

import math
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core import settings
from core.audit.estimate import measured_speeds
from core.audit.plan import Plan
from core.audit.record import corpus_again, now
from core.audit.run import Progress, run_audit
from core.errors import InvalidInput, InvariscopeError
from core.evaluators.calibrated import OVER_ORBITS
from core.evaluators.pool import Pool, shared_pool
from core.evaluators.registry import find, is_known, names_file
from core.features.calibration.fit import Fit
from core.features.calibration.measurement import (
    Measurement,
    about,
    composed_plan,
    compositions,
    folder_of,
    images_to_score,
    uncomposable,
    write,
)
from core.features.calibration.orbits import Orbits
from core.probes.base import IDENTITY
from core.seeds import RUN_SEED
from core.statistics.changes import standard_deviation
from core.store.run_files import Run, list_runs
from core.store.run_sources import of_run, origin_of_run

SAME = 0.05
"""Most that a score may differ from the run's, in standard deviations of the unedited scores: more is another picture.

The same evaluator on the same pictures rounds otherwise in another process: conse-lite0 (float32) differed from the
shipped run by up to 0.006.
"""

WORK = ".work"


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be measured."""

    run: Run  # that the calibration was learnt from
    fit: Fit  # the calibration
    # subject, language: of the run's captions that it was learnt on
    subject: str
    language: str

    @property
    def families(self) -> dict[str, tuple[str, ...]]:
        """Probes by family."""
        return {name: family.probes for name, family in self.fit.scores.families.items()}

    @property
    def items(self) -> tuple[str, ...]:
        """Items of both splits that have an unedited score, in the order of their names."""
        splits = (self.fit.dev_scores, self.fit.scores)
        return tuple(
            sorted(
                item
                for split in splits
                for (_, item), value in zip(split.items, split.clean, strict=True)
                if not math.isnan(value)
            )
        )

    @property
    def corpus(self) -> str:
        """Of the items."""
        return self.fit.scores.items[0][0]

    @property
    def images(self) -> int:
        """Pictures that the evaluator scores, at most."""
        return images_to_score(len(self.items), sum(map(len, self.families.values())))

    def seconds(self) -> float | None:
        """How long that takes, by what runs on this machine measured; None where none did."""
        each = measured_speeds(list_runs()).get(self.fit.evaluator)
        return None if each is None else each * self.images


def refused(fit: Fit) -> str:
    """Why a calibration cannot be measured by scoring the variants of its variants; empty where it can."""
    reading = fit.terms.reading
    if reading == "ridge":
        return (
            "The ridge reading is told each item's own shifts and takes a share of them back; no further score would "
            "make a measurement of that. Choose shift, quantile, orbit or absolute."
        )
    if reading not in OVER_ORBITS:
        return (
            f"The {reading} reading corrects a known edit and needs no other score: what is reported of the held-out "
            "items is measured already, on stored scores."
        )
    why = uncomposable({name: family.probes for name, family in fit.scores.families.items()})
    return f"This calibration can be applied to stored scores alone, and not be measured: {why}." if why else ""


def obstacle(asked: Asked) -> str:
    """What is not on this machine that a measurement needs, with what gets it; empty where all is here."""
    try:
        kind = find(scored_by(asked.run, asked.fit.evaluator)[0])
        origin_of_run(asked.run)
        kind.check_available()
    except InvariscopeError as error:
        return f"{error}."
    return ""


def measure(
    asked: Asked,
    *,
    root: Path | None = None,
    options: Mapping[str, str] | None = None,
    pool: Pool | None = None,
    progress: Callable[[Progress], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> tuple[Measurement, Path]:
    """Score what a calibration of orbits is made of, or go on where an earlier call ended; write it beside the runs.

    ``stop`` is asked after every batch; True ends it like Ctrl-C.

    Raises:
        InvalidInput: if it cannot be measured, or the pictures or the evaluator are not those of the run.
        NotAvailable: if the evaluator or the corpus is not here.
        StoreError: if something cannot be written.
        RunStopped: on Ctrl-C or ``stop``; what was finished is kept, and the same call goes on.
    """
    if why := refused(asked.fit):
        raise InvalidInput(why)
    pool = shared_pool() if pool is None else pool
    reference, key = scored_by(asked.run, asked.fit.evaluator)
    with pool.lease(reference) as loaded:
        here = loaded.fingerprint.key
    if key not in ("", here):
        raise InvalidInput(
            f"evaluator {asked.fit.evaluator} is another one on this machine ({here}) than run {asked.run.id} was made "
            f"with ({key}); audit the corpus again and calibrate that run"
        )
    plan = _plan(asked, reference, root, dict(options or {}))
    work = folder_of(asked.run.id) / WORK
    begun = time.monotonic()
    name = f"{plan.fingerprint()}-{here[:16]}"
    run = run_audit(plan, work, run_id=name, existing="resume", pool=pool, progress=progress, stop=stop)
    found = _read(asked, run, here, time.monotonic() - begun)
    _check_same(asked, found)
    path = write(found)
    shutil.rmtree(run.path, ignore_errors=True)
    return found, path


def scored_by(run: Run, name: str) -> tuple[str, str]:
    """How an evaluator of a run is asked here, and its fingerprint there.

    A manifest may be a stranger's, and a reference a path: code is what a run of this data folder was made with, byte
    for byte, or it is not asked. Raises InvalidInput, saying what to do, for a file that it cannot be trusted with.
    """
    listed = (each for each in run.manifest.get("evaluators") or [] if isinstance(each, dict))
    told = next((each for each in listed if each.get("name") == name), {})
    reference, key = str(told.get("reference") or name), str((told.get("fingerprint") or {}).get("key") or "")
    if is_known(reference):
        return reference, key
    if not run.path.is_dir() and names_file(reference):
        raise InvalidInput(
            f"{run.path.name} is a published file and names a file for evaluator {name}, which is not asked; measure "
            "on the run's own folder"
        )
    if ".py" not in reference:
        return (str(settings.ROOT / reference) if reference.endswith(".json") else reference), key
    own = next((each for each in of_run(run) if each.name == name), None)
    if own is None:
        raise InvalidInput(f"run {run.id} names no class of a file for evaluator {name}; audit the corpus again")
    if own.problem:
        raise InvalidInput(own.problem)
    return own.reference, key


def _plan(asked: Asked, reference: str, root: Path | None, options: dict[str, str]) -> Plan:
    corpus = corpus_again(asked.run, root=root, options=options)
    seed = asked.run.manifest.get("seed")
    return composed_plan(
        corpus,
        asked.items,
        asked.families,
        evaluator=reference,
        subject=asked.subject,
        language=asked.language,
        seed=seed if isinstance(seed, int) else RUN_SEED,
    )


def _read(asked: Asked, run: Run, fingerprint: str, seconds: float) -> Measurement:
    shards = sorted((run.path / "scores").glob("*.parquet"))
    table = pa.concat_tables(pq.read_table(shard, columns=["item", "probe", "score"]) for shard in shards)
    rows = {
        (item, probe): score
        for item, probe, score in zip(*table.to_pydict().values(), strict=True)
        if score is not None and math.isfinite(score)
    }
    key, created = about(asked.run)
    return Measurement(
        run=asked.run.id,
        run_key=key,
        run_created=created,
        corpus=asked.corpus,
        evaluator=asked.fit.evaluator,
        fingerprint=fingerprint,
        subject=asked.subject,
        language=asked.language,
        families={name: list(probes) for name, probes in asked.families.items()},
        items=list(asked.items),
        scores={name: [rows.get((item, name)) for item in asked.items] for name in compositions(asked.families)},
        images=int(run.manifest["counts"].get("unique_images") or 0),
        seconds=_spent(run, seconds),
        made=now(),
    )


def _spent(run: Run, seconds: float) -> float:
    told: Any = run.manifest.get("elapsed_seconds")
    return float(told) if isinstance(told, int | float) else seconds


def _check_same(asked: Asked, found: Measurement) -> None:
    """Refuse scores of other pictures than the run's, naming the largest difference."""
    apart = difference(asked.fit, found)
    if apart > SAME:
        raise InvalidInput(
            f"the pictures of corpus {asked.corpus} are not those that run {asked.run.id} scored: the same pairs now "
            f"differ by up to {apart:.3g} SD of the unedited scores; put the old files back, or audit the corpus again"
        )


def difference(fit: Fit, found: Measurement) -> float:
    """Largest difference of the measurement's scores of pairs and variants from the run's, in SD of the unedited
    scores.

    Pairs that either lacks are left out; 0 where they share none.
    """
    unit = standard_deviation(fit.scores.clean) or np.nan
    apart = np.concatenate([_apart(split, found) for split in (fit.scores, fit.dev_scores)]) / unit
    return float(np.nan_to_num(apart).max(initial=0.0))


def _apart(split: Orbits, found: Measurement) -> np.ndarray:
    """Difference of every score of a split that both hold; NaN where one lacks the pair."""
    places = {item: place for place, item in enumerate(found.items)}
    where = np.array([places.get(item, -1) for _, item in split.items])
    stored = {IDENTITY: split.clean}
    for family in split.families.values():
        stored |= dict(zip(family.probes, family.scores, strict=True))
    shared = [name for name in stored if name in found.scores]
    apart = [np.abs(np.where(where < 0, np.nan, found.of(name)[where]) - stored[name]) for name in shared]
    return np.concatenate(apart) if apart else np.zeros(0)
