"""Any number of captioners on the same pictures: every caption of every picture, unedited and under harmless edits."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.corpora.caption_tables import System, unlike
from core.corpora.image_places import ItemNames
from core.corpora.item_pictures import read_item
from core.corpora.schema import Corpus, Item, two_sources
from core.errors import InvalidInput, InvariscopeError
from core.evaluators.base import Evaluator, EvaluatorSpec
from core.evaluators.cache import EmbeddingCache
from core.evaluators.references import Referenced, references_of
from core.evaluators.scoring import score_pairs_with_errors
from core.evaluators.towers.preprocessing import ClipPrompts
from core.evaluators.video.video_evaluator import asks, for_item
from core.probes.base import ENGLISH, HUMAN, Probe, Subject
from core.probes.titles import title
from core.probes.words.health import known_instances, objects_named, objects_there
from core.scoring.caption_scores import check_scorable, unread_captions
from core.scoring.reference_metrics import CIDER, METRICS, ROUGE, SUMMED, compare, fingerprint, lacking
from core.scoring.workbench import Workbench
from core.seeds import RUN_SEED, stream
from core.statistics.bootstrap import Interval
from core.statistics.corpus_sums import summed_intervals
from core.statistics.crossed_sources import first_alone, numbered
from core.statistics.ratios import mean_bca

_MEASURED, _OBJECTS = ("tokens", "cut", "clip_tokens"), ("named", "invented")
_ABOUT = ("item", "source", "system", "place", "caption", "evaluator", "family", "probe")
COLUMNS = (*_ABOUT, "score", *_MEASURED, *_OBJECTS)
"""One row a scored caption: ``place`` 0 is the system's caption, others are further samples; ``family`` and ``probe``
are empty on the unedited picture; ``tokens`` and ``cut`` (the text tower drops words) where there is a tokenizer;
``clip_tokens`` by CLIP's; ``named`` and ``invented`` objects where the picture's instances are known."""

PEOPLE = "human"  # name of the system whose captions are references that were drawn
SHOWN = 3  # names that a remark lists; the rest is counted
_HELD = 192 * 2**20  # bytes of pixels after which the items that are scored together are enough
_TOGETHER = 16  # most items that are scored together


@dataclass(frozen=True, slots=True)
class Entered:
    """Systems beside the items of a corpus."""

    items: tuple[Item, ...]  # that at least one system captions, in the order of the corpus
    # by system and item id; the first is the system's caption, the others are further samples
    captions: Mapping[str, Mapping[str, tuple[str, ...]]]
    references: Mapping[str, tuple[str, ...]]  # by item id, captions by people for metrics that take some
    # one sentence for each thing that found no place, and by which source of the pictures it is reckoned
    remarks: tuple[str, ...]

    @property
    def common(self) -> tuple[Item, ...]:
        """Items that every system captions."""
        return tuple(item for item in self.items if all(item.id in held for held in self.captions.values()))


@dataclass(frozen=True, slots=True)
class BoardScores:
    """Scores of one evaluator."""

    rows: pd.DataFrame  # COLUMNS; score NaN where there is none
    left_out: tuple[str, ...]  # one sentence for each picture or caption without a score
    edits: tuple[str, ...]  # one sentence for each edit that some pictures or captions were left out of, with how many
    told: str  # evaluator with its fingerprint


def enter(
    corpus: Corpus,
    systems: Sequence[System],
    *,
    references: Mapping[str, tuple[str, ...]] | None = None,
    people: bool = False,
    seed: int = RUN_SEED,
) -> Entered:
    """Find the picture of every caption: a key is an item's id, or its file's name with or without its ending.

    Nothing is lost without a word: captions of no picture, or of a name that two pictures share, blank captions and
    systems without any are named in ``remarks``. ``references``: captions by people, by the same keys; None: the
    corpus's own English ones; ``people``: also enter PEOPLE, one reference of each picture, drawn with the seed. Raises
    BadCorpus if two systems share a name, or they are too many; InvalidInput if no system captions a picture of the
    corpus.
    """
    unlike(systems)
    if people and any(each.name == PEOPLE for each in systems):
        raise InvalidInput(
            f"a system is called {PEOPLE!r}, as the row of references is; rename it or leave that row out"
        )
    places = _Places(corpus)
    captions: dict[str, dict[str, tuple[str, ...]]] = {}
    remarks: list[str] = []
    for system in systems:
        found, lost = places.find(f"system {system.name!r}", system.captions)
        remarks += lost
        if found:
            captions[system.name] = found
        else:
            remarks.append(f"system {system.name!r} captions no picture of corpus {corpus.name!r} and is left out")
    if not captions:
        example = corpus.items[0].id if corpus.items else "none"
        raise InvalidInput(
            f"no system captions a picture of corpus {corpus.name!r}; keys must be names of its images, "
            f"such as {example!r}. {remarks[0]}"
        )
    if references is None:
        told, lost = {item.id: tuple(item.captions.get(ENGLISH, ())) for item in corpus.items}, list[str]()
    else:
        told, lost = places.find("references", references)
    remarks += (*lost, *dict.fromkeys(each.remark for each in systems if each.remark))
    if people:
        captioned = set().union(*captions.values())
        if drawn := drawn_references({item: told.get(item, ()) for item in captioned}, seed=seed):
            captions[PEOPLE] = drawn
        else:
            remarks.append(f"none of these pictures has a caption by people, so there is no row {PEOPLE!r}")
    items = tuple(item for item in corpus.items if any(item.id in held for held in captions.values()))
    return Entered(items, captions, told, (*by_one_source(*two_sources(items)), *remarks))


def by_one_source(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
    """The sentence that a leaderboard reckons with the first source of each picture; none where the second is the first
    again."""
    alone = first_alone(numbered(first, second))
    return (f"intervals, tests and ranks are {alone}, though pictures name two",) if alone else ()


def drawn_references(references: Mapping[str, Sequence[str]], *, seed: int = RUN_SEED) -> dict[str, tuple[str, ...]]:
    """Draw one caption by people for each item; the same seed draws the same ones, whatever the order of the items."""
    return {
        item: (texts[int(stream(seed, item, PEOPLE).integers(len(texts)))],)
        for item, texts in references.items()
        if texts
    }


def check_board(spec: EvaluatorSpec, entered: Entered) -> None:
    """Refuse an evaluator that can rank none of these systems, before it is loaded; raises InvalidInput if its scores
    fall as captions get better, it needs references and no picture has any, or it reads none of the captions."""
    if not spec.higher_is_better:
        raise InvalidInput(f"{spec.name} gives better captions lower scores; a leaderboard needs the opposite")
    check_scorable(
        spec,
        (text for held in entered.captions.values() for texts in held.values() for text in texts),
        references=any(entered.references.get(item.id) for item in entered.items),
    )


def score_board(
    evaluator: Evaluator,
    entered: Entered,
    probes: Sequence[Probe] = (),
    *,
    items: Sequence[Item] | None = None,
    seed: int = RUN_SEED,
    progress: Callable[[int, int], None] | None = None,
) -> BoardScores:
    """Score every caption on its picture, and every system's own caption on every edited picture.

    Each unique picture and each unique caption is encoded once. A metric that takes references has those of the picture
    without the caption that is scored. The caller holds the evaluator's lease; without ``items`` all that a system
    captions are scored; with the seed of a run, the edited pictures are those of the run. Raises as
    :func:`check_board`.
    """
    check_board(evaluator.spec, entered)
    chosen = entered.items if items is None else tuple(items)
    evaluator = for_item(evaluator, chosen[0]) if chosen else evaluator
    work = _Work(evaluator, entered, tuple(each for each in probes if asks(type(evaluator), each)), seed)
    waiting: list[Workbench] = []
    held = 0
    for done, item in enumerate(chosen, 1):
        try:
            bench = Workbench(item, read_item(item).pixels, seed=seed)
            waiting.append(bench)
            held += bench.pixels.nbytes * (1 + len(work.probes))
        except InvariscopeError as error:
            work.left_out.append(f"{item.id}: {error}")
            work.unread(item)
        if held >= _HELD or len(waiting) == _TOGETHER or done == len(chosen):
            work.score(waiting)
            waiting, held = [], 0
        if progress is not None:
            progress(done, len(chosen))
    told = f"{evaluator.spec.name}, fingerprint {evaluator.fingerprint.key}"
    rows = pd.DataFrame(work.records, columns=list(COLUMNS))
    return BoardScores(rows, tuple(dict.fromkeys(work.left_out)), work.edits(), told)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """One score that is wanted: the row without it, and what makes it."""

    row: Mapping[str, object]
    image: str
    references: tuple[str, ...]


class _Work:
    """What is scored, some items at a time."""

    def __init__(self, evaluator: Evaluator, entered: Entered, probes: tuple[Probe, ...], seed: int) -> None:
        self.evaluator, self.entered, self.probes, self.seed = evaluator, entered, probes, seed
        self.cache = EmbeddingCache(None, memory_mb=64)
        self.records: list[dict[str, object]] = []
        self.left_out: list[str] = []
        self.rejected: dict[tuple[str, str], list[str]] = {}
        self.measured: dict[str, dict[str, object]] = {}
        self.prompts = ClipPrompts()
        self.known = known_instances(entered.items)
        texts = (text for held in entered.captions.values() for each in held.values() for text in each)
        self.unscored = unread_captions(evaluator.spec, texts)

    def score(self, benches: Sequence[Workbench]) -> None:
        """Score the captions of some items and keep their rows."""
        images: dict[str, np.ndarray] = {}
        wanted = []
        for each in (each for bench in benches for each in self._wanted(bench, images)):
            if reason := self.unscored.get(str(each.row["caption"])):
                self._keep(each, np.nan, reason)
            else:
                wanted.append(each)
        if not wanted:
            return
        pairs = [(each.image, str(each.row["caption"])) for each in wanted]
        others = [each.references for each in wanted] if isinstance(self.evaluator, Referenced) else None
        found = score_pairs_with_errors(self.evaluator, images, pairs, references=others, cache=self.cache)
        for each, score, error in zip(wanted, found.scores.tolist(), found.errors, strict=True):
            self._keep(each, score, error)

    def _keep(self, wanted: _Wanted, score: float, error: str | None) -> None:
        self.records.append({**wanted.row, "score": score})
        if error:
            self.left_out.append(f"{wanted.row['item']}, {wanted.row['system']}: {error}")

    def unread(self, item: Item) -> None:
        """Keep the captions of an item whose picture cannot be read, without a score."""
        self.records += [{**row, "score": np.nan} for row in self._rows(item, item.id)]

    def edits(self) -> tuple[str, ...]:
        """What each edit was left out of, and why: counted, with the first case."""
        return tuple(
            f"{title(probe)} ({probe}) is left out {len(told)} time{'' if len(told) == 1 else 's'}, first of {told[0]}"
            for (probe, _), told in self.rejected.items()
        )

    def _wanted(self, bench: Workbench, images: dict[str, np.ndarray]) -> Iterator[_Wanted]:
        item, own = bench.item, bench.image_key
        images[own] = bench.pixels
        people = self.entered.references.get(item.id, ())
        rows = list(self._rows(item, own))
        for row in rows:
            yield _Wanted(row, own, references_of({ENGLISH: people}, str(row["caption"]), language=ENGLISH))
        first: dict[str, list[dict[str, object]]] = {}
        for row in rows:
            if row["place"] == 0:
                first.setdefault(str(row["caption"]), []).append(row)
        subjects = [Subject(HUMAN, ENGLISH, 0, caption) for caption in first]
        for probe in self.probes:
            edited = bench.edited(probe, subjects)
            for reason in edited.reasons:
                self.rejected.setdefault((probe.name, reason.code), []).append(f"{item.id}: {reason.detail}")
            for draft in edited.drafts:
                assert edited.pixels is not None
                images[draft.image_key] = edited.pixels
                others = references_of({ENGLISH: people}, draft.caption, language=ENGLISH)
                for row in first[draft.caption]:
                    yield _Wanted({**row, "family": probe.family, "probe": probe.name}, draft.image_key, others)

    def _rows(self, item: Item, pixels: str) -> Iterator[dict[str, object]]:
        source, evaluator = item.drawn_with(pixels), self.evaluator.spec.name
        for system, held in self.entered.captions.items():
            for place, caption in enumerate(held.get(item.id, ())):
                about = dict(zip(_ABOUT, (item.id, source, system, place, caption, evaluator, "", ""), strict=True))
                yield {**about, **self._measured(caption), **self._objects(item, caption)}

    def _measured(self, caption: str) -> dict[str, object]:
        """Tokens of a caption by the evaluator's own tokenizer, whether it is cut, and CLIP's; missing without one."""
        if caption not in self.measured:
            count, of_clip = self.evaluator.count_tokens(caption), float(self.prompts.read(caption).tokens)
            own = (np.nan, None) if count is None else (float(count), self.evaluator.truncates(caption))
            self.measured[caption] = dict(zip(_MEASURED, (*own, of_clip), strict=True))
        return self.measured[caption]

    def _objects(self, item: Item, caption: str) -> dict[str, object]:
        """Objects that a caption names and those among them that are not there; missing where nobody knows."""
        if item.id not in self.known:
            return dict.fromkeys(_OBJECTS, np.nan)
        there = objects_there(item, [text for text in self.entered.references.get(item.id, ()) if text != caption])
        named = objects_named(caption)
        return {"named": float(len(named)), "invented": float(sum(not each & there for each in named))}


class _Places:
    """Items by what a file may call them."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.names = ItemNames(corpus.items)

    def find(self, who: str, texts: Mapping[str, tuple[str, ...]]) -> tuple[dict[str, tuple[str, ...]], list[str]]:
        """Texts by item id, and sentences about those that found no place."""
        found: dict[str, tuple[str, ...]] = {}
        lost: dict[str, list[str]] = {"name": [], "several": [], "blank": [], "twice": []}
        for key, given in texts.items():
            owners = self.names.several(key)
            said = tuple(text for text in given if text.strip())
            if len(said) < len(given):
                lost["blank"].append(key)
            if not owners:
                lost["name"].append(key)
            elif len(owners) > 1:
                lost["several"].append(key)
            elif owners[0] in found:
                lost["twice"].append(key)
            elif said:
                found[owners[0]] = said
        told = {
            "name": ("names", "name", f"no picture of corpus {self.corpus.name!r}"),
            "several": ("fits", "fit", "several pictures and must be an id instead"),
            "blank": ("holds", "hold", "a blank caption, which is left out"),
            "twice": ("names", "name", "a picture that another entry names, which counts"),
        }
        return found, [f"{who}: {_entries(keys, *told[why])}: {_some(keys)}" for why, keys in lost.items() if keys]


def _entries(keys: Sequence[str], one: str, many: str, what: str) -> str:
    return f"1 entry {one} {what}" if len(keys) == 1 else f"{len(keys):,} entries {many} {what}"


def _some(keys: Sequence[str]) -> str:
    rest = f" and {len(keys) - SHOWN:,} more" if len(keys) > SHOWN else ""
    return ", ".join(repr(key[:80]) for key in keys[:SHOWN]) + rest


BESIDE = ("system", "metric", "value", "low", "high", "n_items", "note")  # columns of what stands beside the standings

RANKED = (ROUGE, CIDER)
"""Metrics whose value of a system is the mean over its pictures, so that they rank systems as evaluators do. BLEU and
METEOR count over all pictures together."""


@dataclass(frozen=True, slots=True)
class BoardReferences:
    """What references say of the systems."""

    # :data:`core.features.systems.board_scores.COLUMNS`, scores of the RANKED metrics; empty where none can be had
    rows: pd.DataFrame
    beside: pd.DataFrame  # BESIDE, every metric of every system on the pictures that all of them caption
    prints: Mapping[str, str]  # by RANKED metric, what its scores depend on
    remark: str = ""  # one sentence on what could not be had; empty otherwise


def beside(records: Sequence[Sequence[object]] = ()) -> pd.DataFrame:
    """The table BESIDE of some records."""
    kinds = dict.fromkeys(("value", "low", "high"), "float64") | {"n_items": "int64"}
    return pd.DataFrame(list(records), columns=list(BESIDE)).astype(kinds)


def score_references(
    rows: pd.DataFrame, references: Mapping[str, Sequence[str]], *, people: Collection[str] = (PEOPLE,)
) -> BoardReferences:
    """Compare every caption of one evaluator's rows of ``score_board`` with the references of its picture, captions by
    people by item id.

    CIDEr-D weighs words by the references of all the pictures on the leaderboard, whichever a system captions. What is
    a caption by people is never compared with itself: its references, for the systems named ``people``, are those
    without it.
    """
    clean = rows[rows["probe"] == ""].reset_index(drop=True)
    items = [item for item in dict.fromkeys(clean["item"]) if references.get(item)]
    scores = {metric: np.full(len(clean), np.nan) for metric in RANKED}
    counts: dict[str, tuple[list[str], Mapping[str, np.ndarray]]] = {}
    for (system, place), part in clean.groupby(["system", "place"], sort=False):
        said = dict(zip(part["item"], part["caption"].astype(str), strict=True))
        own = system in people
        told = [[text for text in references[item] if not own or text != said.get(item)] for item in items]
        # a picture without a caption keeps its references among those that weigh words
        found = compare([said.get(item) for item in items], told, meteor=place == 0 and not lacking())
        at = {item: row for row, item in enumerate(items)}
        for metric in RANKED:
            scores[metric][part.index] = [
                found.per_caption[metric][at[item]] if item in at else np.nan for item in part["item"]
            ]
        if place == 0:
            counts[str(system)] = (items, found.counts)
    # pictures on which every system's own caption has every score
    whole = clean[(clean["place"] == 0) & np.isfinite(np.column_stack(list(scores.values()))).all(axis=1)]
    held = whole.groupby("item", sort=False)["system"].nunique()
    common = [str(item) for item in held[held == clean["system"].nunique()].index]
    if not common:
        nothing = pd.DataFrame(columns=list(COLUMNS))
        why = "no picture with references has a caption of every system"
        if (n := len(items)) < 2:
            why = f"{n} of these pictures {'has' if n == 1 else 'have'} references, and two are needed"
        return BoardReferences(nothing, beside(), {}, f"no {', '.join(METRICS)}: {why}")
    made = pd.concat(
        [clean.assign(evaluator=metric, score=scores[metric], tokens=np.nan, cut=None) for metric in RANKED],
        ignore_index=True,
    )[list(COLUMNS)]  # as of an evaluator without a tokenizer
    return BoardReferences(
        made, _values(clean, scores, counts, common), dict.fromkeys(RANKED, fingerprint()), lacking()
    )


def _values(
    clean: pd.DataFrame,
    scores: Mapping[str, np.ndarray],
    counts: Mapping[str, tuple[list[str], Mapping[str, np.ndarray]]],
    common: Sequence[str],
) -> pd.DataFrame:
    sources = clean.drop_duplicates("item").set_index("item")["source"].reindex(list(common))
    records: list[tuple[object, ...]] = []
    for system, (items, held) in counts.items():
        places = [items.index(item) for item in common]
        own = clean[(clean["system"] == system) & (clean["place"] == 0)]
        found: dict[str, Interval] = {}
        for key, table in held.items():
            names, score = SUMMED[key]
            found |= dict(zip(names, summed_intervals(table[places], score, groups=sources), strict=True))
        for metric in RANKED:
            by_item = pd.Series(scores[metric][own.index], index=own["item"]).reindex(list(common))
            found[metric] = mean_bca(by_item, groups=sources)
        held_of = ((metric, found[metric]) for metric in METRICS if metric in found)
        records += [(system, metric, *each.numbers(), each.n, each.note) for metric, each in held_of]
    return beside(records)
