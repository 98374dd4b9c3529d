"""Every document against the house: links, paths, commands, settings and names that it states exist."""

import doctest
import importlib
import re
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
import yaml

from bench.__main__ import MEASUREMENTS
from core import __version__
from core.__main__ import app
from core.corpora.schema import Item
from core.evaluators import registry as evaluators
from core.evaluators.network.endpoint import MODELS, PREFIX, Endpoint
from core.probes import registry as probes
from core.probes.base import Axis, Variant
from core.registry import load_object
from core.scoring.workbench import Workbench

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted(
    path for pattern in ("*.md", "docs/**/*.md", "assets/**/*.md", "data/demo/*.md") for path in ROOT.glob(pattern)
)
TEXTS = {path: path.read_text(encoding="utf-8") for path in DOCUMENTS}
FOLDERS = "core|pages|tests|tools|bench|siege|assets|docs"

every_document = pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))


def text_of(name: str) -> str:
    return TEXTS[ROOT / name]


def section(name: str, title: str) -> str:
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", text_of(name), flags=re.M | re.S)
    assert found, f"{name} has no section {title!r}"
    return found.group(1)


def anchors(path: Path) -> set[str]:
    """Anchors of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", TEXTS[path], flags=re.S), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@every_document
def test_every_link_leads_to_a_file_and_to_a_heading_of_it(path: Path) -> None:
    for target, anchor in re.findall(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)", TEXTS[path]):
        there = (path.parent / target).resolve() if target else path
        assert there.exists(), f"{path.name} links to {target}"
        assert not anchor or anchor in anchors(there), f"{path.name} links to #{anchor} of {there.name}"


@every_document
def test_every_path_named_exists(path: Path) -> None:
    named = re.findall(rf"`((?:{FOLDERS})/[^`\s]*|\w+\.py)`", TEXTS[path])
    here = [name for name in named if "/" in name or (ROOT / name).exists()]
    assert [name for name in here if "NAME" not in name and not (ROOT / name).exists()] == []


@every_document
def test_every_make_target_named_exists(path: Path) -> None:
    targets = set(re.findall(r"^(\w[\w-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M))
    assert set(re.findall(r"(?:`|^)make (\w+)", TEXTS[path], flags=re.M)) <= targets


def calls(text: str) -> Iterator[list[str]]:
    """Every call of the command line that a document shows, as its words."""
    for line in re.findall(r"python -m core ([^`\n#]+)", text):
        yield line.split("|")[0].split()


@cache
def command_line() -> Any:
    return typer.main.get_command(app)


def resolved(words: list[str]) -> tuple[Any, list[str]]:
    """The command that the first words name, and the rest."""
    command = command_line()
    while words and words[0] in getattr(command, "commands", {}):
        command, words = command.commands[words[0]], words[1:]
    return command, words


@every_document
def test_every_command_and_option_shown_is_known(path: Path) -> None:
    for words in calls(TEXTS[path]):
        command, rest = resolved(words)
        assert len(rest) < len(words) or words[0].startswith("-"), f"no command {words[0]!r}"
        known = {name for each in command.params for name in (*each.opts, *each.secondary_opts)} | {"--help", "-h"}
        assert {word.split("=")[0] for word in rest if re.match(r"--?[a-z]", word)} <= known, " ".join(words)


def test_a_command_that_does_not_exist_would_be_found() -> None:
    assert resolved(["evaluators", "get", "x"])[1] == ["x"]
    assert resolved(["evaluate", "x"])[1] == ["evaluate", "x"]


@every_document
def test_every_measurement_named_exists(path: Path) -> None:
    assert set(re.findall(r"python -m bench ([a-z]\w*)", TEXTS[path])) <= set(MEASUREMENTS)
    assert all((ROOT / "bench" / f"{name}.py").exists() for name in re.findall(r"-m bench\.(\w+)", TEXTS[path]))


def test_the_measurements_are_all_named() -> None:
    named = re.findall(r"`(\w+)`", text_of("docs/benchmarks.md").partition("## ")[0])
    assert [name for name in named if name in MEASUREMENTS] == list(MEASUREMENTS)


@pytest.fixture(scope="module")
def variables() -> set[str]:
    """Environment variables that the code names."""
    code = [
        each.read_text(encoding="utf-8")
        for folder in ("core", "pages", "bench", "tools", "tests")
        for each in (ROOT / folder).rglob("*.py")
        if each != Path(__file__)
    ]
    own = {f"{PREFIX}{each.name.upper()}" for each in fields(Endpoint)}
    return own.union(*(re.findall(r"INVARISCOPE_[A-Z_]+[A-Z]", each) for each in code))


@every_document
def test_every_variable_named_is_read_somewhere(path: Path, variables: set[str]) -> None:
    assert set(re.findall(r"INVARISCOPE_[A-Z_]+[A-Z]", TEXTS[path])) <= variables


def test_every_setting_of_the_network_judge_is_explained() -> None:
    told = set(re.findall(rf"{PREFIX}[A-Z_]+", section("docs/evaluators.md", "A judge over the network")))
    assert told == {f"{PREFIX}{each.name.upper()}" for each in fields(Endpoint)} | {MODELS}


def test_every_registered_evaluator_is_listed_and_every_listed_one_is_registered() -> None:
    tables = section("docs/evaluators.md", "Without a download") + section(
        "docs/evaluators.md", "On their publishers' weights"
    )
    listed = {name for row in re.findall(r"^\| (`.*?) \|", tables, flags=re.M) for name in row.split(", ")}
    assert {name.strip("`") for name in listed} == set(evaluators.catalogue().names())


def test_every_family_listed_is_registered() -> None:
    rows = re.findall(
        r"^\| (?:spatial|societal|null|lexical|semantic|object) \| (.*?) \|",
        section("docs/words.md", "Probes"),
        flags=re.M,
    )
    listed = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    assert listed
    assert listed <= {probe.family for probe in probes.catalogue()}


def test_every_directional_family_has_its_sentence_and_its_source() -> None:
    asked = {probe.family for probe in probes.catalogue() if probe.axis in (Axis.LEXICAL, Axis.SEMANTIC, Axis.OBJECT)}
    rows = re.findall(
        r"^\| (?:lexical|semantic|object) \| (.*?) \| .+? \| .+? \|$", section("docs/words.md", "Probes"), flags=re.M
    )
    assert {name for row in rows for name in re.findall(r"`([^`]+)`", row)} == asked


def test_every_family_of_the_grid_is_listed() -> None:
    grid = {probe.family for probe in probes.catalogue() if probe.default and probe.family != "base"}
    assert grid <= set(re.findall(r"`([^`]+)`", section("docs/words.md", "Probes")))


def test_the_probe_shown_makes_a_variant(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", section("CONTRIBUTING.md", "Add a probe"), flags=re.S)
    path = tmp_path / "frame.py"
    path.write_text(code, encoding="utf-8")
    made = Workbench(Item("white", "test", None, 100, 50), np.full((50, 100, 3), 255, np.uint8)).make(
        load_object(f"{path}:frame")  # type: ignore[arg-type]
    )
    assert isinstance(made, Variant)
    assert made.pixels is not None
    assert (made.pixels[0].max(), made.pixels[1, 1].min(), made.pixels[-1].max()) == (0, 255, 0)


SHOWN = sorted(path for path in (ROOT / "core").rglob("*.py") if ">>> " in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", SHOWN, ids=lambda path: path.stem)
def test_examples_in_docstrings_say_what_the_code_answers(path: Path) -> None:
    module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    failed, tried = doctest.testmod(module)
    assert tried
    assert not failed


def test_the_citation_names_this_version_and_its_licence() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert citation["cff-version"] == "1.2.0"
    code, _, images = project["license"].partition(
        " AND "
    )  # a wheel carries the demo images; the code is what is cited
    assert (citation["version"], citation["license"]) == (__version__, code)
    assert images == "GPL-2.0-or-later"
    assert citation["authors"] == [{"name": "The Invariscope authors"}]
    assert all(citation[name].strip() for name in ("message", "title", "abstract"))


def test_the_changelog_begins_with_this_version() -> None:
    first = re.search(r"^## (\S+)", text_of("CHANGELOG.md"), flags=re.M)
    assert first
    assert first[1] == __version__
