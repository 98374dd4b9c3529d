"""Videos as items of an audit: a folder of them with captions, and those that ship."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from core.corpora.demo import demo_dir
from core.corpora.files import read_json, whole_number
from core.corpora.film import BadVideo
from core.corpora.findings import Findings
from core.corpora.image_header import MIN_SIDE
from core.corpora.registry import corpus_loader
from core.corpora.rivals import OTHER_VIDEO
from core.corpora.schema import Corpus, Item, Rejection, Rival
from core.corpora.scripts import ENGLISH, by_language, caption_languages, stated_language
from core.corpora.stacks import check_stack_size
from core.corpora.video_folder import BACKWARDS, CaptionedVideo, other_than, read_video_folder
from core.corpora.videos import Footage, Sampling, open_video
from core.errors import BadCorpus

USUAL_FRAMES = 8
"""Frames of a video that are looked at unless somebody says otherwise."""

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
    """Read a folder of videos.

    An item is a video with its captions: its pixels are a stack of frames. Its group is the hash of the video, so that
    one that lies there twice counts as one source; its rival is the next video that shares no caption.

    Args:
        root: the folder; see :func:`core.corpora.video_folder.read_video_folder`.
        frames: which frames are looked at; part of the corpus's fingerprint.

    Raises:
        BadCorpus: if there is no file of captions, it is malformed, or no video has a caption.
        InvalidInput: if an option is wrong.
    """
    code = stated_language(language)
    most = None if limit is None else whole_number(limit, name="limit")
    return _read(root, name, _Reading(name, code, Sampling.from_option(frames)), f"folder {root.name}", most)


@corpus_loader(
    name="demo-videos",
    summary="8 videos that ship with Invariscope: a cut-out that moves, with a caption that is wrong of its motion",
    needs_root=False,
    options={"frames": _FRAMES},
)
def load_demo_videos(root: Path | None, *, frames: int | str = USUAL_FRAMES) -> Corpus:
    """Read the demo videos; each has a caption that is true of it backwards, which is wrong of it as it is.

    Args:
        root: a folder like theirs; None reads the one that ships.
        frames: as of the corpus ``videos``.

    Raises:
        BadCorpus: if they are missing or damaged.
    """
    folder = demo_dir() / "videos" if root is None else Path(root)
    wrong = _wrong(folder / BACKWARDS)
    made = _Reading("demo-videos", ENGLISH, Sampling.from_option(frames), "GPL-2.0-or-later", wrong)
    told = "Photographic cut-outs of Tux Paint that move before a still photographic background"
    return _read(folder, "demo-videos", made, told, None)


@dataclass(frozen=True, slots=True)
class _Reading:
    """How a video becomes an item."""

    corpus: str
    language: str | None
    sampling: Sampling
    licence: str = "unknown"
    wrong: Mapping[str, str] | None = None

    def item(self, video: CaptionedVideo, root: Path, findings: Findings, languages: Mapping[str, str]) -> Item:
        """The item of a video, given the language of each caption.

        Raises:
            BadVideo: if it cannot be decoded within the caps.
        """
        footage = open_video(video.path)
        _check(footage)
        findings.remark(*(Rejection(video.id, "hdr", each) for each in footage.notes))
        places = footage.places(self.sampling)
        check_stack_size(footage, len(places))
        wrong = (self.wrong or {}).get(video.id)
        return Item(
            id=video.id, corpus=self.corpus, image_path=video.path, width=footage.width, height=footage.height,
            captions=by_language(video.captions, languages), licence=self.licence,
            source=video.path.relative_to(root).as_posix(), bytes_sha256=footage.sha256, group=footage.sha256,
            wrong={} if wrong is None else {self.language or ENGLISH: wrong}, frames=places,
        )  # fmt: skip


def _read(root: Path, name: str, reading: _Reading, told: str, most: int | None) -> Corpus:
    held = read_video_folder(root)
    items: list[Item] = []
    found = Findings()
    found.leave_out(*held.rejected)
    texts = [text for video in held.videos for text in video.captions]
    languages = caption_languages(texts, reading.language, root.name, found)
    for video in held.videos:
        if len(items) == most:
            break
        try:
            items.append(reading.item(video, root, found, languages))
        except (BadVideo, OSError) as error:
            found.leave_out(Rejection(video.id, "bad-video", str(error).replace(f"{root}/", "")))
    if not items:
        raise BadCorpus(f"no video of {root} can be read: {found.rejected[-1].detail}")
    described = f"{told}, {reading.sampling.told}" + (f", limited to {most} videos" if most else "")
    return Corpus(name, _with_others(items), found.rejected, described, remarks=found.remarks)


def _check(footage: Footage) -> None:
    if min(footage.width, footage.height) < MIN_SIDE:
        raise BadVideo(f"{footage.path}: {footage.width} × {footage.height} px, and at least {MIN_SIDE} px a side are "
                       "needed; give a larger one")  # fmt: skip


def _with_others(items: Sequence[Item]) -> tuple[Item, ...]:
    """The items, each with another video as its rival where there is one."""
    captions = [[text for texts in item.captions.values() for text in texts] for item in items]
    made = []
    for place, item in enumerate(items):
        other = other_than(captions, place)
        made.append(item if other is None else replace(item, rivals=(_rival(items[other]),)))
    return tuple(made)


def _rival(other: Item) -> Rival:
    assert other.image_path is not None
    return Rival(
        OTHER_VIDEO, other.image_path, {"video": other.id}, bytes_sha256=other.bytes_sha256,
        size=(other.width, other.height), frames=other.frames,
    )  # fmt: skip


def _wrong(path: Path) -> Mapping[str, str]:
    if not path.is_file():
        return {}
    held = read_json(path)
    if not isinstance(held, dict) or not all(isinstance(each, str) for each in held.values()):
        raise BadCorpus(f"{path} must be an object {{video: caption}}, got {json.dumps(held)[:60]}")
    return held
