"""A suite's captions given out to a metric that runs elsewhere, and its scores read back."""

from collections.abc import Sequence
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
from core.errors import InvalidInput
from core.scoring.suites import SuiteScores, in_order, place_of


def given_pairs(suite: Suite) -> dict[tuple[str, str], GivenPair]:
    """Every caption of a suite once, by image and caption, in the order in which it is scored.

    The ids follow from the suite's file alone: its images need not be here to read scores back.
    """
    found: dict[tuple[str, str], GivenPair] = {}

    def add(image: str, caption: str, language: str, references: Sequence[str]) -> None:
        if (image, caption) not in found:
            known = pair_id(image, caption, language, references)
            found[image, caption] = GivenPair(known, image, caption, language, tuple(references))

    for rated in suite.rated:
        add(rated.image, rated.caption, rated.language, rated.references)
    for each in suite.compared:
        for caption in (each.preferred, each.other):
            add(each.image, caption, ENGLISH, each.references)
    return found


def export_suite(suite: Suite, folders: Sequence[Path], out: Path) -> tuple[int, int]:
    """Write a suite's captions with the places of their images, for any metric to score.

    Args:
        folders: where the images lie, see :func:`core.scoring.suites.score_suite`.
        out: folder to write ``pairs.jsonl``, ``candidates.json`` and, where there are any, ``references.json`` into.

    Returns:
        Pairs written, and those left out because their image is not in the folders.

    Raises:
        InvalidInput: if a folder or every image is missing, or ``out`` holds such files already.
        OSError: if something cannot be written.
    """
    for folder in folders:
        if not folder.is_dir():
            raise InvalidInput(f"no folder {folder}; give the folder that holds the suite's images")
    pairs = given_pairs(suite)
    places = {image: place_of(folders, image) for image in dict.fromkeys(image for image, _ in pairs)}
    here = [
        GivenPair(each.id, str(place.absolute()), each.caption, each.language, each.references)
        for each in pairs.values()
        if (place := places[each.image]) is not None
    ]
    if not here:
        raise InvalidInput(f"none of the {len(places)} images is in {', '.join(map(str, folders)) or 'any folder'}")
    taken = next((name for name in (PAIRS, CANDIDATES, REFERENCES) if (out / name).exists()), None)
    if taken:
        raise InvalidInput(f"{out / taken} exists; choose another folder")
    out.mkdir(parents=True, exist_ok=True)
    write_lines(out / PAIRS, here)
    write_candidates(out / CANDIDATES, here)
    if any(each.references for each in here):
        write_references(out / REFERENCES, here)
    return len(here), len(pairs) - len(here)


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
    errors = [f"{image}: {error}" for (image, _), (_, error) in found.items() if error]
    return in_order(suite, {key: score for key, (score, _) in found.items()}, errors)
