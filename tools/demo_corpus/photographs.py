"""The real photographs of scikit-image and scikit-learn, with masks that a person checked."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from PIL import Image

from core.corpora.demo import CORPUS
from core.corpora.demo_backgrounds import encode_jpeg, shipped_file, shipped_pixels
from core.corpora.demo_plan import LANGUAGES
from core.corpora.schema import Item, Mask
from core.errors import BadCorpus
from tools.demo_corpus.plan import PhotographEntry, Plan


def photograph_item(entry: PhotographEntry, captions: Mapping[str, tuple[str, ...]], masks: Path) -> tuple[Item, bytes]:
    """Return one photograph as an item and the bytes of its image: a JPEG as shipped, a PNG encoded anew.

    Args:
        masks: folder of the 1-bit PNG masks, white where the object is.

    Raises:
        BadCorpus: if the mask is missing or has another size than the photograph.
    """
    pixels = shipped_pixels(entry.package, entry.file)
    mask = _mask(masks / f"{entry.id}.png", pixels.shape[:2])
    path = shipped_file(entry.package, entry.file)
    data = path.read_bytes() if path.suffix == ".jpg" else encode_jpeg(pixels)
    item = Item(
        id=entry.id,
        corpus=CORPUS,
        image_path=Path(f"{entry.id}.jpg"),
        width=pixels.shape[1],
        height=pixels.shape[0],
        captions=captions,
        label=entry.label,
        category=entry.category,
        box=mask.box,
        mask=mask,
        others=entry.others,
        licence=entry.licence,
        source=entry.source,
    )
    return item, data


def photograph_captions(name: str, plan: Plan) -> dict[str, tuple[str, ...]]:
    """The sentence, then the short caption of a photograph, of every language.

    Raises:
        BadCorpus: if one of them is missing.
    """
    for file, texts in (("captions.csv", plan.captions), ("sentences.csv", plan.sentences)):
        if name not in texts:
            raise BadCorpus(f"{file} has no captions of {name!r}; write them in every language")
    return {language: (plan.sentences[name][language], *plan.captions[name][language]) for language in LANGUAGES}


def _mask(path: Path, shape: tuple[int, ...]) -> Mask:
    if not path.is_file():
        raise BadCorpus(f"no mask {path}; draw one, white where the object is, of the photograph's size")
    with Image.open(path) as image:
        array = np.asarray(image.convert("L")) > 127
    if array.shape != shape or not array.any():
        raise BadCorpus(f"{path} is {array.shape} and must be a mask of {shape} (height, width) with an object in it")
    return Mask.from_array(array)
