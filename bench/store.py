"""The store at tens of millions of scores: opening runs, what a filter costs, publishing, and the memory of each.

The runs are made up for this measurement alone, in the shape of an audit's files (``bench.dashboard_store``): three
corpora, nearly all of the rows in one of them, since a page looks at one corpus. Each step is its own process, so
that its peak memory is its own. ``--rows 50000000`` is the size that the store is built for; without it a tenth of that
is measured. Disk: about 70 bytes a row, a quarter of it the runs, and what sorting spills.

A filter is a choice of the page Failures. Asked of the store: how many shifts it leaves. Asked of the table of scores,
which is read once and of which pages compute all their numbers: the furthest pairs; their rows come from the store.
Beside the clock stands the processor's time of all threads, which other work on the machine stretches less.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from bench.dashboard import settle
from bench.dashboard_store import CATEGORIES, EVALUATORS, write_store
from bench.report import row

ROWS = 5_000_000
SHARD_ITEMS = 480
SHARES = {"made-up-a": 0.9, "made-up-b": 0.08, "made-up-c": 0.02}
PAGE = 24
"""Pairs on a page of failures."""

OPEN_S, FILTER_S, MEMORY_GB = 1.0, 1.0, 2.0


def main() -> None:
    """Print one row a step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help=f"how many scores (default {ROWS:,})")
    parser.add_argument("--folder", type=Path, help="keep the runs there, and use them if they are there already")
    parser.add_argument("--only", nargs="*", choices=STEPS, help="these steps alone")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.step is not None:
        settle(asked.folder)
        print(json.dumps({**STEPS[asked.step](asked.folder), "gb": _memory_gb()}))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary)
        if not (folder / "data" / "runs").exists():
            _write(folder / "data" / "runs", asked.rows)
        for step in asked.only or STEPS:
            _tell(step, folder)


def _write(folder: Path, rows: int) -> None:
    from core.probes.registry import select

    items = rows / (len(EVALUATORS) * (1 + len(select(("default",)))))
    write_store(folder, items={name: round(share * items) for name, share in SHARES.items()}, shard_items=SHARD_ITEMS)


def _tell(step: str, folder: Path) -> None:
    command = [sys.executable, "-m", "bench.store", "--step", step, "--folder", str(folder)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    memory, load = f"peak memory {found['gb']:.2f} GB", f"load {os.getloadavg()[0]:.1f}"
    row(found["what"], f"{found['value']}; {memory}", f"{found['n']}, {load}", found["target"])


def _open_first(folder: Path) -> dict[str, str]:
    return _opened(folder, "runs opened for the first time, copies made", "")


def _open_again(folder: Path) -> dict[str, str]:
    return _opened(folder, "runs opened with their copies", f"< {OPEN_S:g} s, < {MEMORY_GB:g} GB")


def _opened(folder: Path, what: str, target: str) -> dict[str, str]:
    from core.store.store import Store

    spent = Spent()
    with Store.open([folder / "data" / "runs"], copies=folder / "cache" / "store") as store:
        taken = spent.so_far()
        rows = int(store.query("select count(*) as n from scores")["n"][0])
        if len(list((folder / "cache" / "store").glob("*.duckdb"))) != len(store.runs()):
            raise SystemExit("a run is read without its copy")
    n = f"{rows / 1e6:.1f} M scores, {len(store.runs())} runs"
    sizes = f"{_size(folder / 'data' / 'runs'):.2f} GB of runs, {_size(folder / 'cache'):.2f} GB of copies"
    return {"what": what, "value": _told(taken), "n": f"{n}, {sizes}", "target": target}


def _ask_filters(_: Path) -> dict[str, str]:
    """Every filter of the page Failures, asked of the store alone: no table of scores is read."""
    from core.analysis.scope import narrow
    from core.analysis.slices import where
    from core.store.store import default_store

    with default_store() as store:
        spent = Spent()
        scope = narrow(store).only()
        scoped, taken = spent.so_far(), []
        for chosen in _slices():
            clause, params = where(scope, chosen, None)
            spent = Spent()
            store.query(f"select count(*) as n from shifts s {clause}", params)
            taken.append(spent.so_far())
    n = f"how many shifts {len(taken)} filters of one corpus leave; the scope, asked first, {_told(scoped)}"
    value = _percentiles(taken)
    return {"what": "a filter asked of the store", "value": value, "n": n, "target": f"P95 < {FILTER_S:g} s"}


def _read_scores(_: Path) -> dict[str, str]:
    """The table of scores of the corpus in view, once a scope; then the filters as the page Failures asks them."""
    from core.analysis.failures import scales, under_every_evaluator
    from core.analysis.ranking import rank
    from core.analysis.reading import read_table
    from core.analysis.scope import narrow
    from core.store.store import default_store

    with default_store() as store:
        scope = narrow(store).only()
        spent = Spent()
        table = read_table(store, scope)
        read = spent.so_far()
        usual, taken = scales(table), []
        for chosen in _slices():
            spent = Spent()
            found = rank(table, chosen, usual, order="percent", limit=PAGE)
            under_every_evaluator(store, scope, found.pairs, usual)
            taken.append(spent.so_far())
    value = f"read in {_told(read)}; {_percentiles(taken)}"
    n = (
        f"{table.scores.size / 1e6:.1f} M places of one corpus, {len(taken)} filters: the {PAGE} furthest pairs, with "
        "every evaluator's rows from the store"
    )
    return {
        "what": "a filter asked of the table of scores",
        "value": value,
        "n": n,
        "target": f"P95 < {FILTER_S:g} s, < {MEMORY_GB:g} GB",
    }


def _publish(folder: Path) -> dict[str, str]:
    from core.store.publishing import publish

    spent = Spent()
    file = publish([folder / "data" / "runs"], folder / "published.duckdb", overwrite=True)
    taken, size = spent.so_far(), file.stat().st_size / 1e9
    file.unlink()
    return {
        "what": "published as one file",
        "value": _told(taken),
        "n": f"{size:.2f} GB",
        "target": f"< {MEMORY_GB:g} GB",
    }


STEPS: dict[str, Callable[[Path], dict[str, str]]] = {
    "first": _open_first,
    "again": _open_again,
    "filters": _ask_filters,
    "scores": _read_scores,
    "publish": _publish,
}


def _slices() -> Iterator:  # type: ignore[type-arg]  # what runs are asked is imported where they are
    from core.analysis.slices import Slice

    yield Slice()
    for families in (("reposition",), ("reposition", "cultural", "rotation"), ("rotation",)):
        yield Slice(families=families)
    for categories in (CATEGORIES[:1], CATEGORIES[:3], CATEGORIES[3:9]):
        yield Slice(categories=categories)
    for bins in (("0-10",), ("0-10", "10-20")):
        yield Slice(coverage_bins=bins)
    for evaluators in (EVALUATORS[:1], EVALUATORS[1:3]):
        yield Slice(evaluators=evaluators)
    for axes in (("spatial",), ("societal",), ("object",)):
        yield Slice(axes=axes)
    yield Slice(probes=("vflip", "reposition-TL"))
    yield Slice(modifiers=("luxury", "cheap"))
    for sign in ("down", "up"):
        yield Slice(sign=sign)
    yield Slice(controls=True)
    yield Slice(inside=(0.5, 1.0))
    yield Slice(whole=True)
    yield Slice(families=("cultural",), categories=CATEGORIES[:2], evaluators=EVALUATORS[:2], sign="down")


class Spent:
    """Seconds since it was made: of the clock, and of the processor."""

    def __init__(self) -> None:
        self._clock, self._busy = time.perf_counter(), time.process_time()

    def so_far(self) -> tuple[float, float]:
        """Seconds of the clock and of the processor."""
        return time.perf_counter() - self._clock, time.process_time() - self._busy


def _told(taken: tuple[float, float]) -> str:
    return f"{taken[0]:.2f} s, {taken[1]:.2f} s of one processor"


def _percentiles(taken: list[tuple[float, float]]) -> str:
    clock, busy = 1000 * np.transpose(taken)
    return (
        f"P95 {np.percentile(clock, 95):.0f} ms, median {np.median(clock):.0f} ms; of one processor "
        f"{np.percentile(busy, 95):.0f} and {np.median(busy):.0f} ms"
    )


def _size(folder: Path) -> float:
    return sum(each.stat().st_size for each in folder.rglob("*") if each.is_file()) / 1e9


def _memory_gb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


if __name__ == "__main__":
    main()
