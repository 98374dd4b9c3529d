"""Two captioning systems under harmless image edits: both captions of every image, before and after."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.corpora.image_names import ItemNames
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
