"""A panel of judges as one evaluator: the mean, the median or the majority of what they say."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import ClassVar, Self

import numpy as np

from core.corpora.schema import Box, Mask
from core.errors import InvalidInput
from core.evaluators.base import Availability, Evaluator, EvaluatorSpec, Fingerprint, Joined, Sight, Told, family, told
from core.evaluators.metrics.judge import OnDemand, judge_of
from core.probes.rejections import coded

WAYS = ("mean", "median", "majority")
_FORM = "panel:mean=judge:MODEL@RUBRIC+judge:MODEL@RUBRIC; mean, median or majority"
_BETWEEN = "+judge:"


class Panel(Joined):
    """Several judges, each score as a share of its judge's scale, joined in one of WAYS: from 0 to 1.

    A majority is the score that more than half of the judges give; where there is none, the pair has no score, with the
    reason. Each answer of a judge is its own, kept once: auditing the judges beside the panel asks nothing again.
    """

    one_process = True
    kinds: ClassVar[tuple[type[OnDemand], ...]] = ()
    way: ClassVar[str] = "mean"

    def __init__(self, parts: Sequence[OnDemand]) -> None:
        self._parts = tuple(parts)
        self._ends = np.array([each.spec.score_range for each in self._parts], dtype=np.float64)

    @classmethod
    def availability(cls) -> Availability:
        """Whether every judge has an endpoint."""
        found = [kind.availability() for kind in cls.kinds]
        return next((each for each in found if not each.ready), Availability(True))

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        """Load the judges."""
        return cls([kind.load(device=device) for kind in cls.kinds])

    @property
    def parts(self) -> tuple[Evaluator, ...]:
        """The judges, in the order of the panel's name."""
        return self._parts

    @property
    def full_batch(self) -> int:
        """As the judge that takes most at once."""
        return max(each.full_batch for each in self._parts)

    def join(self, scores: np.ndarray) -> np.ndarray:
        """Join float64 [k, n]; float64 [n] in [0, 1]; NaN where a judge has none, or there is no majority."""
        low, high = self._ends[:, :1], self._ends[:, 1:]
        shares = (scores - low) / (high - low)
        if self.way == "mean":
            return np.asarray(shares.mean(axis=0))
        middle = np.median(shares, axis=0)
        if self.way == "median":
            return np.asarray(middle)
        # what more than half give is the median
        return np.where((shares == middle).sum(axis=0) > len(shares) / 2, middle, np.nan)

    def joined(self, found: Iterable[Told]) -> tuple[np.ndarray, tuple[str | None, ...]]:
        """As of every joined evaluator, with a reason where there is no majority."""
        scores, reasons = super().joined(found)
        none = coded("no-majority", "no score was given by more than half of the panel's judges")
        return scores, tuple(
            why or (None if np.isfinite(score) else none) for score, why in zip(scores, reasons, strict=True)
        )

    @property
    def asked(self) -> str:
        """What each judge is asked."""
        return "\n\n".join(f"[{each.spec.name}]\n{each.asked}" for each in self._parts)

    @property
    def fingerprint(self) -> Fingerprint:
        """The judges' fingerprints, and how they are joined."""
        own = [part.fingerprint for part in self._parts]
        return Fingerprint(
            name=self.spec.name,
            weights="; ".join(each.weights for each in own),
            preprocessing="; ".join(dict.fromkeys(each.preprocessing for each in own)),
            precision="that of the endpoints",
            settings={"way": self.way, "parts": {each.name: each.key for each in own}},
        )

    def crop(self, width: int, height: int) -> Box:
        """The whole picture."""
        return self._parts[0].crop(width, height)

    def see(self, image: np.ndarray, caption: str, *, object_mask: Mask | None = None) -> Sight:
        """Show the picture as it is sent, what is asked, and what each judge says."""
        seen = self._parts[0].see(image, caption, object_mask=object_mask)
        said = [(each.spec.name, float(told(each, [image], [caption])[0][0])) for each in self._parts]
        notes = [f"{name} gives no score." for name, score in said if np.isnan(score)]
        return replace(
            seen,
            prompt="\n\n".join(each.see(image, caption).prompt for each in self._parts),
            evidence=tuple(sorted((each for each in said if np.isfinite(each[1])), key=lambda each: -each[1])),
            notes=(f"The {self.way} of {len(said)} judges, as shares of their scales.", *notes),
        )


@family("panel", form=_FORM, whole=True)
def panel_of(argument: str) -> type[Evaluator]:
    """Make the panel of several judges.
    Raises InvalidInput for another form, a judge twice or alone, one that is shown references, or a majority of several
    scales."""
    way, equals, named = argument.partition("=")
    if way not in WAYS or not equals or not named.startswith("judge:"):
        raise InvalidInput(f"give a panel as {_FORM}; got {'panel:' + argument!r}")
    kinds = [judge_of(each) for each in named.removeprefix("judge:").split(_BETWEEN)]
    names = [kind.spec.name for kind in kinds]
    if len(set(names)) < 2 or len(set(names)) < len(names):
        raise InvalidInput(f"a panel has at least two judges, each once; got {', '.join(names)}")
    if shown := [kind.spec.name for kind in kinds if kind.spec.takes_references]:
        raise InvalidInput(f"{shown[0]} is shown references, and a panel is asked about pairs alone; leave it out")
    if way == "majority" and len({kind.spec.score_range for kind in kinds}) > 1:
        raise InvalidInput(f"a majority is of one scale, and {' and '.join(names)} have several; take mean or median")
    return _made(way, tuple(kinds))


@lru_cache(maxsize=64)
def _made(way: str, kinds: tuple[type[OnDemand], ...]) -> type[Evaluator]:
    names = [kind.spec.name for kind in kinds]
    read = [set(kind.spec.languages) for kind in kinds if kind.spec.languages]
    languages = tuple(sorted(set.intersection(*read))) if read else ()
    if read and not languages:
        raise InvalidInput(f"{' and '.join(names)} read no language in common; take others")
    spec = EvaluatorSpec(
        name=f"panel:{way}={'+'.join(names)}",
        title=f"{way.capitalize()} of {len(kinds)} judges",
        summary=f"The {way} of {', '.join(names)}, each score a share of its scale.",
        family="judge",
        score_range=(0.0, 1.0),
        memory_mb=1,
        offline=False,
        source="Verga et al., Replacing Judges with Juries, 2024 (PoLL)",
        licence="those of the endpoints",
        languages=languages,
    )
    return type("PanelOnDemand", (Panel,), {"spec": spec, "kinds": kinds, "way": way, "__doc__": Panel.__doc__})
