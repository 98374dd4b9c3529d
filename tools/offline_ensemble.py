"""The constants of the offline ensemble: how far the scores of each of its parts spread.

python tools/offline_ensemble.py            # measure and print them
python tools/offline_ensemble.py --write    # put them into assets/ensembles/offline-ensemble.toml

Scored are the English captions of the demo corpus, each with its own picture and with that of the item half the corpus
further on. No other photograph, and no measurement of how often the ensemble is right, has a part in them. A part that
scores otherwise than before, such as a judge that reads other nouns, needs them made again.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.corpora.item_pictures import read_item
from core.corpora.registry import catalogue
from core.corpora.schema import Item
from core.evaluators.base import Evaluator
from core.evaluators.metrics.offline_ensemble import PARTS, constants_path
from core.evaluators.pool import shared_pool
from core.evaluators.scoring import score_pairs
from core.probes.base import ENGLISH
from core.writing import write_bytes

DIGITS = 4


def pairs_of(items: Sequence[Item]) -> list[tuple[str, str]]:
    """Every English caption with its own item and with one half the corpus further on: (item's id, caption)."""
    half = len(items) // 2
    return [
        (shown.id, caption)
        for place, item in enumerate(items)
        for caption in item.captions[ENGLISH]
        for shown in (item, items[(place + half) % len(items)])
    ]


def spread(evaluator: Evaluator, items: Sequence[Item]) -> float:
    """Standard deviation of an evaluator's scores of :func:`pairs_of`; pairs without a score are left out."""
    images = {item.id: read_item(item).pixels for item in items}
    return round(float(np.nanstd(score_pairs(evaluator, images, pairs_of(items)))), DIGITS)


def written(spreads: dict[str, float], items: int, pairs: int) -> str:
    """The file's text."""
    rows = "".join(f"{name} = {value}\n" for name, value in spreads.items())
    return (
        f"# Standard deviations of the parts' scores of {pairs} pairs of the demo corpus ({items} items), own and\n"
        "# foreign captions; made by: python tools/offline_ensemble.py --write\n"
        f"# A change here changes the evaluator's fingerprint.\n\n[spreads]\n{rows}"
    )


def main() -> int:
    """Measure the spreads, and print or write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put them into their file")
    write = parser.parse_args().write
    items = [item for item in catalogue().get("demo").load().items if item.captions.get(ENGLISH)]
    found = {}
    for part in PARTS:
        with shared_pool().lease(part.spec.name) as evaluator:
            found[part.spec.name] = spread(evaluator, items)
    text = written(found, len(items), len(pairs_of(items)))
    print(text, end="")
    if write:
        write_bytes(constants_path(), text.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
