"""Personal links: a token that nobody can guess, kept nowhere in the clear.

The log holds the sha256 of a token, so a log that is handed around opens nothing. A token is the HMAC of the
annotator and a random nonce under the study's secret: whoever can read the secret (the coordinator's server) can
show a link again, and nobody else can make one. The secret lies beside the log, readable by its owner only; without
it the links still work, and only showing them needs a new one.
"""

import base64
import hashlib
import hmac
import os
import re
import secrets
from pathlib import Path

from core.errors import StoreError

SECRET = "secret"
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")


def write_secret(folder: Path) -> None:
    """Make the secret of a new study, readable by its owner only; raises StoreError if it cannot be written, or there
    is one already."""
    path = folder / SECRET
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_urlsafe(32))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or error}; check the folder") from error


def read_secret(folder: Path) -> str | None:
    """The secret of a study, or None where it is gone."""
    try:
        return (folder / SECRET).read_text("ascii").strip() or None
    except (OSError, ValueError):
        return None


def new_nonce() -> str:
    """Random part of one invitation."""
    return secrets.token_urlsafe(16)


def make_token(secret: str, annotator: str, nonce: str) -> str:
    """Token of one invitation: 43 characters, 256 bits."""
    digest = hmac.new(secret.encode(), f"{annotator}\x1f{nonce}".encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def digest(token: str) -> str:
    """What the log keeps of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def well_formed(token: object) -> bool:
    """Whether a text could be a token at all."""
    return isinstance(token, str) and _TOKEN.fullmatch(token) is not None
