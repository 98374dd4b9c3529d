"""The demo corpora that ship with Invariscope: composed and real photographs, scenes of several things, quadruples."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from core import settings
from core.corpora.labels import load_labels
from core.corpora.packed_pictures import unpacked
from core.corpora.registry import CorpusLoader, corpus_loader
from core.corpora.schema import CATEGORIES, EXTRA_CATEGORIES, Box, Corpus, Item, Mask, Rejection, Rival, SceneObject
from core.errors import BadCorpus

CORPUS = "demo"
SCENES = "demo-scenes"
SCENE_CORPORA = (SCENES, "demo-scenes-one")
"""Corpora of composed scenes, which list every copy of every thing in the picture."""

PROTOTYPES = "demo-prototypes"
ITEMS_FILE = "items.jsonl"
LISTINGS: Mapping[str, str] = {CORPUS: ITEMS_FILE, SCENES: "scenes.jsonl", PROTOTYPES: "prototypes.jsonl"}
"""Corpus -> its list of items. All lie in one folder, with their images beside, in a folder or packed."""

CHECKSUMS_FILE = "SHA256SUMS"
IMAGES_FOLDER = "images"
PACK = "images.tar"  # what ships in place of the folder of images: its files, under their names in it

_DESCRIPTION = (
    "Photographic cut-outs of Tux Paint, and a few of its drawings for what it has no photograph of, on photographic "
    "backgrounds in all seven coverage bins; beside them the real photographs that scikit-image and scikit-learn "
    "ship. Captions in five languages. ATTRIBUTION.md names the licence and the source of every image."
)


def read_listing(root: Path | None, name: str, description: str) -> Corpus:
    """Read one of the corpora that are built together, and check every image against its recorded hash.
    ``root``: folder of the build; None reads the one that ships.
    Raises BadCorpus if the list of items is missing or damaged."""
    folder = demo_dir() if root is None else Path(root)
    remedy = "restore it with git or rebuild it: make demo"
    try:
        data = (folder / LISTINGS[name]).read_bytes()
        sums = (folder / CHECKSUMS_FILE).read_text(encoding="utf-8")
    except OSError as error:
        raise BadCorpus(f"{folder} is no demo corpus ({error.strerror}: {error.filename}); {remedy}") from error
    recorded = {path: digest for digest, _, path in (line.partition("  ") for line in sums.splitlines())}
    if recorded.get(LISTINGS[name]) != hashlib.sha256(data).hexdigest():
        raise BadCorpus(f"{folder / LISTINGS[name]} is not the file that {CHECKSUMS_FILE} records; {remedy}")
    listed = data.decode("utf-8")
    items, rejected = _read(listed, folder, pictures_of(folder), name)
    if rejected and (folder / PACK).is_file():
        items, rejected = _read(listed, folder, pictures_of(folder, anew=True), name)
    return Corpus(name, tuple(items), tuple(rejected), description)


def _read(listed: str, folder: Path, pictures: Path, name: str) -> tuple[list[Item], list[Rejection]]:
    items: list[Item] = []
    rejected: list[Rejection] = []
    for number, line in enumerate(listed.splitlines(), 1):
        item = from_line(line, pictures, f"{folder / LISTINGS[name]}, line {number}", corpus=name)
        reason = _damage(item)
        if reason is None:
            items.append(item)
        else:
            rejected.append(Rejection(item.id, *reason))
    return items, rejected


def pictures_of(folder: Path, *, anew: bool = False) -> Path:
    """Folder whose ``images`` are the images of a build: the build itself, or one of the cache where they are packed.
    ``anew``: unpack them once more, as one of them is damaged in the cache.
    Raises BadCorpus if the pack is damaged; StoreError if the cache cannot be written."""
    pack = folder / PACK
    return unpacked(pack, compared=True, anew=anew) if pack.is_file() else folder


def demo_dir() -> Path:
    """Folder of the demo corpus: the user's own build where there is one, else the one that ships."""
    own = settings.data_dir() / "demo"
    return own if own.is_dir() else settings.ROOT / "data" / "demo"


def _damage(item: Item) -> tuple[str, str] | None:
    assert item.image_path is not None
    files = [(item.image_path, item.bytes_sha256), *((rival.path, rival.bytes_sha256) for rival in item.rivals)]
    for path, recorded in files:
        try:
            data = path.read_bytes()
        except OSError as error:
            return "missing-image", f"{path} cannot be read ({error.strerror}); restore or rebuild the corpus"
        if hashlib.sha256(data).hexdigest() != recorded:
            return "changed-image", f"{path} has another hash than recorded; restore or rebuild the corpus"
    return None


_QUADRUPLES = (
    "A text that names a hypernym and the state of one thing beside it, a picture that fits it and shows a "
    "non-prototype, and three rivals of that picture: with the prototype, with the thing in another state, with both. "
    "Animals and objects, composed of Tux Paint's cut-outs; English texts. Items of one non-prototype's cut-out share "
    "a group. ATTRIBUTION.md names the licence and the source of every image."
)
_SCENES = (
    "Two or three kinds of the demo corpus's cut-outs side by side, one to four copies of each, none hidden: every "
    "object has its exact mask, every caption says the numbers and the order from left to right, in five languages. "
    "Scenes of the same cut-outs share a group. ATTRIBUTION.md names the licence and the source of every image."
)
_SCENES_OF_ONE = (
    "The pictures of demo-scenes, each with a caption that names one kind of its things alone, with number and place, "
    "in five languages: what else is there can be named in its place, and the caption is false of that place alone."
)


def _shipped(name: str, description: str, summary: str) -> CorpusLoader:
    """The loader of a corpus of the build; an image that is missing or was changed is rejected with its reason."""

    @corpus_loader(name=name, summary=summary, needs_root=False)
    def load(root: Path | None) -> Corpus:
        return read_listing(root, name, description)

    return load


load_demo = _shipped(
    CORPUS,
    _DESCRIPTION,
    "some 250 pictures that ship with Invariscope: one thing each, small to large, with captions in 5 languages",
)
load_demo_prototypes = _shipped(
    PROTOTYPES,
    _QUADRUPLES,
    "182 quadruples that ship with Invariscope: non-prototype and prototype, one thing right and wrong",
)
load_demo_scenes = _shipped(
    SCENES,
    _SCENES,
    "66 images of several objects that ship with Invariscope: exact counts, masks and areas, 5 languages",
)


@corpus_loader(
    name="demo-scenes-one",
    summary="the 66 images of demo-scenes, each with a caption that names one of its kinds of things, 5 languages",
    needs_root=False,
)
def load_demo_scenes_one(root: Path | None) -> Corpus:
    """Read the scenes with their second captions in the place of the first.
    ``root``: folder of a demo corpus; None reads the one that ships.
    Raises BadCorpus if the list of items is missing or damaged, or is of a build whose scenes have one caption each."""
    name = "demo-scenes-one"
    scenes = read_listing(root, "demo-scenes", _SCENES)
    short = next((item.id for item in scenes.items if min(map(len, item.captions.values()), default=0) < 2), None)
    if short:
        raise BadCorpus(f"scene {short!r} has no second caption; rebuild it: make demo")
    items = (
        replace(item, corpus=name, captions={language: texts[1:] for language, texts in item.captions.items()})
        for item in scenes.items
    )
    return Corpus(name, tuple(items), scenes.rejected, _SCENES_OF_ONE)


def from_line(line: str, root: Path, where: str, *, corpus: str = CORPUS) -> Item:
    """Read one line back; box and coverage follow from the mask.
    Raises BadCorpus if a field is missing or has another shape."""
    try:
        record = json.loads(line)
        if record["category"] not in CATEGORIES + EXTRA_CATEGORIES:
            raise ValueError(f"unknown category {record['category']!r}")
        width, height = int(record["width"]), int(record["height"])
        mask = Mask(height, width, str(record["mask"]).encode("ascii"))
        if mask.box is None:
            raise ValueError("its mask is empty")
        return Item(
            id=str(record["id"]),
            corpus=corpus,
            image_path=root / _image(record["file"]),
            width=width,
            height=height,
            captions={str(language): tuple(map(str, texts)) for language, texts in record["captions"].items()},
            label=str(record["label"]),
            category=record["category"],
            box=mask.box,
            mask=mask,
            others=tuple(_other(*other, size=(height, width)) for other in record["others"]),
            licence=str(record["licence"]),
            source=str(record["source"]),
            bytes_sha256=str(record["bytes_sha256"]),
            pixels_sha256=str(record["pixels_sha256"]),
            group=(record["made_from"].get("stamp_sha256") or "", record["made_from"].get("background") or ""),
            rivals=tuple(
                Rival(
                    role=str(rival["role"]),
                    path=root / _image(rival["file"]),
                    facts=_facts(rival["facts"]),
                    bytes_sha256=str(rival["bytes_sha256"]),
                    pixels_sha256=str(rival["pixels_sha256"]),
                )
                for rival in record.get("rivals", ())
            ),
            facts=_facts(record.get("facts", {})),
            backdrop=str(record["made_from"].get("background", "")) if corpus == CORPUS else "",
            looked_for=load_labels("coco").taxonomy.names,  # composed: whatever it shows was put into it
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise BadCorpus(f"{where} cannot be used: {reason}; restore the file or rebuild the corpus") from error


def _image(name: str) -> Path:
    path = Path(name)
    if path.parts != (IMAGES_FOLDER, path.name) or path.name in ("", ".", ".."):
        raise ValueError(f"'file' must name a file in {IMAGES_FOLDER}/, got {name!r}")
    return path


def _other(
    label: str, x: float, y: float, width: float, height: float, counts: str | None = None, *, size: tuple[int, int]
) -> SceneObject:
    mask = None if counts is None else Mask(*size, str(counts).encode("ascii"))
    return SceneObject(str(label), Box(float(x), float(y), float(width), float(height)), mask)


def _facts(record: Mapping[str, Any]) -> dict[str, str | float]:
    return {str(key): value if isinstance(value, str) else float(value) for key, value in record.items()}
