#!/bin/sh
# labelme2coco 0.2.6: two outlines with one group_id, which is how labelme says that a pole hides the middle of one cat,
# become two annotations, each with a box of its own. COCO keeps both outlines in one annotation. A picture of one object
# then counts as one of two, and neither box holds the cat. Exits 0 where that is still so.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/python" -m pip install -q --disable-pip-version-check labelme2coco==0.2.6
cat > "$place/parts.py" <<'PY'
import json, sys
from pathlib import Path
import labelme2coco
from PIL import Image
place = Path(sys.argv[1])
(place / "in").mkdir()
Image.new("RGB", (120, 80)).save(place / "in" / "1.jpg")
parts = [[10, 10], [40, 10], [40, 30], [10, 30]], [[60, 10], [70, 10], [70, 30], [60, 30]]
shapes = [{"label": "cat", "points": part, "group_id": 1, "shape_type": "polygon", "flags": {}} for part in parts]
(place / "in" / "1.json").write_text(json.dumps({
    "version": "5.8.3", "flags": {}, "shapes": shapes, "imagePath": "1.jpg", "imageData": None, "imageHeight": 80,
    "imageWidth": 120}))
labelme2coco.convert(str(place / "in"), str(place / "out"))
boxes = [each["bbox"] for each in json.loads((place / "out" / "dataset.json").read_text())["annotations"]]
print("one cat of two parts, boxes:", boxes)
sys.exit(0 if boxes == [[10, 10, 30, 20], [60, 10, 10, 20]] else 1)
PY
"$place/env/bin/python" "$place/parts.py" "$place" 2> "$place/log" || { cat "$place/log"; exit 1; }
