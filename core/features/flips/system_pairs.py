"""Two captioning systems under harmless image edits: both captions of every image, before and after.

Risk of ranking flip of two real systems: does a harmless edit change which of them is ahead?

Two definitions, both reported: *pointwise*, over items and transforms, and *system-level*, whether the order
of the two means changes. Source: paper A, section 3.4, equation 1.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from core.corpora.image_places import ItemNames
from core.corpora.item_pictures import read_item
from core.corpora.schema import Corpus, Item
from core.errors import InvalidInput, InvariscopeError
from core.evaluators.base import Evaluator
from core.evaluators.cache import EmbeddingCache
from core.evaluators.scoring import score_pairs_with_errors
from core.evaluators.video.items import asks, for_item
from core.probes.base import ENGLISH, HUMAN, Probe, Subject
from core.scoring.workbench import Workbench
from core.seeds import RUN_SEED
from core.statistics.bootstrap import RESAMPLES, Interval
from core.statistics.shares import share_of_sums

COLUMNS = (
    "corpus",
    "item",
    "source",
    "family",
    "probe",
    "a_caption",
    "b_caption",
    "a_before",
    "b_before",
    "a_after",
    "b_after",
)


@dataclass(frozen=True, slots=True)
class SystemScores:
    """What scoring two systems found.

    Args:
        pairs: one row an (item, probe), COLUMNS (source: what several items share, a cut-out, else the picture); NaN
            where a score is missing.
        left_out: one sentence for each image, probe or caption without a score.
    """

    pairs: pd.DataFrame
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Matched:
    """Captions of two systems beside the items of a corpus.

    Args:
        items: that both systems caption.
        a: caption by item id.
        b: likewise.
        only_a: ids in A's file that no item, or no caption of B, answers to.
        only_b: likewise.
    """

    items: tuple[Item, ...]
    a: Mapping[str, str]
    b: Mapping[str, str]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]


def match(corpus: Corpus, a: Mapping[str, str], b: Mapping[str, str]) -> Matched:
    """Pair captions with items: a key is an item's id, or its file's name with or without the ending.

    Raises:
        InvalidInput: if no item has a caption of both.
    """
    by_item = [_by_item(corpus, captions) for captions in (a, b)]
    items = tuple(item for item in corpus.items if item.id in by_item[0] and item.id in by_item[1])
    if not items:
        raise InvalidInput(
            f"no image of corpus {corpus.name!r} has a caption in both files; keys such as {next(iter(a), '')!r} and "
            f"{next(iter(b), '')!r} must be names of its images, such as {corpus.items[0].id!r}"
        )
    kept = {item.id for item in items}
    lost = [
        tuple(key for key in captions if key not in {used for item, (used, _) in found.items() if item in kept})
        for captions, found in zip((a, b), by_item, strict=True)
    ]
    texts = [{item.id: found[item.id][1] for item in items} for found in by_item]
    return Matched(items, texts[0], texts[1], *lost)


def score_systems(
    evaluator: Evaluator,
    matched: Matched,
    probes: Sequence[Probe],
    *,
    seed: int = RUN_SEED,
    progress: Callable[[int, int], None] | None = None,
) -> SystemScores:
    """Score both captions of every item on the unedited image and on every variant; item by item.

    Args:
        evaluator: loaded; the caller holds its lease.
        matched: of :func:`match`.
        probes: edits of the image.
        seed: with the seed of a run, the variants are those of the run.
        progress: called with (items done, items).
    """
    records: list[dict[str, object]] = []
    left_out: list[str] = []
    cache = EmbeddingCache(None, memory_mb=64)
    evaluator = for_item(evaluator, matched.items[0]) if matched.items else evaluator
    probes = [each for each in probes if asks(type(evaluator), each)]
    for done, item in enumerate(matched.items, 1):
        captions = (matched.a[item.id], matched.b[item.id])
        try:
            bench = Workbench(item, read_item(item).pixels, seed=seed)
            records += _item(evaluator, bench, captions, probes, cache, left_out)
        except InvariscopeError as error:
            left_out.append(f"{item.id}: {error}")
        if progress is not None:
            progress(done, len(matched.items))
    return SystemScores(pd.DataFrame(records, columns=list(COLUMNS)), tuple(left_out))


def _item(
    evaluator: Evaluator,
    bench: Workbench,
    captions: tuple[str, str],
    probes: Sequence[Probe],
    cache: EmbeddingCache,
    left_out: list[str],
) -> list[dict[str, object]]:
    own = bench.image_key
    subjects = [Subject(HUMAN, ENGLISH, 0, caption) for caption in captions]
    images: dict[str, np.ndarray] = {own: bench.pixels}
    keys: dict[Probe, str] = {}
    for probe in probes:
        edited = bench.edited(probe, subjects)
        left_out += [f"{bench.item.id}, {probe.name}: {reason.detail}" for reason in edited.reasons]
        for draft in edited.drafts:
            assert edited.pixels is not None
            keys[probe], images[draft.image_key] = draft.image_key, edited.pixels
    wanted = [(key, caption) for key in dict.fromkeys([own, *keys.values()]) for caption in dict.fromkeys(captions)]
    found = score_pairs_with_errors(evaluator, images, wanted, cache=cache)
    scores = dict(zip(wanted, found.scores.tolist(), strict=True))
    left_out += [f"{bench.item.id}: {error}" for error in dict.fromkeys(found.errors) if error]
    a, b = captions
    return [
        {
            "corpus": bench.item.corpus,
            "item": bench.item.id,
            "source": bench.item.drawn_with(own),
            "family": probe.family,
            "probe": probe.name,
            "a_caption": a,
            "b_caption": b,
            "a_before": scores[own, a],
            "b_before": scores[own, b],
            "a_after": scores[key, a],
            "b_after": scores[key, b],
        }
        for probe, key in keys.items()
    ]


def _by_item(corpus: Corpus, captions: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Item id -> (key in the file, caption); blank captions are none, nor is one that may be of several items."""
    names, found = ItemNames(corpus.items), dict[str, tuple[str, str]]()
    for key, caption in captions.items():
        items = names.several(key) if caption.strip() else []
        if len(items) == 1:
            found.setdefault(items[0], (key, caption))
    return found


_NEEDED = ("corpus", "item", "probe", "a_before", "b_before", "a_after", "b_after")
"""What a table of two systems needs: the scores of both captions on the unedited and on the edited image."""

_CHUNK = 2_000_000  # weights held at once: 16 MB


@dataclass(frozen=True, slots=True)
class SystemFlips:
    """How often the order of two systems changes.

    Args:
        pointwise: share of (item, transform) pairs with sign Δ_S(x, t) ≠ sign Δ_S(x, id), as equation 1 is
            printed: a tie that is broken and a lead that becomes a tie count as flips; interval over items' sources.
        strict: the same where only a lead that changes sides counts.
        tied_before: number of pairs that tie on the unedited image.
        tied_after: number of pairs that tie on the edited image.
        system: share of transforms under which the order of the means changes (ties as in ``pointwise``).
        gap: mean score of A minus that of B on unedited images.
        gaps: per transform: probe, gap_before, gap_after (same items), flips (the order of the means
            changes), unstable (share of bootstrap samples of items, those of one source together, in which it
            changes), n_items.
        n_pairs: pairs whose four scores are there.
        n_missing: pairs that lack one; left out.
    """

    pointwise: Interval
    strict: Interval
    tied_before: int
    tied_after: int
    system: float
    gap: float
    gaps: pd.DataFrame
    n_pairs: int
    n_missing: int


def system_flips(
    pairs: pd.DataFrame, *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = RUN_SEED
) -> SystemFlips:
    """Both risks of one family and one evaluator.

    Args:
        pairs: one row an (item, transform), _NEEDED; NaN where a score is missing. A column source says what several
            items share; without it every item is one of its own.
        level: confidence level of the pointwise intervals.
        resamples: bootstrap samples of sources.
        seed: seed of the draws.

    Returns:
        See :class:`SystemFlips`; NaN with a note where no pair is whole.

    Raises:
        InvalidInput: if a column is missing.
    """
    marked = flipped_pairs(pairs)
    if "source" not in marked:
        marked = marked.assign(source=marked["corpus"] + "\x1f" + marked["item"])
    whole = marked.dropna(subset=list(_NEEDED[3:]))
    rng = np.random.default_rng(seed)
    gaps = _by_transform(whole, resamples, rng)
    clean = whole.drop_duplicates(["corpus", "item", "gap_before"])
    return SystemFlips(
        pointwise=_share(whole, "flips", level),
        strict=_share(whole, "changes_sides", level),
        tied_before=int((whole["gap_before"] == 0).sum()),
        tied_after=int((whole["gap_after"] == 0).sum()),
        system=float(gaps["flips"].mean()) if len(gaps) else math.nan,
        gap=float(clean.groupby(["corpus", "item"])["gap_before"].mean().mean()) if len(clean) else math.nan,
        gaps=gaps,
        n_pairs=len(whole),
        n_missing=len(pairs) - len(whole),
    )


def flipped_pairs(pairs: pd.DataFrame) -> pd.DataFrame:
    """Mark each pair: gap_before, gap_after, flips (equation 1), changes_sides (no tie on either side).

    Returns:
        The rows of ``pairs`` with these four columns more; where a score is missing the gap is NaN and
        neither mark is set.

    Raises:
        InvalidInput: if a column is missing.
    """
    missing = [name for name in _NEEDED if name not in pairs.columns]
    if missing:
        raise InvalidInput(f"two systems are compared by {', '.join(_NEEDED)}; the table lacks {', '.join(missing)}")
    before, after = pairs["a_before"] - pairs["b_before"], pairs["a_after"] - pairs["b_after"]
    whole = before.notna() & after.notna()
    return pairs.assign(
        gap_before=before,
        gap_after=after,
        flips=whole & (np.sign(before) != np.sign(after)),
        changes_sides=np.sign(before) * np.sign(after) == -1,
    )


def _share(pairs: pd.DataFrame, mark: str, level: float) -> Interval:
    """Share of marked pairs, every item with the same weight, with Wilson's interval over sources."""
    by_item = pairs.groupby(["corpus", "item"], observed=True)
    shares, sources = by_item[mark].mean().to_numpy(np.float64), pd.factorize(by_item["source"].first())[0]
    n = len(shares)
    if n < 2:
        note = "one item has no interval" if n else "no pairs"
        return Interval(float(shares[0]) if n else math.nan, math.nan, math.nan, n, level, note)
    transforms = pairs["probe"].nunique()
    found = share_of_sums(transforms * np.bincount(sources, shares), transforms * np.bincount(sources), level=level)
    return replace(found, n=n)


def _by_transform(pairs: pd.DataFrame, resamples: int, rng: np.random.Generator) -> pd.DataFrame:
    records = []
    for probe, rows in pairs.groupby("probe", sort=True, observed=True):
        by_item = rows.groupby(["corpus", "item"], observed=True)
        means = by_item[["gap_before", "gap_after"]].mean()
        before, after = means.mean()
        sums = means.groupby(by_item["source"].first().to_numpy()).sum().to_numpy()  # a sign needs no division
        drawn = np.sign(_bootstrap_sums(sums, resamples, rng))
        records.append(
            {
                "probe": probe,
                "gap_before": float(before),
                "gap_after": float(after),
                "flips": bool(np.sign(before) != np.sign(after)),
                "unstable": float((drawn[:, 0] != drawn[:, 1]).mean()),
                "n_items": len(means),
            }
        )
    return pd.DataFrame(records, columns=["probe", "gap_before", "gap_after", "flips", "unstable", "n_items"])


def _bootstrap_sums(values: np.ndarray, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Sums of bootstrap samples of rows, shape [n, c] → [resamples, c]."""
    n = len(values)
    sums = np.empty((resamples, values.shape[1]))
    step = max(1, _CHUNK // n)
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        picks = rng.integers(n, size=(rows, n)) + n * np.arange(rows)[:, None]
        sums[start : start + rows] = np.bincount(picks.ravel(), minlength=rows * n).reshape(rows, n) @ values
    return sums
