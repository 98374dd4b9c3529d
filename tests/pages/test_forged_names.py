"""A run or published file whose evaluator is named as code: looking at it, on any page, runs none of it."""

from pathlib import Path

import pytest

from core.audit.run import run_audit
from core.corpora.registry import catalogue
from core.file_contents import file_sha256
from core.settings import runs_dir
from core.store.store import Store
from pages.views.common import access
from siege.forged import Stranger, forged_file, renamed
from tests.manifests import edit_manifest
from tests.pages.opening import CALIBRATION, GEOMETRY, LAB, OVERVIEW, UNFOLDED, Open, missing_told, said
from tests.plans import make_plan

PUBLISHED = pytest.mark.parametrize("published", [True, False], ids=["published", "folder"])
WHO = pytest.mark.parametrize(
    ("published", "viewer"),
    [(True, True), (False, True), (True, False), (False, False)],
    ids=["viewer-published", "viewer-folder", "operator-published", "operator-folder"],
)


EVIL = "kind-metric"
"""Name of a stranger's metric in a run whose manifest says which file it is."""


def forged(stranger: Stranger, *, published: bool, file: bool = False) -> str:
    """Lay out a run whose only scores are of a metric of the stranger's code; returns the name that it has there.

    Args:
        stranger: whose.
        published: as one file, else as a folder.
        file: the manifest says which file it is and how it hashes, and the name is plain; else the name is the path.
    """
    plan = make_plan(catalogue().get("demo").load(), evaluators=["blind-length"], probes=["cultural", "vflip"], limit=8)
    run = run_audit(plan, runs_dir(), run_id="forged")
    name = EVIL if file else stranger.names[0]
    if file:
        entry = {**run.manifest["evaluators"][0], "name": EVIL, "reference": stranger.names[0]}
        renamed(run.path, "blind-length", EVIL)
        edit_manifest(run.path, evaluators=[{**entry, "file": {"sha256": file_sha256(stranger.code)}}])
    elif published:
        forged_file(run.path.rename(stranger.code.with_name("forged")), "blind-length", name, runs_dir() / "x.duckdb")
    else:
        renamed(run.path, "blind-length", name)
    with Store.open(runs_dir()) as store:
        assert not store.left_out
        assert store.query("select distinct evaluator from scores").evaluator.tolist() == [name]
    return name


@WHO
def test_geometry_does_not_run_what_a_name_points_to(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, published: bool, viewer: bool
) -> None:
    stranger = Stranger(tmp_path)
    forged(stranger, published=published)
    if viewer:
        monkeypatch.setattr(access, "_local", lambda: False)
    app = open_page(GEOMETRY)
    assert not app.exception
    assert "Not applicable to" in said(app)
    assert not stranger.ran


@PUBLISHED
def test_the_report_does_not_run_what_a_name_points_to(open_page: Open, tmp_path: Path, *, published: bool) -> None:
    stranger = Stranger(tmp_path)
    forged(stranger, published=published)
    app = open_page(OVERVIEW, **UNFOLDED)
    app.button(key="overview.report.make").click().run()
    assert not app.exception
    assert "invariscope:" in said(app)
    assert not stranger.ran


@WHO
def test_calibration_does_not_run_what_a_manifest_points_to(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, published: bool, viewer: bool
) -> None:
    stranger = Stranger(tmp_path)
    name = forged(stranger, published=published)
    if viewer:
        monkeypatch.setattr(access, "_local", lambda: False)
    app = open_page(CALIBRATION, evaluator=name, reading="orbit", families="vertical-flip")
    assert not app.exception
    assert "Not measured yet" in said(app)
    if viewer:
        assert "Starting, bringing and changing are the operator's" in said(app)
    else:
        assert app.button(key="calib.measuring").disabled
    assert not stranger.ran


def test_a_run_folder_that_is_handed_over_with_its_code_is_not_asked(open_page: Open, tmp_path: Path) -> None:
    """Whole, with the right SHA-256 of the code that lies in it, and named in a link that an operator follows."""
    stranger = Stranger(tmp_path)
    forged(stranger, published=False, file=True)
    app = open_page(LAB, evaluators=EVIL, probes="vflip")
    assert not app.exception
    assert "no audit or check on this machine was made with that file" in said(missing_told(app))
    assert f"left out: {EVIL}" in said(app)
    assert EVIL not in next(each for each in app.multiselect if each.label == "Metrics").options
    assert not stranger.ran
