"""The pictures of a study, made again from (item, probe, seed) as the run made them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.corpora import registry as corpora
from core.corpora.images import encode_png
from core.corpora.item_pictures import as_picture, read_item
from core.corpora.schema import Corpus, Origin
from core.errors import InvalidInput, InvariscopeError, NotAvailable, ProbeRejected
from core.features.human.definition import VARIANT, Definition, StudyItem
from core.probes.base import IDENTITY
from core.probes.caption_labels import read_again
from core.probes.registry import catalogue
from core.scoring.workbench import Workbench

Load = Callable[[Origin], Corpus]
"""What reads a corpus; pages give one that remembers."""


@dataclass(frozen=True, slots=True)
class Pictures:
    """PNG files of one item, at the size of the run and at equal scale; of a video, its frames side by side.

    Args:
        original: the image of the baseline: the unedited one, or the variant of the probe that is the baseline.
        variant: the edited one; the same where the caption is edited.
    """

    original: bytes
    variant: bytes

    def of(self, version: str) -> bytes:
        """PNG of ``original`` or ``variant``."""
        return self.variant if version == VARIANT else self.original


def load_corpus(origin: Origin) -> Corpus:
    """Read a corpus as a run read it.

    Raises:
        InvariscopeError: if it cannot be read here.
    """
    return read_again(origin)


def read_with(told: Mapping[str, Any]) -> dict[str, Any]:
    """The part of what a manifest tells of its corpus that reads it again, for a study's definition."""
    return {key: told[key] for key in ("loader", "folder", "options") if key in told}


def _origin(definition: Definition, name: str) -> Origin:
    return corpora.origin_here(name, {"root": definition.root, **definition.read_with})


def make_pictures(definition: Definition, item: StudyItem, *, load: Load = load_corpus) -> Pictures:
    """Make the pictures of one item.

    Raises:
        NotAvailable: if the corpus, the item or the probe is not here any more, or makes something else now.
    """
    try:
        corpus = load(_origin(definition, item.corpus))
        found = corpus.get(item.item)
        image = read_item(found)
        if item.pixels_sha256 is not None and image.pixels_sha256 != item.pixels_sha256:
            raise InvalidInput(f"the image of {item.item} in corpus {item.corpus!r} is not that of the run any more")
        if item.edits == "caption":
            own = encode_png(as_picture(image.pixels))
            return Pictures(own, own)
        bench = Workbench(found, image.pixels, seed=definition.run_seed)
        return Pictures(*(encode_png(as_picture(_pixels(bench, item, probe))) for probe in (item.baseline, item.probe)))
    except NotAvailable:
        raise
    except (InvariscopeError, OSError) as error:
        raise NotAvailable(f"the pictures of study {definition.id!r} cannot be made: {error}") from error


def _pixels(bench: Workbench, item: StudyItem, name: str) -> np.ndarray:
    """Pixels of one side of an item whose image is edited, uint8 RGB [H, W, 3], of a video [T, H, W, 3].

    Raises:
        InvariscopeError: if the probe is not here, or cannot be applied any more.
    """
    if name == IDENTITY:
        return bench.pixels
    made = bench.make(catalogue().get(name))
    if isinstance(made, ProbeRejected) or made.pixels is None:
        raise InvalidInput(f"{name} cannot be applied to {item.item} any more: {made}")
    return made.pixels


def make_example(definition: Definition, corpus: str, item: str, *, load: Load = load_corpus) -> bytes:
    """PNG of an unedited item, for the instructions.

    Raises:
        NotAvailable: if it is not here any more.
    """
    try:
        return encode_png(as_picture(read_item(load(_origin(definition, corpus)).get(item)).pixels))
    except (InvariscopeError, OSError) as error:
        raise NotAvailable(f"an example of study {definition.id!r} cannot be shown: {error}") from error
