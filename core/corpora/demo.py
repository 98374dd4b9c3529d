"""The demo corpus that ships with Invariscope: composed and real photographs in all seven coverage bins."""

import hashlib
from pathlib import Path

from core import settings
from core.corpora.registry import corpus_loader
from core.corpora.schema import Corpus, Item, Rejection
from core.errors import BadCorpus

_DESCRIPTION = (
    "Photographic cut-outs of Tux Paint, and a few of its drawings for what it has no photograph of, on photographic "
    "backgrounds in all seven coverage bins; beside them the real photographs that scikit-image and scikit-learn "
    "ship. Captions in five languages. ATTRIBUTION.md names the licence and the source of every image."
)


@corpus_loader(
    name="demo",
    summary="some 250 images that ship with Invariscope: captions in 5 languages, masks, all coverage bins",
    needs_root=False,
)
def load_demo(root: Path | None) -> Corpus:
    """Read the demo corpus and check every image against its recorded hash.

    Args:
        root: folder of a demo corpus; None reads the one that ships.

    Returns:
        The corpus; an image that is missing or was changed is rejected with its reason.

    Raises:
        BadCorpus: if the list of items is missing or damaged.
    """
    return read_listing(root, "demo", _DESCRIPTION)


def read_listing(root: Path | None, name: str, description: str) -> Corpus:
    """Read one of the corpora that are built together, and check every image against its recorded hash.

    Args:
        root: folder of the build; None reads the one that ships.
        name: of the corpus, a key of ``core.corpora.demo_build.records.LISTINGS``.

    Raises:
        BadCorpus: if the list of items is missing or damaged.
    """
    from core.corpora.demo_build.records import CHECKSUMS_FILE, LISTINGS, from_line

    folder = demo_dir() if root is None else Path(root)
    listing = _verified(folder, LISTINGS[name], CHECKSUMS_FILE)
    items: list[Item] = []
    rejected: list[Rejection] = []
    for number, line in enumerate(listing.splitlines(), 1):
        item = from_line(line, folder, f"{folder / LISTINGS[name]}, line {number}", corpus=name)
        reason = _damage(item)
        if reason is None:
            items.append(item)
        else:
            rejected.append(Rejection(item.id, *reason))
    return Corpus(name, tuple(items), tuple(rejected), description)


def demo_dir() -> Path:
    """Folder of the demo corpus: the user's own build where there is one, else the one that ships."""
    own = settings.data_dir() / "demo"
    return own if own.is_dir() else settings.ROOT / "data" / "demo"


def _verified(folder: Path, name: str, checksums: str) -> str:
    """Return the text of a listed file, after comparing it with the checksums."""
    remedy = "restore it with git or rebuild it: python -m core corpora build-demo"
    try:
        data = (folder / name).read_bytes()
        sums = (folder / checksums).read_text(encoding="utf-8")
    except OSError as error:
        raise BadCorpus(f"{folder} is no demo corpus ({error.strerror}: {error.filename}); {remedy}") from error
    recorded = {path: digest for digest, _, path in (line.partition("  ") for line in sums.splitlines())}
    if recorded.get(name) != hashlib.sha256(data).hexdigest():
        raise BadCorpus(f"{folder / name} is not the file that {checksums} records; {remedy}")
    return data.decode("utf-8")


def _damage(item: Item) -> tuple[str, str] | None:
    """Return the code and the sentence for an image that is missing or changed, or None."""
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
