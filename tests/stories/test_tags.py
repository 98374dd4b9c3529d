"""Tags and notes on pairs: the latest counts, nothing is lost, hostile rows and texts are told."""

import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from core.errors import InvalidInput, StoreError
from core.settings import data_dir
from core.store.log import encode
from core.stories.story import MOST_NOTE, MOST_TAG, MOST_TAGS, Pair, Tagged, Tags, checked

CAT = Pair("demo", "cat", "template", "vflip", "en", 0)
DOG = CAT._replace(item="dog")
AT = datetime(2025, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def tags(tmp_path: Path) -> Tags:
    return Tags(tmp_path / "below" / "tags.jsonl", now=lambda: AT)


def test_the_latest_of_a_pair_counts_and_the_earlier_stays_in_the_log(tags: Tags) -> None:
    tags.put(CAT, ["bad edit"], "smeared")
    tags.put(DOG, ["Fair"])
    before = tags.path.read_bytes()
    tags.put(CAT, ["fair", "bad  edit", "fair"], "  better\nnow ")
    assert tags.path.read_bytes().startswith(before)
    held = tags.read()
    assert held.of(CAT) == Tagged(("fair", "bad edit"), "better\nnow", "2025-05-01T12:00:00+00:00")
    assert list(held.pairs) == [CAT, DOG]
    assert held.names == ("bad edit", "Fair", "fair") or held.names == ("bad edit", "fair", "Fair")


def test_everything_can_be_taken_off_again(tags: Tags) -> None:
    tags.put(CAT, ["fair"], "x")
    assert tags.put(CAT, []).empty
    held = tags.read()
    assert held.of(CAT) == Tagged()
    assert (held.pairs, held.names, held.problems) == ({}, (), ())


def test_nothing_was_written_yet(tags: Tags) -> None:
    assert tags.read().pairs == {}
    assert tags.size() == 0


def test_another_caption_of_the_pair_is_another_pair(tags: Tags) -> None:
    tags.put(CAT, ["fair"])
    assert tags.read().of(CAT._replace(rank=1)).empty
    assert tags.read().of(CAT._replace(language="de")).empty


@pytest.mark.parametrize("tag", ["", "  ", "a,b", "x" * (MOST_TAG + 1), "a\x00b", "a\u202eb"])
def test_what_is_no_tag_is_refused_and_nothing_is_written(tags: Tags, tag: str) -> None:
    with pytest.raises(InvalidInput, match="a tag has 1 to 40 characters and no comma"):
        tags.put(CAT, [tag])
    assert tags.size() == 0


def test_too_many_and_too_long_is_refused(tags: Tags) -> None:
    with pytest.raises(InvalidInput, match="at most 12 tags, got 13"):
        tags.put(CAT, [str(each) for each in range(MOST_TAGS + 1)])
    with pytest.raises(InvalidInput):
        tags.put(CAT, [], "x" * (MOST_NOTE + 1))
    assert tags.size() == 0


def test_a_line_that_is_cut_or_strange_is_counted_and_the_others_hold(tags: Tags) -> None:
    tags.put(CAT, ["fair"])
    with tags.path.open("ab") as log:
        log.write(encode({"row": "tag", "run": "demo"}))
        log.write(encode({"row": "vote"}))
        log.write(encode({"row": "tag", **CAT._asdict(), "tags": ["a,b"], "note": ""}))
        log.write(b'{"row":"tag","ru')
    tags.put(DOG, ["fair"])
    held = tags.read()
    assert set(held.pairs) == {CAT, DOG}
    assert [each.partition(", ")[2].partition(":")[0] for each in held.problems] == ["line 3", "line 5", "lines 2, 4"]
    assert "newer Invariscope" in held.problems[0]


def test_many_writers_lose_nothing(tags: Tags) -> None:
    pairs = [CAT._replace(item=str(each)) for each in range(24)]
    threads = [threading.Thread(target=Tags(tags.path).put, args=(pair, ["fair"])) for pair in pairs]
    tags.put(DOG, ["fair"])
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert set(tags.read().pairs) == {DOG, *pairs}


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="file"):
        Tags(tmp_path / "file" / "tags.jsonl").put(CAT, ["fair"])


def test_the_usual_log_lies_in_the_data_folder() -> None:
    assert Tags().path == data_dir() / "tags.jsonl"


@given(some.lists(some.text(max_size=50), max_size=14))
def test_what_is_accepted_comes_through_a_link_unchanged(given: list[str]) -> None:
    try:
        found = checked(given)
    except InvalidInput:
        return
    assert checked(found) == found
    assert tuple(",".join(found).split(",") if found else ()) == found
