"""What a loader leaves out, once an item, and what it remarks, counted: a million clipped boxes take one line."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from core.corpora.schema import Rejection, Remark


@dataclass(slots=True)
class Findings:
    """Collects while a corpus is read."""

    _left_out: dict[str, Rejection] = field(default_factory=dict)
    _remarks: dict[str, Remark] = field(default_factory=dict)

    def leave_out(self, *found: Rejection) -> None:
        """Note what would have been an item; of one subject the first reason stays."""
        for each in found:
            self._left_out.setdefault(each.subject, each)

    def remark(self, *found: Rejection) -> None:
        """Count what costs no item; of one code the first stays as the example."""
        for each in found:
            known = self._remarks.get(each.code)
            count, first = (1, each) if known is None else (known.count + 1, known)
            self._remarks[each.code] = Remark(each.code, count, first.subject, first.detail)

    def count(self, code: str, count: int, example: Rejection) -> None:
        """Count many of one code at once."""
        known = self._remarks.get(code)
        first = known or example
        self._remarks[code] = Remark(code, count + (known.count if known else 0), first.subject, first.detail)

    @property
    def rejected(self) -> tuple[Rejection, ...]:
        """What was left out, in the order in which it was met."""
        return tuple(self._left_out.values())

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """The remarks, most frequent first."""
        return by_frequency(self._remarks.values())


def by_frequency(remarks: Iterable[Remark]) -> tuple[Remark, ...]:
    """Sort remarks, the most frequent first, equal ones by code."""
    return tuple(sorted(remarks, key=lambda each: (-each.count, each.code)))
