"""Stored pairs with their pictures: a pair as a slide, the pairs that change the most, one example of every family.

Sources: paper E, Figure 1 (C27); paper D, Figures 4 to 6; paper B, Figure 5 (C6).
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.beside import every_caption
from core.analysis.comparisons import families, pairs
from core.analysis.facts import MAY_BE_TRUE, WHY, may_be_true
from core.analysis.failures import picture_hashes, scales, under_every_evaluator
from core.analysis.questions import Options, papers
from core.analysis.questions.both_sides import examples
from core.analysis.questions.directional import needs
from core.analysis.questions.question import Column
from core.analysis.ranking import rank
from core.analysis.reading import read_table
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from core.analysis.table import ScoreTable
from core.charts.canvas import jpeg, thumbnail
from core.charts.spec import signed
from core.corpora.schema import Item
from core.errors import InvariscopeError
from core.features.human.studies import Study
from core.features.human.study_outcomes import accepted_by_people
from core.probes import registry as probes
from core.probes.base import IDENTITY, Axis, Edits
from core.probes.titles import title
from core.probes.words.natural_captions import read_again
from core.report.document import Missing, Table, number, signature_of
from core.scoring.workbench import open_bench, replay
from core.seeds import RUN_SEED, stream
from core.store.run_files import Run
from core.store.run_sources import origin_of_run
from core.store.store import Store
from core.stories.story import MOST_TEXT, Picture, Slide, Telling

COLUMNS = ("Metric", "Score", "% change", "Δ, SD", "× noise")
PAGE = "failures"  # Shows the pair live


def pair_slide(
    pair: pd.Series,
    rows: pd.DataFrame,
    *,
    pictures: Sequence[Picture],
    said: Sequence[str],
    language: str,
    signature: str,
    link: Mapping[str, str],
) -> Slide:
    """What is known of a pair. ``pair``: has ``core.analysis.failures.PAIR``. ``rows``: the pair under every evaluator,
    of ``core.analysis.failures.under_every_evaluator``. ``pictures``: before and, where the probe edits the picture,
    after. ``link``: parameters of the link to the page that shows it."""
    of = f"Run {pair['run']}, corpus {pair['corpus']}, item {pair['item']}, caption {pair['subject']}"
    of += f", language {language}, probe {pair['probe']}; one pair"
    told = tuple(filter(None, (*captions(rows), *said)))
    cells = tuple(_row(row) for _, row in rows.iterrows())
    named = f"{title(pair['probe'])}: {shown(rows.iloc[0])}"
    return Slide(named, told, tuple(pictures), COLUMNS, cells, of, signature, PAGE, link)


def shown(row: pd.Series) -> str:
    """What the picture shows: its label, else the item's name."""
    return str(row["label"]) if pd.notna(row["label"]) else f"item {row['item']}"


def captions(rows: pd.DataFrame) -> list[str]:
    """The caption, or both where the probe edits it; a length-matched baseline makes several."""
    known = rows.dropna(subset=["caption"])  # a run made of scores from elsewhere may name none
    pairs = dict.fromkeys(known[["baseline_caption", "caption"]].itertuples(index=False, name=None))
    told = [
        f"“{after}”" if pd.isna(before) or before == after else f"“{before}” → “{after}”"
        for before, after in list(pairs)[:3]
    ]
    return [text if len(text) <= MOST_TEXT else f"{text[: MOST_TEXT - 2]} …" for text in told]


def times_null(row: Mapping[str, Any] | pd.Series) -> str:
    """|% change| as a multiple of the noise band; within it, and from a hundred on, in words."""
    if pd.isna(row["percent"]) or pd.isna(row["null_percent"]) or row["null_percent"] <= 0:
        return "—"
    times = abs(row["percent"]) / row["null_percent"]
    if times <= 1 or times > 100:
        return "within" if times <= 1 else ">\u00a0100"
    return f"{times:.0f}" if times >= 10 else f"{times:.1f}"


def _row(row: pd.Series) -> tuple[str, ...]:
    before, after = (None if pd.isna(row[name]) else float(row[name]) for name in ("baseline_score", "score"))
    scores = f"{number(before, digits=3)} → {number(after, digits=3)}"
    standardised = signed(row["standardised"], digits=2, unit="")
    return str(row["evaluator"]), scores, signed(row["percent"]), standardised, times_null(row)


SIDE = 640  # Longest side, in px, of a picture


def furthest(store: Store, scope: Narrowed, *, most: int, studies: Sequence[Study] = ()) -> Telling:
    """The items that change the most, each by its furthest pair, as the page Findings, Pictures ranks them. Edits whose
    word may be true of the picture, unless people accept it by the studies' votes, stand here only where nothing else
    does."""
    seen = scope.only()
    table = read_table(store, seen)
    usual = scales(table)
    words = may_be_true(table, accepted_by_people(studies, seen.run_ids))
    known = sorted(set(table.families()) - words)
    found = rank(table, Slice(families=tuple(known)), usual, order="standardised", limit=most, once=True)
    title = f"What changes the most: {seen.corpus}, run {seen.run}"
    return Telling(title, tuple(slides(store, table, found.pairs, usual, words)), (), ())


def slides(
    store: Store, table: ScoreTable, pairs: pd.DataFrame, usual: pd.DataFrame, words: Collection[str]
) -> list[Slide]:
    """A slide for each pair, under every evaluator, with its pictures made again. ``table``: of one corpus, whose scope
    the pairs are of. ``pairs``: :attr:`core.analysis.ranking.Ranking.pairs`. ``usual``:
    :func:`core.analysis.failures.scales` of the table. ``words``: families that
    :func:`core.analysis.facts.may_be_true`."""
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
        if own["family"].isin(words).any():  # the picture may support the word that was put in
            said = [*said, f"{MAY_BE_TRUE.capitalize()}: {WHY}."]
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


AXIS, CARD = Axis.LEXICAL.value, "C6"
AS_IT_IS = "as it is"

_CAPTIONS = """select probe, evaluator, any_value(caption) as caption, any_value(score) as score from scores
where run = $run and item = $item and subject = $subject and language = $language and rank = $rank
and list_contains($probes, probe) group by probe, evaluator"""


def cards(store: Store, scope: Narrowed) -> Telling:
    """One comparison of every directional family, each under its own caption, as C27 draws it."""
    seen, made, told = scope.only(), list[Slide](), set[str]()
    for table in every_caption(read_table(store, seen)):
        frame = examples(table.view(), Options())
        frame = frame[~frame["family"].isin(told)]
        told |= set(frame["family"])
        named = frame[["corpus", "item", "probe"]].assign(run=seen.run, subject=table.scope.subject)
        made += slides(store, table, named, scales(table), may_be_true(table))
    return Telling(f"One comparison of every family: {seen.corpus}, run {seen.run}", tuple(made), (), ())


def edited_caption(store: Store, table: ScoreTable) -> Table | Missing:
    """C6: one caption, and the same after each lexical edit, with the score of every evaluator; ``table``: whose
    caption, in the corpus that the others are held against. Returns the table, or what the runs lack."""
    paper, _ = papers.ELSEWHERE[CARD]
    found = {family: probes[0] for family, probes in families(table.view(), axis=AXIS).items()}
    item = _drawn(table, list(found.values())) if found else None
    if item is None:
        return Missing(CARD, paper, needs(table, axis=AXIS) or "no caption here was scored after a lexical edit")
    frame = _scored(store, table, item, found)
    of = Column("family", "Edit", kind="text"), Column("caption", "Caption", kind="text")
    columns = (*of, *(Column(name, name, digits=4) for name in table.evaluators))
    note = (
        f"The caption of item {item} of corpus {table.reference}, drawn with seed {RUN_SEED} among those that most "
        "edits and evaluators scored, whatever these made of it. An example proves nothing; the rates do."
    )
    return Table(CARD, "One caption and its lexical edits", note, frame, columns, paper)


def _drawn(table: ScoreTable, probes: list[str]) -> str | None:
    """Draw one of the items with the most scores after these edits; None where there is none."""
    sides = [pairs(table.view(), name, probes) for name in table.evaluators]
    scored = np.array([~np.isnan(each.right - each.wrong) for each in sides]).sum(axis=(0, 1))
    scored = np.where(table.of_corpus(table.reference), scored, 0)
    if not scored.any():
        return None
    most = np.flatnonzero(scored == scored.max())
    place = most[int(stream(RUN_SEED, "example", AXIS).integers(len(most)))]
    return str(table.items["item"].to_numpy(dtype=object)[place])


def _scored(store: Store, table: ScoreTable, item: str, found: dict[str, str]) -> pd.DataFrame:
    scope, named = table.scope, {AS_IT_IS: IDENTITY, **found}
    params: dict[str, Any] = {"run": dict(scope.runs)[table.reference], "item": item, "probes": list(named.values())}
    params |= {"subject": scope.subject, "language": scope.language, "rank": scope.rank}
    rows = store.query(_CAPTIONS, params)
    scores = rows.pivot_table(index="probe", columns="evaluator", values="score", dropna=False)
    texts = rows.drop_duplicates("probe").set_index("probe")["caption"]
    records = list[dict[str, object]]()
    for family, probe in ((family, probe) for family, probe in named.items() if probe in texts.index):
        told = {name: scores[name].get(probe, np.nan) if name in scores else np.nan for name in table.evaluators}
        records.append({"family": family, "caption": texts[probe], **told})
    return pd.DataFrame(records)
