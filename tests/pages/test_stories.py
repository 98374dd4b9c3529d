"""Stories: collected on other pages, kept as they were, annotated, put in order, taken home."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.stories.story import Picture, Slide, Story, stories
from tests.pages.opening import (
    CALIBRATION,
    COMPARE,
    CONTRAST,
    FAILURES,
    FLIP_RISK,
    GEOMETRY,
    LAB,
    OVERVIEW,
    RESULTS,
    STORIES,
    UNFOLDED,
    Open,
    collected,
    led,
    said,
    unfolded,
)

SVG = b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'></svg>"


def test_a_figure_is_kept_with_its_numbers_and_where_they_are_from(
    open_page: Open, demo: Path, own_folder: Path
) -> None:
    app = open_page(RESULTS, question="words", evaluators="conse-lite0", families="cultural", measure="percent")
    slide = collected(app, "figure.F-societal", note="look at this")
    assert slide.title == "Societal edits: how much the score changes"
    assert slide.note == "look at this"
    assert slide.pictures[0].data.startswith(b"\x89PNG")
    assert [row[0] for row in slide.rows] == ["Cultural words · conse-lite0"]
    assert slide.rows[0][1] == "−15.7 %"
    assert slide.rows[0][3] == "234"
    assert slide.of == "Scores of run demo, corpus demo, caption template, language en; family Cultural words"
    assert slide.signature.startswith("invariscope:")
    live = open_page(slide.page, **slide.link)
    assert not live.exception
    assert "F-societal" in str([each.key for each in live.button])


def test_a_pair_is_kept_with_its_pictures_and_its_numbers(open_page: Open, demo: Path, own_folder: Path) -> None:
    app = open_page(FAILURES, families="vertical-flip", evaluators="conse-lite0")
    slide = collected(app, "failure.0")
    assert slide.title.startswith("Upside down: ")
    assert [each.kind for each in slide.pictures] == ["jpg", "jpg"]
    assert slide.columns[0] == "Metric"
    assert [row[0] for row in slide.rows] == ["conse-lite0", "conse-lite2", "grounding-judge"]
    assert "probe vflip; one pair" in slide.of
    assert open_page(slide.page, **slide.link).get("dialog")


def test_the_view_of_the_lab_is_kept_with_every_edit_and_the_one_that_is_open(
    open_page: Open, demo: Path, own_folder: Path
) -> None:
    app = open_page(LAB, item="frog-1-10-20", probes="vflip,hflip", evaluators="conse-lite0", variant="hflip")
    slide = collected(app, "lab")
    assert slide.title == "frog: what moves its scores"
    assert [each.alt for each in slide.pictures][1:] == ["frog: mirrored", "Every edit of frog with its scores"]
    assert "conse-lite0 (" in slide.of
    assert slide.signature == ""
    assert slide.columns == ("Edit", "conse-lite0")
    assert [name for name, _ in slide.rows] == ["Upside down", "Mirrored"]
    assert "%" in slide.rows[0][1]


def test_a_story_without_a_title_is_asked_for_one(open_page: Open, demo: Path, own_folder: Path) -> None:
    app = open_page(LAB, item="frog-1-10-20", probes="vflip", evaluators="blind-length")
    app.button(key="collect.lab").click().run()
    app.button(key="collect.save").click().run()
    assert "Give the story a title." in said(app)


ELSEWHERE = {
    OVERVIEW: ("fairness-card-conse-lite0", "evaluators-at-a-glance", "overview-slices"),
    COMPARE: ("compare-family", "difference-family", "compare-scatter-family", "difference-scatter-family"),
    FLIP_RISK: ("flip-risk", "flip-risk-curves"),
    CALIBRATION: ("calibration-spearman", "calibration-sensitivity"),
    GEOMETRY: ("geometry-word",),
}
"""Figures of pages of stored scores, by the stem of their files."""


@pytest.mark.parametrize("page", ELSEWHERE)
def test_every_figure_of_stored_scores_is_kept_with_its_run_corpus_and_signature(
    page: str, open_page: Open, demo: Path, own_folder: Path
) -> None:
    app = open_page(page, **UNFOLDED if page == OVERVIEW else {})
    app = unfolded(app, "At every gap") if page == FLIP_RISK else app
    drawn = app.get("plotly_chart")
    offered = [key for each in app.button if (key := each.key or "").startswith("collect.figure.")]
    assert {f"collect.figure.{stem}" for stem in ELSEWHERE[page]} <= set(offered)
    assert len(offered) == len(drawn)
    for stem in ELSEWHERE[page][:1]:
        slide = collected(app, f"figure.{stem}")
        assert "run demo, corpus demo, " in slide.of
        assert slide.signature.startswith("invariscope:")
        assert slide.page == page
        assert slide.rows
        assert not {cell for row in slide.rows for cell in row[0].split(" · ")} & {"vertical-flip", "cultural"}
        assert not open_page(slide.page, **slide.link).exception


def test_a_failure_of_the_contrast_tests_is_kept_and_leads_to_its_pair(open_page: Open, both_halves: Path) -> None:
    app = open_page(CONTRAST)
    assert [each for each in app.button if (each.key or "").startswith("collect.figure.")]
    slide = collected(app, "contrast.0")
    assert slide.signature.startswith("invariscope:")
    assert "one pair" in slide.of
    assert open_page(slide.page, **slide.link).get("dialog")


def test_a_title_is_needed_and_an_existing_story_is_offered(open_page: Open, demo: Path, own_folder: Path) -> None:
    app = open_page(RESULTS, question="words")
    app.button(key="collect.figure.F-societal-size").click().run()
    app.button(key="collect.save").click().run()
    assert "Give the story a title." in said(app)
    assert stories() == []
    Story.create("Known")
    app.button(key="collect.figure.F-societal-size").click().run()
    assert app.selectbox(key="collect.story").options == ["Known", "A new story"]
    app.selectbox(key="collect.story").select("known").run()
    app.button(key="collect.save").click().run()
    assert len(stories()[0].read().slides) == 1


def test_the_rail_counts_what_was_collected_as_it_is_now(open_page: Open, demo: Path, own_folder: Path) -> None:
    def counted(app: AppTest) -> list[str]:
        return [each.label for each in app.sidebar.get("page_link") if each.label.startswith("Stories")]

    app = open_page(COMPARE)
    assert counted(app) == ["Stories: 0 slides"]
    slide = collected(app, "figure.compare-family")
    assert counted(app.run()) == ["Stories: 1 slide"]
    stories()[0].add(slide)
    assert counted(app.run()) == ["Stories: 2 slides"]


def test_without_a_story_the_page_says_how_one_begins(open_page: Open) -> None:
    assert "No story yet" in said(open_page(STORIES))


def test_an_example_is_made_of_the_run_by_a_click(open_page: Open, demo: Path, own_folder: Path) -> None:
    app = open_page(STORIES)
    app.button(key="door.example").click().run()
    assert not app.exception
    assert not app.error
    (story,) = stories()
    told = story.read()
    assert told.title == "An example: what changes these scores"
    first, *pairs = told.slides
    assert "run demo" in first.of
    assert first.rows
    assert all(len(set(row[0].split(" · "))) == len(row[0].split(" · ")) for row in first.rows)
    assert len(pairs) == len({each.title for each in pairs}) == 3
    for slide in told.slides:
        assert slide.pictures
        assert slide.signature.startswith("invariscope:")
    assert app.selectbox(key="stories.story").options == ["An example: what changes these scores · 4 slides"]
    furthest = open_page(FAILURES)

    assert pairs[0].title.split(": ")[1] in said(furthest)


def test_without_a_run_there_is_no_example(open_page: Open) -> None:
    app = open_page(STORIES)
    assert not [each for each in app.button if each.key == "door.example"]
    links = [led(each.proto) for each in app.main if each.type == "page_link"]
    assert links == ["failures", "probe_lab"]


def made(titles: tuple[str, ...]) -> Story:
    story = Story.create("Where <b>it</b> breaks")
    for title in titles:
        story.add(
            Slide(
                title,
                ("“a [link](x) & *stars*”",),
                (Picture("a", "svg", SVG),),
                ("Evaluator", "% change"),
                (("e|f", "−1.0 %"),),
                "run demo",
            )
        )
    return story


def test_slides_are_ordered_annotated_taken_out_and_brought_back(open_page: Open, own_folder: Path) -> None:
    story = made(("one", "two"))
    first, second = (each.id for each in story.read().slides)
    app = open_page(STORIES)
    assert [each.value for each in app.header] == ["1. one", "2. two"]
    app.button(key=f"stories.Down.{first}").click().run()
    assert [each.title for each in story.read().slides] == ["two", "one"]
    app.text_area(key=f"stories.note.{first}").set_value("a note").run()
    assert story.read().slides[1].note == "a note"
    app.button(key=f"stories.out.{second}").click().run()
    assert [each.value for each in app.header] == ["1. one"]
    app.button(key=f"stories.back.{second}").click().run()
    assert [each.title for each in story.read().slides] == ["one", "two"]
    app.text_input(key=f"stories.title.{story.id}").set_value("Other").run()
    assert story.read().title == "Other"
    assert "link" in said(app)
    assert not app.exception


def test_what_another_session_took_out_is_said_and_not_a_crash(open_page: Open, own_folder: Path) -> None:
    story = made(("one", "two"))
    app = open_page(STORIES)
    gone = story.read().slides[0].id
    story.take_out(gone)
    app.button(key=f"stories.out.{gone}").click().run()
    assert not app.exception
    assert "There is no slide" in said(app) or "there is no slide" in said(app)


def test_a_picture_that_is_none_and_a_page_that_is_gone_are_no_crash(open_page: Open, own_folder: Path) -> None:
    broken = {"png": b"\x89PNG\r\n\x1a\n" + bytes(20), "jpg": b"\xff\xd8\xff\xe0", "svg": b"<svg \xff/>"}
    pictures = tuple(Picture(f"a broken {kind}", kind, data) for kind, data in broken.items())
    story = Story.create("Somebody else's")
    story.add(Slide("One", pictures=pictures, page="pages/of_before.py"))
    story.add(Slide("Two", page="pages/failures.py"))
    app = open_page(STORIES)
    assert not app.exception
    for kind in broken:
        assert f"This picture cannot be read: a broken {kind}" in said(app)
    assert [led(each.proto) for each in app.get("page_link") if each.proto.label == "Open it live"] == ["failures"]


def test_the_keys_turn_the_slides_before_an_audience(open_page: Open, own_folder: Path) -> None:
    made(("one", "two"))
    app = open_page(STORIES, present="yes")
    assert not app.exception
    assert "# one" in said(app)
    assert "1 of 2" in said(app)
    app.button(key="stories.present.Next").click().run()
    assert "# two" in said(app)
    assert app.button(key="stories.present.Next").disabled


def test_a_damaged_line_is_counted(open_page: Open, own_folder: Path) -> None:
    story = made(("one",))
    with (story.folder / "story.jsonl").open("ab") as file:
        file.write(b"torn")
    assert "the last row was cut in the middle (4 bytes)" in said(open_page(STORIES))


def test_a_story_that_cannot_be_read_keeps_a_name_and_leads_to_what_can_be_collected(
    open_page: Open, own_folder: Path
) -> None:
    story = Story.create("Once")
    log = next(story.folder.glob("*.jsonl"))
    log.write_text('{"row": oops\n')
    app = open_page(STORIES)
    assert not app.exception
    assert "line 1: cut or damaged" in said(app)
    assert app.selectbox(key="stories.story").options == ["once · 0 slides"]
    assert {led(each.proto) for each in app.get("page_link")} >= {"failures", "probe_lab"}
