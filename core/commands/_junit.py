"""What a build server reads of a command: JUnit's XML, a case a line of the result."""

from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree import ElementTree

from core.commands._shared import printable


@dataclass(frozen=True, slots=True)
class Case:
    """One line of a result.

    Args:
        name: of what was tested.
        said: what was found, in a sentence.
        failed: whether that is a failure.
    """

    name: str
    said: str
    failed: bool


def junit(suite: str, cases: Iterable[Case]) -> str:
    """Write a suite of cases; a failure has its sentence as message, another case as output."""
    held = list(cases)
    failures = sum(case.failed for case in held)
    root = ElementTree.Element("testsuite", name=printable(suite), tests=str(len(held)), failures=str(failures))
    for case in held:
        one = ElementTree.SubElement(root, "testcase", classname=printable(suite), name=printable(case.name))
        if case.failed:
            ElementTree.SubElement(one, "failure", message=printable(case.said))
        else:
            ElementTree.SubElement(one, "system-out").text = printable(case.said)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
