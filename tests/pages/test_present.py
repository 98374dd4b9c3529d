"""Present: one edit at a time, of what the lab scored."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.corpora.item_pictures import read_item
from core.evaluators.pool import shared_pool
from core.features.lab.lab import run_lab
from core.probes.registry import select
from core.scoring.workbench import Workbench
from pages.views.common.open_runs import load_corpus
from pages.views.probe_lab.lab_audience import hand_out
from tests.pages.opening import LAB, Open, said, shown

PROBES = "vflip,hflip,cultural:African,economic:cheap"


def staged(app: AppTest) -> str:
    assert not app.exception
    return said(app)


@pytest.fixture
def stage(open_page: Open, demo: Path) -> AppTest:
    return open_page(LAB, item="frog-1-10-20", probes=PROBES, evaluators="conse-lite0", present="yes")


def test_the_link_opens_the_stage_on_the_first_edit_that_can_be_applied(stage: AppTest) -> None:
    told = staged(stage)
    assert "# Upside down" in told
    assert "1 of 3" in told  # a cheap frog is left out
    assert on_stage(stage) == ["frog: upside down"]


def on_stage(app: AppTest) -> list[str]:
    """What the pictures of the stage show; those of the page below have other words."""
    alts = (image.alt for element in app.image for image in element.proto.imgs)
    return [alt for alt in alts if alt.endswith((", as it is", ": upside down"))]


def pair(app: AppTest) -> str:
    return next(shown(each.proto.body) for each in app.get("html") if 'class="pair"' in each.proto.body)


def test_one_picture_is_shown_the_edited_one_or_what_it_was_made_of(stage: AppTest) -> None:
    stage.button(key="lab.present.clean").click().run()
    assert on_stage(stage) == ["frog, as it is"]
    stage.button(key="lab.present.clean").click().run()
    assert on_stage(stage) == ["frog: upside down"]


def test_the_evaluators_are_turned_too_each_with_its_pair_of_bars(open_page: Open, demo: Path) -> None:
    about = {"item": "frog-1-10-20", "probes": "vflip", "present": "yes"}
    app = open_page(LAB, evaluators="conse-lite0,grounding-judge", **about)
    first = pair(app)
    assert "## conse-lite0" in staged(app)
    app.button(key="lab.present.Metric after").click().run()
    assert "## grounding-judge" in staged(app)
    assert pair(app) != first
    assert app.button(key="lab.present.Metric after").disabled


def test_the_hand_out_holds_every_edit_with_its_pictures_and_scores_and_nothing_from_outside() -> None:
    item = load_corpus("demo").get("frog-1-10-20")
    bench = Workbench(item, read_item(item).pixels)
    probes, caption = select(PROBES.split(",")), "There is a frog."
    result = run_lab(bench, caption, probes, ["conse-lite0"], pool=shared_pool())
    html = hand_out({"probes": PROBES}, bench, result, bench.variants(probes, caption))
    assert html.count("<section") == 3
    assert html.count("data:image/jpeg;base64,") == 5  # two edits of the picture beside it, one of the caption
    assert "Upside down: frog" in html
    with shared_pool().lease("conse-lite0") as evaluator:
        assert f"conse-lite0 ({evaluator.fingerprint.key[:8]})" in html
    assert not re.search(r'(src|href)="(?!data:)', html)


def test_the_keys_turn_the_pages_and_stop_at_both_ends(stage: AppTest) -> None:
    assert stage.button(key="lab.present.Previous").disabled
    stage.button(key="lab.present.Next").click().run()
    stage.button(key="lab.present.Next").click().run()
    told = staged(stage)
    assert "# African …" in told
    assert "3 of 3" in told
    assert stage.button(key="lab.present.Next").disabled
    assert stage.query_params["variant"] == "cultural:African"
    assert ":blue-background[**African**]" in told
    assert pair(stage).startswith("Against ")  # the neutral caption, not the clean pair


def test_the_stage_says_the_numbers_of_the_table_and_the_band_beside_them(stage: AppTest) -> None:
    table = next(each.value for each in stage.dataframe if "mind" in each.value).set_index("probe")
    row = table.loc["Upside down"]
    told = staged(stage)
    bars, _, axis = pair(stage).partition(" 0 ")
    assert bars == f"Clean {row['baseline_score']:.3f} Edited {row['score']:.3f}"
    assert float(axis.split()[-1]) >= max(row["baseline_score"], row["score"])
    assert f"{abs(row['percent']):.1f}" in told
    assert ("More than noise" if "more than noise" in row["mind"] else "Within noise") + " · noise ±" in told


def test_a_link_to_an_edit_that_is_not_there_begins_at_the_first(open_page: Open, demo: Path) -> None:
    app = open_page(LAB, item="frog-1-10-20", probes=PROBES, evaluators="conse-lite0", present="yes", variant="gone")
    assert "1 of 3" in staged(app)


def test_the_button_opens_it_and_nothing_to_show_has_no_button(open_page: Open, demo: Path) -> None:
    app = open_page(LAB, item="frog-1-10-20", probes="vflip", evaluators="conse-lite0")
    assert "# Upside down" not in staged(app)
    app.button(key="lab.present.open").click().run()
    assert "# Upside down" in staged(app)
    bare = open_page(LAB, item="frog-1-10-20", probes="economic:cheap", evaluators="conse-lite0", present="yes")
    assert not bare.exception
    assert not [each for each in bare.button if each.key == "lab.present.open"]


def test_frames_of_a_video_stand_side_by_side_on_the_stage(open_page: Open, demo: Path) -> None:
    app = open_page(LAB, corpus="demo-videos", subject="human", probes="vflip", evaluators="conse-lite0", present="yes")
    assert "1 of 1" in staged(app)
    assert len(on_stage(app)) == 1


def test_find_is_opened_over_it(stage: AppTest) -> None:
    stage.button(key="find").click().run()
    assert not stage.exception
    assert stage.selectbox(key="find.chosen").options
    assert not [each for each in stage.button if each.key == "lab.present.Next"]
