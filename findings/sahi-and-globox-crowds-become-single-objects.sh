#!/bin/sh
# sahi 0.12.8 and globox 2.9.0 read a COCO file and write it again: an annotation of a crowd (iscrowd 1, one box around
# many people) comes out as iscrowd 0, one person as wide as the group. Whoever picks pictures of a single object, or
# leaves crowds out, takes it for one. Exits 0 where both still do so.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/python" -m pip install -q --disable-pip-version-check sahi==0.12.8 globox==2.9.0
cat > "$place/crowd.py" <<'PY'
import json, sys
from pathlib import Path
from globox import AnnotationSet
from PIL import Image
from sahi.utils.coco import Coco
place = Path(sys.argv[1])
Image.new("RGB", (120, 80)).save(place / "1.jpg")
told = {
    "images": [{"id": 1, "file_name": "1.jpg", "width": 120, "height": 80}],
    "annotations": [
        {"id": 1, "image_id": 1, "category_id": 1, "bbox": [5, 5, 20, 40], "area": 800, "iscrowd": 0, "segmentation": []},
        {"id": 2, "image_id": 1, "category_id": 1, "bbox": [30, 10, 80, 50], "area": 4000, "iscrowd": 1,
         "segmentation": {"size": [80, 120], "counts": [2400, 6400, 800]}},
    ],
    "categories": [{"id": 1, "name": "person", "supercategory": "person"}],
}
(place / "in.json").write_text(json.dumps(told))
by_sahi = Coco.from_coco_dict_or_path(str(place / "in.json"), image_dir=str(place)).json["annotations"]
AnnotationSet.from_coco(place / "in.json").save_coco(place / "globox.json")
by_globox = json.loads((place / "globox.json").read_text())["annotations"]
crowds = {name: [each["iscrowd"] for each in rows] for name, rows in (
    ("in", told["annotations"]), ("sahi", by_sahi), ("globox", by_globox))}
print("iscrowd:", crowds)
sys.exit(0 if crowds == {"in": [0, 1], "sahi": [0, 0], "globox": [0, 0]} else 1)
PY
"$place/env/bin/python" "$place/crowd.py" "$place" 2> "$place/log" || { cat "$place/log"; exit 1; }
