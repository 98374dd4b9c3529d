"""An evaluator over a human-labelled suite: every caption beside its image and its references, scored once. They are
compared with all references or some, drawn once or several times; BLEU-4, METEOR, ROUGE-L and CIDEr-D compare them by
words alone. A video is decoded and encoded once, however many captions it has."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import numpy as np

from core.corpora.corpus_files import LeftOut
from core.corpora.image_places import ImagePlaces
from core.corpora.suites.model import ENGLISH, Compared, Rated, Suite, with_references
from core.corpora.video_frames import WHOLE, Footage, Sampling, find_videos, open_video, read_frames
from core.errors import BadImage, InvalidInput, InvariscopeError, NotAvailable
from core.evaluators.base import Evaluator
from core.evaluators.references import Referenced
from core.evaluators.video.video_evaluator import VideoScore, VideoScorer
from core.file_contents import known_sha256
from core.scoring.caption_scores import CaptionedImage, score_captions
from core.scoring.reference_metrics import (
    CIDER,
    LEAST_PICTURES,
    METEOR,
    NAMED,
    compare,
    fingerprint,
    lacking,
    ready_words,
)

MOST_DRAWS = 100
_USUAL_COUNTS = {"FOIL": (1, 4), "Pascal-50S": (5,), "VATEX-EVAL": (1, 9)}
"""Suite -> references that the field compares with.
Source: Hessel et al., *CLIPScore* (2021), section 4; Shi et al., *EMScore* (2022), section 5."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One way to compare a suite's captions with references."""

    count: int | None = None  # at most so many of them beside a caption; None: all that the suite has
    draws: int = 1  # how often they are drawn; scores of several draws are reported as their mean

    @property
    def told(self) -> str:
        """In words: ``5 references, 5 draws``."""
        many = "all references" if self.count is None else f"{self.count} reference{'' if self.count == 1 else 's'}"
        return many if self.draws == 1 else f"{many}, {self.draws} draws"

    def suites(self, suite: Suite) -> Iterator[Suite]:
        """The suite with the references of every draw."""
        for draw in range(self.draws):
            yield suite if self.count is None else with_references(suite, self.count, draw=draw)


def settings_of(suite: Suite, counts: Sequence[int] = (), draws: int | None = None) -> tuple[Setting, ...]:
    """The settings that an evaluator with references is reported under.
    ``counts``: how many references, one setting each; none: what the field compares the suite with.
    ``draws``: of each; None: five where there are more references than are used, one otherwise.
    Returns one setting at least; none of them asks for more references than a caption has.
    Raises InvalidInput if a count or the number of draws lies out of range."""
    most = suite.most_references
    wrong = next((each for each in counts if each < 1), None)
    if wrong is not None or (draws is not None and not 1 <= draws <= MOST_DRAWS):
        got = wrong if wrong is not None else draws
        raise InvalidInput(f"references must be 1 or more and draws 1 to {MOST_DRAWS}, got {got}")
    if counts and max(counts) > most:
        raise InvalidInput(f"{suite.name} has at most {most} references beside a caption, got {max(counts)}; ask fewer")
    asked = counts or _USUAL_COUNTS.get(suite.name, ())
    usual = draws or (5 if suite.name == "Pascal-50S" else 1)
    found = [Setting(count, usual if count < most else 1) for count in dict.fromkeys(min(each, most) for each in asked)]
    return tuple(found) or (Setting(),)


Asked = tuple[str, str, tuple[str, ...]]  # image, caption, references; none where an evaluator takes none


@dataclass(frozen=True, slots=True)
class SuiteScores:
    """Scores in the order of the suite, of one draw of its references or of several."""

    rated: np.ndarray  # of ``suite.rated``, float64 [n] or [draws, n]; NaN where there is none
    preferred: np.ndarray  # of the preferred captions of ``suite.compared``, float64 [m] or [draws, m]
    other: np.ndarray  # of the other ones, likewise
    # one sentence for each caption without a score, its image's absence included, and one for each language that the
    # evaluator does not read
    errors: tuple[str, ...]


def score_suite(
    evaluator: Evaluator, suite: Suite, folders: Sequence[Path], *, progress: Callable[[int, int], None] | None = None
) -> SuiteScores:
    """Score every caption of a suite.
    ``evaluator``: loaded; the caller holds its lease. ``suite``: of :func:`core.corpora.suites.suite_files.read_suite`.
    ``folders``: where the images lie: below a folder as the suite names them, or by their file name alone.
    Raises InvalidInput if a folder is missing, or none of the images is there."""
    check_folders(folders)
    unread = {each.language for each in suite.rated if not evaluator.spec.reads(each.language)}
    if suite.rated and len(unread) == len({each.language for each in suite.rated}):
        raise InvalidInput(f"{evaluator.spec.unread(sorted(unread)[0])}, and {suite.name} has no other; choose another")
    if isinstance(evaluator, Referenced):
        check_references(evaluator.spec.name, suite)
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


def check_references(name: str, suite: Suite) -> None:
    """Refuse a suite without references. ``name``: of what compares captions with references.
    Raises InvalidInput saying what to choose instead."""
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
    return pairs + [(image, text, each.references) for each in suite.compared for image, text in each.sides]


def check_folders(folders: Sequence[Path]) -> None:
    """Refuse a folder that is not there. Raises InvalidInput naming it."""
    for folder in folders:
        if not folder.is_dir():
            raise InvalidInput(f"no folder {folder}; give the folder that holds the suite's images or videos")


def places_of(suite: Suite, folders: Sequence[Path]) -> dict[str, Path | None]:
    """Where each image or video of a suite lies; None where in no folder. Raises InvalidInput if none is there."""
    names = list(dict.fromkeys(image for image, _, _ in asked_of(suite)))
    if suite.pictures:  # which came inside the suite's file
        folders = [*folders, Path(suite.pictures)]
    if suite.videos:
        there = {key: path for folder in reversed(folders) for key, path in find_videos(folder).items()}
        found = {name: there.get(name) or there.get(PurePosixPath(name).stem) for name in names}
    else:
        images = [ImagePlaces(folder, ("",)) for folder in folders]
        found = {name: place_of(images, name) for name in names}
    if names and not any(found.values()):
        what = "videos" if suite.videos else "images"
        raise InvalidInput(f"none of the {len(found)} {what}, such as {names[0]!r}, is in {_listed(folders)}")
    return found


def without_equal_pictures(suite: Suite, folders: Sequence[Path]) -> Suite:
    """The suite without comparisons whose two pictures are the same file, or files of the same bytes.
    ``suite``: of pictures of one text; any other one is given back as it is.
    ``folders``: where the pictures lie; of one that is missing nothing is known."""
    if not suite.by_text or not suite.compared:
        return suite
    places = places_of(suite, folders)

    def equal(pair: Compared) -> bool:
        one, other = (places[image] for image, _ in pair.sides)
        if one is None or other is None:
            return False
        return one.stat().st_size == other.stat().st_size and known_sha256(one) == known_sha256(other)

    kept = tuple(each for each in suite.compared if not equal(each))
    lost = len(suite.compared) - len(kept)
    decisions = (
        replace(each, count=each.count + lost) if each.id == "equal-pictures" else each for each in suite.decisions
    )
    return replace(suite, compared=kept, left_out=suite.left_out + lost, decisions=tuple(decisions))


def place_of(folders: Sequence[ImagePlaces], name: str) -> Path | None:
    """The image's file; a name that leads out of a folder is no image of the suite."""
    for wanted in dict.fromkeys((name, name.replace("\\", "/").rpartition("/")[2])):
        for folder in folders:
            try:
                return folder.find(wanted)
            except LeftOut:
                continue
    return None


def _listed(folders: Sequence[Path]) -> str:
    return ", ".join(map(str, folders))


def check_words(suite: Suite, name: str) -> None:
    """Refuse a suite that a metric of references cannot be held to.
    ``name``: of :data:`core.evaluators.references.BY_WORDS`.
    Raises InvalidInput if it has no references, is scored sentence by sentence, or has no English caption; NotAvailable
    if the metric cannot be computed here."""
    if name not in ready_words():
        raise NotAvailable(lacking())
    check_references(name, suite)
    if any(each.sentences for each in suite.compared):
        raise InvalidInput(
            f"{suite.name} is scored sentence by sentence, each beside its own part of a video, and {name} takes whole "
            "captions; choose an evaluator of videos"
        )
    languages = {each.language for each in suite.rated}
    if languages and ENGLISH not in languages:
        raise InvalidInput(f"{name} cuts captions into English words, and {suite.name} has no English caption here")
    pictures = len(_documents(suite))
    if NAMED[name] == CIDER and pictures < LEAST_PICTURES:
        raise InvalidInput(
            f"{name} weighs words by the images whose references say them, and {suite.name} has references of "
            f"{pictures} here; {LEAST_PICTURES} are needed"
        )


def score_words(suite: Suite, name: str) -> SuiteScores:
    """Score every caption of a suite; no image is read. CIDEr-D weighs words by the references that the suite gives,
    each image once however many captions it has.
    ``suite``: with the references that its captions are compared with; of :func:`check_words`.
    ``name``: of :data:`core.evaluators.references.BY_WORDS`."""
    english = {(each.image, each.caption, each.references) for each in suite.rated if each.language == ENGLISH}
    foreign = {each for each in asked_of(suite)[: len(suite.rated)] if each not in english}
    asked = [each for each in dict.fromkeys(asked_of(suite)) if each not in foreign]
    captions, people, documents = [text for _, text, _ in asked], [held for *_, held in asked], _documents(suite)
    found = compare(captions, people, documents=list(documents.values()), meteor=NAMED[name] == METEOR)
    scores: dict[Asked, float] = dict(zip(asked, found.per_caption[NAMED[name]].tolist(), strict=True))
    errors = [f"{image}: this caption has no reference" for (image, *_), score in scores.items() if np.isnan(score)]
    if foreign:
        errors.append(f"{len(foreign)} captions: {name} cuts captions into English words, and these are not English")
    return in_order(suite, scores, errors)


def made_with(suite: Suite, name: str) -> str:
    """What the numbers depend on, in words."""
    if NAMED[name] != CIDER:
        return fingerprint()
    return f"{fingerprint()}; document frequencies: the references of {len(_documents(suite)):,} images of the suite"


def _documents(suite: Suite) -> dict[str, list[str]]:
    """By image, its references, each once."""
    found: dict[str, dict[str, None]] = {}
    judged: list[Rated | Compared] = [*suite.rated, *suite.compared]
    for each in judged:
        found.setdefault(each.image, {}).update(dict.fromkeys(each.references))
    return {image: list(texts) for image, texts in found.items() if texts}


@dataclass(frozen=True, slots=True)
class VideoLine:
    """One caption of one video."""

    id: str
    caption: str
    path: Path
    references: tuple[str, ...] = ()  # captions by people; empty where there are none
    part: tuple[float, float] = WHOLE  # of the video, as shares of its length, start and end


def score_videos(
    scorer: VideoScorer,
    lines: Sequence[VideoLine],
    *,
    progress: Callable[[int, int], None] | None = None,
    remark: Callable[[str], None] | None = None,
) -> list[VideoScore]:
    """Score every line; an unreadable video or an unscorable caption costs that line alone.
    ``scorer``: of :func:`core.evaluators.video.video_evaluator.video_scorer`.
    ``lines``: in any order; the result has the same one.
    ``progress``: called with (lines done, lines in all) after every video.
    ``remark``: called with a sentence on each video whose picture is not what people see."""
    places: dict[Path, dict[tuple[float, float], list[int]]] = {}
    for place, line in enumerate(lines):
        places.setdefault(line.path, {}).setdefault(line.part, []).append(place)
    say = remark or (lambda _: None)
    found = [VideoScore(math.nan)] * len(lines)
    done = 0
    for path, parts in places.items():
        footage, lost = None, ""
        try:
            footage = open_video(path)
        except (BadImage, OSError) as error:
            lost = str(error)
        for note in footage.notes if footage is not None else ():
            say(f"{path.name}: {note}")
        for part, held in parts.items():
            scores = [VideoScore(math.nan, error=lost)] * len(held)
            try:
                if footage is not None:
                    frames = scorer.encode(sampled(footage, scorer.sampling, part))
                    captions, people = [lines[each].caption for each in held], [lines[each].references for each in held]
                    scores = scorer.score(frames, captions, people)
            except InvariscopeError as error:
                scores = [VideoScore(math.nan, error=str(error))] * len(held)
            for place, score in zip(held, scores, strict=True):
                found[place] = score
            done += len(held)
            if progress is not None:
                progress(done, len(lines))
    return found


def sampled(footage: Footage, sampling: Sampling, part: tuple[float, float] = WHOLE) -> Iterator[np.ndarray]:
    """The frames of a part of a video that are looked at, decoded one after the other."""
    return read_frames(footage, footage.places(sampling, part))


_Text = tuple[str, tuple[str, ...], tuple[float, float]]  # caption or sentence, its references, its part of the video


def usual_sampling(suite: Suite) -> Sampling:
    """The frames of a video that the publishers of a suite look at: VATEX-EVAL's at ten, others at all."""
    return Sampling(10 if suite.name == "VATEX-EVAL" else None)


def score_video_suite(
    scorer: VideoScorer, suite: Suite, folders: Sequence[Path], *, progress: Callable[[int, int], None] | None = None
) -> SuiteScores:
    """Score every caption of a suite of videos.
    ``scorer``: of :func:`core.evaluators.video.video_evaluator.video_scorer`.
    ``folders``: where the videos lie, as files or as folders of frames.
    ``progress``: called with (captions done, captions in all).
    Raises InvalidInput if a folder or every video is missing, or the evaluator cannot read the captions."""
    check_folders(folders)
    if not scorer.evaluator.spec.reads(ENGLISH):
        raise InvalidInput(f"{scorer.evaluator.spec.unread(ENGLISH)}, and {suite.name} has no other; choose another")
    if scorer.takes_references:
        check_references(scorer.evaluator.spec.name, suite)
    places = places_of(suite, folders)
    asked: dict[tuple[Path, _Text], int] = {}  # every text that is scored, once
    of: list[list[int]] = []  # which of them each judgement is the mean of; none where the video is not here

    def add(path: Path | None, texts: Sequence[_Text]) -> None:
        of.append([] if path is None else [asked.setdefault((path, each), len(asked)) for each in texts])

    for rated in suite.rated:
        add(places[rated.image], [(rated.caption, rated.references, WHOLE)])
    for pair in suite.compared:
        for side in ("preferred", "other"):
            texts = [(getattr(each, side), each.references, each.part) for each in pair.sentences]
            add(places[pair.image], texts or [(getattr(pair, side), pair.references, WHOLE)])
    lines = [
        VideoLine(str(place), text, path, references, part)
        for place, (path, (text, references, part)) in enumerate(asked)
    ]
    found = score_videos(scorer, lines, progress=progress)
    scores = np.array([each.score for each in found] + [np.nan])
    values = np.array([scores[each or [-1]].mean() for each in of], dtype=np.float64)
    errors = [f"{line.path.name}: {one.error}" for line, one in zip(lines, found, strict=True) if one.error]
    errors += [f"{name}: no such video in {', '.join(map(str, folders))}" for name, at in places.items() if at is None]
    count = len(suite.rated)
    return SuiteScores(values[:count], values[count::2], values[count + 1 :: 2], tuple(errors))
