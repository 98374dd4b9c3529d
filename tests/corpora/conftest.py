"""Images, COCO folders and folders of images made on the fly."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from core import settings
from tests.corpora.coco_folder import CocoFolder
from tools.demo_corpus.plan import Plan, read_plan
from tools.demo_corpus.scenes import ScenePlan, read_scenes


@pytest.fixture(scope="module")
def plan() -> Plan:
    """What the demo corpus is made of."""
    return read_plan(settings.ROOT / "assets" / "demo")


@pytest.fixture(scope="module")
def words(plan: Plan) -> ScenePlan:
    """What its scenes are told in."""
    return read_scenes(settings.ROOT / "assets" / "demo", plan)


@pytest.fixture(scope="session")
def gradient() -> np.ndarray:
    """A smooth uint8 RGB image [60, 80, 3], every corner of another colour."""
    rows, columns = np.mgrid[0:60, 0:80]
    return np.stack([rows * 4, columns * 3, 255 - rows * 2 - columns], axis=2).astype(np.uint8)


@pytest.fixture(scope="session")
def encode() -> Callable[..., bytes]:
    """``encode(array or Pillow image, format, **options) -> bytes``."""

    def encoded(image: Any, kind: str, **options: Any) -> bytes:
        picture = image if isinstance(image, Image.Image) else Image.fromarray(image)
        buffer = BytesIO()
        picture.save(buffer, kind, **options)
        return buffer.getvalue()

    return encoded


@pytest.fixture
def coco_folder(tmp_path: Path) -> CocoFolder:
    return CocoFolder(tmp_path)
