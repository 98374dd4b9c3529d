"""The pairs that move the furthest, as slides with their pictures made again."""

import pandas as pd

from core.analysis.failures import picture_hashes, scales, under_every_evaluator
from core.analysis.ranking import rank
from core.analysis.reading import read_table
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from core.analysis.table import ScoreTable
from core.charts.canvas import jpeg, thumbnail
from core.corpora.schema import Item
from core.errors import InvariscopeError
from core.probes import registry as probes
from core.probes.base import Edits
from core.probes.caption_labels import read_again
from core.report.pair import pair_slide, shown
from core.report.signature import signature_of
from core.scoring.replay import open_bench, replay
from core.seeds import RUN_SEED
from core.store.corpus_of_run import origin_of_run
from core.store.manifest import Run
from core.store.store import Store
from core.stories.slide import Picture, Slide
from core.stories.story import Telling

SIDE = 640
"""Longest side, in px, of a picture."""


def furthest(store: Store, scope: Narrowed, *, most: int) -> Telling:
    """The items that move the furthest, each by its furthest pair, as the page Failures begins.

    Args:
        store: opened runs.
        scope: whose corpus in view is looked at.
        most: pairs.
    """
    seen = scope.only()
    table = read_table(store, seen)
    usual = scales(table)
    found = rank(table, Slice(), usual, order="standardised", limit=most, once=True)
    title = f"What moves the furthest: {seen.corpus}, run {seen.run}"
    return Telling(title, tuple(slides(store, table, found.pairs, usual)), (), ())


def slides(store: Store, table: ScoreTable, pairs: pd.DataFrame, usual: pd.DataFrame) -> list[Slide]:
    """A slide for each pair, under every evaluator, with its pictures made again.

    Args:
        store: opened runs.
        table: of one corpus, whose scope the pairs are of.
        pairs: :attr:`core.analysis.ranking.Ranking.pairs`.
        usual: :func:`core.analysis.failures.scales` of the table.
    """
    seen = table.scope
    rows = under_every_evaluator(store, seen, pairs, usual)
    told = signature_of(table, store.runs())
    runs = {run.id: run for run in store.runs()}
    items = _items(runs[seen.run], set(pairs["item"]))
    hashes = picture_hashes(store, pairs)
    made = []
    for _, pair in pairs.iterrows():
        own = rows[(rows["item"] == pair["item"]) & (rows["probe"] == pair["probe"])]
        digest = hashes.get((pair["run"], pair["item"]))
        sides, said = _pictures(items, runs[seen.run], pair, digest, shown(own.iloc[0]))
        made.append(pair_slide(pair, own, pictures=sides, said=said, language=seen.language, signature=told, link={}))
    return made


def _items(run: Run, wanted: set[str]) -> dict[str, Item] | str:
    """The wanted items, or why the corpus cannot be read."""
    try:
        whole = read_again(origin_of_run(run))
    except InvariscopeError as error:
        return f"The pictures are not here: {error}"
    return {item.id: item for item in whole.items if item.id in wanted}


def _pictures(
    items: dict[str, Item] | str, run: Run, pair: pd.Series, digest: str | None, what: str
) -> tuple[list[Picture], list[str]]:
    """Both pictures, and what is to be said of them."""
    if isinstance(items, str):
        return [], [items[:400]]
    known, seed = probes.catalogue(), run.manifest.get("seed")
    if pair["item"] not in items or pair["probe"] not in known:
        return [], ["The picture cannot be made again: its item or its probe is not here."]
    probe = known.get(pair["probe"])
    try:
        bench = open_bench(items[pair["item"]], pixels_sha256=digest, seed=seed if isinstance(seed, int) else RUN_SEED)
        made = replay(bench, probe) if probe.edits is Edits.IMAGE else None
    except InvariscopeError as error:
        return [], [str(error)[:400]]
    sides = [Picture(f"{what}, as it is", "jpg", jpeg(thumbnail(bench.picture, side=SIDE)))]
    if made is not None and made.after is not None:
        sides.append(Picture(f"{what}, edited", "jpg", jpeg(thumbnail(made.after, side=SIDE))))
    return sides, list(made.notes)[:3] if made is not None else []
