"""What a wheel holds beside the packages: ``core/shipped/``, the likeness of a checkout that ``core.settings`` reads.

``pyproject.toml`` names :class:`WithFiles`; an editable installation reads the checkout itself and needs none of it.
"""

import shutil
from pathlib import Path

from setuptools.command.build_py import build_py

SHIPPED = (
    ".streamlit/config.toml",
    "assets",
    "pages",
    "data/demo",
    "data/results",
    "app.py",
    "serve.py",
    "requirements.txt",
)
"""Files and folders of the checkout; never all of ``data/``, where a user's own runs and votes lie."""


class WithFiles(build_py):  # type: ignore[misc]  # setuptools has no types
    """Packages, and beside them what they read."""

    def run(self) -> None:
        """Build the packages; copy the files unless the installation is editable."""
        super().run()
        if self.editable_mode:
            return
        root, target = Path(__file__).resolve().parent.parent, Path(self.build_lib) / "core" / "shipped"
        shutil.rmtree(target, ignore_errors=True)  # what an earlier build left there may be gone from the checkout
        for name in SHIPPED:
            source = root / name
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(source, target / name)
