"""What an audit is asked to do: the one argument of whoever runs one, in a shell, from a page, as a job or in Python.

Names, meanings, bounds and defaults stand here alone: options, job files and the Python interface take them from it.
"""

from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from core.errors import InvalidInput

OFFLINE = ("conse-lite0", "conse-lite2", "grounding-judge")
"""Evaluators of an audit in a shell that names none: they need no download beyond pip install."""

SUBJECT_CHOICES = {"template": ("template",), "human": ("human",), "both": ("template", "human")}
"""What a reader chooses -> the subjects it means."""

Choice = Literal["template", "human", "both"]


class Asked(BaseModel):
    """What somebody asks for; made by :meth:`of`, whose errors are sentences."""

    @classmethod
    def of(cls, **fields: Any) -> Self:
        """Make a request. Raises InvalidInput naming what is wrong and the value."""
        try:
            return cls(**fields)
        except ValidationError as error:
            raise InvalidInput(first_problem(error)) from error


class AuditRequest(Asked):
    """One audit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    corpus: str = Field(default="demo", description="demo, coco, folder, …: 'corpora' lists them.")
    root: str | None = Field(default=None, description="Folder of the corpus, where it needs one.")
    options: dict[str, Any] = Field(default_factory=dict, description="key=value of the corpus, e.g. split=val2017.")
    probes: tuple[str, ...] = Field(
        default=("default",), description="Names, families, axes, 'default', 'directional' or 'all', comma-separated."
    )
    evaluators: tuple[str, ...] | None = Field(
        default=None, description=f"Names or path/to/file.py:Name, comma-separated. Default: {', '.join(OFFLINE)}."
    )
    """None: the pairs alone, for others to score."""
    subject: Choice | None = Field(
        default=None,
        description="Caption that is held while the image is edited: 'There is a …', or one by a person. Default: "
        "template; human where no item has a label.",
    )
    languages: tuple[str, ...] = Field(
        default=("en",), description="Languages of the human captions, e.g. en,de. Default: en."
    )
    captions_each: int = Field(
        default=1, ge=1, description="Most human captions of an item in each language, the first ones."
    )
    idf: str | None = Field(
        default=None, description="Document frequencies that weigh tokens of video evaluators: 'video idf' makes it."
    )
    limit: int | None = Field(default=None, ge=1, description="Only the first items.")
    sample: int | None = Field(
        default=None, ge=1, description="Draw so many items by the seed, evenly over category and coverage."
    )
    seed: int | None = Field(default=None, description="Seed of everything random. Default: 2025.")
    run_id: str | None = Field(default=None, description="Name of the run. Default: corpus, time and digest.")
    device: str | None = Field(default=None, description="cpu, cuda, mps. Default: the best there is.")
    workers: int = Field(
        default=1, ge=1, description="Processes that render and score, each with its own models. Same bytes."
    )
    threads: int | None = Field(
        default=None,
        ge=1,
        description="Threads for one operation, in each worker. Default: as the run was begun, else cores / workers.",
    )
    renderers: int = Field(
        default=0, ge=0, description="Processes that decode and edit for each worker. Default: its own thread."
    )
    cluster: str | None = Field(
        default=None,
        description="Address of a Ray cluster whose actors do it: auto, HOST:6379. docs/cluster.md starts one.",
    )

    @field_validator("root", "idf", mode="before")
    @classmethod
    def _as_text(cls, path: Any) -> Any:
        return str(path) if isinstance(path, Path) else path

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.evaluators is not None and not self.evaluators:
            raise ValueError("no evaluator is chosen; list them with: python -m core evaluators")
        if not self.languages:
            raise ValueError("no language is chosen; leave the choice out for English")
        return self


def first_problem(error: ValidationError) -> str:
    """The first thing that is wrong, in one line."""
    told = error.errors(include_url=False)[0]
    where = ".".join(map(str, told["loc"]))
    said, given, bounds = told["msg"].removeprefix("Value error, "), told.get("input"), told.get("ctx") or {}
    if not where and told["type"] == "value_error":  # of the whole: a sentence
        return said
    if told["type"] == "greater_than_equal":
        return f"{where} must be at least {bounds['ge']}, got {given}"
    if where == "subject" and told["type"] == "literal_error":
        return f"subject is one of {', '.join(SUBJECT_CHOICES)}, got {given!r}; or leave it out"
    return f"{where or 'the request'}: {said}, got {str(given)[:80]!r}"


def choice_of(subjects: tuple[str, ...]) -> Choice:
    """The choice that means some subjects. Raises InvalidInput if there is none."""
    known = SUBJECT_CHOICES["both"]
    unknown = [subject for subject in subjects if subject not in known]
    if unknown or not subjects:
        raise InvalidInput(f"subjects must be among {', '.join(known)}, got {', '.join(unknown) or 'none'}")
    return "both" if set(subjects) == set(known) else "human" if "human" in subjects else "template"
