"""PAC-S and PAC-S++: a CLIP that learns from real pairs and from generated positives beside them.

Its loss, what a training gains (how many held-out pairs find each other), the loop, and the checkpoint that is kept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.corpora.images import read_image
from core.errors import InvalidInput
from core.evaluators.metrics.clipscore import PacS
from core.evaluators.towers.clip import ALPHA, load_clip, side_of
from core.evaluators.towers.preprocessing import CLIP_MEAN, CLIP_STD, ClipPrompts, Preprocessing
from core.features.training.lessons import Augmented, readable
from core.features.training.train_mcs import MOST_MEASURED, find_clip
from core.features.training.trainer import (
    BEST,
    Losses,
    Report,
    Schedule,
    Trained,
    Trainer,
    digest_of,
    fill,
    make_room,
    trained,
)
from core.features.training.tuning import batches, clip_loss, split
from core.seeds import stream
from core.statistics.bootstrap import Interval
from core.statistics.ratios import mean_bca
from core.store.text_files import write_json
from core.writing import write_bytes

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class PacRecipe(Schedule):
    """How PAC-S++ is trained. Source: paper C, 5.1, unless said otherwise."""

    epochs: int = 20  # at most; the paper names no number, ``patience`` ends its training
    batch: int = 256
    learning_rate: float = 1e-4
    visual: float = 0.1  # visual, textual: λv and λt, weights of the generated pictures and captions
    textual: float = 0.001
    rank: int = 4  # of the adapters; 0 trains the last projections instead
    patience: int = 1500  # steps without a lower held-out loss after which the training ends

    def __post_init__(self) -> None:
        if self.batch < 2:
            raise InvalidInput(
                f"a batch must hold at least 2 pairs, got {self.batch!r}: the loss tells each pair from the others"
            )
        Schedule.__post_init__(self)
        for name, value in (("λv", self.visual), ("λt", self.textual)):
            if not 0 <= value < float("inf"):
                raise InvalidInput(f"{name} must be 0 or more, got {value!r}")
        if self.patience < 1:
            raise InvalidInput(f"steps of patience must be at least 1, got {self.patience!r}")


PAC_S = PacRecipe(visual=0.05, textual=0.1, rank=0)
"""PAC-S, the version before. Source of λ: paper C, table 7, first row."""
RECIPES: Mapping[str, PacRecipe] = {"pac-s": PAC_S, "pac-s++": PacRecipe()}


@dataclass(frozen=True, slots=True)
class PacLosses(Losses):
    """Losses of a batch, scalars: ``total`` is what is minimised."""

    real: "Tensor"
    made_images: "Tensor"
    made_captions: "Tensor"


@dataclass(frozen=True, slots=True)
class Embedded:
    """Embeddings of pairs with their positives, v, t, v′ and t′: float32 [n, d] each, of unit length."""

    images: "Tensor"
    captions: "Tensor"
    made_images: "Tensor"
    made_captions: "Tensor"

    def rows(self, which: Sequence[int]) -> "Embedded":
        """Those of some pairs."""
        return Embedded(*(getattr(self, name)[list(which)] for name in self.__dataclass_fields__))


def pac_losses(found: Embedded, *, scale: float, visual: float, textual: float) -> PacLosses:
    """L = L(v, t) + λv · L(v′, t) + λt · L(v, t′), each CLIP's loss over the batch at a scale of 1 / τ.

    Source: paper C, equation 3.
    """
    real = clip_loss(found.images, found.captions, scale=scale)
    made_images = clip_loss(found.made_images, found.captions, scale=scale)
    made_captions = clip_loss(found.images, found.made_captions, scale=scale)
    return PacLosses(real + visual * made_images + textual * made_captions, real, made_images, made_captions)


@dataclass(frozen=True, slots=True)
class PairsFound:
    """Held-out pairs, each looked for among all."""

    loss: float  # of the training, mean over the held-out pairs
    caption: np.ndarray  # of each picture, the share of its captions whose nearest picture has them; float64 [m]
    picture: np.ndarray  # of each picture, whether its nearest caption is one of its own; float64 [m]
    captions: int  # how many different ones

    @property
    def both(self) -> np.ndarray:
        """Mean of the two directions, percent, float64 [m]."""
        return np.asarray(50 * (self.caption + self.picture))

    def as_dict(self) -> dict[str, Any]:
        """For a file; a bound that does not exist is left out."""
        mean = mean_bca(self.both)
        bounds = {name: value for name, value in (("low", mean.low), ("high", mean.high)) if value == value}
        ways = {"captions": 100 * float(self.caption.mean()), "pictures": 100 * float(self.picture.mean())}
        told = {"loss": self.loss, "paired": ways, "mean_paired": mean.estimate, **bounds}
        return {**told, "images": len(self.picture), "captions": self.captions}


def look_for_pairs(pairs: Sequence[Augmented], found: Embedded, loss: float) -> PairsFound:
    """Look for every caption's picture and every picture's caption by cosine.

    A caption that several pictures have is one, and each of them is right.
    """
    _, seen, images = np.unique([each.image for each in pairs], return_index=True, return_inverse=True)
    _, read, captions = np.unique([each.caption for each in pairs], return_index=True, return_inverse=True)
    belongs = np.zeros((len(seen), len(read)), dtype=bool)
    belongs[images, captions] = True
    cosines = (found.images[seen.tolist()] @ found.captions[read.tolist()].T).numpy()
    hits = belongs[cosines.argmax(axis=0), np.arange(len(read))]
    picture = belongs[np.arange(len(seen)), cosines.argmax(axis=1)].astype(np.float64)
    return PairsFound(loss, belongs @ hits / belongs.sum(axis=1), picture, len(read))


@dataclass(frozen=True, slots=True)
class PacGain:
    """Held-out pairs before and after."""

    before: PairsFound
    after: PairsFound
    change: Interval  # of ``both``, in percentage points, picture by picture
    steps: int  # of the weights that are measured


class PacTrainer(Trainer[Augmented, PairsFound, PacGain]):
    """Trains open_clip's CLIP, of :func:`core.features.training.train_pac.choose_trained`, on pairs with their
    positives."""

    def __init__(
        self,
        network: Any,
        train: Sequence[Augmented],
        held_out: Sequence[Augmented],
        recipe: PacRecipe,
        *,
        identity: str,
        folder: Path,
    ) -> None:
        super().__init__(network, recipe, identity=identity, folder=folder)
        self.recipe, self.train = recipe, train
        images = list(dict.fromkeys(each.image for each in held_out))
        order = stream(recipe.seed, "measured").permutation(len(images))[:MOST_MEASURED]
        measured = {images[index] for index in order}
        self.held_out = [each for each in held_out if each.image in measured]
        self.scale = float(network.logit_scale.exp())
        entry = PacS.entry
        self._prefix = str(entry.settings["prefix"])
        mean, std = entry.triple("mean", CLIP_MEAN), entry.triple("std", CLIP_STD)
        self._preprocessing = Preprocessing(side_of(network), mean=mean, std=std)
        self._prompts = ClipPrompts(network.context_length)

    def batches(self, epoch: int) -> list[list[Augmented]]:
        """Batches that hold each picture once."""
        return batches(self.train, size=self.recipe.batch, seed=self.recipe.seed, epoch=epoch)

    def embed(self, texts: Sequence[str]) -> "Tensor":
        """Embed texts behind the evaluator's prefix; float32 [n, d] on the device, of unit length."""
        tokens = self._prompts.tokens([self._prefix + text for text in texts]).to(self.device)
        found: Tensor = self.network.encode_text(tokens, normalize=True)
        return found

    def embed_files(self, paths: Sequence[Path]) -> "Tensor":
        """Embed pictures; float32 [n, d] on the device, of unit length."""
        pixels = self._preprocessing.tensor([read_image(path).pixels for path in paths], device=self.device)
        found: Tensor = self.network.encode_image(pixels, normalize=True)
        return found

    def embed_pairs(self, pairs: Sequence[Augmented]) -> Embedded:
        """Embed pictures and captions, real and generated."""
        paths = [each.pictures for each in pairs]
        images, made = (self.embed_files(each) for each in zip(*paths, strict=True))
        texts = self.embed([each.caption for each in pairs] + [each.made_caption for each in pairs])
        return Embedded(images, texts[: len(pairs)], made, texts[len(pairs) :])

    def losses(self, batch: Sequence[Augmented], epoch: int) -> PacLosses:
        """The recipe's losses."""
        return self._losses(self.embed_pairs(batch))

    def measure(self) -> PairsFound:
        """Held-out loss, and how many held-out pairs find each other."""
        import torch

        self.network.eval()
        size = self.recipe.batch
        with torch.inference_mode():
            parts = [
                self.embed_pairs(self.held_out[start : start + size]) for start in range(0, len(self.held_out), size)
            ]
        names = Embedded.__dataclass_fields__
        found = Embedded(*(torch.cat([getattr(part, name).cpu() for part in parts]) for name in names))
        place = {each: index for index, each in enumerate(self.held_out)}
        drawn = batches(self.held_out, size=size, seed=self.recipe.seed, epoch=0)
        totals = [float(self._losses(found.rows([place[each] for each in batch])).total) for batch in drawn]
        loss = float(np.average(totals, weights=[len(batch) for batch in drawn]))
        return look_for_pairs(self.held_out, found, loss)

    def gain(self, before: PairsFound, after: PairsFound, done: int) -> PacGain:
        """Both measurements, and the change of each picture."""
        return PacGain(before, after, mean_bca(after.both - before.both), done)

    def told(self, gain: PacGain) -> Mapping[str, Any]:
        """The measurement."""
        return gain.after.as_dict()

    def enough(self) -> bool:
        """Whether the held-out loss has not fallen for so many steps as the recipe waits."""
        return int(self.curves.measured[-1]["step"]) - self._best_step() >= self.recipe.patience

    def take_best(self, before: PairsFound) -> PacGain:
        """Go back to the weights with the lowest held-out loss of all that were measured after a step."""
        from safetensors.torch import load_file

        path = self.folder / BEST
        if not path.is_file():
            raise InvalidInput(f"{path} is gone, and with it the best weights; start over with --overwrite")
        fill(self.network, load_file(path))
        return self.gain(before, self.measure(), self._best_step())

    def _best_step(self) -> int:
        after = [line for line in self.curves.measured if line["step"]]
        return int(min(after, key=lambda line: line["loss"])["step"]) if after else 0

    def _measured(self, before: PairsFound, done: int) -> PacGain:
        from safetensors.torch import save

        gain = super()._measured(before, done)
        if self._best_step() == done:
            kept = {name: value.detach().cpu().contiguous() for name, value in trained(self.network).items()}
            write_bytes(self.folder / BEST, save(kept))
        return gain

    def _losses(self, found: Embedded) -> PacLosses:
        return pac_losses(found, scale=self.scale, visual=self.recipe.visual, textual=self.recipe.textual)


def train_pac(
    pairs: Sequence[Augmented],
    recipe: PacRecipe,
    *,
    name: str,
    out: Path,
    weights: Path | None = None,
    report: Report | None = None,
    reading: Report | None = None,
) -> Trained[PacGain]:
    """Train a CLIP by the positive-augmented loss and keep it in the format that PAC-S is published in. Raises
    NotAvailable without the weights; InvalidInput with fewer than four pictures, or if ``out`` holds a training that is
    neither to be resumed nor overwritten; StoreError if the disk is full, the last checkpoint stands.

    Args:
        pairs: of :func:`core.features.training.lessons.read_positives`.
        name: ``pac-s`` or ``pac-s++``; ``out`` gets the checkpoint ``name.pth`` and the folder ``name-training``.
        weights: a CLIP checkpoint with OpenAI's names; None: the one that ``clipscore`` uses.
        reading: called with pictures read and pictures in all.
    """
    import torch

    checkpoint, folder = out / f"{name}.pth", out / f"{name}-training"
    make_room(checkpoint, folder, recipe)
    (place,) = find_clip(weights)[1]
    kept, left_out, hashes = readable(pairs, reading)
    train, apart = split(kept, held_out=recipe.held_out, seed=recipe.seed)
    network, _ = load_clip(place.files()[0], quick_gelu=bool(PacS.entry.settings["quick_gelu"]))
    choose_trained(network, rank=recipe.rank, seed=recipe.seed)
    sides = {
        side: [(e.image, e.caption, e.made_caption, *(hashes[path] for path in e.pictures)) for e in part]
        for side, part in (("train", train), ("apart", apart))
    }
    identity = digest_of({"weights": place.digest(), **sides})
    about = {"weights": place.digest(), "train": len(train), "held_out": len(apart), "device": recipe.device}
    write_json(folder / "settings.json", {**about, "recipe": recipe.settings})
    trainer = PacTrainer(network, train, apart, recipe, identity=identity, folder=folder)
    gain = trainer.take_best(trainer.run(report=report).before)
    data = BytesIO()
    torch.save({"state_dict": published_state(trainer.network)}, data)
    write_bytes(checkpoint, data.getvalue())
    return Trained(checkpoint, gain, len(train), len(apart), left_out)


# What of a CLIP is trained, by names of its publishers: its last projections, or adapters of every attention.
#
# The library peft takes its adapter of an attention out of the weight after each step by a subtraction, so that the
# frozen weight drifts by rounding; torch's own parametrizations leave it alone.
def choose_trained(network: Any, *, rank: int, seed: int) -> None:
    """Freeze an open_clip CLIP but for what is trained, in place.

    ``rank``: of adapters on the two projections of every attention, W + (α / rank) · B A, which change nothing before
    the first step; 0: the last projections of both towers are trained instead, and there is no adapter. Raises
    InvalidInput for a rank that no weight has.

    Source: paper C, 3.2 (adapters) and 5.7 (PAC-S: the last projections alone); first values: loralib.
    """
    import torch
    from torch.nn.utils.parametrize import register_parametrization

    network.requires_grad_(False)
    if not rank:
        network.visual.proj.requires_grad = network.text_projection.requires_grad = True
        return
    attentions = [each for each in network.modules() if isinstance(each, torch.nn.MultiheadAttention)]
    widest = min(each.embed_dim for each in attentions)
    if not 0 < rank <= widest:
        raise InvalidInput(f"the rank of adapters must lie between 1 and {widest}, the width of a tower, got {rank}")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for each in attentions:
            register_parametrization(each, "in_proj_weight", _adapter(each.in_proj_weight, rank))
            register_parametrization(each.out_proj, "weight", _adapter(each.out_proj.weight, rank))


def _adapter(weight: "Tensor", rank: int) -> Any:
    import torch

    class Adapter(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lora_A = torch.nn.Parameter(torch.empty(rank, weight.shape[1]))
            self.lora_B = torch.nn.Parameter(torch.zeros(weight.shape[0], rank))
            torch.nn.init.kaiming_uniform_(self.lora_A, a=5**0.5)

        def forward(self, original: "Tensor") -> "Tensor":
            return original + (self.lora_B @ self.lora_A) * (ALPHA / rank)

    return Adapter()


def published_state(network: Any) -> "dict[str, Tensor]":
    """Tensors of a CLIP by OpenAI's names, its adapters beside them by loralib's, as PAC-S and PAC-S++ publish them."""
    return {_published(name): value.detach().cpu().clone() for name, value in network.state_dict().items()}


def _published(name: str) -> str:
    name = name.replace("parametrizations.", "").removesuffix(".original")
    return name.replace("in_proj_weight.0.", "in_proj_weight_").replace("out_proj.weight.0.", "out_proj.")
