"""The page Contrast tests over two million scores of broken and harmless edits; see :mod:`bench.dashboard`."""

import tempfile
from pathlib import Path

from bench.dashboard import FOLDED, Change, Page, measure, settle
from bench.dashboard_store import write_store
from core.probes.base import HUMAN

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

PAGES = (Page("contrast_tests", CHANGES, state="contrast"),
         Page("contrast_tests", CHANGES[:7], (("view", "selectivity"),), state="contrast"))  # fmt: skip


def main() -> None:
    """Print one row a view of the page."""
    with tempfile.TemporaryDirectory() as temporary:
        settle(Path(temporary))
        rows = write_store(Path(temporary) / "data" / "runs", items=ITEMS, subject=HUMAN)
        measure(PAGES, f"{rows / 1e6:.2f} M scores, 1 run")


if __name__ == "__main__":
    main()
