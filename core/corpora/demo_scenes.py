"""Scenes that ship with Invariscope: two or three kinds of things in one picture, counted and measured."""

from dataclasses import replace
from pathlib import Path

from core.corpora.demo import read_listing
from core.corpora.registry import corpus_loader
from core.corpora.schema import Corpus
from core.errors import BadCorpus

_DESCRIPTION = (
    "Two or three kinds of the demo corpus's cut-outs side by side, one to four copies of each, none hidden: every "
    "object has its exact mask, every caption says the numbers and the order from left to right, in five languages. "
    "Scenes of the same cut-outs share a group. ATTRIBUTION.md names the licence and the source of every image."
)

_OF_ONE = (
    "The pictures of demo-scenes, each with a caption that names one kind of its things alone, with number and place, "
    "in five languages: what else is there can be named in its place, and the caption is false of that place alone."
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


@corpus_loader(
    name="demo-scenes-one",
    summary="the 66 images of demo-scenes, each with a caption that names one of its kinds of things, 5 languages",
    needs_root=False,
)
def load_demo_scenes_one(root: Path | None) -> Corpus:
    """Read the scenes with their second captions in the place of the first.

    Args:
        root: folder of a demo corpus; None reads the one that ships.

    Raises:
        BadCorpus: if the list of items is missing or damaged, or is of a build whose scenes have one caption each.
    """
    name = "demo-scenes-one"
    scenes = read_listing(root, "demo-scenes", _DESCRIPTION)
    short = next((item.id for item in scenes.items if min(map(len, item.captions.values()), default=0) < 2), None)
    if short:
        raise BadCorpus(f"scene {short!r} has no second caption; rebuild it: python -m core corpora build-demo")
    items = (
        replace(item, corpus=name, captions={language: texts[1:] for language, texts in item.captions.items()})
        for item in scenes.items
    )
    return Corpus(name, tuple(items), scenes.rejected, _OF_ONE)
