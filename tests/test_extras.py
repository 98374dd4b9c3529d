"""The optional extras: each list of files holds all that its packages need and requirements-lock.txt has not."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]


def pinned(text: str) -> dict[str, str]:
    return dict(re.findall(r"^([\w.\-]+)==([^\s;\\]+)", text, re.MULTILINE))


@pytest.mark.whole
@pytest.mark.parametrize("extra", EXTRAS)
def test_the_list_of_an_extra_installs_without_looking_for_more(extra: str, tmp_path: Path) -> None:
    lists = ROOT / "requirements-lock.txt", ROOT / f"requirements-{extra}.txt"
    (tmp_path / "asked.in").write_text("\n".join(EXTRAS[extra]), encoding="utf-8")
    words = [Path(sys.executable).with_name("uv"), "pip", "compile", "-q", "--universal", "--python-version", "3.11"]
    words += [option for path in lists for option in ("-c", path)]
    found = subprocess.run([*words, tmp_path / "asked.in"], cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    here = pinned("".join(path.read_text(encoding="utf-8") for path in lists))
    assert pinned(found.stdout).items() <= here.items()
