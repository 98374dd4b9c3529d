"""Suites that people rated as corpora to audit: Flickr8k-Expert and -CF, Pascal-50S, Composite, FOIL, Polaris, THumB.

An item is a picture with a caption that people wrote or rated. There are no boxes and no annotated labels:
probes that edit a caption by a person apply, whole-image edits beside it, and what needs a label where the caption
gives one. Layouts: :mod:`core.corpora.suites`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.corpora.corpus_files import Findings, LeftOut, whole_number
from core.corpora.folder_tables import NamedImages, choose_file
from core.corpora.image_header import ImageHeader
from core.corpora.image_places import auditable
from core.corpora.labels import OPTION, RULES, reader
from core.corpora.registry import corpus_loader
from core.corpora.schema import Corpus, Item, Rejection
from core.corpora.suites.model import Compared, Rated, Suite
from core.corpora.suites.suite_files import read_suite
from core.errors import BadCorpus, InvalidInput

BEST, EVERY = "best", "every"
TAKEN = (BEST, EVERY)

_FLICKR = ("flickr8k.json", "flickr8k_expert.json", "crowdflower_flickr8k.json", "flickr8k_cf.json")
_FLICKR_RAW = ("ExpertAnnotations.txt", "CrowdFlowerAnnotations.txt")
_PASCAL, _FOIL = ("pascal50s.json", "pascal_50s.json"), ("foilv1.0_test_2017.json", "foilv1.0_train_2017.json")
_ROWS = ("polaris_test.csv", "nebula_test.csv", "mscoco_THumB-1.0.jsonl")
KNOWN = (*_FLICKR, *_FLICKR_RAW, *_PASCAL, "composite.json", *_FOIL, *_ROWS)
"""Names that publishers and the field give the files, looked for where none is named."""


@corpus_loader(
    name="rated",
    summary="captions that people rated: Flickr8k-Expert, Flickr8k-CF, Pascal-50S, Composite, FOIL, Polaris, THumB, …",
    options={
        "file": f"the suite's file, where it has none of the usual names ({', '.join(KNOWN[:4])}, …)",
        "images": "folder of the pictures, in the corpus' folder or by its absolute path (the folder itself)",
        "take": "best (default): of each picture the caption that people rated best; every: each rated caption",
        "limit": "at most so many items, in the order of the file",
        **OPTION,
    },
)
def load_rated(
    root: Path,
    *,
    file: str | None = None,
    images: str | None = None,
    take: str = BEST,
    limit: Any = None,
    labels: str = RULES,
) -> Corpus:
    """Read a suite's pictures and captions; items are named after the picture, and its captions numbered. Of Pascal-50S
    and FOIL the preferred, or right, caption counts: the other one is no caption of the picture. Ratings of one caption
    by several people are averaged; of captions rated alike the first in the file is the best. Captions of one picture
    are one source: they are resampled and judged together. Raises BadCorpus if no file, or several, have a usual name,
    or the file is none of the layouts; InvalidInput if an option is wrong."""
    if take not in TAKEN:
        raise InvalidInput(f"take must be one of {', '.join(TAKEN)}, got {take!r}")
    most = None if limit is None else whole_number(limit, name="limit")
    path = choose_file(root, file, KNOWN, option="file")
    if path is None:
        raise BadCorpus(f"{root} holds none of {', '.join(KNOWN)}; name the suite's file with --option file=NAME")
    suite = read_suite(path)
    found, pictures = Findings(), NamedImages.of(root, images)
    if suite.left_out:
        told = Rejection(path.name, "missing-cell", f"{path.name} has entries without a usable rating or caption")
        found.count("missing-cell", suite.left_out, told)
    items: list[Item] = []
    headers: dict[str, tuple[Path, ImageHeader]] = {}
    for own, image, caption, rating, references in _captions(suite, take):
        if len(items) == most:
            break
        try:
            if image not in headers:
                there = pictures.find(image, path.name)
                headers[image] = there, auditable(there, where=path.name)
        except LeftOut as reason:
            found.leave_out(reason.rejection(own))
            continue
        items.append(
            Item(
                id=own,
                corpus=corpus_name(suite),
                image_path=headers[image][0],
                width=headers[image][1].width,
                height=headers[image][1].height,
                captions={_language(suite): tuple(dict.fromkeys((caption, *references)))},
                source=f"{suite.name}, {image}",
                group=image,
                facts={} if rating is None else {"rating": rating},
            )
        )
    which = "the best rated caption of each picture" if take == BEST else "every rated caption"
    name = corpus_name(suite)
    return Corpus(
        name, tuple(items), found.rejected, f"{suite.name}, {which}", remarks=found.remarks, read_labels=reader(labels)
    )


def corpus_name(suite: Suite) -> str:
    """What runs call the corpus of a suite, e.g. ``flickr8k-expert``."""
    return suite.name.casefold()


def _language(suite: Suite) -> str:
    spoken = {each.language for each in suite.rated}
    if len(spoken) > 1:
        raise BadCorpus(f"{suite.name} has captions in {', '.join(sorted(spoken))}; it is no suite of one language")
    return spoken.pop() if spoken else "en"


_Caption = tuple[str, str, str, float | None, tuple[str, ...]]
"""Name of an item, its picture, its caption, the mean of its ratings, and further right captions."""


def _captions(suite: Suite, take: str) -> Iterator[_Caption]:
    """Captions in the order of the suite, each of a picture once."""
    ratings: dict[tuple[str, str], list[float]] = {}
    further: dict[tuple[str, str], tuple[str, ...]] = {}
    entries: list[Rated | Compared] = [*suite.rated, *suite.compared]
    for each in entries:
        key = (each.image, each.caption if isinstance(each, Rated) else each.preferred)
        ratings.setdefault(key, []).extend([each.rating] if isinstance(each, Rated) else [])
        further.setdefault(key, each.references)
    by_image: dict[str, list[_Caption]] = {}
    for (image, caption), given in ratings.items():
        if caption:
            mean, own = sum(given) / len(given) if given else None, by_image.setdefault(image, [])
            own.append((f"{image}-{len(own) + 1}", image, caption, mean, further[image, caption]))
    for image, own in by_image.items():
        if take == BEST:
            yield image, *max(own, key=lambda each: -1.0 if each[3] is None else each[3])[1:]
        else:
            yield from own
