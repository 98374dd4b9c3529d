"""What holding evaluators to a suite would cost, before a picture is decoded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.corpora.suites import Suite, with_references
from core.errors import InvalidInput
from core.evaluators.base import DualEncoder, Evaluator
from core.evaluators.references import Referenced
from core.scoring.suite_references import settings_of
from core.scoring.suite_words import check_words
from core.scoring.suites import asked_of, check_referenced, place_of


@dataclass(frozen=True, slots=True)
class SuiteWork:
    """One evaluator's part.

    Args:
        evaluator: its name.
        draws: how often the suite is scored: once, or once for each way and draw of comparing with references.
        inputs: pictures that a dual encoder encodes, or pairs that any other scores, over all draws; 0 of a metric that
            compares words alone.
    """

    evaluator: str
    draws: int
    inputs: int


@dataclass(frozen=True, slots=True)
class SuiteCost:
    """What is to be done.

    Args:
        captions: different pairs of picture and caption whose picture is there.
        images: different pictures, those that are there.
        missing: names of pictures that no folder holds.
        work: by evaluator.
    """

    captions: int
    images: int
    missing: tuple[str, ...]
    work: tuple[SuiteWork, ...]

    def seconds(self, speeds: Mapping[str, float]) -> float | None:
        """Duration at a measured number of seconds a picture; None unless every evaluator's is known.

        An audit measures a speed over pictures with a caption each, so that it holds for pairs too.
        """
        reading = [each for each in self.work if each.inputs]
        if not reading or any(each.evaluator not in speeds for each in reading):
            return None
        return sum(speeds[each.evaluator] * each.inputs for each in reading)


def suite_cost(
    suite: Suite, folders: Sequence[Path], evaluators: Sequence[type[Evaluator]], *, words: Sequence[str] = ()
) -> SuiteCost:
    """Count what the evaluators would do on a suite.

    Args:
        suite: as it was read.
        folders: of its pictures.
        evaluators: that read pictures.
        words: metrics of :data:`core.evaluators.references.BY_WORDS`, which read none.

    Raises:
        InvalidInput: if none of the pictures is there, or an evaluator needs references and the suite has none.
    """
    pairs = {pair[:2] for pair in asked_of(with_references(suite, 0))}
    names = dict.fromkeys(image for image, _ in sorted(pairs))
    there = {name for name in names if place_of(folders, name) is not None}
    if names and not there:
        raise InvalidInput(
            f"none of the {len(names):,} pictures, such as {next(iter(names))!r}, is in "
            f"{', '.join(map(str, folders))}; give the folder that holds them"
        )
    held = [pair for pair in pairs if pair[0] in there]
    work = []
    for kind in evaluators:
        draws = _draws(kind, suite)
        each = len(there) if issubclass(kind, DualEncoder) else len(held)
        work.append(SuiteWork(kind.spec.name, draws, draws * each))
    for name in words:
        check_words(suite, name)
        work.append(SuiteWork(name, sum(setting.draws for setting in settings_of(suite)), 0))
    missing = tuple(name for name in names if name not in there)
    return SuiteCost(len(held), len(there), missing, tuple(work))


def _draws(kind: type[Evaluator], suite: Suite) -> int:
    if not issubclass(kind, Referenced):
        return 1
    check_referenced(kind, suite)
    return sum(setting.draws for setting in settings_of(suite))
