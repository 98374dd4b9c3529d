"""What a job does that holds evaluators to a suite: the fields that a page fills in, and a command line."""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator

from core.errors import InvalidInput
from core.evaluators.references import BY_WORDS
from core.jobs.one_command import OneCommand
from core.jobs.request import check_available, check_file, check_folder, first_problem


class SuiteRequest(OneCommand):
    """Evaluators to be held to one suite; made by :func:`suite_request`.

    Args:
        kind: tells it from an audit.
        files: of the suite, absolute.
        images: folders of its pictures, absolute.
        evaluators: registered names, or metrics that read references alone.
        keep_self_references: of Flickr8k, keep ratings of an image's own references.
    """

    kind: Literal["suite"] = "suite"
    files: tuple[str, ...] = Field(min_length=1)
    images: tuple[str, ...] = Field(min_length=1)
    evaluators: tuple[str, ...] = Field(min_length=1)
    keep_self_references: bool = False

    @field_validator("files", "images")
    @classmethod
    def _absolute(cls, paths: tuple[str, ...]) -> tuple[str, ...]:
        if bad := [path for path in paths if not Path(path).is_absolute()]:
            raise ValueError(f"paths are absolute, got {bad[0]!r}")
        return paths

    @field_validator("evaluators")
    @classmethod
    def _words(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if bad := [name for name in names if not name or "," in name or name.startswith("-")]:
            raise ValueError(f"evaluators are names without comma, got {bad[0]!r}")
        return names

    @property
    def told(self) -> tuple[str, ...]:
        """What it does, in words."""
        return (f"suite {', '.join(Path(each).name for each in self.files)}", f"by {', '.join(self.evaluators)}")

    @property
    def unit(self) -> str:
        """What its progress counts."""
        return "caption"

    @property
    def keeps(self) -> bool:
        """Whether what was done stays when it is stopped: a suite is kept once it is whole."""
        return False

    @property
    def stem(self) -> str:
        """What a name that is made begins with."""
        return f"suite-{Path(self.files[0]).stem}"

    def arguments(self, *, resume: bool = False) -> list[str]:
        """Words after ``python -m core``; ``resume`` changes nothing."""
        words = ["suite", self.files[0], *self.images]
        words += [word for each in self.files[1:] for word in ("--also", each)]
        words += ["--evaluator", ",".join(self.evaluators)]
        words += ["--keep-self-references"] if self.keep_self_references else []
        return words + (["--device", self.device] if self.device is not None else [])

    def check(self) -> None:
        """Find out cheaply, before a job is made, what would stop it at once.

        Raises:
            UnknownName: for an unknown evaluator.
            InvalidInput: for a file or a folder that is not there.
            NotAvailable: for an evaluator that is not on this machine.
        """
        for path in self.files:
            check_file(path)
        for path in self.images:
            check_folder(path)
        check_available(tuple(name for name in self.evaluators if name not in BY_WORDS))


def suite_request(**fields: Any) -> SuiteRequest:
    """Make a request of what a reader chose.

    Raises:
        InvalidInput: naming the field.
    """
    try:
        return SuiteRequest(**fields)
    except ValidationError as error:
        raise InvalidInput(first_problem(error)) from error
