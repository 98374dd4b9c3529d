"""One calibration from stored shifts: split by image, learn on dev, choose λ* there, report on the held-out test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.analysis.calibration import SENSITIVITY, UNIFORM, WEIGHTED, Terms, corrections, learn
from core.analysis.calibration_sweep import Choice, Sweep, choose, oracle_terms, sweep
from core.analysis.orbits import Orbits, dev_split, orbits
from core.analysis.slices import Slice, where
from core.analysis.spearman_band import spearman_bands
from core.audit.store import Store
from core.errors import InvalidInput
from core.probes.base import IDENTITY

ORACLE = "oracle"
WEIGHTS = (UNIFORM, SENSITIVITY, ORACLE)
"""Uniform; proportional to each family's sensitivity; the best on the test split itself, an upper bound."""

HUMAN = "human ratings"

COLUMNS = (
    "run", "corpus", "item", "axis", "family", "probe", "subject", "baseline", "evaluator", "score", "baseline_score",
    "delta", "percent",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fit:
    """A calibration with everything that the page and the command report of it.

    Args:
        evaluator: whose scores are calibrated.
        terms: learnt on the dev split.
        choice: λ* and where the constraint holds, on the dev split.
        dev: sweep over the dev split, which chose.
        test: sweep over the held-out split, which is reported.
        scores: the test split.
        others: H by name over the test split, float64 [n].
        oracle: whether the weights saw the test split: an upper bound, no result.
        n_dev: items with a clean score.
        n_test: likewise.
    """

    evaluator: str
    terms: Terms
    choice: Choice
    dev: Sweep
    test: Sweep
    scores: Orbits
    others: Mapping[str, np.ndarray]
    oracle: bool
    n_dev: int
    n_test: int

    def bands(self, *, level: float = 0.95) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Bootstrap band of ρ along λ by H, on the test split; see :func:`spearman_bands`."""
        change = corrections(self.scores, self.terms).clean
        return spearman_bands(self.scores.clean, change, self.others, self.test.lambdas, level=level)


def calibration_rows(store: Store, chosen: Slice) -> pd.DataFrame:
    """Shifts that a calibration is learnt from; null edits, the noise floor, are left out.

    Where the slice leaves several runs of one corpus or several subjects, :func:`fit` refuses with a sentence.
    """
    clause, params = where(chosen)
    columns = ", ".join(f"s.{name}" for name in COLUMNS)
    table = store.table(f"select {columns} from shifts s {clause} and s.axis is distinct from 'null'", params)
    # a name takes a byte or two in place of itself, and need not be read again to be compared
    return table.to_pandas(strings_to_categorical=True)


def image_hashes(store: Store) -> dict[tuple[str, str], str]:
    """Hash of the pixels of every (corpus, item): the dev split is by image."""
    found = store.query("select distinct corpus, item, pixels_sha256 from items")
    return {
        (str(corpus), str(item)): str(digest)
        for corpus, item, digest in found.itertuples(index=False)
        if digest is not None
    }


def fit(
    rows: pd.DataFrame,
    images: Mapping[tuple[str, str], str],
    *,
    evaluator: str,
    reading: str = "orbit",
    weights: str = UNIFORM,
    epsilon: float = 0.01,
    against: Sequence[str] | None = None,
    ratings: pd.DataFrame | None = None,
) -> Fit:
    """Learn, choose and hold out.

    Args:
        rows: of :func:`calibration_rows`, every evaluator.
        images: of :func:`image_hashes`; an item without a hash is split by its name.
        evaluator: whose scores are calibrated.
        reading: see :mod:`core.analysis.calibration`.
        weights: one of WEIGHTS.
        epsilon: correlation with each H that may be lost.
        against: names of H; None: every other evaluator, and people where ``ratings`` has any.
        ratings: columns corpus, item, probe, subject, rating (more is better): people's; those of the unedited
            pair are used, averaged an item.

    Raises:
        InvalidInput: if the evaluator has no rows, weights or an H is not known, or a split would be empty.
    """
    if weights not in WEIGHTS:
        raise InvalidInput(f"weights must be one of {', '.join(WEIGHTS)}, got {weights!r}")
    every = orbits(rows) if len(rows) else {}
    if evaluator not in every:
        raise InvalidInput(f"no shift of evaluator {evaluator!r} is here; evaluators: {', '.join(every) or 'none'}")
    own = every[evaluator]
    if ratings is not None:
        ratings = ratings[ratings["subject"].isin(rows["subject"].unique())]
    others = _others(own, every, ratings, against)
    on_dev = dev_split([images.get(item, "\x1f".join(item)) for item in own.items])
    if on_dev.all() or not on_dev.any():
        raise InvalidInput(f"{len(own.items)} items cannot be split into dev and test; audit more of them")
    dev, test = own.part(on_dev), own.part(~on_dev)
    dev_others = {name: values[on_dev] for name, values in others.items()}
    test_others = {name: values[~on_dev] for name, values in others.items()}
    oracle = weights == ORACLE and reading in WEIGHTED
    terms = (
        oracle_terms(dev, test, test_others, reading=reading, epsilon=epsilon)
        if oracle
        else learn(dev, reading=reading, weights=weights if reading in WEIGHTED else UNIFORM)
    )
    swept = sweep(dev, terms, dev_others)
    return Fit(
        evaluator=evaluator,
        terms=terms,
        choice=choose(swept, epsilon=epsilon),
        dev=swept,
        test=sweep(test, terms, test_others),
        scores=test,
        others=test_others,
        oracle=oracle,
        n_dev=swept.n,
        n_test=int((~np.isnan(test.clean)).sum()),
    )


def _others(
    own: Orbits, every: Mapping[str, Orbits], ratings: pd.DataFrame | None, against: Sequence[str] | None
) -> dict[str, np.ndarray]:
    found = {name: each.clean for name, each in every.items() if name != own.evaluator}
    if ratings is not None and len(ratings):
        people = ratings[ratings["probe"] == IDENTITY].groupby(["corpus", "item"], observed=True)["rating"].mean()
        values = people.reindex(pd.MultiIndex.from_tuples(own.items)).to_numpy(dtype=np.float64)
        if not np.isnan(values).all():
            found[HUMAN] = values
    if against is None:
        return found
    unknown = [name for name in against if name not in found]
    if unknown:
        raise InvalidInput(f"nothing to hold the score to is named {unknown[0]!r}; there are: {', '.join(found)}")
    return {name: found[name] for name in against}


def narrowed(rows: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Keep one subject and one run of each corpus, which a calibration needs, and say what was left out.

    Args:
        rows: of :func:`calibration_rows`.

    Returns:
        The rows of the subject ``template`` (or the first by name) and, of each corpus, of the run with the most
        rows; and a sentence for each choice that was made.
    """
    told = []
    subjects = sorted(map(str, rows["subject"].unique()))
    if len(subjects) > 1:
        kept = "template" if "template" in subjects else subjects[0]
        rows = rows[rows["subject"] == kept]
        told.append(f"Subject {kept} of {', '.join(subjects)}: an item has one clean score.")
    sizes = rows.groupby(["corpus", "run"], observed=True).size().sort_values(ascending=False)
    for corpus, group in sizes.groupby(level="corpus", sort=True, observed=True):
        if len(group) > 1:
            run = group.index[0][1]
            rows = rows[(rows["corpus"] != corpus) | (rows["run"] == run)]
            told.append(f"Run {run} of corpus {corpus}, the largest of {len(group)}: an item counts once.")
    return rows.reset_index(drop=True), tuple(told)


def sweep_table(found: Fit, bands: Mapping[str, tuple[np.ndarray, np.ndarray]] | None = None) -> pd.DataFrame:
    """Both sweeps as one long table: what the page draws and the command writes.

    Args:
        found: of :func:`fit`.
        bands: of :meth:`Fit.bands`; they belong to the test split.

    Returns:
        Columns split, strength, allowed, measure (``sensitivity`` by family, ``axis sensitivity``, ``total
        sensitivity``, ``spearman`` by H), name, value, low, high, n.
    """
    parts = []
    for split, swept in (("dev", found.dev), ("test", found.test)):
        series = [("sensitivity", name, values) for name, values in swept.sensitivity.items()]
        series += [("axis sensitivity", axis, values) for axis, values in axis_sensitivity(found, swept).items()]
        series += [("total sensitivity", "", swept.total)]
        series += [("spearman", name, values) for name, values in swept.spearman.items()]
        for measure, name, values in series:
            nothing = np.full(len(swept.lambdas), np.nan)
            inside = measure == "spearman" and split == "test" and bands is not None and name in bands
            low, high = bands[name] if inside and bands is not None else (nothing, nothing)
            parts.append(
                pd.DataFrame(
                    {
                        "split": split, "strength": swept.lambdas, "allowed": found.choice.allowed,
                        "measure": measure, "name": name, "value": values, "low": low, "high": high, "n": swept.n,
                    }
                )
            )  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def axis_sensitivity(found: Fit, swept: Sweep) -> dict[str, np.ndarray]:
    """Mean sensitivity of each axis' families along λ, by axis; families without a score are left out."""
    axes: dict[str, list[np.ndarray]] = {}
    for name, family in found.scores.families.items():
        if not np.isnan(swept.sensitivity[name]).any():
            axes.setdefault(family.axis, []).append(swept.sensitivity[name])
    return {axis: np.mean(values, axis=0) for axis, values in sorted(axes.items())}
