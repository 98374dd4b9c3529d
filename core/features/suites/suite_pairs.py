"""A suite's captions given out to a metric that runs elsewhere, and its scores read back."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from core.corpora.pair_ids import (
    CANDIDATES,
    PAIRS,
    REFERENCES,
    GivenPair,
    pair_id,
    write_candidates,
    write_lines,
    write_references,
)
from core.corpora.score_files import ScoreFile
from core.corpora.suites import ENGLISH, Suite
from core.corpora.suites.fleur_scores import TextScores
from core.errors import InvalidInput
from core.scoring.suite_scores import Asked, SuiteScores, asked_of, check_folders, in_order, places_of
from core.writing import write_folder_whole


def given_pairs(suite: Suite) -> dict[Asked, GivenPair]:
    """Every caption of a suite once, with all its references, in the order in which it is scored.

    The ids follow from the suite's file alone: its images need not be here to read scores back.
    """
    languages = [each.language for each in suite.rated] + [ENGLISH] * (2 * len(suite.compared))
    found: dict[Asked, GivenPair] = {}
    for asked, language in zip(asked_of(suite), languages, strict=True):
        if asked not in found:
            image, caption, references = asked
            found[asked] = GivenPair(
                pair_id(image, caption, language, references), image, caption, language, references
            )
    return found


def export_suite(suite: Suite, folders: Sequence[Path], out: Path) -> tuple[int, int]:
    """Write a suite's captions with the places of their images, for any metric to score.

    Args:
        folders: where the images lie, see :func:`core.scoring.suite_scores.score_suite`.
        out: folder to write ``pairs.jsonl``, ``candidates.json`` and, where there are any, ``references.json`` into.

    Returns:
        Pairs written, and those left out because their image is not in the folders.

    Raises:
        InvalidInput: if a folder or every image is missing, or ``out`` holds such files already.
        StoreError: if the folder cannot be written; it is as it was then.
    """
    check_folders(folders)
    pairs, places = given_pairs(suite), places_of(suite, folders)
    here = [
        GivenPair(each.id, str(place.absolute()), each.caption, each.language, each.references)
        for each in pairs.values()
        if (place := places[each.image]) is not None
    ]
    taken = next((name for name in (PAIRS, CANDIDATES, REFERENCES) if (out / name).exists()), None)
    if taken:
        raise InvalidInput(f"{out / taken} exists; choose another folder")
    write_folder_whole(out, partial(_fill, here))
    return len(here), len(pairs) - len(here)


def _fill(here: Sequence[GivenPair], out: Path) -> None:
    write_lines(out / PAIRS, here)
    write_candidates(out / CANDIDATES, here)
    if any(each.references for each in here):
        write_references(out / REFERENCES, here)


def imported_scores(suite: Suite, scores: ScoreFile) -> SuiteScores:
    """Scores of a suite that were made elsewhere.

    Returns:
        NaN, with one sentence each in ``errors``, where the file has no number for a caption.

    Raises:
        InvalidInput: if the file names what is no caption of the suite.
    """
    pairs = given_pairs(suite)
    scores.check_ids({each.id for each in pairs.values()}.__contains__, suite.name)
    found = {key: scores.of(each.id) for key, each in pairs.items()}
    errors = [f"{image}: {error}" for (image, _, _), (_, error) in found.items() if error]
    return in_order(suite, {key: score for key, (score, _) in found.items()}, errors)


def scores_of_text(suite: Suite, scores: TextScores) -> SuiteScores:
    """Scores of a suite in FLEUR's text, which names images and captions.

    Returns:
        NaN, with one sentence each in ``errors``, where the file has no score of a caption.

    Raises:
        InvalidInput: if it has none at all of the suite.
    """
    pairs = dict.fromkeys(asked_of(suite))
    found = {asked: scores.scores[asked[:2]] for asked in pairs if asked[:2] in scores.scores}
    if not found:
        raise InvalidInput(f"{scores.name} has no score of a caption of {suite.name}; give the file of this suite")
    errors = [
        f"{image}: {caption[:60]!r} is not in {scores.name}"
        for image, caption, references in pairs
        if (image, caption, references) not in found
    ]
    return in_order(suite, found, errors)
