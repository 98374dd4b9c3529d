"""An Objects365 folder in the publisher's layout, filled or broken entry by entry."""

import json
from pathlib import Path
from typing import Any

from PIL import Image

NAMES = ("Person", "Cabinet/shelf", "Mouse", "Bakset", "Gremlin")


class Objects365Folder:
    """Every image is 100 × 80 px; category ids count from 1 in the order of NAMES."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.images: list[Any] = []
        self.annotations: list[Any] = []
        self.categories: list[Any] = [{"name": name, "id": number} for number, name in enumerate(NAMES, 1)]

    def image(self, key: Any, *, patch: str = "images/v1/patch8", saved: str | None = "", **fields: Any) -> str:
        """Add an image; ``saved`` is the folder that its file lies under, None for no file."""
        name = f"{patch}/objects365_v1_{key:08d}.jpg"
        entry = {"height": 80, "id": key, "license": 5, "width": 100, "file_name": name, "url": "", **fields}
        self.images.append(entry)
        if saved is not None:
            path = self.root / saved if saved.endswith(".jpg") else self.root / saved / name
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.new("RGB", (100, 80), "green").save(path)
        return name

    def instance(self, image: Any, bbox: Any, category: Any = 1, **fields: Any) -> None:
        entry = {"id": len(self.annotations) + 1, "iscrowd": 0, "isfake": 0, "area": 1.0, "isreflected": 0}
        self.annotations.append({**entry, "bbox": bbox, "image_id": image, "category_id": category, **fields})

    def write(self, *, split: str = "val", order: tuple[str, ...] = ("images", "annotations", "categories")) -> Path:
        content = {"licenses": [{"name": "", "id": 5, "url": ""}], **{name: getattr(self, name) for name in order}}
        (self.root / f"zhiyuan_objv2_{split}.json").write_text(json.dumps(content))
        return self.root
