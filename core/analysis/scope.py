"""Scope: of which rows every number of a page, a report, a card and a file is.

An item counts once. So a number is of one subject (which caption is held), of one language, of the first caption, and
of one run a corpus. This module alone chooses them, and says what it left out.
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from core.errors import InvalidInput
from core.probes.rejections import meaning
from core.probes.titles import family_title, sweeps_among
from core.store.run_files import Run
from core.store.store import Store

SUBJECTS = ("template", "human")  # Subjects in the order in which equal ones are preferred
REFERENCE = "coco"  # Corpus that the others are held against where it is there: the paper's. Otherwise the largest

NAMED = " and ".join(
    f"{name} is not null" for name in ("corpus", "item", "probe", "subject", "language", "rank", "evaluator")
)
"""Condition on a row of ``scores`` that says what it is of; others count nowhere."""

NAMED_GROUP = f"named and {NAMED.replace('item is not null and ', '')}"  # The same of a row of ``groups``

_HOLDINGS = f"""
select run, corpus, subject, language, rank, evaluator, sum(n)::bigint as n,
       coalesce(sum(n) filter (
           baseline is not null and axis is distinct from 'null' and coalesce(expectation, 'invariant') = 'invariant'
       ), 0)::bigint as n_shifts,
       coalesce(sum(n) filter (expectation = 'directional'), 0)::bigint as n_directional,
       any_value(n_items) as n_items
from groups join held using (run, corpus, subject, language, rank, evaluator)
where {NAMED_GROUP} group by all order by all
"""
_OPEN = f"""
select run, corpus, subject, language, rank, evaluator, axis, family, probe, expectation, sum(n)::bigint as n
from groups where {NAMED_GROUP} group by all order by all
"""
_NAMELESS = f"select run, sum(n)::bigint as n from groups where not ({NAMED_GROUP}) group by run"


@dataclass(frozen=True, slots=True)
class Scope:
    """What a reader chose of the runs that are open; an empty choice is the usual one."""

    runs: tuple[str, ...] = ()  # ids; of two runs of one corpus the largest counts
    corpus: str | None = None  # the corpus in view
    subject: str | None = None  # which caption is held while the image is edited: ``template`` or ``human``
    language: str | None = None  # of the captions, e.g. ``en``.
    evaluators: tuple[str, ...] = ()  # names
    # prefer what holds directional probes, where something does, to what holds the most shifts
    directional: bool = False
    # what the items tell, as :class:`core.analysis.slices.Slice` has it; the others are not read
    told: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Narrowed:
    """One subject, one language, one run a corpus: what a scope comes to in a store."""

    runs: tuple[tuple[str, str], ...]  # (corpus, run) in the order of the corpora
    corpus: str  # the corpus in view: the one chosen, else the reference
    # subject, language: whose rows count
    subject: str
    language: str
    evaluators: tuple[str, ...]  # names, sorted
    rank: int = 0  # which of an item's captions counts, from 0
    left_out: tuple[str, ...] = ()  # a sentence for each choice that was made for the reader, with what it left out
    left_out_in_view: tuple[str, ...] = ()  # the same of the corpus in view alone
    told: tuple[tuple[str, str], ...] = ()  # what the items tell that count; see :class:`Scope`

    @property
    def run(self) -> str:
        """Run of the corpus in view."""
        return dict(self.runs)[self.corpus]

    @property
    def run_ids(self) -> tuple[str, ...]:
        """Every run, one a corpus."""
        return tuple(run for _, run in self.runs)

    def only(self) -> "Narrowed":
        """The corpus in view alone."""
        return replace(self, runs=((self.corpus, self.run),), left_out=self.left_out_in_view)


def narrow(store: Store, scope: Scope | None = None) -> Narrowed:
    """Choose one subject, one language, one run of each corpus, and say what is left out; ``scope``: what the reader
    chose; None: everything is usual.

    A choice that the scope leaves open is made by size: the subject, then the language with the most shifts (in the
    corpus that the scope names, else in all), the run of each corpus with the most scores; of equal ones the first of
    SUBJECTS, English, the last run by name. A subject that some run was asked to hold comes before a larger one that
    only its edits of captions brought along. A scope that prefers directional probes goes by the number of their scores
    where any is open. Raises InvalidInput if the store holds no score, or none of what the scope names."""
    wanted, rows, nameless = scope or Scope(), holdings(store), store.once(_NAMELESS)
    if rows.empty:
        raise InvalidInput("no run has a score; start with: python -m core audit --corpus demo")
    if wanted.runs:
        rows, nameless = _of(rows, "run", wanted.runs), nameless[nameless["run"].isin(wanted.runs)]
    found = _narrow(rows, nameless, wanted, {run.id: run.manifest.get("subjects") for run in store.runs()})
    in_view = rows[rows["corpus"] == found.corpus]
    same = Scope(corpus=found.corpus, subject=found.subject, language=found.language, directional=wanted.directional)
    alone = _narrow(in_view, nameless[nameless["run"].isin(in_view["run"])], same, {})
    return replace(found, left_out_in_view=alone.left_out, told=wanted.told)


def _narrow(rows: pd.DataFrame, nameless: pd.DataFrame, wanted: Scope, asked: Mapping[str, object]) -> Narrowed:
    said = list[str]()
    if len(nameless):
        said.append(f"Left out {_scores(nameless)} without the name of an item, probe, evaluator or caption.")
    told = [asked.get(run) for run in _in_view(rows, wanted)["run"].unique()]
    held = [subject for each in told for subject in (each if isinstance(each, list) else SUBJECTS)]
    rows = _one(rows, "subject", wanted, SUBJECTS, "caption {}", said, before=held)
    rows = _one(rows, "language", wanted, ("en",), "language {}", said)
    rank = int(rows["rank"].min())
    further = rows[rows["rank"] > rank]
    if len(further):
        said.append(f"First caption of each item; {_scores(further)} of further captions are left out.")
    rows = rows[rows["rank"] == rank]
    runs = _one_run_each(rows, _by(rows, wanted, "n"), said)
    rows = rows[rows["run"].isin(runs.values())]
    if wanted.evaluators:
        rows = _of(rows, "evaluator", wanted.evaluators)
    preferred = rows[rows["n_directional"] > 0] if wanted.directional else rows
    known = preferred if len(preferred) else rows
    corpus = wanted.corpus
    if not corpus:
        sizes = {str(name): int(own["n_items"].max()) for name, own in known.groupby("corpus", sort=True)}
        corpus = REFERENCE if REFERENCE in sizes else max(sizes, key=sizes.__getitem__)
    if corpus not in runs:
        raise InvalidInput(f"no run in this scope is of corpus {corpus!r}; there are: {', '.join(runs)}")
    caption, names = rows.iloc[0], tuple(sorted(map(str, rows["evaluator"].unique())))
    of = corpus, str(caption["subject"]), str(caption["language"]), names
    return Narrowed(tuple(sorted(runs.items())), *of, rank, tuple(said))


def holdings(store: Store) -> pd.DataFrame:
    """How many scores the store holds of every (run, corpus, subject, language, rank, evaluator). Returns those
    columns, n (rows), n_shifts (rows of invariant probes with a baseline, invisible edits aside), n_directional (rows
    of directional probes) and n_items; what a store holds never changes, so it is counted once."""
    return store.once(_HOLDINGS)


def open_probes(store: Store) -> pd.DataFrame:
    """Which probes are open, counted once. Returns every (run, corpus, subject, language, rank, evaluator, axis,
    family, probe, expectation) with its scores, n."""
    return store.once(_OPEN)


def _of(rows: pd.DataFrame, column: str, names: Sequence[str]) -> pd.DataFrame:
    there = sorted(map(str, rows[column].unique()))
    unknown = [name for name in names if name not in there]
    if unknown:
        raise InvalidInput(f"no {column} {unknown[0]!r} is open; there are: {', '.join(there)}")
    return rows[rows[column].isin(names)]


def _in_view(rows: pd.DataFrame, wanted: Scope) -> pd.DataFrame:
    """Rows of the corpus that the scope names; all where it names none that is here."""
    return rows[rows["corpus"] == wanted.corpus] if wanted.corpus in set(rows["corpus"]) else rows


def _one(
    rows: pd.DataFrame,
    column: str,
    wanted: Scope,
    order: Sequence[str],
    words: str,
    said: list[str],
    *,
    before: Container[str] = (),
) -> pd.DataFrame:
    """Rows of one value of a column: the wanted one, else the one with the most shifts, or directional ones. A value of
    ``before`` that has any comes before the others."""
    own = _in_view(rows, wanted)
    sizes = _sums(own, column, _by(own, wanted, "n_shifts"))
    first = {name: place for place, name in enumerate(order)}
    ranked = sorted(
        sizes, key=lambda name: (not (name in before and sizes[name]), -sizes[name], first.get(name, len(first)), name)
    )
    ranked += sorted(set(map(str, rows[column])) - set(sizes))
    chosen = getattr(wanted, column) or ranked[0]
    kept = _of(rows, column, (chosen,))
    others = [f"{_scores(rows[rows[column] == name])} of {words.format(name)}" for name in ranked if name != chosen]
    if others:
        kept_words, more = words.format(chosen), len(others) - MOST_LEFT_OUT
        told = others if more <= 1 else [*others[:MOST_LEFT_OUT], f"those of {more} more"]
        said.append(f"{kept_words[0].upper()}{kept_words[1:]}: left out {', '.join(told)}; an item counts once.")
    return kept


def _by(rows: pd.DataFrame, wanted: Scope, usual: str) -> str:
    """Column by which the largest is chosen."""
    return "n_directional" if wanted.directional and rows["n_directional"].any() else usual


def _one_run_each(rows: pd.DataFrame, by: str, said: list[str]) -> dict[str, str]:
    """Run of each corpus: the one with the most scores, or the most of directional probes."""
    chosen: dict[str, str] = {}
    for corpus, own in rows.groupby("corpus", sort=True):
        sizes = _sums(own, "run", by)
        largest = max(sizes, key=lambda run: (sizes[run], run))
        chosen[str(corpus)] = str(largest)
        others = [f"{run} ({_scores(own[own['run'] == run])})" for run in sorted(sizes) if run != largest]
        if others:
            of = f"{_WHY[by]} of {len(sizes)}; left out {', '.join(others)}"
            said.append(f"Corpus {corpus}: run {largest}, {of}. An item counts once.")
    return chosen


MOST_LEFT_OUT = 2  # Choices that are named with what they left out; more are counted

_WHY = {"n": "the largest", "n_directional": "that with the most directional pairs"}


def _sums(rows: pd.DataFrame, by: str, column: str) -> dict[str, int]:
    return {str(name): int(own[column].sum()) for name, own in rows.groupby(by, sort=True)}


def _scores(rows: pd.DataFrame) -> str:
    n = int(rows["n"].sum())
    return f"{n:,} score" if n == 1 else f"{n:,} scores"


def labels_said(runs: Iterable[Run], chosen: Iterable[str]) -> tuple[str, ...]:
    """Say for each chosen run in which captions gave labels how many items got one, and by which tagger."""
    wanted, told = set(chosen), list[str]()
    for run in (each for each in runs if each.id in wanted):
        labels = run.manifest["corpus"].get("labels")
        counts = {} if not isinstance(labels, Mapping) else labels
        known = {str(name): count for name, count in counts.items() if isinstance(count, int) and count > 0}
        read = {name: count for name, count in known.items() if name not in ("annotation", "none")}
        total, noun, parts = sum(known.values()), "have a noun of their caption for a label", list[str]()
        for name, count in read.items():
            parts.append(
                f"{count} of {total} items of run {run.id} ({100 * count / total:.0f} %) {noun}, read by {name}"
            )
        for name, rest in _REST.items():
            if (count := known.get(name, 0)) and read:
                parts.append(f"{count} {'has' if count == 1 else 'have'} {rest}")
        told += [f"{'; '.join(parts)}."] if parts else []
    return tuple(told)


def items_said(runs: Iterable[Run], chosen: Iterable[str]) -> tuple[str, ...]:
    """Say for each chosen run that left items out how many of them, and why. Returns a sentence a run, the commonest
    reason first; codes of a plug-in, whose meaning nobody knows, as they are."""
    wanted, told = set(chosen), []
    for run in runs:
        counts = run.manifest.get("counts") or {}
        if run.id not in wanted or not (lost := counts.get("items_rejected", 0)):
            continue
        why = (f"{count} × {meaning(code) or code}" for code, count in counts["items_rejected_by_code"].items())
        told.append(f"Run {run.id} left out {lost} of {lost + counts['items_kept']} items: {'; '.join(why)}.")
    return tuple(told)


_REST: Mapping[str, str] = {
    "annotation": "the label of the source",
    "none": "none, since nobody can tell what the caption is about",
}


SHOWN = 2  # Kinds of edits that are named; the rest is counted

_KINDS = {"invariant": "Harmless edits", "directional": "Broken meanings", "response": "True captions compared"}
"""Expectation of a probe -> what its edits are."""

_EDITED = {("image",): "of pictures", ("caption",): "of captions", ("caption", "image"): "of pictures and captions"}


def purpose(manifest: Mapping[str, Any]) -> str:
    """Say what a run tests: broken meanings first, then what most of its probes are; invisible edits and unedited
    baselines aside; ``manifest``: of the run; its probes are dictionaries with name, axis, family, expectation and
    edits. Returns such as ``Harmless edits of pictures at several strengths: Moved over a grid, Turned and 7 more``;
    empty where the manifest names no probe."""
    listed = manifest.get("probes")
    probes = [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []
    told = [each for each in probes if each.get("axis") != "null" and each.get("family") not in ("base", "identity")]
    groups = {kind: [each for each in told if each.get("expectation") == kind] for kind in _KINDS}
    largest = sorted(
        (kind for kind in _KINDS if groups[kind]), key=lambda kind: (kind != "directional", -len(groups[kind]))
    )
    if not largest:
        return "Invisible edits alone" if any(each.get("axis") == "null" for each in probes) else ""
    first, *others = largest
    more = "".join(f"; {_KINDS[kind].lower()}" for kind in others if kind != "response")
    return f"{_group(_KINDS[first], groups[first])}{more}"


def _group(said: str, probes: Sequence[Mapping[str, Any]]) -> str:
    edited = tuple(sorted({str(each.get("edits")) for each in probes} & {"image", "caption"}))
    of = f" {_EDITED[edited]}" if edited in _EDITED and said == "Harmless edits" else ""
    swept = " at several strengths" if sweeps_among(str(each.get("name")) for each in probes) else ""
    families = [family_title(str(name)) for name, _ in Counter(each.get("family") for each in probes).most_common()]
    names = families[: SHOWN + 1] if len(families) == SHOWN + 1 else families[:SHOWN]
    rest = f" and {len(families) - len(names)} more" if len(families) > len(names) else ""
    return f"{said}{of}{swept}: {', '.join(names)}{rest}"
