"""The page Calibration on the results that ship."""

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.analysis.questions import Options
from core.analysis.reading import read_table
from core.analysis.slices import Slice
from core.features.calibration.fit import change, fit
from core.features.calibration.questions import ABLATION, questions
from core.settings import results_dir
from core.store.store import Store
from pages.views.common.text import counted, number
from tests.analysis.broken_runs import BROKEN, facts_of, rows_of, write_broken
from tests.pages.opening import Open, click, marks_that_open, said, unfolded, ways

PAGE = "calibration"
Calibrated = Callable[..., AppTest]


@pytest.fixture
def page(open_page: Open, demo: Path) -> Calibrated:
    def opened(**query: str) -> AppTest:
        app = open_page(PAGE, **query)
        assert not app.exception
        return app

    return opened


def test_without_a_run_the_page_says_what_to_do(open_page: Open) -> None:
    app = open_page(PAGE)
    assert not app.exception
    assert "python -m core audit" in said(app)


def test_the_page_says_its_splits_its_band_and_its_reading(page: Calibrated) -> None:
    first = page(families="vertical-flip,horizontal-flip,rotation", reading="orbit")
    assert len(first.get("plotly_chart")) == 3  # what was measured; the rest is folded
    app = unfolded(first, "By the formula")
    told = said(app)
    assert not app.error
    assert "116 items" in told  # of those whose cut-out is held out
    assert "200 bootstrap samples" in told
    assert "exactly invariant" in told
    assert "up to 6 variants a picture" in told
    assert "Before and after, strength " in told
    charts = app.get("plotly_chart")
    assert len(charts) == 6
    numbers = said(unfolded(first, "Each kind of edit"))
    assert f"The metric scored {counted(10_079, 'picture')}" in numbers
    assert all(chart.proto.alt for chart in charts)


@pytest.mark.parametrize(
    ("reading", "sentence"),
    [
        ("absolute", "For an involution it cancels"),
        ("shift", "no correlation changes"),
        ("ridge", "n / (n + 1)"),
        ("quantile", "quantile on the dev split"),
    ],
)
def test_every_reading_says_what_it_does(page: Calibrated, reading: str, sentence: str) -> None:
    assert sentence in said(page(reading=reading, axes="spatial"))


def test_the_absolute_reading_leaves_the_flips_where_they_are(page: Calibrated) -> None:
    app = unfolded(page(reading="absolute", axes="spatial", strength="1"), "By the formula")
    table = _every_number(app)
    flips = table[(table["measure"] == "sensitivity") & table["name"].isin(["vertical-flip", "horizontal-flip"])]
    assert len(flips) == 2
    units = (flips["after"] / flips["before"]).to_numpy()  # both are divided by the spread of the unedited scores
    assert units[0] == pytest.approx(units[1], abs=1e-12)
    assert "no λ changes a shift under a flip on the score's own scale" in "".join(
        warning.value for warning in app.warning
    )


def test_oracle_weights_are_called_an_upper_bound(page: Calibrated) -> None:
    app = page(weights="oracle", axes="spatial", reading="orbit")
    assert "upper bound" in "".join(warning.value for warning in app.warning)


def test_references_are_an_h_and_the_page_says_of_what(page: Calibrated) -> None:
    app = page(families="vertical-flip", reading="orbit", against="cider-d,conse-lite2")
    assert not app.error
    told = said(app)
    assert "cider-d: the template captions of 252 of 252 items beside the other captions" in told
    assert "document frequencies of CIDEr-D: the references of these 252 images" in told
    assert any("cider-d" in chart.proto.alt for chart in app.get("plotly_chart"))


@pytest.mark.parametrize("weights", ["uniform", "sensitivity", "each"])
def test_every_kind_of_weights_says_what_it_does(page: Calibrated, weights: str) -> None:
    app = page(weights=weights, axes="spatial", reading="orbit")
    assert "Weights: " in said(app)
    assert "By construction, not measured" in said(unfolded(app, "By the formula"))


def test_dragging_the_strength_redraws_and_the_link_follows(page: Calibrated) -> None:
    app = page(reading="shift", axes="spatial")
    app.select_slider(key="calib.strength.widget").set_value(0.5).run()
    assert not app.exception
    assert app.query_params["strength"] == "0.5"
    assert "Strength 0.5, " in said(unfolded(app, "By the formula"))
    table = _every_number(app).set_index(["measure", "name"])
    known = table.dropna(subset=["before_low"])  # flip risks of few sources have no interval
    assert len(known) > len(table) / 2
    assert (known["before_low"] <= known["before"]).all()
    app.button(key="calib.back").click().run()
    assert "strength" not in app.query_params


def test_a_click_on_a_line_chooses_its_strength_and_one_on_a_dot_opens_its_family(page: Calibrated) -> None:
    app = unfolded(page(axes="spatial", strength="1"), "By the formula")
    assert "0.3" in marks_that_open(app, "calib.spearman")
    click(app, "calib.spearman", "0.3")
    assert app.select_slider(key="calib.strength.widget").value == 0.3
    assert app.query_params["strength"] == "0.3"
    mark = next(each for each in marks_that_open(app, "calib.bars") if json.loads(each)["families"] == "rotation")
    evaluator = json.loads(mark)["evaluators"]
    link = ways(click(app, "calib.bars", mark))[f"Open these pairs: {evaluator} · Turned"]
    assert link == {
        "view": "failures",
        "run": "demo",
        "subject": "template",
        "language": "en",
        "axes": "spatial",
        "evaluators": evaluator,
        "corpus": "demo",
        "families": "rotation",
    }


def test_no_correlation_moves_under_the_shift_reading(page: Calibrated) -> None:
    table = _every_number(unfolded(page(reading="shift", strength="1"), "By the formula"))
    rho = table[table["measure"] == "spearman"]
    assert len(rho) == 2
    assert rho["after"].to_numpy() == pytest.approx(rho["before"].to_numpy())


def test_the_calibrator_can_be_taken_home(page: Calibrated, tmp_path: Path) -> None:
    app = page(axes="spatial")
    labels = [button.proto.label for button in app.get("download_button")]
    assert "Download calibrator" in labels
    assert "python -m core calibrate apply conse-lite0-calibrator.json" in said(unfolded(app, "Use in a shell"))


def test_a_link_that_cannot_be_restored_says_so(page: Calibrated) -> None:
    app = page(strength="0.123", epsilon="9", reading="magic")
    told = said(app)
    assert "multiple of 0.05" in told
    assert "ε must be one of" in told
    assert "magic" in told


def test_filters_that_leave_nothing_are_one_sentence(page: Calibrated) -> None:
    app = page(categories="sports", families="gender")
    assert app.error
    assert "no shift of evaluator" in app.error[0].value.replace("\\", "")


@pytest.mark.parametrize(("measure", "sentence"), [("flip risk", "can never exceed 50 %"), ("agreement", "each H")])
def test_a_link_to_a_measure_opens_its_dots(page: Calibrated, measure: str, sentence: str) -> None:
    app = page(axes="spatial", measure=measure, gap="0.3", reading="shift")
    assert not app.error
    assert sentence in said(app)
    assert "It is no evaluator by itself" in said(unfolded(app, "Use in a shell"))


def test_every_choice_is_compared_with_what_its_numbers_rest_on(page: Calibrated) -> None:
    app = page(axes="spatial")
    assert [each for each in app.expander if "33 ways" in each.label]
    app.session_state["calib.ablation"] = True
    app.run()
    assert not app.exception
    assert app.query_params["ablation"] == "yes"
    told = said(app)
    assert "every number is of the held-out split" in told
    shown = next(each.value for each in app.dataframe if "basis" in each.value)
    assert len(shown) == 33
    frame = _of_the_report(Slice(axes=("spatial",), evaluators=("conse-lite0",)))
    assert list(shown["strength"]) == pytest.approx(list(frame["strength"]))
    assert list(shown["basis"]) == list(frame["basis"])


def _every_number(app: AppTest) -> pd.DataFrame:
    return next(each.value for each in app.dataframe if "ratio_low" in each.value)


def _of_the_report(chosen: Slice) -> pd.DataFrame:
    with Store.open(results_dir()) as store:
        table = read_table(store)
        return next(each for each in questions(table) if each.id == ABLATION).compute(table.view(chosen), Options())


KNOWN = facts_of([*BROKEN], {"falsity": ["verified"]}, items=60)
"""Every broken meaning is known to be broken."""


def test_the_page_says_whether_a_correction_goes_deaf(open_page: Open, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
    write_broken(results_dir() / "broken", rows_of(("e", "truth"), items=60), facts=KNOWN)
    app = unfolded(open_page(PAGE, evaluator="e", reading="shift"), "By the formula")
    assert not app.error
    with Store.open(results_dir() / "broken") as store:
        held = read_table(store).view()
        made = change(held, fit(held, evaluator="e"), float(app.select_slider[0].value))
    told = said(app)
    assert "Stable or deaf: selectivity, held out" in told
    ends = [number(each.value.estimate, digits=3) for each in (made.before, made.after)]
    assert f"{ends[0]} → **{ends[1]}**" in told
    assert "Harms: rotation, vertical-flip." in told or "Harms: vertical-flip, rotation." in told
    assert planes(app) == [("calibration-plane", {"e", f"strength {float(app.select_slider[0].value):g}"})]
    orbit = unfolded(open_page(PAGE, evaluator="e", reading="orbit"), "By the formula")
    assert "needs the scores of its own edits" in said(orbit)
    assert not planes(orbit)


def test_where_no_audited_comparison_is_verified_the_page_says_so_and_draws_no_plane(
    open_page: Open, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
    write_broken(results_dir() / "broken", rows_of(("e", "e-calibrated-1a2b3c"), items=60))
    app = unfolded(open_page(PAGE, evaluator="e", reading="orbit"), "By the formula")
    assert not planes(app)
    assert "No comparison here is known to break the meaning." in said(app)


def planes(app: AppTest) -> list[tuple[str, set[str]]]:
    """Figures of nuisance and signal: name of the figure and of its points."""
    drawn = [json.loads(each.proto.spec) for each in app.get("plotly_chart")]
    return [
        ("calibration-plane", {trace.get("name") for trace in each["data"] if trace.get("name")})
        for each in drawn
        if "change under harmless edits" in json.dumps(each["layout"])
    ]


def test_a_calibrated_evaluator_of_the_run_stands_in_the_plane_of_the_reading_orbit(
    open_page: Open, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
    write_broken(results_dir() / "broken", rows_of(("e", "e-calibrated-1a2b3c"), items=60), facts=KNOWN)
    app = unfolded(open_page(PAGE, evaluator="e", reading="orbit"), "By the formula")
    assert [names for _, names in planes(app)] == [{"e", "e-calibrated-1a2b3c"}]
    assert "Measured by the audit" in said(app)


def test_without_broken_meanings_the_page_names_the_audit_that_has_them(page: Calibrated) -> None:
    told = said(unfolded(page(families="vertical-flip,rotation"), "By the formula"))
    assert "No run has a directional probe" in told
