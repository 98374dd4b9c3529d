"""Where the photographs of a corpus lie, whichever way their archives were unpacked."""

import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from core.corpora.files import LeftOut, inside
from core.corpora.findings import Findings
from core.corpora.images import ImageHeader, read_header, require_auditable
from core.corpora.schema import Rejection
from core.errors import BadImage, InvalidInput


class ImagePlaces:
    """Tries some folders for each name; the one that held the last picture first.

    Args:
        root: folder of the corpus.
        folders: below the root, where pictures may lie; ``""`` is the root itself.
    """

    def __init__(self, root: Path, folders: Sequence[str]) -> None:
        self.root = root
        self._folders = [folder for folder in folders if (root / folder).is_dir()]

    def find(self, *names: str) -> Path:
        """Return the first file there is under one of the names, which are tried in every folder.

        Raises:
            LeftOut: ``unsafe-path`` where a name leads out of the corpus, ``missing-image`` where no file is there.
        """
        spelled = [each for name in names for each in _spellings(name)]
        for place, folder in enumerate(self._folders):
            for name in spelled:
                path = self._there(folder, name)
                if path is not None:
                    self._folders.insert(0, self._folders.pop(place))
                    return path
        raise LeftOut("missing-image", f"{names[0]} is not in {self.root}; download it to have this image")

    def _there(self, folder: str, name: str) -> Path | None:
        try:
            path = inside(self.root / folder, name)
            return path if path.is_file() else None
        except InvalidInput as error:
            raise LeftOut("unsafe-path", str(error)) from error
        except (OSError, ValueError):  # a name that no disk can hold
            return None


def _spellings(name: str) -> Iterator[str]:
    """A name as it is stated, and as other systems write it: with slashes, its letters composed or taken apart."""
    plain = name.replace("\\", "/")
    yield from dict.fromkeys((name, plain, *(unicodedata.normalize(form, plain) for form in ("NFC", "NFD"))))


def stated_size(path: Path, width: int, height: int) -> ImageHeader:
    """Check that an image can be audited and has the size that its annotations are for.

    Raises:
        LeftOut: ``bad-image`` or ``size-mismatch``.
    """
    header = auditable(path)
    if (header.width, header.height) != (width, height):
        cure = "restore the original image"
        if (header.height, header.width) == (width, height):
            cure += ", or exchange width and height in the annotations if they are swapped"
            if header.lies:
                cure = f"EXIF orientation {header.orientation} turns it: save it upright and turn its boxes alike"
        raise LeftOut("size-mismatch", f"{path} is {header.width} × {header.height} px, its annotations are for "
                      f"{width} × {height}; {cure}")  # fmt: skip
    return header


def remark_exif(found: Findings, subject: str, path: Path, header: ImageHeader, *, turned: bool = False) -> None:
    """Remark a picture that its EXIF orientation turns, and what its boxes are taken to be of; nothing of another.

    Args:
        turned: whether the boxes are of the picture as it is stored and are turned with it; else they are taken as it
            is seen, for nothing tells.
    """
    if header.orientation != 1:
        how = "stored, and turned with it" if turned else "seen, for nothing tells"
        detail = f"EXIF orientation {header.orientation} turns {path.name}; its boxes are read as those of it as {how}"
        found.remark(Rejection(subject, "annotation-exif", detail))


def auditable(path: Path) -> ImageHeader:
    """Read the header of an image that can be audited.

    Raises:
        LeftOut: ``bad-image``.
    """
    try:
        header = read_header(path)
        require_auditable(header.width, header.height, name=str(path))
    except BadImage as error:
        raise LeftOut("bad-image", str(error)) from error
    return header
