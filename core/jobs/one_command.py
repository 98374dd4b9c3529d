"""What jobs share: how their command is written, how they are named, and when they are known to be through."""

import re
import shlex
import sys
from abc import abstractmethod
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, field_validator

from core import settings
from core.jobs.progress import read_progress
from core.store.manifest import check_run_id


class OneCommand(BaseModel):
    """A job that ends with its command.

    Args:
        run_id: name of the job; None: made when it is started.
        device: where evaluators run; None: the best there is.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    run_id: str | None = None
    device: str | None = None

    @field_validator("run_id")
    @classmethod
    def _safe_id(cls, run_id: str | None) -> str | None:
        return None if run_id is None else check_run_id(run_id)

    @property
    @abstractmethod
    def told(self) -> tuple[str, ...]:
        """What it does, in words."""

    @property
    @abstractmethod
    def unit(self) -> str:
        """What its progress counts."""

    @property
    @abstractmethod
    def keeps(self) -> bool:
        """Whether what was done stays when it is stopped, and need not be done again."""

    @abstractmethod
    def check(self) -> None:
        """Find out cheaply, before a job is made, what would stop it at once.

        Raises:
            InvariscopeError: saying what.
        """

    @abstractmethod
    def arguments(self, *, resume: bool = False) -> list[str]:
        """Words after ``python -m core``."""

    @property
    @abstractmethod
    def stem(self) -> str:
        """What a name that is made begins with."""

    def shell(self, *, resume: bool = False) -> str:
        """The command to paste in a shell: every word quoted as the shell needs it."""
        usual = settings.data_dir().absolute() == settings.usual_data_dir()
        where = [] if usual else ["env", f"INVARISCOPE_DATA={settings.data_dir().absolute()}"]
        return shlex.join([*where, "python", "-m", "core", *self.arguments(resume=resume)])

    def command(self, progress: Path, *, resume: bool = False) -> list[str]:
        """The process to start, as a list: no shell reads it.

        Args:
            progress: file that it tells its progress in.
            resume: call it again after it ended early.
        """
        named = ["--job", str(self.run_id), "--progress-file", str(progress)]
        return [sys.executable, "-m", "core", *self.arguments(resume=resume), *named]

    def named(self, taken: Iterable[str] = ()) -> Self:
        """Return the request with a name for its job; one is made of its stem and the time where there is none.

        Args:
            taken: ids that a made one must not be.
        """
        if self.run_id is not None:
            return self
        stem = re.sub(r"[^A-Za-z0-9._-]+", "-", self.stem).strip("-._")[:60] or "job"
        first = f"{stem}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
        names = (first, *(f"{first}-{number}" for number in range(2, 1000)))
        return self.model_copy(update={"run_id": next(name for name in names if name not in set(taken))})

    def is_complete(self, progress: Path) -> bool:
        """Whether its result is on the disk: only then does its process say that it is complete."""
        told = read_progress(progress)
        return told is not None and told.phase == "complete"
