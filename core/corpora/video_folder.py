"""A folder of videos with their captions beside them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.corpora.files import read_json
from core.corpora.records import csv_records
from core.corpora.schema import Rejection
from core.corpora.suites.model import spaced
from core.corpora.video_container import KINDS, SUFFIXES
from core.corpora.videos import find_videos
from core.errors import BadCorpus, InvalidInput

CAPTIONS = ("captions.json", "candidates.json", "captions.csv")

BACKWARDS = "backwards.json"
"""Beside the demo videos, ``{video: caption}``: what is true of each when it is shown backwards, and false of it."""

_NEEDED = ("video", "caption")


@dataclass(frozen=True, slots=True)
class CaptionedVideo:
    """A video with its captions.

    Args:
        id: the stem of its file, or the name of its folder of frames.
        path: where it lies.
        captions: one at least; those after the first serve as references.
    """

    id: str
    path: Path
    captions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VideoFolder:
    """A folder of videos as it was read; ``rejected`` says what was left out."""

    videos: tuple[CaptionedVideo, ...]
    rejected: tuple[Rejection, ...] = ()

    def get(self, identifier: str) -> CaptionedVideo:
        """The video of an id.

        Raises:
            InvalidInput: if there is none.
        """
        found = next((each for each in self.videos if each.id == identifier), None)
        if found is None:
            raise InvalidInput(f"no video {identifier!r} here; there are {', '.join(each.id for each in self.videos)}")
        return found


def read_video_folder(root: Path) -> VideoFolder:
    """Read a folder of videos: files, or folders of frames.

    ``captions.json`` (or ``candidates.json``) holds ``{video: caption}`` or ``{video: [captions]}``, ``captions.csv``
    the columns ``video,caption``, a row a caption. A video is named by its file with or without its ending.

    Raises:
        BadCorpus: if there is no file of captions, it is malformed, or no video has a caption.
        InvalidInput: if the folder is missing.
    """
    videos = find_videos(root)
    held = [root / name for name in CAPTIONS if (root / name).is_file()]
    if len(held) != 1:
        said = " and ".join(path.name for path in held) if held else "no captions"
        raise BadCorpus(f"{root} holds {said}; keep one of {', '.join(CAPTIONS)} there")
    captions = _of_csv(held[0]) if held[0].suffix == ".csv" else _of_json(held[0])
    by_name = {path.name: key for key, path in videos.items()} | {key: key for key in videos}
    found: dict[str, list[str]] = {}
    rejected = []
    there = not_read(root, captions)
    for name, texts in captions.items():
        if name in by_name:
            found.setdefault(by_name[name], []).extend(texts)
        else:
            lacking = Rejection(name, "missing-video", f"{name!r} has captions and no video in {root}")
            rejected.append(Rejection(name, "bad-video", there[name]) if name in there else lacking)
    rejected += [Rejection(key, "no-caption", f"{path.name} has no caption in {held[0].name}")
                 for key, path in videos.items() if not found.get(key)]  # fmt: skip
    kept = tuple(CaptionedVideo(key, path, tuple(dict.fromkeys(found[key]))) for key, path in videos.items()
                 if found.get(key))  # fmt: skip
    if not kept:
        raise BadCorpus(f"no video of {root} has a caption in {held[0].name}; name each by its file")
    return VideoFolder(kept, tuple(rejected))


def not_read(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """What lies in a folder under the names of videos and is no video that is read: name -> a sentence."""
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.suffix.lower() not in SUFFIXES and path.name not in CAPTIONS:
            found.setdefault(path.stem, path)
            found[path.name] = path
    return {name: f"{found[name].name} is no video of a kind that is read ({', '.join(KINDS)}, or a folder of frames); "
            "convert it to MP4 (H.264)" for name in names if name in found}  # fmt: skip


def kinds_told(paths: Iterable[Path]) -> str:
    """How many videos of each kind there are, the first three by name: ``2 MP4 (a.mp4, b.mp4), 1 MPEG (c.mpg)``."""
    kinds: dict[str, list[str]] = {}
    for path in sorted(set(paths)):
        kinds.setdefault(SUFFIXES.get(path.suffix.lower(), "of frames") if path.is_file() else "of frames", []).append(
            path.name
        )
    return ", ".join(f"{len(each):,} {kind} ({', '.join(each[:3])}{', …' if len(each) > 3 else ''})"
                     for kind, each in sorted(kinds.items()))  # fmt: skip


def other_than(captions: Sequence[Sequence[str]], place: int) -> int | None:
    """The video whose frames stand for those of another one: the next that shares no caption, round the end.

    Args:
        captions: of each video.
        place: of the video that another one is sought for.

    Returns:
        Its place; None where there is none.

    Example:
        >>> other_than([["A dog."], ["a dog. "], ["A cat."]], 0)
        2
    """
    own = {spaced(text).casefold() for text in captions[place]}
    for step in range(1, len(captions)):
        other = (place + step) % len(captions)
        if own.isdisjoint(spaced(text).casefold() for text in captions[other]):
            return other
    return None


def _of_json(path: Path) -> Mapping[str, list[str]]:
    held = read_json(path)
    if not isinstance(held, dict):
        raise BadCorpus(f"{path} must be an object {{video: caption}}, got {type(held).__name__}")
    found = {}
    for name, value in held.items():
        texts = value if isinstance(value, list) else [value]
        if not all(isinstance(each, str) for each in texts):
            raise BadCorpus(f"{path}: {name!r} must have a caption or a list of captions, got {str(value)[:60]!r}")
        found[name] = [text for each in texts if (text := spaced(each))]
    return found


def _of_csv(path: Path) -> Mapping[str, list[str]]:
    def columns(where: Path, names: Sequence[str]) -> None:
        if set(_NEEDED) - set(names):
            raise BadCorpus(f"{where} has the columns {', '.join(names)}; it needs {', '.join(_NEEDED)}")

    found: dict[str, list[str]] = {}
    for _, record in csv_records(path, columns):
        name, text = (record.get(each) for each in _NEEDED)
        if isinstance(name, str) and isinstance(text, str) and name.strip() and text.strip():
            found.setdefault(name.strip(), []).append(spaced(text))
    return found
