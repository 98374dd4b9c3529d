"""UMIC: UNITER ranks a caption by the regions that a detector found in the picture."""

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from core import settings
from core.corpora.schema import Mask
from core.errors import InvalidInput, NotAvailable
from core.evaluators.base import Availability, Fingerprint, Sight, all_scored, check_lengths
from core.evaluators.memory import MB, Runner
from core.evaluators.other_packages import library_versions
from core.evaluators.regions.region_folder import RegionDetector, RegionFolder, Regions
from core.evaluators.regions.source import DETECTOR, BottomUp, RegionSource, Selection, checkpoint, drawn, own_detector
from core.evaluators.weights.catalogue import described
from core.evaluators.weights.checkpoints import read_state
from core.evaluators.weights.fetched import Place, Published
from core.probes.rejections import coded

if TYPE_CHECKING:
    from torch import Tensor

_NEEDED = (
    *(f"uniter.embeddings.{name}_embeddings.weight" for name in ("word", "position")),
    *(f"uniter.img_embeddings.{name}_linear.weight" for name in ("img", "pos")),
    *("uniter.encoder.layer.0.intermediate.dense.weight", "uniter.pooler.dense.weight", "rank_output.weight"),
)


def load_uniter(path: Path) -> Any:
    """Return the ranking network of a checkpoint, in evaluation mode, float32, on the CPU.
    The network maps ``words`` int64 [n, t], ``regions`` float32 [n, r, d], ``positions`` float32 [n, r, 7] and
    ``present`` float32 [n, t + r] (1 where there is a word or a region) to rank scores, float32 [n].
    Raises NotAvailable if the file cannot be read or holds another network."""
    from transformers import BertConfig

    state, old = {}, {"gamma": "weight", "beta": "bias"}
    for name, value in read_state(path).items():
        stem, _, last = name.rpartition(".")
        state[f"{stem}.{old.get(last, last)}" if stem else name] = value
    missing = [name for name in _NEEDED if name not in state]
    if missing:
        raise NotAvailable(f"{path} holds no UMIC: it lacks the tensor {missing[0]!r}; give the publisher's umic.pt")
    words, width = state["uniter.embeddings.word_embeddings.weight"].shape
    layers = {name.split(".")[3] for name in state if name.startswith("uniter.encoder.layer.")}
    configuration = BertConfig(
        vocab_size=words,
        hidden_size=width,
        num_hidden_layers=len(layers),
        num_attention_heads=max(1, width // 64),
        intermediate_size=state["uniter.encoder.layer.0.intermediate.dense.weight"].shape[0],
        max_position_embeddings=state["uniter.embeddings.position_embeddings.weight"].shape[0],
        hidden_act="gelu",
        layer_norm_eps=1e-12,
    )
    configuration._attn_implementation = "eager"
    network = _network(configuration, state["uniter.img_embeddings.img_linear.weight"].shape[1])
    report = network.load_state_dict(state, strict=False)
    lost = [name for name in report.missing_keys if not name.startswith("itm_output")]
    if lost:
        raise NotAvailable(f"{path} is not a whole UMIC: it lacks the tensor {lost[0]!r}; fetch it again")
    return network.eval()


def _network(configuration: Any, region_width: int) -> Any:
    import torch
    from torch import nn
    from transformers.models.bert.modeling_bert import BertEmbeddings, BertEncoder, BertPooler

    width, eps = configuration.hidden_size, configuration.layer_norm_eps

    class ImageEmbeddings(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.img_linear = nn.Linear(region_width, width)
            self.img_layer_norm = nn.LayerNorm(width, eps=eps)
            self.pos_linear = nn.Linear(7, width)  # x1, y1, x2, y2, w, h, w·h, each as a share of the image
            self.pos_layer_norm = nn.LayerNorm(width, eps=eps)
            self.LayerNorm = nn.LayerNorm(width, eps=eps)

        def forward(self, regions: "Tensor", positions: "Tensor", kind: "Tensor") -> "Tensor":
            seen = self.img_layer_norm(self.img_linear(regions)) + self.pos_layer_norm(self.pos_linear(positions))
            embedded: Tensor = self.LayerNorm(seen + kind)
            return embedded

    class Ranker(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            parts = {"embeddings": BertEmbeddings(configuration), "img_embeddings": ImageEmbeddings()}
            parts |= {"encoder": BertEncoder(configuration), "pooler": BertPooler(configuration)}
            self.uniter = nn.ModuleDict(parts)
            self.rank_output = nn.Linear(width, 1)

        def forward(self, words: "Tensor", regions: "Tensor", positions: "Tensor", present: "Tensor") -> "Tensor":
            uniter: Any = self.uniter
            kind = uniter.embeddings.token_type_embeddings(torch.ones_like(regions[:, :, 0], dtype=torch.long))
            both = [uniter.embeddings(input_ids=words), uniter.img_embeddings(regions, positions, kind)]
            hidden = torch.cat(both, dim=1)
            absent = (1.0 - present)[:, None, None, :] * -10_000.0
            hidden = uniter.encoder(hidden, attention_mask=absent.to(hidden.dtype)).last_hidden_state
            ranks: Tensor = self.rank_output(uniter.pooler(hidden)).squeeze(-1)
            return ranks

    return Ranker()


REGIONS = "INVARISCOPE_UMIC_REGIONS"  # environment: folder of precomputed regions
GET = "python -m core evaluators get umic"
_Pair = tuple[Regions, list[int]]


def regions_folder() -> Path:
    """Where precomputed regions are looked for."""
    return Path(os.environ.get(REGIONS) or settings.weights_dir() / "umic-regions")


@described("umic")
class Umic(Published):
    """Sigmoid of UNITER's rank head on [CLS] caption [SEP] regions.
    Regions come from a detector, one of the user's own or bottom-up attention where its weights are here, or from a
    folder of precomputed ones (:class:`core.evaluators.regions.source.RegionSource` says which). Without a detector
    UMIC is *precomputed only*: a picture without regions has no score, and the reason beside it.
    Captions are cut at 60 word pieces, the longest that it was trained on; a caption without a word has no score.
    Source: Lee et al. 2021; https://github.com/hwanheelee1993/UMIC."""

    def __init__(self, runner: Runner, words: Any, digest: str, source: RegionSource) -> None:
        self._runner, self._words, self._digest, self._source = runner, words, digest, source
        self._limits = {name: self.entry.number(name, 0.0) for name in ("confidence", "least_regions", "most_regions")}
        self._most_words = int(self.entry.number("words", 60))

    @classmethod
    def availability(cls) -> Availability:
        found = super().availability()
        if not found.ready or os.environ.get(DETECTOR) or regions_folder().is_dir() or cls._place():
            return found
        return Availability(
            False,
            f"UMIC is precomputed only: no regions at {regions_folder()}, no bottom-up-attention detector, "
            f"and no {DETECTOR}",
            GET,
        )

    @classmethod
    def needs_mb(cls, device: str) -> float:
        place = cls._place()
        return super().needs_mb(device) + (checkpoint(place).stat().st_size / MB if place else 0.0)

    @classmethod
    def try_optional(cls, place: Place) -> None:
        BottomUp.load(place, selection=Selection.of(cls.entry))

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        """Load network, word pieces, and what knows the regions. Raises NotAvailable if a file is missing, damaged, or
        of another network; InvalidInput if the regions or the detector cannot be used."""
        from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

        weights, vocabulary = cls.places()
        (path,), (words,) = weights.files(), vocabulary.files()
        try:
            pieces = Tokenizer(models.WordPiece.from_file(str(words), unk_token="[UNK]"))
        except Exception as error:  # the Rust library raises the bare class
            raise InvalidInput(f"{words} is no vocabulary of word pieces ({error}); fetch it again") from error
        pieces.normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=False)
        pieces.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        pieces.decoder = decoders.WordPiece()
        network = load_uniter(path).to(device)
        folder = RegionFolder(regions_folder()) if regions_folder().is_dir() else None
        source = RegionSource(folder, cls.detector(device, width=network.uniter.img_embeddings.img_linear.in_features))
        return cls(Runner(path.name, network, device), pieces, weights.digest(), source)

    @classmethod
    def detector(cls, device: str = "cpu", *, width: int | None = None) -> RegionDetector | None:
        """Load the user's own detector, or bottom-up attention; None where neither is here. ``width``: of the features
        that the network takes. Raises NotAvailable if the weights are damaged, or of another network; InvalidInput if
        the user's own detector cannot be used."""
        place = cls._place()
        if place is None:
            return own_detector(os.environ.get(DETECTOR), device)
        found = BottomUp.load(place, device=device, selection=Selection.of(cls.entry))
        if width not in (None, found.width):
            raise NotAvailable(
                f"{place.path} gives features of {found.width} numbers and UMIC's network takes {width}: they do not "
                f"belong together; give the published ones, or name your own detector with {DETECTOR}"
            )
        return found

    def runners(self) -> Sequence[Runner]:
        """UNITER and bottom-up attention; a detector of the user's own is not counted."""
        return (self._runner, *self._source.runners)

    @property
    def fingerprint(self) -> Fingerprint:
        versions = library_versions("torch", "transformers", "tokenizers", *self._source.libraries)
        settings, regions = {**self.entry.settings, **self._source.digests}, "bottom-up-attention regions"
        return Fingerprint(self.spec.name, self._digest, regions, "float32", versions, settings)

    def forget(self) -> None:
        self._source.forget()

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        """Score n pairs; float64 [n] in (0, 1). Raises PartlyScored where there are no regions, or no words."""
        check_lengths(images, captions)
        errors: list[str | None] = []
        pairs: list[_Pair] = []
        for regions, caption in zip(self._regions(images), captions, strict=True):
            pieces = self._pieces(caption)[: self._most_words]
            if isinstance(regions, str):
                errors.append(coded("no-regions", regions))
            elif not pieces:
                errors.append(coded("no-word", "the caption has no word"))
            else:
                errors.append(None)
                pairs.append((regions, pieces))
        scores = np.full(len(images), np.nan)
        if pairs:
            ranked = self._runner.each(pairs, self._rank).double().sigmoid().numpy()
            scores[[index for index, error in enumerate(errors) if error is None]] = ranked
        return all_scored(scores, errors)

    def count_tokens(self, caption: str) -> int:
        return len(self._pieces(caption))

    def truncates(self, caption: str) -> bool:
        return len(self._pieces(caption)) > self._most_words

    def see(self, image: np.ndarray, caption: str, *, object_mask: Mask | None = None) -> Sight:
        (found,) = self._regions([image])
        note = found if isinstance(found, str) else f"{len(found.features)} regions enter the network."
        views = (("regions", image if isinstance(found, str) else drawn(image, found)),)
        cut = self._words.decode(self._pieces(caption)[self._most_words :])
        seen = super().see(image, caption, object_mask=object_mask)
        return replace(seen, views=views, crop=None, truncated=cut, notes=(note,))

    def _pieces(self, caption: str) -> list[int]:
        """Word pieces of a caption; a mark such as ``[MASK]`` counts as one where it is a whole word."""
        found: list[int] = []
        marks = ("[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]")
        for word in self._words.normalizer.normalize_str(caption).split():
            mark = self._words.token_to_id(word) if word in marks else None
            found += [mark] if mark is not None else self._words.encode(word, add_special_tokens=False).ids
        return found

    def _regions(self, images: Sequence[np.ndarray]) -> list[Regions | str]:
        """Regions of each picture that enter the network, or why there are none."""
        sure, least, most = (self._limits[name] for name in ("confidence", "least_regions", "most_regions"))
        return [
            self._source.unknown if found is None else found.kept(confidence=sure, least=int(least), most=int(most))
            for found in self._source.find(images)
        ]

    @classmethod
    def _place(cls) -> Place | None:
        """Where bottom-up attention's weights lie; None where they are not here, or the user has a detector."""
        place = next(iter(cls.optional_places()), None)
        return None if os.environ.get(DETECTOR) or place is None or place.missing else place

    def _rank(self, pairs: Sequence[_Pair], device: str) -> "Tensor":
        import torch
        from torch.nn.utils.rnn import pad_sequence

        start, end = (self._words.token_to_id(mark) for mark in ("[CLS]", "[SEP]"))
        words = [torch.tensor([start, *pieces, end]) for _, pieces in pairs]
        features = [torch.from_numpy(regions.features) for regions, _ in pairs]
        positions = [torch.from_numpy(regions.positions) for regions, _ in pairs]
        padded = partial(pad_sequence, batch_first=True)
        present = torch.cat([padded([torch.ones(len(each)) for each in part]) for part in (words, features)], dim=1)
        inputs = (padded(words), padded(features), padded(positions), present)
        ranked: Tensor = self._runner.network(*(each.to(device) for each in inputs))
        return ranked
