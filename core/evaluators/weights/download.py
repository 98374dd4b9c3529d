"""Fetching published weights: written aside, checked, renamed; an interrupted one goes on where it stopped."""

import glob
import os
import secrets
import shutil
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from core.errors import InvalidInput, NotAvailable, StoreError
from core.evaluators.weights.catalogue import WeightFile, Weights
from core.evaluators.weights.fetched import numbered_parts, usual
from core.file_contents import known_sha256
from core.writing import cannot_write, is_full, take_place

MOST_BYTES = 16 * 2**30  # a file larger than this is refused: no evaluator of the catalogue comes near it
TIMEOUT_S = 30.0
_SUFFIX = ".part"
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
Progress = Callable[[int, int], None]  # bytes so far, and in all; 0 where the server does not say


def fetch(known: Weights, progress: Progress | None = None) -> Path:
    """Bring a set of weights onto this machine. Raises NotAvailable if the publisher cannot be reached, answers
    something else, or only a person can fetch it; one sentence with the address and the place on disk."""
    if why := refusal(known):
        raise NotAvailable(why)
    target = usual(known)
    target.parent.mkdir(parents=True, exist_ok=True)
    if known.kind == "hub":
        from huggingface_hub import logging as hub_logging

        hub_logging.set_verbosity_error()  # what goes wrong is said below, once
        folder = target if len(known.files) > 1 else target.parent
        files, done = list(known.files), 0
        while done < len(files):
            _one_of_hub(known, files[done], folder)
            done += 1
            if progress is not None:
                progress(done, len(files))
            if done == len(known.files):  # an index among them names further parts
                files += [WeightFile(name=name) for name in numbered_parts(folder)]
        return target
    assert known.url is not None
    sha256 = known.files[0].sha256
    if not target.is_file() or (sha256 is not None and known_sha256(target) != sha256):
        download(known.url, target, sha256=sha256, progress=progress)
    return target


def refusal(known: Weights) -> str:
    """Why no command can fetch a set of weights and what to do, in one sentence; empty where one can."""
    there = f"run the command again with --weights PATH, or put it at {usual(known)}"
    reasons = {
        "page": f"only a person can fetch {known.files[0].name}; save it from {known.where} and {there}",
        "unpublished": f"no address is published ({known.where} announces it); whoever was given it can {there}",
        "made": f"no weights are public; make them with: {known.command}",
    }
    return f"{known.title}: {reasons[known.kind]}" if known.kind in reasons else ""


def download(
    url: str, target: Path, *, sha256: str | None = None, most_bytes: int = MOST_BYTES, progress: Progress | None = None
) -> None:
    """Fetch one file over https (or from this machine, over http). What arrives is written beside the target under a
    name that nobody can foresee; where this user's part of an earlier download is there, the rest is asked for.
    Raises InvalidInput for another kind of address; NotAvailable if the server cannot be reached, sends a web page, too
    much, too little or other bytes than published; StoreError if the disk has no room, or the target is no file."""
    _check_address(url)
    # the part that this user left, else a new name; what another user or a link put there is not taken for one
    part = target.with_name(f".{target.name}.{secrets.token_hex(16)}{_SUFFIX}")
    for each in sorted(target.parent.glob(f".{glob.escape(target.name)}.*{_SUFFIX}"), reverse=True):
        with suppress(OSError):
            part = each if _is_ours(each.lstat()) else part
    try:
        _stream(url, part, most_bytes, progress)
    except StoreError:
        raise
    except (HTTPError, URLError, OSError) as error:
        if is_full(error):
            raise StoreError(cannot_write(target, error)) from error
        reason = getattr(error, "reason", None) or error
        raise NotAvailable(f"{url} cannot be fetched ({reason}); fetch it elsewhere and put it at {target}") from error
    found = known_sha256(part)
    if sha256 and found != sha256:
        part.unlink()
        raise NotAvailable(f"{url} gave a file with sha256 {found[:16]}…, published {sha256[:16]}…; it was not kept")
    with part.open("rb") as stream:
        if stream.read(256).lstrip().lower().startswith((b"<!doctype", b"<html")):
            part.unlink()
            raise NotAvailable(f"{url} gave a web page, not weights; open it in a browser and put the file at {target}")
    take_place(part, target)


def _opened(part: Path, *, resumed: bool) -> IO[bytes]:
    """Open a part to append to, or a new one in its place; a link is never followed, nor a foreign file written.
    Raises OSError where something else took the name meanwhile."""
    if not resumed:
        part.unlink(missing_ok=True)
    how = os.O_APPEND if resumed else os.O_CREAT | os.O_EXCL
    handle = os.open(part, os.O_WRONLY | how | _NO_LINK, 0o666)
    if not _is_ours(os.fstat(handle)):
        os.close(handle)
        raise OSError(f"{part} is not a file of this user alone; remove it")
    return os.fdopen(handle, "ab")


def _is_ours(found: os.stat_result) -> bool:
    user = os.geteuid() if hasattr(os, "geteuid") else found.st_uid
    return stat.S_ISREG(found.st_mode) and found.st_uid == user and found.st_nlink == 1


def _stream(url: str, part: Path, most_bytes: int, progress: Progress | None) -> None:
    done = part.stat().st_size if part.is_file() else 0
    request = Request(url, headers={"User-Agent": "invariscope", **({"Range": f"bytes={done}-"} if done else {})})
    try:
        answer = build_opener(_OnlyHttps).open(request, timeout=TIMEOUT_S)
    except HTTPError as error:
        if error.code == 416 and done:  # nothing is left to send: the part is whole, or of another file
            error.close()
            return
        error.close()
        raise
    with answer:
        resumed = answer.status == 206
        done = done if resumed else 0
        told = int(answer.headers.get("Content-Length") or 0)
        total = told + done if told else 0
        if total > most_bytes:
            raise NotAvailable(f"{url} has {total:,} bytes, more than the {most_bytes:,} that are taken; not fetched")
        free = shutil.disk_usage(part.parent).free
        if total - done > free:
            why = f"{part.parent} has {free:,} bytes free and the file needs {total - done:,}; make room first"
            raise StoreError(why)
        with _opened(part, resumed=resumed) as stream:
            while block := answer.read(2**20):
                done += len(block)
                if done > most_bytes:
                    raise NotAvailable(f"{url} sends more than the {most_bytes:,} bytes that are taken; stopped")
                stream.write(block)
                if progress is not None:
                    progress(done, total)
    if total and done < total:
        raise OSError(f"the connection ended after {done:,} of {total:,} bytes; run the command again to go on")


def _one_of_hub(known: Weights, each: WeightFile, folder: Path) -> None:
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    assert known.repository is not None
    try:
        path = hf_hub_download(
            known.repository, each.name, revision=known.revision, local_dir=folder, library_name="invariscope"
        )
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        if is_full(error):
            raise StoreError(cannot_write(folder / each.name, error)) from error
        status = getattr(getattr(error, "response", None), "status_code", None)
        if status == 404 and each.optional:
            return
        why = "the hub refuses it" if status in (401, 403) else f"answer {status}" if status else "no network"
        listed = ", ".join(file.name for file in known.files)
        raise NotAvailable(
            f"{each.name} of {known.repository} cannot be fetched ({why}); fetch the files {listed} from "
            f"{known.where} elsewhere and put them into {folder}"
        ) from error
    if each.sha256 and known_sha256(Path(path)) != each.sha256:
        Path(path).unlink()
        raise NotAvailable(f"{each.name} of {known.repository} is not the file that was published; it was not kept")


class _OnlyHttps(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: object, code: int, msg: str, headers: object, newurl: str
    ) -> Request | None:
        _check_address(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]


def _check_address(url: str) -> None:
    parts = urlsplit(url)
    local = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")
    if parts.scheme != "https" and not local:
        raise InvalidInput(f"weights are fetched over https, got {url!r}; correct the address")
