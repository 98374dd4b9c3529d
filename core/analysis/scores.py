"""What is scored: evaluators, probes and items of one scope, aligned, and the scores; and the memory of what was asked.

One subject, one language, one run a corpus (:mod:`core.analysis.scope`); what is asked of them by comparison stands in
:class:`core.analysis.table.ScoreTable`.
"""

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from threading import Lock
from typing import Any, Concatenate, ParamSpec, Protocol, Self, TypeVar, cast

import numpy as np
import pandas as pd

from core.analysis.scope import REFERENCE, Narrowed
from core.analysis.slices import TIE_COLUMNS, TIES, Diagnostic, Items, other_category
from core.analysis.verdicts import ALL_ZERO, CONSTANT, NO_SCORE
from core.corpora.schema import OWN
from core.errors import InvalidInput
from core.probes.base import IDENTITY, Axis, Expectation
from core.probes.registry import further_readings
from core.statistics.changes import interquartile_range, standard_deviation
from core.statistics.crossed_sources import numbered

A = TypeVar("A")
R = TypeVar("R")
P = ParamSpec("P")


class Memo:
    """Answers by their kind and by what was asked. Safe under threads, which may work an answer out twice but never see
    half of it. Nobody writes into an answer."""

    def __init__(self) -> None:
        self._known, self._lock = dict[Hashable, OrderedDict[Hashable, Any]](), Lock()

    def get(self, kind: Hashable, asked: Hashable, answer: Callable[[], A], *, most: float = math.inf) -> A:
        """The answer that is kept; worked out, and kept, where there is none. ``kind``: of answer: usually the function
        that gives it. ``most``: answers of this kind that are kept; the one that was asked for longest ago goes
        first."""
        with self._lock:
            known = self._known.setdefault(kind, OrderedDict())
            if asked in known:
                known.move_to_end(asked)
                kept: A = known[asked]
                return kept
        found = answer()
        with self._lock:
            known[asked] = found
            while len(known) > most:
                known.popitem(last=False)
        return found


class _Remembers(Protocol):  # a table of scores, or a view of it
    def memo(self, function: Callable[..., A], /, *arguments: Any, **named: Any) -> A: ...


S = TypeVar("S", bound=_Remembers)


def once(answer: Callable[Concatenate[S, P], A]) -> Callable[Concatenate[S, P], A]:
    """Work an answer out once for each table, or each slice of it, and the other arguments: by its ``memo``."""

    @wraps(answer)
    def asked(of: S, *args: P.args, **kwargs: P.kwargs) -> A:
        return of.memo(answer, *args, **kwargs)

    return cast(Callable[Concatenate[S, P], A], asked)


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of one subject, one language, one run a corpus; made by :func:`core.analysis.reading.read_table`."""

    scope: Narrowed  # which rows these are, and what was left out
    evaluators: tuple[str, ...]  # names, E of them, sorted
    probes: pd.DataFrame  # columns axis, family, modifier, control, expectation; index probe; P of them, sorted
    # columns corpus, item, category, coverage, coverage_bin, label, pixels, source (what several items share: a cut-
    # out, else the image), and one for each column of their owners' (OWN and its name); N of them, sorted
    items: pd.DataFrame
    scores: np.ndarray  # float64 [E, P, N]; NaN where there is no score
    baselines: np.ndarray  # place of each score's baseline probe, int16 [E, P, N]; -1 where there is none
    stored: np.ndarray  # whether a row is stored, scored or not, bool [E, P, N]
    inside: np.ndarray  # share of the object inside the evaluator's crop, float32 [E, P, N]; NaN where it is not known
    accepted: np.ndarray  # share of people who found both versions acceptable, float32 [P, N]; NaN where nobody judged
    # share of people who uphold a comparison (they accept its right side and refuse the wrong one, or prefer the
    # right one; see :func:`core.features.human.votes.verdicts`), float32 [P, N]; NaN where nobody judged
    upheld: np.ndarray
    # what was measured of every variant, by name (bg_delta, seam_energy, seam_ratio, fill_ratio, texture_ratio,
    # object_kept)
    diagnostics: Mapping[str, Diagnostic]
    # what the runs say beside scores, by name: ``evaluators`` (what each is), ``rejections`` (what was left out, and
    # why), ``open`` (which probes are open, in the scope or outside), ``facts`` (what families that hold more than
    # invariant probes told of their variants; see :mod:`core.analysis.facts`), ``refused`` (what was refused of these
    # families; see :mod:`core.analysis.comparisons`), TIES (labels with a second category; see
    # :mod:`core.analysis.slices`), CAPTIONS (where there are natural ones; see
    # :mod:`core.analysis.questions.social_words`)
    about: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    # answers about one evaluator, some probes and some items, which a filter of evaluators or of families does not
    # change: a part of the table that holds the same items shares them. All others: :meth:`memo`.
    kept: Memo = field(default_factory=Memo, repr=False)
    # reads another scope of the same store (see :mod:`core.analysis.beside`); None: no other can be read
    reader: "Callable[[Narrowed], Scores] | None" = field(default=None, repr=False)
    # reads the captions of some probes: columns corpus, item, probe, caption; None: none can be read
    texts: Callable[[Sequence[str]], pd.DataFrame] | None = field(default=None, repr=False)

    def memo(self, function: Callable[Concatenate[Self, P], R], *arguments: P.args, **named: P.kwargs) -> R:
        """``function(table, *arguments)``, worked out once; dropped with the table. Nobody writes into it."""
        return self._memo.get(function, (arguments, *named.items()), lambda: function(self, *arguments, **named))

    @cached_property
    def _memo(self) -> Memo:
        return Memo()

    @cached_property
    def corpora(self) -> tuple[str, ...]:
        """Names, sorted."""
        return tuple(sorted(map(str, self.items["corpus"].unique())))

    @cached_property
    def names(self) -> tuple[tuple[str, str], ...]:
        """(corpus, item) of every item, [N]."""
        return tuple(zip(self.items["corpus"].tolist(), self.items["item"].tolist(), strict=True))

    @cached_property
    def own(self) -> dict[str, tuple[str, ...]]:
        """Columns of the items' owners, by the key of :class:`Slice` ``told``: the values of each, sorted."""
        keys = sorted(str(name) for name in self.items.columns if str(name).startswith(OWN))
        return {key: tuple(sorted(map(str, self.items[key].dropna().unique()))) for key in keys}

    @cached_property
    def tied(self) -> np.ndarray:
        """Items whose label could as well belong to another category, where the run records it, bool [N]."""
        ties = self.about.get(TIES, pd.DataFrame(columns=list(TIE_COLUMNS)))
        return other_category(self.items, ties).notna().to_numpy()

    @cached_property
    def sources(self) -> np.ndarray | None:
        """Number of each item's source, int [N]: items of one are resampled together; None where none share theirs. Of
        each item's two sources, int [N, 2], where items share a second one that is not their first."""
        codes, names = pd.factorize(self.items["source"])
        both = numbered(codes, self.items.get("second_source", self.items["source"]))
        return both if both.ndim == 2 else codes if len(names) < len(codes) else None

    def sources_of(self, items: np.ndarray) -> np.ndarray | None:
        """Source of each of some items, numbers or a mask of them; None where no two items of the table share one."""
        return None if self.sources is None else self.sources[items]

    def clusters(self, items: np.ndarray) -> np.ndarray:
        """What values of some items are resampled by: number of each item's source (or two), or of the item itself;
        ``items``: number of each value's item, int [k]."""
        return items if self.sources is None else self.sources[items]

    @property
    def reference(self) -> str:
        """Corpus that the others are held against: the paper's where it is here, else the one in view."""
        return REFERENCE if REFERENCE in self.corpora else self.scope.corpus

    def only(self, corpus: str) -> Self:
        """The items of one corpus. Raises InvalidInput if the table holds none of them."""
        if corpus not in self.corpora:
            raise InvalidInput(f"no item of corpus {corpus!r} is here; there are: {', '.join(self.corpora)}")
        if len(self.corpora) == 1:
            return self
        scope = replace(self.scope, corpus=corpus).only()
        return replace(self.at(np.flatnonzero(self.of_corpus(corpus))), scope=scope)

    def at(self, items: Items) -> Self:
        """The same scores of some items, by their places; those of a slice are no copies."""
        dense = {
            name: getattr(self, name)[..., items]
            for name in ("scores", "baselines", "stored", "inside", "accepted", "upheld")
        }
        measured = {name: each.at(items) for name, each in self.diagnostics.items()}
        return replace(
            self, items=self.items.iloc[items].reset_index(drop=True), diagnostics=measured, kept=Memo(), **dense
        )

    def of_corpus(self, corpus: str) -> np.ndarray:
        """Which items are of a corpus, bool [N]."""
        return self._of_corpora.get(corpus, np.zeros(len(self.items), dtype=bool))

    @cached_property
    def _of_corpora(self) -> dict[str, np.ndarray]:
        column = self.items["corpus"].to_numpy(dtype=object)
        return {name: column == name for name in self.corpora}

    def place(self, evaluator: str) -> int:
        """Row of an evaluator. Raises InvalidInput if it scored nothing here."""
        if evaluator not in self.evaluators:
            raise InvalidInput(f"no score of evaluator {evaluator!r} is here; there are: {', '.join(self.evaluators)}")
        return self.evaluators.index(evaluator)

    def places(self, probes: Sequence[str]) -> np.ndarray:
        """Places of some probes, int [k]; those that nobody scored are left out."""
        return np.array([self._places[name] for name in probes if name in self._places], dtype=np.intp)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {str(name): place for place, name in enumerate(self.probes.index)}

    def clean(self, evaluator: str) -> np.ndarray:
        """Scores of the unedited items, float64 [N]."""
        if IDENTITY not in self.probes.index:
            return np.full(len(self.items), math.nan)
        return np.asarray(self.scores[self.place(evaluator), self.probes.index.get_loc(IDENTITY)])

    def spread(self, evaluator: str, corpus: str) -> float:
        """Standard deviation of the evaluator's unedited scores of a corpus: the unit of a standardised Δ."""
        return standard_deviation(self.clean(evaluator)[self.of_corpus(corpus)])

    def middle_half(self, evaluator: str, corpus: str) -> float:
        """Interquartile range of the evaluator's unedited scores of a corpus: the unit of a flip-risk gap."""
        return interquartile_range(self.clean(evaluator)[self.of_corpus(corpus)])

    def span(self, evaluator: str) -> float:
        """From the lowest to the highest score that an evaluator can give: the unit of an absolute gap. NaN where its
        scale has no bound, the runs do not tell it, or do not agree."""
        known = self.about.get("evaluators", pd.DataFrame(columns=["evaluator", "span"]))
        found = known.loc[known["evaluator"] == evaluator, "span"].unique()
        return float(found[0]) if len(found) == 1 else math.nan

    def silent(self, evaluator: str, corpus: str) -> str:
        """Why an evaluator's scores of a corpus can show no shift, in words; empty where they can."""

        def work() -> str:
            values = self.scores[self.place(evaluator)][:, self.of_corpus(corpus)]
            known = values[~np.isnan(values)]
            if not len(known):
                return NO_SCORE
            if known.min() < known.max():
                return ""
            return ALL_ZERO if known[0] == 0 else CONSTANT

        return self.kept.get("silent", (evaluator, corpus), work)

    def families(self, *, axis: str | None = None, controls: bool = False) -> dict[str, tuple[str, ...]]:
        """Family -> its invariant probes, by name; a family of controls alone keeps them."""
        found = self._families[controls]
        return {name: probes for name, probes in found.items() if axis is None or self.axis_of(name) == axis}

    @cached_property
    def _families(self) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
        """The invariant probes of every family: those that are no controls, where it has some; and all. Points of a
        sweep over strength and further readings of an edit (a moved object on another plate) are no part of it: they
        are asked for by name."""
        plain, every = {}, {}
        rows = self.probes[self.probes["expectation"] == Expectation.INVARIANT.value]
        for name, own in rows[~rows.index.isin(further_readings())].groupby("family"):
            every[str(name)] = tuple(map(str, own.index))
            plain[str(name)] = tuple(map(str, own.index[~own["control"]])) or every[str(name)]
        return plain, every

    def of_expectation(self, expectation: str) -> dict[str, tuple[str, ...]]:
        """Family -> its probes of one expectation, controls and further readings aside; by axis, then by name."""
        return dict(self._asked.get(expectation, {}))

    @cached_property
    def _asked(self) -> dict[str, dict[str, tuple[str, ...]]]:
        rows = self.probes[~self.probes["control"] & ~self.probes.index.isin(further_readings())]
        order = [each.value for each in Axis]
        place = {name: order.index(axis) if axis in order else len(order) for name, axis in self._axes.items()}
        found: dict[str, dict[str, tuple[str, ...]]] = {}
        for (expectation, name), own in rows.groupby(["expectation", "family"]):
            found.setdefault(str(expectation), {})[str(name)] = tuple(map(str, own.index))
        return {
            expectation: dict(sorted(own.items(), key=lambda each: (place.get(each[0], len(order)), each[0])))
            for expectation, own in found.items()
        }

    @cached_property
    def blind(self) -> frozenset[str]:
        """Evaluators that never see the image: under an edit of it they stay where they are by construction."""
        told = self.about["evaluators"]
        return frozenset(map(str, told.loc[told["blind"].astype(bool), "evaluator"]))

    def axis_of(self, family: str) -> str:
        """Axis of a family."""
        return self._axes[family]

    @cached_property
    def _axes(self) -> dict[str, str]:
        named = self.probes[["family", "axis"]].dropna().astype(object).drop_duplicates("family")
        return dict(zip(named["family"], named["axis"], strict=True))

    def is_control(self, family: str) -> bool:
        """Whether a family holds nothing but controls: blur, the invisible edits."""
        return self._controls.get(family, True)

    @cached_property
    def _controls(self) -> dict[str, bool]:
        return {str(name): bool(all_) for name, all_ in self.probes.groupby("family")["control"].all().items()}
