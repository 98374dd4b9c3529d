"""Images or videos by id: the file's name below a folder, with or without its ending."""

from collections.abc import Iterable
from pathlib import Path

from core.corpora.files import inside
from core.corpora.image_header import SUFFIXES
from core.corpora.videos import find_videos
from core.errors import InvalidInput


class ImageFolder:
    """Finds images of one folder; an id may name folders below it, as in ``val/000123``.

    Args:
        folder: of the images; None where every line names its own.
        videos: whether it holds videos, or folders of frames, in place of images.
    """

    def __init__(self, folder: Path | None, *, videos: bool = False) -> None:
        self.folder = folder
        self._videos = videos
        self._read: dict[Path, _Names] = {}

    def find(self, item: str, named: str | None) -> Path | None:
        """Image of an id, or the one that its line names; None where there is none.

        A line may name any file, as CaptionEvalKit's do: from where the command runs, else below the folder.

        Raises:
            InvalidInput: if an id or a name leads out of the folder, or two images share the id.
        """
        if named is not None:
            if Path(named).is_file():
                return Path(named)
            if self.folder is None or Path(named).is_absolute():
                return None
            path = inside(self.folder, named)
            return path if path.is_file() else None
        if self.folder is None:
            return None
        if "/" not in item:
            return self._names(self.folder).of(item)
        path = inside(self.folder, item)
        return self._names(path.parent).of(path.name)

    def left_over(self, used: Iterable[Path]) -> tuple[str, ...]:
        """Images that no caption asked for, of the folder itself and of those below it that an id named."""
        asked = {path.resolve() for path in used}
        if self.folder is not None:
            self._names(self.folder)
        paths = [path for names in self._read.values() for path in names.by_name.values()]
        return tuple(
            sorted(
                path.relative_to(self.folder).as_posix()
                for path in paths
                if self.folder is not None and path.resolve() not in asked
            )
        )

    def _names(self, folder: Path) -> "_Names":
        if folder not in self._read:
            self._read[folder] = _Names(folder, videos=self._videos)
        return self._read[folder]


class _Names:
    """The images or videos of one folder, read once."""

    def __init__(self, folder: Path, *, videos: bool) -> None:
        self.folder = folder
        there = sorted(folder.iterdir()) if folder.is_dir() else []
        paths = (
            find_videos(folder).values()
            if videos and there
            else [path for path in there if path.suffix.lower() in SUFFIXES and not videos]
        )
        self.by_name = {path.name: path for path in paths}
        self.by_stem: dict[str, list[Path]] = {}
        for path in self.by_name.values():
            self.by_stem.setdefault(path.stem, []).append(path)

    def of(self, name: str) -> Path | None:
        if name in self.by_name:
            return self.by_name[name]
        paths = self.by_stem.get(name, [])
        if len(paths) > 1:
            raise InvalidInput(f"{name!r} may be {' or '.join(path.name for path in paths)}; keep one in {self.folder}")
        return paths[0] if paths else None
