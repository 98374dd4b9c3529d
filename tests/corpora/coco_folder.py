"""A COCO folder that a test fills, or breaks, entry by entry."""

import json
from pathlib import Path
from typing import Any

from PIL import Image


class CocoFolder:
    """A COCO folder under construction; every image is 100 × 80 px, every instance a cat."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "annotations").mkdir()
        (root / "val2017").mkdir()
        self.images: list[Any] = []
        self.annotations: list[Any] = []
        self.captions: list[Any] = []
        self.categories: list[Any] = [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}, {"id": 3, "name": "gremlin"}]
        self.licences: list[Any] = [{"id": 4, "name": "Attribution License", "url": "http://example.org/by"}]

    def image(self, key: Any, *, file_name: str | None = None, saved: bool = True, **fields: Any) -> None:
        name = file_name or f"{key:012d}.jpg"
        entry = {"id": key, "file_name": name, "width": 100, "height": 80, "license": 4, "coco_url": f"u{key}"}
        self.images.append({**entry, **fields})
        if saved:
            Image.new("RGB", (100, 80), "green").save(self.root / "val2017" / name)

    def instance(self, image: Any, bbox: Any, *, segmentation: Any = None, **fields: Any) -> None:
        if segmentation is None:
            x, y, width, height = bbox
            segmentation = [[x, y, x + width, y, x + width, y + height, x, y + height]]
        entry = {"id": len(self.annotations) + 1, "image_id": image, "category_id": 1, "iscrowd": 0, "bbox": bbox}
        self.annotations.append({**entry, "segmentation": segmentation, **fields})

    def caption(self, image: Any, text: Any, **fields: Any) -> None:
        self.captions.append({"id": len(self.captions) + 1, "image_id": image, "caption": text, **fields})

    def write(self) -> Path:
        content = {"images": self.images, "annotations": self.annotations, "categories": self.categories}
        content["licenses"] = self.licences
        (self.root / "annotations" / "instances_val2017.json").write_text(json.dumps(content))
        if self.captions:
            text = json.dumps({"images": self.images, "annotations": self.captions})
            (self.root / "annotations" / "captions_val2017.json").write_text(text)
        return self.root
