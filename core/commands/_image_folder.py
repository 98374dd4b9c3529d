"""Images or videos by id: the file's name below a folder, with or without its ending."""

import os
from collections.abc import Iterable
from pathlib import Path

from core.corpora.corpus_files import LeftOut, inside
from core.corpora.folder_tables import packed_images
from core.corpora.image_header import SUFFIXES
from core.corpora.image_names import ImageNames
from core.corpora.video_frames import find_videos
from core.errors import InvalidInput


class ImageFolder:
    """Finds images of one folder, as :class:`core.corpora.image_names.ImageNames` does; the folder itself comes first.

    Args:
        folder: of the images; None where every line names its own.
        videos: whether it holds videos, or folders of frames, in place of images.
    """

    def __init__(self, folder: Path | None, *, videos: bool = False) -> None:
        self.folder = folder
        self._videos = videos
        self._names: dict[Path | None, ImageNames] = {}
        self._paths: dict[Path | None, dict[str, Path]] = {}

    def find(self, item: str, named: str | None) -> Path | None:
        """Image of an id, or the one that its line names; None where there is none.

        A line may name any file, as CaptionEvalKit's do: in the folder, else from where the command runs.

        Raises:
            InvalidInput: if an id or a name leads out of the folder, or two images share the id.
        """
        if self.folder is None:
            return Path(named) if named is not None and Path(named).is_file() else None
        if named is None:
            return self._below(self.folder, item)
        path = Path(named)
        if (path.is_absolute() or ".." in path.parts) and path.is_file():
            return path
        found = self._below(self.folder, path.name if path.is_absolute() else named)
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
            try:
                return self._paths_of(each)[self._of(each).meant(name)]
            except LeftOut as reason:
                if reason.code == "entry-ambiguous-image":
                    raise InvalidInput(f"{reason.detail.replace(' could be ', ' may be ', 1)} {root}") from reason
        return None

    def _of(self, folder: Path | None) -> ImageNames:
        if folder not in self._names:
            self._names[folder] = ImageNames(self._paths_of(folder))
        return self._names[folder]

    def _paths_of(self, folder: Path | None) -> dict[str, Path]:
        """Images of a folder, or of them all and those that files pack, by their names below the first; read once."""
        if folder not in self._paths:
            root = self.folder or Path()
            paths = self._all(root) if folder is None else self._own(folder)
            self._paths[folder] = {path.relative_to(root).as_posix(): path for path in paths}
            if folder is None and not self._videos:
                self._paths[folder] |= {
                    key: path for each in packed_images(root).values() for key, path in each.items()
                }
        return self._paths[folder]

    def _own(self, folder: Path) -> list[Path]:
        there = sorted(folder.iterdir()) if folder.is_dir() else []
        if self._videos:
            return list(find_videos(folder).values()) if there else []
        return [path for path in there if path.suffix.lower() in SUFFIXES]

    def _all(self, root: Path) -> list[Path]:
        """Images below a folder, links not followed; of videos none, whose frames are images too."""
        return [
            Path(place, name)
            for place, _, names in os.walk("" if self._videos else root)
            for name in names
            if Path(name).suffix.lower() in SUFFIXES
        ]
