#!/bin/sh
# coco-assistant 0.3.5: merging two COCO folders copies the pictures of both into one folder, so that of two pictures with
# one file name (000001.jpg of two cameras) the later one replaces the other, without a word; the merged file lists both
# pictures with their boxes. Half of the boxes then lie on another picture. Exits 0 where that is still so.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/python" -m pip install -q --disable-pip-version-check coco-assistant==0.3.5
cat > "$place/merge.py" <<'PY'
import json, sys
from pathlib import Path
from PIL import Image
from coco_assistant import COCO_Assistant
root = Path(sys.argv[1])
for number, (camera, colour) in enumerate((("left", "red"), ("right", "blue")), 1):
    (root / "images" / camera).mkdir(parents=True)
    (root / "annotations").mkdir(exist_ok=True)
    Image.new("RGB", (100, 80), colour).save(root / "images" / camera / "000001.png")
    told = {"images": [{"id": 1, "file_name": "000001.png", "width": 100, "height": 80}],
            "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [10 * number, 10, 30, 20], "area": 600,
                             "iscrowd": 0, "segmentation": []}], "categories": [{"id": 1, "name": "cat", "supercategory": ""}]}
    (root / "annotations" / f"{camera}.json").write_text(json.dumps(told))
COCO_Assistant(str(root / "images"), str(root / "annotations")).merge(merge_images=True)
merged = root / "results" / "merged"
told = json.loads((merged / "annotations" / "merged.json").read_text())
files = sorted(path.name for path in (merged / "images").iterdir())
print("listed:", [each["file_name"] for each in told["images"]], "boxes:", len(told["annotations"]), "files:", files)
sys.exit(0 if len(told["images"]) == 2 and len(told["annotations"]) == 2 and len(files) == 1 else 1)
PY
cd "$place"
"$place/env/bin/python" "$place/merge.py" "$place/work" 2>/dev/null
