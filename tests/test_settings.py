"""Every variable of the environment that is read is a setting, and the table of settings holds it."""

import re
from pathlib import Path

import pytest

from core.evaluators.network.endpoint import MODELS, PREFIX, Endpoint
from core.settings import RETIRED, SETTINGS, unknown

ROOT = Path(__file__).resolve().parents[1]
READ = ("core", "pages", "tools", "bench", "tests", "app.py", "serve.py", "Makefile")
OF_TESTS = {"INVARISCOPE_COORDINATOR", "INVARISCOPE_XYZZY", "INVARISCOPE_VIEWER"}
NAME = re.compile(r"INVARISCOPE_[A-Z_]*[A-Z]\b(?!_)")


def test_what_is_read_is_known_and_what_is_known_is_read_or_the_judges() -> None:
    files = [
        file for place in READ for file in ((ROOT / place).rglob("*.py") if (ROOT / place).is_dir() else [ROOT / place])
    ]
    texts = [file.read_text(encoding="utf-8") for file in files]
    named = {name for text in texts for name in NAME.findall(text)} - {*RETIRED, *OF_TESTS, "INVARISCOPE_JUDGE"}
    assert named <= SETTINGS
    assert all(name.startswith("INVARISCOPE_JUDGE_") or name in named for name in SETTINGS)


def test_the_table_holds_every_setting() -> None:
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8").partition("## Settings")[2]
    judge = (ROOT / "docs" / "evaluators.md").read_text(encoding="utf-8")
    told = set(NAME.findall(text)) | {name for name in NAME.findall(judge) if "_JUDGE_" in name}
    assert told == SETTINGS


def test_every_setting_of_the_judge_is_one() -> None:
    fields = {f"{PREFIX}{name.upper()}" for name in Endpoint.__dataclass_fields__}
    assert {name for name in SETTINGS if name.startswith(PREFIX)} == fields | {MODELS}


def test_a_name_that_nothing_reads_is_told_with_what_it_may_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INVARISCOPE_COORDINATOR", "ada@example.org")
    monkeypatch.setenv("INVARISCOPE_XYZZY", "1")
    first, second = unknown()
    assert first.endswith("did you mean INVARISCOPE_COORDINATORS?")
    assert second == "INVARISCOPE_XYZZY is set, and no setting has this name"


def test_whatever_the_app_writes_stays_out_of_the_repository_and_the_image() -> None:
    """All of ``data`` but what ships: a new folder there needs no line of its own."""
    ships = {"demo", "results"}
    for name, lines in {
        ".gitignore": {"/data/*", *(f"!/data/{each}/" for each in ships)},
        ".dockerignore": {"data/*", *(f"!data/{each}" for each in ships)},
    }.items():
        told = (ROOT / name).read_text(encoding="utf-8").splitlines()
        assert {each for each in told if "data/" in each} == lines, name
