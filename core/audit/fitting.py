"""What fits a corpus: its usual subjects and evaluators, and the probes that its items hold the ground for."""

from collections.abc import Collection, Sequence

from core.corpora.schema import Corpus, Item
from core.errors import InvalidInput
from core.evaluators.base import EvaluatorSpec
from core.evaluators.references import NO_REFERENCE
from core.evaluators.registry import find
from core.evaluators.video.items import scores_videos
from core.probes.base import ENGLISH, FRAMES, HUMAN, TEMPLATE, Edits, Probe
from core.probes.registry import DEFAULT, catalogue, select


def usual_subjects(corpus: Corpus) -> tuple[str, ...]:
    """Subjects of a run that names none: the template, and where no source gives a label, the human caption."""
    given = any(item.label and not item.label_by for item in corpus.items)
    return (TEMPLATE,) if given or not any(item.captions for item in corpus.items) else (HUMAN,)


def usual_evaluators(corpus: Corpus, names: Sequence[str]) -> tuple[str, ...]:
    """Those of some evaluators that can score items of a corpus."""
    videos = any(item.frames for item in corpus.items)
    return tuple(name for name in names if not videos or scores_videos(find(name)))


def applicable(corpus: Corpus, patterns: Sequence[str]) -> tuple[Probe, ...]:
    """Probes that the patterns select; one that no item holds the ground for stays only where it is named itself.

    Of videos the default holds the edits of frames besides.
    """
    found = select(patterns)
    needed = {FRAMES, _LABEL, *(probe.needs for probe in found if probe.needs)}
    held = {need for need in needed if any(getattr(item, need) for item in corpus.items)}
    if FRAMES in held and DEFAULT in patterns:
        found = tuple(probe for probe in catalogue() if probe in found or probe.needs == FRAMES)
    lacking = {probe.name: _lacking(probe, held) for probe in found if probe.name not in patterns}
    kept = tuple(probe for probe in found if not lacking.get(probe.name))
    if not kept:
        told = " or ".join(sorted(set(lacking.values())))
        raise InvalidInput(f"no item of corpus {corpus.name!r} has {told}, which {', '.join(patterns)} need")
    return kept


def check_references(
    specs: Sequence[EvaluatorSpec], items: Sequence[Item], subjects: Collection[str], languages: Sequence[str]
) -> None:
    """Refuse an evaluator that compares with references where no item has a caption beside the one that is scored.
    ``subjects``: that are scored; ``languages``: of the human captions among them.
    Raises InvalidInput naming the first such evaluator."""
    needing = next((spec.name for spec in specs if spec.takes_references), None)
    if needing is None:
        return
    for item in items:
        if TEMPLATE in subjects and item.label and item.captions.get(ENGLISH):
            return
        if HUMAN in subjects and any(len(set(item.captions.get(each, ()))) > 1 for each in languages):
            return
    raise InvalidInput(
        f"{NO_REFERENCE.format(name=needing).replace('this item', 'every item')}, or choose another evaluator"
    )


_LABEL = "label"
_PICTURE = "a single picture"


def _lacking(probe: Probe, held: Collection[str]) -> str:
    """What a probe needs that no item has, of the fields that some items have; empty: nothing."""
    if probe.edits is Edits.IMAGE and FRAMES in held and probe.needs != FRAMES and not probe.framewise:
        return _PICTURE
    if probe.edits is Edits.CAPTION and probe.subjects == (TEMPLATE,) and _LABEL not in held:
        return _LABEL
    return "" if probe.needs in ("", *held) else probe.needs
