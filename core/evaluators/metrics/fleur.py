"""FLEUR: LLaVA writes a score from 0.0 to 1.0, smoothed by how probable the other digits were.
ProtoScore: a rating from 1 to 4 by the prompt of the paper's GPT judges, with its adapter or without."""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from core.errors import InvalidInput
from core.evaluators.base import check_lengths
from core.evaluators.generative import Answer, Generative
from core.evaluators.network.rubrics import is_bound
from core.evaluators.references import Referenced, among_referenced, check_references
from core.evaluators.towers.preprocessing import padded_square
from core.evaluators.weights.catalogue import described
from core.probes.rejections import coded

MOST_TOKENS = 8  # of an answer: a score is four characters; what has not ended by then is cut and no score


def smoothed(answer: Answer, digits: Sequence[int]) -> float:
    """Return FLEUR's score of one answer.
    For 0.d… it is Σ 0.1 · d · p₁(d), plus Σ 0.01 · d · p₂(d) where the model wrote a second decimal; for 1 or 1.0 it is
    p(1) + 0.9 · p(0) at the whole digit.
    Raises InvalidInput if the answer was cut, or is no score from 0.0 to 1.0; the reason is closed by its code.
    Source: Lee et al., *FLEUR*, ACL 2024, section 3.2; https://github.com/Yebin46/FLEUR (fleur.py). Where it departs
    from that code stands in docs/evaluators.md."""
    text = answer.text.strip()
    if not answer.ended:
        why = f"the model's answer had not ended after {len(answer.tokens)} tokens: {text[:60]!r}"
        raise InvalidInput(coded("answer-cut", why))
    found = None if is_bound(text) else re.match(r"^\D*([01])(?:\.(\d+))?\D*$", text)
    value = float(f"{found[1]}.{found[2] or 0}") if found else 2.0
    places = [place for place, token in enumerate(answer.tokens) if int(token) in digits]
    if value > 1 or (value < 1 and not (found and found[2])):
        raise InvalidInput(coded("answer-no-score", f"the model's answer is no score from 0.0 to 1.0: {text[:60]!r}"))
    if value == 1 and not places:
        raise InvalidInput(_joined(answer.text))
    if value == 1:
        row = answer.probabilities[places[0]]
        return float(row[digits[1]]) + 0.9 * float(row[digits[0]])
    two_decimals = len(str(value)) > 3
    if len(places) < 2 + two_decimals:
        raise InvalidInput(_joined(text))
    # Σ d · p(d) with p over the whole vocabulary: what no digit gets is lost, as in the authors' code
    rows = [answer.probabilities[place] for place in places[1 : 2 + two_decimals]]
    expected = [float(sum(digit * float(row[token]) for digit, token in enumerate(digits))) for row in rows]
    return 0.1 * expected[0] + (0.01 * expected[1] if two_decimals else 0.0)


def _joined(text: str) -> str:
    return coded("answer-one-token", f"the model wrote several digits as one token: {text[:60]!r}")


class _Fleur(Generative):
    def _prepare(self) -> None:
        self._digits = [self._model.token(str(digit)) for digit in range(10)]
        mean = getattr(self._model.processor.image_processor, "image_mean", (0.5, 0.5, 0.5))
        self._colour = [int(255 * share) for share in mean]

    def facts(self) -> Mapping[str, str]:
        return {"most_tokens": str(MOST_TOKENS)}

    def prompt(self, caption: str) -> str:
        """The conversation as LLaVA-1.5 was trained to see it, its opening sentence included. Runs of white space in
        the caption become one space, as in the authors' code."""
        told = str(self.entry.settings["conversation"])
        return told.replace("{question}", self.question(self._model.plain(" ".join(caption.split()))))

    def view(self, image: np.ndarray) -> np.ndarray:
        return padded_square(image, colour=self._colour)

    def judged(self, images: Sequence[np.ndarray], prompts: Sequence[str]) -> np.ndarray:
        """Scores in [0, 1] of n prompts about n pictures. Raises PartlyScored where an answer is no score."""
        squares = {id(image): self.view(image) for image in images}
        answers = self._model.answers([squares[id(image)] for image in images], prompts, tokens=MOST_TOKENS)
        return self.read(answers, lambda answer: smoothed(answer, self._digits))


@described("fleur")
class Fleur(_Fleur):
    """LLaVA-1.5-13B, asked for a score, without references."""


@described("fleur-7b")
class Fleur7B(Fleur):
    """The same on LLaVA-1.5-7B."""


@described("reffleur")
class RefFleur(_Fleur, Referenced):
    """FLEUR that is shown the references, too.
    Source: Lee et al., *FLEUR*, ACL 2024, section 3.3; https://github.com/Yebin46/FLEUR (reffleur.py)."""

    def score(
        self, images: Sequence[np.ndarray], captions: Sequence[str], references: Sequence[Sequence[str]] | None = None
    ) -> np.ndarray:
        """Score n pairs against n lists of references; float64 [n] in [0, 1].
        Raises PartlyScored where an answer is no score or there is no reference."""
        check_lengths(images, captions)
        told = check_references(self.spec.name, references, len(captions))

        def ask(rows: list[int]) -> np.ndarray:
            prompts = [self._with(self.prompt(captions[row]), told[row]) for row in rows]
            return self.judged([images[row] for row in rows], prompts)

        return among_referenced(self.spec.name, told, ask)

    def _with(self, prompt: str, references: Sequence[str]) -> str:
        told = "\n".join(self._model.plain(each) for each in references)
        return prompt.replace("{references}", told, 1)  # the template's own, which stands before the caption


RATINGS = (1, 2, 3, 4)


class _Rated(Generative):
    """Expected rating over the tokens 1 to 4 right after ``{"score": ``, brought to [0, 1].
    The paper prints a normalised score, and neither the prompt that its metric is asked nor how the score is read off
    the model. Here it is asked as the paper's GPT judges are; this reading needs one forward pass and keeps the model's
    doubt: (Σ r · p(r) / Σ p(r) − 1) / 3. Source: paper E, section 5 and appendix C (Table 6)."""

    def _prepare(self) -> None:
        self._digits = [self._model.token(str(rating)) for rating in RATINGS]

    def question(self, caption: str) -> str:
        return f"{self._rubric}\nText prompt: {caption}"

    def judged(self, images: Sequence[np.ndarray], prompts: Sequence[str]) -> np.ndarray:
        scores: np.ndarray = (self._shares(images, prompts) @ np.array(RATINGS) - 1) / (len(RATINGS) - 1)
        return scores

    def evidence(self, image: np.ndarray, caption: str) -> Mapping[str, float]:
        shares = self._shares([image], [self.prompt(caption)])[0]
        return {f"rating {rating}": float(share) for rating, share in zip(RATINGS, shares, strict=True)}

    def _shares(self, images: Sequence[np.ndarray], prompts: Sequence[str]) -> np.ndarray:
        found = self._model.next_token(images, prompts)[:, self._digits].double().numpy()
        shares: np.ndarray = found / found.sum(axis=1, keepdims=True)
        return shares


@described("protoscore")
class ProtoScore(_Rated):
    """Qwen2.5-VL-7B with the publisher's adapter."""


@described("protoscore-base")
class ProtoScoreBase(_Rated):
    """The same prompt on Qwen2.5-VL-7B as it is: what the adapter starts from, and no ProtoScore."""
