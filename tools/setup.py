"""Set Invariscope up in its own virtual environment; a second call changes nothing and takes an instant.

Standard library only, and no syntax newer than Python 3.8, so that an old Python can say what is wrong.

    python3 tools/setup.py            # what the pages and the command line need
    python3 tools/setup.py --dev      # and what the tests and checks need

``INVARISCOPE_VENV`` names another folder than ``.venv``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST, NEWEST = (3, 11), (3, 14)
UV = "uv==0.13.8"
NEEDED_GB = 8.0
"""Room for the environment: 6.6 GB installed, the rest for the downloads while they are unpacked."""

LOCK, DEV_LOCK = "requirements-lock.txt", "requirements-dev-lock.txt"
"""All that is installed, every file by its hash: what running needs, and what testing needs with it."""

PROJECT = "pyproject.toml"
STAMP = ".invariscope.json"

DISK_FULL = r"no space left|disk quota exceeded|os error 28"
UNREACHABLE = (
    r"name resolution|dns error|error sending request|failed to (fetch|download)|connection (refused|reset|error)"
    r"|newconnectionerror|network is unreachable|timed? ?out|tunnel connection failed"
)
CAUSES = (
    (DISK_FULL, "the disk is full: free about 8 GB"),
    (r"read-only file system|permission denied", "a folder cannot be written: choose another with INVARISCOPE_VENV"),
    (r"certificate", "the package index is not trusted: check the clock and the certificates of this machine"),
    (
        UNREACHABLE,
        "the package index cannot be reached: check the network or the proxy (PIP_INDEX_URL names a mirror)",
    ),
    (r"hash(es)? (do not|mismatch)|do not match the hashes", "a download arrived damaged: check the network"),
    (
        r"no matching distribution|no solution found|no wheels? |not a supported wheel|wheel for the current platform",
        "a package has no build for this system or Python, or the index does not hold it: try another Python",
    ),
)
"""What installers print -> the likely cause and what to do, the first match counts."""


class SetupFailed(Exception):
    """One sentence for the person at the keyboard."""


def say(sentence: str) -> None:
    """Write one line at once, so that it stands before what a child process prints."""
    sys.stdout.write(sentence + "\n")
    sys.stdout.flush()


def version_fits(version: tuple[int, int]) -> bool:
    """Whether Invariscope runs on this (major, minor) version of Python."""
    return OLDEST <= version <= NEWEST


def version_of(interpreter: str) -> tuple[int, int] | None:
    """Ask an interpreter for its (major, minor) version; None where it does not start (a dangling shim)."""
    try:
        answer = subprocess.run(
            [interpreter, "-c", "import sys; print(*sys.version_info[:2])"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=30,
            check=True,
        )
        major, minor = answer.stdout.split()
        return int(major), int(minor)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def find_interpreter(
    current: str = sys.executable,
    which: Callable[[str], str | None] = shutil.which,
    version: Callable[[str], tuple[int, int] | None] = version_of,
) -> str:
    """Return a Python that fits: the current one, else the first of 3.11 … 3.14 that starts.

    Raises:
        SetupFailed: where none fits.
    """
    names = ["python%d.%d" % (OLDEST[0], minor) for minor in range(OLDEST[1], NEWEST[1] + 1)]  # noqa: UP031
    candidates = [current, *(which(name) for name in [*names, "python3", "python"])]
    for candidate in filter(None, candidates):
        found = version(candidate)
        if found is not None and version_fits(found):
            return candidate
    have = version(current) if current else None
    raise SetupFailed(
        f"Invariscope needs Python {_dotted(OLDEST)} to {_dotted(NEWEST)}, and this is {_dotted(have)}: "
        f"install one (python.org, apt-get install python3.11, pyenv install 3.11) and run the same command again"
    )


def check_disk(folder: Path, *, installed: bool, free_bytes: int | None = None, needed_gb: float = NEEDED_GB) -> None:
    """Complain before anything is fetched if the disk cannot hold it.

    Args:
        folder: the environment, which may not exist yet.
        installed: whether the large packages are there already, so that little is left to fetch.

    Raises:
        SetupFailed: with how much is free and how much is needed.
    """
    needed = 0.5 if installed else needed_gb
    free = free_bytes if free_bytes is not None else shutil.disk_usage(existing_parent(folder)).free
    if free < needed * 1e9:
        raise SetupFailed(
            f"the disk that holds {folder} has {free / 1e9:.1f} GB free and set-up needs about {needed:.1f} GB "
            f"(PyTorch brings its CUDA libraries): free some, or set INVARISCOPE_VENV to a folder on a larger disk"
        )


def existing_parent(folder: Path) -> Path:
    """The folder itself or the closest one above it that exists."""
    for path in (folder, *folder.parents):
        if path.exists():
            return path
    return Path(folder.anchor)


def requirement_files(root: Path, *, dev: bool) -> list[Path]:
    """Files that decide what is installed; the stamp is their hash.

    Raises:
        SetupFailed: where one is missing.
    """
    files = [root / PROJECT, root / LOCK, *([root / DEV_LOCK] if dev else [])]
    for path in files:
        if not path.is_file():
            raise SetupFailed(f"{path} is missing: this is not a complete checkout of Invariscope, clone it again")
    return files


def wanted_stamp(root: Path, python: Path, *, dev: bool) -> dict[str, str]:
    """What the stamp says when nothing is left to do."""
    digest = hashlib.sha256()
    for path in requirement_files(root, dev=dev):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return {"requirements": digest.hexdigest(), "python": str(python)}


def up_to_date(venv: Path, root: Path, *, dev: bool) -> bool:
    """Whether the environment holds what the requirement files ask for (``--dev`` includes the rest)."""
    python = python_of(venv)
    try:
        stamps = json.loads((venv / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    if not python.exists() or not isinstance(stamps, dict):
        return False
    kinds = ("dev",) if dev else ("run", "dev")
    return any(
        stamps.get(kind) == wanted_stamp(root, python, dev=kind == "dev")
        for kind in kinds
        if kind == "run" or (root / DEV_LOCK).is_file()
    )


def write_stamp(venv: Path, root: Path, *, dev: bool) -> None:
    """Record what was installed, in one step: a killed set-up never looks finished."""
    kind = "dev" if dev else "run"
    text = json.dumps({kind: wanted_stamp(root, python_of(venv), dev=dev)}, indent=1)
    temporary = venv / (STAMP + ".tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(venv / STAMP)


def python_of(venv: Path) -> Path:
    """The interpreter of an environment."""
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def make_venv(venv: Path, interpreter: str) -> None:
    """Create the environment, or keep the one that works.

    Raises:
        SetupFailed: where the folder holds something else, or Python lacks its venv module.
    """
    if venv.exists() and any(venv.iterdir()) and not (venv / "pyvenv.cfg").is_file():
        raise SetupFailed(f"{venv} is not a virtual environment: move it away, or name another with INVARISCOPE_VENV")
    found = version_of(str(python_of(venv))) if python_of(venv).exists() else None
    if found is not None and version_fits(found):
        return
    if subprocess.run([interpreter, "-c", "import venv, ensurepip"], stderr=subprocess.DEVNULL).returncode:
        raise SetupFailed(
            f"{interpreter} has no venv module: on Debian and Ubuntu run "
            f"'sudo apt-get install python{_dotted(version_of(interpreter))}-venv' and the same command again"
        )
    say(f"creating {venv} with Python {_dotted(version_of(interpreter))}")
    code, output = run_and_watch([interpreter, "-m", "venv", "--clear", str(venv)])
    if code:
        raise SetupFailed(explain(output, f"{venv} could not be created"))


def install(venv: Path, root: Path, *, dev: bool) -> None:
    """Install the pinned packages, and the checkout as the command ``invariscope``, with uv, or pip where uv cannot.

    Raises:
        SetupFailed: with the likely cause.
    """
    python = str(python_of(venv))
    if subprocess.run([python, "-c", "import pip"], stderr=subprocess.DEVNULL).returncode:
        run_and_watch([python, "-m", "ensurepip", "--upgrade"])
    pip = [python, "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    steps = (
        ["--require-hashes", "--no-deps", "-r", str(root / (DEV_LOCK if dev else LOCK))],
        ["--no-deps", "--no-build-isolation", "-e", str(root)],  # setuptools came by its hash
    )
    say("installing the packages (about 6.6 GB the first time, mostly PyTorch and its CUDA libraries)")
    code, output = run_and_watch([*pip, "--retries", "2", UV], show=False)
    if code == 0:
        code, output = _all(steps, [python, "-m", "uv", "pip", "install", "--python", python])
        if code == 0:
            return
    elif re.search(UNREACHABLE, output, re.IGNORECASE):  # pip would meet the same closed door again
        raise SetupFailed(explain(output, "the packages could not be fetched"))
    if re.search(DISK_FULL, output, re.IGNORECASE):
        raise SetupFailed(explain(output, "the packages could not be installed"))
    say("uv could not install them; trying pip")
    code, output = _all(steps, pip)
    if code:
        raise SetupFailed(explain(output, "the packages could not be installed"))


def _all(steps: Sequence[list[str]], installer: list[str]) -> tuple[int, str]:
    """Have an installer take one step after another; the exit code and the text of the last that it took."""
    code, output = 0, ""
    for step in steps:
        if code == 0:
            code, output = run_and_watch([*installer, *step])
    return code, output


def run_and_watch(command: list[str], *, show: bool = True) -> tuple[int, str]:
    """Run a command, show what it prints as it comes, and return its exit code with the text."""
    lines = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                lines.append(line)
                if show:
                    say(line.rstrip("\n"))
        except BaseException:  # interrupted: do not leave an installer behind
            process.terminate()
            raise
    return process.returncode, "".join(lines)


def explain(output: str, what: str) -> str:
    """Turn an installer's output into one sentence: what failed, the likely cause, what to do."""
    for pattern, cause in CAUSES:
        if re.search(pattern, output, re.IGNORECASE):
            return f"{what}, because {cause}, and run the same command again"
    last = next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "it said nothing")
    return f"{what}; the installer's last words: {last}"


def _dotted(version: tuple[int, int] | None) -> str:
    return ".".join(map(str, version)) if version else "unknown"


def set_up(root: Path, venv: Path, *, dev: bool) -> None:
    """Bring the environment to what the requirement files ask for."""
    if up_to_date(venv, root, dev=dev):
        return
    interpreter = find_interpreter()
    requirement_files(root, dev=dev)
    check_disk(venv, installed=any(venv.glob("[Ll]ib/**/site-packages/torch/__init__.py")))
    make_venv(venv, interpreter)
    install(venv, root, dev=dev)
    write_stamp(venv, root, dev=dev)
    say(f"set up in {venv}")


def main(arguments: list[str] | None = None, *, root: Path = ROOT) -> int:
    """Run the set-up; returns the exit code."""
    parser = argparse.ArgumentParser(description="Set Invariscope up in its own virtual environment.")
    parser.add_argument("--dev", action="store_true", help="also what the tests and checks need")
    parser.add_argument("--check-browser", action="store_true", help="also say whether Chromium is there")
    parser.add_argument("--venv", help="folder of the environment; default: INVARISCOPE_VENV, else .venv")
    parser.add_argument("--force", action="store_true", help="install again although nothing changed")
    chosen = parser.parse_args(arguments)
    venv = Path(chosen.venv or os.environ.get("INVARISCOPE_VENV") or root / ".venv").absolute()
    try:
        if chosen.force:
            (venv / STAMP).unlink(missing_ok=True)
        set_up(root, venv, dev=chosen.dev)
    except SetupFailed as error:
        sys.stderr.write(f"set-up stopped: {error}\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"set-up stopped: {explain(str(error), 'a file could not be written')}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("set-up interrupted; run the same command again, it goes on where it stopped\n")
        return 130
    if chosen.check_browser:
        subprocess.run([str(python_of(venv)), "-m", "core", "doctor", "--only", "browser"], cwd=str(root), check=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
