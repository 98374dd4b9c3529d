"""The page Contrast tests over two million scores of broken and harmless edits; see :mod:`bench.dashboard`."""

import argparse
import tempfile
from pathlib import Path

from bench.dashboard import FOLDED, Change, Page, measure, settle
from bench.dashboard_store import write_store
from core.probes.base import HUMAN
from core.store.store import default_store

ITEMS = {"made-up-a": 12_900}

CHANGES = (
    Change("multiselect", "categories", ["animal", "food"]),
    Change("multiselect", "coverage_bins", ["0-10", "10-20"]),
    Change("multiselect", "categories", []),
    Change("multiselect", "coverage_bins", ["35-50"]),
    Change("multiselect", "coverage_bins", []),
    Change("toggle", "verified", True),
    Change("multiselect", "categories", ["person"]),
    Change("selectbox", "test.widget", "masking"),
    Change("selectbox", "of.widget", "e-two"),
    Change("selectbox", "test.widget", "foil"),
    Change(FOLDED, "contrast.numbers", True),
    Change("number_input", "bar", 30.0),
    Change("multiselect", "categories", []),
)
"""What a reader sets; each view differs from all before it."""

PAGES = (
    Page("contrast_tests", CHANGES, state="contrast"),
    Page("contrast_tests", CHANGES[:7], (("show", "selectivity"),), state="contrast"),
)


def main() -> None:
    """Print one row a view of the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="keep the store there, and use it if it is there already")
    parser.add_argument("--each", action="store_true", help="print every change")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.folder or Path(temporary)
        settle(folder)
        if not (folder / "data").exists():
            write_store(folder / "data" / "runs", items=ITEMS, subject=HUMAN)
        with default_store() as store:
            rows = int(store.query("select count(*) as n from scores")["n"][0])
        measure(PAGES, f"{rows / 1e6:.2f} M scores, 1 run", each=chosen.each)


if __name__ == "__main__":
    main()
