"""The photographs that scikit-image and scikit-learn ship, found as files and never imported."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
from PIL import Image

from core.errors import NotAvailable

_FOLDERS = {"scikit-image": ("skimage", "data"), "scikit-learn": ("sklearn", "datasets/images")}


def shipped_file(package: str, name: str) -> Path:
    """Return the path of a photograph inside an installed package, e.g. ``("scikit-image", "coffee.png")``.

    Raises:
        NotAvailable: if the package or the file is not on this machine.
    """
    module, folder = _FOLDERS[package]
    spec = find_spec(module)
    path = Path(spec.origin).parent / folder / name if spec is not None and spec.origin is not None else None
    if path is None or not path.is_file():
        raise NotAvailable(f"{name} of {package} is not on this machine; run: pip install {package}")
    return path


def shipped_pixels(package: str, name: str) -> np.ndarray:
    """Return a shipped photograph as uint8 RGB [H, W, 3]."""
    with Image.open(shipped_file(package, name)) as image:
        return np.asarray(image.convert("RGB"))
