"""``report`` as a shell calls it."""

from pathlib import Path

import pytest

from core.commands._shared import Code
from core.report.document import FORMATS, parse_signature
from core.settings import ROOT
from tests.analysis.made_runs import audited, write_run
from tests.commands.calling import Invoke

DEMO = ROOT / "data" / "results" / "demo"


@pytest.mark.whole
def test_a_run_is_reported_in_every_format_with_its_signature(invoke: Invoke, tmp_path: Path) -> None:
    done = invoke("report", DEMO, "-o", tmp_path / "out", "--drawings", "--tables", "all")
    assert done.exit_code == Code.OK
    signature, summary = done.stdout.splitlines()
    assert parse_signature(signature)["runs"] == ["demo"]
    assert "11 tables to read, 55 as data" in summary
    assert all((tmp_path / "out" / name).is_file() for name in FORMATS.values())
    assert signature in (tmp_path / "out" / "report.md").read_text("utf-8")
    assert "left out: It compares corpora and the scope has one, demo (T9, T10, T11)." in done.stderr
    assert len(list((tmp_path / "out" / "figures").glob("*.svg"))) == 30 + 1


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A run of a few items, which is reported in seconds."""
    return write_run(tmp_path / "small", audited("vflip", "rotate-5", "rotate+5", items=12))


def test_only_the_formats_asked_for_are_written(invoke: Invoke, tmp_path: Path, small: Path) -> None:
    told = ("-o", tmp_path / "out", "--format", "latex", "--no-encoders")
    assert invoke("report", small, *told).exit_code == Code.OK
    assert sorted(path.suffix for path in (tmp_path / "out").glob("report.*")) == [".tex"]
    assert {path.suffix for path in (tmp_path / "out" / "figures").iterdir()} == {".pdf"}


def test_a_folder_that_holds_files_is_left_alone_unless_told(invoke: Invoke, tmp_path: Path, small: Path) -> None:
    mine = tmp_path / "out" / "mine.txt"
    mine.parent.mkdir()
    mine.write_text("mine")
    told = ("-o", mine.parent, "--format", "md", "--no-encoders")
    refused = invoke("report", small, *told)
    assert refused.exit_code == Code.BAD_INPUT
    assert "holds files" in refused.stderr
    assert [path.name for path in mine.parent.iterdir()] == ["mine.txt"]
    assert invoke("report", small, *told, "--overwrite").exit_code == Code.OK
    assert mine.read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("report", "nothing-here"), "no run 'nothing-here' here; there are: none yet"),
        (("report", DEMO, "--format", "pdf"), "--format knows md, html, latex, got 'pdf'"),
        (("report", DEMO, "--tables", "most"), "--tables knows paper and all, got 'most'"),
        (("report", DEMO, "--subject", "human"), "no subject 'human' is open; there are: template"),
        (("report", ROOT / "docs"), "holds no run"),
    ],
)
def test_what_cannot_be_reported_is_said(invoke: Invoke, arguments: tuple[object, ...], problem: str) -> None:
    done = invoke(*arguments)
    assert done.exit_code == Code.BAD_INPUT
    assert problem in done.stderr
    assert not Path("report-demo").exists()
