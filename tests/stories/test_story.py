"""Stories on disk: nothing is lost, order and notes hold, what is taken out comes back."""

import re
import shutil
import threading
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.errors import InvalidInput, StoreError
from core.store.log import encode
from core.stories.story import LOG, MOST_NOTE, Picture, Slide, Story, open_story, stories

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20
SVG = b"<svg xmlns='http://www.w3.org/2000/svg'></svg>"


def slide(title: str = "A cat upside down", **other) -> Slide:
    usual = {
        "said": ("“There is a cat.”",),
        "pictures": (Picture("a cat", "png", PNG), Picture("turned", "svg", SVG)),
        "columns": ("Evaluator", "% change"),
        "rows": (("conse-lite0", "−12.0 %"),),
        "of": "run demo, 1 item",
        "signature": "invariscope:0",
        "page": "pages/failures.py",
        "link": {"item": "cat"},
        "note": "look",
    }
    return Slide(title, **(usual | other))


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story.create("Where it breaks", parent=tmp_path)


def titles(story: Story) -> list[str]:
    return [each.title for each in story.read().slides]


def test_a_slide_comes_back_as_it_was(story: Story) -> None:
    kept = Story(story.folder, now=lambda: datetime(2025, 5, 1, 12, tzinfo=UTC)).add(slide())
    assert kept.at == "2025-05-01T12:00:00+00:00"
    assert story.read().slides == (replace(slide(), id=kept.id, at=kept.at),)
    assert story.read().title == "Where it breaks"


def test_slides_move_go_and_come_back(story: Story) -> None:
    first, second, third = (story.add(slide(name)).id for name in ("one", "two", "three"))
    story.move(third, 0)
    assert titles(story) == ["three", "one", "two"]
    story.move(third, 99)
    assert titles(story) == ["one", "two", "three"]
    story.take_out(first)
    story.take_out(second)
    assert titles(story) == ["three"]
    assert [each.title for each in story.read().out] == ["two", "one"]
    story.bring_back(first)
    assert titles(story) == ["three", "one"]
    story.note(first, "said\nso")
    assert story.read().slides[1].note == "said\nso"
    story.rename("  Other   words ")
    assert story.read().title == "Other words"


def test_what_is_not_there_is_refused(story: Story) -> None:
    for act in (lambda: story.note("x", ""), lambda: story.move("x", 0), lambda: story.take_out("x")):
        with pytest.raises(InvalidInput, match="no slide 'x'"):
            act()
    with pytest.raises(InvalidInput, match="taken out"):
        story.bring_back("x")
    with pytest.raises(InvalidInput, match=re.escape("there is no story '../x'")):
        open_story("../x", parent=story.folder.parent)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"title": " "}, "needs a title"),
        ({"title": "a" * 401}, "too long"),
        ({"note": "a" * (MOST_NOTE + 1)}, "too long"),
        ({"rows": (("one",),)}, "as long as its head"),
        ({"pictures": (Picture("x", "png", SVG),)}, "whole jpg, png, svg file"),
        ({"pictures": (Picture("x", "html", b"<html>"),)}, "'html'"),
        ({"pictures": (Picture("x", "png", PNG + b"0" * 4_000_000),)}, "at most 4 MB, got 4.0 MB"),
    ],
)
def test_what_is_no_slide_is_refused_and_nothing_is_written(story: Story, other: dict, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        story.add(replace(slide(), **other))
    assert story.read().slides == ()


def test_a_story_has_an_end(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.stories.story.MOST_SLIDES", 2)
    for _ in range(2):
        story.add(slide())
    with pytest.raises(InvalidInput, match="at most 2 slides"):
        story.add(slide())


def test_equal_titles_are_two_stories_and_any_language_has_a_folder(tmp_path: Path) -> None:
    made = [Story.create(title, parent=tmp_path).id for title in ("Où ça casse", "ou ca casse", "反転", "../../etc")]
    assert made == ["ou-ca-casse", "ou-ca-casse-2", "story", "etc"]
    assert sorted(each.id for each in stories(tmp_path)) == sorted(made)
    with pytest.raises(InvalidInput, match="give the story a title"):
        Story.create(" ", parent=tmp_path)
    with pytest.raises(InvalidInput, match="at most 120 characters, got 121"):
        Story.create("x" * 121, parent=tmp_path)


def test_a_picture_that_is_lost_or_changed_is_said_and_the_numbers_stay(story: Story) -> None:
    story.add(slide())
    files = sorted((story.folder / "pictures").iterdir())
    files[0].write_bytes(PNG + b"1")
    files[1].unlink()
    told = story.read().slides[0]
    assert [each.data for each in told.pictures] == [b"", b""]
    assert told.rows == (("conse-lite0", "−12.0 %"),)


def test_a_torn_or_foreign_line_costs_itself(story: Story) -> None:
    story.add(slide("one"))
    with (story.folder / LOG).open("ab") as file:
        file.write(b'{"row":"slide","id"')
    assert titles(story) == ["one"]
    story.add(slide("two"))
    with (story.folder / LOG).open("ab") as file:
        file.write(encode({"row": "slide", "id": "z", "title": "no more"}))
        file.write(encode({"row": "move", "id": story.read().slides[0].id, "to": "up"}))
    assert titles(story) == ["one", "two"]
    told = story.read().problems
    assert ["line 3: cut or damaged" in told[0], "lines 5, 6: such rows do not fit" in told[1]] == [True, True]
    assert story.check() is False


def test_a_row_of_a_newer_version_is_told_and_the_story_not_taken_for_whole(story: Story) -> None:
    story.add(slide("one"))
    with (story.folder / LOG).open("ab") as file:
        file.write(encode({"row": "poll", "id": "z"}))
    assert titles(story) == ["one"]
    assert "newer Invariscope" in story.read().problems[0]
    with pytest.raises(StoreError, match="newer Invariscope"):
        story.check()


def test_a_picture_outside_the_folder_is_never_read(story: Story) -> None:
    (story.folder / "secret.png").write_bytes(PNG)
    told = {"alt": "", "file": "../secret.png"}
    row = {
        "row": "slide",
        "id": "z",
        "at": "",
        "title": "t",
        "said": [],
        "pictures": [told],
        "columns": [],
        "rows": [],
        "of": "",
        "signature": "",
        "page": "",
        "link": {},
        "note": "",
    }
    with (story.folder / LOG).open("ab") as file:
        file.write(encode(row))
    assert story.read().slides[0].pictures[0].data == b""


def test_many_writers_lose_nothing(story: Story) -> None:
    def work(name: str) -> None:
        own = Story(story.folder)
        for number in range(5):
            own.add(slide(f"{name}{number}"))

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(titles(story)) == sorted(f"{name}{number}" for name in "abcd" for number in range(5))


def test_a_folder_without_a_log_is_no_story(story: Story) -> None:
    shutil.rmtree(story.folder)
    story.folder.mkdir()
    assert stories(story.folder.parent) == []
    with pytest.raises(StoreError, match="holds no story"):
        Story(story.folder)


def test_a_story_whose_log_is_empty_is_told(story: Story) -> None:
    story.add(slide())
    (story.folder / LOG).write_bytes(b"")
    assert "is empty or gone" in story.read().problems[0]
    with pytest.raises(StoreError, match="is empty or gone"):
        story.check()
