"""An evaluator as the reward of self-critical training, with a guard; how far a captioner that is trained on it drifts.

A captioner that maximises a score finds what the score does not mind: endings about nothing, words said again. Paper C
(4.1, 5.8, table 9) shows both of CLIPScore. The guard gives such a caption the least that there is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from core.charts.spec import PALETTE, Axis, Figure, Style, marks_of, untitled
from core.corpora.images import check_rgb, pixel_hash
from core.errors import InvalidInput, InvariscopeError
from core.evaluators.cache import EmbeddingCache
from core.evaluators.pool import best_device, check_device
from core.evaluators.registry import find
from core.evaluators.scoring import score_pairs_with_errors
from core.probes.words.health import MOST_REPEATED, is_hollow, repeated
from core.scoring.reference_metrics import CIDER, compare
from core.statistics.ratios import mean_bca
from core.statistics.shares import share

if TYPE_CHECKING:
    from core.evaluators.base import Evaluator


class Reward:
    """r(v, t̂) = Score(v, t̂), one number a caption: ``Reward("pac-s++")(images, captions)``.

    Pictures and captions are encoded in batches on the device, each once as long as the cache holds it: the captions
    that are sampled for one picture cost it no second look, in this call or a later one. Raises NotAvailable without
    the weights or the device; InvalidInput if the evaluator needs references, a lower score is better, or nothing says
    the least.

    Args:
        evaluator: as commands name it, e.g. ``pac-s++`` or ``pac-s++@mine/pac-s++.pth``; higher is better, and
            without references.
        device: ``cpu``, ``cuda``, …; None: the best there is.
        guard: whether a caption that ends wrongly or in words about nothing, or says MOST_REPEATED words in a row
            twice, gets ``least``. Its lists of words are English.
        least: None: the lowest score that the evaluator gives, where it says so.

    Source: paper C, equation 18; the guard is not in the paper.
    """

    def __init__(
        self, evaluator: str = "pac-s++", *, device: str | None = None, guard: bool = True, least: float | None = None
    ) -> None:
        kind = find(evaluator)
        spec = kind.spec
        if spec.takes_references or not spec.higher_is_better:
            raise InvalidInput(
                f"{evaluator!r} is no reward: it must need no references and be better the higher; choose another, "
                "e.g. pac-s++"
            )
        lowest = spec.score_range[0] if least is None else least
        if lowest is None:
            raise InvalidInput(f"{evaluator!r} states no lowest score; say what a refused caption gets, e.g. least=0.0")
        kind.check_available()
        self.evaluator: Evaluator = kind.load(device=check_device(device or best_device()))
        self.least, self.guard = float(lowest), guard
        self._cache = EmbeddingCache()

    def __call__(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        """Reward n captions, float32 [n], every one a finite number; a blank caption gets the least.

        ``images``: n arrays, uint8 RGB [H, W, 3] of any sizes; the same array for every caption of a picture. Raises
        InvalidInput if the lengths differ, or an image is none, and InvariscopeError, with the reason, if a caption
        with words has no score.
        """
        if len(images) != len(captions):
            raise InvalidInput(f"a reward needs as many images as captions, got {len(images)} and {len(captions)}")
        rewards = np.full(len(captions), self.least, dtype=np.float32)
        paid = [row for row, text in enumerate(captions) if text.strip() and not (self.guard and self.refuses(text))]
        keys = dict[int, str]()  # by the array's identity: hashing its bytes once a picture is enough
        for row in paid:
            if id(images[row]) not in keys:
                check_rgb(images[row])
                keys[id(images[row])] = pixel_hash(images[row])
        pixels = {keys[id(images[row])]: images[row] for row in paid}
        pairs = [(keys[id(images[row])], captions[row]) for row in paid]
        found = score_pairs_with_errors(self.evaluator, pixels, pairs, cache=self._cache)
        if reason := next((each for each in found.errors if each), None):
            raise InvariscopeError(f"a caption has no reward: {reason}")
        rewards[paid] = found.scores
        return rewards

    @staticmethod
    def refuses(caption: str) -> bool:
        """Whether the guard gives a caption the least.

        Example:
            >>> Reward.refuses("A dog on a."), Reward.refuses("A dog on the grass.")
            (True, False)
        """
        return is_hollow(caption) or repeated(caption, MOST_REPEATED) > 0


WORDS, HOLLOW = "words a caption", "hollow endings, %"
DRIFT = ("arm", "step", "measure", "value", "low", "high", "n", "note")


def drift(said: Mapping[str, Mapping[int, Sequence[str]]], references: Sequence[Sequence[str]]) -> pd.DataFrame:
    """What becomes of a captioner's captions of the same n pictures while it is trained.

    ``said``: by arm of an experiment (e.g. with the guard and without) and step: one caption a picture, else
    InvalidInput is raised; ``references``: captions by people of each picture. Returns DRIFT, a row an arm, step and
    measure: CIDEr-D, words, Rep-1 to Rep-4 as means with 95 % BCa intervals over pictures, the share of hollow endings
    with Wilson's.
    """
    rows = list[tuple[object, ...]]()
    for arm, steps in said.items():
        for step, captions in steps.items():
            held = compare(captions, references)
            means = {
                CIDER: held.per_caption[CIDER],
                WORDS: np.array([len(text.split()) for text in captions], dtype=np.float64),
                **{f"Rep-{n}": np.array([repeated(x, n=n) for x in captions]) for n in range(1, MOST_REPEATED + 1)},
            }
            found = {name: mean_bca(values) for name, values in means.items()}
            hollow = share([is_hollow(text) for text in captions])
            rows += [(arm, step, name, *f.numbers(), f.n, f.note) for name, f in found.items()]
            shares = (100 * each for each in hollow.numbers())
            rows.append((arm, step, HOLLOW, *shares, hollow.n, hollow.note))
    return pd.DataFrame(rows, columns=list(DRIFT))


def drift_figure(table: pd.DataFrame) -> Figure:
    """The drift, a panel a measure and a line an arm."""
    arms = dict(zip(dict.fromkeys(table["arm"]), PALETTE, strict=False))
    told = zip(table["arm"], table["step"], table["value"], table["n"], strict=True)
    hover = [f"{arm}\nstep {step}: {value:.3g}\n{n} pictures" for arm, step, value, n in told]
    frame = marks_of(table, table["step"].astype(float), table["arm"], table["measure"], n="n", hover=hover)
    looks = {arm: Style(colour, size=4) for arm, colour in arms.items()}
    lines = untitled(frame, "", kind="lines", free=True, along=Axis("step"), bounds="band", height=180, styles=looks)
    return replace(lines, id="drift", title="Drift")
