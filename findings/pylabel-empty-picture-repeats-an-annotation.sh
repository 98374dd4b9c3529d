#!/bin/sh
# pylabel 0.1.55 with pandas 2.3.3 (under pandas 3 it stops at such a file): a COCO file is read and written again
# (ImportCoco, ExportToCoco). For every picture without boxes, the last annotation of the picture before stands once more,
# under the same id: three pictures with 2, 1 and 0 boxes leave with 4 annotations, and counts of objects a picture are
# wrong. Exits 0 where that is still so.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/python" -m pip install -q --disable-pip-version-check pylabel==0.1.55 pandas==2.3.3
cat > "$place/again.py" <<'PY'
import json, sys
from pathlib import Path
from pylabel import importer
place = Path(sys.argv[1])
boxes = [(1, 1, [10, 10, 30, 20]), (2, 1, [60, 40, 20, 10]), (3, 2, [5, 5, 40, 40])]
told = {
    "images": [{"id": each, "file_name": f"{each}.jpg", "width": 120, "height": 80} for each in (1, 2, 3)],
    "annotations": [{"id": number, "image_id": image, "category_id": 1, "bbox": box, "area": box[2] * box[3],
                     "iscrowd": 0, "segmentation": []} for number, image, box in boxes],
    "categories": [{"id": 1, "name": "cat", "supercategory": "animal"}],
}
(place / "in.json").write_text(json.dumps(told))
data = importer.ImportCoco(str(place / "in.json"), path_to_images="images", name="cats")
data.export.ExportToCoco(output_path=str(place / "out.json"))
out = [(each["id"], each["image_id"], each["bbox"]) for each in json.loads((place / "out.json").read_text())["annotations"]]
print("in:", [(number, image) for number, image, _ in boxes], "out:", [each[:2] for each in out])
sys.exit(0 if len(out) == 4 and out[2] == out[3] else 1)
PY
"$place/env/bin/python" "$place/again.py" "$place" 2> "$place/log" || { cat "$place/log"; exit 1; }
