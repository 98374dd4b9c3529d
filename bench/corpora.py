"""A corpus of 100 000 annotated photographs: reading, curating, planning, and the first shard, with their peak memory.

The annotations are Objects365's layout, 15.5 boxes an image as in its validation split (1 240 587 boxes of 80 000
images), drawn from a seed; all images are links to 40 noisy pictures, since what is measured is the annotations.
"""

import argparse
import json
import os
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

from bench.report import row
from core.audit.plan import Plan, make_plan
from core.audit.run import Progress, RunStopped, run_audit
from core.corpora.registry import catalogue
from core.corpora.taxonomy import load_taxonomy
from core.evaluators.pool import Pool

IMAGES = 100_000
BOXES_AN_IMAGE = 15.5
PICTURES = 40
WIDTH, HEIGHT = 640, 480
EVALUATOR = "conse-lite0"
PROBES = ("vflip", "hflip")


def main() -> None:
    """Print one row: time of all steps and peak memory of the process, to the end of the first shard."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=IMAGES)
    count = parser.parse_args().images
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        boxes, size = write(root, count)
        before = _peak_mb()
        started, spent = time.perf_counter(), time.process_time()
        corpus = catalogue().get("objects365").load(root)
        read = time.perf_counter() - started
        plan = make_plan(corpus, evaluators=[EVALUATOR], probes=PROBES, root=root)
        planned = time.perf_counter() - started
        _first_shard(plan, root / "runs")
        whole, spent = time.perf_counter() - started, time.process_time() - spent
        counts = f"{count:,} images, {boxes:,} boxes, {size / 1e6:.0f} MB of JSON; {len(corpus):,} items"
    row(
        f"corpus of {count:,} images: read, curated, planned, first shard (`{EVALUATOR}`, {len(PROBES)} probes)",
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
                told = {"id": number, "iscrowd": 0, "isfake": 0, "area": box[2] * box[3], "isreflected": 0,
                        "bbox": box, "image_id": key, "category_id": int(rng.integers(1, len(labels) + 1))}  # fmt: skip
                file.write((", " if number else "") + json.dumps(told))
                number += 1
        categories = [{"name": label, "id": place} for place, label in enumerate(labels, 1)]
        file.write(f'], "categories": {json.dumps(categories)}}}')
    return number, path.stat().st_size


def _boxes(rng: np.random.Generator) -> list[list[float]]:
    """Boxes of one image: one in three images is about one large object, as far as the rules of curation go."""
    lone = rng.random() < 1 / 3
    found = [[200.5, 120.25, 220.125, 240.5]] if lone else []
    for _ in range(max(int(rng.poisson(BOXES_AN_IMAGE)) - lone, 0)):
        x, y = rng.uniform(0, 150 if lone else WIDTH - 40), rng.uniform(-5, HEIGHT - 30)
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
