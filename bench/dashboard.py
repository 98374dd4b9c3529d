"""The dashboard over two million scores: what a filter costs the server, the first paint, the memory.

Times are told in milliseconds and, since machines differ, as multiples of one query of the same run: DuckDB's
``median(percent) group by evaluator, probe`` over the scores of the corpus that the pages look at.

The pages are the app's own, run through Streamlit's AppTest in this process: the time of a run is that of the page's
script, with the reading of its elements on top. A change is a widget set as a reader would set it, to a view that no
cache has seen. Beside the time stands the processor time of all threads, which other work on the machine does not
stretch: alone, a change takes no longer.
"""

import argparse
import json
import logging
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.dashboard_store import write_store
from bench.report import row
from core.features.feature import address

ROOT = Path(__file__).resolve().parent.parent
MOST, USUAL = 6.0, 3.0
"""What a change may take at P95, and at the median, in times of the reference query."""

PAINT_MS, MEMORY_MB = 1500, 1500


class PageError(Exception):
    """A page that cannot be measured."""


FOLDED = "folded"


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that a reader sets.

    Args:
        kind: AppTest's name of the widget; FOLDED for a part that is opened, which has none.
        field: the page's field; key of the part.
        value: what it is set to.
    """

    kind: str
    field: str
    value: object


@dataclass(frozen=True, slots=True)
class Page:
    """A page and what its reader does, one change after the other; each view differs from all before it.

    Args:
        name: of its file and in the address.
        changes: what is set.
        first: query parameters of the first view.
        state: its name in the keys of its widgets, where that is another.
    """

    name: str
    changes: tuple[Change, ...] = ()
    first: tuple[tuple[str, str], ...] = ()
    state: str = ""


FILTERS = (
    Change("multiselect", "families", ["reposition"]),
    Change("multiselect", "families", ["reposition", "cultural", "rotation"]),
    Change("multiselect", "families", []),
    Change("selectbox", "corpus.widget", "made-up-b"),
    Change("selectbox", "corpus.widget", "made-up-a"),
    Change("multiselect", "categories", ["animal", "food", "person"]),
    Change("multiselect", "coverage_bins", ["0-10", "10-20"]),
    Change("multiselect", "categories", []),
    Change("multiselect", "coverage_bins", []),
    Change("multiselect", "evaluators", ["e-one", "e-two"]),
    Change("multiselect", "evaluators", ["e-two"]),
    Change("multiselect", "evaluators", []),
    Change("multiselect", "axes", ["spatial"]),
    Change("multiselect", "axes", ["societal"]),
    Change("multiselect", "axes", []),
)
"""What every page with the shared filters offers."""

FINER = (
    Change("multiselect", "probes", ["vflip", "reposition-TL"]),
    Change("multiselect", "probes", []),
    Change("multiselect", "modifiers", ["luxury", "cheap"]),
    Change("multiselect", "modifiers", []),
    Change("selectbox", "sign", "down"),
    Change("selectbox", "sign", None),
    Change("toggle", "controls", True),
    Change("toggle", "controls", False),
    Change("slider", "inside", (50, 100)),
    Change("slider", "inside", (0, 100)),
)
"""What pages of single pairs offer beside."""


SIDES = (
    Change("multiselect", "a_families", ["reposition"]),
    Change("multiselect", "b_families", ["rotation"]),
    Change("multiselect", "a_categories", ["animal"]),
    Change("multiselect", "b_categories", ["food", "person"]),
    Change("multiselect", "a_families", []),
    Change("multiselect", "b_families", []),
    Change("selectbox", "by", "category"),
    Change("selectbox", "by", "probe"),
    Change("multiselect", "a_categories", []),
    Change("multiselect", "b_categories", []),
)
"""What the reader of a comparison sets."""


def _without(*fields: str) -> tuple[Change, ...]:
    return tuple(change for change in FILTERS if change.field not in fields)


PAGES = (
    Page("overview"),
    Page("failures", FILTERS + FINER),
    Page("results", FILTERS + FINER),
    Page("results", FILTERS, (("question", "object"),)),
    Page("results", FILTERS, (("question", "words"),)),
    Page("results", FILTERS, (("question", "corpora"),)),
    Page("compare", SIDES),
    Page("flip_risk", FILTERS, state="flip"),
    Page("calibration", _without("evaluators"), state="calib"),
    Page("geometry", _without("evaluators", "axes")),
)
"""Pages that are measured where they exist."""


def main() -> None:
    """Print one row a measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="keep the store there, and use it if it is there already")
    parser.add_argument("--only", nargs="*", help="measure these pages alone")
    parser.add_argument("--each", action="store_true", help="print every change")
    parser.add_argument("--cold", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.cold:
        print(json.dumps(_open_store()))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.folder or Path(temporary)
        settle(folder)
        if not (folder / "data").exists():
            write_store(folder / "data" / "runs")
        cold, warm = _opened_apart(), _opened_apart()
        told = f"{cold['rows'] / 1e6:.2f} M scores, {cold['runs']:.0f} runs"
        row("Runs opened for the first time, copies made", f"{cold['seconds']:.1f} s, {cold['mb']:.0f} MB", told)
        row("Runs opened with their copies", f"{1000 * warm['seconds']:.0f} ms, {warm['mb']:.0f} MB", told)
        pages = [page for page in PAGES if page.name in (chosen.only or [each.name for each in PAGES])]
        measure(pages, told, each=chosen.each)


def settle(folder: Path) -> None:
    """Have the dashboard read its runs below a folder, and keep its copies there."""
    os.environ |= {"INVARISCOPE_DATA": str(folder / "data"), "INVARISCOPE_CACHE": str(folder / "cache")}


def measure(pages: Sequence[Page], told: str, *, each: bool = False) -> None:
    """Run the pages and print what they took.

    Args:
        pages: that exist.
        told: size of the store, in words.
        each: print every change as well.
    """
    logging.disable(logging.WARNING)  # Streamlit warns that it runs without a server
    changes: list[tuple[float, float]] = []
    paints: dict[str, float] = {}
    failed = []
    reference = _reference_ms()
    row(
        "Reference: DuckDB's median over the same shifts, by evaluator and probe",
        f"{reference:.0f} ms",
        f"median of 9, {told}",
    )
    for page in pages:
        taken: list[tuple[float, float]] = []
        try:
            _paint(page)
            paints[_called(page)] = _paint(page)
            app = _opened(page)
            for change in page.changes:
                taken.append(_change(app, page, change))
                if each:
                    row(
                        f"{_called(page)}: {change.field} = {change.value}",
                        _said([taken[-1]], reference),
                        f"load {_load()}",
                    )
        except PageError as error:
            failed.append(str(error))
        changes += taken
        if taken:
            n = f"{len(taken)} changes, {told}, load {_load()}"
            row(
                f"Filter changes on {_called(page)}",
                _said(taken, reference),
                n,
                f"P95 ≤ {MOST:g} ×, median ≤ {USUAL:g} ×",
            )
    if changes:
        row(
            "Filter changes on every page",
            _said(changes, reference),
            f"{len(changes)} changes, {told}",
            f"P95 ≤ {MOST:g} ×, median ≤ {USUAL:g} ×",
        )
    slowest = max(paints, key=paints.__getitem__)
    said = f"{paints[slowest]:.0f} ms on {slowest}"
    row("First paint of a warm app", said, f"slowest of {len(paints)} pages, {told}", f"< {PAINT_MS} ms")
    row("Memory of the server, at most", f"{_memory_mb():.0f} MB", f"{len(pages)} pages, {told}", f"< {MEMORY_MB} MB")
    if failed:
        raise SystemExit("; ".join(failed))


def _opened(page: Page):  # type: ignore[no-untyped-def]  # Streamlit's test is imported where it is used
    from streamlit.testing.v1 import AppTest

    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    file, first = address(page.name)
    app.switch_page(file)
    app.query_params.update(first)
    for name, value in page.first:
        app.query_params[name] = value
    app.run()
    _check(app, page)
    return app


def _paint(page: Page) -> float:
    """Milliseconds until a new session has its first view."""
    begun = time.perf_counter()
    _opened(page)
    return 1000 * (time.perf_counter() - begun)


def _change(app, page: Page, change: Change) -> tuple[float, float]:  # type: ignore[no-untyped-def]
    """Milliseconds from a change to the page that follows from it: of the clock, and of all processors."""
    try:
        if change.kind == FOLDED:
            app.session_state[change.field] = change.value
        else:
            getattr(app, change.kind)(key=f"{page.state or page.name}.{change.field}").set_value(change.value)
    except KeyError:
        raise PageError(f"page {_called(page)} has no {change.kind} {change.field} where it is to be set") from None
    begun, busy = time.perf_counter(), time.process_time()
    app.run()
    taken = 1000 * (time.perf_counter() - begun), 1000 * (time.process_time() - busy)
    _check(app, page)
    return taken


def _reference_ms() -> float:
    """Milliseconds of the reference query, its median over nine asks."""
    from core.analysis.scope import narrow
    from core.store.store import default_store

    with default_store() as store:
        sql = "select evaluator, probe, median(percent) from shifts where corpus = $corpus group by evaluator, probe"
        taken, corpus = [], narrow(store).corpus
        for _ in range(9):
            begun = time.perf_counter()
            store.table(sql, {"corpus": corpus})
            taken.append(time.perf_counter() - begun)
    return 1000 * float(np.median(taken))


def _said(taken: Sequence[tuple[float, float]], reference: float) -> str:
    clock, busy = np.transpose(taken)
    if len(taken) == 1:
        return f"{clock[0]:.0f} ms, processors {busy[0]:.0f} ms"
    last, middle = np.percentile(clock, 95), np.median(clock)
    return (
        f"P95 {last / reference:.1f} ×, median {middle / reference:.1f} × the reference "
        f"({last:.0f} and {middle:.0f} ms); "
        f"processors P95 {np.percentile(busy, 95):.0f} ms, median {np.median(busy):.0f} ms"
    )


def _check(app, page: Page) -> None:  # type: ignore[no-untyped-def]
    said = [str(each.value) for each in (*app.exception, *app.error)]
    if said:
        raise PageError(f"page {_called(page)} shows an error: {said[0]}")


def _called(page: Page) -> str:
    return " ".join((page.name, *(value for _, value in page.first)))


def _opened_apart() -> dict[str, float]:
    """Seconds and memory of opening the store, in its own process."""
    command = [sys.executable, "-m", "bench.dashboard", "--cold"]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def _open_store() -> dict[str, float]:
    from core.store.store import default_store

    begun = time.perf_counter()
    with default_store() as store:
        spent = time.perf_counter() - begun
        rows = store.query("select count(*) as n from scores")["n"][0]
        return {"seconds": spent, "mb": _memory_mb(), "rows": int(rows), "runs": len(store.runs())}


def _memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}"


if __name__ == "__main__":
    main()
