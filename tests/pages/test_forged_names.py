"""A run or published file whose evaluator is named as code: looking at it, on any page, runs none of it."""

from pathlib import Path

import pytest

from core.audit.plan import make_plan
from core.audit.run import run_audit
from core.corpora.registry import catalogue
from core.settings import runs_dir
from core.store.store import Store
from pages.views.common import access
from siege.forged import Stranger, forged_file, renamed
from tests.pages.opening import CALIBRATION, GEOMETRY, OVERVIEW, Open, said

PUBLISHED = pytest.mark.parametrize("published", [True, False], ids=["published", "folder"])
WHO = pytest.mark.parametrize(
    ("published", "viewer"),
    [(True, True), (False, True), (True, False)],
    ids=["viewer-published", "viewer-folder", "operator-published"],
)


def forged(stranger: Stranger, *, published: bool) -> str:
    """Lay out a run whose only scores are of a metric named as the stranger's code; returns that name."""
    plan = make_plan(catalogue().get("demo").load(), evaluators=["blind-length"], probes=["cultural", "vflip"], limit=8)
    run = run_audit(plan, runs_dir(), run_id="forged").path
    name = stranger.names[0]
    if published:
        forged_file(run.rename(stranger.code.with_name("forged")), "blind-length", name, runs_dir() / "x.duckdb")
    else:
        renamed(run, "blind-length", name)
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
    app = open_page(OVERVIEW)
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
