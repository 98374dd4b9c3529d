"""Consent, practice and the link for Prolific: what the log holds of each, and what never happens before it."""

import hashlib
import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InvalidInput
from core.features.human.entrance import Exercise, Practice, Stage, by_construction
from core.features.human.exchange import export_votes
from core.features.human.first_steps import agree, lesson, practice_table, practise, set_consent, set_practice
from core.features.human.ledger import Annotator
from core.features.human.prolific import (
    CODE,
    Visit,
    answered,
    close_link,
    completion_code,
    join,
    link_query,
    new_code,
    open_link,
    participant,
    read_visit,
    recruits,
    return_url,
)
from core.features.human.quality import coverage_table, quality_table
from core.features.human.sharing import JOINED_HOURS
from core.features.human.studies import Refused, Study, Superseded
from core.features.human.votes import vote_table
from tests.features.human.small_study import finish, items, make, seen, vote

PID = "5f0c9a1b2c3d4e5f60718293"
OTHER = "6a0c9a1b2c3d4e5f60718294"


def rows(study: Study) -> list[dict[str, object]]:
    return [json.loads(line) for line in study.log_path.read_text().splitlines()]


def stage(study: Study, annotator: str) -> Stage:
    state = study.state()
    return state.stage(state.annotators[annotator])


def of(study: Study, annotator: str) -> Annotator:
    return study.state().annotators[annotator]


# Consent


def test_nobody_votes_before_they_agreed_and_the_agreement_names_time_and_text(tmp_path: Path) -> None:
    study = Study(make(tmp_path).folder, clock=lambda: 1_800_000_000.0)
    (ada,) = study.invite(["Ada"])
    set_consent(study, "  You may stop at any time.\r\nWe keep your answers.  ")
    assert stage(study, ada) is Stage.CONSENT
    for write in (lambda: study.begin(ada), lambda: study.answer(ada, "0001", "A", 2, seen=0)):
        with pytest.raises(Refused, match="consent"):
            write()
    digest = hashlib.sha256(b"You may stop at any time.\nWe keep your answers.").hexdigest()
    agree(study, ada, digest)
    told = [row for row in rows(study) if row["row"] == "accept"]
    assert [(row["annotator"], row["text_sha256"], row["server_time"]) for row in told] == [
        (ada, digest, 1_800_000_000.0)
    ]
    vote(study, ada, "0001")
    assert len(vote_table(study)) == 1


def test_another_wording_is_asked_for_again_and_an_agreement_to_the_old_one_is_refused(tmp_path: Path) -> None:
    study = make(tmp_path)
    (ada,) = study.invite(["Ada"])
    set_consent(study, "One")
    old = study.state().consent
    assert old is not None
    agree(study, ada, old.digest)
    vote(study, ada, "0001")
    set_consent(study, "Two")
    with pytest.raises(Refused, match="changed while you read"):
        agree(study, ada, old.digest)
    with pytest.raises(Refused, match="consent"):
        study.answer(ada, "0002", "A", 2, seen=0)
    assert len(vote_table(study)) == 1  # what was said before stays
    set_consent(study, "")
    vote(study, ada, "0002")


@pytest.mark.parametrize("text", ["x" * 20_001, "a\x00b", "a\x1b[31mb", "\u202eevil"])
def test_a_consent_that_cannot_be_shown_as_plain_text_is_refused(tmp_path: Path, text: str) -> None:
    study = make(tmp_path)
    before = study.log_path.read_bytes()
    with pytest.raises(InvalidInput, match="consent"):
        set_consent(study, text)
    assert study.log_path.read_bytes() == before


# Practice


def practising(tmp_path: Path, *, needed: int = 2, tries: int = 2, **changes: object) -> tuple[Study, str]:
    """A study of 6 items and 4 with a known answer, of which 2 are practised."""
    study = make(tmp_path, items=items(6, attention=4), attention_rate=0.4, **changes)
    set_practice(study, by_construction(study.definition)[:2], needed=needed, tries=tries)
    (ada,) = study.invite(["Ada"])
    study.begin(ada)
    return study, ada


def go_through(study: Study, annotator: str, *, right: bool) -> None:
    """Answer a whole try: the wrong caption of each is refused, or liked best."""
    while True:
        now = lesson(study, annotator)
        assert now.exercise is not None
        left = study.definition.left_version(annotator, now.exercise.item)
        good = {"original": 2, "variant": 0} if right else {"original": 0, "variant": 2}
        side = "A" if (left == "original") == right else "B"
        other = ({"original", "variant"} - {left}).pop()
        for question, value in (("A", good[left]), ("B", good[other]), ("preference", side)):
            practise(study, annotator, now.exercise.item, question, value, attempt=now.attempt)
        if now.number == now.total:
            return


def test_practice_comes_first_and_enters_no_number(tmp_path: Path) -> None:
    study, ada = practising(tmp_path)
    assert stage(study, ada) is Stage.PRACTICE
    assert set(quality_table(study)["state"]) == {"practising"}
    with pytest.raises(Refused, match="practise first"):
        study.answer(ada, "0001", "A", 2, seen=0)
    go_through(study, ada, right=True)
    assert stage(study, ada) is Stage.VOTES
    assert vote_table(study).empty
    assert not study.state().entries
    quality = quality_table(study).iloc[0]
    assert (quality["votes"], quality["attention_seen"], quality["state"]) == (0, 0, "working")
    practised = {each.item for each in by_construction(study.definition)[:2]}
    shown = finish(study, ada)
    assert not practised & set(shown)
    assert len(shown) == 8  # six items and the two checks that nobody was told about
    assert not practised & set(vote_table(study)["id"])
    table = practice_table(study)
    assert set(table["item"]) == practised
    assert table["practice"].all()
    assert table["right"].all()
    exported = json.loads(export_votes(study, "json"))
    assert not practised & {row["id"] for row in exported["votes"]}


def test_a_practice_item_of_one_s_own_leaves_the_study(tmp_path: Path) -> None:
    study = make(tmp_path, items=items(6), per_item=1)
    set_practice(study, [Exercise("0003", {"original": (2,), "preferred": ("tie",)}, "Both fit.")], needed=0, tries=1)
    (ada,) = study.invite([""])
    assert "0003" not in study.state().annotators[ada].queue
    assert "0003" not in set(coverage_table(study)["id"])
    with pytest.raises(InvalidInput, match="no item"):
        practise_then_vote(study, ada)
    assert len(finish(study, ada)) == 5


def practise_then_vote(study: Study, annotator: str) -> None:
    study.begin(annotator)
    for question, value in (("A", 2), ("B", 2), ("preference", "tie")):
        practise(study, annotator, "0003", question, value, attempt=0)
    study.answer(annotator, "0003", "A", 2, seen=0)


def test_who_fails_every_try_is_turned_away_and_their_items_go_to_others(tmp_path: Path) -> None:
    study, ada = practising(tmp_path, per_item=1)
    (bo,) = study.invite(["Bo"])
    before = len(of(study, bo).queue)
    go_through(study, ada, right=False)
    assert stage(study, ada) is Stage.PRACTICE
    assert lesson(study, ada).attempt == 1
    go_through(study, ada, right=False)
    assert stage(study, ada) is Stage.SCREENED
    assert quality_table(study).set_index("annotator").loc[ada, "state"] == "screened out"
    with pytest.raises(Refused, match="practise first"):
        study.answer(ada, "0001", "A", 2, seen=0)
    with pytest.raises(Refused, match="nothing to practise"):
        practise(study, ada, "0007", "A", 2, attempt=1)
    assert of(study, ada).queue == ()
    assert len(of(study, bo).queue) > before


def test_a_second_try_can_be_passed_and_none_is_needed_where_nobody_is_turned_away(tmp_path: Path) -> None:
    study, ada = practising(tmp_path)
    go_through(study, ada, right=False)
    go_through(study, ada, right=True)
    assert stage(study, ada) is Stage.VOTES
    lenient, bo = practising(tmp_path / "lenient", needed=0)
    go_through(lenient, bo, right=False)
    assert stage(lenient, bo) is Stage.VOTES


def test_a_second_press_in_practice_changes_nothing_and_another_process_goes_on_where_it_stopped(
    tmp_path: Path,
) -> None:
    study, ada = practising(tmp_path)
    first = lesson(study, ada).exercise
    assert first is not None
    practise(study, ada, first.item, "A", 0, attempt=0)
    with pytest.raises(Superseded):
        practise(study, ada, first.item, "A", 2, attempt=0)
    again = lesson(Study(study.folder), ada)
    assert (again.exercise, again.answers, again.number, again.total) == (first, {"A": 0}, 1, 2)


def test_practice_stays_as_it_is_once_somebody_practised_and_takes_no_item_with_votes(tmp_path: Path) -> None:
    study, ada = practising(tmp_path)
    go_through(study, ada, right=True)
    with pytest.raises(InvalidInput, match="practised already"):
        set_practice(study, (), needed=0, tries=1)
    voted = make(tmp_path, "voted")
    (bo,) = voted.invite([""])
    vote(voted, bo, "0002")
    with pytest.raises(InvalidInput, match="0002 has votes"):
        set_practice(voted, [Exercise("0002", {"variant": (0,)}, "")], needed=0, tries=1)
    set_practice(voted, [Exercise("0003", {"variant": (0,)}, "")], needed=0, tries=1)
    assert stage(voted, bo) is not Stage.PRACTICE  # who voted before is not sent back


@pytest.mark.parametrize(
    ("exercises", "needed", "tries", "why"),
    [
        ([Exercise("0001", {"variant": (7,)}, "")], 0, 1, "takes answers"),
        ([Exercise("0001", {"shows": (1,)}, "")], 0, 1, "takes answers"),
        ([Exercise("0001", {}, "")], 0, 1, "no right answer"),
        ([Exercise("9999", {"variant": (0,)}, "")], 0, 1, "no item"),
        ([Exercise("0001", {"variant": (0,)}, "")] * 2, 0, 1, "twice"),
        ([Exercise("0001", {"variant": (0,)}, "")], 2, 1, "needed"),
        ([Exercise("0001", {"variant": (0,)}, "")], 0, 4, "tries"),
    ],
)
def test_what_cannot_be_practised_is_refused_and_nothing_is_written(
    tmp_path: Path, exercises: list[Exercise], needed: int, tries: int, why: str
) -> None:
    study = make(tmp_path)
    before = study.log_path.read_bytes()
    with pytest.raises(InvalidInput, match=why):
        set_practice(study, exercises, needed=needed, tries=tries)
    assert study.log_path.read_bytes() == before


def test_an_answer_that_follows_by_construction_is_that_of_the_attention_check(tmp_path: Path) -> None:
    for kind in ("acceptability", "preference", "rating"):
        shows = "variant" if kind == "rating" else "pair"
        study = make(tmp_path, kind, kind=kind, items=items(2, attention=1, shows=shows))
        (exercise,) = by_construction(study.definition)
        scale = study.definition.asked
        assert all(scale.share(value) < 0.5 for value in exercise.right["variant"])
        assert ("preferred" in exercise.right) == (kind != "rating")
        assert Practice.read({"row": "practice", **Practice((exercise,), 1, 1).told()}, study.definition) == Practice(
            (exercise,), 1, 1
        )


# Prolific


def recruiting(tmp_path: Path, **changes: object) -> Study:
    values = {"items": items(6, attention=2), "per_item": 2, **changes}
    study = make(tmp_path, **values)
    open_link(study, items=4, completion="C0DE2026", screened_out="")
    return study


def test_one_link_for_all_names_prolific_s_placeholders_and_opens_no_annotator(tmp_path: Path) -> None:
    study = recruiting(tmp_path)
    query = link_query(study)
    assert query is not None
    assert query.endswith("&PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}")
    token = query.split("&")[0].removeprefix("token=")
    assert recruits(study, token)
    assert token not in study.log_path.read_text()
    with pytest.raises(Refused):
        study.annotator_of(token)
    open_link(study, items=5, completion="OTHER2026")
    assert link_query(study) == query  # an open link stays the same
    close_link(study)
    assert link_query(study) is None
    assert not recruits(study, token)


def test_the_same_id_comes_back_to_its_own_items_and_the_log_only_grows(tmp_path: Path) -> None:
    study = recruiting(tmp_path)
    visit = Visit(PID, "64b0", "64b1")
    assert participant(study, visit) is None
    before = study.log_path.read_bytes()
    name = join(study, visit, agreed=None, begun=True)
    assert study.log_path.read_bytes().startswith(before)
    queue = of(study, name).queue
    vote(study, name, queue[0])
    assert join(Study(study.folder), visit, agreed=None) == name == participant(study, visit)
    assert of(study, name).queue == queue
    told = next(row for row in rows(study) if row["row"] == "join")
    assert (told["pid"], told["prolific_study"], told["prolific_session"]) == (PID, "64b0", "64b1")
    place = study.place(name)
    assert (place.number, place.total, place.done) == (2, 4, 1)
    other = join(study, Visit(OTHER), agreed=None)
    assert of(study, name).queue == queue  # a newcomer moves nobody's items
    assert other != name
    assert PID not in export_votes(study, "csv").decode()


def test_the_code_comes_after_the_last_vote_and_not_before(tmp_path: Path) -> None:
    study = recruiting(tmp_path)
    name = join(study, Visit(PID), agreed=None, begun=True)
    while (item := study.place(name).item) is not None:
        assert completion_code(study.state(), of(study, name)) is None
        vote(study, name, item.id)
    assert completion_code(study.state(), of(study, name)) == "C0DE2026"
    study.set_status("closed")
    assert completion_code(study.state(), of(study, name)) == "C0DE2026"
    (ada,) = study.invite(["Ada"])
    assert completion_code(study.state(), of(study, ada)) is None  # nobody sent her
    assert return_url("C0DE2026") == "https://app.prolific.com/submissions/complete?cc=C0DE2026"


def test_who_skips_nearly_everything_gets_no_code_before_half_is_answered(tmp_path: Path) -> None:
    study = recruiting(tmp_path)
    name = join(study, Visit(PID), agreed=None, begun=True)
    queue = of(study, name).queue
    for item in queue:
        study.skip(name, item, "another reason", seen=0)
    assert answered(study.state(), of(study, name)) == (0, 2)
    assert completion_code(study.state(), of(study, name)) is None
    for item in queue[:2]:
        assert completion_code(study.state(), of(study, name)) is None
        vote(study, name, item)
    assert completion_code(study.state(), of(study, name)) == "C0DE2026"


def test_newcomers_get_what_lacks_most_votes_until_nothing_does(tmp_path: Path) -> None:
    study = make(tmp_path, items=items(6), per_item=2)
    open_link(study, items=4, completion="C0DE2026")
    names = []
    for number in range(3):
        names.append(join(study, Visit(f"{number:024d}"), agreed=None, begun=True))
        finish(study, names[-1])
    assert set(coverage_table(study)["votes"]) == {2}
    with pytest.raises(Refused, match="all the answers"):
        join(study, Visit(PID), agreed=None)
    assert participant(study, Visit(PID)) is None
    assert PID not in study.log_path.read_text()


def test_what_a_silent_participant_holds_is_given_to_the_next_and_theirs_too_when_they_come_back(
    tmp_path: Path,
) -> None:
    now = [1_800_000_000.0]
    study = Study(make(tmp_path, items=items(4), per_item=1).folder, clock=lambda: now[0])
    open_link(study, items=4, completion="C0DE2026")
    gone = join(study, Visit(PID), agreed=None, begun=True)
    with pytest.raises(Refused, match="all the answers"):
        join(study, Visit(OTHER), agreed=None)
    now[0] += JOINED_HOURS * 3600 + 1
    other = join(study, Visit(OTHER), agreed=None, begun=True)
    assert set(of(study, other).queue) == set(of(study, gone).queue)
    assert len(finish(study, gone)) == 4


def test_invited_annotators_are_not_asked_for_what_participants_hold(tmp_path: Path) -> None:
    study = make(tmp_path, items=items(6), per_item=1)
    open_link(study, items=4, completion="C0DE2026")
    name = join(study, Visit(PID), agreed=None)
    (ada,) = study.invite(["Ada"])
    assert set(of(study, ada).queue) == {each.id for each in study.definition.items} - set(of(study, name).queue)


def test_consent_is_the_first_thing_that_is_stored_of_a_participant(tmp_path: Path) -> None:
    study = recruiting(tmp_path)
    set_consent(study, "We keep your answers.")
    consent = study.state().consent
    assert consent is not None
    for wrong in (None, "0" * 64):
        with pytest.raises(Refused, match="changed while"):
            join(study, Visit(PID), agreed=wrong)
    assert PID not in study.log_path.read_text()
    name = join(study, Visit(PID), agreed=consent.digest)
    kinds = [row["row"] for row in rows(study)]
    assert [(one, other) for one, other in pairwise(kinds) if one == "join"] == [("join", "accept")]
    assert of(study, name).accepted == consent.digest
    assert stage(study, name) is Stage.INSTRUCTIONS


def test_a_withdrawn_participant_does_not_come_back_as_somebody_new(tmp_path: Path) -> None:
    study = recruiting(tmp_path)
    name = join(study, Visit(PID), agreed=None, begun=True)
    finish(study, name)
    study.withdraw(name)
    assert vote_table(study).empty
    with pytest.raises(Refused, match="ended by the researcher"):
        participant(study, Visit(PID))


def test_a_paused_study_takes_nobody_in(tmp_path: Path) -> None:
    study = recruiting(tmp_path)
    study.set_status("paused")
    with pytest.raises(Refused, match="paused"):
        join(study, Visit(PID), agreed=None)
    assert not study.state().annotators


@pytest.mark.parametrize(
    "pid",
    [
        "",
        "x",
        "{{%PROLIFIC_PID%}}",
        "5f0c9a1b2c3d4e5f6071829",
        PID + "0",
        "../../../etc/passwd00000",
        "<script>alert(1)</script",
        "5f0c9a1b2c3d4e5f6071829\n",
        "é" * 24,
        "٣" * 24,
        "A" * 100_000,
    ],
)
def test_an_id_that_cannot_be_prolific_s_is_refused(pid: str) -> None:
    with pytest.raises(Refused, match="no valid Prolific ID"):
        read_visit({"PROLIFIC_PID": pid})


def test_the_other_parameters_are_left_out_where_they_cannot_be_ids() -> None:
    told = {"PROLIFIC_PID": PID.upper(), "STUDY_ID": "<b>", "SESSION_ID": "64b1-_x"}
    assert read_visit(told) == Visit(PID, "", "64b1-_x")
    assert read_visit({"STUDY_ID": "64b0"}) is None


@given(st.text(max_size=60))
@settings(max_examples=200, deadline=None)
def test_whatever_stands_in_a_link_gives_a_checked_id_or_a_sentence(text: str) -> None:
    try:
        found = read_visit({"PROLIFIC_PID": text, "STUDY_ID": text, "SESSION_ID": text})
    except Refused:
        return
    assert found is not None
    assert len(found.pid) == 24
    assert found.pid.isascii()
    assert found.pid.isalnum()


@pytest.mark.parametrize("code", ["", "abc", "x" * 41, "a b c d", "a&cc=b", "<script>"])
def test_a_code_that_is_unsafe_in_an_address_is_refused(tmp_path: Path, code: str) -> None:
    study = make(tmp_path)
    with pytest.raises(InvalidInput, match="code"):
        open_link(study, items=4, completion=code)
    assert study.state().prolific is None


def test_codes_that_are_made_are_fit_and_differ_and_the_two_may_not_be_the_same(tmp_path: Path) -> None:
    codes = {new_code() for _ in range(50)}
    assert len(codes) == 50
    assert all(CODE.fullmatch(code) for code in codes)
    study = make(tmp_path)
    with pytest.raises(InvalidInput, match="turned away would be paid"):
        open_link(study, items=4, completion="SAME2026", screened_out="SAME2026")
    with pytest.raises(InvalidInput, match="1 to 1000"):
        open_link(study, items=0, completion="C0DE2026")


def test_a_log_from_before_asks_for_none_of_it(tmp_path: Path) -> None:
    study = make(tmp_path)
    (ada,) = study.invite(["Ada"])
    state = Study(study.folder).state()
    assert (state.consent, state.practice, state.prolific) == (None, None, None)
    assert state.stage(state.annotators[ada]) is Stage.INSTRUCTIONS
    vote(study, ada, "0001")
    assert seen(study, ada, "0001") == 3


@pytest.mark.parametrize(
    "row",
    [
        {"row": "consent", "text": 7},
        {"row": "practice", "exercises": [{"item": "x", "right": {}, "why": ""}], "needed": 0, "tries": 1},
        {"row": "prolific", "items": "many"},
        {"row": "join", "annotator": "a09"},
        {"row": "practise", "annotator": "a01", "item": "0001", "try": 5, "question": "A", "answer": 0},
        {"row": "accept", "annotator": "nobody", "text_sha256": "x"},
    ],
)
def test_a_row_that_makes_no_sense_is_left_out_and_told(tmp_path: Path, row: dict[str, object]) -> None:
    study = make(tmp_path)
    study.invite([""])
    study.record(lambda _: [row])
    assert any("do not fit" in problem for problem in study.problems())
    finish(study, "a01")
