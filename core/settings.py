"""Where things live on disk, in one place. Read on call, never at import."""

import os
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import urlsplit

import platformdirs

from core.errors import InvalidInput
from core.yes_no import yes_or_no

_SHIPPED = Path(__file__).resolve().parent / "shipped"
"""What a wheel brings beside the code (``tools/wheel.py`` puts it there); a checkout has no such folder."""

INSTALLED = _SHIPPED.is_dir()  # whether this is an installed wheel, in whose folder nothing may be written
ROOT = _SHIPPED if INSTALLED else Path(__file__).resolve().parent.parent
"""The checkout, or its likeness in an installed wheel: ``assets/``, ``pages/``, ``app.py``, what ships of ``data/``."""

RETIRED = {
    "INVARISCOPE_COORDINATOR_PASSWORD": "this server knows no password: let operators in by Streamlit's OIDC log-in "
    "(INVARISCOPE_COORDINATORS, and [auth] in .streamlit/secrets.toml; docs/security.md) and unset it",
    "INVARISCOPE_VIEWER_SECONDS": "this server does not limit what viewers score: keep out who may not, by Streamlit's "
    "OIDC log-in (docs/security.md), or put a proxy with a rate limit in front, and unset it",
}
"""Setting that closed a part of the dashboard and is not kept any more -> what to do; none opens where one is set."""

_PREFIX = "INVARISCOPE_"

SETTINGS = frozenset(
    _PREFIX + name
    for name in (
        *("DATA", "CACHE", "CACHE_MB", "WEIGHTS", "FOLDERS", "UPLOADS_MB", "POOL_MB", "VENV", "BROWSER", "DEBUG"),
        *("TOKEN", "COORDINATORS", "VIEWERS", "VIEWER_UPLOADS", "AUDIENCE", "METRIC_UPLOADS", "PUBLIC_URL"),
        *("UMIC_REGIONS", "UMIC_DETECTOR", "JUDGE_URL", "JUDGE_MODEL", "JUDGE_KEY", "JUDGE_CONCURRENCY"),
        *("JUDGE_TIMEOUT_S", "JUDGE_ATTEMPTS", "JUDGE_FIRST_WAIT_S", "JUDGE_LONGEST_WAIT_S"),
        *("JUDGE_MOST_REQUESTS", "JUDGE_MOST_COST", "JUDGE_PRICE_IN", "JUDGE_PRICE_OUT", "JUDGE_MODELS"),
        *("REQUIRE_BROWSER", "COCO", "FLEUR", "STAMPS", "KILLS"),
    )
)
"""Every variable of the environment that is read; the table in ``docs/command-line.md`` says what each sets."""

_YES_OR_NO = tuple(_PREFIX + name for name in ("VIEWERS", "VIEWER_UPLOADS", "AUDIENCE", "METRIC_UPLOADS"))
_FOLDERS = ("INVARISCOPE_DATA", "INVARISCOPE_CACHE", "INVARISCOPE_WEIGHTS")


def assets_dir() -> Path:
    """Folder of the editable lexicons, taxonomy maps, rubrics and style sheets."""
    return ROOT / "assets"


def data_dir() -> Path:
    """Folder of the user's corpora, runs, jobs, studies and paid answers; ``INVARISCOPE_DATA`` overrides it. A wheel
    keeps them in the user's data folder of this system, a checkout in ``data/``."""
    return Path(os.environ.get("INVARISCOPE_DATA") or usual_data_dir())


def usual_data_dir() -> Path:
    """What :func:`data_dir` is where ``INVARISCOPE_DATA`` is not set."""
    return platformdirs.user_data_path("invariscope") / "data" if INSTALLED else ROOT / "data"


def runs_dir() -> Path:
    """Folder of the user's own runs, one folder a run."""
    return data_dir() / "runs"


def results_dir() -> Path:
    """Folder of the results that ship with Invariscope; below ``INVARISCOPE_DATA`` where that is set."""
    return (data_dir() if os.environ.get("INVARISCOPE_DATA") else ROOT / "data") / "results"


def jobs_dir() -> Path:
    """Folder of the audits that were started as jobs, one folder a job."""
    return data_dir() / "jobs"


def calibrations_dir() -> Path:
    """Folder of the measurements of calibrations, beside the runs: one folder a run."""
    return data_dir() / "calibrations"


def uploads_dir() -> Path:
    """Folder of what an operator brought through the browser to be audited: photographs, and metrics where allowed."""
    return data_dir() / "uploads"


def brought_mb() -> float:
    """Most that photographs brought through the browser may take, in MB; ``INVARISCOPE_UPLOADS_MB``.
    Raises InvalidInput if it is no number from 0."""
    return _size_mb("INVARISCOPE_UPLOADS_MB", "2048")


def checks_dir() -> Path:
    """Folder of the reports of metrics that were checked from a page, one file a check."""
    return data_dir() / "checks"


def stories_dir() -> Path:
    """Folder of the stories, one folder each."""
    return data_dir() / "stories"


def tags_file() -> Path:
    """Log of the tags and notes that a reader puts on pairs."""
    return data_dir() / "tags.jsonl"


def suites_dir() -> Path:
    """Folder of what evaluators reached on human-labelled suites, one file a suite."""
    return data_dir() / "suites"


def leaderboards_dir() -> Path:
    """Folder of the leaderboards of captioners, one file each."""
    return data_dir() / "leaderboards"


def cache_dir() -> Path:
    """Folder of everything that may be deleted at any time; ``INVARISCOPE_CACHE`` overrides it."""
    return Path(os.environ.get("INVARISCOPE_CACHE") or platformdirs.user_cache_path("invariscope"))


def lab_cache_mb() -> float:
    """Most that embeddings of pictures met before may take on the disk, in MB; ``INVARISCOPE_CACHE_MB``, 0: none.
    Raises InvalidInput if it is no number from 0."""
    return _size_mb("INVARISCOPE_CACHE_MB", "1024")


def _size_mb(variable: str, usual: str) -> float:
    given = os.environ.get(variable, "").strip() or usual
    try:
        size = float(given)
    except ValueError:
        size = -1.0
    if not 0 <= size < float("inf"):
        raise InvalidInput(f"{variable} must be a number of MB from 0, got {given[:40]!r}")
    return size


def weights_dir() -> Path:
    """Folder of the weights that ``python -m core evaluators get`` fetched; ``INVARISCOPE_WEIGHTS`` overrides it."""
    return Path(os.environ.get("INVARISCOPE_WEIGHTS") or platformdirs.user_data_path("invariscope") / "weights")


def allowed_folders() -> tuple[Path, ...]:
    """Folders in which what a link or a run that somebody hands over names must lie: data, what ships, and those of
    ``INVARISCOPE_FOLDERS``, written as ``PATH``."""
    linked = os.environ.get("INVARISCOPE_FOLDERS", "").split(os.pathsep)
    return (data_dir(), ROOT / "data", *(Path(each) for each in linked if each))


def environment() -> dict[str, str]:
    """The environment for a process that starts in another folder: what is relative in ours is absolute in it."""
    given = {name: os.environ.get(name) for name in _FOLDERS}
    return {**os.environ, **{name: str(Path(folder).absolute()) for name, folder in given.items() if folder}}


def says_yes(variable: str) -> bool:
    """Whether a variable says yes; one that is not set or empty says no. Raises InvalidInput if it says neither."""
    try:
        return bool(yes_or_no(os.environ.get(variable)))
    except InvalidInput as error:
        raise InvalidInput(f"{variable}: {error}") from error


def refused() -> str:
    """What is set to something that cannot be kept, and what to do, in a sentence; empty where nothing is. A server
    that was started with such a setting lets nobody in: what it was meant to close may stand open."""
    try:
        for name in _YES_OR_NO:
            says_yes(name)
        for read in (public_url, brought_mb, lab_cache_mb, given_pool_mb):
            read()
    except InvalidInput as error:
        return str(error)
    return "; ".join(f"{name} is set, and {why}" for name, why in RETIRED.items() if os.environ.get(name))


def unknown() -> tuple[str, ...]:
    """A sentence for each variable that is named like a setting and is none: nothing reads it."""
    others = sorted(name for name in os.environ if name.startswith(_PREFIX) and name not in {*SETTINGS, *RETIRED})
    known = sorted(name.removeprefix(_PREFIX) for name in SETTINGS)
    meant = {name: get_close_matches(name.removeprefix(_PREFIX), known, 1) for name in others}
    return tuple(
        f"{name} is set, and no setting has this name"
        + "".join(f"; did you mean {_PREFIX}{each}?" for each in meant[name])
        for name in others
    )


def public_url() -> str | None:
    """Address under which others reach the dashboard, without a slash at its end; ``INVARISCOPE_PUBLIC_URL``.
    Raises InvalidInput if it is not an address of http or https without a query."""
    given = os.environ.get("INVARISCOPE_PUBLIC_URL", "").strip()
    if not given:
        return None
    told = urlsplit(given)
    if told.scheme not in ("http", "https") or not told.hostname or told.query or told.fragment or "@" in told.netloc:
        raise InvalidInput(f"INVARISCOPE_PUBLIC_URL is like https://study.example.org, got {given[:100]!r}; correct it")
    return given.rstrip("/")


def pool_budget_mb() -> float:
    """Memory that loaded evaluators may take together, in MB; ``INVARISCOPE_POOL_MB`` overrides half the machine's.
    Raises InvalidInput if the variable is not a positive number."""
    given = given_pool_mb()
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2 / 2**20 if given is None else given


def given_pool_mb() -> float | None:
    """What ``INVARISCOPE_POOL_MB`` says; None: it is not set. Raises InvalidInput if it is not a positive number."""
    given = os.environ.get("INVARISCOPE_POOL_MB")
    if not given:
        return None
    try:
        budget = float(given)
    except ValueError:
        budget = 0.0
    if not 0 < budget < float("inf"):
        raise InvalidInput(f"INVARISCOPE_POOL_MB must be a positive number of MB, got {given!r}; correct or unset it")
    return budget
