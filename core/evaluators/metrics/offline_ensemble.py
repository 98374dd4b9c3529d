"""The offline ensemble: two ConSE and the grounding judge, each over its own spread, with equal weights."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

import numpy as np

from core.corpora.schema import Mask
from core.errors import InvalidInput
from core.evaluators.base import Evaluator, Fingerprint, Joined, Sight, evaluator, told
from core.evaluators.metrics.conse import OFFLINE, ConseLite2, ConseMultilingual
from core.evaluators.metrics.grounding_judge import GroundingJudge
from core.settings import assets_dir

PARTS: tuple[type[Evaluator], ...] = (ConseLite2, ConseMultilingual, GroundingJudge)


def constants_path() -> Path:
    """File of the parts' spreads; ``tools/offline_ensemble.py`` makes it."""
    return assets_dir() / "ensembles" / "offline-ensemble.toml"


def read_spreads(path: Path | None = None) -> dict[str, float]:
    """Read the standard deviation of each part's scores.
    Raises InvalidInput if the file is missing, is no TOML, or lacks a part or a positive number."""
    path = constants_path() if path is None else path
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))["spreads"]
        found = {part.spec.name: float(table[part.spec.name]) for part in PARTS}
        if not all(0 < spread < float("inf") for spread in found.values()):
            raise ValueError(f"a spread must be a positive number, got {found}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInput(
            f"the offline ensemble's spreads in {path} cannot be used ({error!r}); make them again with: "
            "python tools/offline_ensemble.py --write"
        ) from error
    return found


@evaluator(
    name="offline-ensemble",
    title="Offline ensemble",
    summary="Standardised scores of conse-lite2, conse-multilingual and grounding-judge, with equal weights.",
    memory_mb=480,
    **OFFLINE,
    source="Equal weights of standardised scores: Dawes, The Robust Beauty of Improper Linear Models, 1979",
    languages=("en",),
)
class OfflineEnsemble(Joined):
    """Mean of three standardised scores, on a scale from 0 to 1.

    With s_i a part's score, σ_i its frozen spread and h_i the highest score that it can give::

        S = Σ (s_i / σ_i) / Σ (h_i / σ_i)

    That is the mean of the standard scores (s_i − μ_i) / σ_i, moved and stretched so that three zeros are 0 and three
    highest scores 1: the means μ_i move every pair alike and so have no part in it, and a percent change has a zero.
    Source: Dawes 1979 for the equal weights; σ_i in ``assets/ensembles/offline-ensemble.toml``."""

    kinds = PARTS

    def __init__(self, parts: Sequence[Evaluator], spreads: Mapping[str, float]) -> None:
        super().__init__(parts)
        self._spreads = dict(spreads)
        stretched = np.array([1 / spreads[part.spec.name] for part in self.parts])
        highest = np.array([part.spec.score_range[1] for part in self.parts], dtype=np.float64)
        self._weights = stretched / (stretched * highest).sum()

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        spreads = read_spreads()
        return cls([part.load(device=device) for part in PARTS], spreads)

    def join(self, scores: np.ndarray) -> np.ndarray:
        """Weigh float64 [3, n]; float64 [n] in [0, 1]."""
        return np.asarray(np.clip((self._weights[:, None] * scores).sum(axis=0), 0.0, 1.0))

    @property
    def fingerprint(self) -> Fingerprint:
        return self.of_parts("float32", spreads=self._spreads)

    def count_tokens(self, caption: str) -> int | None:
        return self.parts[0].count_tokens(caption)

    def see(self, image: np.ndarray, caption: str, *, object_mask: Mask | None = None) -> Sight:
        seen = [part.see(image, caption, object_mask=object_mask) for part in self.parts]
        scores = [told(part, [image], [caption])[0][0] for part in self.parts]
        names = [part.spec.name for part in self.parts]
        brought = zip(names, (float(each) for each in self._weights * scores), strict=True)
        lacking = ", ".join(name for name, score in zip(names, scores, strict=True) if np.isnan(score))
        return replace(
            seen[0],
            views=tuple({title: (title, view) for each in seen for title, view in each.views}.values()),
            truncated=next((each.truncated for each in seen if each.truncated), ""),
            evidence=tuple(sorted((each for each in brought if np.isfinite(each[1])), key=lambda each: -each[1])),
            notes=(
                f"No score, since there is none of {lacking}."
                if lacking
                else "What each part brings; their sum is the score.",
            ),
        )
