"""How the tests are spread over processes: whole files, the long ones first, a browser's rooms together."""

import os
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

MOST_PROCESSES = 4
"""Each takes up to 3 GB, its models and its browser included."""

TOGETHER = {
    "tests/browser": "a server",
    "tests/report": "the report of the shipped run",
    "tests/analysis/test_blur_control.py": "the report of the shipped run",
    "tests/pages/test_every_part_is_in_the_report.py": "the report of the shipped run",
    "tests/pages/test_page_is_report.py": "the report of the shipped run",
    "tests/analysis/systems/test_board.py": "METEOR's tables",
    "tests/commands/test_leaderboard.py": "METEOR's tables",
    "tests/scoring/test_reference_metrics.py": "METEOR's tables",
    "tests/scoring/test_suite_words.py": "METEOR's tables",
}
"""Rooms and files, by what they share that takes long to make: those of one word go to one process."""

LONGEST = (
    "tests/features/training/test_pr_mcs_on_photographs.py",
    "tests/browser",
    "tests/report",
    "tests/test_package.py",
    "tests/test_notebooks.py",
)
"""What takes longest, or long and would come last: begun first so that no process is left alone with it at the end."""


class FilesLongestFirst(LoadScopeScheduling):
    """Gives each process a file after the other, so that what a module shares is made once."""

    def __init__(self, config: pytest.Config, log: Producer) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return next((shared for place, shared in TOGETHER.items() if f"{file}/".startswith(f"{place}/")), file)

    def _assign_work_unit(self, node: object) -> None:
        units = (TOGETHER.get(each, each) for each in LONGEST)
        longest = next((each for each in units if each in self.workqueue), None)
        if longest is not None:
            self.workqueue.move_to_end(longest, last=False)
        super()._assign_work_unit(node)


def processes(asked: list[str]) -> int:
    """Return how many processes are worth their start for the files and folders asked for; 0: this one alone.

    One more than there are cores: while a test waits for a browser, a server or a child, another computes.
    """
    cores = os.cpu_count() or 1
    folders = [each for each in asked if Path(each.partition("::")[0]).is_dir()]
    return min(cores + 1, MOST_PROCESSES) if folders and cores > 1 else 0


def threads(processes: int) -> int:
    """Return how many threads each process may compute with, so that together they have one a core."""
    return max((os.cpu_count() or 1) // processes, 1)
