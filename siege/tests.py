"""What the tests try of this kind: full disks, a hostile judge, outputs on devices, kernel paths and pipes."""

import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from core.settings import ROOT
from siege.trials import Finding, Tally

FILES = (
    "tests/audit/test_resume.py",
    "tests/evaluators/test_hostile_judge.py",
    "tests/commands/test_outputs.py",
    "tests/commands/test_hostile_paths.py",
)


def run(tally: Tally, _seed: int, *, quick: bool, files: tuple[str, ...] = FILES) -> None:
    """Run each file by pytest in its own process; each of its tests is a trial."""
    for name in files[:1] if quick else files:
        with TemporaryDirectory() as folder:
            said = Path(folder) / "said.xml"
            words = [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-n",
                "0",
                "-p",
                "no:cacheprovider",
                f"--junitxml={said}",
                name,
            ]
            start = time.perf_counter()
            done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
            tally.wall_s += time.perf_counter() - start
            cases = list(ET.parse(said).iter("testcase")) if said.is_file() else []
        if not cases or done.returncode not in (0, 1):  # 1: some failed
            told = f"pytest ended with {done.returncode}: {(done.stdout + done.stderr)[-1000:]}"
            tally.attempt(name, partial(_failed, told), timed=False)
        skipped = [case for case in cases if case.find("skipped") is not None]
        for case in cases:
            if case not in skipped:
                tally.attempt(f"{name}::{case.get('name')}", partial(_passed, case), timed=False)
        if skipped:
            tally.notes.append(f"{len(skipped)} of {len(cases)} tests of {name} were skipped")


def _passed(case: ET.Element) -> None:
    for kind in ("failure", "error"):
        if (found := case.find(kind)) is not None:
            _failed((found.text or found.get("message") or kind)[-1000:])


def _failed(said: str) -> None:
    raise Finding("lost", said)
