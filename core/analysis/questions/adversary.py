"""Paper E's own pair, which a family of prototypes holds among others: the correct picture against the adversary alone.

The adversary shows a prototype with a wrong detail. A family that holds a wrong detail without the prototype too counts
both; its numbers are not those of paper E, so that both readings stand side by side, each named.

Source: paper E, sections 3 and 4.
"""

from collections.abc import Iterable
from dataclasses import replace

from core.analysis.comparisons import Capability
from core.analysis.questions import papers
from core.analysis.questions.prototypes import cells
from core.analysis.table import ScoreTable

ADVERSARY = papers.CELLS[-1]
"""Picture of the 2 × 2 that is paper E's adversary."""

WHOLE = "whole family"
PAIR = "alone: paper E’s pair"


def with_pair(table: ScoreTable, tests: Iterable[Capability]) -> list[tuple[Capability, str]]:
    """Each test with the words for the comparisons that it holds, after the adversary alone where it holds others too.

    Args:
        table: of the scores.
        tests: capabilities of whole families, or of parts of them.

    Returns:
        (test, words): ``prototype:adversary alone: paper E’s pair``, then ``whole family: adversary, knob-wrong``;
        WHOLE for every other test. No two tests of different words share a family of tests.
    """
    adversary, found = cells(table).get(ADVERSARY, ""), list[tuple[Capability, str]]()
    for test in tests:
        if adversary not in test.probes or len(test.probes) == 1:
            found.append((test, WHOLE))
            continue
        named = ", ".join(name.removeprefix(f"{test.family}:") for name in test.probes)
        alone = replace(test, probes=(adversary,), tests=f"{test.tests}: {adversary}" if test.tests else "")
        found += [(alone, f"{adversary} {PAIR}"), (test, f"{WHOLE}: {named}")]
    return found
