"""What the page Calibration says of a measurement: its cost before, its numbers after, and when it is stale."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.analysis.reading import read_table
from core.analysis.slices import Slice
from core.evaluators.pool import Pool
from core.features.calibration.fit import fit
from core.features.calibration.measured import Asked, find, measure
from core.features.calibration.measurement import place, read
from core.jobs import job_queue
from core.settings import data_dir
from core.store.store import Store
from tests.features.calibration.corners import corner_run
from tests.jobs.leftovers import end_all
from tests.pages.opening import CALIBRATION, Open, said, unfolded

Corners = Callable[..., AppTest]
FLIPS = "vertical-flip,horizontal-flip"


@pytest.fixture
def corners(open_page: Open) -> Iterator[Corners]:
    corner_run(data_dir())

    def opened(**query: str) -> AppTest:
        usual = {"evaluator": "corner", "reading": "orbit", "families": FLIPS, "strength": "1"}
        app = open_page(CALIBRATION, **{**usual, **query})
        assert not app.exception
        return app

    yield opened
    end_all(data_dir())


def measured_now() -> Path:
    with Store.open(data_dir() / "runs") as store:
        found = fit(
            read_table(store).view(Slice(families=tuple(FLIPS.split(",")))), evaluator="corner", reading="orbit"
        )
        return measure(Asked(store.runs()[0], found, "human", "en"), pool=Pool(100, "cpu"))[1]


def test_the_page_offers_to_measure_with_its_cost_and_starts_a_job(corners: Corners) -> None:
    app = corners()
    told = said(app)
    assert "Not measured yet" in told
    assert "the variants of both" in told
    assert "calibrate learn corners --evaluator corner --families horizontal-flip,vertical-flip" in told
    assert "by construction" in told
    assert "The dev items then choose λ by what was measured" in told
    assert app.button(key="calib.back").label == "Strength 1"
    assert "It is no choice" in app.button(key="calib.back").help
    assert "Best strength" not in app.button(key="calib.back").label
    button = app.button(key="calib.measuring")
    assert not button.disabled
    button.click().run()
    assert not app.exception
    (job,), _ = job_queue.list_jobs()
    assert job.request.told[0] == "calibration of corner measured"
    assert job.id in said(app)


def test_a_measurement_is_shown_beside_what_holds_by_construction(corners: Corners) -> None:
    measured_now()
    app = unfolded(corners(weights="each"))
    told = said(app)
    assert "Before and after, measured at strength 1" in told
    assert "Not measured yet" not in told
    assert "By construction, not measured" in told
    assert "Dotted: held out, every score scored" in told
    assert "What was measured stands beside it" in told
    table = next(each.value for each in app.dataframe if "Measured / before" in each.value)
    assert list(table["family"]) == ["horizontal-flip", "vertical-flip"]
    with Store.open(data_dir() / "runs") as store:
        view = read_table(store).view(Slice(families=tuple(FLIPS.split(","))))
        found = fit(view, evaluator="corner", reading="orbit", weights="each")
        own, _ = find(found, store.runs()[0], subject="human", language="en")
    assert own is not None
    assert own.choice is not None
    assert app.button(key="calib.back").label == f"Best strength {own.choice.strength:g}"
    assert "dev, every score scored; it chose the best one" in told
    effect = own.effect(1.0).set_index(["measure", "name"])
    for _, row in table.iterrows():
        expected = effect.loc[("sensitivity", row["family"])]
        assert row["Measured, SD"].startswith(f"{expected['after']:.4f} (")
        assert row["Measured / before"].startswith(f"{expected['ratio']:.3f} (")
        assert row["n items"] == expected["n"]
    assert np.isfinite(effect.loc["sensitivity", "ratio_low"].to_numpy(float)).all()


def test_a_stale_measurement_is_named_and_not_shown(corners: Corners) -> None:
    path = measured_now()
    path.write_text(path.read_text().replace('"run_created": "', '"run_created": "1999 '), encoding="utf-8")
    app = corners()
    assert "is not shown. Run corners was made anew since" in "".join(each.value for each in app.warning).replace(
        "\\", ""
    )
    assert "Not measured yet" in said(app)
    assert path == place(read(path))


@pytest.mark.parametrize(
    ("reading", "sentence"),
    [("ridge", "no further score would make a measurement"), ("shift", "is measured already, on stored scores")],
)
def test_readings_that_need_no_measurement_say_so(corners: Corners, reading: str, sentence: str) -> None:
    told = said(unfolded(corners(reading=reading), "By the formula"))
    assert sentence in told
    assert "Not measured yet" not in told
    heading = "by construction" if reading == "ridge" else "measured on stored scores"
    assert f"Before and after, strength 1, {heading}" in told


def test_families_that_edit_captions_are_refused_on_the_page(open_page: Open, demo: Path) -> None:
    app = open_page(CALIBRATION, evaluator="conse-lite0", reading="orbit", families="gender,vertical-flip")
    assert not app.exception
    assert "edits the caption" in said(app)
    assert "calibrate for vertical-flip alone" in said(app)
