"""With how many references the captions of a suite are compared, and over how many draws of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.corpora.suites import Suite, with_references
from core.errors import InvalidInput

MOST_DRAWS = 100

_USUAL_COUNTS = {"FOIL": (1, 4), "Pascal-50S": (5,), "VATEX-EVAL": (1, 9)}
"""Suite -> references that the field compares with: FOIL with one and with four, Pascal-50S with five, VATEX-EVAL with
one and with nine.

Source: Hessel et al., *CLIPScore* (2021), section 4; Shi et al., *EMScore* (2022), section 5.
"""

_USUAL_DRAWS = 5


@dataclass(frozen=True, slots=True)
class Setting:
    """One way to compare a suite's captions with references.

    Args:
        count: at most so many of them beside a caption; None: all that the suite has.
        draws: how often they are drawn; scores of several draws are reported as their mean.
    """

    count: int | None = None
    draws: int = 1

    @property
    def told(self) -> str:
        """In words: ``5 references, 5 draws``."""
        many = "all references" if self.count is None else f"{self.count} reference{'' if self.count == 1 else 's'}"
        return many if self.draws == 1 else f"{many}, {self.draws} draws"

    def suites(self, suite: Suite) -> Iterator[Suite]:
        """The suite with the references of every draw."""
        for draw in range(self.draws):
            yield suite if self.count is None else with_references(suite, self.count, draw=draw)


def settings_of(suite: Suite, counts: Sequence[int] = (), draws: int | None = None) -> tuple[Setting, ...]:
    """The settings that an evaluator with references is reported under.

    Args:
        suite: as it was read.
        counts: how many references, one setting each; none: what the field compares the suite with.
        draws: of each; None: five where there are more references than are used, one otherwise.

    Returns:
        One setting at least; none of them asks for more references than a caption has.

    Raises:
        InvalidInput: if a count or the number of draws lies out of range.
    """
    most = suite.most_references
    wrong = next((each for each in counts if each < 1), None)
    if wrong is not None or (draws is not None and not 1 <= draws <= MOST_DRAWS):
        got = wrong if wrong is not None else draws
        raise InvalidInput(f"references must be 1 or more and draws 1 to {MOST_DRAWS}, got {got}")
    if counts and max(counts) > most:
        raise InvalidInput(f"{suite.name} has at most {most} references beside a caption, got {max(counts)}; ask fewer")
    asked = counts or _USUAL_COUNTS.get(suite.name, ())
    usual = draws or (_USUAL_DRAWS if suite.name == "Pascal-50S" else 1)
    found = [Setting(count, usual if count < most else 1) for count in dict.fromkeys(min(each, most) for each in asked)]
    return tuple(found) or (Setting(),)
