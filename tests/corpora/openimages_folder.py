"""An Open Images folder in the publisher's layout, filled or broken line by line."""

import json
from pathlib import Path

import numpy as np
from PIL import Image

COLUMNS = (
    "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded,IsTruncated,IsGroupOf,IsDepiction,IsInside"
)
CLICKS = ",XClick1X,XClick2X,XClick3X,XClick4X,XClick1Y,XClick2Y,XClick3Y,XClick4Y"
OUTLINE_COLUMNS = "MaskPath,ImageID,LabelName,BoxID,BoxXMin,BoxXMax,BoxYMin,BoxYMax,PredictedIoU,Clicks"
IMAGE_COLUMNS = (
    "ImageID,Subset,OriginalURL,OriginalLandingURL,License,AuthorProfileURL,Author,Title,OriginalSize,OriginalMD5,"
    "Thumbnail300KURL,Rotation"
)

NAMES = {
    "/m/01g317": "Person",
    "/m/04yx4": "Man",
    "/m/0dzct": "Human face",
    "/m/01yrx": "Cat",
    "/m/04bcr3": "Table",
    "/m/0gremlin": "Gremlin",
    "/m/054xkw": "Lifejacket",
}
CODES = {name: code for code, name in NAMES.items()}
TREE = {
    "LabelName": "/m/0bl9f",
    "Subcategory": [
        {
            "LabelName": "/m/01g317",
            "Subcategory": [{"LabelName": "/m/04yx4"}],
            "Part": [{"LabelName": "/m/0dzct"}],
        },
        {"LabelName": "/m/01yrx"},
    ],
}
GOOD = (0.2, 0.7, 0.1, 0.6)
"""XMin, XMax, YMin, YMax."""


class OpenImagesFolder:
    """Photographs of 100 × 80 px of the split ``validation``."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.lines: list[str] = []
        self.outlines: list[str] = []
        self.tree: object = TREE
        self.header = True
        self.columns = COLUMNS
        (root / "validation").mkdir()

    def image(self, key: str) -> None:
        Image.new("RGB", (100, 80), "green").save(self.root / "validation" / f"{key}.jpg")

    def box(self, key: str, name: str, corners: object = GOOD, *, marks: str = "0,0,0,0,0", clicks: str = "") -> None:
        """Add a box; marks in the order IsOccluded, IsTruncated, IsGroupOf, IsDepiction, IsInside."""
        told = corners if isinstance(corners, str) else ",".join(f"{each:.6f}" for each in corners)  # type: ignore[attr-defined]
        self.lines.append(f"{key},xclick,{CODES.get(name, name)},1,{told},{marks}{clicks}")

    def outline(self, key: str, name: str, mask: np.ndarray | None, corners: tuple[float, ...] = GOOD) -> None:
        """Add an outline, bool [H, W] of any size; None: without its file."""
        file = f"{key}_{CODES[name].replace('/', '')}_9a041d52.png"
        if mask is not None:
            (self.root / "masks").mkdir(exist_ok=True)
            Image.fromarray(mask).convert("1").save(self.root / "masks" / file)
        told = ",".join(f"{each:.6f}" for each in corners)
        self.outlines.append(f"{file},{key},{CODES[name]},9a041d52,{told},0.86864,0.95498 0.65197 1;0.89370 0.56579 1")

    def write(self) -> Path:
        names = [f"{code},{name}" for code, name in NAMES.items()]
        head = ["LabelName,DisplayName"] if self.header else []
        (self.root / "class-descriptions-boxable.csv").write_text("\n".join([*head, *names]) + "\n")
        (self.root / "validation-annotations-bbox.csv").write_text("\n".join([self.columns, *self.lines]) + "\n")
        if self.tree is not None:
            (self.root / "bbox_labels_600_hierarchy.json").write_text(json.dumps(self.tree))
        if self.outlines:
            path = self.root / "validation-annotations-object-segmentation.csv"
            path.write_text("\n".join([OUTLINE_COLUMNS, *self.outlines]) + "\n")
        return self.root
