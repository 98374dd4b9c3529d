"""What the generative evaluators share: a chat model by its weights, and how they explain a pair."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

import numpy as np

from core.corpora.schema import Mask
from core.errors import InvalidInput
from core.evaluators.base import Fingerprint, PartlyScored, Sight
from core.evaluators.generative.chat import Answer, ChatModel
from core.evaluators.offline.sharing import Shared
from core.evaluators.offline.weights import library_versions
from core.evaluators.weights.device import Runner
from core.evaluators.weights.published import Published
from core.settings import assets_dir


class Generative(Published):
    """An evaluator that asks a chat model; a subclass says what and how the answer becomes a score.

    The first set of weights is the model's folder, a second one an adapter.
    """

    any_precision = True

    def __init__(self, model: ChatModel, digest: str) -> None:
        self._model = model
        self._digest = digest
        self._precision = str(model.runner.network.dtype).removeprefix("torch.")
        self._prepare()

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        """Load the model, or share the one that another evaluator holds.

        Raises:
            NotAvailable: if a file is missing or damaged, or an adapter is of another model.
            InvalidInput: if the model cannot be asked in this way.
        """
        base, *adapters = cls.places()
        base.files()
        digest = "+".join(place.digest() for place in (base, *adapters))
        adapter = adapters[0].path if adapters else None
        return cls(_SHARED.get(base.path, digest, device, cls.entry.precision.on(device), adapter), digest)

    def _prepare(self) -> None:
        """Check that the model can be asked in this way; called once."""

    def question(self, caption: str) -> str:
        """What the model is asked about a caption: the setting ``question`` with the caption in its place."""
        return str(self.entry.settings["question"]).replace("{caption}", caption)

    def prompt(self, caption: str) -> str:
        """The whole text that enters the model; marks of the model's own inside a caption are broken."""
        question = self.question(self._model.plain(caption))
        return self._model.prompt(question, opening=str(self.entry.settings.get("opening", "")))

    def runners(self) -> Sequence[Runner]:
        """The chat model."""
        return (self._model.runner,)

    @property
    def fingerprint(self) -> Fingerprint:
        """What the scores depend on."""
        return Fingerprint(
            name=self.spec.name,
            weights=self._digest,
            preprocessing="the model's own processor, by Pillow",
            precision=self._precision,
            versions=library_versions("torch", "transformers", "tokenizers", "pillow"),
            settings={**self.entry.settings, **self.facts()},
        )

    def facts(self) -> Mapping[str, str]:
        """What else the scores depend on, such as the hash of a rubric."""
        return {}

    def read(self, answers: Sequence[Answer], score: Callable[[Answer], float]) -> np.ndarray:
        """Scores of n answers; float64 [n].

        Args:
            score: of one answer; raises InvalidInput where it holds none.

        Raises:
            PartlyScored: where an answer holds no score, with the reason.
        """
        scores, errors = np.full(len(answers), np.nan), list[str | None]()
        for place, answer in enumerate(answers):
            try:
                scores[place] = score(answer)
                errors.append(None)
            except InvalidInput as error:
                errors.append(str(error))
        if any(errors):
            raise PartlyScored(scores, errors)
        return scores

    def count_tokens(self, caption: str) -> int:
        """Tokens of the whole prompt, those of the picture left out."""
        return len(self._model.processor.tokenizer.encode(self.prompt(caption), add_special_tokens=False))

    def see(self, image: np.ndarray, caption: str, *, object_mask: Mask | None = None) -> Sight:
        """Show the picture as it is read and the prompt."""
        return Sight(
            views=(("as the model reads it", self.view(image)),),
            crop=None,
            prompt=self.prompt(caption),
            tokens=self.count_tokens(caption),
            object_inside=self.object_inside(object_mask),
            evidence=tuple(self.evidence(image, caption).items()),
            notes=(f"{self.entry.backbone} sees the whole picture and is asked for a short answer.",),
        )

    def view(self, image: np.ndarray) -> np.ndarray:
        """The picture that the processor is given."""
        return image

    def evidence(self, image: np.ndarray, caption: str) -> Mapping[str, float]:
        """What the score is made of, for a reader."""
        return {}


def read_rubric(name: str) -> str:
    """Return a rubric of ``assets/rubrics``.

    Raises:
        InvalidInput: if the file cannot be read.
    """
    path = assets_dir() / "rubrics" / name
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"the rubric {path} cannot be read ({error}); restore the file") from error


def _load(folder: Path, _digest: str, device: str, precision: str, adapter: Path | None) -> ChatModel:
    return ChatModel.open(folder, device=device, precision=precision, adapter=adapter)


_SHARED = Shared(_load)
