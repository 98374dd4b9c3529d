"""What ``score`` reads and writes: a captioner's output paired with its images, and the two shapes of a result."""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.corpora.caption_tables import CaptionRow, is_number, read_caption_table, read_references, said_text
from core.corpora.corpus_files import LeftOut, below_root, inside
from core.corpora.folder_tables import packed_images
from core.corpora.image_header import SUFFIXES
from core.corpora.image_places import ImageNames
from core.corpora.table_cells import LINES, SAID
from core.corpora.video_folder import not_read
from core.corpora.video_frames import find_videos
from core.errors import BadCorpus, InvalidInput
from core.scoring.caption_scores import CaptionedImage, CaptionScore, mean

if TYPE_CHECKING:
    from core.scoring.reference_metrics import Compared

SHOWN = 3  # ids that a remark names; the rest is counted
NO_IMAGE = "no image of this id was found"  # why a caption without an image has no score, in CaptionEvalKit's shape


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be scored."""

    lines: tuple[CaptionedImage, ...]  # captions whose image is there, in the order of the file
    missing: tuple[str, ...]  # ids of captions without an image
    left_over: tuple[str, ...]  # images without a caption
    as_jsonl: bool  # whether the captions came as CaptionEvalKit's JSON lines
    what: str = "image"  # is captioned: image or video
    unread: tuple[str, ...] = ()  # sentences on files that lie there under an id and are no video that is read
    further: tuple[str, ...] = ()  # ids of pictures with several captions, of which the first is scored

    def remarks(self) -> list[str]:
        """Sentences about what does not fit together."""
        found = []
        if self.missing:
            lacked = f"{'an' if self.what == 'image' else 'a'} {self.what}"
            found.append(f"{_count(self.missing, 'caption')} without {lacked}: {_some(self.missing)}")
        found += self.unread
        if self.left_over:
            found.append(f"{_count(self.left_over, self.what)} without a caption: {_some(self.left_over)}")
        if self.further:
            found.append(f"several captions, of which the first is scored: {_some(self.further)}")
        return found


def read_job(candidates: Path | None, images: Path | None, references: Path | None, *, videos: bool = False) -> Job:
    """Pair captions, in any layout of :mod:`core.corpora.caption_tables`, with images, or with videos or folders of
    frames. The folder of the images may be None only where every line names its own. Raises InvalidInput if a file or
    folder cannot be used, nothing fits together, or a reference is missing."""
    if candidates is None:
        raise InvalidInput("score needs the captions: python -m core score candidates.json images/")
    if images is not None and not images.is_dir():
        raise InvalidInput(f"no folder {images}; give the folder that holds the images")
    as_jsonl = candidates.suffix.lower() in LINES
    rows, people = _rows(candidates), read_references(references) if references is not None else {}
    unnamed = next((key for key, row in rows.items() if images is None and not row.image), None)
    if unnamed is not None:
        raise InvalidInput(f"line {unnamed!r} names no image; give the folder of the images as second argument")
    folder = ImageFolder(images, videos=videos)
    found = {key: folder.find(key, row.image or None) for key, row in rows.items()}
    pictures, told = ImageNames(people), dict[str, tuple[str, ...]]()
    for key, row in rows.items() if references is not None else ():
        image = found[key]
        called = (row.key, row.picture, *((image.name, image.stem) if image else ()))
        whole = next((name for name in called if name in people), None)
        match = [whole] if whole is not None else pictures.several(*called)
        told[key] = people[match[0]] if len(match) == 1 else ()
    lacking = [key for key, texts in told.items() if not texts]
    if lacking:
        raise InvalidInput(f"{references} has no reference for {_some(lacking)}; add them or leave --references out")
    lines = tuple(
        CaptionedImage(key, rows[key].captions[0] if rows[key].captions else "", path, told.get(key, ()))
        for key, path in found.items()
        if path is not None
    )
    missing = tuple(each for each, path in found.items() if path is None)
    unread = tuple(dict.fromkeys(not_read(images, missing).values())) if videos and images is not None else ()
    if not lines:
        raise InvalidInput(
            f"none of the {len(rows)} captions of {candidates} has {'a video' if videos else 'an image'} in "
            f"{images or 'its place'}{'; ' if unread else ''}{'; '.join(unread[:3])}"
        )
    left_over = folder.left_over(path for path in found.values() if path is not None)
    further = tuple(key for key, row in rows.items() if len(row.captions) > 1)
    return Job(lines, missing, left_over, as_jsonl, "video" if videos else "image", unread, further)


@dataclass(frozen=True, slots=True)
class Report:
    """Scores by id under the names that they are published with; None where there is no score."""

    means: Mapping[str, float | None]  # over the captions that have a score; None where none has
    per_item: Mapping[str, Mapping[str, float | None]]  # every caption of the file, missing images included
    errors: Mapping[str, str]  # sentence by id, for captions whose image is there

    @property
    def scored(self) -> int:
        """How many captions have a score."""
        return sum(all(value is not None for value in scores.values()) for scores in self.per_item.values())

    def as_capevalkit(self) -> dict[str, object]:
        """CaptionEvalKit's shape: ``{metric: mean, "per_item": {id: {metric: score}}}``. Its reader turns every value
        below ``per_item`` into a number and fails on null, takes another metric's where the one asked for is not there,
        and the first one where none is asked for. So an id without all its scores is left out, and stands with the
        reason under ``errors``, which that reader passes over; the score comes first."""
        whole = {key: held for key, held in sorted(self.per_item.items()) if None not in held.values()}
        lost = {key: self.errors.get(key, NO_IMAGE) for key in self.per_item if key not in whole}
        return {**self.means, "per_item": whole, **({"errors": lost} if lost else {})}


def report_of(job: Job, scores: Iterable[CaptionScore], *, name: str, beside: bool = True) -> Report:
    """Put scores under the names that clipscore would print: ``name`` and ``Ref`` + ``name``; ``beside`` is False for
    an evaluator whose own score uses references."""
    by_id = {score.id: score for score in scores}
    with_references = beside and any(line.references for line in job.lines)
    prefix = "Ref" if name[:1].isupper() else "ref"
    per_item = {}
    for each in [*by_id, *job.missing]:
        score = by_id.get(each, CaptionScore(each, None))
        per_item[each] = {name: score.score, **({prefix + name: score.with_references} if with_references else {})}
    metrics = [name, *([prefix + name] if with_references else [])]
    means = {metric: mean([values[metric] for values in per_item.values()]) for metric in metrics}
    return Report(means, per_item, {score.id: score.error for score in by_id.values() if score.error})


def with_reference_metrics(report: Report, compared: "Compared", lines: Sequence[CaptionedImage]) -> Report:
    """Put BLEU, METEOR, ROUGE-L and CIDEr-D, compared of ``lines`` in their order, beside the scores of a report; a
    metric that none of them has is left out."""
    from core.scoring.reference_metrics import METRICS

    there = [metric for metric in METRICS if _known(compared.means[metric]) is not None]
    held = {
        line.id: {metric: _known(compared.per_caption[metric][place]) for metric in there}
        for place, line in enumerate(lines)
    }
    absent = dict.fromkeys(there)
    per_item = {key: {**scores, **held.get(key, absent)} for key, scores in report.per_item.items()}
    means = {metric: _known(compared.means[metric]) for metric in there}
    return Report({**means, **report.means}, per_item, report.errors)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _rows(path: Path) -> dict[str, CaptionRow]:
    """Rows with a caption by id; BadCorpus if there is none but numbers, two have one id, or columns are of several
    systems."""
    table = read_caption_table(path)
    found: dict[str, CaptionRow] = {}
    columns: list[str] = []
    for row in table.whole_rows():
        if not row.captions and table.columns:
            columns = columns or list(row.rest)
            row = row._replace(captions=tuple(said_text(cell) or "" for cell in row.rest.values()))  # of a system
        if row.key in found:
            raise BadCorpus(f"{table.where(row.number)}: id {row.key!r} was there before; keep one")
        found[row.key] = row
    if len(columns) > 1:
        raise BadCorpus(
            f"{path}: which of the columns {', '.join(columns)} are the captions? call it caption, or rank "
            "them with leaderboard"
        )
    said = [text for row in found.values() for text in row.captions if text.strip()]
    if not said:
        raise BadCorpus(f"{path} holds no caption; call its column or key {' or '.join(SAID[:4])}")
    if columns and all(map(is_number, said)):
        told = f"column {table.columns[columns[0]]!r} holds numbers such as {said[0]!r} and no captions"
        raise BadCorpus(f"{path}: {told}; give a column of captions")
    return found


def _count(values: tuple[str, ...], noun: str) -> str:
    return f"{len(values):,} {noun}{'' if len(values) == 1 else 's'}"


def _some(values: Iterable[str]) -> str:
    names = list(values)
    rest = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(repr(name) for name in names[:SHOWN]) + rest


class ImageFolder:
    """Finds images, or videos, of one folder, as :class:`core.corpora.image_places.ImageNames` does; the folder itself
    comes first. None where every line names its own."""

    def __init__(self, folder: Path | None, *, videos: bool = False) -> None:
        self.folder, self._videos = folder, videos
        self._names: dict[Path | None, ImageNames] = {}
        self._paths: dict[Path | None, dict[str, Path]] = {}

    def find(self, item: str, named: str | None) -> Path | None:
        """Image of an id, or the one that its line names, in the folder, else from where the command runs; None where
        there is none. Raises InvalidInput if an id or a name leads out of the folder, or two images share the id."""
        if self.folder is None:
            return Path(named) if named is not None and Path(named).is_file() else None
        if named is None:
            return self._below(self.folder, item)
        path = Path(named)
        if (path.is_absolute() or ".." in path.parts) and path.is_file():
            return path
        found = self._below(self.folder, below_root(named))
        return path if found is None and path.is_file() else found

    def left_over(self, used: Iterable[Path]) -> tuple[str, ...]:
        """Images that no caption asked for, of the folder itself and of those below it that hold one."""
        if self.folder is None:
            return ()
        asked = set(used)
        folders = dict.fromkeys([self.folder, *(path.parent for path in asked if path.is_relative_to(self.folder))])
        held = {name: path for folder in folders for name, path in self._paths_of(folder).items()}
        held |= {name: path for name, path in self._paths.get(None, {}).items() if path != self.folder / name}  # packed
        over = {name: path for name, path in held.items() if path not in asked}
        real = {os.path.realpath(path) for path in asked} if over else set()
        return tuple(sorted(name for name, path in over.items() if os.path.realpath(path) not in real))

    def _below(self, root: Path, name: str) -> Path | None:
        name = name.replace("\\", "/")
        folder = inside(root, name).parent if "/" in name else root  # also refuses what leads out
        for each in dict.fromkeys((folder if folder.is_dir() else root, None)):
            if each not in self._names:
                self._names[each] = ImageNames(self._paths_of(each))
            try:
                return self._paths_of(each)[self._names[each].meant(name)]
            except LeftOut as reason:
                if reason.code == "entry-ambiguous-image":
                    raise InvalidInput(f"{reason.detail.replace(' could be ', ' may be ', 1)} {root}") from reason
        return None

    def _paths_of(self, folder: Path | None) -> dict[str, Path]:
        """Images of a folder, or of them all and those that files pack, by their names below the first; read once."""
        if folder not in self._paths:
            root = self.folder or Path()
            # below the folder, links are not followed; and of videos there is none, whose frames are images too
            within = os.walk("" if self._videos else root) if folder is None else []
            there = sorted(folder.iterdir()) if folder is not None and folder.is_dir() else []
            paths = [*there, *(Path(place, name) for place, _, names in within for name in names)]
            if there and self._videos:
                paths = list(find_videos(root if folder is None else folder).values())
            else:
                paths = [path for path in paths if path.suffix.lower() in SUFFIXES]
            self._paths[folder] = {path.relative_to(root).as_posix(): path for path in paths}
            if folder is None and not self._videos:
                self._paths[folder] |= {key: path for one in packed_images(root).values() for key, path in one.items()}
        return self._paths[folder]
