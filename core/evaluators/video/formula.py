"""EMScore: how well a caption fits the frames of a video, as a whole and token by token.

With v_1 … v_J the unit embeddings of the frames, t_1 … t_L those of the caption's tokens (both markers among them, the
closing one last) and w_l the weights of the tokens::

    coarse = unit(mean_j v_j) · t_L
    P = Σ_l w_l max_j v_j · t_l / Σ_l w_l          R = mean_j max_l v_j · t_l
    F = 2 P R / (P + R),     score = (coarse + F) / 2

Against a reference caption, its tokens r_1 … r_M with weights u_m take the place of the frames::

    coarse = r_M · t_L,     P = Σ_l w_l max_m r_m · t_l / Σ_l w_l,     R = Σ_m u_m max_l r_m · t_l / Σ_m u_m

and of several references the largest coarse part and the largest F count, each for itself. Nothing is clipped at 0 and
nothing is scaled. The order of the frames has no part in it: any order of the same frames has the same score.

Each pair is worked out by itself in float64 over its own frames and tokens, so that there is no padding to be masked
and no other pair to depend on.

Source: Sarto et al., PAC-S++ (2025), equations 6 to 14, after Shi et al., EMScore (2022).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.errors import InvalidInput

NO_FRAME = "the video has no frame"
NO_WEIGHT = "every token of the caption has the weight 0, so that its precision has no denominator"
NO_MEAN = "precision and recall sum to {sum:.4f}, which is not above 0: they have no harmonic mean"
NO_WHOLE = "the frames cancel each other out: their mean has no direction"
NO_REFERENCE = "no reference caption can be compared with: {reason}"


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """A caption as its text tower reads it.

    Args:
        words: what each token stands for, for a reader.
        vectors: float [L, d], unit length, the closing marker last.
        weights: float64 [L], each at least 0.
    """

    words: tuple[str, ...]
    vectors: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True, slots=True)
class Match:
    """What a caption gets of a video, or of a reference.

    Args:
        coarse: cosine of both wholes, in [-1, 1].
        precision: P; NaN where there is none.
        recall: R, in [-1, 1]; NaN where there is none.
        fine: F; NaN where there is none.
        error: why there is no F, one sentence without its full stop; empty where there is one.
    """

    coarse: float
    precision: float = math.nan
    recall: float = math.nan
    fine: float = math.nan
    error: str = ""

    @property
    def score(self) -> float:
        """Mean of the coarse part and F; NaN without F."""
        return (self.coarse + self.fine) / 2


def whole(frames: np.ndarray) -> np.ndarray:
    """Embedding of the whole video: the mean of its frames, brought to unit length; NaN where that mean is 0.

    Args:
        frames: [J, d], unit length.

    Returns:
        float64 [d].

    Raises:
        InvalidInput: if there is no frame.
    """
    if len(frames) == 0:
        raise InvalidInput(f"{NO_FRAME}; give at least one")
    # fsum is exact, so that no order of the frames moves the last digit
    mean = np.array([math.fsum(each) for each in np.asarray(frames, dtype=np.float64).T]) / len(frames)
    length = float(np.linalg.norm(mean))
    unit: np.ndarray = mean / length if length > 0 else np.full_like(mean, np.nan)
    return unit


def cosines(tokens: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Cosine of every token with every frame, or token of a reference.

    Args:
        tokens: [L, d], unit length.
        others: [J, d], unit length.

    Returns:
        float64 [L, J].
    """
    # einsum adds in one order whatever the shapes; a matrix product may round differently with their size
    found: np.ndarray = np.einsum("ld,jd->lj", np.asarray(tokens, np.float64), np.asarray(others, np.float64))
    return found


def video_match(frames: np.ndarray, caption: Tokens) -> Match:
    """What a caption gets of a video.

    Args:
        frames: [J, d], unit length, J at least 1.
        caption: at least one token.

    Raises:
        InvalidInput: if there is no frame.
    """
    coarse = float(whole(frames) @ np.asarray(caption.vectors[-1], np.float64))
    return _matched(coarse, cosines(caption.vectors, frames), caption.weights, np.ones(len(frames)))


def reference_match(references: Sequence[Tokens], caption: Tokens) -> Match:
    """What a caption gets of the references: the largest coarse part and the largest F, each for itself.

    Precision and recall are those of the reference with the largest F. References whose F is not defined count in
    neither.
    """
    found = [_against(each, caption) for each in references]
    usable = [each for each in found if not each.error]
    if not usable:
        reason = found[0].error if found else "there is none"
        return Match(math.nan, error=NO_REFERENCE.format(reason=reason))
    best = max(usable, key=lambda each: each.fine)
    return Match(max(each.coarse for each in usable), best.precision, best.recall, best.fine)


def _against(reference: Tokens, caption: Tokens) -> Match:
    coarse = float(np.asarray(reference.vectors[-1], np.float64) @ np.asarray(caption.vectors[-1], np.float64))
    return _matched(coarse, cosines(caption.vectors, reference.vectors), caption.weights, reference.weights)


def _matched(coarse: float, similar: np.ndarray, weights: np.ndarray, other_weights: np.ndarray) -> Match:
    total, other_total = math.fsum(weights), math.fsum(other_weights)
    if math.isnan(coarse):
        return Match(coarse, error=NO_WHOLE)
    if not (total > 0 and other_total > 0):
        return Match(coarse, error=NO_WEIGHT)
    precision = math.fsum(weights * similar.max(axis=1)) / total
    recall = math.fsum(other_weights * similar.max(axis=0)) / other_total
    if not precision + recall > 0:
        return Match(coarse, precision, recall, error=NO_MEAN.format(sum=precision + recall))
    return Match(coarse, precision, recall, 2 * precision * recall / (precision + recall))
