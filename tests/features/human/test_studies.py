import errno
import json
import math
import multiprocessing
from pathlib import Path

import pytest

from core.errors import InvalidInput, StoreError
from core.features.human.definition import DEFINITION
from core.features.human.quality import coverage_table, quality_table
from core.features.human.studies import IDLE_HOURS, LOG, Refused, Study, Superseded, list_studies
from core.features.human.votes import vote_table
from tests.features.human.small_study import define, finish, items, make, seen, vote, vote_versions


def test_a_study_that_could_not_be_opened_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Study, "set_status", full)
        with pytest.raises(StoreError, match="the disk is full"):
            Study.create(tmp_path, define())
    assert list(tmp_path.iterdir()) == []
    assert Study.create(tmp_path, define()).state().status == "open"


def test_three_annotators_give_every_item_three_votes(tmp_path: Path) -> None:
    study = make(tmp_path, items=items(8))
    people = study.invite(["", "", "", ""])
    counts = [len(finish(study, name)) for name in people]
    assert sum(counts) == 24
    assert max(counts) - min(counts) <= 1
    assert set(coverage_table(study)["votes"]) == {3}
    assert study.place(people[0]).item is None


def test_answers_are_read_by_another_holder_at_once_and_after_a_restart(tmp_path: Path) -> None:
    study, other = make(tmp_path), None
    (ada,) = study.invite(["Ada"])
    other = Study(study.folder)
    item = study.place(ada).item
    assert item is not None
    study.answer(ada, item.id, "A", 1, seen=0, seconds=3.0)
    place = other.place(ada)
    assert place.item == item
    assert place.entry is not None
    assert place.entry.answers == {"A": 1}
    other.answer(ada, item.id, "B", 2, seen=1)
    assert Study(study.folder).state().entries[ada, item.id].answers == {"A": 1, "B": 2}


def test_a_state_that_is_read_stays_whole_while_others_vote_and_come(tmp_path: Path) -> None:
    study = make(tmp_path)
    first, second = study.invite(["Ada", "Bo"])
    one, two = (each.id for each in study.definition.items[:2])
    for item in (one, two):
        study.answer(first, item, "A", 2, seen=seen(study, first, item))
    state, told = study.state(), list[str]()
    assert study.state() is state, "nobody wrote: it is not made again"
    for (name, _), entry in state.entries.items():
        for question in entry.answers:
            study.answer(first, one, "B", len(told), seen=seen(study, first, one))
            study.answer(second, one if name == first else two, "A", 1, seen=seen(study, second, one))
            told.append(question)
        study.invite(["Cy"])
    assert told == ["A", "A"]
    assert [len(state.annotators), len(study.state().annotators)] == [2, 4]
    assert set(study.state().entries) == {(first, one), (first, two), (second, one)}


def test_sides_are_random_recorded_and_the_same_on_every_visit(tmp_path: Path) -> None:
    study = make(tmp_path, items=items(40))
    ada, bo = study.invite(["", ""])
    sides = {
        name: [study.definition.left_version(name, item.id) for item in study.definition.items] for name in (ada, bo)
    }
    assert sides[ada] != sides[bo]
    assert 8 < sides[ada].count("variant") < 32
    assert sides[ada] == [Study(study.folder).definition.left_version(ada, item.id) for item in study.definition.items]
    vote(study, ada, "0001")
    rows = [json.loads(line) for line in study.log_path.read_text().splitlines()]
    answers = [row for row in rows if row["row"] == "answer"]
    assert {row["left"] for row in answers} == {sides[ada][0]}
    assert [row["version"] for row in answers] == [1, 2, 3]
    assert all({"study", "item", "annotator", "answer", "client_time", "server_time"} <= set(row) for row in answers)


def test_what_was_said_of_a_side_is_told_of_the_version(tmp_path: Path) -> None:
    study = make(tmp_path, items=items(20))
    (ada,) = study.invite([""])
    for item in study.definition.items:
        vote_versions(study, ada, item.id, original=2, variant=0, preferred="original")
    table = vote_table(study)
    assert set(table["left"]) == {"original", "variant"}
    assert (table["original"] == 2).all()
    assert (table["variant"] == 0).all()
    assert (table["preferred"] == "original").all()


def test_a_correction_is_a_new_row_and_the_latest_wins(tmp_path: Path) -> None:
    study = make(tmp_path)
    (ada,) = study.invite([""])
    vote(study, ada, "0001", A=0)
    before = study.log_path.read_bytes()
    study.answer(ada, "0001", "A", 2, seen=3)
    assert study.log_path.read_bytes().startswith(before)
    entry = study.state().entries[ada, "0001"]
    assert entry.answers["A"] == 2
    assert entry.corrections == 1
    assert len(vote_table(study)) == 1


def test_a_press_on_a_view_that_is_out_of_date_is_refused_and_writes_nothing(tmp_path: Path) -> None:
    study = make(tmp_path)
    (ada,) = study.invite([""])
    study.answer(ada, "0001", "A", 2, seen=0)
    before = study.log_path.read_bytes()
    with pytest.raises(Superseded, match="another tab"):
        Study(study.folder).answer(ada, "0001", "A", 0, seen=0)
    assert study.log_path.read_bytes() == before


def test_a_paused_and_a_closed_study_take_no_answers_and_keep_those_they_have(tmp_path: Path) -> None:
    study = make(tmp_path)
    (ada,) = study.invite([""])
    vote(study, ada, "0001")
    for status in ("paused", "closed"):
        study.set_status(status)
        with pytest.raises(Refused, match=status):
            study.answer(ada, "0002", "A", 2, seen=0)
    study.set_status("open")
    vote(study, ada, "0002")
    assert len(vote_table(study)) == 2


def test_a_skip_needs_a_reason_moves_on_and_can_be_taken_back(tmp_path: Path) -> None:
    study = make(tmp_path)
    (ada,) = study.invite([""])
    item = study.place(ada).item
    assert item is not None
    with pytest.raises(InvalidInput, match="reason"):
        study.skip(ada, item.id, "  ", seen=0)
    study.skip(ada, item.id, "I cannot tell", seen=0)
    place = study.place(ada)
    assert place.item != item
    assert place.back == item.id
    assert vote_table(study).empty
    back = study.place(ada, at=item.id)
    assert back.revisited
    assert back.item == item
    vote(study, ada, item.id)
    assert len(vote_table(study)) == 1
    assert vote_table(study, skipped=True)["skipped"].isna().all()


def test_a_skipped_item_goes_to_somebody_else(tmp_path: Path) -> None:
    study = make(tmp_path, items=items(4), per_item=1)
    ada, bo = study.invite(["", ""])
    item = study.place(ada).item
    assert item is not None
    study.skip(ada, item.id, "it upsets me", seen=0)
    study.invite([""])
    assert any(item.id in study.state().annotators[name].queue for name in (bo, "a03"))
    assert item.id not in [each for each in study.state().annotators[ada].queue if each != item.id]


def test_a_withdrawn_annotator_counts_nowhere_and_the_log_keeps_every_row(tmp_path: Path) -> None:
    study = make(tmp_path)
    ada, bo, cy = study.invite(["Ada", "Bo", "Cy"])
    for name in (ada, bo, cy):
        finish(study, name)
    before = study.log_path.read_bytes()
    study.withdraw(bo)
    assert study.log_path.read_bytes().startswith(before)
    assert bo not in set(vote_table(study)["annotator"])
    assert set(coverage_table(study)["votes"]) == {2}
    assert vote_table(study, withdrawn=True)["withdrawn"].sum() == 6
    (dee,) = study.invite(["Dee"])
    finish(study, dee)
    assert set(coverage_table(study)["votes"]) == {3}


def test_what_a_vanished_annotator_left_goes_to_those_who_are_here(tmp_path: Path) -> None:
    now = [1_000_000.0]
    study = Study.create(tmp_path, define(per_item=1), clock=lambda: now[0])
    ada, bo = study.invite(["Ada", "Bo"])
    vote(study, ada, study.state().annotators[ada].queue[0])
    first = finish(study, bo)
    assert study.place(bo).item is None
    now[0] += IDLE_HOURS * 3600 + 1
    second = finish(study, bo)
    assert len(first) + len(second) == 5
    assert set(coverage_table(study)["votes"]) == {1}
    assert study.place(ada).item is None
    assert quality_table(study).set_index("annotator")["state"][ada] == "away"


def test_marking_an_annotator_away_hands_their_work_over_and_an_answer_brings_them_back(tmp_path: Path) -> None:
    study = make(tmp_path, per_item=1)
    ada, bo = study.invite(["", ""])
    study.mark_away(ada)
    assert len(study.state().annotators[bo].queue) == 6
    vote(study, ada, "0001")
    assert not study.state().annotators[ada].away


@pytest.mark.parametrize("jump", [-10_000_000.0, 10_000_000_000.0])
def test_a_clock_that_jumps_changes_no_order_and_no_vote(tmp_path: Path, jump: float) -> None:
    now = [1_700_000_000.0]
    study = Study.create(tmp_path, define(), clock=lambda: now[0])
    (ada,) = study.invite([""])
    vote(study, ada, "0001", A=0)
    now[0] += jump
    study.answer(ada, "0001", "A", 2, seen=3, seconds=-5.0, client_time=math.inf)
    entry = Study(study.folder).state().entries[ada, "0001"]
    assert entry.answers["A"] == 2
    assert entry.seconds == 2.0


def test_a_log_cut_in_the_middle_of_a_row_is_read_up_to_the_cut_and_told(tmp_path: Path) -> None:
    study = make(tmp_path)
    (ada,) = study.invite([""])
    vote(study, ada, "0001")
    data = study.log_path.read_bytes()
    study.log_path.write_bytes(data[:-20])
    fresh = Study(study.folder)
    assert fresh.state().entries[ada, "0001"].answers == {"A": 2, "B": 2}
    assert "cut in the middle" in fresh.problems()[0]
    fresh.answer(ada, "0001", "preference", "tie", seen=2)
    assert len(vote_table(Study(study.folder))) == 1
    assert "damaged" in Study(study.folder).problems()[0]
    assert study.state().entries[ada, "0001"].answers == fresh.state().entries[ada, "0001"].answers


def test_rows_that_do_not_fit_the_study_are_counted_and_change_nothing(tmp_path: Path) -> None:
    study = make(tmp_path)
    (ada,) = study.invite([""])
    about = {"study": "pilot", "annotator": ada, "item": "0001", "left": "original"}
    strange = [
        {"row": "answer", **about, "question": "A", "answer": 9},
        {"row": "answer", **about, "question": "A", "answer": True},
        {"row": "answer", **about, "item": "9999", "question": "A", "answer": 1},
        {"row": "answer", **about, "annotator": "nobody", "question": "A", "answer": 1},
        {"row": "answer", **about, "study": "other", "question": "A", "answer": 1},
        {"row": "__init__"},
        {"row": ["list"]},
        {"row": "assign", "study": "pilot", "queues": 7},
        {"row": "answer", **about, "question": "A", "answer": {}},
    ]
    with study._log.writing() as writer:
        writer.append(strange)
    assert study.state().entries == {}
    (told,) = study.problems()
    assert "lines 4, 5, 6, 7, 8 and 4 more: such rows do not fit" in told
    assert study.check() is False


@pytest.mark.parametrize(("question", "value"), [("A", 3), ("A", "tie"), ("preference", 1), ("C", 1), ("rating", 1)])
def test_an_answer_that_the_question_does_not_take_is_refused(tmp_path: Path, question: str, value: object) -> None:
    study = make(tmp_path)
    (ada,) = study.invite([""])
    with pytest.raises(InvalidInput, match="got"):
        study.answer(ada, "0001", question, value, seen=seen(study, ada, "0001"))  # type: ignore[arg-type]


def test_attention_items_are_mixed_in_and_counted_apart(tmp_path: Path) -> None:
    study = make(tmp_path, items=items(20, attention=6), attention_rate=0.2)
    (ada,) = study.invite([""])
    shown = finish(study, ada)
    assert len(shown) == 25
    row = quality_table(study).iloc[0]
    assert (row["votes"], row["attention_seen"], row["attention_hits"]) == (20, 5, 0)
    assert len(coverage_table(study)) == 20


def test_an_attention_item_is_hit_by_who_refuses_its_wrong_caption(tmp_path: Path) -> None:
    study = make(tmp_path, items=items(2, attention=2), attention_rate=0.5)
    (ada,) = study.invite([""])
    vote_versions(study, ada, "0003", original=2, variant=0, preferred="original")
    vote_versions(study, ada, "0004", original=2, variant=0, preferred="tie")
    row = quality_table(study).iloc[0]
    assert (row["attention_hits"], row["attention_seen"]) == (1, 2)


def test_the_coordinator_s_numbers_are_held_to_their_range(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="1 to 50 annotators, got 51"):
        make(tmp_path, per_item=51)
    assert list(tmp_path.iterdir()) == []
    study = make(tmp_path, items=items(4, attention=2), attention_rate=0.5)
    for wrong in (-0.1, 0.6, math.nan):
        with pytest.raises(InvalidInput, match=r"lies in \[0, 0.5\]"):
            study.set_attention_rate(wrong)
    with pytest.raises(InvalidInput, match="open, paused, closed, got 'shut'"):
        study.set_status("shut")
    with pytest.raises(InvalidInput, match="at most 500 annotators, got 501"):
        study.invite([""] * 501)
    (ada,) = study.invite(["Ada"])
    assert {"0005", "0006"} & set(study.state().annotators[ada].queue)
    study.set_attention_rate(0.0)
    assert Study(study.folder).state().attention_rate == 0.0
    assert not {"0005", "0006"} & set(study.state().annotators[ada].queue)


def test_a_link_that_was_revoked_takes_no_answer_and_is_told_apart(tmp_path: Path) -> None:
    study = make(tmp_path)
    ada, bo = study.invite(["Ada", "Bo"])
    vote(study, ada, "0001")
    study.revoke(ada)
    with pytest.raises(Refused, match="does not work any more"):
        study.answer(ada, "0002", "A", 2, seen=0)
    state = quality_table(study).set_index("annotator")["state"]
    assert (state[ada], state[bo]) == ("no link", "not begun")
    assert coverage_table(study).set_index("id")["votes"]["0001"] == 1


def test_straight_lines_and_one_sided_choices_are_seen(tmp_path: Path) -> None:
    study = make(tmp_path, items=items(10))
    (ada,) = study.invite([""])
    for item in study.definition.items:
        vote(study, ada, item.id, preference="A")
    row = quality_table(study).iloc[0]
    assert row["left_share"] == 1.0
    assert row["median_seconds"] == 2.0


@pytest.mark.parametrize("kind", ["rating", "preference"])
def test_the_other_kinds_are_annotated_alike(tmp_path: Path, kind: str) -> None:
    study = make(tmp_path, kind=kind)
    people = study.invite(["", "", ""])
    for name in people:
        while (place := study.place(name)).item is not None:
            answers = {"rating": 3} if kind == "rating" else {"A": 4, "B": 1, "preference": "A"}
            vote(study, name, place.item.id, **answers)
    table = vote_table(study)
    assert len(table) == 18
    assert table["variant"].notna().all()


def test_a_name_is_checked_and_taken_once(tmp_path: Path) -> None:
    make(tmp_path)
    with pytest.raises(InvalidInput, match="already"):
        make(tmp_path)
    for name in ("../x", "", "a/b", "x" * 100, ".hidden"):
        with pytest.raises(InvalidInput, match="study id"):
            make(tmp_path, name)


def test_a_study_that_cannot_be_read_is_one_sentence_and_the_others_stay(tmp_path: Path) -> None:
    make(tmp_path, "good")
    for name, text in (("broken", "{"), ("wrong", "{}"), ("newer", '{"schema_version": 99}'), ("deep", "[" * 100_000)):
        (tmp_path / name).mkdir()
        (tmp_path / name / DEFINITION).write_text(text)
    found, problems = list_studies(tmp_path)
    assert [study.id for study in found] == ["good"]
    assert len(problems) == 4
    with pytest.raises(StoreError, match="no study"):
        Study(tmp_path / "nowhere")


def _vote_until_killed(folder: Path, annotator: str, pipe: object) -> None:
    study = Study(folder)
    for item in study.definition.items:
        for question, value in (("A", 2), ("B", 1), ("preference", "tie")):
            study.answer(annotator, item.id, question, value, seen=seen(study, annotator, item.id))
            pipe.send((annotator, item.id, question))  # type: ignore[attr-defined]


def test_killing_writers_at_random_moments_loses_and_doubles_no_acknowledged_answer(tmp_path: Path) -> None:
    study = make(tmp_path, items=items(400))
    people = study.invite([""] * 3)
    context = multiprocessing.get_context("fork")
    told: set[tuple[str, str, str]] = set()
    for name, delay in zip(people, (0.05, 0.12, 0.21), strict=True):
        receive, send = context.Pipe(duplex=False)
        process = context.Process(target=_vote_until_killed, args=(study.folder, name, send))
        process.start()
        send.close()
        assert receive.poll(20)
        process.join(delay)
        process.kill()
        process.join()
        try:
            while True:
                told.add(receive.recv())
        except EOFError:
            pass
    rows = [row for row in study._log.read().rows if row["row"] == "answer"]
    written = [(row["annotator"], row["item"], row["question"]) for row in rows]
    assert len(told) > 3
    assert told <= set(written)
    assert len(set(written)) == len(written)
    assert study.log_path.name == LOG


@pytest.mark.parametrize("how", ["empty", "gone"])
def test_a_log_that_is_empty_or_gone_is_told(tmp_path: Path, how: str) -> None:
    study = make(tmp_path)
    assert not study.problems()
    study.log_path.write_bytes(b"") if how == "empty" else study.log_path.unlink()
    for each in (study, Study(study.folder)):
        assert "restore it from a copy" in each.problems()[0]
