"""The corpus of a run, read again here: from a folder that the run names, which anybody may have written."""

from pathlib import Path

from core import settings
from core.corpora.ordinary_paths import lies_in
from core.corpora.registry import origin_here
from core.corpora.schema import Origin
from core.errors import NotAvailable
from core.store.audited_here import is_audited_folder
from core.store.manifest import Run

_serving = False


def only_allowed_folders() -> None:
    """From now on this process reads no folder that a run names unless :func:`may_read` allows it, as a server."""
    global _serving  # what a process is, a server or not, is decided once
    _serving = True


def origin_of_run(run: Run) -> Origin:
    """What reads the corpus of a run here.

    The folder that a published file names is read only where :func:`may_read` allows it; that of a run folder too,
    in a server, and on the command line wherever it lies.

    Raises:
        NotAvailable: if the corpus is not here, or may not be read; says what to do.
    """
    told = run.manifest["corpus"]
    origin = origin_here(str(told.get("name")), told)
    if (_serving or not run.path.is_dir()) and not may_read(origin):
        raise NotAvailable(
            f"run {run.id} names the folder {origin.root or settings.ROOT} with options for its pictures, which lies "
            f"outside the folders of data, and no audit on this machine read it so; put the corpus at "
            f"{settings.data_dir() / 'corpora' / str(told.get('name'))}, or have INVARISCOPE_FOLDERS name its folder"
        )
    return origin


def may_read(origin: Origin) -> bool:
    """Whether what a run says of its corpus may be followed.

    Either an audit on this machine read that folder with these options, or the folder and every option that is a path
    lie in :func:`core.settings.allowed_folders`.
    """
    if origin.root is not None and is_audited_folder(origin.root, origin.options):
        return True
    allowed = settings.allowed_folders()
    inside = origin.root is None or lies_in(origin.root, allowed)
    return inside and all(_stays(str(value), allowed) for value in origin.options.values())


def _stays(value: str, allowed: tuple[Path, ...]) -> bool:
    """Whether an option is no path that leads out."""
    if not value.startswith(("/", "\\", "~")):
        return ".." not in Path(value).parts
    try:
        return lies_in(Path(value).expanduser(), allowed)
    except RuntimeError:  # the home of somebody who is not here
        return False
