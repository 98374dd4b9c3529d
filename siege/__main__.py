"""Run the whole campaign, a kind of trial in its own process, and print what came of it as one table.

Exit code 0: nothing was lost, doubled, silent, slow or large, and nothing ended in a traceback; 1: something was, or
the whole took more than twenty minutes.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.report import machine
from siege.trials import FAILURES, MOST_MB, MOST_S, Tally

KINDS = (
    "uploads",
    "files",
    "texts",
    "links",
    "published",
    "damages",
    "kills",
    "writers",
    "workers",
    "people",
    "sessions",
    "crowd",
    "tests",
)
SLOW = ("workers", "sessions", "tests")
"""Kinds that the short form leaves out."""
BESIDE = ("kills", "writers", "workers", "tests")
"""Kinds that are held to no time of a single trial: they run beside the others, one after the other."""
ALONE = ("crowd",)
"""Kinds that run when all others are over."""
LONG = ("life",)
"""Kinds that only who names them waits for: the whole campaign has none of them."""
MOST_ALL_S = 1200.0
"""Seconds that the whole campaign may take."""
CROWD = ("sessions", "seconds")
"""Options that are of the kinds crowd and life alone."""
SEED = 2026
HEADS = ("kind", "tried", "survived", "refused in a sentence", *FAILURES, "slowest, s", "most, MB", "of, MB", "took, s")
Options = dict[str, float]
"""What a kind is given beside the seed, by name."""


def main() -> int:
    """Print the table; return 1 if anything ended as nothing may."""
    parser = argparse.ArgumentParser(prog="python -m siege", description=__doc__)
    parser.add_argument(
        "--only", action="append", choices=KINDS + LONG, help="this kind; repeated: several (default: all)"
    )
    parser.add_argument("--seed", type=int, default=SEED, help=f"of everything random (default: {SEED})")
    parser.add_argument("--quick", action="store_true", help="a small part of each quick kind")
    parser.add_argument("--sessions", type=_positive(int), metavar="N", help="of crowd and life, at once (default: 30)")
    parser.add_argument(
        "--seconds", type=_positive(float), metavar="S", help="that crowd (default: 300) or life (7200) lasts"
    )
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the counts into this file, too")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    crowd = {name: vars(given)[name] for name in CROWD if vars(given)[name] is not None}
    if given.inside:
        return _inside(given.only[0], given.seed, given.quick, crowd, given.inside)
    chosen = given.only or [kind for kind in KINDS if kind not in SLOW or not given.quick]
    return _campaign(chosen, given.seed, crowd, quick=given.quick, out=given.json)


def _positive(kind: Callable[[str], float]) -> Callable[[str], float]:
    def read(words: str) -> float:
        value = kind(words)
        if not 0 < value < 1e6:
            raise argparse.ArgumentTypeError(f"must be a positive number, got {words!r}")
        return value

    return read


def _campaign(kinds: list[str], seed: int, crowd: Options, *, quick: bool, out: Path | None) -> int:
    said = f"Machine: {machine()}; seed {seed}{', quick' if quick else ''}; limits {MOST_S:.0f} s and {MOST_MB:.0f} MB"
    print(f"{said}\n\n| {' | '.join(HEADS)} |\n|{' --- |' * len(HEADS)}", flush=True)
    start, told = time.perf_counter(), []
    with TemporaryDirectory() as folder, ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        begun = {
            kind: (other if kind in BESIDE else one).submit(_apart, kind, seed, quick, crowd, Path(folder))
            for kind in kinds
            if kind not in ALONE
        }
        for kind in kinds:
            waited = begun.get(kind)
            if waited is None:
                wait(begun.values())
            told.append(waited.result() if waited else _apart(kind, seed, quick, crowd, Path(folder)))
            print(_row(told[-1]), flush=True)
    took = time.perf_counter() - start
    print(f"\n{sum(each['tried'] for each in told)} trials in {took / 60:.1f} minutes", flush=True)
    for each in told:
        print(*[f"- {note}" for note in each["notes"]], sep="\n", end="\n" if each["notes"] else "")
        if each["found"]:
            print(*each["found"], sep="\n", file=sys.stderr)
    failed = sum(each["failed"] for each in told)
    if late := set(kinds) == set(KINDS) and took > MOST_ALL_S:
        print(f"the campaign took {took / 60:.1f} minutes and may take {MOST_ALL_S / 60:.0f}", file=sys.stderr)
    if out is not None:
        whole = {"machine": machine(), "seed": seed, "quick": quick, "seconds": round(took, 1), "kinds": told}
        out.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
    return 1 if failed or late else 0


def _apart(kind: str, seed: int, quick: bool, crowd: Options, folder: Path) -> dict[str, Any]:
    """One kind in its own process: one that dies is a failure, and the others still run."""
    out = folder / f"{kind}.json"
    words = [sys.executable, "-m", "siege", "--only", kind, "--seed", str(seed), "--inside", str(out)]
    words += [word for name, value in crowd.items() for word in (f"--{name}", str(value))]
    log = out.with_suffix(".log")
    with log.open("w") as said:
        code = subprocess.run(words + ["--quick"] * quick, check=False, stdout=said, stderr=said).returncode
    if code == 0 and out.is_file():
        found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
        return found
    broken = Tally(kind)
    broken.counts["traceback"] += 1
    broken.found.append(f"{kind}: the campaign's own process ended with {code}:\n{log.read_text()[-3000:]}")
    return broken.as_dict()


def _inside(kind: str, seed: int, quick: bool, crowd: Options, out: Path) -> int:
    tally = Tally(kind)
    import_module(f"siege.{kind}").run(tally, seed, quick=quick, **(crowd if kind in ("crowd", *LONG) else {}))
    out.write_text(json.dumps(tally.as_dict()), encoding="utf-8")
    return 0


def _row(told: dict[str, Any]) -> str:
    counts = [told["counts"].get(name, 0) for name in ("survived", "refused", *FAILURES)]
    last = (f"{told['seconds']:.1f}", f"{told['most_mb']:.0f}", f"{told['limit_mb']:.0f}", f"{told['wall_s']:.0f}")
    return f"| {' | '.join(map(str, (told['kind'], told['tried'], *counts, *last)))} |"


if __name__ == "__main__":
    sys.exit(main())
