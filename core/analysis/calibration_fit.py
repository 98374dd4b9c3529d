"""One calibration from stored shifts: split by image, learn on dev, choose λ* there, report on the held-out test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from core.analysis.calibration import SENSITIVITY, UNIFORM, WEIGHTED, Terms, corrections, learn
from core.analysis.calibration_sweep import Choice, Sweep, choose, oracle_terms, sweep
from core.analysis.facets import facets
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
    table = store.table(f"select {columns} from shifts s {clause} {_NO_NULL}", params)
    # a name takes a byte or two in place of itself, and need not be read again to be compared
    return table.to_pandas(strings_to_categorical=True)


_NO_NULL = "and s.axis is distinct from 'null'"


def clean_scores(store: Store, chosen: Slice) -> pd.DataFrame:
    """Scores of the unedited pairs behind the shifts of a slice, all that a calibration needs of other evaluators.

    Args:
        store: opened runs.
        chosen: a slice of one subject and one run of each corpus; see :func:`narrow`.

    Returns:
        Columns evaluator, corpus, item, score: a row an item that has a shift from its unedited pair.
    """
    clause, params = where(chosen)
    return store.query(
        "select distinct s.evaluator, s.corpus, s.item, s.baseline_score as score "
        f"from shifts s {clause} {_NO_NULL} and s.baseline = '{IDENTITY}'", params,
    )  # fmt: skip


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
    clean: pd.DataFrame | None = None,
) -> Fit:
    """Learn, choose and hold out.

    Args:
        rows: of :func:`calibration_rows`, every evaluator; of the evaluator alone where ``clean`` is given.
        images: of :func:`image_hashes`; an item without a hash is split by its name.
        evaluator: whose scores are calibrated.
        reading: see :mod:`core.analysis.calibration`.
        weights: one of WEIGHTS.
        epsilon: correlation with each H that may be lost.
        against: names of H; None: every other evaluator, and people where ``ratings`` has any.
        ratings: columns corpus, item, probe, subject, rating (more is better): people's; those of the unedited
            pair are used, averaged an item.
        clean: of :func:`clean_scores`, every evaluator.

    Raises:
        InvalidInput: if the evaluator has no rows, weights or an H is not known, or a split would be empty.
    """
    if weights not in WEIGHTS:
        raise InvalidInput(f"weights must be one of {', '.join(WEIGHTS)}, got {weights!r}")
    every = orbits(rows) if len(rows) else {}
    if evaluator not in every:
        there = sorted({*every, *(() if clean is None else map(str, clean["evaluator"].unique()))})
        raise InvalidInput(f"no shift of evaluator {evaluator!r} is here; evaluators: {', '.join(there) or 'none'}")
    own = every[evaluator]
    scores = {name: each.clean for name, each in every.items()} if clean is None else _aligned(clean, own.items)
    if ratings is not None:
        ratings = ratings[ratings["subject"].isin(rows["subject"].unique())]
    others = _others(own, scores, ratings, against)
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


def _aligned(clean: pd.DataFrame, items: Sequence[tuple[str, str]]) -> dict[str, np.ndarray]:
    """Clean scores of each evaluator in the order of the items, by its name; NaN where it has none."""
    places = {item: place for place, item in enumerate(items)}
    found = {}
    for name, rows in clean.groupby("evaluator", sort=True):
        at = np.array(
            [places.get(item, -1) for item in zip(rows["corpus"].tolist(), rows["item"].tolist(), strict=True)]
        )
        found[str(name)] = np.full(len(items), np.nan)
        found[str(name)][at[at >= 0]] = rows["score"].to_numpy(np.float64)[at >= 0]
    return found


def _others(
    own: Orbits, clean: Mapping[str, np.ndarray], ratings: pd.DataFrame | None, against: Sequence[str] | None
) -> dict[str, np.ndarray]:
    found = {name: scores for name, scores in clean.items() if name != own.evaluator}
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


def narrow(store: Store, chosen: Slice) -> tuple[Slice, tuple[str, ...]]:
    """Keep one subject and one run of each corpus, which a calibration needs, and say what is left out.

    Args:
        store: opened runs.
        chosen: the shifts to calibrate.

    Returns:
        The slice of the subject ``template`` (or the first by name) and, of each corpus, of the run with the most
        shifts; and a sentence for each choice that was made.
    """
    axes = tuple(name for name in _left(store, chosen, "axes") if name != "null")
    if not axes:
        return chosen, ()
    kept, told = replace(chosen, axes=axes), []
    subjects = sorted(_left(store, kept, "subjects"))
    if len(subjects) > 1:
        kept = replace(kept, subjects=("template" if "template" in subjects else subjects[0],))
        told.append(f"Subject {kept.subjects[0]} of {', '.join(subjects)}: an item has one clean score.")
    corpora, runs = _left(store, kept, "corpora"), _left(store, kept, "runs")
    if len(runs) > len(corpora):
        sizes = {corpus: _left(store, replace(kept, corpora=(corpus,)), "runs") for corpus in sorted(corpora)}
        largest = {corpus: max(own, key=lambda run: own[run]) for corpus, own in sizes.items()}
        kept = replace(kept, runs=tuple(largest.values()))
        told += [
            f"Run {largest[corpus]} of corpus {corpus}, the largest of {len(own)}: an item counts once."
            for corpus, own in sizes.items()
            if len(own) > 1
        ]
    return kept, tuple(told)


def _left(store: Store, chosen: Slice, field: str) -> dict[str, int]:
    """Values of a field that a slice has shifts of, and how many."""
    values = getattr(chosen, field)
    return {name: n for name, n in facets(store, chosen)[field].items() if n and (not values or name in values)}


def sweep_table(found: Fit, bands: Mapping[str, tuple[np.ndarray, np.ndarray]] | None = None) -> pd.DataFrame:
    """Both sweeps as one long table: what the page draws and the command writes.

    Args:
        found: of :func:`fit`.
        bands: of :meth:`Fit.bands`; they belong to the test split.

    Returns:
        Columns split, strength, allowed, measure (``sensitivity`` by family, ``axis sensitivity``, ``total
        sensitivity``, ``spearman`` by H), name, value, low, high, n.
    """
    rows: list[tuple] = []
    for split, swept in (("dev", found.dev), ("test", found.test)):
        series = [("sensitivity", name, values) for name, values in swept.sensitivity.items()]
        series += [("axis sensitivity", axis, values) for axis, values in axis_sensitivity(found, swept).items()]
        series += [("total sensitivity", "", swept.total)]
        series += [("spearman", name, values) for name, values in swept.spearman.items()]
        for measure, name, values in series:
            nothing = np.full(len(swept.lambdas), np.nan)
            inside = measure == "spearman" and split == "test" and bands is not None and name in bands
            low, high = bands[name] if inside and bands is not None else (nothing, nothing)
            along = zip(swept.lambdas, found.choice.allowed, values, low, high, strict=True)
            rows += [(split, at, allowed, measure, name, *told, swept.n) for at, allowed, *told in along]
    columns = ("split", "strength", "allowed", "measure", "name", "value", "low", "high", "n")
    return pd.DataFrame(rows, columns=list(columns))


def axis_sensitivity(found: Fit, swept: Sweep) -> dict[str, np.ndarray]:
    """Mean sensitivity of each axis' families along λ, by axis; families without a score are left out."""
    axes: dict[str, list[np.ndarray]] = {}
    for name, family in found.scores.families.items():
        if not np.isnan(swept.sensitivity[name]).any():
            axes.setdefault(family.axis, []).append(swept.sensitivity[name])
    return {axis: np.mean(values, axis=0) for axis, values in sorted(axes.items())}
