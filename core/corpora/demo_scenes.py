"""Scenes that ship with Invariscope: two or three kinds of things in one picture, counted and measured."""

from pathlib import Path

from core.corpora.demo import read_listing
from core.corpora.registry import corpus_loader
from core.corpora.schema import Corpus

_DESCRIPTION = (
    "Two or three kinds of the demo corpus's cut-outs side by side, one to four copies of each, none hidden: every "
    "object has its exact mask, every caption says the numbers and the order from left to right, in five languages. "
    "Scenes of the same cut-outs share a group. ATTRIBUTION.md names the licence and the source of every image."
)


@corpus_loader(
    name="demo-scenes",
    summary="66 images of several objects that ship with Invariscope: exact counts, masks and areas, 5 languages",
    needs_root=False,
)
def load_demo_scenes(root: Path | None) -> Corpus:
    """Read the scenes and check every image against its recorded hash.

    Args:
        root: folder of a demo corpus; None reads the one that ships.

    Raises:
        BadCorpus: if the list of items is missing or damaged.
    """
    return read_listing(root, "demo-scenes", _DESCRIPTION)
