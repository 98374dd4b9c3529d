"""The builder of the demo videos: the same bytes again, the motion that its list names, and slips that it names."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from core import settings
from core.corpora.video_folder import read_video_folder
from core.corpora.video_frames import open_video
from core.errors import BadCorpus
from tests.corpora.stamp_folder import stamp
from tools.demo_corpus.plan import read_plan
from tools.demo_corpus.videos import FRAMES, SIZE, build_videos, read_videos, video_frames

ASSETS = settings.ROOT / "assets" / "demo"
SHIPPED = settings.ROOT / "data" / "demo"


@pytest.fixture(scope="module")
def stamps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Drawn ellipses under the names of the stamps of the list."""
    folder = tmp_path_factory.mktemp("video-stamps")
    for entry in read_videos(ASSETS, read_plan(ASSETS)):
        stamp(folder, entry.stamp, (200, 150))
    return folder


def test_building_twice_gives_the_same_bytes_and_a_folder_that_is_read(tmp_path: Path, stamps: Path) -> None:
    plan = read_plan(ASSETS)
    for name in ("one", "two"):
        build_videos(tmp_path / name, ASSETS, plan, stamps)
    files = sorted((tmp_path / "one" / "videos").iterdir())
    for path in files:
        assert path.read_bytes() == (tmp_path / "two" / "videos" / path.name).read_bytes()
    held = read_video_folder(tmp_path / "one" / "videos")
    assert [each.id for each in held.videos] == sorted(entry.id for entry in read_videos(ASSETS, plan))
    assert not held.rejected
    footage = open_video(held.videos[0].path)
    assert (footage.frames, footage.width, footage.height) == (FRAMES, *SIZE)


def test_the_cut_out_goes_where_its_motion_says(stamps: Path) -> None:
    plan = read_plan(ASSETS)
    for entry in read_videos(ASSETS, plan):
        frames, place = video_frames(entry, plan, stamps)
        ground = np.asarray(place.image.convert("RGB")).astype(int)
        seen = [np.argwhere(np.abs(each.astype(int) - ground).max(axis=2) > 90) for each in frames]
        down, across = seen[-1].mean(axis=0) - seen[0].mean(axis=0)
        moved = {
            "right": across > 20,
            "left": across < -20,
            "down": down > 20,
            "up": down < -20,
            "nearer": len(seen[-1]) > 2 * len(seen[0]),
        }
        assert moved[entry.motion], entry.id


def test_what_ships_is_what_the_list_names_and_is_attributed() -> None:
    names = {entry.id for entry in read_videos(ASSETS, read_plan(ASSETS))}
    held = read_video_folder(SHIPPED / "videos")
    assert {each.id for each in held.videos} == names
    text = (SHIPPED / "ATTRIBUTION.md").read_text(encoding="utf-8")
    assert all(f"| {name}.mp4 | GPL-2.0-or-later |" in text for name in names)
    assert sum(path.stat().st_size for path in SHIPPED.rglob("*") if path.is_file()) < 20_000_000


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (",right,", ",sideways,", "'sideways' must be one of right, left"),
        (",pasture,", ",moon,", "must stand in stamps.csv and places.csv"),
        (",48", ",99", "height must be 5 to 80 percent of the frame, got '99'"),
    ],
)
def test_a_slip_in_the_list_is_named_with_its_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    lists = Path(shutil.copytree(ASSETS, tmp_path / "lists"))
    text = (lists / "videos.csv").read_text(encoding="utf-8")
    assert old in text
    (lists / "videos.csv").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(BadCorpus, match=message) as told:
        read_videos(lists, read_plan(ASSETS))
    assert "videos.csv, line" in str(told.value)
