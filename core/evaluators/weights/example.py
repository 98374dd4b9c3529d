"""The publishers' own examples in ``assets/evaluators/examples``: pictures, captions and what was printed for them."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from core import settings
from core.errors import InvalidInput
from core.evaluators.weights.download import download
from core.file_contents import known_sha256

HOST = "https://raw.githubusercontent.com"
"""Serves any file of a public repository at a commit."""

MOST_BYTES = 2 << 20
"""Largest file of an example that is fetched."""

_Path = Annotated[str, StringConstraints(pattern=r"^[\w-]+(/[\w-]+)*\.[a-z]+$")]
_Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PublishedValue(_Entry):
    """A mean score that a publisher prints.

    Args:
        evaluator: its name in the catalogue.
        captions: file of ``{image: caption}``.
        value: on the evaluator's own scale.
    """

    evaluator: str
    captions: _Path
    value: float


class Example(_Entry):
    """Pictures with captions in a publisher's repository.

    Args:
        id: name of its file in ``assets/evaluators/examples`` and of its folder on disk.
        repository: ``owner/name`` at GitHub.
        commit: at which the files are read.
        images: path by image id.
        references: file of ``{image: [captions]}``.
        files: SHA-256 by path of every file that is read.
    """

    id: str
    title: str
    repository: Annotated[str, StringConstraints(pattern=r"^[\w-]+/[\w.-]+$")]
    commit: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
    images: Annotated[dict[str, _Path], Field(min_length=1)]
    references: _Path
    files: dict[_Path, _Sha256]
    published: Annotated[tuple[PublishedValue, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _complete(self) -> "Example":
        named = {*self.images.values(), self.references, *(each.captions for each in self.published)}
        if named != set(self.files):
            raise ValueError(f"files must name what is read and nothing else: {sorted(named ^ set(self.files))}")
        return self

    def of(self, evaluator: str) -> tuple[PublishedValue, ...]:
        """The values that are printed for an evaluator."""
        return tuple(each for each in self.published if each.evaluator == evaluator)


def example_of(evaluator: str) -> Example | None:
    """The publisher's example that has values for an evaluator; None where there is none."""
    return next((each for each in examples() if each.of(evaluator)), None)


def examples() -> tuple[Example, ...]:
    """Every example, by name.

    Raises:
        InvalidInput: if a file is not of the form of an example; one sentence.
    """
    return _read(settings.assets_dir() / "evaluators" / "examples")


def fetch_example(known: Example) -> Path:
    """Bring an example onto this machine; what is there with the right bytes is not fetched again.

    Returns:
        Its folder.

    Raises:
        NotAvailable: if a file cannot be had, or has other bytes.
    """
    folder = settings.weights_dir() / "examples" / known.id
    for name, sha256 in known.files.items():
        path = folder / name
        if not (path.is_file() and known_sha256(path) == sha256):
            path.parent.mkdir(parents=True, exist_ok=True)
            url = f"{HOST}/{known.repository}/{known.commit}/{name}"
            download(url, path, sha256=sha256, most_bytes=MOST_BYTES)
    return folder


@cache
def _read(folder: Path) -> tuple[Example, ...]:
    return tuple(_one(path) for path in sorted(folder.glob("*.toml")))


def _one(path: Path) -> Example:
    try:
        return Example.model_validate({**tomllib.loads(path.read_text(encoding="utf-8")), "id": path.stem})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValidationError) as error:
        raise InvalidInput(f"{path} is no example of a publisher: {error}; correct it") from error
