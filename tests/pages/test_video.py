"""The page Video: a demo video, one of the reader's own, and what is refused."""

from pathlib import Path

import pytest

from core.evaluators.weights.fetched import keep
from tests.corpora.footage import moving, write_video
from tests.pages.opening import VIDEO, Open, collected, said
from tests.tiny import clip


def test_a_demo_video_is_scored_with_the_caption_that_is_true_of_it_backwards(open_page: Open) -> None:
    app = open_page(VIDEO, video="dog-right", frames="4", evaluators="conse-lite0")
    assert not app.exception
    assert not app.warning
    words = said(app)
    assert "By the formula, not measured" in words
    (table,) = (each.value for each in app.dataframe if "how" in each.value)
    assert set(table["evaluator"]) == {"conse-lite0 (average frame)"}
    assert set(table["caption"]) == {
        "A dog moves from left to right in a pasture.",
        "There is a dog in a pasture.",
        "A dog moves from right to left in a pasture.",
    }
    turned = table[table["edit"] == "reversed"]
    assert set(turned["how"]) == {"by construction"}
    assert turned["delta"].tolist() == [0.0] * 3
    assert "is no EMScore" in words
    assert "played backwards, “left to right” turns into “right to left”, yet every score stays the same" in words
    assert "4 frames of 16, evenly spaced, of a video of 320 × 240 px, 2.0 s" in words
    assert all(chart.proto.alt for chart in app.get("plotly_chart"))


def test_frames_are_called_even_only_where_they_are(open_page: Open) -> None:
    words = said(open_page(VIDEO, video="dog-right", frames="8", evaluators="conse-lite0", captions="a dog"))
    assert "8 frames of 16, of a video" in words


def test_scores_of_a_video_are_kept_with_the_frames_that_they_are_of(open_page: Open, own_folder: None) -> None:
    app = open_page(VIDEO, video="dog-right", frames="4", evaluators="conse-lite0")
    slide = collected(app, "figure.video-edits")
    assert "frames 1, " in slide.of
    assert slide.of.startswith("Video ")
    assert slide.page == VIDEO
    assert slide.rows


def test_an_evaluator_with_tokens_tells_its_parts_and_a_link_to_the_map_leads_on(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INVARISCOPE_WEIGHTS", str(tmp_path / "weights"))
    keep("emscore@tiny", clip.write_openai(tmp_path / "tiny.pt", 11))
    app = open_page(
        VIDEO, video="dog-right", frames="3", evaluators="emscore@tiny", captions="a dog\na cat", looker="emscore@tiny"
    )
    assert not app.exception
    (table,) = (each.value for each in app.dataframe if "how" in each.value)
    assert set(table["caption"]) == {"a dog", "a cat"}
    assert {"precision", "recall"} <= set(table)
    assert len(app.get("plotly_chart")) == 1


def test_a_video_of_the_readers_own_is_scored_once_it_has_a_caption(open_page: Open, tmp_path: Path) -> None:
    app = open_page(VIDEO, source="upload", frames="3", evaluators="conse-lite0")
    assert "never stored" in said(app)
    path = write_video(tmp_path / "mine.mp4", moving("red", 6))
    app.file_uploader(key="video.file").upload("mine.mp4", path.read_bytes(), "video/mp4")
    app.run()
    assert not app.exception
    assert "Write a caption" in said(app)
    app.text_area(key="video.text").set_value("A red square.").run()
    assert not app.exception
    (table,) = (each.value for each in app.dataframe if "how" in each.value)
    assert set(table["caption"]) == {"A red square."}
    assert "other video" in set(table["edit"])


@pytest.mark.parametrize(
    ("name", "held", "words"),
    [
        ("torn.mp4", b"#EXTM3U\n/etc/passwd", "torn.mp4: it begins like none"),
        ("empty.gif", b"", "empty.gif: it begins"),
    ],
)
def test_an_upload_that_is_no_video_is_refused_by_its_name(
    open_page: Open, tmp_path: Path, name: str, held: bytes, words: str
) -> None:
    app = open_page(VIDEO, source="upload", evaluators="conse-lite0")
    app.file_uploader(key="video.file").upload(name, held, "video/mp4")
    app.run()
    assert not app.exception
    (error,) = app.error
    assert words in error.value.replace("\\", "")
    assert "/tmp" not in error.value


def test_a_link_to_what_cannot_be_is_said(open_page: Open) -> None:
    app = open_page(VIDEO, video="gone", frames="900", upload="x", evaluators="")
    assert not app.exception
    words = said(app)
    assert "There is no demo video 'gone' here" in words
    assert "between 1 and 32, got '900'" in words
    assert "no longer held by the server" in words
    assert "Choose a metric" in words
