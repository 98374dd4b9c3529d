"""What a build server reads of a command: JUnit's XML, a case a line of the result."""

from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree import ElementTree

from core.commands._shared import printable


@dataclass(frozen=True, slots=True)
class Case:
    """One line of a result."""

    name: str  # of what was tested
    said: str  # what was found, in a sentence
    failed: bool = False  # whether that is a failure
    skipped: bool = False  # whether nothing can be said of it


def junit(suite: str, cases: Iterable[Case]) -> str:
    """Write a suite of cases; what failed or was skipped has its sentence as message, another case as output."""
    held = list(cases)
    counts = {
        "tests": len(held),
        "failures": sum(case.failed for case in held),
        "skipped": sum(case.skipped for case in held),
    }
    root = ElementTree.Element("testsuite", {"name": printable(suite)} | {name: str(n) for name, n in counts.items()})
    for case in held:
        one = ElementTree.SubElement(root, "testcase", classname=printable(suite), name=printable(case.name))
        if case.failed or case.skipped:
            ElementTree.SubElement(one, "failure" if case.failed else "skipped", message=printable(case.said))
        else:
            ElementTree.SubElement(one, "system-out").text = printable(case.said)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
