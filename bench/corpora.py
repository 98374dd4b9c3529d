"""Corpora of many annotated photographs: reading, curating, planning, and the first shard, with their peak memory.

One is a corpus of 100 000 items in Objects365's layout, 15.5 boxes an image as in its validation split (1 240 587 boxes
of 80 000 images), each image about one large object, so that all are items. The other has the numbers of COCO's
train2017 in its layout: 118 287 images, 860 001 outlines, a file of its size. Both are drawn from a seed; all images
are links to 40 noisy pictures, since what is measured is the annotations.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

from bench.report import row
from core.audit.plan import Plan, make_plan
from core.audit.request import AuditRequest
from core.audit.run import Progress, RunStopped, run_audit
from core.corpora.labels import load_taxonomy
from core.corpora.registry import catalogue
from core.evaluators.pool import Pool

IMAGES = 100_000
BOXES_AN_IMAGE = 15.5
COCO_IMAGES, COCO_INSTANCES = 118_287, 860_001
COCO_CORNERS = 23
"""Of one outline: what makes the file as large as train2017's, 448 MB."""

PICTURES = 40
WIDTH, HEIGHT = 640, 480
EVALUATOR = "conse-lite0"
PROBES = ("vflip", "hflip")


def main() -> None:
    """Print a row a corpus, each measured in its own process: peak memory is a process's."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=IMAGES)
    parser.add_argument("--only", choices=("objects365", "coco"))
    asked = parser.parse_args()
    if asked.only is None:
        for name in ("objects365", "coco"):
            command = [sys.executable, "-m", "bench.corpora", "--only", name, "--images", str(asked.images)]
            subprocess.run(command, check=True)
    elif asked.only == "coco":
        _coco()
    else:
        _objects365(asked.images)


def _coco() -> None:
    """Time and peak memory of reading and curating a file as large as train2017's."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        size = write_coco(root)
        before, started, spent = _peak_mb(), time.perf_counter(), time.process_time()
        corpus = catalogue().get("coco").load(root)
        read, spent = time.perf_counter() - started, time.process_time() - spent
    row(
        "corpus of train2017's size in COCO's layout: read and curated",
        f"{read:.0f} s, {spent:.0f} s of one processor; peak memory {_peak_mb() / 1024:.2f} GB "
        f"({before / 1024:.2f} GB before)",
        f"{COCO_IMAGES:,} images, {COCO_INSTANCES:,} outlines, {size / 1e6:.0f} MB of JSON; {len(corpus):,} items; "
        "once",
        "≤ 2 GB",
    )


def _objects365(count: int) -> None:
    """Time of all steps and peak memory of the process, to the end of the first shard."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        boxes, size = write(root, count)
        before = _peak_mb()
        started, spent = time.perf_counter(), time.process_time()
        corpus = catalogue().get("objects365").load(root)
        read = time.perf_counter() - started
        plan = make_plan(corpus, AuditRequest.of(evaluators=(EVALUATOR,), probes=PROBES, root=root, subject="template"))
        planned = time.perf_counter() - started
        _first_shard(plan, root / "runs")
        whole, spent = time.perf_counter() - started, time.process_time() - spent
        counts = f"{count:,} images, {boxes:,} boxes, {size / 1e6:.0f} MB of JSON; {len(corpus):,} items"
    row(
        f"corpus of {count:,} images in Objects365's layout: read, curated, planned, first shard "
        f"(`{EVALUATOR}`, {len(PROBES)} probes)",
        f"{whole:.0f} s (read and curated {read:.0f}, planned {planned - read:.0f}, shard {whole - planned:.0f}); "
        f"{spent:.0f} s of one processor; "
        f"peak memory {_peak_mb() / 1024:.2f} GB ({before / 1024:.2f} GB before)",
        f"{counts}, once",
        "≤ 180 s, ≤ 2 GB",
    )


def write(root: Path, count: int, *, seed: int = 0) -> tuple[int, int]:
    """Write a corpus in Objects365's layout; return the number of its boxes and the bytes of its JSON."""
    rng = np.random.default_rng(seed)
    labels = [entry.label for entry in load_taxonomy("objects365").entries.values()]
    pictures = _pictures(root, rng)
    path, number = root / "zhiyuan_objv2_val.json", 0
    with path.open("w", encoding="utf-8") as file:
        file.write('{"images": [')
        for key in range(count):
            name = f"images/v1/patch{key % PICTURES}/objects365_v1_{key:08d}.jpg"
            os.link(pictures[key % PICTURES], root / name)
            told = {"height": HEIGHT, "id": key, "license": 5, "width": WIDTH, "file_name": name, "url": ""}
            file.write((", " if key else "") + json.dumps(told))
        file.write('], "annotations": [')
        for key in range(count):
            for box in _boxes(rng):
                told = {
                    "id": number,
                    "iscrowd": 0,
                    "isfake": 0,
                    "area": box[2] * box[3],
                    "isreflected": 0,
                    "bbox": box,
                    "image_id": key,
                    "category_id": int(rng.integers(1, len(labels) + 1)),
                }
                file.write((", " if number else "") + json.dumps(told))
                number += 1
        categories = [{"name": label, "id": place} for place, label in enumerate(labels, 1)]
        file.write(f'], "categories": {json.dumps(categories)}}}')
    return number, path.stat().st_size


def write_coco(root: Path, *, seed: int = 0) -> int:
    """Write a corpus in COCO's layout with train2017's numbers; return the bytes of its file of instances.

    One image in three is about one large object, as far as the rules of curation go.
    """
    rng = np.random.default_rng(seed)
    pictures, folder = _pictures(root, rng), root / "train2017"
    labels = [entry.label for entry in load_taxonomy("coco").entries.values()]
    for each in (folder, root / "annotations"):
        each.mkdir()
    path = root / "annotations" / "instances_train2017.json"
    owners = np.sort(rng.integers(0, COCO_IMAGES, COCO_INSTANCES - COCO_IMAGES // 3)).tolist()
    owners = [*range(0, 3 * (COCO_IMAGES // 3), 3), *owners]
    with path.open("w", encoding="utf-8") as file:
        file.write('{"licenses": [{"id": 1, "name": "Attribution License", "url": ""}], "images": [')
        for key in range(COCO_IMAGES):
            name = f"{key:012d}.jpg"
            os.link(pictures[key % PICTURES], folder / name)
            told = {
                "license": 1,
                "file_name": name,
                "coco_url": f"http://images.cocodataset.org/train2017/{name}",
                "height": HEIGHT,
                "width": WIDTH,
                "date_captured": "2013-11-14 11:18:45",
                "id": key,
            }
            file.write((", " if key else "") + json.dumps(told))
        file.write('], "annotations": [')
        for written, key in enumerate(owners):
            box = [200.5, 120.25, 220.13, 240.5] if written < COCO_IMAGES // 3 else _small(rng, lone=key % 3 == 0)
            file.write((", " if written else "") + json.dumps(_outlined(rng, written, key, box, len(labels))))
        categories = [{"supercategory": "", "id": place, "name": label} for place, label in enumerate(labels, 1)]
        file.write(f'], "categories": {json.dumps(categories)}}}')
    return path.stat().st_size


def _outlined(rng: np.random.Generator, number: int, image: int, box: list[float], labels: int) -> dict[str, object]:
    """One annotation, its outline of corners inside the box."""
    corners = rng.uniform(0, 1, (COCO_CORNERS, 2)) * box[2:] + box[:2]
    return {
        "segmentation": [corners.round(2).ravel().tolist()],
        "area": box[2] * box[3],
        "iscrowd": 0,
        "image_id": image,
        "bbox": box,
        "category_id": int(rng.integers(1, labels + 1)),
        "id": number,
    }


def _small(rng: np.random.Generator, *, lone: bool) -> list[float]:
    x, y = rng.uniform(0, 150 if lone else WIDTH - 50), rng.uniform(0, HEIGHT - 50)
    return [round(float(each), 2) for each in (x, y, *rng.uniform(5, 40, 2))]


def _boxes(rng: np.random.Generator) -> list[list[float]]:
    """Boxes of one image that is about one large object, as far as the rules of curation go."""
    found = [[200.5, 120.25, 220.125, 240.5]]
    for _ in range(max(int(rng.poisson(BOXES_AN_IMAGE)) - 1, 0)):
        x, y = rng.uniform(0, 150), rng.uniform(-5, HEIGHT - 30)
        found.append([round(float(x), 6), round(float(y), 6), *rng.uniform(5, 40, 2).round(6).tolist()])
    return found


def _pictures(root: Path, rng: np.random.Generator) -> list[Path]:
    paths = []
    for place in range(PICTURES):
        folder = root / "images" / "v1" / f"patch{place}"
        folder.mkdir(parents=True)
        path = folder / "picture.jpg"
        Image.fromarray(rng.integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)).save(path)
        paths.append(path)
    return paths


def _first_shard(plan: Plan, out: Path) -> None:
    """Run until the first shard is on the disk."""
    done = False

    def report(at: Progress) -> None:
        nonlocal done
        done = at.shard >= 1

    try:
        run_audit(plan, out, run_id="bench", pool=Pool(), progress=report, stop=lambda: done)
    except RunStopped:
        return


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
