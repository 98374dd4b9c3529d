"""Scores of many pairs: every unique image and every unique caption is encoded once."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from core.errors import InvalidInput, ScoringStopped
from core.evaluators.base import DualEncoder, Evaluator, Joined, PartlyScored
from core.evaluators.cache import CAPTION, IMAGE, PAIR, EmbeddingCache, caption_hash, pair_key
from core.evaluators.memory import MB
from core.evaluators.references import NO_REFERENCE, Referenced, ReferencedDualEncoder, check_references
from core.probes.rejections import coded
from core.registry import STRANGERS

ImageSource = np.ndarray | Callable[[], np.ndarray]  # uint8 RGB [H, W, 3], or a call that makes it when needed
Progress = Callable[[int, int], None]  # units done and in all: images and captions of a dual encoder, or pairs
BATCH_BYTES = 256 * MB  # of pixels, that fill a batch however few its images are: large photographs must not pile up
_COMBINE_ROWS = 4096
T = TypeVar("T")
_Wanted = tuple[str, str, tuple[str, ...]]  # image hash, caption, references


@dataclass(frozen=True, slots=True)
class PairScores:
    """What :func:`score_pairs_with_errors` found."""

    scores: np.ndarray  # float64 [n]; NaN where a pair could not be scored
    errors: tuple[str | None, ...]  # n texts; None where the pair was scored
    images_encoded: int = 0  # unique images that entered the evaluator (for a pairwise evaluator: pairs)
    captions_encoded: int = 0  # unique captions that entered a dual encoder's text tower
    calls: int = 0  # calls of the evaluator
    known: int = 0  # unique images and captions (for a pairwise evaluator: pairs) that the cache held

    @property
    def asked(self) -> int:
        """Unique images and captions, or pairs, that the scores needed."""
        return self.known + self.images_encoded + self.captions_encoded


@dataclass(frozen=True, slots=True)
class CaptionEmbeddings:
    """What :func:`embed_captions` found."""

    embeddings: Mapping[
        str, np.ndarray
    ]  # float32 or float64 [d] of each caption that could be read, in the order given
    captions_encoded: int  # captions that entered the text tower
    calls: int


def in_reading_order(captions: Iterable[str]) -> list[str]:
    """Captions, each once, short ones first: those of a batch are padded to the longest."""
    return sorted(dict.fromkeys(captions), key=lambda text: (len(text), text))


def embed_captions(
    evaluator: DualEncoder, captions: Sequence[str], *, batch_size: int, progress: Progress | None = None
) -> CaptionEmbeddings:
    """Embed captions in batches of the order given; one that cannot be read is left out, whatever the reason.
    ``captions``: each once; see :func:`in_reading_order`. ``batch_size``: most captions in one call."""
    work = _Work(evaluator, batch_size, EmbeddingCache(), progress)
    work.total = len(captions)
    found = work.encode(captions, str, evaluator.encode_captions, {})
    return CaptionEmbeddings({text: found[text] for text in captions if text in found}, len(captions), work.calls)


def embed_images(
    evaluator: DualEncoder,
    images: Mapping[str, ImageSource],
    *,
    cache: EmbeddingCache,
    progress: Progress | None = None,
) -> int:
    """Embed the images that a cache lacks and keep them there; one that cannot be read is left out.
    ``images``: by the hash of their pixels. Returns how many embeddings are new."""
    work = _Work(evaluator, evaluator.full_batch, cache, progress)
    known = cache.get_many(work.fingerprint, IMAGE, list(images))
    new = [key for key in images if key not in known]
    work.total = len(new)
    encoded = work.encode(new, lambda key: work._pixels(images[key]), evaluator.encode_images, {})
    cache.put_many(work.fingerprint, IMAGE, encoded)
    return len(encoded)


def score_pairs(
    evaluator: Evaluator, images: Mapping[str, ImageSource], pairs: Sequence[tuple[str, str]], **options: Any
) -> np.ndarray:
    """Score pairs; see :func:`score_pairs_with_errors`. Returns float64 [n]; NaN where a pair could not be scored."""
    return score_pairs_with_errors(evaluator, images, pairs, **options).scores


def score_pairs_with_errors(
    evaluator: Evaluator,
    images: Mapping[str, ImageSource],
    pairs: Sequence[tuple[str, str]],
    *,
    references: Sequence[Sequence[str]] | None = None,
    cache: EmbeddingCache | None = None,
    batch_size: int | None = None,
    progress: Progress | None = None,
) -> PairScores:
    """Score pairs, with the reason beside every pair that could not be scored.
    A dual encoder sees every unique image and every unique caption once. Any other evaluator sees every unique pair
    once; the pairs of one image come one after the other and, within a batch, as the same array object. Of a joined
    evaluator each part is asked in its own way, with the same cache. When a call raises, its batch is halved until the
    culprit stands alone; the others are scored. ``evaluator``: loaded; the caller holds its lease.
    ``images``: pixels by content hash (``core.corpora.images.pixel_hash``); calls are made batch by batch.
    ``pairs``: n (image hash, caption) pairs, in any order, repeats welcome.
    ``references``: n lists of reference captions, for an evaluator whose spec says ``takes_references``; a pair whose
    list is empty has no score. Any other evaluator ignores them.
    ``batch_size``: most images, captions or pairs in one call; None: the evaluator's own ``full_batch``. Images of more
    than BATCH_BYTES together are given in smaller batches.
    Raises InvalidInput if a pair names an image that is not in ``images``, or references are needed and missing."""
    batch_size = evaluator.full_batch if batch_size is None else batch_size
    if batch_size < 1:
        raise InvalidInput(f"batch_size must be at least 1, got {batch_size}")
    strangers = [key for key, _ in pairs if key not in images]
    if strangers:
        raise InvalidInput(f"a pair names image {strangers[0]!r}, which is not among the {len(images)} images given")
    cache = EmbeddingCache() if cache is None else cache
    if isinstance(evaluator, Joined):  # every part counts the same, and what was in the cache does not count
        parts = []
        for rank, part in enumerate(evaluator.parts):
            say = None if progress is None else partial(_tell_part, progress, rank, len(evaluator.parts))
            parts.append(score_pairs_with_errors(part, images, pairs, cache=cache, batch_size=batch_size, progress=say))
        scores, errors = evaluator.joined((each.scores, each.errors) for each in parts)
        counts = ("images_encoded", "captions_encoded", "calls", "known")
        return PairScores(scores, errors, **{name: sum(getattr(each, name) for each in parts) for name in counts})
    work = _Work(evaluator, batch_size, cache, progress)
    score = work.dual if isinstance(evaluator, DualEncoder) else work.pairwise
    told: list[tuple[str, ...]] | None = None
    if isinstance(evaluator, Referenced):
        told = [tuple(texts) for texts in check_references(evaluator.spec.name, references, len(pairs))]
    scores, errors = score(images, pairs, told)
    return PairScores(scores, errors, work.images_encoded, work.captions_encoded, work.calls, work.known)


def _tell_part(progress: Progress, rank: int, parts: int, done: int, total: int) -> None:
    progress(rank * total + done, parts * total)


class _Work:
    def __init__(self, evaluator: Evaluator, batch_size: int, cache: EmbeddingCache, progress: Progress | None) -> None:
        self.evaluator, self.batch_size, self.cache = evaluator, batch_size, cache
        self.fingerprint = evaluator.fingerprint.key
        self.progress = progress
        self.images_encoded = self.captions_encoded = self.calls = self.known = 0
        self.done = self.total = 0
        self.held = 0  # bytes of pixels fetched for the batch that is being filled

    def dual(
        self,
        images: Mapping[str, ImageSource],
        pairs: Sequence[tuple[str, str]],
        references: Sequence[tuple[str, ...]] | None,
    ) -> tuple[np.ndarray, tuple[str | None, ...]]:
        assert isinstance(self.evaluator, DualEncoder)
        image_keys = list(dict.fromkeys(key for key, _ in pairs))
        written = [caption for _, caption in pairs] + [text for each in references or () for text in each]
        texts = {text: caption_hash(text) for text in dict.fromkeys(written)}
        by_image = self.cache.get_many(self.fingerprint, IMAGE, image_keys)
        by_hash = self.cache.get_many(self.fingerprint, CAPTION, list(texts.values()))
        new_images = [key for key in image_keys if key not in by_image]
        new_texts = in_reading_order(text for text, key in texts.items() if key not in by_hash)
        self.total = len(new_images) + len(new_texts)
        self.known = len(by_image) + len(texts) - len(new_texts)
        failed: dict[str, str] = {}
        encoded = self.encode(new_images, lambda key: self._pixels(images[key]), self.evaluator.encode_images, failed)
        by_image.update(encoded)
        self.images_encoded = len(new_images)
        self.cache.put_many(self.fingerprint, IMAGE, encoded)
        failed_texts: dict[str, str] = {}
        encoded = self.encode(new_texts, str, self.evaluator.encode_captions, failed_texts)
        self.captions_encoded = len(new_texts)
        encoded = {texts[text]: value for text, value in encoded.items()}
        by_hash.update(encoded)
        self.cache.put_many(self.fingerprint, CAPTION, encoded)
        errors = [failed.get(key) or failed_texts.get(caption) for key, caption in pairs]
        groups: list[list[str]] | None = None
        if references is not None:  # a reference that cannot be read is left out; one that can is enough
            groups = [[texts[text] for text in each if text not in failed_texts] for each in references]
            errors = [error or self._lacking(group) for error, group in zip(errors, groups, strict=True)]
        rows = [index for index, error in enumerate(errors) if error is None]
        joined: dict[int, np.ndarray] = {}
        unjoined: dict[int, str] = {}

        def join(part: Sequence[int]) -> np.ndarray:
            import torch

            left = torch.from_numpy(np.stack([by_image[pairs[row][0]] for row in part]))
            right = torch.from_numpy(np.stack([by_hash[texts[pairs[row][1]]] for row in part]))
            if groups is None:
                assert isinstance(self.evaluator, DualEncoder)
                return self.evaluator.combine(left, right)
            assert isinstance(self.evaluator, ReferencedDualEncoder)
            others = [torch.from_numpy(np.stack([by_hash[name] for name in groups[row]])) for row in part]
            return self.evaluator.combine_with_references(left, right, others)

        for start in range(0, len(rows), _COMBINE_ROWS):
            self._halve(rows[start : start + _COMBINE_ROWS], join, joined, unjoined, "score")
        scores = np.full(len(pairs), np.nan)
        for row, value in joined.items():
            scores[row] = value
        return scores, tuple(unjoined.get(row, error) for row, error in enumerate(errors))

    def _lacking(self, references: Sequence[str]) -> str | None:
        if references:
            return None
        return coded("no-reference", NO_REFERENCE.format(name=self.evaluator.spec.name))

    def pairwise(
        self,
        images: Mapping[str, ImageSource],
        pairs: Sequence[tuple[str, str]],
        references: Sequence[tuple[str, ...]] | None,
    ) -> tuple[np.ndarray, tuple[str | None, ...]]:
        wanted: list[_Wanted] = [(*pair, ()) for pair in pairs]
        if references is not None:
            wanted = [(*pair, each) for pair, each in zip(pairs, references, strict=True)]
        failed: dict[_Wanted, str] = {}
        if references is not None:
            failed = {each: self._lacking(each[2]) or "" for each in wanted if not each[2]}
        names = {each: pair_key(*each) for each in dict.fromkeys(wanted)}
        known = self.cache.get_many(self.fingerprint, PAIR, list(names.values()))
        order = {key: rank for rank, key in enumerate(dict.fromkeys(key for key, _ in pairs))}
        new = sorted(
            (each for each, name in names.items() if name not in known and each not in failed),
            key=lambda each: order[each[0]],
        )
        self.total = self.images_encoded = len(new)
        self.known = len(known)
        last: dict[str, np.ndarray] = {}

        def fetch(pair: _Wanted) -> tuple[np.ndarray, str, tuple[str, ...]]:
            if pair[0] not in last:
                pixels = self._pixels(images[pair[0]])
                last.clear()  # pairs come image by image: one at a time is enough
                last[pair[0]] = pixels
            return last[pair[0]], pair[1], pair[2]

        def call(batch: list[tuple[np.ndarray, str, tuple[str, ...]]]) -> np.ndarray:
            scored_images, captions, others = [list(column) for column in zip(*batch, strict=True)]
            if references is None:
                return self.evaluator.score(scored_images, captions)
            assert isinstance(self.evaluator, Referenced)
            return self.evaluator.score(scored_images, captions, others)

        scored = self.encode(new, fetch, call, failed)
        known.update({names[each]: value for each, value in scored.items()})
        self.cache.put_many(self.fingerprint, PAIR, {names[each]: value for each, value in scored.items()})
        errors = tuple(failed.get(each) for each in wanted)
        scores = [np.nan if each in failed else float(known[names[each]]) for each in wanted]
        return np.array(scores, dtype=np.float64), errors

    def encode(
        self, keys: Sequence[T], fetch: Callable[[T], object], call: Callable[[list[Any]], object], failed: dict[T, str]
    ) -> dict[T, np.ndarray]:
        """Run ``call`` over batches; returns one row a key, and notes in ``failed`` why a key has none."""
        rows: dict[T, np.ndarray] = {}
        waiting = iter(keys)
        while part := self._fetched(waiting, fetch, failed):
            inputs = {key: value for key, value in part.items() if key not in failed}
            self._halve(list(inputs), partial(self._counted, call, inputs), rows, failed)
            self.done += len(part)
            if self.progress is not None:
                self.progress(self.done, self.total)
        return rows

    def _fetched(self, keys: Iterator[T], fetch: Callable[[T], object], failed: dict[T, str]) -> dict[T, object]:
        """The next batch: full by number or by bytes, None in the place of what cannot be fetched."""
        part: dict[T, object] = {}
        self.held = 0
        for key in keys:
            try:
                part[key] = fetch(key)
            except Exception as error:  # a lazy image may fail in any way; the rest goes on
                part[key], failed[key] = None, _sentence(error)
            if len(part) == self.batch_size or self.held >= BATCH_BYTES:
                break
        return part

    def _counted(self, call: Callable[[list[Any]], object], inputs: Mapping[T, object], keys: Sequence[T]) -> object:
        self.calls += 1
        return call([inputs[key] for key in keys])

    def _pixels(self, source: ImageSource) -> np.ndarray:
        pixels = source() if callable(source) else source
        self.held += pixels.nbytes
        return pixels

    def _halve(
        self,
        keys: Sequence[T],
        call: Callable[[Sequence[T]], object],
        rows: dict[T, np.ndarray],
        failed: dict[T, str],
        what: str = "value",
    ) -> None:
        """Run ``call`` over some keys, and where it raises over each half, until the culprit stands alone."""
        if not keys:
            return
        try:
            values = _as_rows(call(keys), len(keys))
        except ScoringStopped:  # no pair can be scored any more: the caller ends
            raise
        except PartlyScored as partly:
            values = partly.scores
            failed.update({key: error for key, error in zip(keys, partly.errors, strict=True) if error})
        except STRANGERS as error:  # an evaluator may raise anything; find the item that it cannot take
            if len(keys) == 1:
                failed[keys[0]] = _sentence(error)
                return
            middle = len(keys) // 2
            for half in (keys[:middle], keys[middle:]):
                self._halve(half, call, rows, failed, what)
            return
        for key, value in zip(keys, values, strict=True):
            if np.isfinite(value).all():
                rows[key] = value
            else:
                failed.setdefault(key, coded("not-finite", f"the evaluator gave no finite {what}"))


def _as_rows(values: object, count: int) -> np.ndarray:
    """One float row an input, as numpy, whatever tensor or array the evaluator gave."""
    detach = getattr(values, "detach", None)
    array = np.asarray(values if detach is None else detach().cpu())
    if len(array) != count:
        raise InvalidInput(f"the evaluator gave {len(array)} rows for {count} inputs")
    return array.astype(np.float64 if array.dtype != np.float32 else np.float32, copy=False)


def _sentence(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
