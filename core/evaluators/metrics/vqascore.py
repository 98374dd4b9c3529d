"""VQAScore: how probable *Yes* is when a model is asked whether the picture shows the caption. Its models are chat
models, and CLIP-FlanT5 in its publisher's format: T5 that reads the patches of CLIP's image tower."""

import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from core.corpora.images import pixel_hash
from core.corpora.schema import Mask
from core.errors import NotAvailable
from core.evaluators.base import Fingerprint, Sight, check_lengths
from core.evaluators.generative import Generative
from core.evaluators.memory import Runner
from core.evaluators.other_packages import library_versions
from core.evaluators.towers.preprocessing import padded_square
from core.evaluators.weights.catalogue import described
from core.evaluators.weights.checkpoints import State, read_state
from core.evaluators.weights.fetched import Published, numbered_parts

if TYPE_CHECKING:
    from torch import Tensor

MOST_TOKENS = 2048
REMEMBERED = 8  # pictures whose patches are kept: the captions of one picture come one after the other
IMAGE = "<image>"
_OTHER = ("vision_tower.", "embed_tokens.")  # the tower comes from its own publisher; the other is shared.weight again


class ClipT5:
    """The network with its tokenizer and its picture processor, on a device."""

    def __init__(
        self, text: Any, projector: Any, tower: Any, *, words: Any, pictures: Any, layer: int, device: str
    ) -> None:
        import torch

        network = torch.nn.ModuleDict({"text": text, "projector": projector, "tower": tower}).to(device).eval()
        self.words, self.pictures, self.layer = words, pictures, layer
        self.runner = Runner("clip-t5", network, device, batch=4 if device.startswith("cpu") else 32)
        self.colour = [int(255 * share) for share in pictures.image_mean]
        self._patches: OrderedDict[str, Tensor] = OrderedDict()

    @classmethod
    def open(cls, folder: Path, words: Path, tower: Path, *, device: str, precision: str) -> "ClipT5":
        """Load the publisher's folder, the tokenizer's and the image tower's.
        Raises NotAvailable if one is incomplete, damaged, or of another architecture."""
        import torch
        from transformers import AutoTokenizer, CLIPImageProcessorPil, CLIPVisionModel

        names = ("model.safetensors", "pytorch_model.bin")  # where the weights are one file and not several
        parts = numbered_parts(folder) or tuple(name for name in names if (folder / name).is_file())[:1]
        if not parts:
            raise NotAvailable(f"{folder} holds no weights; fetch them again")
        state = {name: value for part in parts for name, value in read_state(folder / part, finite=False).items()}
        try:
            facts = json.loads((folder / "config.json").read_text(encoding="utf-8"))
            text, projector = _network(facts, state, getattr(torch, precision))
            del state
            vision: Any = CLIPVisionModel.from_pretrained(tower, local_files_only=True)
            tokenizer: Any = AutoTokenizer.from_pretrained(words, local_files_only=True, trust_remote_code=False)
            pictures: Any = CLIPImageProcessorPil.from_pretrained(tower, local_files_only=True)
        except NotAvailable:
            raise
        except Exception as error:  # a damaged folder fails in as many ways as it has files
            raise NotAvailable(f"{folder} holds no CLIP-FlanT5 that loads ({error!s:.160}); fetch it again") from error
        layer, seen = int(facts.get("mm_vision_select_layer", -2)), vision.to(getattr(torch, precision))
        return cls(text, projector, seen, words=tokenizer, pictures=pictures, layer=layer, device=device)

    def tokens(self, prompt: str) -> list[list[int]]:
        """Tokens before and behind the picture; T5 closes each part with its end mark, and so did the training."""
        return [list(self.words(part).input_ids) for part in prompt.split(IMAGE)]

    def likelihood(self, images: Sequence[np.ndarray], prompts: Sequence[str], answer: str) -> np.ndarray:
        """Geometric mean of the probabilities of the answer's tokens, its end mark included; float64 [n]."""
        import torch
        from torch.nn.utils.rnn import pad_sequence

        labels, network = list(self.words(answer).input_ids), self.runner.network

        def call(part: Sequence[tuple[np.ndarray, str]], device: str) -> "Tensor":
            rows, embed = [], network.text.shared
            for image, prompt in part:
                before, behind = self.tokens(prompt)
                behind = behind[: max(0, MOST_TOKENS - 1 - len(before))]  # the picture is one token, as in the authors'
                told = [embed(torch.tensor(ids, device=device, dtype=torch.long)) for ids in (before, behind)]
                rows.append(torch.cat([told[0], self._seen(image, device).to(told[0].dtype), told[1]]))
            present = pad_sequence([torch.ones(len(row), device=device) for row in rows], batch_first=True)
            wanted = torch.tensor([labels] * len(part), device=device)
            embedded = pad_sequence(rows, batch_first=True)
            made = network.text(inputs_embeds=embedded, attention_mask=present, labels=wanted)
            logs = made.logits.float().log_softmax(dim=-1).gather(2, wanted[:, :, None])[:, :, 0]
            likelihoods: Tensor = logs.mean(dim=1).exp()
            return likelihoods

        return self.runner.each(list(zip(images, prompts, strict=True)), call).double().numpy()

    def _seen(self, image: np.ndarray, device: str) -> "Tensor":
        """Projected patches of a picture, each distinct picture encoded once."""
        from PIL import Image

        key = pixel_hash(image)
        if key not in self._patches:
            network = self.runner.network
            square = Image.fromarray(padded_square(image, colour=self.colour))
            pixels = self.pictures(square, return_tensors="pt").pixel_values.to(device, network.tower.dtype)
            hidden = network.tower(pixels, output_hidden_states=True).hidden_states[self.layer][0, 1:]
            self._patches[key] = network.projector(hidden)
        self._patches.move_to_end(key)
        while len(self._patches) > REMEMBERED:
            self._patches.popitem(last=False)
        return self._patches[key].to(device)


def _network(facts: dict[str, Any], state: State, precision: Any) -> tuple[Any, Any]:
    """T5 and the projector, with the checkpoint's tensors; made in that precision, so that there is one copy."""
    import torch
    from torch import nn
    from transformers import T5Config, T5ForConditionalGeneration

    kept = {name: value for name, value in state.items() if not name.startswith(_OTHER)}
    layers = {int(name.split(".")[1]): name for name in kept if name.startswith("mm_projector.") and "weight" in name}
    if not layers or "shared.weight" not in kept:
        raise NotAvailable("the checkpoint is no CLIP-FlanT5: it lacks mm_projector or shared; give the publisher's")
    projector = nn.Sequential()
    for place in range(max(layers) + 1):
        shape = kept[layers[place]].shape if place in layers else None
        projector.append(nn.Linear(shape[1], shape[0]) if shape else nn.GELU())
    own = {key: value for key, value in facts.items() if not key.startswith("mm_") and key != "model_type"}
    with torch.device("meta"):  # no memory, no random numbers
        text = T5ForConditionalGeneration(T5Config(**own))
    text.to(precision).to_empty(device="cpu")
    text.set_input_embeddings(text.shared)
    if "lm_head.weight" not in kept:  # Flan-T5 has one of its own, and transformers would tie it all the same
        text.lm_head.weight = text.shared.weight
    tensors = {name: value for name, value in kept.items() if not name.startswith("mm_projector.")}
    report = text.load_state_dict(tensors, strict=False)
    lost = [name for name in report.missing_keys if not name.endswith("embed_tokens.weight")]
    if lost:
        raise NotAvailable(f"the checkpoint is not a whole CLIP-FlanT5: it lacks {lost[0]!r}; fetch it again")
    given = {name.removeprefix("mm_projector."): value for name, value in kept.items() if name.startswith("mm_proj")}
    projector.load_state_dict(given)
    return text, projector.to(precision)


@described("vqascore-qwen")
class VqaScore(Generative):
    """P("Yes" | picture, question): one forward pass a pair, the picture encoded once for all its captions.
    Source: Lin et al., *Evaluating Text-to-Visual Generation with Image-to-Text Generation*, ECCV 2024;
    https://github.com/linzhiqiu/t2v_metrics (v3.1 puts the question to Qwen2.5-VL in these words, too). Where it
    departs from that code stands in docs/evaluators.md."""

    def _prepare(self) -> None:
        self._yes = self._model.token(str(self.entry.settings["answer"]))

    def judged(self, images: Sequence[np.ndarray], prompts: Sequence[str]) -> np.ndarray:
        return self._model.next_token(images, prompts)[:, self._yes].double().numpy()

    def evidence(self, image: np.ndarray, caption: str) -> Mapping[str, float]:
        return {f"P({self.entry.settings['answer']})": float(self.score([image], [caption])[0])}


class _T5Score(Published):
    """The authors' own network: geometric mean of P("Yes") and P(end | "Yes"), one forward pass a pair.
    Source: Lin et al. 2024, section 3; https://github.com/linzhiqiu/t2v_metrics (clip_t5_model.py, before v3.1). The
    paper writes P("Yes"); their code averages the logarithms over the answer's tokens, the end mark among them."""

    any_precision = True

    def __init__(self, model: ClipT5, digest: str, precision: str) -> None:
        self._model, self._digest, self._precision = model, digest, precision

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        places = cls.places()
        for place in places:
            place.files()
        model, words, tower = (place.path for place in places)
        precision = cls.entry.precision.on(device)
        digest = "+".join(place.digest() for place in places)
        return cls(ClipT5.open(model, words, tower, device=device, precision=precision), digest, precision)

    def runners(self) -> Sequence[Runner]:
        return (self._model.runner,)

    @property
    def fingerprint(self) -> Fingerprint:
        versions = library_versions("torch", "transformers", "tokenizers", "pillow")
        how, settings = "padded to a square, CLIP's own processor, by Pillow", dict(self.entry.settings)
        return Fingerprint(self.spec.name, self._digest, how, self._precision, versions, settings)

    def prompt(self, caption: str) -> str:
        """The whole text that enters T5, the picture's place marked."""
        question = str(self.entry.settings["question"]).replace("{caption}", caption.replace(IMAGE, "image"))
        return str(self.entry.settings["conversation"]).replace("{question}", question)

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        check_lengths(images, captions)
        if not images:
            return np.empty(0)
        asked = [self.prompt(caption) for caption in captions]
        return self._model.likelihood(images, asked, str(self.entry.settings["answer"]))

    def count_tokens(self, caption: str) -> int:
        """Tokens of the whole prompt, the picture counted as one."""
        return 1 + sum(len(part) for part in self._model.tokens(self.prompt(caption)))

    def truncates(self, caption: str) -> bool:
        return self.count_tokens(caption) > MOST_TOKENS

    def see(self, image: np.ndarray, caption: str, *, object_mask: Mask | None = None) -> Sight:
        views = (("padded to a square", padded_square(image, colour=self._model.colour)),)
        notes = (f"{self.entry.backbone} sees the whole picture.",)
        seen = super().see(image, caption, object_mask=object_mask)
        return replace(seen, views=views, crop=None, prompt=self.prompt(caption), notes=notes)


@described("vqascore")
class VqaScoreXxl(_T5Score):
    """CLIP-FlanT5-XXL, the authors' default."""


@described("vqascore-xl")
class VqaScoreXl(_T5Score):
    """CLIP-FlanT5-XL, the smaller one."""
