"""What would have been found of planted evaluators at this n: detection, false alarms, and the smallest fall told.

A repeat draws the sources anew, with replacement, and judges every planted evaluator by the tool's own functions. What
a planted evaluator draws, it draws anew too: items resampled from one audit would carry the chance tilt of its one draw
of noise into every repeat, and noise alone would seem to be found far too often.
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, ValidationError

import core
from core.analysis.effect_of_items import drifted, tested
from core.analysis.effects import ends
from core.analysis.table import ScoreTable
from core.analysis.verdicts import CLAIMS, agreed
from core.charts.spec import COLUMNS, Figure, Reference
from core.charts.spec import Axis as FigureAxis
from core.corpora.corpus_files import parse_json, read_text
from core.corpora.versioned_files import first_wrong
from core.errors import InvalidInput
from core.features.metric_check.judged_families import BEYOND, MOST_FAILURES, failures_of
from core.features.selfcheck.planted import (
    BROKEN,
    FALLS,
    FLIPPED,
    LENGTH,
    NOISES,
    PICTURE,
    PLANTED,
    SHARE,
    UPRIGHT,
    PlantedAudit,
    Planting,
    Sides,
    items_of,
)
from core.probes.base import Axis, Expectation
from core.probes.registry import select
from core.seeds import stream
from core.settings import data_dir, results_dir
from core.statistics.bootstrap import Interval
from core.statistics.changes import Changes
from core.statistics.crossed_sources import crossed, first_of
from core.statistics.power import POWER
from core.statistics.shares import share
from core.statistics.shift_tests import holm_of_tests
from core.statistics.wording import counted
from core.store.text_files import write_text

REPEATS = 100  # repeats where nobody says how many
MOST_REPEATS = 2000

DRIFT, NOT_NOTICED = "drifts", "does not notice it"
"""What is found: a family of harmless edits drifts (reports, pages, ``check``); ``check`` fails a broken meaning."""

FLIP = "vertical-flip"  # family that the planted falls are of


@dataclass(frozen=True, slots=True)
class Tried:
    """One planted evaluator under one family."""

    planting: Planting  # what it does
    family: str  # of edits
    finding: str  # DRIFT or NOT_NOTICED
    due: bool  # whether the finding would be right; where it is not, each is a false alarm
    found: tuple[bool, ...]  # of every repeat, whether it was found
    note: str = ""  # what holds by construction; empty where nothing does

    @property
    def rate(self) -> Interval:
        """Share of the repeats in which it was found, with Wilson's interval."""
        return share(self.found)


@dataclass(frozen=True, slots=True)
class Selfcheck:
    """What the tool would have found at this n."""

    corpus: str  # whose items were resampled
    digest: str  # of the items and their sources; see :func:`core.features.selfcheck.detection.digest_of`
    items: int  # items, sources: how many there are
    sources: int
    tests: int  # tests of one family of Holm's correction, the planted one among them
    seed: int  # of everything that is drawn
    # compared, apart: scores of the audit that were held against what was planted, and how many differ; 0 where no
    # picture was audited
    compared: int
    apart: int
    tried: tuple[Tried, ...]  # a line each

    @property
    def repeats(self) -> int:
        """Repeats of every line."""
        return len(self.tried[0].found)

    def alarms(self) -> Interval:
        """False alarms of noise alone, over its sizes, with Wilson's interval of a share."""
        noisy = (each for each in self.tried if each.planting.looks_at == PICTURE and each.planting.noise > 0)
        return share([found for each in noisy if not each.planting.fall for found in each.found])

    def smallest(self, noise: float) -> Interval:
        """Smallest fall, in percent, that is found with probability POWER at a noise; see :func:`smallest_told`."""
        falls = (each for each in self.tried if each.planting.fall and each.planting.noise == noise)
        lines = sorted(falls, key=lambda each: each.planting.fall)
        return smallest_told([100 * each.planting.fall for each in lines], [each.rate for each in lines])

    def sentence(self) -> str:
        """What stands in the methods of a report on these items."""
        told = [f"{smallest_said(self.smallest(noise))} at a noise of {100 * noise:g} %" for noise in NOISES]
        alarms = self.alarms()
        return (
            f"Self-check at this n ({counted(self.items, 'item')}, {counted(self.sources, 'source')}): of planted "
            f"evaluators that fall in {100 * SHARE:g} % of the sources, {counted(self.repeats, 'repeat')} each and "
            f"{counted(self.tests, 'test')} together, the smallest fall that is found as a drift four times in five is "
            f"{'; '.join(told)}. Of noise alone a drift was found in {100 * alarms.estimate:.1f} % of {alarms.n:,} "
            f"repeats ({100 * alarms.low:.1f} to {100 * alarms.high:.1f})."
        )


def smallest_told(sizes: Sequence[float], rates: Sequence[Interval]) -> Interval:
    """The size at which the rate reaches POWER, on straight lines between the sizes that were planted, which rise.
    Returns the size where the estimates reach it, from where the upper bounds do to where the lower ones do. The
    smallest size stands for "that or less", infinity for "not reached"; ``n`` is that of a rate."""
    ends = ([getattr(each, name) for each in rates] for name in ("estimate", "high", "low"))
    value, low, high = (_reached(sizes, values) for values in ends)
    return Interval(value, low, high, rates[0].n if rates else 0, rates[0].level if rates else 0.95)


def _reached(sizes: Sequence[float], values: Sequence[float]) -> float:
    for place, (size, value) in enumerate(zip(sizes, values, strict=True)):
        if value >= POWER:
            if not place:
                return size
            below, before = sizes[place - 1], values[place - 1]
            return below + (size - below) * (POWER - before) / (value - before)
    return math.inf


def smallest_said(found: Interval) -> str:
    """A smallest fall in words, with its interval.

    Example:
        >>> smallest_said(Interval(8.0, 5.0, math.inf, 100, 0.95))
        '8 % (5 or less to not reached)'
        >>> smallest_said(Interval(5.0, 5.0, 5.0, 100, 0.95)), smallest_said(Interval(*[math.inf] * 3, 100, 0.95))
        ('5 % or less', 'not reached up to 25 %')
    """
    least, most = (100 * end for end in (FALLS[0], FALLS[-1]))

    def ended(value: float) -> str:
        return "not reached" if math.isinf(value) else f"{value:.2g} or less" if value <= least else f"{value:.2g}"

    if found.low == found.high:
        return f"not reached up to {most:g} %" if math.isinf(found.low) else f"{least:g} % or less"
    value = "not reached" if math.isinf(found.estimate) else f"{found.estimate:.2g} %"
    value += " or less" if found.estimate <= least else ""
    return f"{value} ({ended(found.low)} to {ended(found.high)})"


def selfcheck(
    audit: PlantedAudit,
    digest: str,
    *,
    repeats: int = REPEATS,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> Selfcheck:
    """Resample the items of one audit of the planted evaluators, by source, and judge each of 1 to MOST_REPEATS
    repeats; ``digest``: of the items. Raises InvalidInput for fewer than two sources, or another number of repeats."""
    if not 1 <= repeats <= MOST_REPEATS:
        raise InvalidInput(f"repeats are from 1 to {MOST_REPEATS:,}, got {repeats:,}")
    sources = len(np.unique(first_of(audit.sources)))
    if sources < 2:
        raise InvalidInput(
            f"corpus {audit.corpus!r} has {counted(len(audit.items), 'item')} of {counted(sources, 'source')} that can "
            "be flipped, and nothing can be resampled by source from one; choose more items"
        )
    tests, pictures = count_tests(), [each for each in PLANTED if each.looks_at == PICTURE]
    found: dict[str, list[bool]] = {each.name: [] for each in pictures}
    for repeat in range(repeats):
        places, copies = redrawn(audit.sources, stream(seed, "selfcheck", audit.corpus, str(repeat)))
        for each in pictures:
            found[each.name].append(
                drifts(each, copies, _groups(audit.sources, places, copies), tests=tests, seed=f"{seed} {repeat}")
            )
        if progress is not None:
            progress(repeat + 1, repeats)
    still = "by construction: no score changes"
    tried = [
        Tried(each, FLIP, DRIFT, each.fall > 0, tuple(found[each.name]), "" if each.noise or each.fall else still)
        for each in pictures
    ]
    tried += (_words(sides, audit, repeats, seed) for sides in audit.sides)
    return Selfcheck(
        audit.corpus, digest, len(audit.items), sources, tests, seed, audit.compared, audit.apart, tuple(tried)
    )


def count_tests() -> int:
    """Families of the usual audit that are tested together with the flip."""
    usual = select(["default"])
    harmless = [each for each in usual if each.expectation is Expectation.INVARIANT and not each.control]
    return len({each.family for each in harmless if each.axis is Axis.SPATIAL})


def redrawn(sources: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw as many sources as there are, int [N] or [N, 2] of which the first, with replacement, each with all of its
    items: places of the items, int [n], and the number of the draw that each came with: a source that is drawn twice is
    two."""
    ranks = np.unique(first_of(sources), return_inverse=True)[1]
    members = np.split(np.argsort(ranks, kind="stable"), np.cumsum(np.bincount(ranks))[:-1])
    drawn = [members[rank] for rank in rng.integers(len(members), size=len(members))]
    return np.concatenate(drawn), np.repeat(np.arange(len(drawn)), [len(each) for each in drawn])


def _groups(sources: np.ndarray, places: np.ndarray, copies: np.ndarray) -> np.ndarray | None:
    """Sources of drawn items as a table of scores has them: None where none share theirs."""
    if crossed(sources):
        return np.stack([copies, sources[places, 1]], axis=1)
    return copies if len(np.unique(copies)) < len(copies) else None


def drifts(planting: Planting, copies: np.ndarray, groups: np.ndarray | None, *, tests: int, seed: str) -> bool:
    """Whether a planted evaluator that looks at pictures is found to drift under the flip, as reports, pages and
    ``check`` find it.

    ``copies``: number of each item's source, int [n]; ``groups``: what intervals and tests take together; ``tests`` in
    the family of Holm's correction: under the other edits there is noise alone.
    """
    items, every = np.arange(len(copies)), np.ones(len(copies), dtype=bool)
    before = planting.scores(items, copies, np.full(len(items), UPRIGHT), seed=seed)
    changes = []
    for edit in range(FLIPPED, FLIPPED + tests):
        after = planting.scores(items, copies, np.full(len(items), edit), seed=seed)
        changes.append(Changes.of(after[None], before[None], every[None], ~every))
    told = drifted(changes[0], every, sources=groups)
    if told.claim not in CLAIMS:
        return False
    each = [told.test, *(tested(other, every, groups) for other in changes[1:])]
    corrected, _ = holm_of_tests([test.p for test in each], [test.name for test in each])
    return agreed(told.claim, float(corrected[0]), told.test.p).drift in CLAIMS


NEGATIONS = BROKEN[1]


def _words(sides: Sides, audit: PlantedAudit, repeats: int, seed: int) -> Tried:
    """A reader of captions under a family of broken meanings: whether ``check`` finds that it does not notice it. It
    draws nothing, so that items are resampled as they are."""
    found = []
    for repeat in range(repeats):
        places, copies = redrawn(sides.sources, stream(seed, "selfcheck", audit.corpus, str(repeat)))
        own = {sides.family: (sides.axis, sides.right[:, places], sides.wrong[:, places])}
        judged = failures_of(own, most=MOST_FAILURES, sources=_groups(sides.sources, places, copies))
        found.append(judged[0].verdict == BEYOND)
    planting = Planting(sides.evaluator)
    notices = sides.evaluator != LENGTH and sides.family == NEGATIONS
    note = "by construction: words in another order have the same length and the same denials"
    if sides.family == NEGATIONS:
        note = "" if notices else "what is not found here, the blind baseline shows: a denial makes a caption longer"
    return Tried(planting, sides.family, NOT_NOTICED, not notices, tuple(found), note)


def figure(check: Selfcheck) -> Figure:
    """How often a fall is found, by its size, a line a noise; a fall of 0 is noise alone."""
    shown = [
        (
            100 * each.planting.fall,
            f"noise of {100 * each.planting.noise:g} %",
            "",
            *each.rate.numbers(100),
            each.rate.n,
        )
        for each in sorted(check.tried, key=lambda each: (each.planting.noise, each.planting.fall))
        if each.planting.looks_at == PICTURE and each.planting.noise
    ]
    frame = pd.DataFrame(shown, columns=list(COLUMNS))
    return Figure(
        "S-selfcheck",
        "Planted falls that are found",
        f"Repeats in which a made-up metric is found to drift, {check.repeats:,} a mark, with Wilson's 95 % "
        f"intervals, at {counted(check.items, 'item')} of {counted(check.sources, 'source')}. A fall of 0 % is noise "
        "alone: what is found there is a false alarm.",
        frame,
        "repeats with a finding",
        kind="lines",
        unit=" %",
        along=FigureAxis(f"fall of the score in {100 * SHARE:g} % of sources", " %"),
        span=(0.0, 100.0),
        references=(Reference(100 * POWER, text="four of five", dash="dash"),),
        bounds="band",
    )


def lines(check: Selfcheck) -> Iterator[dict[str, object]]:
    """A row a line, for tables: rates in percent."""
    for each in check.tried:
        kind, rate = "detection" if each.due else "false alarm", each.rate
        about = {"planted": each.planting.title, "family": each.family, "finding": each.finding, "is": kind}
        yield {**about, **ends(rate, ("rate", "low", "high"), times=100), "n": rate.n, "note": each.note}


FOLDER = "selfchecks"  # beside the runs: of the user's own data, and of the results that ship

Text = Annotated[str, Field(min_length=1, max_length=300)]
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, lt=1)]


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    looks_at: Literal["picture", "length", "negation"]
    fall: Share
    noise: Share
    family: Text
    finding: Text
    due: bool
    found: Annotated[str, Field(pattern="^[01]+$", max_length=MOST_REPEATS)]
    note: Annotated[str, Field(max_length=300)]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1] = 1
    invariscope: Text
    corpus: Text
    digest: Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
    items: Count
    sources: Count
    tests: Count
    seed: int
    compared: Count
    apart: Count
    lines: Annotated[tuple[_Line, ...], Field(min_length=1, max_length=100)]


_ABOUT = ("corpus", "digest", "items", "sources", "tests", "seed", "compared", "apart")


def digest_of(items: Iterable[tuple[str, str, str]]) -> str:
    """Sixteen hexadecimal digits of items and their sources, in any order."""
    text = "\n".join("\x1f".join(each) for each in sorted(items))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def write_selfcheck(check: Selfcheck, folder: Path | None = None) -> Path:
    """Keep a selfcheck; an earlier one of the same items is replaced. Raises StoreError if it cannot be written."""
    about = {name: getattr(check, name) for name in _ABOUT}
    lines = tuple(
        _Line(
            **{name: getattr(each.planting, name) for name in ("looks_at", "fall", "noise")},
            **{name: getattr(each, name) for name in ("family", "finding", "due", "note")},
            found="".join("01"[found] for found in each.found),
        )
        for each in check.tried
    )
    kept = _File(invariscope=core.__version__, **about, lines=lines)
    path = (folder or data_dir() / FOLDER) / f"{check.digest}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, kept.model_dump_json(indent=1) + "\n")
    return path


def read_selfcheck(path: Path) -> Selfcheck:
    """Read what :func:`write_selfcheck` wrote; raises InvalidInput if it is no such file."""
    try:
        file = _File.model_validate(parse_json(read_text(path), where=path.name))
    except ValidationError as error:
        raise InvalidInput(f"{path} is no selfcheck: {first_wrong(error)}; delete it and run it again") from error
    if len({len(line.found) for line in file.lines}) > 1:
        raise InvalidInput(f"{path} is no selfcheck: its lines have other numbers of repeats; run it again")
    tried = tuple(
        Tried(Planting(line.looks_at, line.fall, line.noise), line.family, line.finding, line.due, found, line.note)
        for line in file.lines
        for found in [tuple(each == "1" for each in line.found)]
    )
    about = {name: getattr(file, name) for name in _ABOUT}
    return Selfcheck(**about, tried=tried)


def kept_selfchecks() -> tuple[tuple[Selfcheck, ...], tuple[str, ...]]:
    """Every selfcheck that is kept, one's own first, by corpus; and a sentence for each file that is none."""
    found, troubles = dict[str, Selfcheck](), list[str]()
    for folder in (data_dir() / FOLDER, results_dir() / FOLDER):
        for path in sorted(folder.glob("*.json")):
            try:
                check = read_selfcheck(path)
            except InvalidInput as error:
                troubles.append(str(error))
                continue
            found.setdefault(check.digest, check)
    return tuple(sorted(found.values(), key=lambda each: (each.corpus, -each.items))), tuple(troubles)


def of_table(table: ScoreTable) -> Selfcheck | None:
    """The selfcheck of the items of a table, of the corpus in view; None where none is kept."""
    digest = digest_of(items_of(table.only(table.scope.corpus)))
    return next((each for each in kept_selfchecks()[0] if each.digest == digest), None)


def methods_line(table: ScoreTable) -> str:
    """The line in the methods of a report on these scores."""
    check = of_table(table)
    if check is not None:
        return check.sentence()
    return (
        "What this tool would have found at this n is not known: selfcheck was not run for these items; "
        f"`python -m core selfcheck --run {table.scope.run}` does it."
    )
