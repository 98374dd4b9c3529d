"""From stored rows to the table of scores."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from core.analysis.scope import NAMED, NAMED_GROUP, Narrowed, Scope, narrow, open_probes
from core.analysis.scores import Memo
from core.analysis.slices import TIES, Diagnostic, Slice, own_keys, ties_of, told_said
from core.analysis.table import CAPTIONS, ScoreTable
from core.corpora.schema import OWN
from core.errors import InvalidInput
from core.evaluators.base import BLIND
from core.evaluators.imported import told_origin
from core.evaluators.network.rubrics import told_rubric
from core.probes.base import Expectation
from core.probes.pixels.text_reader import HELD
from core.probes.scene import MASK_SOURCE
from core.probes.words.natural_captions import read_name
from core.store.run_files import Run
from core.store.store import Store

# Where every row of a scope stands in the table of scores, by the names that it holds.


def place_of(column: str, names: str) -> str:
    """SQL of the place of a column's text among the names of a side, -1 for none and for a stranger. Few names recur in
    millions of rows: the store finds each once where they lie together, and no text is handed over. ``column``: of the
    rows; the place has its name. ``names``: side of the table, a parameter that holds :attr:`Places.names` of it."""
    return f"(coalesce(list_position(${names}, {column}), 0) - 1)::integer as {column}"


class Places:
    """The sides of a table, and the place of any row in it; ``scored``: columns corpus and item of every item that has
    a row, sorted by both, each once. Rows that are asked for a place hold the text of their item, and of what else they
    are by its place (:func:`place_of`)."""

    def __init__(self, evaluators: Sequence[str], probes: pd.Index, scored: pa.Table) -> None:
        self.evaluators = tuple(evaluators)
        self.items = pd.DataFrame(
            {name: np.array(scored[name].to_pylist(), dtype=object) for name in ("corpus", "item")}
        )
        self.shape = (len(evaluators), len(probes), len(self.items))
        corpora, self._items = (scored[name].combine_chunks().unique() for name in ("corpus", "item"))
        self.names = {
            "evaluators": list(self.evaluators),
            "probes": list(map(str, probes)),
            "corpora": corpora.to_pylist(),
        }
        """Names of each side, by which :func:`place_of` finds a place."""
        ranks = np.full(len(corpora) * len(self._items), -1, dtype=np.int64)
        ranks[self._pairs(_at(scored["corpus"], corpora), scored["item"])] = np.arange(len(self.items))
        self._ranks = np.append(ranks, -1)

    def flat(self, rows: pa.Table) -> np.ndarray:
        """Place of each row in the flattened table, int64 [n]; ``rows``: columns corpus, item, probe and evaluator, of
        which the table has each."""
        where = (rows["evaluator"].to_numpy(), rows["probe"].to_numpy(), self._of_items(rows))
        return np.ravel_multi_index(where, self.shape)

    def laid_out(
        self, rows: pa.Table, columns: Sequence[str], *, dtype: type[np.floating] = np.float64
    ) -> dict[str, np.ndarray]:
        """Columns of rows with corpus, item and probe, each [P, N] and not to be written to; NaN elsewhere, strangers
        left out. What no row tells takes no memory."""
        probes, items = rows["probe"].to_numpy(), self._of_items(rows)
        there = (probes >= 0) & (items >= 0)
        nothing = np.broadcast_to(np.array(math.nan, dtype=dtype), self.shape[1:])
        found = dict.fromkeys(columns, nothing)
        for name in columns if there.any() else ():
            if rows[name].null_count == len(rows):
                continue
            found[name] = np.full(self.shape[1:], math.nan, dtype=dtype)
            found[name][probes[there], items[there]] = rows[name].to_numpy()[there]
        return found

    def diagnostics(self, rows: Iterable[pa.Table], columns: Sequence[str]) -> dict[str, Diagnostic]:
        """Columns of rows with corpus, item and probe, strangers left out; of a pair's rows, what the first tells."""
        found: dict[str, dict[int, np.ndarray]] = {name: {} for name in columns}
        for some in rows:
            probes, items = some["probe"].to_numpy(), self._of_items(some)
            for name, own in found.items():
                values = some[name].to_numpy()
                told = (probes >= 0) & (items >= 0) & ~np.isnan(values)
                for probe in np.unique(probes[told]):
                    row = own.setdefault(int(probe), np.full(self.shape[2], math.nan))
                    this = np.flatnonzero(told & (probes == probe))[::-1]  # the first row of a pair is written last
                    this = this[np.isnan(row[items[this]])]
                    row[items[this]] = values[this]
        held = dict[str, Diagnostic]()
        for name, own in found.items():
            places = np.full(self.shape[1], len(own), dtype=np.intp)
            places[np.array(list(own), dtype=np.intp)] = np.arange(len(own))
            held[name] = Diagnostic(places, np.stack([*own.values(), np.full(self.shape[2], math.nan)]))
        return held

    def _of_items(self, rows: pa.Table) -> np.ndarray:
        return np.asarray(self._ranks[self._pairs(rows["corpus"].to_numpy(), rows["item"])])

    def _pairs(self, corpora: np.ndarray, items: pa.ChunkedArray) -> np.ndarray:
        """Number of each row's corpus and item together; -1 for strangers."""
        names = _at(items, self._items)
        return np.where((corpora >= 0) & (names >= 0), corpora.astype(np.int64) * len(self._items) + names, -1)


def _at(column: pa.ChunkedArray, names: pa.Array) -> np.ndarray:
    """Place of each text of a column among some names, int64 [n]; -1 for none. Texts recur: each is sought once."""
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    places = pc.index_in(encoded.dictionary, names).fill_null(-1).to_numpy(zero_copy_only=False)
    at = np.append(places, -1).astype(np.int64)
    return np.asarray(at[encoded.indices.fill_null(len(places)).to_numpy(zero_copy_only=False)])


DIAGNOSTICS = ("bg_delta", "seam_energy", "seam_ratio", "fill_ratio", "texture_ratio", "object_kept")

_IN_SCOPE = "list_contains($runs, run) and subject = $subject and language = $language and rank = $rank"
_ROWS = f"from scores where {_IN_SCOPE} and {NAMED}"
_OWN = f"{_ROWS} and list_contains($evaluators, evaluator)"
_SCORES = f"""
select {place_of("corpus", "corpora")}, item, {place_of("evaluator", "evaluators")}, {place_of("probe", "probes")},
       {place_of("baseline", "probes")}, score, object_inside::float as inside {_OWN}
"""
_SCORED = f"select distinct corpus, item {_OWN} order by corpus, item"
_TWICE = f"""
select corpus, item {_OWN} group by evaluator, probe, corpus, item having count(*) > 1
order by evaluator, probe, corpus, item limit 1
"""
_GROUPS = f"from groups where {_IN_SCOPE} and {NAMED_GROUP}"
_PROBES = f"""
select probe, any_value(axis) as axis, any_value(family) as family, any_value(modifier) as modifier,
       bool_or(control) as control, any_value(expectation) as expectation, count(distinct family) as families
{_GROUPS} group by probe order by probe
"""
_COMPARED = f"select distinct evaluator, baseline {_GROUPS} and list_contains($evaluators, evaluator)"
_ITEMS = """
select corpus, item, any_value(category) as category, any_value(coverage) as coverage,
       any_value(coverage_bin) as coverage_bin, any_value(label) as label, any_value(pixels_sha256) as pixels,
       any_value(item_group) as source, any_value(second_group) as second_source
from items where list_contains($runs, run) group by corpus, item
"""
_MEASURED = f"""
select {place_of("corpus", "corpora")}, item, {place_of("probe", "probes")}, {", ".join(DIAGNOSTICS)}
{_ROWS} and ({" or ".join(f"{name} is not null" for name in DIAGNOSTICS)})
"""
_REJECTIONS = """
select corpus, coalesce(probe, '') as probe, code, count(*) as n from rejections
where list_contains($runs, run) group by all order by corpus, n desc, probe, code
"""
_REFUSED = """
select distinct corpus, item, probe, code from rejections
where list_contains($runs, run) and list_contains($probes, probe) order by corpus, item, probe, code
"""
_FACTS = """
select corpus, item, probe, key, value from variants where list_contains($runs, run) and subject = $subject
and language = $language and rank = $rank and (list_contains($probes, probe) or list_contains($always, key))
order by corpus, item, probe, key
"""
_OWN_COLUMNS = """
with told as (
    select distinct corpus, item, key, value from variants
    where list_contains($runs, run) and probe = $identity and starts_with(key, $own) and value is not null
)
select * from told where key in (select distinct key from told order by key limit $most)
order by key, corpus, item, value
"""
_CAPTIONS = f"""
select corpus, item, probe, any_value(caption) as caption {_ROWS} and list_contains($probes, probe)
group by corpus, item, probe order by corpus, item, probe
"""
_VERDICTS = f"""
select {place_of("corpus", "corpora")}, item, {place_of("probe", "probes")}, accepted, upheld from verdicts
where subject = $subject and language = $language and rank = $rank
"""


_ROWS_AT_ONCE = 2**20  # Rows that are held with their names while a table is read


def read_table(store: Store, scope: Narrowed | Scope | None = None) -> ScoreTable:
    """Read the scores of a scope; ``scope``: of :func:`core.analysis.scope.narrow`; what a reader chose is narrowed
    first. Raises InvalidInput if the scope has no score or no item that tells what it asks for, one pair was scored
    twice by one evaluator, or a probe is of two families."""
    narrowed = scope if isinstance(scope, Narrowed) else narrow(store, scope)
    params = {name: getattr(narrowed, name) for name in ("subject", "language", "rank")}
    params["runs"] = list(narrowed.run_ids)
    own = {**params, "evaluators": list(narrowed.evaluators)}
    compared = store.query(_COMPARED, own)
    if compared.empty:
        raise InvalidInput(f"the runs {', '.join(narrowed.run_ids)} hold no score of this scope; choose other runs")
    probes = _probes(store.query(_PROBES, params), set(compared["baseline"].dropna()))
    places = Places(sorted(set(compared["evaluator"])), probes.index, store.table(_SCORED, own))
    items = places.items.merge(store.query(_ITEMS, {"runs": list(narrowed.run_ids)}), on=["corpus", "item"], how="left")
    named = items["corpus"] + "\x1f" + items["item"]
    items["source"] = items["source"].fillna(items["pixels"]).fillna(named)
    items["second_source"] = items["second_source"].fillna(items["source"])  # named by none: nothing more is shared
    items = _with_own_columns(items, _encoded(store, _OWN_COLUMNS, {**own_keys(), "runs": params["runs"]}))

    sides = {name: places.names[name] for name in ("corpora", "probes")}
    scores, baselines, stored, inside = _cells(store, own, places)
    measured = places.diagnostics(_some(store.batches(_MEASURED, params | sides)), DIAGNOSTICS)
    judged = store.table(_VERDICTS, sides | {name: params[name] for name in ("subject", "language", "rank")})
    accepted, upheld = places.laid_out(judged, ("accepted", "upheld"), dtype=np.float32).values()
    sides_of = narrowed, places.evaluators, probes, items.astype({"corpus": object, "category": object})
    dense, about = (scores, baselines, stored, inside, accepted, upheld), _about(store, narrowed, params, probes)
    reader, texts = partial(read_table, store), partial(_texts, store, params)
    table = ScoreTable(*sides_of, *dense, measured, about, reader=reader, texts=texts)
    return _told_alone(table) if narrowed.told else table


def _with_own_columns(items: pd.DataFrame, told: pd.DataFrame) -> pd.DataFrame:
    """The items with a column for each of their owners', NaN where an item has none."""
    for key, rows in told.groupby("key", observed=True):
        values = pd.Series(rows["value"].to_numpy(dtype=object), pd.MultiIndex.from_frame(rows[["corpus", "item"]]))
        found = values[~values.index.duplicated()].reindex(pd.MultiIndex.from_frame(items[["corpus", "item"]]))
        items[str(key)] = found.to_numpy(dtype=object)
    return items


def _told_alone(table: ScoreTable) -> ScoreTable:
    """The items that tell what the scope asks for. Raises InvalidInput, naming the column or value that no item
    tells."""
    for key, value in table.scope.told:
        there = table.own.get(key)
        column = key.removeprefix(OWN)
        if there is None:
            known = ", ".join(each.removeprefix(OWN) for each in table.own) or "none"
            raise InvalidInput(f"no item of these runs has a column {column[:80]!r} of its owner's; there are: {known}")
        if value not in there:
            raise InvalidInput(f"no item of these runs has {column} {value[:80]!r}; there are: {', '.join(there)}")
    found = table.at(np.flatnonzero(table.view(Slice(told=table.scope.told)).items))
    if not len(found.items):
        said = " and ".join(told_said(table.scope.told))
        raise InvalidInput(f"no item of these runs has {said} at once; ask for less")
    return found


def _about(
    store: Store, scope: Narrowed, params: Mapping[str, object], probes: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    claims = probes["expectation"].notna() & (probes["expectation"] != Expectation.INVARIANT.value)
    told = probes.index[probes["family"].isin(set(probes.loc[claims, "family"]))]
    natural = [name for name in map(str, probes.index) if read_name(name) is not None]
    return {
        **({CAPTIONS: _texts(store, params, natural)} if natural else {}),
        "evaluators": evaluators_of(store.runs(), scope),
        "rejections": store.query(_REJECTIONS, {"runs": list(scope.run_ids)}),
        "open": open_probes(store),
        "facts": _encoded(store, _FACTS, {**params, "probes": list(map(str, told)), "always": [HELD, MASK_SOURCE]}),
        TIES: ties_of(store.runs(), scope),
        "refused": _encoded(store, _REFUSED, {"runs": params["runs"], "probes": list(map(str, told))}),
    }


def _texts(store: Store, params: Mapping[str, object], probes: Sequence[str]) -> pd.DataFrame:
    """Captions of some probes: columns corpus, item, probe, caption."""
    return store.query(_CAPTIONS, {**params, "probes": list(map(str, probes))})


def _encoded(store: Store, sql: str, params: dict[str, object]) -> pd.DataFrame:
    """Rows of texts as codes, since texts recur."""
    rows = store.table(sql, params)
    return pd.DataFrame({name: rows[name].dictionary_encode().to_pandas() for name in rows.column_names})


def evaluators_of(runs: Sequence[Run], scope: Narrowed | None = None) -> pd.DataFrame:
    """What each evaluator of the scope is, or of all runs, run by run, as the manifests tell."""
    records = []
    for run in (each for each in runs if scope is None or each.id in scope.run_ids):
        listed, corpus = run.manifest.get("evaluators"), str(run.manifest["corpus"].get("name", ""))
        for each in listed if isinstance(listed, list) else []:
            if isinstance(each, Mapping) and (scope is None or each.get("name") in scope.evaluators):
                made = each.get("fingerprint")
                told = {name: str(made.get(name, "")) if isinstance(made, Mapping) else "" for name in _MADE}
                of, spec = {"run": run.id, "corpus": corpus, "evaluator": str(each["name"])}, each.get("spec")
                blind = isinstance(spec, Mapping) and spec.get("family") == BLIND
                kind = {"blind": blind, "origin": told_origin(each), "asked": told_rubric(each)}
                records.append({**of, **told, **_scale(spec), **kind, **_speed(run, str(each["name"]))})
    names = ["run", "corpus", "evaluator", *_MADE, *_SCALE, "blind", "origin", "asked", *_TIMED]
    return pd.DataFrame(records, columns=names)


def _speed(run: Run, evaluator: str) -> dict[str, object]:
    """How many pictures an evaluator scored, the seconds that one took, and the machine; NaN and empty if untold."""
    spent, told = (run.manifest.get(name) for name in ("speed", "machine"))
    own = spent.get(evaluator) if isinstance(spent, Mapping) else None
    numbers = [own.get(name) for name in ("images", "seconds")] if isinstance(own, Mapping) else []
    if not all(isinstance(each, int | float) and 0 < each < math.inf for each in numbers) or not numbers:
        return dict(zip(_TIMED, (math.nan, math.nan, ""), strict=True))
    images, seconds = (float(each) for each in numbers if each is not None)
    machine = told if isinstance(told, Mapping) else {}
    said = ", ".join(str(machine[name]) for name in ("processor", "device") if machine.get(name))
    return dict(zip(_TIMED, (images, seconds / images, said), strict=True))


_TIMED = ("images", "seconds", "machine")


def _scale(spec: object) -> dict[str, float]:
    """The lowest score that an evaluator can give, and from there to the highest; NaN without a bound, or untold."""
    bounds = spec.get("score_range") if isinstance(spec, Mapping) else None
    if not isinstance(bounds, list) or len(bounds) != 2:
        return dict.fromkeys(_SCALE, math.nan)
    if not all(isinstance(each, int | float) and math.isfinite(each) for each in bounds):
        return dict.fromkeys(_SCALE, math.nan)
    low, high = bounds
    return dict(zip(_SCALE, (float(low), float(high - low)) if low < high else (math.nan, math.nan), strict=True))


_SCALE = ("lowest", "span")
_MADE = ("key", "weights", "precision", "versions")


def _probes(rows: pd.DataFrame, baselines: set[str]) -> pd.DataFrame:
    mixed = rows[rows["families"] > 1]
    if len(mixed):
        raise InvalidInput(f"probe {mixed['probe'].iloc[0]!r} is of two families in these runs; look at them apart")
    probes = rows.drop(columns="families").set_index("probe").sort_index()
    # a baseline that nobody scored has a place too, without a score: what is compared with it is missing, not absent
    named = baselines - set(probes.index)
    probes = probes.reindex(sorted([*probes.index, *named])).rename_axis("probe") if named else probes
    probes["control"] = probes["control"].fillna(value=False).astype(bool)
    return probes


def _cells(store: Store, params: dict[str, object], places: Places) -> tuple[np.ndarray, ...]:
    """Lay the rows of a scope out, some at a time: all of them with their names take many times what they say. Raises
    InvalidInput if two rows stand in one place."""
    shape, seen = places.shape, 0
    scores, baselines = np.full(shape, math.nan), np.full(shape, -1, dtype=np.int16)
    inside, stored = np.full(shape, math.nan, dtype=np.float32), np.zeros(shape, dtype=bool)
    for rows in _some(store.batches(_SCORES, params | places.names)):
        flat = places.flat(rows)
        stored.ravel()[flat] = True
        for array, name in ((scores, "score"), (baselines, "baseline"), (inside, "inside")):
            array.ravel()[flat] = rows[name].to_numpy()
        seen += len(flat)
    if seen > np.count_nonzero(stored):
        twice = store.query(_TWICE, params).iloc[0]
        raise InvalidInput(
            f"item {twice['item']} of corpus {twice['corpus']} was scored twice by one evaluator under one probe; "
            "audit it again under another run id"
        )
    return scores, baselines, stored, inside


def _some(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Rows of several batches at a time: names are looked up once for all of them."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(each.num_rows for each in held) >= _ROWS_AT_ONCE:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)


def part_of(table: ScoreTable, scope: Narrowed) -> ScoreTable:
    """The same scores of fewer evaluators: what reading that scope anew would give; ``scope``: the table's, with some
    of its evaluators."""
    which = np.array([table.place(name) for name in scope.evaluators])
    stored = table.stored[which]
    named = np.unique(table.baselines[which][stored])
    kept = np.asarray(stored.any(axis=(0, 2)))
    kept[named[named >= 0]] = True
    probes, items = np.flatnonzero(kept), np.flatnonzero(stored.any(axis=(0, 1)))
    ranks = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1).astype(np.int16)
    at, there = np.ix_(which, probes, items), np.ix_(probes, items)
    about = dict(table.about)
    if (known := about.get("evaluators")) is not None:
        about["evaluators"] = known[known["evaluator"].isin(scope.evaluators)].reset_index(drop=True)
    return replace(
        table,
        scope=scope,
        evaluators=scope.evaluators,
        probes=table.probes.iloc[probes],
        items=table.items.iloc[items].reset_index(drop=True),
        scores=table.scores[at],
        baselines=ranks[table.baselines[at]],
        stored=table.stored[at],
        inside=table.inside[at],
        accepted=table.accepted[there],
        upheld=table.upheld[there],
        about=about,
        diagnostics={name: each.part(probes).at(items) for name, each in table.diagnostics.items()},
        kept=table.kept if len(items) == len(table.items) else Memo(),
    )
