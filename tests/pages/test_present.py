"""Present: one edit at a time, of what the lab scored."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.opening import LAB, Open, said

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
    assert [alt for alt in alts(stage) if alt.startswith("frog")][-2:] == ["frog, as it is", "frog: upside down"]


def alts(app: AppTest) -> list[str]:
    return [image.alt for element in app.image for image in element.proto.imgs]


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


def test_the_stage_says_the_numbers_of_the_table_and_the_band_beside_them(stage: AppTest) -> None:
    table = next(each.value for each in stage.dataframe if "mind" in each.value).set_index("probe")
    row = table.loc["vflip"]
    told = staged(stage)
    assert f"## {row['baseline']:.3f} → {row['score']:.3f}" in told
    assert f"{abs(row['percent']):.1f}" in told
    assert ("Outside" if "outside" in row["mind"] else "Inside") + " the null band of ±" in told


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
    assert len(alts(app)) >= 2


def test_find_is_opened_over_it(stage: AppTest) -> None:
    stage.button(key="find").click().run()
    assert not stage.exception
    assert stage.selectbox(key="find.chosen").options
    assert not [each for each in stage.button if each.key == "lab.present.Next"]
