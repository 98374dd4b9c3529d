"""Two sides from outside the dashboard: stored runs with a slice each, reports, or files of scores; as on Compare."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.reading import read_table
from core.analysis.scope import Narrowed, Scope, narrow
from core.analysis.slices import Slice
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import MARGIN
from core.api import opened_run
from core.corpora.schema import OWN
from core.corpora.score_files import read_scores
from core.errors import InvalidInput, StoreError
from core.features.compare.two_sides import (
    ALL,
    BY,
    SidesCompared,
    Values,
    can_pair,
    held_apart,
    made_apart,
    manifest_differences,
)
from core.features.compare.two_sides import compare as rows_of
from core.features.metric_check.regression_gate import is_baseline, numbers_of, read_baseline
from core.probes.base import Axis
from core.report.document import Headlines, parse_signature, place, read_headlines
from core.statistics.crossed_sources import numbered
from core.statistics.shift_tests import NO_TEST
from core.store.store import Store

ONE = ("run", "corpus", "subject", "language")
MANY = ("axes", "families", "probes", "modifiers", "categories", "coverage_bins")
SIDE_CHOICES = ("evaluator", *ONE, *MANY)
"""What a side may choose, by the names of the page's links; any other name is a column of the items' owners."""


def compare(
    a: Path | str,
    b: Path | str | None = None,
    *,
    a_is: Iterable[str] = (),
    b_is: Iterable[str] = (),
    by: str = "family",
    measure: str = "percent",
    margin: float = MARGIN,
    column: str = "",
) -> SidesCompared:
    """Hold two runs, evaluators, slices, reports or files of scores against each other, as the page Compare does.
    Raises InvalidInput if a side cannot be read, both hold the same or scores alone that are equal, they have no item
    in common, or are of two languages or captions that nobody chose.

    Args:
        a: id or path of a run, the folder of a report, a file of scores by id
            (:func:`core.corpora.score_files.read_scores`), or what ``check --save-baseline`` wrote.
        b: likewise; None: the run or the report of ``a``.
        a_is, b_is: choices of a side of a run, such as ``evaluator=conse-lite0`` or ``families=blur,rotation``: names
            of :data:`SIDE_CHOICES`, or a column of the items' owners.
        by, measure, margin: as in :func:`core.features.compare.two_sides.compare`; runs alone.
        column: of the scores, where a file has several.
    """
    chosen = tuple(_choices(each, side) for each, side in ((a_is, "a"), (b_is, "b")))
    one, other = Path(a), Path(a if b is None else b)
    reports = [end.exists() and place(end) is not None for end in (one, other)]  # its folder, data or headline numbers
    if any(reports):
        if not all(reports):
            raise InvalidInput("a report is held against another one; name two folders that core report wrote")
        return of_reports(one, other, chosen)
    files = [side is not None and _is_file(side) for side in (a, b)]
    if any(files):
        if not all(files) or any(chosen):
            raise InvalidInput("a file of scores is held against another one, with no --a and --b; name two files")
        assert b is not None
        if Path(a).resolve() == Path(b).resolve():
            raise InvalidInput(f"both sides are the file {a}; name another one for B")
        baselines = [is_baseline(Path(each)) for each in (a, b)]
        if any(baselines):
            if not all(baselines):
                raise InvalidInput("a baseline of check is held against another baseline; name two of one kind")
            return _of_baselines(Path(a), Path(b), margin)
        return _of_files(Path(a), Path(b), column)
    if column:
        raise InvalidInput(f"--column is of files of scores, and both sides are runs; leave out {column!r}")
    return _of_runs((str(a), str(a if b is None else b)), chosen, by, measure, margin)


def _is_file(side: Path | str) -> bool:
    path = Path(side)
    return path.suffix != ".duckdb" and (path.is_file() or (bool(path.suffix) and not path.exists()))


def _choices(asked: Iterable[str], side: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for each in asked:
        name, equals, value = (part.strip() for part in each.partition("="))
        if not (name and equals and value) or name in found:
            raise InvalidInput(f"--{side} takes each name=value once, e.g. evaluator=conse-lite0, got {each[:80]!r}")
        found[name] = tuple(part.strip() for part in value.split(",")) if name in MANY else (value,)
    return found


def _of_runs(
    references: tuple[str, str], chosen: tuple[dict[str, tuple[str, ...]], ...], by: str, measure: str, margin: float
) -> SidesCompared:
    paths = [opened_run.place(each) for each in references]
    stores = {path: Store.open([path]) for path in paths}
    try:
        opened = [stores[path] for path in paths]
        scopes = [_scope(store, own, each) for store, own, each in zip(opened, chosen, references, strict=True)]
        slices = _slices(scopes, chosen, same=paths[0] == paths[1] and scopes[0].run == scopes[1].run)
        tables = _tables(opened, scopes, slices)
        _check(tables, chosen)
        views = [table.view(own) for table, own in zip(tables, slices, strict=True)]
        levels = by if by in BY else OWN + by
        known = {name for each in tables for name in each.own}
        if levels not in (*BY, *known):
            raise InvalidInput(
                f"--by takes {', '.join((*BY, *(each.removeprefix(OWN) for each in known)))}, got {by!r}"
            )
        pairing = paths[0] != paths[1] or can_pair(*views)
        rows = rows_of(*views, by=levels, measure=measure, margin=margin, pairing=pairing)  # type: ignore[arg-type]
        if rows.empty:
            raise InvalidInput("one side holds no shift; take back one of its choices")
        runs = [
            next(run for run in store.runs() if run.id == table.scope.run)
            for store, table in zip(opened, tables, strict=True)
        ]
        unit = "%" if measure == "percent" else "SD"
        words = [_said(view, own) for view, own in zip(views, chosen, strict=True)]
        return _ordered(words, by, rows, unit, margin if unit == "%" else None, manifest_differences(*runs))
    finally:
        for store in stores.values():
            store.close()


def _scope(store: Store, chosen: dict[str, tuple[str, ...]], reference: str) -> Narrowed:
    if not store.runs():
        raise StoreError(store.problems[0] if store.problems else f"{reference} holds no run")
    run, corpus, subject, language = (chosen.get(name, (None,))[0] for name in ONE)
    return narrow(store, Scope((run,) if run else (), corpus, subject, language)).only()


def _tables(stores: Sequence[Store], scopes: Sequence[Narrowed], slices: Sequence[Slice]) -> list[ScoreTable]:
    """The scores of each side's evaluator alone; of both where the sides are of one scope, which is read once."""
    keys = [(id(store), scope) for store, scope in zip(stores, scopes, strict=True)]
    names = {key: {own.evaluators[0] for its, own in zip(keys, slices, strict=True) if its == key} for key in keys}
    read = {
        key: read_table(store, replace(key[1], evaluators=tuple(sorted(names[key]))))
        for key, store in dict(zip(keys, stores, strict=True)).items()
    }
    return [read[key] for key in keys]


def _check(tables: Sequence[ScoreTable], chosen: Sequence[dict[str, tuple[str, ...]]]) -> None:
    """Refuse sides that differ in what nobody chose, or have no item in common."""
    one, other = (each.scope for each in tables)
    for name in ("language", "subject"):
        if getattr(one, name) != getattr(other, name) and not any(name in own for own in chosen):
            raise InvalidInput(
                f"A holds captions of {name} {getattr(one, name)} and B of {getattr(other, name)}; choose with "
                f"--a {name}=… or --b {name}=…"
            )
    items = [set(zip(each.items["corpus"], each.items["item"], strict=True)) for each in tables]
    if not items[0] & items[1]:
        raise InvalidInput(
            f"A, run {one.run} of {len(items[0]):,} items, and B, run {other.run} of {len(items[1]):,}, have no item "
            "in common; compare runs of the same items"
        )


def _slices(scopes: Sequence[Narrowed], chosen: Sequence[dict[str, tuple[str, ...]]], *, same: bool) -> list[Slice]:
    """A slice of each side; the evaluators that nobody named are the page's, of two runs the first that both hold."""
    asked = [own.get("evaluator", ("",))[0] for own in chosen]
    there = [each.evaluators for each in scopes]
    if same:
        usual = [there[0][0], there[1][:2][-1]]
    else:
        common = [name for name in there[0] if name in there[1]]
        named = next((name for name in asked if name and all(name in each for each in there)), "")
        usual = [named or (common[0] if common else each[0]) for each in there]
    slices = []
    for own, name, other in zip(chosen, asked, usual, strict=True):
        many: dict[str, Any] = {each: own[each] for each in MANY if each in own}
        told = tuple((OWN + each, values[0]) for each, values in own.items() if each not in SIDE_CHOICES)
        slices.append(Slice(evaluators=(name or other,), told=told, **many))
    if same and slices[0] == slices[1] and scopes[0] == scopes[1]:
        raise InvalidInput(
            f"both sides are {slices[0].evaluators[0]} of the same shifts of run {scopes[0].run}; choose another "
            "evaluator, run, family or kind of item for one of them"
        )
    for each, names in zip(slices, there, strict=True):
        if each.evaluators[0] not in names:
            raise InvalidInput(f"no shift of evaluator {each.evaluators[0]!r} is here; evaluators: {', '.join(names)}")
    return slices


def _said(view: View, own: dict[str, tuple[str, ...]]) -> str:
    scope = view.table.scope
    more = [f"{name} {', '.join(values)}" for name, values in own.items() if name not in (*ONE, "evaluator")]
    said = [f"{view.evaluators[0]} in run {scope.run}", f"{scope.subject} captions in {scope.language}"]
    return "; ".join([*said, *more])


def _of_baselines(a: Path, b: Path, margin: float) -> SidesCompared:
    """Two checks family by family; drift and scatter are of the items' changes, as of two runs."""
    held = [read_baseline(path) for path in (a, b)]
    items = sorted({item for each in held for item in each.items})
    if len(items) == sum(len(each.items) for each in held):
        raise InvalidInput(f"{a.name} and {b.name} have no item in common; compare checks of the same items")
    places = {item: place for place, item in enumerate(items)}
    known = {item: of for each in held for item, of in zip(each.items, each.sources, strict=True)}
    groups = numbered(*([known[item][side] for item in items] for side in (0, 1)))
    pairs = []
    for name in sorted(held[0].families.keys() & held[1].families.keys()):
        sides = []
        for each in held:
            own = each.families[name]
            shift, size = numbers_of(own.shift), numbers_of(own.size)
            numbers = np.array([places[item] for item in each.items], dtype=np.int64)
            order = np.argsort(numbers)
            order = order[~np.isnan(shift[order])]
            at = numbers[order]
            control = name == Axis.NULL.value
            sides.append(Values(at, shift[order], size[order], groups[at], stored=True, control=control))
        pairs.append((name, sides[0], sides[1]))
    if not pairs:
        raise InvalidInput(f"{a.name} and {b.name} have no family in common; compare checks of the same probes")
    rows = held_apart(pairs, pairing=True, measure="percent", margin=margin)
    words = [f"{each.evaluator}, {path.name}" for each, path in zip(held, (a, b), strict=True)]
    names = ("evaluator", "fingerprint", "invariscope", "seed")
    one, other = ({name: str(getattr(each, name)) for name in names} for each in held)
    return _ordered(words, "family", rows, "%", margin, made_apart(one, other, names))


def _of_files(a: Path, b: Path, column: str) -> SidesCompared:
    held = [read_scores(path, column=column) for path in (a, b)]
    scored = [{key: score for key, score in each.scores.items() if np.isfinite(score)} for each in held]
    # ids without a picture's ending and zeros before a number, where neither file has two that differ so
    plain = {key: _ENDING.sub("", key) for each in scored for key in each}
    plain |= {
        key: str(int(stem)) for key, stem in plain.items() if stem.isascii() and stem.isdigit() and len(stem) < 99
    }
    twice = {stem for each in scored for stem, count in Counter(map(plain.__getitem__, each)).items() if count > 1}
    scored = [{key if plain[key] in twice else plain[key]: score for key, score in each.items()} for each in scored]
    keys = sorted(set(scored[0]) | set(scored[1]))
    if len(keys) == len(scored[0]) + len(scored[1]):
        raise InvalidInput(
            f"{a.name} scores {len(scored[0]):,} ids and {b.name} {len(scored[1]):,}, none of them the same; compare "
            "scores of the same items"
        )
    places = {key: place for place, key in enumerate(keys)}
    sides = []
    for own in scored:
        numbers = np.array(sorted(places[key] for key in own), dtype=np.int64)
        values = np.array([own[keys[number]] for number in numbers], dtype=np.float64)
        sides.append(Values(numbers, values, values, None, stored=True))
    rows = held_apart([(ALL, sides[0], sides[1])], pairing=True, measure="score")
    words = [f"{each.name}{f', {each.column}' if each.column else ''}" for each in held]
    rows = rows.drop(columns=[name for name in rows if "size" in str(name) or name == "scatter"])
    return _ordered(words, "item", rows, "score", None, made_apart({}, {}, ()))


_ENDING = re.compile(r"\.(?:jpe?g|png|webp|bmp|gif|tiff?)$", re.IGNORECASE)


def _ordered(
    words: Sequence[str], by: str, rows: pd.DataFrame, unit: str, margin: float | None, made_with: pd.DataFrame
) -> SidesCompared:
    """The rows in order; refused where every item of every row has on one side what it has on the other."""
    whole = rows.iloc[int(rows["shared"].to_numpy().argmax())]  # that of all together, where there is one
    shared, only = int(whole["shared"]), [int(whole[name] - whole["shared"]) for name in ("a_n", "b_n")]
    parts = [of for of in ("", "size_") if f"{of}test" in rows]
    untested = all(((rows[f"{of}test"] == NO_TEST) & (rows[f"{of}difference"] == 0)).all() for of in parts)
    if not any(only) and untested and (rows["cliffs_delta"] == 0).all():
        raise InvalidInput(f"both sides give the same to each of the {shared:,} items; there is nothing to compare")
    largest = rows[[f"{of}difference" for of in parts]].abs().max(axis=1).fillna(-1.0)
    largest[rows["label"] == ALL] = np.inf
    order = largest.sort_values(ascending=False, kind="stable").index
    ordered = rows.loc[order].reset_index(drop=True)
    return SidesCompared(words[0], words[1], by, unit, margin, ordered, only[0], only[1], shared, made_with)


# Two reports held against each other by their headline numbers, row by row of each question. A report holds no items,
# so nothing is paired: no difference has an interval, a test or a claim.
QUESTION = "question"  # of which level a row is

UNTESTED = (
    "A report holds no items: these differences have no interval and no test; compare of the two runs pairs the items "
    "and has both, family by family."
)

_OF_ROW = ("question", "title", "of", "digits", "signed", "evaluator", "label")


def of_reports(a: Path, b: Path, chosen: Sequence[Mapping[str, tuple[str, ...]]]) -> SidesCompared:
    """Hold the rows that both reports have against each other: a question after the other, the largest first.

    The two may be the same report, where ``evaluator`` of each side chooses two of its evaluators. Returns rows of
    question, title, of, digits, signed, evaluator (empty where one is chosen), label, and value, low, high and n of
    each side, and the difference A - B. Raises InvalidInput if one cannot be read, they are of other captions, have no
    row in common, or are equal.
    """
    if any(set(each) - {"evaluator"} for each in chosen):
        raise InvalidInput("of a report --a and --b choose an evaluator alone, e.g. evaluator=conse-lite0")
    one, other = (read_headlines(found) for side in (a, b) if (found := place(side)) is not None)
    if one.captions != other.captions:
        raise InvalidInput(
            f"A is of captions of {one.captions}, and B of {other.captions}; write both reports with the same "
            "--subject and --language"
        )
    asked = [each.get("evaluator", ("",))[0] for each in chosen]
    names = [name or asked[1 - side] for side, name in enumerate(asked)]
    first, second = _rows(one, names[0], "a"), _rows(other, names[1], "b")
    rows = first.merge(second.drop(columns=["title", "of", "digits", "signed"]), on=["question", "evaluator", "label"])
    if rows.empty:
        raise InvalidInput(
            f"{a} and {b} have no row of a question in common; compare reports of the same questions and evaluators, "
            "or choose --a evaluator=… and --b evaluator=…"
        )
    rows["difference"] = rows["a_value"] - rows["b_value"]
    if len(rows) == len(first) == len(second) and (rows["difference"] == 0).all():
        raise InvalidInput(f"both sides say the same in each of the {len(rows):,} rows; there is nothing to compare")
    places = {each.id: place for place, each in enumerate(one.questions)}
    order = rows.assign(place=rows["question"].map(places), size=-rows["difference"].abs())
    rows = rows.loc[order.sort_values(["place", "size"], kind="stable").index].reset_index(drop=True)
    words = [f"{name or side.title}, {path}" for name, side, path in zip(names, (one, other), (a, b), strict=True)]
    only = [len(each) - len(rows) for each in (first, second)]
    signed = [{**parse_signature(each.signature), "sha": ""} for each in (one, other)]  # the scores' own aside
    fields, others = ({name: _joined(told) for name, told in each.items()} for each in signed)
    made = made_apart(fields, others, fields)
    return SidesCompared(words[0], words[1], QUESTION, "", None, rows, only[0], only[1], len(rows), made)


def _rows(held: Headlines, evaluator: str, side: str) -> pd.DataFrame:
    known = sorted({row.evaluator for each in held.questions for row in each.rows})
    if evaluator and evaluator not in known:
        raise InvalidInput(f"{held.title} has no evaluator {evaluator!r}; evaluators: {', '.join(known)}")
    records = [
        (
            *(each.id, each.title, each.of, each.digits, each.signed, "" if evaluator else row.evaluator, row.row),
            *(row.value, row.low, row.high, row.n),
        )
        for each in held.questions
        for row in each.rows
        if row.evaluator == (evaluator or row.evaluator)
    ]
    numbers = [f"{side}_{name}" for name in ("value", "low", "high", "n")]
    return pd.DataFrame(records, columns=[*_OF_ROW, *numbers]).astype(dict.fromkeys(numbers, float))


def _joined(value: str | list[str]) -> str:
    return value if isinstance(value, str) else ", ".join(value)
