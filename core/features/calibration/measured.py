"""A calibration as measured: calibrated scores made of the evaluator's own scores of every variant of every variant.

λ is chosen by what was measured of the dev split; what is reported is measured of the held-out split.

The calibrated score is linear in λ, Ŝ = S + λ · C(x), and C(x) needs nothing but the scores of x and of its variants,
for the unedited pair and for a variant alike. So one set of scores gives the measured effect at every λ, of every
weighting, of the readings ``orbit`` and ``absolute``; :mod:`core.evaluators.calibrated` computes the same.
"""

import math
import shutil
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from core import settings
from core.audit.estimate import measured_speeds
from core.audit.record import corpus_again, now
from core.audit.run import Progress, run_audit
from core.errors import InvalidInput, InvariscopeError
from core.evaluators import registry
from core.evaluators.calibrated import OVER_ORBITS, apply
from core.evaluators.pool import Pool, shared_pool
from core.evaluators.registry import is_known, names_file
from core.features.calibration.effect import MEASURES, effect_of
from core.features.calibration.fit import Fit
from core.features.calibration.measurement import (
    Measurement,
    about,
    composed,
    composed_plan,
    compositions,
    folder_of,
    images_to_score,
    read_all,
    uncomposable,
    write,
)
from core.features.calibration.orbits import Family, Orbits
from core.features.calibration.readings import CHOSEN_MEASURED, FIXED, Corrections, Terms, calibrator
from core.features.calibration.sweep import Choice, Sweep, choose, raised, sweep_of
from core.probes.base import IDENTITY
from core.seeds import RUN_SEED
from core.statistics.changes import standard_deviation
from core.statistics.flip_risk import GAPS
from core.store.run_files import Run, list_runs
from core.store.run_sources import of_run, origin_of_run

# Measuring a calibration: score the variants of the variants of every item, and keep what was said.
#
# The dev items choose λ, the held-out ones are reported.
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
    subject: str  # subject, language: of the run's captions that it was learnt on
    language: str

    @property
    def families(self) -> dict[str, tuple[str, ...]]:
        """Probes by family."""
        return {name: family.probes for name, family in self.fit.scores.families.items()}

    @property
    def items(self) -> tuple[str, ...]:
        """Items of both splits that have an unedited score, in the order of their names."""
        splits = (self.fit.dev_scores, self.fit.scores)
        pairs = (pair for split in splits for pair in zip(split.items, split.clean, strict=True))
        return tuple(sorted(item for (_, item), value in pairs if not math.isnan(value)))

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
        kind = registry.find(scored_by(asked.run, asked.fit.evaluator)[0])
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

    ``stop`` is asked after every batch; True ends it like Ctrl-C. Raises InvalidInput if it cannot be measured, or the
    pictures or the evaluator are not those of the run; NotAvailable if the evaluator or the corpus is not here;
    StoreError if something cannot be written; RunStopped on Ctrl-C or ``stop``: what was finished is kept, and the same
    call goes on.
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
    corpus, told = corpus_again(asked.run, root=root, options=dict(options or {})), asked.run.manifest.get("seed")
    seed, said = told if isinstance(told, int) else RUN_SEED, {"subject": asked.subject, "language": asked.language}
    plan = composed_plan(corpus, asked.items, asked.families, evaluator=reference, seed=seed, **said)
    work = folder_of(asked.run.id) / WORK
    begun = time.monotonic()
    name = f"{plan.fingerprint()}-{here[:16]}"
    run = run_audit(plan, work, run_id=name, existing="resume", pool=pool, progress=progress, stop=stop)
    found = _read(asked, run, here, time.monotonic() - begun)
    if (apart := difference(asked.fit, found)) > SAME:
        raise InvalidInput(
            f"the pictures of corpus {asked.corpus} are not those that run {asked.run.id} scored: the same pairs now "
            f"differ by up to {apart:.3g} SD of the unedited scores; put the old files back, or audit the corpus again"
        )
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


def _read(asked: Asked, run: Run, fingerprint: str, seconds: float) -> Measurement:
    shards = sorted((run.path / "scores").glob("*.parquet"))
    table = pa.concat_tables(pq.read_table(shard, columns=["item", "probe", "score"]) for shard in shards)
    rows = {
        (item, probe): score
        for item, probe, score in zip(*table.to_pydict().values(), strict=True)
        if score is not None and math.isfinite(score)
    }
    key, created = about(asked.run)
    told: Any = run.manifest.get("elapsed_seconds")
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
        seconds=float(told) if isinstance(told, int | float) else seconds,
        made=now(),
    )


def difference(fit: Fit, found: Measurement) -> float:
    """Largest difference of the measurement's scores of pairs and variants from the run's, in SD of the unedited
    scores.

    Pairs that either lacks are left out; 0 where they share none.
    """
    places, apart = {item: place for place, item in enumerate(found.items)}, [np.zeros(0)]
    for split in (fit.scores, fit.dev_scores):
        where = np.array([places.get(item, -1) for _, item in split.items])
        stored = {IDENTITY: split.clean}
        for family in split.families.values():
            stored |= dict(zip(family.probes, family.scores, strict=True))
        shared = [name for name in stored if name in found.scores]
        apart += [np.abs(np.where(where < 0, np.nan, found.of(name)[where]) - stored[name]) for name in shared]
    unit = standard_deviation(fit.scores.clean) or np.nan
    return float(np.nan_to_num(np.concatenate(apart) / unit).max(initial=0.0))


@dataclass(frozen=True, slots=True)
class Measured:
    """A calibration on the held-out items, every score of it scored."""

    scores: Orbits  # uncalibrated, of the pairs whose calibrated score is known too
    changes: Corrections  # what λ multiplies, measured
    others: Mapping[str, np.ndarray]  # H by name over the same items
    sweep: Sweep  # along λ, held out; it chose nothing
    dev: Sweep | None  # along λ on the dev split, which chose; None where the measurement lacks some of its items
    choice: Choice | None  # λ* by ``dev``; None likewise
    file: Measurement  # the scores behind it

    @property
    def sweeps(self) -> dict[str, Sweep]:
        """By split as :func:`core.features.calibration.fit.sweep_table` names it."""
        return {"measured": self.sweep} | ({} if self.dev is None else {"measured dev": self.dev})

    def effect(
        self, strength: float, *, gaps: Sequence[float] = GAPS, measures: Collection[str] = MEASURES
    ) -> pd.DataFrame:
        """Before and after at a strength; see :meth:`core.features.calibration.effect.TwoSides.rows`."""
        return effect_of(self.scores, self.changes, strength, self.others, gaps=gaps).rows(measures)

    def caveats(self, strength: float) -> tuple[str, ...]:
        """What the measurement says against a strength, in sentences."""
        said = []
        if self.choice is None:
            said.append(
                "This measurement lacks items of the dev split, so that λ is not chosen by what was measured; measure "
                "again."
            )
        if higher := raised(self.sweep, strength):
            listed = ", ".join(f"{name} ({times:.2f} times)" for name, times in higher.items())
            said.append(f"Measured, this strength moves further than before: {listed}.")
        return tuple(said)


@dataclass(frozen=True, slots=True)
class Settled:
    """The strength of a calibration, where no reader names another."""

    choice: Choice  # the strength, where it was allowed, and what is to be said of it
    whence: str  # where it comes from, one of CHOSEN, CHOSEN_MEASURED and FIXED

    @property
    def strength(self) -> float:
        """λ."""
        return self.choice.strength

    @property
    def chosen(self) -> float | None:
        """λ*; None where nothing chose one."""
        return None if self.whence == FIXED else self.strength

    @property
    def named(self) -> str:
        """The best strength where something chose it; else the strength."""
        return f"{'Strength' if self.chosen is None else 'Best strength'} {self.strength:g}"

    @property
    def told(self) -> str:
        """The strength and what chose it, or that nothing did."""
        return f"{self.named}, {self.whence}"


def settled(found: Fit, own: Measured | None = None) -> Settled:
    """The strength by what was measured where that is known, else by stored scores, else the one that none chose."""
    if own is not None and own.choice is not None:
        return Settled(own.choice, CHOSEN_MEASURED)
    return Settled(found.choice, found.whence)


def measured(found: Fit, file: Measurement) -> Measured:
    """Calibrate both splits by what a measurement holds; it must serve the fit (:func:`unfit`)."""
    scores, changes, others = _of_split(found.scores, found.others, found, file)
    dev = choice = None
    if not lacking(found.dev_scores, file):
        dev = sweep_of(*_of_split(found.dev_scores, found.dev_others, found, file))
        choice = choose(dev, epsilon=found.epsilon)
    return Measured(scores, changes, others, sweep_of(scores, changes, others), dev, choice, file)


def _of_split(
    split: Orbits, others: Mapping[str, np.ndarray], found: Fit, file: Measurement
) -> tuple[Orbits, Corrections, dict[str, np.ndarray]]:
    """What a measurement holds of a split: scores, what λ multiplies, and H."""
    places = {item: place for place, item in enumerate(file.items)}
    where = np.array([places.get(item, -1) for _, item in split.items])
    kept = where >= 0
    own = {name: file.of(name)[where[kept]] for name in file.scores}
    scores, changes = composed_corrections(split.part(kept), own, found.terms)
    return scores, changes, {name: values[kept] for name, values in others.items()}


def lacking(split: Orbits, file: Measurement) -> int:
    """Items of a split that have an unedited score and are not in a measurement."""
    scored = {item for (_, item), value in zip(split.items, split.clean, strict=True) if value == value}
    return len(scored - set(file.items))


def composed_corrections(scores: Orbits, own: Mapping[str, np.ndarray], terms: Terms) -> tuple[Orbits, Corrections]:
    """The scores, and what λ multiplies, for every pair from its own variants; a pair of which one variant has no score
    has neither. ``own``: scores by name of the composition, float64 [n]; ``terms``: of a reading over orbits."""
    model = calibrator(terms, strength=1.0, evaluator=scores.evaluator)

    def correction(first: str) -> np.ndarray:
        orbits = {
            name: np.array([own[composed(first, probe)] for probe in family.probes])
            for name, family in scores.families.items()
            if terms.weights[name] > 0
        }
        change = apply(model, own[first], orbits=orbits) - own[first]
        lacking = [np.isnan(values).any(axis=0) for values in orbits.values()]
        return np.where(np.any(lacking, axis=0), np.nan, change)

    clean = correction(IDENTITY)
    before = np.where(np.isnan(clean), np.nan, own[IDENTITY])
    families, variants, baselines = {}, {}, {}
    for name, family in scores.families.items():
        changes = np.array([correction(probe) for probe in family.probes])
        stored = np.array([own[probe] for probe in family.probes])
        shape = stored.shape
        known = np.where(np.isnan(changes), np.nan, stored)
        families[name] = Family(family.axis, family.probes, known, np.broadcast_to(before, shape).copy())
        variants[name], baselines[name] = changes, np.broadcast_to(clean, shape).copy()
    whole = Orbits(scores.evaluator, scores.items, before, families, scores.sources)
    return whole, Corrections(clean, variants, baselines)


def unfit(found: Fit, file: Measurement, run: Run, *, subject: str, language: str) -> str:
    """Why a measurement cannot be shown for a calibration, in a sentence; empty where it can."""
    if (file.evaluator, file.subject, file.language) != (found.evaluator, subject, language):
        return f"It is of {file.evaluator} under captions {file.subject} in {file.language}."
    key, created = about(run)
    if (file.run, file.run_key) != (run.id, key):
        return f"Run {run.id} was made anew with other pairs or another evaluator since; measure again."
    if file.run_created != created:
        return f"Run {run.id} was made anew since (begun {created}, measured for the one of {file.run_created})."
    families = {name: family.probes for name, family in found.scores.families.items()}
    unknown = [name for name, probes in families.items() if not set(probes) <= set(file.families.get(name, ()))]
    if unknown:
        told = ", ".join(file.families)
        return f"It is of a calibrator for {told}; this one is for {', '.join(unknown)} too."
    if missing := lacking(found.scores, file):
        return f"{missing} of {found.n_test} held-out items are not in it; measure again."
    if (apart := difference(found, file)) > SAME:
        return (
            f"Its scores are not those of run {run.id}: the same pairs differ by up to {apart:.3g} SD; measure again."
        )
    return ""


def find(found: Fit, run: Run, *, subject: str, language: str) -> tuple[Measured | None, tuple[str, ...]]:
    """The latest measurement that serves a calibration, if any; and a sentence for each of this evaluator that is stale
    or broken."""
    files, told = read_all(run.id)
    stale = []
    for file in files:
        if file.evaluator != found.evaluator:
            continue
        if not (why := unfit(found, file, run, subject=subject, language=language)):
            return measured(found, file), ()
        stale.append(f"A measurement of {file.made} is not shown. {why}")
    return None, (*stale, *told)
