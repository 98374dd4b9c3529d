"""Quadruples that ship with Invariscope: {non-prototype, prototype} × {knob right, knob wrong} of one text."""

from pathlib import Path

from core.corpora.demo import read_listing
from core.corpora.registry import corpus_loader
from core.corpora.schema import Corpus

_DESCRIPTION = (
    "A text that names a hypernym and the state of one thing beside it, a picture that fits it and shows a "
    "non-prototype, and three rivals of that picture: with the prototype, with the thing in another state, with both. "
    "Animals and objects, composed of Tux Paint's cut-outs; English texts. Items of one non-prototype's cut-out share "
    "a group. ATTRIBUTION.md names the licence and the source of every image."
)


@corpus_loader(
    name="demo-prototypes",
    summary="182 quadruples that ship with Invariscope: non-prototype and prototype, one thing right and wrong",
    needs_root=False,
)
def load_demo_prototypes(root: Path | None) -> Corpus:
    """Read the quadruples and check all four images of each against their recorded hashes.

    Args:
        root: folder of a demo corpus; None reads the one that ships.

    Raises:
        BadCorpus: if the list of items is missing or damaged.
    """
    return read_listing(root, "demo-prototypes", _DESCRIPTION)
