"""Reading every byte of runs and published files and saying whether they are what they were closed with."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import duckdb

from core.errors import InvalidInput, StoreError
from core.store.published_runs import attach
from core.store.run_files import COMPLETE, MANIFEST, Run, half_runs, read_again, read_run, run_folders
from core.store.seal import LATER, with_seal
from core.store.text_files import write_json
from core.store.whole import NotWhole, check_tables, sealed_files, shard_files, why_not_whole, why_unreadable

WHOLE, UNVERIFIED, UNFINISHED, DAMAGED = "whole", "unverified", "unfinished", "damaged"
"""States: as it was sealed; readable and of its counts, without a seal; not closed yet; anything else."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found of one run."""

    run: str  # its id; the file's name where no run of it can be read
    path: Path  # run folder or published file
    state: str  # WHOLE, UNVERIFIED, UNFINISHED or DAMAGED
    sealed: str | None = None  # when its seal was made, in UTC; None without one
    by: str | None = None  # who made the seal, of :data:`core.store.seal.BY`
    files: int = 0  # that were read
    problems: tuple[str, ...] = ()  # a sentence each

    def as_dict(self) -> dict[str, Any]:
        """Plain dictionary, for JSON."""
        return {**asdict(self), "path": str(self.path), "problems": list(self.problems)}


def verify(path: Path) -> tuple[Verdict, ...]:
    """Read every file of a run folder, a published file, or every one of both in a folder. Raises InvalidInput if
    nothing there is a run."""
    if path.is_file():
        return tuple(_published(path))
    folders = run_folders(path)
    found = [_folder(folder) for folder in folders]
    if path not in folders:
        for file in sorted(path.glob("*.duckdb")) if path.is_dir() else ():
            found += _published(file)
        for half in half_runs(path) if path.is_dir() else ():
            found.append(Verdict(half.name, half, DAMAGED, problems=(f"{half} holds scores and no {MANIFEST}",)))
    if not found:
        raise InvalidInput(f"there is no run at {path}; name a run folder, a .duckdb file, or a folder of them")
    return tuple(found)


def seal_later(folder: Path) -> Run:
    """Seal a complete run that has no seal: from now on a change is seen; nothing is said of the time before.

    Raises:
        InvalidInput: if it is sealed, unfinished, or no run folder.
        StoreError: if it is not whole, or its manifest cannot be written.
    """
    verdict = verify(folder)[0] if (folder / MANIFEST).is_file() else None
    if verdict is None:
        raise InvalidInput(f"{folder} is no run folder; a published file is sealed by publishing it again")
    if verdict.problems:
        raise StoreError(verdict.problems[0])
    if verdict.state != UNVERIFIED:
        why = f"was sealed on {verdict.sealed}" if verdict.state == WHOLE else "is not complete; start it again first"
        raise InvalidInput(f"run {verdict.run} {why}: only a complete run without a seal is sealed")
    run = read_run(folder)
    files = sealed_files(folder, run.schema_version)
    write_json(folder / MANIFEST, with_seal(run.manifest, by=LATER, files=files))
    return read_run(folder)


def _folder(folder: Path) -> Verdict:
    try:
        run = read_run(folder)
    except StoreError as error:
        return Verdict(folder.name, folder, DAMAGED, problems=(str(error),))
    problems = _file_problems(run)
    if not problems and (why := why_not_whole(run)):
        problems.append(why)
    return _verdict(run, len(shard_files(folder, run.schema_version)) + 1, problems)


def _file_problems(run: Run) -> list[str]:
    parts = (run.seal.files if run.seal is not None else None) or {}
    there = shard_files(run.path, run.schema_version)
    found = [f"{run.path / name} is missing; put it back from a copy" for name in parts if name not in there]
    for name, path in there.items():
        if parts and name not in parts:
            found.append(f"{path} is none of its files; move it out of the folder")
            continue
        sha256 = parts[name].sha256 if name in parts else None
        problem = read_again(path, name.partition("/")[0], run.id, version=run.schema_version, sha256=sha256)
        found += [] if problem is None else [problem]
    return found


def _published(path: Path) -> Iterator[Verdict]:
    if why := why_unreadable(path):
        yield Verdict(path.name, path, DAMAGED, files=1, problems=(f"{path} is damaged ({why}); publish it again",))
        return
    with duckdb.connect(":memory:") as connection:
        try:
            version, runs = attach(connection, path, "file")
        except StoreError as error:
            yield Verdict(path.name, path, DAMAGED, files=1, problems=(str(error),))
            return
        try:
            check_tables(connection, "file", path, version, runs, full=True)
        except NotWhole as error:
            yield Verdict(path.name, path, DAMAGED, files=1, problems=(str(error),))
            return
    for run in runs:
        yield _verdict(run, 1, [])


def _verdict(run: Run, files: int, problems: list[str]) -> Verdict:
    state = DAMAGED if problems else UNFINISHED if run.status != COMPLETE else WHOLE if run.verified else UNVERIFIED
    seal = run.seal
    return Verdict(
        run.id,
        run.path,
        state,
        None if seal is None else seal.sealed,
        None if seal is None else seal.by,
        files,
        tuple(problems),
    )
