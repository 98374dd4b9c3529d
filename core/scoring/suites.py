"""An evaluator over a human-labelled suite: every caption beside its image and its references, scored once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np

from core.corpora.corpus_files import inside
from core.corpora.suites import Suite, with_references
from core.corpora.videos import find_videos
from core.errors import InvalidInput
from core.evaluators.base import Evaluator
from core.evaluators.references import Referenced
from core.scoring.captions import CaptionedImage, score_captions

Asked = tuple[str, str, tuple[str, ...]]
"""What a score is of: image, caption, references; no references where an evaluator takes none."""


@dataclass(frozen=True, slots=True)
class SuiteScores:
    """Scores in the order of the suite, of one draw of its references or of several.

    Args:
        rated: of ``suite.rated``, float64 [n] or [draws, n]; NaN where there is none.
        preferred: of the preferred captions of ``suite.compared``, float64 [m] or [draws, m].
        other: of the other ones, likewise.
        errors: one sentence for each caption without a score, its image's absence included, and one for each language
            that the evaluator does not read.
    """

    rated: np.ndarray
    preferred: np.ndarray
    other: np.ndarray
    errors: tuple[str, ...]


def score_suite(
    evaluator: Evaluator,
    suite: Suite,
    folders: Sequence[Path],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> SuiteScores:
    """Score every caption of a suite.

    Args:
        evaluator: loaded; the caller holds its lease.
        suite: of :func:`core.corpora.suites.read_suite`.
        folders: where the images lie: below a folder as the suite names them, or by their file name alone.
        progress: called with (done, total).

    Raises:
        InvalidInput: if a folder is missing, or none of the images is there.
    """
    check_folders(folders)
    unread = {each.language for each in suite.rated if not evaluator.spec.reads(each.language)}
    if suite.rated and len(unread) == len({each.language for each in suite.rated}):
        raise InvalidInput(f"{evaluator.spec.unread(sorted(unread)[0])}, and {suite.name} has no other; choose another")
    if isinstance(evaluator, Referenced):
        check_referenced(evaluator, suite)
    else:
        suite = with_references(suite, 0)
    pairs = asked_of(suite)
    silent = {pair for pair, each in zip(pairs, suite.rated, strict=False) if each.language in unread}
    silent -= {pair for pair, each in zip(pairs, suite.rated, strict=False) if each.language not in unread}
    places = places_of(suite, folders)
    unique = list(dict.fromkeys(pair for pair in pairs if places[pair[0]] is not None and pair not in silent))
    lines = [
        CaptionedImage(str(number), caption, place, references)
        for number, (image, caption, references) in enumerate(unique)
        if (place := places[image]) is not None
    ]
    found = score_captions(evaluator, lines, progress=progress)
    scores = {pair: np.nan if each.score is None else each.score for pair, each in zip(unique, found, strict=True)}
    errors = [f"{unique[int(each.id)][0]}: {each.error}" for each in found if each.error]
    errors += [f"{image}: no such image in {_listed(folders)}" for image, place in places.items() if place is None]
    errors += [
        f"{sum(each.language == language for each in suite.rated)} captions: {evaluator.spec.unread(language)}"
        for language in sorted(unread)
    ]
    return in_order(suite, scores, errors)


def check_referenced(evaluator: Evaluator | type[Evaluator], suite: Suite) -> None:
    """Refuse a suite without references for an evaluator that compares with some; see :func:`check_references`."""
    check_references(evaluator.spec.name, suite)


def check_references(name: str, suite: Suite) -> None:
    """Refuse a suite without references.

    Args:
        name: of what compares captions with references.
        suite: as it was read.

    Raises:
        InvalidInput: saying what to choose instead.
    """
    if not suite.most_references:
        raise InvalidInput(
            f"{name} compares with reference captions and this file of {suite.name} holds none; choose a layout with "
            "references, or an evaluator without"
        )


def in_order(suite: Suite, scores: Mapping[Asked, float], errors: Sequence[str]) -> SuiteScores:
    """Put scores into the order of a suite; NaN where there is none."""
    values = np.array([scores.get(pair, np.nan) for pair in asked_of(suite)], dtype=np.float64)
    count = len(suite.rated)
    return SuiteScores(values[:count], values[count::2], values[count + 1 :: 2], tuple(errors))


def stacked(draws: Sequence[SuiteScores]) -> SuiteScores:
    """Several draws of the same suite as one: arrays [draws, n], each error once."""
    rated, preferred, other = (
        np.stack([getattr(each, name) for each in draws]) for name in ("rated", "preferred", "other")
    )
    return SuiteScores(rated, preferred, other, tuple(dict.fromkeys(text for each in draws for text in each.errors)))


def asked_of(suite: Suite) -> list[Asked]:
    """What is scored: every rating's caption, then both sides of every comparison."""
    pairs = [(each.image, each.caption, each.references) for each in suite.rated]
    return pairs + [
        (each.image, text, each.references) for each in suite.compared for text in (each.preferred, each.other)
    ]


def check_folders(folders: Sequence[Path]) -> None:
    """Refuse a folder that is not there.

    Raises:
        InvalidInput: naming it.
    """
    for folder in folders:
        if not folder.is_dir():
            raise InvalidInput(f"no folder {folder}; give the folder that holds the suite's images or videos")


def places_of(suite: Suite, folders: Sequence[Path]) -> dict[str, Path | None]:
    """Where each image or video of a suite lies; None where it is in no folder.

    Raises:
        InvalidInput: if none is there.
    """
    names = list(dict.fromkeys(image for image, _, _ in asked_of(suite)))
    if suite.videos:
        there = {key: path for folder in reversed(folders) for key, path in find_videos(folder).items()}
        found = {name: there.get(name) or there.get(PurePosixPath(name).stem) for name in names}
    else:
        found = {name: place_of(folders, name) for name in names}
    if names and not any(found.values()):
        what = "videos" if suite.videos else "images"
        raise InvalidInput(f"none of the {len(found)} {what}, such as {names[0]!r}, is in {_listed(folders)}")
    return found


def place_of(folders: Sequence[Path], name: str) -> Path | None:
    """The image's file; a name that leads out of a folder is no image of the suite."""
    for wanted in dict.fromkeys((name, name.replace("\\", "/").rpartition("/")[2])):
        for folder in folders:
            try:
                path = inside(folder, wanted)
            except InvalidInput:
                continue
            if path.is_file():
                return path
    return None


def _listed(folders: Sequence[Path]) -> str:
    return ", ".join(map(str, folders))
