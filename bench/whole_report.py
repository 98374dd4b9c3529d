"""Report and card of an audit of the paper's size: open the runs, make words and tables, write three formats."""

import resource
import tempfile
import time
from pathlib import Path

from bench.dashboard_store import EVALUATORS, write_store
from bench.report import row
from core.report.build import build
from core.report.fairness_card import card_report
from core.report.report_files import write
from core.store.store import Store

ITEMS = dict.fromkeys(("made-up-a", "made-up-b", "made-up-c"), 2000)


def main() -> None:
    """Print the rows."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        rows = write_store(folder / "runs", items=ITEMS)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started, idle = time.perf_counter(), time.process_time()
        with Store.open([folder / "runs"]) as store:
            opened = time.perf_counter()
            report = build(store, whole=False, figures=False)
            built = time.perf_counter()
            write(report, folder / "report")
            written, busy = time.perf_counter(), time.process_time()
        with Store.open([folder / "runs"]) as store:
            reopened = time.perf_counter()
            card_report(store)
            carded = time.perf_counter()
    probes = len(store.runs()[0].manifest["probes"])
    each = next(iter(ITEMS.values()))
    size = f"{len(EVALUATORS)} evaluators × {len(ITEMS)} corpora × {probes} probes × {each} items, {rows} scores"
    row(f"report, {len(report.tables)} tables: open, make, write", f"{written - started:.1f} s", size, "< 10 s")
    row("… of one processor", f"{busy - idle:.1f} s", size)
    row("… opening the runs", f"{opened - started:.1f} s", size)
    row("… making tables and words", f"{built - opened:.1f} s", size)
    row("… writing Markdown, HTML, LaTeX and data", f"{written - built:.1f} s", size)
    row("fairness card, runs open", f"{carded - reopened:.2f} s", size, "< 1 s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    row("… most memory of the process", f"{peak / 2**20:.2f} GB", f"{before / 2**20:.2f} GB before", "< 2 GB")


if __name__ == "__main__":
    main()
