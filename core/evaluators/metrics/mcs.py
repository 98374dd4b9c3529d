"""MCS and PR-MCS: CLIPScore whose text encoder reads more than fifty languages."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import NotAvailable, first_line
from core.evaluators.memory import Runner
from core.evaluators.towers.clip import load_clip, side_of
from core.evaluators.towers.encoder import PublishedEncoder, Towers
from core.evaluators.towers.preprocessing import HubPrompts, Preprocessing
from core.evaluators.weights.catalogue import described
from core.evaluators.weights.fetched import Place

if TYPE_CHECKING:
    from torch import Tensor


class _MultilingualTowers(Towers):
    """Pictures through CLIP's image tower, texts through a folder of sentence-transformers."""

    def embed_pixels(self, pixels: "Tensor") -> "Tensor":
        found: Tensor = self.image.network(pixels)
        return found

    def embed_texts(self, texts: Sequence[str], device: str) -> "Tensor":
        network = self.text.network
        features = network.preprocess(list(texts))
        features = {name: value.to(device) for name, value in features.items() if hasattr(value, "to")}
        found: Tensor = network(features)["sentence_embedding"]
        return found


class Multilingual(PublishedEncoder):
    """2.5 · max(cos(v, c), 0), c from a multilingual text encoder distilled from CLIP's own; no prefix.
    Source: Kim et al., PR-MCS, section 4 (MCS), with the image tower of CLIP ViT-B/32."""

    @classmethod
    def open(cls, found: Sequence[Place], device: str) -> Towers:
        text, image = found
        digest = f"{text.digest()}+{image.digest()}"
        (path,) = image.files()
        clip, _ = load_clip(path, quick_gelu=bool(cls.entry.settings.get("quick_gelu", True)))
        visual, side = clip.visual, side_of(clip)
        del clip  # the text tower is let go before another one is loaded
        encoder = load_sentence_transformer(text.path)
        width = encoder.get_embedding_dimension()
        if width != visual.output_dim:
            raise NotAvailable(
                f"{text.path} gives embeddings of {width} numbers and {path} of {visual.output_dim}: "
                "text and image tower do not belong together"
            )
        return _MultilingualTowers(
            image=Runner(path.name, visual.to(device), device),
            text=Runner(text.path.name, encoder.to(device), device),
            preprocessing=Preprocessing(side),
            prompts=HubPrompts(encoder.tokenizer, encoder.max_seq_length),
            precision="float32",
            digest=digest,
            libraries=("torch", "open_clip_torch", "pillow", "sentence-transformers", "transformers", "tokenizers"),
        )


@described("mcs")
class Mcs(Multilingual):
    """MCS: the encoder as published."""


@described("pr-mcs")
class PrMcs(Multilingual):
    """PR-MCS: the encoder tuned so that repeated, removed, masked, jumbled and substituted words cost score."""


def load_sentence_transformer(folder: Path) -> Any:
    """Load a sentence-transformers folder, its own modules only.
    Raises NotAvailable if a module's code would come from elsewhere, or the folder is damaged."""
    import transformers
    from sentence_transformers import SentenceTransformer

    path = folder / "modules.json"
    try:
        modules = json.loads(path.read_text(encoding="utf-8"))
        kinds = [(str(each["type"]), str(each["path"])) for each in modules]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NotAvailable(f"{path} does not list the encoder's modules ({error}); fetch the folder again") from error
    for kind, inside in kinds:
        if not kind.startswith("sentence_transformers.") or ".." in Path(inside).parts or Path(inside).is_absolute():
            raise NotAvailable(f"{path} names module {kind!r} at {inside!r}, which is not the library's own; refused")
    transformers.logging.disable_progress_bar()
    try:
        return SentenceTransformer(str(folder), device="cpu", local_files_only=True, trust_remote_code=False).eval()
    except Exception as error:  # a folder may be wrong in any way that its libraries raise
        why = f"{folder} is no sentence-transformers folder that can be loaded: {first_line(error)}"
        raise NotAvailable(why) from error
