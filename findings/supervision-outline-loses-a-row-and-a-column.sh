#!/bin/sh
# supervision 0.31.2: as_yolo writes the outline of a mask through the centres of its outermost pixels, while the numbers
# of the file are shares of the whole picture. A mask of 10 x 10 pixels leaves with an outline of 9 x 9: a fifth of its
# area is gone for every other reader, a full picture no longer reaches its edge. Exits 0 where that is still so.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/python" -m pip install -q --disable-pip-version-check supervision==0.31.2
cat > "$place/outline.py" <<'PY'
import sys
from pathlib import Path
import numpy as np
import supervision as sv
from PIL import Image
place = Path(sys.argv[1])
width, height = 64, 48
picture = str(place / "1.png")
Image.new("RGB", (width, height)).save(picture)
masks = np.zeros((2, height, width), bool)
masks[0, 10:20, 10:20] = True
masks[1] = True
found = sv.Detections(xyxy=np.array([[10, 10, 20, 20], [0, 0, width, height]], float), mask=masks, class_id=np.array([0, 0]))
data = sv.DetectionDataset(classes=["cat"], images=[picture], annotations={picture: found})
data.as_yolo(annotations_directory_path=str(place / "labels"), data_yaml_path=str(place / "data.yaml"))
sizes = []
for line in (place / "labels" / "1.txt").read_text().split("\n"):
    shares = np.array(line.split()[1:], float).reshape(-1, 2)
    if len(shares):
        sizes.append(tuple(int(each) for each in np.round(np.ptp(shares * (width, height), axis=0))))
print("masks: (10, 10), (64, 48); outlines:", sizes)
sys.exit(0 if sizes == [(9, 9), (63, 47)] else 1)
PY
"$place/env/bin/python" "$place/outline.py" "$place" 2> "$place/log" || { cat "$place/log"; exit 1; }
