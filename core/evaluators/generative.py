"""Vision-language models that answer in words: asked in batches, each picture encoded once for all its captions."""

import hashlib
import warnings
from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from core.corpora.images import pixel_hash
from core.corpora.schema import Mask
from core.errors import InvalidInput, NotAvailable
from core.evaluators.base import Fingerprint, Sight, all_scored, check_lengths
from core.evaluators.memory import Runner, Shared
from core.evaluators.other_packages import library_versions
from core.evaluators.towers.preprocessing import as_letters, special_marks
from core.evaluators.weights.fetched import Published
from core.settings import assets_dir

if TYPE_CHECKING:
    from torch import Tensor

REMEMBERED = 8  # pictures whose encoding is kept: the captions of one picture come one after the other
_BATCH = {"cpu": 2, "cuda": 8}


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What a model said."""

    tokens: np.ndarray  # int64 [t], end marks left out
    probabilities: np.ndarray  # float32 [t, vocabulary], of each token before it was chosen
    pieces: tuple[str, ...]  # text of each token
    ended: bool = True  # whether the model closed it; False where it was cut at the most tokens

    @property
    def text(self) -> str:
        """The whole answer."""
        return "".join(self.pieces)


class ChatModel:
    """One model with its processor, on a device.
    ``network``: a transformers model that generates text from pictures and text.
    ``batch``: most pairs in one call; None: what suits the device."""

    def __init__(self, name: str, network: Any, processor: Any, device: str, *, batch: int | None = None) -> None:
        processor.tokenizer.padding_side = "left"  # so that the last position is each prompt's own
        self.processor = processor
        self.runner = Runner(name, network, device, batch=batch or _BATCH.get(device.partition(":")[0], 2))
        self._encoded: OrderedDict[str, Any] = OrderedDict()

    @classmethod
    def open(cls, folder: Path, *, device: str, precision: str, adapter: Path | None = None) -> "ChatModel":
        """Load a folder in transformers' format, weights from safetensors only. Pictures are resized by Pillow, as the
        authors of these evaluators did it; transformers would otherwise take torchvision's kernel, whose pixels differ
        by up to 2 of 255. ``adapter``: folder of a PEFT adapter, merged into the weights. Raises NotAvailable if the
        folder is incomplete, damaged, of an unknown architecture, or the adapter is of another model."""
        import torch
        from transformers import AutoImageProcessor, AutoModelForImageTextToText, AutoProcessor

        try:
            processor: Any = AutoProcessor.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
            processor.image_processor = AutoImageProcessor.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False, backend="pil"
            )
            network: Any = AutoModelForImageTextToText.from_pretrained(
                folder,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                dtype=getattr(torch, precision),
            )
        except Exception as error:  # a damaged folder fails in as many ways as it has files
            raise NotAvailable(f"{folder} holds no model that loads ({_line(error)}); fetch it again") from error
        if adapter is not None:
            network = merged(network, adapter)
        return cls(folder.name, network.to(device).eval(), processor, device)

    def token(self, text: str) -> int:
        """The one token that a text is. Llama's tokenizer opens every text with a mark for the start of a word, which
        is its own token before a digit; it is left out.
        Raises InvalidInput if it takes several; the model cannot score with it then."""
        tokenizer = self.processor.tokenizer
        ids = tokenizer.encode(text, add_special_tokens=False)
        while len(ids) > 1 and not tokenizer.decode(ids[:1]).strip():
            ids = ids[1:]
        if len(ids) != 1:
            raise InvalidInput(f"{self.runner.name} writes {text!r} as {len(ids)} tokens; its probability is not one")
        return int(ids[0])

    def plain(self, text: str) -> str:
        """Text in which the model's own marks, such as ``<image>``, are broken by a space: a caption is only read."""
        return as_letters(text, special_marks(self.processor.tokenizer))

    def prompt(self, question: str, *, opening: str = "") -> str:
        """Question about one picture in the model's own chat format, with the first words of the answer."""
        said = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": question}]}]
        return str(self.processor.apply_chat_template(said, add_generation_prompt=True, tokenize=False)) + opening

    def next_token(self, images: Sequence[np.ndarray], prompts: Sequence[str]) -> "Tensor":
        """Probabilities of the next token of each prompt, one forward pass a batch; float32 [n, vocabulary]."""

        def call(part: Sequence[tuple[np.ndarray, str]], device: str) -> "Tensor":
            logits: Tensor = self.runner.network(**self._inputs(part, device), logits_to_keep=1).logits
            return logits[:, -1].float().softmax(dim=-1)

        return self.runner.each(list(zip(images, prompts, strict=True)), call)

    def answers(
        self, images: Sequence[np.ndarray], prompts: Sequence[str], *, tokens: int, probabilities: bool = True
    ) -> list[Answer]:
        """What the model says, the most probable token at each place, batched. ``tokens``: most tokens of an answer.
        ``probabilities``: keep those of the whole vocabulary at each place (0.6 MB a token); otherwise none."""
        import torch

        vocabulary = self.runner.network.config.get_text_config().vocab_size if probabilities else 0

        def call(part: Sequence[tuple[np.ndarray, str]], device: str) -> "Tensor":
            inputs = self._inputs(part, device)
            made = self.runner.network.generate(
                **inputs,
                max_new_tokens=tokens,
                do_sample=False,
                num_beams=1,
                temperature=None,
                top_p=None,
                top_k=None,
                output_logits=probabilities,
                return_dict_in_generate=True,
            )
            chosen = made.sequences[:, inputs["input_ids"].shape[1] :]
            rows = torch.zeros(len(part), tokens, vocabulary + 1)
            rows[:, : chosen.shape[1], -1] = chosen.float().cpu() + 1  # 0: the answer had ended for all
            for place, logits in enumerate(made.logits or ()):
                rows[:, place, :-1] = logits.float().softmax(dim=-1)[:, :vocabulary].cpu()
            return rows

        tokenizer = self.processor.tokenizer
        own = self.runner.network.generation_config.eos_token_id
        ends = {tokenizer.eos_token_id, tokenizer.pad_token_id, *(own if isinstance(own, list) else [own])}
        found = []
        for row in self.runner.each(list(zip(images, prompts, strict=True)), call).numpy():
            ids = row[:, -1].astype(np.int64) - 1
            stop = next((place for place, each in enumerate(ids) if each < 0 or each in ends), len(ids))
            pieces = ["", *(tokenizer.decode(ids[: place + 1]) for place in range(stop))]
            texts = tuple(after[len(before) :] for before, after in pairwise(pieces))
            found.append(Answer(ids[:stop], row[:stop, :-1], texts, ended=stop < len(ids)))
        return found

    def _inputs(self, part: Sequence[tuple[np.ndarray, str]], device: str) -> dict[str, Any]:
        """Inputs of the network, the pictures replaced by what its image tower makes of them."""
        from PIL import Image

        pictures = [Image.fromarray(image) for image, _ in part]
        read = self.processor(images=pictures, text=[prompt for _, prompt in part], padding=True, return_tensors="pt")
        inputs = {name: value.to(device) for name, value in read.items()}
        features = self._features([image for image, _ in part], inputs)
        inputs.pop("pixel_values")
        return {**inputs, "mm_encoder_outputs": {"image": features}}

    def _features(self, images: Sequence[np.ndarray], inputs: Mapping[str, Any]) -> Any:
        """Encodings of all pictures, each distinct one made once."""
        from transformers.modeling_outputs import BaseModelOutputWithPooling

        keys = [pixel_hash(image) for image in images]
        grid = inputs.get("image_grid_thw")
        pixels = inputs["pixel_values"]
        parts = pixels.split(grid.prod(dim=-1).tolist()) if grid is not None else pixels.unbind()
        known = {key: self._encoded[key] for key in keys if key in self._encoded}
        network = self.runner.network
        for place, key in enumerate(keys):
            if key not in known:
                precise = parts[place].to(network.dtype)
                given = [precise[None]] if grid is None else [precise, grid[place : place + 1]]
                known[key] = network.get_image_features(*given, return_dict=True).pooler_output[0]
        for key in dict.fromkeys(keys):
            self._encoded[key] = known[key]
            self._encoded.move_to_end(key)
        while len(self._encoded) > REMEMBERED:
            self._encoded.popitem(last=False)
        device = pixels.device
        return BaseModelOutputWithPooling(pooler_output=tuple(known[key].to(device) for key in keys))  # type: ignore[arg-type]


def merged(network: Any, adapter: Path) -> Any:
    """Merge a PEFT adapter into a network. Raises NotAvailable if it is damaged or was made for another model."""
    from peft import PeftModel
    from safetensors import safe_open

    path = adapter / "adapter_model.safetensors"
    if not path.is_file() or not (adapter / "adapter_config.json").is_file():
        raise NotAvailable(f"{adapter} is no adapter: adapter_config.json or {path.name} is missing; fetch it again")
    try:
        with safe_open(path, "pt") as tensors:
            wanted = set(tensors.keys())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of peft about transformers: not the reader's to mend
            tuned: Any = PeftModel.from_pretrained(network, str(adapter), local_files_only=True)
    except Exception as error:  # shapes, names and files fail differently, and all mean the same
        raise NotAvailable(f"the adapter {adapter} does not fit this model ({_line(error)}); take its own") from error
    taken = {name.replace(".default.", ".") for name, _ in tuned.named_parameters() if "lora_" in name}
    if not wanted or wanted - taken:
        lost = sorted(wanted - taken)[:1] or ["nothing at all"]
        raise NotAvailable(f"the adapter {adapter} is of another model: it tunes {lost[0]}, which this one lacks")
    return tuned.merge_and_unload()


def _line(error: Exception) -> str:
    return " ".join((str(error) or type(error).__name__).split())[:160]


class Generative(Published):
    """An evaluator that asks a chat model; a subclass says what and how the answer becomes a score. The first set of
    weights is the model's folder, a second one an adapter."""

    any_precision = True

    def __init__(self, model: ChatModel, digest: str) -> None:
        self._model, self._digest = model, digest
        self._precision = str(model.runner.network.dtype).removeprefix("torch.")
        self._rubric = read_rubric(str(self.entry.settings["rubric"])) if "rubric" in self.entry.settings else ""
        self._prepare()

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        """Load the model, or share it. Raises NotAvailable if a file or an adapter is missing, damaged or of another
        model; InvalidInput if the model cannot be asked in this way."""
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
        return (self._model.runner,)

    @property
    def fingerprint(self) -> Fingerprint:
        preprocessing, settings = "the model's own processor, by Pillow", {**self.entry.settings, **self.facts()}
        versions = library_versions("torch", "transformers", "tokenizers", "pillow")
        return Fingerprint(self.spec.name, self._digest, preprocessing, self._precision, versions, settings)

    @property
    def asked(self) -> str:
        return self.prompt("{caption}")

    def facts(self) -> Mapping[str, str]:
        """What else the scores depend on, such as the hash of a rubric."""
        return {"rubric_sha256": hashlib.sha256(self._rubric.encode()).hexdigest()[:16]} if self._rubric else {}

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        check_lengths(images, captions)
        return self.judged(images, [self.prompt(caption) for caption in captions]) if images else np.empty(0)

    @abstractmethod
    def judged(self, images: Sequence[np.ndarray], prompts: Sequence[str]) -> np.ndarray:
        """Scores of n prompts about n pictures, n at least 1; float64 [n]; raises as :meth:`score`."""

    def read(self, answers: Sequence[Answer], score: Callable[[Answer], float]) -> np.ndarray:
        """Scores of n answers; float64 [n]. ``score``: of one answer; raises InvalidInput where it holds none.
        Raises PartlyScored where an answer holds no score, with the reason."""
        scores, errors = np.full(len(answers), np.nan), list[str | None]()
        for place, answer in enumerate(answers):
            try:
                scores[place] = score(answer)
                errors.append(None)
            except InvalidInput as error:
                errors.append(str(error))
        return all_scored(scores, errors)

    def count_tokens(self, caption: str) -> int:
        """Tokens of the whole prompt, those of the picture left out."""
        return len(self._model.processor.tokenizer.encode(self.prompt(caption), add_special_tokens=False))

    def see(self, image: np.ndarray, caption: str, *, object_mask: Mask | None = None) -> Sight:
        return replace(
            super().see(image, caption, object_mask=object_mask),
            views=(("as the model reads it", self.view(image)),),
            crop=None,
            prompt=self.prompt(caption),
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
    """Return a rubric of ``assets/rubrics``. Raises InvalidInput if the file cannot be read."""
    path = assets_dir() / "rubrics" / name
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"the rubric {path} cannot be read ({error}); restore the file") from error


_SHARED: Shared[ChatModel] = Shared(
    lambda folder, _digest, device, precision, adapter: ChatModel.open(
        folder, device=device, precision=precision, adapter=adapter
    )
)
