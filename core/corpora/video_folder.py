"""A folder of videos with their captions beside them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from core.corpora.caption_tables import read_caption_table
from core.corpora.corpus_files import Findings, read_json, whole_number
from core.corpora.demo import demo_dir
from core.corpora.image_header import MIN_SIDE
from core.corpora.item_pictures import check_stack_size
from core.corpora.labels import ENGLISH, by_language, caption_languages, stated_language
from core.corpora.registry import corpus_loader
from core.corpora.schema import OTHER_VIDEO, Corpus, Item, Rejection, Rival
from core.corpora.suites.model import spaced
from core.corpora.video_container import KINDS, SUFFIXES, BadVideo
from core.corpora.video_frames import Sampling, find_videos, open_video
from core.errors import BadCorpus, InvalidInput

CAPTIONS = ("captions.json", "candidates.json", "captions.csv")

BACKWARDS = "backwards.json"
"""Beside the demo videos, ``{video: caption}``: what is true of each when it is shown backwards, and false of it."""


@dataclass(frozen=True, slots=True)
class CaptionedVideo:
    """A video with its captions."""

    id: str  # the stem of its file, or the name of its folder of frames
    path: Path
    captions: tuple[str, ...]  # one at least; those after the first serve as references


@dataclass(frozen=True, slots=True)
class VideoFolder:
    """A folder of videos as it was read; ``rejected`` says what was left out."""

    videos: tuple[CaptionedVideo, ...]
    rejected: tuple[Rejection, ...] = ()

    def get(self, identifier: str) -> CaptionedVideo:
        """The video of an id. Raises InvalidInput if there is none."""
        found = next((each for each in self.videos if each.id == identifier), None)
        if found is None:
            raise InvalidInput(f"no video {identifier!r} here; there are {', '.join(each.id for each in self.videos)}")
        return found


def read_video_folder(root: Path) -> VideoFolder:
    """Read a folder of videos: files, or folders of frames. ``captions.json`` (or ``candidates.json``) and
    ``captions.csv`` have a layout of :mod:`core.corpora.caption_tables`. A video is named by its file with or without
    its ending. Raises BadCorpus if there is no file of captions, it is malformed, or no video has a caption;
    InvalidInput if the folder is missing."""
    videos = find_videos(root)
    held = [root / name for name in CAPTIONS if (root / name).is_file()]
    if len(held) != 1:
        said = " and ".join(path.name for path in held) if held else "no captions"
        raise BadCorpus(f"{root} holds {said}; keep one of {', '.join(CAPTIONS)} there")
    captions: dict[str, list[str]] = {}
    for row in read_caption_table(held[0]).whole_rows():
        texts = [text for each in row.captions if (text := spaced(each))]
        captions.setdefault(row.picture, []).extend(texts)
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
    kept = []
    for key, path in videos.items():
        if found.get(key):
            kept.append(CaptionedVideo(key, path, tuple(dict.fromkeys(found[key]))))
        else:
            rejected.append(Rejection(key, "no-caption", f"{path.name} has no caption in {held[0].name}"))
    if not kept:
        raise BadCorpus(f"no video of {root} has a caption in {held[0].name}; name each by its file")
    return VideoFolder(tuple(kept), tuple(rejected))


def not_read(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """What lies in a folder under the names of videos and is no video that is read: name -> a sentence."""
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.suffix.lower() not in SUFFIXES and path.name not in CAPTIONS:
            found.setdefault(path.stem, path)
            found[path.name] = path
    return {
        name: f"{found[name].name} is no video of a kind that is read ({', '.join(KINDS)}, or a folder of frames); "
        "convert it to MP4 (H.264)"
        for name in names
        if name in found
    }


def kinds_told(paths: Iterable[Path]) -> str:
    """How many videos of each kind there are, the first three by name: ``2 MP4 (a.mp4, b.mp4), 1 MPEG (c.mpg)``."""
    kinds: dict[str, list[str]] = {}
    for path in sorted(set(paths)):
        kind = SUFFIXES.get(path.suffix.lower()) if path.is_file() else None
        kinds.setdefault(kind or "of frames", []).append(path.name)
    return ", ".join(
        f"{len(each):,} {kind} ({', '.join(each[:3])}{', …' if len(each) > 3 else ''})"
        for kind, each in sorted(kinds.items())
    )


def other_than(captions: Sequence[Sequence[str]], place: int) -> int | None:
    """The video whose frames stand for those of another one: the next that shares no caption, round the end.
    Returns its place; None where there is none.

    >>> other_than([["A dog."], ["a dog. "], ["A cat."]], 0)
    2
    """
    own = {spaced(text).casefold() for text in captions[place]}
    for step in range(1, len(captions)):
        other = (place + step) % len(captions)
        if own.isdisjoint(spaced(text).casefold() for text in captions[other]):
            return other
    return None


USUAL_FRAMES = 8  # frames of a video that are looked at unless somebody says otherwise

_FRAMES = f"of each video: all, or so many, evenly spaced ({USUAL_FRAMES})"


@corpus_loader(
    name="videos",
    summary="A folder of videos (files, or folders of frames) with captions.json or captions.csv.",
    options={
        "frames": _FRAMES,
        "language": "of the captions; by default that of their script, and English of Latin letters",
        "limit": "stop after so many videos",
        "name": "what runs call this corpus (videos)",
    },
)
def load_videos(
    root: Path,
    *,
    frames: int | str = USUAL_FRAMES,
    language: str | None = None,
    limit: int | str | None = None,
    name: str = "videos",
) -> Corpus:
    """Read a folder of videos. An item is a video with its captions: its pixels are a stack of frames. Its group is the
    hash of the video, so that one that lies there twice counts as one source; its rival is the next video that shares
    no caption.
    ``frames``: which frames are looked at; part of the corpus's fingerprint.
    Raises BadCorpus if there is no file of captions, it is malformed, or no video has a caption; InvalidInput if an
    option is wrong."""
    code = stated_language(language)
    most = None if limit is None else whole_number(limit, name="limit")
    return _read(root, name, code, Sampling.from_option(frames), f"folder {root.name}", most=most)


@corpus_loader(
    name="demo-videos",
    summary="8 videos that ship with Invariscope: a cut-out that moves, with a caption that is wrong of its motion",
    needs_root=False,
    options={"frames": _FRAMES},
)
def load_demo_videos(root: Path | None, *, frames: int | str = USUAL_FRAMES) -> Corpus:
    """Read the demo videos; each has a caption that is true of it backwards, which is wrong of it as it is.
    ``root``: a folder like theirs; None reads the one that ships.
    Raises BadCorpus if they are missing or damaged."""
    folder = demo_dir() / "videos" if root is None else Path(root)
    path = folder / BACKWARDS
    wrong = read_json(path) if path.is_file() else {}
    if not isinstance(wrong, dict) or not all(isinstance(each, str) for each in wrong.values()):
        raise BadCorpus(f"{path} must be an object {{video: caption}}, got {json.dumps(wrong)[:60]}")
    told = "Photographic cut-outs of Tux Paint that move before a still photographic background"
    sampling = Sampling.from_option(frames)
    return _read(folder, "demo-videos", ENGLISH, sampling, told, licence="GPL-2.0-or-later", wrong=wrong)


def _read(
    root: Path,
    name: str,
    language: str | None,
    sampling: Sampling,
    told: str,
    *,
    most: int | None = None,
    licence: str = "unknown",
    wrong: Mapping[str, str] | None = None,
) -> Corpus:
    held = read_video_folder(root)
    items: list[Item] = []
    found = Findings()
    found.leave_out(*held.rejected)
    texts = [text for video in held.videos for text in video.captions]
    languages = caption_languages(texts, language, root.name, found)
    for video in held.videos:
        if len(items) == most:
            break
        try:
            footage = open_video(video.path)
            if min(footage.width, footage.height) < MIN_SIDE:
                small = f"{footage.width} × {footage.height} px, and at least {MIN_SIDE} px a side are needed"
                raise BadVideo(f"{footage.path}: {small}; give a larger one")
            found.remark(*(Rejection(video.id, "hdr", each) for each in footage.notes))
            places = footage.places(sampling)
            check_stack_size(footage, len(places))
        except (BadVideo, OSError) as error:
            found.leave_out(Rejection(video.id, "bad-video", str(error).replace(f"{root}/", "")))
            continue
        items.append(
            Item(
                id=video.id,
                corpus=name,
                image_path=video.path,
                width=footage.width,
                height=footage.height,
                captions=by_language(video.captions, languages),
                licence=licence,
                source=video.path.relative_to(root).as_posix(),
                bytes_sha256=footage.sha256,
                group=footage.sha256,
                wrong={language or ENGLISH: wrong[video.id]} if wrong and video.id in wrong else {},
                frames=places,
            )
        )
    if not items:
        raise BadCorpus(f"no video of {root} can be read: {found.rejected[-1].detail}")
    described = f"{told}, {sampling.told}" + (f", limited to {most} videos" if most else "")
    captions = [[text for texts in item.captions.values() for text in texts] for item in items]
    made = []
    for place, item in enumerate(items):  # each with another video as its rival where there is one
        rivals: tuple[Rival, ...] = ()
        if (next_one := other_than(captions, place)) is not None:
            other = items[next_one]
            assert other.image_path is not None
            facts, size = {"video": other.id}, (other.width, other.height)
            rivals = (Rival(OTHER_VIDEO, other.image_path, facts, other.bytes_sha256, size=size, frames=other.frames),)
        made.append(replace(item, rivals=rivals))
    return Corpus(name, tuple(made), found.rejected, described, remarks=found.remarks)
