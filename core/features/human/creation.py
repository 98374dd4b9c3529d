"""Making a study of a run: sample, definition, folder, in one step for page and command line.

The pictures of a study, made again from (item, probe, seed) as the run made them.

How precisely a study that is planned can answer, before anybody is asked.

The item is the unit of every share: what is said beforehand is what the number of items makes of it. How far people
differ comes on top, is told by the votes alone (:mod:`core.features.human.crossed_votes`), and takes three annotators.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from core.corpora import registry as corpora
from core.corpora.images import encode_png
from core.corpora.item_pictures import as_picture, read_item
from core.corpora.schema import Corpus, Origin
from core.errors import InvalidInput, InvariscopeError, NotAvailable, ProbeRejected
from core.features.human.definition import VARIANT, Definition, StudyItem
from core.features.human.kinds import PREFERENCE, RATING, Kind, kind_of
from core.features.human.sampling import PAPER_STRATA, Sample, Stratum, draw_sample
from core.features.human.studies import Study, studies_dir
from core.probes.base import IDENTITY
from core.probes.registry import catalogue
from core.probes.words.natural_captions import read_again
from core.scoring.workbench import Workbench
from core.seeds import RUN_SEED
from core.statistics.power import items_for_share, items_within, smallest_share, widest_agreement, widest_half
from core.store.run_files import Run
from core.store.run_sources import origin_of_run
from core.store.store import Store

Load = Callable[[Origin], Corpus]  # what reads a corpus; pages give one that remembers


@dataclass(frozen=True, slots=True)
class Pictures:
    """PNG files of one item, at the size of the run and at equal scale; of a video, its frames side by side."""

    original: bytes  # the image of the baseline: the unedited one, or the variant of the probe that is the baseline
    variant: bytes  # the edited one; the same where the caption is edited

    def of(self, version: str) -> bytes:
        """PNG of ``original`` or ``variant``."""
        return self.variant if version == VARIANT else self.original


def read_with(told: Mapping[str, Any]) -> dict[str, Any]:
    """The part of what a manifest tells of its corpus that reads it again, for a study's definition."""
    return {key: told[key] for key in ("loader", "folder", "options") if key in told}


def _origin(definition: Definition, name: str) -> Origin:
    return corpora.origin_here(name, {"root": definition.root, **definition.read_with})


def make_pictures(definition: Definition, item: StudyItem, *, load: Load = read_again) -> Pictures:
    """Make the pictures of one item; raises NotAvailable if the corpus, the item or the probe is not here any more, or
    makes something else now."""
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
    """Pixels of one side of an item whose image is edited, uint8 RGB [H, W, 3], of a video [T, H, W, 3];
    InvariscopeError if the probe is not here, or cannot be applied any more."""
    if name == IDENTITY:
        return bench.pixels
    made = bench.make(catalogue().get(name))
    if isinstance(made, ProbeRejected) or made.pixels is None:
        raise InvalidInput(f"{name} cannot be applied to {item.item} any more: {made}")
    return made.pixels


def make_example(definition: Definition, corpus: str, item: str, *, load: Load = read_again) -> bytes:
    """PNG of an unedited item, for the instructions; raises NotAvailable if it is not here any more."""
    try:
        return encode_png(as_picture(read_item(load(_origin(definition, corpus)).get(item)).pixels))
    except (InvariscopeError, OSError) as error:
        raise NotAvailable(f"an example of study {definition.id!r} cannot be shown: {error}") from error


def create_study(
    store: Store,
    run: str,
    *,
    study_id: str,
    title: str,
    kind: str,
    total: int,
    per_item: int,
    attention_rate: float,
    seed: int,
    strata: Sequence[Stratum] = PAPER_STRATA,
    parent: Path | None = None,
    load: Load = read_again,
) -> Study:
    """Draw a sample and create the study.

    The first item's pictures are made before anything is written, so that nobody is invited to look at nothing. Raises
    InvalidInput if the run is not here or not complete, a number is out of range, or the name is taken; NotAvailable if
    the pictures of the run's corpus cannot be made here; StoreError if the study cannot be written.
    """
    complete = {each.id: each for each in store.runs() if each.status == "complete"}
    if (found := complete.get(run)) is None:
        raise InvalidInput(f"no complete run {run!r} to draw from; there are: {', '.join(complete) or 'none yet'}")
    sample = draw_sample(
        store,
        run,
        kind=kind_of(kind),
        total=total,
        seed=seed,
        strata=strata,
        attention_rate=attention_rate,
        present=labels_in_pictures(found, load=load),
    )
    return open_study(
        found,
        sample,
        study_id=study_id,
        title=title,
        kind=kind,
        per_item=per_item,
        attention_rate=attention_rate,
        seed=seed,
        parent=parent,
        load=load,
    )


def open_study(
    run: Run,
    sample: Sample,
    *,
    study_id: str,
    title: str,
    kind: str,
    per_item: int,
    attention_rate: float,
    seed: int,
    parent: Path | None = None,
    load: Load = read_again,
) -> Study:
    """Create the study of a sample that was drawn; see :func:`create_study`."""
    root = run.manifest["corpus"].get("root")
    definition = Definition(
        id=study_id,
        title=title.strip()[:120] or "Untitled",
        kind=kind,
        created=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        run=run.id,
        run_seed=int(run.manifest.get("seed", RUN_SEED)),
        root=root if isinstance(root, str) else None,
        seed=seed,
        per_item=per_item,
        attention_rate=attention_rate,
        items=sample.items,
        strata=sample.strata,
        examples=sample.examples,
        read_with=read_with(run.manifest["corpus"]),
    )
    origin_of_run(run)  # a study shows to others what it reads
    make_pictures(definition, definition.items[0], load=load)
    return Study.create(studies_dir() if parent is None else parent, definition)


def labels_in_pictures(run: Run, *, load: Load = read_again) -> Mapping[str, Collection[str]]:
    """Labels of everything annotated in each picture of a run's corpus; only what is annotated can be known. Raises
    NotAvailable if the corpus is not here."""
    corpus = load(origin_of_run(run))
    return {item.id: {other.label for other in item.others} for item in corpus.items}


TARGET_HALF, TARGET_SHARE = 0.05, 0.6
"""What a sentence names the items for: a share to within ±5 points, and three in five that lean to one version."""

SOURCE = "Wilson intervals at 95 %, exact sign test over items at 5 %"


def planned_precision(kind: Kind, *, items: int, annotators: int) -> tuple[str, ...]:
    """Say what a study of so many items, those with a known answer aside, and annotators of each can tell: a sentence
    each for shares of items, agreement and preference, as far as the kind asks for them."""
    asks = {question.name for question in kind.questions}
    share = "With one annotator an item no item has a majority, so there is no share of accepted items; ask two."
    if annotators >= 2:
        share = (
            f"A share of {items} items, such as those whose both versions are accepted, will be known to within "
            f"±{_points(widest_half(items))} at worst. ±{_points(TARGET_HALF)} take {items_within(TARGET_HALF)}. How "
            "far people differ comes on top: votes of three annotators or more tell it."
        )
    half = widest_agreement(items, annotators, len(kind.scale))
    agree = f"Percent agreement will be known to within ±{_points(half)} at worst ({annotators} annotators an item)."
    if math.isnan(half):
        agree = "With one annotator an item there is no agreement to speak of."
    said = [agree] if RATING in asks else [share, agree]
    return (*said, *([_preference(items)] if PREFERENCE in asks else []))


def _preference(items: int) -> str:
    every, half = smallest_share(items), smallest_share(items // 2)
    more = f"{items_for_share(TARGET_SHARE)} items that lean would tell {_percent(TARGET_SHARE)}"
    if math.isnan(every):
        return f"{items} items are too few for any preference to differ from one half, however one-sided. {more}."
    said = (
        f"Four of five such studies will tell a preference from one half if at least {_percent(every)} of the items "
        "lean to one version"
    )
    ties = f". With half of them ties it takes {_percent(half)}" if not math.isnan(half) else ""
    return f"{said}{ties}. {more} ({SOURCE})."


def _points(share: float) -> str:
    return f"{100 * share:.1f} points"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
