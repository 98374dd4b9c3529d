"""One composed item: a stamp with its captions on a background."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.corpora.demo_build.compose import compose
from core.corpora.demo_build.plan import LANGUAGES, ItemEntry, Plan, StampEntry
from core.corpora.demo_build.records import CORPUS
from core.corpora.demo_build.stamps import LICENCE, PACKAGE, PACKAGE_VERSION, read_captions, read_stamp
from core.corpora.demo_build.write import encode_jpeg
from core.corpora.schema import Item, Mask
from core.errors import BadCorpus
from core.seeds import RUN_SEED, stream


def composed_item(entry: ItemEntry, plan: Plan, stamps: Path) -> tuple[Item, bytes, dict[str, Any]]:
    """Compose one item of the plan.

    Args:
        stamps: folder of the stamps.

    Returns:
        The item without hashes, the bytes of its JPEG, and what it was made from.

    Raises:
        BadCorpus: naming the item, if its stamp does not fit its bin or frame, or has no captions.
    """
    about = plan.stamps[entry.stamp]
    try:
        composition = compose(
            read_stamp(stamps, entry.stamp),
            bin_name=entry.coverage_bin,
            background=entry.background,
            pose=about.pose,
            size=(entry.width, entry.height),
            rng=stream(RUN_SEED, "build-demo", entry.id),
        )
    except BadCorpus as error:
        raise BadCorpus(f"item {entry.id!r}: {error}") from error
    mask = Mask.from_array(composition.mask)
    item = Item(
        id=entry.id,
        corpus=CORPUS,
        image_path=Path(f"{entry.id}.jpg"),
        width=entry.width,
        height=entry.height,
        captions=_captions(entry, plan, stamps, mask),
        label=about.label,
        category=about.category,
        box=mask.box,
        mask=mask,
        licence=LICENCE,
        source=_source(about, entry.background, composition.photographs),
        backdrop=entry.background,
    )
    if item.coverage_bin != entry.coverage_bin:
        raise BadCorpus(f"item {entry.id!r} covers {item.coverage:.3f} of its frame, not {entry.coverage_bin} %")
    made_from = {
        "stamp_sha256": hashlib.sha256((stamps / entry.stamp).read_bytes()).hexdigest(),
        "scale": round(composition.scale, 3),
        "background": entry.background,
        "photographic": about.photographic,
        "captions": "a sentence of this corpus's grammar, then one "
        + ("of the stamp's own text" if about.captions == "stamp" else "written for this corpus"),
    }
    return item, encode_jpeg(composition.pixels), made_from


def _captions(entry: ItemEntry, plan: Plan, stamps: Path, mask: Mask) -> dict[str, tuple[str, ...]]:
    """The sentence, then the short caption of the stamp, of every language."""
    about = plan.stamps[entry.stamp]
    short = _short_captions(about, plan, stamps)
    said = plan.grammar.sentences(label=about.label, stamp=about.stamp, background=entry.background, mask=mask)
    return {language: (*said[language], *short[language]) for language in LANGUAGES}


def _short_captions(about: StampEntry, plan: Plan, stamps: Path) -> Mapping[str, tuple[str, ...]]:
    if about.captions == "stamp":
        return read_captions(stamps, about.stamp, LANGUAGES)
    if about.stamp not in plan.captions:
        raise BadCorpus(f"captions.csv has no captions of {about.stamp!r}; write them in every language")
    return plan.captions[about.stamp]


def _source(about: StampEntry, background: str, photographs: tuple[str, ...]) -> str:
    kind = "photographic cut-out" if about.photographic else "drawing"
    return (
        f"{PACKAGE} {PACKAGE_VERSION}: {about.stamp} ({kind}) on background {background!r} made of "
        f"scikit-image's {' and '.join(photographs)}"
    )
