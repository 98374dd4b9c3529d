"""Pictures that come inside another file, or are cut out of one: kept as files of the cache, named by their bytes."""

import hashlib
import os
import tempfile
from pathlib import Path

from core import settings
from core.corpora.corpus_files import LeftOut
from core.corpora.image_header import MAX_BYTES, SUFFIXES, sniff
from core.errors import StoreError


def keep_image(data: bytes, *, folder: str, where: str) -> tuple[Path, str]:
    """Keep the bytes of an image as a file of the cache; return its path and the sha256 of the bytes.

    Args:
        folder: of the cache, one a reader.
        where: what messages call the picture.

    Raises:
        LeftOut: ``bad-image`` where they are no image, or too many.
        StoreError: if the cache cannot be written.
    """
    kind = sniff(data[:32])
    suffix = next((suffix for suffix, name in SUFFIXES.items() if name == kind), None)
    if suffix is None or len(data) > MAX_BYTES:
        raise LeftOut("bad-image", f"{where}: {len(data):,} bytes that are no image or too many; leave the line out")
    digest = hashlib.sha256(data).hexdigest()
    path = settings.cache_dir() / folder / digest[:2] / f"{digest}{suffix}"
    if path.is_file() and path.stat().st_size == len(data):
        return path, digest
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, scratch = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(scratch).replace(path)
    except OSError as error:
        raise StoreError(f"the pictures cannot be kept in {path.parent} ({error}); free some disk") from error
    return path, digest
