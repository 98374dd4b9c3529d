"""Which items a study asks about: stratified, seeded, from any run; what is short is told and not filled.

A stratum holds pairs of which people should find both versions equally good, or comparisons of a right side (the
original) and a wrong one (the variant). Nothing that annotators see says which it is, and which side is right.

Source: PROTOCOL section 6 (paper A, A.11; paper E, 5.2).

How likely each item was to be drawn for a study, by the very way in which :mod:`core.features.human.sampling` draws.

A stratum takes items at random, and items that an earlier stratum took come last. So items that earlier strata could
take are a little rarer in the later ones. Items that lie in the same earlier strata are alike; the share that is drawn
of each such class is found by drawing many times.
"""

import re
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from core.errors import InvalidInput
from core.features.human.definition import ATTENTION, ORIGINAL, VARIANT, Example, StudyItem
from core.features.human.kinds import Kind
from core.probes.base import ENGLISH, IDENTITY, Expectation
from core.probes.registry import further_readings
from core.probes.words.grammar import noun_group
from core.probes.words.templates import base_caption
from core.seeds import RUN_SEED, stream
from core.store.store import Store

TOTAL = 480  # paired items of the paper's study
INVARIANT, DIRECTIONAL = Expectation.INVARIANT.value, Expectation.DIRECTIONAL.value


@dataclass(frozen=True, slots=True)
class Stratum:
    """One part of the sample."""

    name: str  # for tables
    weight: int  # its part of the total: 80 of 480
    probes: str  # regular expression that a probe's whole name matches; empty: all of the family
    bins: str | None = None  # ``smallest`` or ``largest``: only items of that coverage bin, or None
    family: str = ""  # of the probes, where no expression names them
    expectation: str = INVARIANT  # of the probes: INVARIANT, or DIRECTIONAL for comparisons


PAPER_STRATA = (
    Stratum("vertical flip", 80, "vflip"),
    Stratum("moved to TL or BR", 40, r"reposition-(TL|BR)"),
    Stratum("rotated by 10°", 40, r"rotate[+-]10"),
    Stratum("blur, smallest objects", 80, r"blur-.*", "smallest"),
    Stratum("blur, largest objects", 80, r"blur-.*", "largest"),
    Stratum("cultural", 40, r"cultural:.*"),
    Stratum("economic", 40, r"economic:.*"),
    Stratum("gender", 40, r"gender:.*"),
    Stratum("emotion", 40, r"emotion:.*"),
)
"""Section 6: spatial 160, control 160, societal 160."""


def family_strata(families: Sequence[str] = (), directional: Sequence[str] = ()) -> tuple[Stratum, ...]:
    """Strata of equal weight, one a family whose edits should not matter, or break the meaning (directional):
    comparisons of a right and a wrong side. Raises InvalidInput if none is given."""
    if not families and not directional:
        raise InvalidInput("no family is chosen to sample from; choose one or more")
    plain = [Stratum(name, 1, "", family=name) for name in dict.fromkeys(families)]
    broken = [
        Stratum(f"{name}, {DIRECTIONAL}", 1, "", family=name, expectation=DIRECTIONAL)
        for name in dict.fromkeys(directional)
    ]
    return (*plain, *broken)


def strata_named(names: Sequence[str]) -> tuple[Stratum, ...]:
    """The strata behind the names that a study keeps: those of the paper, or one a family."""
    if tuple(names) == tuple(each.name for each in PAPER_STRATA):
        return PAPER_STRATA
    tail = f", {DIRECTIONAL}"
    plain = [name for name in names if not name.endswith(tail)]
    return family_strata(plain, [name.removesuffix(tail) for name in names if name.endswith(tail)])


@dataclass(frozen=True, slots=True)
class Sample:
    """What was drawn."""

    items: tuple[StudyItem, ...]  # drawn items in a random order, attention items last
    strata: tuple[tuple[str, int, int, int], ...]  # rows of (stratum, target, available, taken)
    # worked examples for the instructions, of items that are not asked about where there are enough
    examples: tuple[Example, ...]

    @property
    def shortfall(self) -> int:
        """Items that were wanted and are not there."""
        return sum(target - taken for _, target, _, taken in self.strata)


def targets(strata: Sequence[Stratum], total: int) -> tuple[int, ...]:
    """Share a total among strata by weight (largest remainder), e.g. 480 -> 80, 40, 40, 80, 80, 40, 40, 40, 40."""
    weights = sum(stratum.weight for stratum in strata)
    exact = [total * stratum.weight / weights for stratum in strata]
    found = [int(value) for value in exact]
    by_rest = sorted(range(len(strata)), key=lambda index: (found[index] - exact[index], index))
    for index in by_rest[: total - sum(found)]:
        found[index] += 1
    return tuple(found)


def largest_total(store: Store, run: str, *, strata: Sequence[Stratum] = PAPER_STRATA) -> int:
    """Largest total of which no stratum falls short, at most TOTAL; strata that hold nothing are not counted."""
    pairs = candidates(store, run)
    held = [len(rows_of(pairs, stratum)["item"].unique()) for stratum in strata]
    filled = [(stratum, count) for stratum, count in zip(strata, held, strict=True) if count]
    if not filled:
        return 0
    for total in range(TOTAL, 0, -1):
        wanted = targets(strata, total)
        if all(count >= want or count == 0 for want, count in zip(wanted, held, strict=True)):
            return total
    return 1


def candidates(store: Store, run: str) -> pd.DataFrame:
    """Pairs of a run that a study could ask about: one row an (item, probe), ``expectation`` tells which kind.

    Controls other than blur stay out: nobody doubts that a blurred photograph still shows the object, and that is
    what the control is for. So do further readings of a directional edit, which are no headline, and probes both of
    whose sides are true, of which there is nothing to find out. A study is in one language, English where the run
    holds it; an item that was audited with several captions is asked about with the template, else with the first.
    """
    rows = store.query(
        """
        select s.corpus, s.item, s.probe, min(s.baseline) as baseline, s.subject, s.axis, s.family, s.coverage_bin,
               s.caption as variant_caption, arg_min(s.baseline_caption, s.baseline) as original_caption,
               s.label, s.category, max(i.pixels_sha256) as pixels_sha256,
               coalesce(s.expectation, $invariant) as expectation, s.language, s.rank,
               max(coalesce(i.item_group, i.pixels_sha256)) as source, max(i.second_group) as second_source
        from shifts s left join items i on i.run = s.run and i.corpus = s.corpus and i.item = s.item
        where s.run = $run and s.baseline_caption is not null and s.axis <> 'null'
              and (not s.control or s.family = 'blur')
              and (coalesce(s.expectation, $invariant) = $invariant
                   or (s.expectation = $directional and not list_contains($further, s.probe)))
        group by all
        order by s.corpus, s.item, s.probe, s.subject, s.rank desc
        """,
        {"run": run, "invariant": INVARIANT, "directional": DIRECTIONAL, "further": sorted(further_readings())},
    )
    spoken = min(rows["language"].unique(), key=lambda each: (each != ENGLISH, each), default=ENGLISH)
    one = rows[rows["language"] == spoken]
    return one.drop_duplicates(["corpus", "item", "probe"], keep="last").reset_index(drop=True)


def families_of(pairs: pd.DataFrame, expectation: str) -> list[str]:
    """Families that :func:`candidates` holds pairs of, sorted: INVARIANT or DIRECTIONAL ones."""
    return sorted(map(str, pairs.loc[pairs["expectation"] == expectation, "family"].unique()))


def draw_sample(
    store: Store,
    run: str,
    *,
    kind: Kind,
    total: int,
    seed: int,
    strata: Sequence[Stratum] = PAPER_STRATA,
    attention_rate: float = 0.05,
    present: Mapping[str, Collection[str]] | None = None,
) -> Sample:
    """Draw a stratified sample of ``total`` pairs over all strata; the same seed draws the same.

    Within a stratum an item comes once, under one of the stratum's probes, drawn at random; items that another stratum
    took already come last. For single images a pair makes two items, one for each version. Enough attention items are
    made for their rate. ``present``: item -> labels of everything that is annotated in its picture, so that no caption
    that is meant to be wrong names something that is there after all; None: only the dominant object is known. Raises
    InvalidInput if the run is not here, the total is out of range, or nothing can be drawn.
    """
    if not 1 <= total <= 20_000:
        raise InvalidInput(f"a sample has 1 to 20000 pairs, got {total}")
    pairs = candidates(store, run)
    if pairs.empty:
        raise InvalidInput(f"run {run!r} has no pairs that people could compare; audit with image or caption probes")
    used: set[str] = set()
    drawn: list[StudyItem] = []
    table = []
    for stratum, target in zip(strata, targets(strata, total), strict=True):
        rows = rows_of(pairs, stratum)
        taken = _draw(rows, target, used, seed=seed, name=stratum.name)
        used |= set(taken["item"])
        drawn += [_item(row, stratum.name) for row in taken.to_dict("records")]
        table.append((stratum.name, target, int(rows["item"].nunique()), len(taken)))
    if not drawn:
        named = [", ".join(families_of(pairs, kind)) or "none" for kind in (INVARIANT, DIRECTIONAL)]
        raise InvalidInput(
            f"run {run!r} has nothing for the chosen strata; its invariant families: {named[0]}; its directional ones: "
            f"{named[1]}"
        )
    shown = drawn
    if kind.sides == 1:
        shown = [replace(item, shows=version) for item in drawn for version in (ORIGINAL, VARIANT)]
    whole = pairs.dropna(subset=["label", "category"]).drop_duplicates(["corpus", "item"]).reset_index(drop=True)
    wrong = partial(_wrong_label, whole, present or {})
    compared = [item for item in drawn if item.directional]
    wanted = max(round(len(shown) * max(attention_rate, 0.1)), 5) if attention_rate else 0
    checks = _attention(whole, wrong, kind, compared, wanted=wanted, seed=seed)
    ordered = sorted(shown, key=lambda item: float(stream(seed, "sample", item.item, item.probe, item.shows).random()))
    numbered = tuple(replace(item, id=f"{index:04d}") for index, item in enumerate((*ordered, *checks), start=1))
    return Sample(numbered, tuple(table), _examples(whole, wrong, used, kind, compared, seed))


def rows_of(pairs: pd.DataFrame, stratum: Stratum) -> pd.DataFrame:
    """The pairs (columns probe, family, expectation, coverage_bin) that a stratum of a study draws from."""
    pairs = pairs[pairs["expectation"] == stratum.expectation]
    if not stratum.probes:
        return pairs[pairs["family"] == stratum.family]
    fits = [re.fullmatch(stratum.probes, str(name)) is not None for name in pairs["probe"]]
    rows = pairs[np.array(fits, dtype=bool)]  # a list of none would be no mask
    if stratum.bins is None or rows.empty:
        return rows
    order = sorted(pairs["coverage_bin"].dropna().unique(), key=lambda each: float(each.split("-")[0]))
    wanted = order[:1] if stratum.bins == "smallest" else order[-1:]
    return rows[rows["coverage_bin"].isin(wanted)]


def _draw(rows: pd.DataFrame, target: int, used: set[str], *, seed: int, name: str) -> pd.DataFrame:
    """One row an item, items that are new to the study first."""
    mixed = rows.iloc[stream(seed, "stratum", name).permutation(len(rows))]
    once = mixed.drop_duplicates(["corpus", "item"])
    return once.assign(_used=once["item"].isin(used)).sort_values("_used", kind="stable").head(target)


def _item(row: Mapping[Hashable, object], stratum: str) -> StudyItem:
    names = ("corpus", "item", "probe", "baseline", "subject", "axis", "family", "original_caption", "variant_caption")
    edits = "image" if row["original_caption"] == row["variant_caption"] else "caption"
    digest, source, second = (
        each if isinstance(each := row[name], str) else None for name in ("pixels_sha256", "source", "second_source")
    )
    return StudyItem(
        id="",
        edits=edits,
        stratum=stratum,
        expectation=str(row["expectation"]),
        language=str(row["language"]),
        rank=int(str(row["rank"])),
        pixels_sha256=digest,
        source=source,
        second_source=second,
        **{name: str(row[name]) for name in names},
    )


def _wrong_label(
    whole: pd.DataFrame, present: Mapping[str, Collection[str]], row: pd.Series, rng: np.random.Generator
) -> str | None:
    """A label of another category that the picture does not show; None where every label might be there."""
    there = {str(row["label"]), *present.get(str(row["item"]), ())}
    others = whole[whole["category"] != row["category"]]["label"].unique()
    free = sorted(str(label) for label in others if label not in there)
    return free[int(rng.integers(len(free)))] if free else None


_Wrong = Callable[[pd.Series, np.random.Generator], str | None]


def _attention(
    whole: pd.DataFrame, wrong: _Wrong, kind: Kind, compared: Sequence[StudyItem], *, wanted: int, seed: int
) -> list[StudyItem]:
    """Items whose variant's caption names an object that the picture does not show.

    No comparison that people are asked about is met again as one: pictures of comparisons come last, and under them no
    caption that is a side of theirs.
    """
    rng = stream(seed, ATTENTION)
    mixed = whole.iloc[rng.permutation(len(whole))]
    asked = _pictured(mixed, compared)
    taken = {(each.item, each.caption(version)) for each in compared for version in (ORIGINAL, VARIANT)}
    ordered = mixed.iloc[np.argsort(asked, kind="stable")]
    if kind.sides == 2:
        named = zip(ordered["item"], ordered["label"], strict=True)
        ordered = ordered[[(str(item), base_caption(str(label))) not in taken for item, label in named]]
    found = []
    for _, row in ordered.head(wanted).iterrows():
        label = wrong(row, rng)
        if label is None or (row["item"], base_caption(label)) in taken:
            continue
        names: dict[str, Any] = dict.fromkeys(("probe", "baseline"), IDENTITY)
        names |= dict.fromkeys(("axis", "family", "stratum"), ATTENTION)
        found.append(
            StudyItem(
                id="",
                corpus=str(row["corpus"]),
                item=str(row["item"]),
                subject="template",
                edits="caption",
                original_caption=base_caption(str(row["label"])),
                variant_caption=base_caption(label),
                shows="pair" if kind.sides == 2 else VARIANT,
                pixels_sha256=row["pixels_sha256"] if isinstance(row["pixels_sha256"], str) else None,
                **names,
            )
        )
    return found


def _pictured(whole: pd.DataFrame, items: Sequence[StudyItem]) -> np.ndarray:
    """Which rows are of an item of these, or of the same picture, bool [rows]."""
    pictures = {each.pixels_sha256 for each in items} - {None}
    return np.asarray(whole["item"].isin({each.item for each in items}) | whole["pixels_sha256"].isin(pictures))


def _examples(
    whole: pd.DataFrame, wrong: _Wrong, used: set[str], kind: Kind, compared: Sequence[StudyItem], seed: int
) -> tuple[Example, ...]:
    """A right, a half right and a wrong caption, each under its own picture where there are enough; none under a
    picture of a comparison, whose right answer it would tell."""
    told = whole[~_pictured(whole, compared)]
    spare = told[~told["item"].isin(used)]
    chosen = spare if len(spare) >= 3 else told
    chosen = chosen.iloc[stream(seed, "examples").permutation(len(chosen))[:3]]
    highest = kind.lowest + len(kind.scale) - 1
    values = (highest, min(kind.lowest + 1, highest - 1), kind.lowest)  # half right is not correct
    found = []
    for index, value in enumerate(values if len(chosen) else ()):
        row = chosen.iloc[index % len(chosen)]
        label, other = str(row["label"]), wrong(row, stream(seed, "example", str(index)))
        if other is None and index:
            continue
        caption, why = base_caption(label), "Everything that the caption names is there."
        if index == 1:
            caption = f"{caption.rstrip('.')} and {_named(other or '')}."
            why = f"One thing is right ({_named(label)}), the other is not there ({_named(other or '')})."
        elif index:
            caption = base_caption(other or "")
            why = f"The picture does not show what the caption names ({_named(other or '')})."
        found.append(Example(str(row["corpus"]), str(row["item"]), caption, value, why))
    return tuple(found)


def _named(label: str) -> str:
    """A label with its article: ``an inukshuk``, ``scissors``."""
    return noun_group(label).removeprefix("is ").removeprefix("are ")


MOST_DRAWS, FEWEST_DRAWS, EFFORT = 2000, 200, 2_000_000
"""Draws of the whole sample: so many that items times draws are EFFORT, within bounds."""


def inclusion(held: Sequence[np.ndarray], taken: Sequence[int]) -> list[np.ndarray]:
    """Probability of each item of each stratum to be drawn for it, float64 [N_h] a stratum; exact where no earlier
    stratum shares an item.

    ``held``: the places of each stratum's items among all items, int [N_h], in the order of drawing; ``taken``: how
    many each stratum took.
    """
    count = 1 + max((int(each.max()) for each in held if len(each)), default=0)
    rng = np.random.default_rng(RUN_SEED)
    draws = int(np.clip(EFFORT // count, FEWEST_DRAWS, MOST_DRAWS))
    hits = [np.zeros(len(each)) for each in held]
    for _ in range(draws):
        used = np.zeros(count, dtype=bool)
        for places, wanted, hit in zip(held, taken, hits, strict=True):
            first = np.argsort(rng.random(len(places)) + used[places])[:wanted]  # keys below 1: the used come last
            hit[first] += 1
            used[places[first]] = True
    # items of a stratum that lie in the same earlier strata are one class, over which their shares are pooled
    before, found = np.zeros((count, 0), dtype=bool), []
    for places, hit in zip(held, hits, strict=True):
        own = np.unique(before[places], axis=0, return_inverse=True)[1].ravel()
        found.append((np.bincount(own, hit / draws) / np.bincount(own))[own] if len(hit) else hit)
        inside = np.zeros((count, 1), dtype=bool)
        inside[places] = True
        before = np.hstack([before, inside])
    return found
