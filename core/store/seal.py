"""The seal of a run: what every file of it was when it was closed, kept in its manifest.

``seal`` of a manifest: ``algorithm`` (``sha256``), ``sealed`` (time in UTC), ``by`` (who closed it: BY), ``files`` of a
run folder (path below it -> bytes, rows, sha256) or ``tables`` of a published file (table -> rows, sha256 of their
content), and ``manifest``: the SHA-256 of the manifest itself without that last entry, as canonical JSON. It tells
damage, not a forger: who can write the run can seal it anew.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.errors import StoreError

SEAL = "seal"  # Entry of a manifest

ALGORITHM = "sha256"

AUDIT, IMPORT, LATER, PUBLISH = "audit", "import-scores", "verify", "publish"
BY = (AUDIT, IMPORT, LATER, PUBLISH)
"""Who sealed a run. LATER: after its close, so the seal says only that nothing changed since then."""

_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a run folder, or one table of a published file, as it was sealed."""

    rows: int  # in it
    sha256: str  # of the file's bytes, or of the table's content (:mod:`core.store.whole`)
    bytes: int | None = None  # of the file; None for a table

    def as_dict(self) -> dict[str, int | str]:
        """Plain dictionary, for manifests."""
        return {**({} if self.bytes is None else {"bytes": self.bytes}), "rows": self.rows, "sha256": self.sha256}


@dataclass(frozen=True, slots=True)
class Seal:
    """A seal as it was read."""

    sealed: str  # when, in UTC
    by: str  # one of BY
    files: Mapping[str, Part] | None  # path below the run folder -> file; None in a published file
    tables: Mapping[str, Part] | None  # table -> content; None in a run folder

    @property
    def told(self) -> str:
        """Since when a change would be seen, e.g. ``at its close`` or ``later, 2026-11-23T12:00:00Z``."""
        return f"later, {self.sealed}" if self.by == LATER else "at its close"


def with_seal(
    manifest: Mapping[str, Any],
    *,
    by: str,
    files: Mapping[str, Part] | None = None,
    tables: Mapping[str, Part] | None = None,
    sealed: str | None = None,
) -> dict[str, Any]:
    """Return a manifest that holds a new seal; exactly one of ``files`` and ``tables`` is given; ``sealed``: time in
    UTC since when a change would be seen; None: now."""
    parts = files if files is not None else tables
    assert parts is not None
    assert by in BY
    seal = {
        "algorithm": ALGORITHM,
        "sealed": sealed or datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "by": by,
        "files" if files is not None else "tables": {name: parts[name].as_dict() for name in sorted(parts)},
    }
    whole = {**without_seal(manifest), SEAL: seal}
    return {**whole, SEAL: {**seal, "manifest": manifest_digest(whole)}}


def without_seal(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest without its seal: what the run says of itself, wherever and whenever it was sealed."""
    return {name: value for name, value in manifest.items() if name != SEAL}


def manifest_digest(manifest: Mapping[str, Any]) -> str:
    """SHA-256 of a manifest as canonical JSON, without the digest that stands in it."""
    seal = {name: value for name, value in manifest[SEAL].items() if name != "manifest"}
    text = json.dumps({**manifest, SEAL: seal}, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def read_seal(manifest: Mapping[str, Any], path: Path) -> Seal | None:
    """The seal of a manifest, once it is known to be of this very manifest; None where it has none; ``path``: of the
    manifest or the published file, for the message. Raises StoreError if the manifest was changed since, or its seal is
    none that is known here."""
    if SEAL not in manifest:
        return None
    told = manifest[SEAL]
    if not isinstance(told, dict) or told.get("algorithm") != ALGORITHM or told.get("by") not in BY:
        raise StoreError(f"{path} has a seal that this Invariscope does not know; update it")
    if told.get("manifest") != manifest_digest(manifest):
        raise StoreError(
            f"{path} was changed since its run was closed: its own SHA-256 is another; put the old one back from a "
            f"copy, or take its entry {SEAL!r} out if you changed it yourself: the run then counts as unverified"
        )
    return Seal(str(told.get("sealed")), told["by"], _parts(told, "files", path), _parts(told, "tables", path))


def _parts(told: Mapping[str, Any], name: str, path: Path) -> dict[str, Part] | None:
    if name not in told:
        return None
    try:
        parts = {str(key): Part(**each) for key, each in told[name].items()}
    except (AttributeError, TypeError) as error:
        raise StoreError(f"{path} has a seal whose {name} cannot be read; put the manifest back from a copy") from error
    if not all(isinstance(each.rows, int) and _DIGEST.fullmatch(str(each.sha256)) for each in parts.values()):
        raise StoreError(f"{path} has a seal whose {name} cannot be read; put the manifest back from a copy")
    return parts
