"""Where things live on disk, in one place. Read on call, never at import."""

import os
from pathlib import Path

import platformdirs

ROOT = Path(__file__).resolve().parent.parent
"""The checkout: holds ``assets/`` and ``data/``."""


def assets_dir() -> Path:
    """Folder of the editable lexicons, taxonomy maps, rubrics and style sheets."""
    return ROOT / "assets"


def data_dir() -> Path:
    """Folder of corpora, runs, results and studies; ``INVARISCOPE_DATA`` overrides it."""
    return Path(os.environ.get("INVARISCOPE_DATA") or ROOT / "data")


def runs_dir() -> Path:
    """Folder of the user's own runs, one folder a run."""
    return data_dir() / "runs"


def results_dir() -> Path:
    """Folder of the results that ship with Invariscope."""
    return data_dir() / "results"


def cache_dir() -> Path:
    """Folder of everything that may be deleted at any time; ``INVARISCOPE_CACHE`` overrides it."""
    return Path(os.environ.get("INVARISCOPE_CACHE") or platformdirs.user_cache_path("invariscope"))
