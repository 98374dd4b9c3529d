"""Write the example of a suite: captions of the demo corpus beside the same with a wrong object.

Run ``python tools/example_suite.py`` in a checkout. The captions and the foils are those of the shipped run
``demo-captions``; a foil is wrong by construction: it names an object of the same kind that the picture does not show.
Nobody was asked, so the file says that it is an example.
"""

import json
import sys
from pathlib import Path
from typing import Any

import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
RUN = ROOT / "data" / "results" / "demo-captions"
OUT = ROOT / "assets" / "examples" / "demo-foils.json"


def example() -> dict[str, Any]:
    """The suite in the layout of FOIL's publisher."""
    names = ["item", "probe", "caption", "subject", "language", "rank"]
    rows = pd.read_parquet(RUN / "scores", columns=names).drop_duplicates()
    rows = rows[(rows["language"] == "en") & (rows["subject"] == "human") & (rows["rank"] == 0)]
    right, wrong = (rows[rows["probe"] == name].set_index("item")["caption"] for name in ("identity", "foil"))
    items = [json.loads(line) for line in (ROOT / "data" / "demo" / "items.jsonl").read_text().splitlines()]
    here = [item for item in items if item["id"] in wrong.index]
    annotations = []
    for number, item in enumerate(here):
        for caption, is_foil in ((right[item["id"]], False), (wrong[item["id"]], True)):
            annotations.append({"id": number, "image_id": item["id"], "caption": caption, "foil": is_foil})
    images = [{"id": item["id"], "file_name": Path(item["file"]).name} for item in here]
    return {"example": "Demo foils", "images": images, "annotations": annotations}


def main() -> int:
    """Write the file."""
    OUT.write_text(json.dumps(example(), indent=1, ensure_ascii=False) + "\n")
    print(OUT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
