"""What a job does: one audit, as the fields that a page fills in, and as a command line."""

import re
import shlex
import sys
from abc import abstractmethod
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from pydantic import ConfigDict, Field, field_validator

from core import settings
from core.audit.request import Asked, AuditRequest
from core.audit.run import read_progress
from core.corpora import registry as corpora
from core.corpora.ordinary_paths import ordinary
from core.corpora.registry import READ, TEXT
from core.corpora.schema import Corpus
from core.errors import InvalidInput, NotAvailable, StoreError
from core.evaluators.functions import the_metric
from core.evaluators.registry import find
from core.probes.pixels import text_reader
from core.probes.registry import catalogue, select, with_taggers
from core.registry import absolute_code, is_apart, names_code
from core.store.run_files import COMPLETE, check_run_id, read_run

_ADDRESS = r"^(auto|[A-Za-z0-9.\-\[\]:]+:[0-9]{1,5})$"


class OneCommand(Asked):
    """A job that ends with its command."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    unit: ClassVar[str]  # what its progress counts
    keeps: ClassVar[bool]  # whether what was done stays when it is stopped, and need not be done again
    run_id: str | None = None  # name of the job; None: made when it is started
    device: str | None = None  # where evaluators run; None: the best there is

    @field_validator("run_id")
    @classmethod
    def _safe_id(cls, run_id: str | None) -> str | None:
        return None if run_id is None else check_run_id(run_id)

    @property
    @abstractmethod
    def told(self) -> tuple[str, ...]:
        """What it does, in words."""

    @abstractmethod
    def check(self) -> None:
        """Find out cheaply, before a job is made, what would stop it at once; raises InvariscopeError saying what."""

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
        """The process to start, or to call again after it ended early, as a list: no shell reads it. ``progress``: file
        that it tells its progress in."""
        named = ["--job", str(self.run_id), "--progress-file", str(progress)]
        return [sys.executable, "-m", "core", *self.arguments(resume=resume), *named]

    def named(self, taken: Iterable[str] = ()) -> Self:
        """Return the request with a name for its job, made of its stem and the time where it has none; never one that
        is taken."""
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


class AuditJob(AuditRequest, OneCommand):
    """One audit to be run by a job, as a command line can say it; made by :func:`audit_request`. Its root is absolute,
    and its run id the name of the job too."""

    unit: ClassVar[str] = "image"
    keeps: ClassVar[bool] = True

    corpus: str
    options: dict[str, str] = Field(default_factory=dict)
    evaluators: tuple[str, ...] = Field(min_length=1)
    seed: int | None = Field(default=None, ge=0)
    workers: int = Field(default=1, ge=1, le=4096)
    cluster: str | None = Field(default=None, pattern=_ADDRESS, max_length=300)

    @field_validator("probes", "evaluators", "languages")
    @classmethod
    def _no_comma(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if not names:
            raise ValueError("one is needed at least")
        bad = [name for name in names if "," in name or not name.strip()]
        if bad:
            raise ValueError(f"names hold no comma and are not empty, got {bad[0]!r}")
        return names

    @property
    def told(self) -> tuple[str, ...]:
        limit = () if self.limit is None else (f"first {self.limit:,} item{'s' if self.limit > 1 else ''}",)
        sample = () if self.sample is None else (f"{self.sample:,} sampled",)
        return (self.corpus, f"probes {', '.join(self.probes)}", ", ".join(self.evaluators), *limit, *sample)

    @property
    def stem(self) -> str:
        name = self.corpus.rpartition(":")[2]
        return name if re.search("[A-Za-z0-9]", name) else "audit"

    @property
    def own_code(self) -> tuple[str, ...]:
        """Corpus and probes that are code of a file, which a server does not run in itself."""
        return tuple(each for each in (self.corpus, *self.probes) if names_code(each))

    def arguments(self, *, resume: bool = False) -> list[str]:
        words = ["audit", "--corpus", self.corpus]
        words += ["--root", self.root] if self.root is not None else []
        words += [word for key, value in self.options.items() for word in ("--option", f"{key}={value}")]
        words += ["--probes", ",".join(self.probes), "--evaluators", ",".join(self.evaluators)]
        words += ["--subject", self.subject] if self.subject is not None else []
        words += ["--language", ",".join(self.languages)] if self.languages != ("en",) else []
        words += ["--captions-each", str(self.captions_each)] if self.captions_each != 1 else []
        words += ["--workers", str(self.workers)] if self.workers != 1 else []
        words += ["--renderers", str(self.renderers)] if self.renderers else []
        for name in ("limit", "sample", "seed", "idf", "run_id", "device", "threads", "cluster"):
            value = getattr(self, name)
            words += [f"--{name.replace('_', '-')}", str(value)] if value is not None else []
        return words + (["--resume"] if resume else [])

    def shell(self, *, resume: bool = False) -> str:
        words = ["python", "-m", "core", *self.arguments(resume=resume)]
        usual = settings.data_dir().absolute() == settings.usual_data_dir()
        return shlex.join(words if usual else [*words, "--out", str(settings.runs_dir().absolute())])

    def command(self, progress: Path, *, resume: bool = False) -> list[str]:
        return [sys.executable, "-m", "core", *self.arguments(resume=resume), "--progress-file", str(progress)]

    def load(self) -> Corpus:
        """Read the corpus; raises InvariscopeError if it cannot be read."""
        return corpora.find(self.corpus).load(None if self.root is None else Path(self.root), **self.options)

    def check(self) -> None:
        """Find out cheaply what would stop the audit at once: an unknown corpus, probe or evaluator (UnknownName), a
        folder that is not there (InvalidInput), an evaluator, a tagger or a reader of text that is not here
        (NotAvailable, with the command that gets it)."""
        for path in self.own_code if is_apart() else ():
            check_file(path.rpartition(":")[0])
        unread = set(self.own_code) if is_apart() else set()
        if self.corpus not in unread and corpora.find(self.corpus).needs_root and self.root is None:
            raise InvalidInput(f"corpus {self.corpus!r} needs a folder; give the path of one on this machine")
        if self.root is not None:
            check_folder(self.root)
        named = [each for each in self.probes if each not in unread]
        chosen, _ = with_taggers(select(named), named) if named else ((), ())
        reads = self.options.get(TEXT) == READ and any(probe.family == text_reader.WRITTEN_IN for probe in chosen)
        if reads and (reason := text_reader.lacking()):
            raise NotAvailable(reason)
        for reference in self.evaluators:
            find(reference).check_available()

    def is_complete(self, progress: Path) -> bool:
        """Whether its run is; ``progress``, the file of its job, need not say so."""
        try:
            return read_run(settings.runs_dir() / str(self.run_id)).status == COMPLETE
        except StoreError:
            return False


def audit_request(**fields: Any) -> AuditJob:
    """Make a request of what a reader filled in; the subject is the template where none is named. Raises InvalidInput
    naming the field."""
    if fields.get("root") is not None:
        fields["root"] = str(Path(fields["root"]).expanduser().absolute())
    fields["evaluators"] = tuple(map(absolute, fields.get("evaluators", ())))
    fields |= {"corpus": absolute_code(fields["corpus"])} if isinstance(fields.get("corpus"), str) else {}
    fields |= {"probes": tuple(map(absolute_code, fields["probes"]))} if "probes" in fields else {}
    return AuditJob.of(**{"subject": "template", **fields})


def check_folder(text: str) -> Path:
    """Return a folder on this machine; raises InvalidInput saying whether nothing is there, or a file, or something
    that may not be read."""
    return _there(text, "folder", "is a file; give the folder that holds the images")


def check_file(text: str) -> Path:
    """Return a file on this machine; raises InvalidInput saying whether nothing is there, or a folder, or something
    that may not be read."""
    return _there(text, "file", "is a folder; give the publisher's file")


def _there(text: str, kind: Literal["folder", "file"], other: str) -> Path:
    try:
        path = Path(text).expanduser()
        if not path.is_absolute():
            raise InvalidInput(f"the {kind} must be an absolute path on this machine, got {text!r}")
        try:
            ordinary(path)
        except InvalidInput as error:
            raise InvalidInput(f"the {kind} {error}") from error
        if kind == "folder" and path.is_dir():
            next(path.iterdir(), None)
            return path
        if kind == "file" and path.is_file():
            with path.open("rb"):
                return path
        there = path.exists()
    except InvalidInput:
        raise
    except (OSError, ValueError, RuntimeError) as error:
        raise InvalidInput(f"the {kind} {text[:300]!r} cannot be read: {getattr(error, 'strerror', error)}") from error
    if there:
        raise InvalidInput(f"{path} {other}")
    raise InvalidInput(f"there is no {kind} {path} on this machine; check the path")


def read_options(text: str) -> dict[str, str]:
    """Read ``key=value, key=value``; raises InvalidInput for a part without ``=`` or a key given twice."""
    options: dict[str, str] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        key, separator, value = (each.strip() for each in part.partition("="))
        if not separator or not key or not value:
            raise InvalidInput(f"options are key=value, separated by commas, got {part!r}")
        if key in options:
            raise InvalidInput(f"option {key} is given twice ({options[key]!r} and {value!r}); give it once")
        options[key] = value
    return options


def short_patterns(names: Iterable[str]) -> tuple[str, ...]:
    """Write chosen probes as few words: axes and families where they are whole, else names.

    >>> short_patterns(["vflip", "rotate-10", "rotate-5", "rotate+5", "rotate+10"])
    ('vflip', 'rotation')
    """
    wanted = set(names)
    chosen = {probe.name: probe for probe in catalogue() if probe.name in wanted}
    patterns: list[str] = []
    while chosen:
        first = next(iter(chosen.values()))
        pattern, meant = first.name, {first.name}
        for wider in ("all", "default", "directional", first.selector or first.axis.value, first.family):
            found = {probe.name for probe in select([wider])}
            if len(found) > 1 and found <= chosen.keys():
                pattern, meant = wider, found
                break
        patterns.append(pattern)
        chosen = {name: probe for name, probe in chosen.items() if name not in meant}
    return tuple(patterns)


def absolute(reference: str) -> str:
    """An evaluator's reference with its file named from the root, so that it means the same from anywhere."""
    reference = the_metric(reference)
    if names_code(reference):
        return absolute_code(reference)
    if reference.endswith(".json"):
        return str(Path(reference).expanduser().absolute())
    base, at, checkpoint = reference.partition("@")
    path = Path(checkpoint).expanduser()
    return f"{base}@{path.absolute()}" if at and path.exists() else reference
