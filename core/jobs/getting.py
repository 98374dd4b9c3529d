"""What a job does that fetches the weights of a published evaluator: its name, and a command line."""

from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator

from core.errors import InvalidInput
from core.evaluators.registry import find
from core.evaluators.weights.fetched import Published
from core.jobs.one_command import OneCommand
from core.jobs.request import first_problem

SHARE = "%"
"""Unit of a progress that is a share: sets of weights tell bytes or files, and a publisher may not say how many."""


class GetRequest(OneCommand):
    """Weights to be fetched, as ``python -m core evaluators get`` does; made by :func:`get_request`.

    Args:
        kind: tells it from an audit.
        name: of a published evaluator.
    """

    kind: Literal["get"] = "get"
    name: str = Field(min_length=1)

    @field_validator("name")
    @classmethod
    def _no_option(cls, word: str) -> str:
        if word.startswith("-"):
            raise ValueError("it must not begin with a dash")
        return word

    @property
    def told(self) -> tuple[str, ...]:
        """What it does, in words."""
        return (f"weights of {self.name}",)

    @property
    def unit(self) -> str:
        """What its progress counts."""
        return SHARE

    @property
    def keeps(self) -> bool:
        """Whether what was done stays when it is stopped: a file that was cut off goes on where it stopped."""
        return True

    @property
    def stem(self) -> str:
        """What a name that is made begins with."""
        return f"get-{self.name}"

    def arguments(self, *, resume: bool = False) -> list[str]:
        """Words after ``python -m core``; the same call goes on where an earlier one ended."""
        return ["evaluators", "get", self.name]

    def check(self) -> None:
        """Find out cheaply what would stop it at once.

        Raises:
            UnknownName: for an unknown evaluator.
            InvalidInput: for one without weights to fetch.
        """
        if not issubclass(find(self.name), Published):
            raise InvalidInput(f"{self.name} has no weights to fetch; choose a published evaluator that is not here")


def get_request(**fields: Any) -> GetRequest:
    """Make a request of what a reader chose.

    Raises:
        InvalidInput: naming the field.
    """
    try:
        return GetRequest(**fields)
    except ValidationError as error:
        raise InvalidInput(first_problem(error)) from error
