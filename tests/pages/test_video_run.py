"""A run whose items are videos, on every page: shown like any other, its frames side by side."""

import shutil
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from core.audit.run import run_audit
from core.corpora.item_pictures import as_picture
from core.evaluators.pool import Pool
from core.features.human.creation import create_study, make_example, make_pictures
from core.features.human.sampling import family_strata
from core.report.build import build
from core.settings import runs_dir
from core.store.store import Store
from tests.audit.filmed import build_videos
from tests.audit.squares import HISTOGRAM
from tests.corpora.footage import moving
from tests.pages.opening import (
    CALIBRATION,
    COMPARE,
    CONTRAST,
    FAILURES,
    FLIP_RISK,
    GEOMETRY,
    HUMAN,
    LAB,
    OVERVIEW,
    RESULTS,
    RUN,
    SUITES,
    SYSTEMS,
    VIDEO,
    Open,
    said,
)
from tests.plans import make_plan
from tests.tiny import clip

FRAMES = 4
PROBES = ("default", "order", "removal")
PARTS = [
    (OVERVIEW, {}),
    (RESULTS, {}),
    (RESULTS, {"question": "summary"}),
    (RESULTS, {"question": "meaning"}),
    (RESULTS, {"question": "summary", "part": "runs"}),
    (FAILURES, {}),
    (FAILURES, {"families": "fewer-frames"}),
    (COMPARE, {}),
    (FLIP_RISK, {}),
    (SYSTEMS, {}),
    (CALIBRATION, {}),
    (CONTRAST, {}),
    (GEOMETRY, {}),
    (SUITES, {}),
    (VIDEO, {}),
    (HUMAN, {}),
    (RUN, {}),
    (RUN, {"corpus": "demo-videos", "subject": "human", "evaluators": "conse-lite0"}),
]


@pytest.fixture(scope="module")
def filmed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("filmed")
    tiny = clip.write_openai(folder / "openai.pt", 11)
    plan = make_plan(
        build_videos(folder / "videos", 12, frames=FRAMES),
        evaluators=[HISTOGRAM, f"emscore@{tiny}"],
        subjects=("human",),
        probes=PROBES,
    )
    return run_audit(plan, folder / "runs", run_id="videos-1", pool=Pool(2000, "cpu")).path


@pytest.fixture
def run(open_page: Open, filmed: Path) -> Path:
    return Path(shutil.copytree(filmed, runs_dir() / "videos-1"))


@pytest.mark.parametrize(("page", "query"), PARTS, ids=lambda each: str(each))
def test_every_page_opens_on_a_run_of_videos(open_page: Open, run: Path, page: str, query: dict[str, str]) -> None:
    app = open_page(page, **query)
    assert not app.exception
    assert not app.error


def shown(app: AppTest) -> list[str]:
    return [image.alt for element in app.image for image in element.proto.imgs]


def test_failures_show_the_frames_side_by_side_beside_the_variant(open_page: Open, run: Path) -> None:
    app = open_page(FAILURES, families="fewer-frames,other-video,horizontal-flip")
    alts = shown(app)
    assert any("unedited" in alt for alt in alts)
    edits = ("every second frame", "mirrored", "frames of another video")
    assert any(f"after {edit}" in alt for edit in edits for alt in alts)
    assert "histogram (average frame)" in said(app)


def test_results_say_what_is_by_construction_and_hold_no_number_of_it(open_page: Open, run: Path) -> None:
    app = open_page(RESULTS, question="summary", part="runs")
    tables = [each.value for each in app.dataframe]
    (left_out,) = [each for each in tables if "code" in each and (each["code"] == "order-free").any()]
    assert set(left_out.loc[left_out["code"] == "order-free", "probe"]) == {"frames:backwards"}
    assert "order-free is by construction" in said(app)
    for page, query in PARTS[1:5]:
        assert not any(
            "frames:backwards" in each.to_csv() or "frame-order" in each.to_csv()
            for each in (table.value for table in open_page(page, **query).dataframe)
            if "code" not in each
        )


def test_the_lab_scores_a_video_and_marks_what_it_cannot_measure(open_page: Open, run: Path) -> None:
    app = open_page(
        LAB,
        corpus="demo-videos",
        item="dog-right",
        subject="human",
        human="en:1",
        evaluators="conse-lite0",
        probes="vflip,frames:half,frames:backwards,reposition-TL",
    )
    assert not app.exception
    assert not app.error
    assert "8 frames" in said(app)
    rows = next(each.value for each in app.dataframe if "probe" in each.value and "score" in each.value)
    rows = rows.set_index("probe")
    assert np.isfinite(rows.loc["Every second frame", "score"])
    assert np.isnan(rows.loc["Backwards", "score"])
    assert "by construction" in rows.loc[["Backwards"]].to_csv()
    assert "is a video" in rows.loc[["Moved to top left"]].to_csv()


def test_a_study_shows_the_frames_side_by_side(run: Path, tmp_path: Path) -> None:
    with Store.open(runs_dir()) as store:
        study = create_study(
            store,
            "videos-1",
            study_id="videos",
            title="Videos",
            kind="acceptability",
            total=3,
            per_item=2,
            attention_rate=0.0,
            seed=1,
            parent=tmp_path,
            strata=family_strata(["fewer-frames"]),
        )
    item = study.definition.items[0]
    pictures = make_pictures(study.definition, item)
    place = int(item.item.removeprefix("v"))
    frames = np.stack(moving(("red", "green", "blue")[place % 3], 6 + place))
    chosen = frames[np.linspace(0, len(frames) - 1, FRAMES).astype(int)]
    for held, expected in ((pictures.original, chosen), (pictures.variant, chosen[::2])):
        np.testing.assert_array_equal(np.asarray(Image.open(BytesIO(held))), as_picture(expected))
    assert make_example(study.definition, "videos", item.item) == pictures.original


def test_a_report_of_videos_is_whole_and_says_what_it_did_not_measure(run: Path) -> None:
    with Store.open(runs_dir()) as store:
        made = build(store)
    assert any("false of a video backwards" in each for each in made.opening.cautions)
    families = {row["family"] for table in made.tables if "family" in table.frame for _, row in table.frame.iterrows()}
    assert {"fewer-frames", "horizontal-flip"} <= families
    assert "frame-order" not in families
