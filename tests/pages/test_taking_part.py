"""Consent, practice and the way from Prolific and back, on the annotator's screen and on the coordinator's."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.features.human.creation import create_study
from core.features.human.definition import Definition
from core.features.human.entrance import by_construction
from core.features.human.first_steps import lesson, practice_table, set_consent, set_practice
from core.features.human.prolific import link_query, open_link
from core.features.human.studies import Study, studies_dir
from core.features.human.votes import vote_table
from core.settings import ROOT
from core.store.store import Store
from pages.views.human_validation import human_view as study_annotate
from tests.features.human.small_study import finish, vote
from tests.pages.opening import HUMAN, Open, texts, turned

PID = "5f0c9a1b2c3d4e5f60718293"
CONSENT = "We study captions.\n\nYou may stop at any time; *nothing* is [sold](http://x)."


@pytest.fixture(scope="module")
def definition(tmp_path_factory: pytest.TempPathFactory) -> Definition:
    """Four pairs of the shipped run and five items with a known answer."""
    with Store.open(ROOT / "data" / "results") as store:
        return create_study(
            store,
            "demo",
            study_id="pilot",
            title="Secret title",
            kind="acceptability",
            total=4,
            per_item=2,
            attention_rate=0.05,
            seed=1,
            parent=tmp_path_factory.mktemp("drawn"),
        ).definition


@pytest.fixture
def study(open_page: Open, definition: Definition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.setattr(study_annotate, "TOO_SOON", 0.0)
    data = tmp_path / "data"
    data.mkdir()
    (data / "demo").symlink_to(ROOT / "data" / "demo")
    return Study.create(studies_dir(), definition)


def follow(token: str | None, **params: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    turned(app, HUMAN)
    app.query_params.update({"token": str(token), **params})
    return app.run()


def from_prolific(study: Study, pid: str = PID) -> AppTest:
    """Open the study's link as Prolific fills it."""
    return follow(link_token(study), PROLIFIC_PID=pid, STUDY_ID="64b0", SESSION_ID="64b1")


def link_token(study: Study) -> str:
    query = link_query(study)
    assert query is not None
    return query.split("&")[0].removeprefix("token=")


def press(app: AppTest, label: str, *, which: int = 0) -> AppTest:
    found = [button for button in app.button if button.label == label]
    app = found[which].click().run()
    assert not app.exception
    return app


def practise_once(app: AppTest, study: Study, annotator: str, *, right: bool) -> AppTest:
    """Answer one practice item and return the screen with its feedback."""
    now = lesson(study, annotator)
    assert now.exercise is not None
    left = study.definition.left_version(annotator, now.exercise.item)
    first = "fully correct" if (left == "original") == right else "incorrect"
    second = "incorrect" if first == "fully correct" else "fully correct"
    app = press(app, first)
    app = press(app, second, which=1)
    return press(app, "A is better" if (left == "original") == right else "B is better")


def test_the_way_of_a_participant_from_the_link_over_consent_and_practice_to_the_code(
    open_page: Open, study: Study
) -> None:
    open_link(study, items=3, completion="C0DE2026")
    set_consent(study, CONSENT)
    set_practice(study, by_construction(study.definition)[:2], needed=1, tries=2)
    app = from_prolific(study)
    assert "Do you agree to take part?" in texts(app)
    assert "nothing" in texts(app)
    assert "](http" not in texts(app).replace("\\", "").replace("[sold](http", "")  # plain text makes no link
    assert PID not in study.log_path.read_text()
    app = press(app, "I agree")
    (annotator,) = study.state().by_pid.values()
    app = press(app, "Begin")
    assert "Practice 1 of 2" in progress(app)
    app = practise_once(app, study, annotator, right=True)
    assert "Right." in texts(app)
    assert "does not show" in texts(app)
    app = press(app, "Go on")
    app = practise_once(app, study, annotator, right=False)
    assert "Not quite." in texts(app)
    app = press(app, "Go on")
    assert "from here every answer counts" in progress(app)
    assert vote_table(study).empty
    finish_all_but_one(study, annotator)
    app = from_prolific(study)  # the same id, another browser
    assert "C0DE2026" not in everything(app)
    app = press(app, "fully correct")
    app = press(app, "fully correct", which=1)
    app = press(app, "equally good")
    assert "Done, thank you" in texts(app)
    assert [block.value for block in app.code] == ["C0DE2026"]
    assert "https://app.prolific.com/submissions/complete?cc=C0DE2026" in everything(app)
    assert len(vote_table(study)) == 3


def progress(app: AppTest) -> str:
    return " ".join(each.proto.text for each in app.get("progress"))


def everything(app: AppTest) -> str:
    return (
        texts(app)
        + "".join(str(each.proto) for each in app.get("link_button"))
        + "".join(block.value for block in app.code)
    )


def finish_all_but_one(study: Study, annotator: str) -> None:
    while (place := study.place(annotator)).done < place.total - 1:
        assert place.item is not None
        vote(study, annotator, place.item.id)


def test_who_declines_is_thanked_and_nothing_of_them_is_stored(open_page: Open, study: Study) -> None:
    open_link(study, items=3, completion="C0DE2026")
    set_consent(study, CONSENT)
    before = study.log_path.read_bytes()
    app = press(from_prolific(study), "I do not agree")
    assert "You do not take part" in texts(app)
    assert "Nothing about you was stored" in texts(app)
    assert "return your submission" in texts(app)
    assert study.log_path.read_bytes() == before
    app = press(app, "Read it again")
    press(app, "I agree")
    assert len(study.state().by_pid) == 1


def test_an_invited_annotator_is_asked_too_and_practises_too(open_page: Open, study: Study) -> None:
    set_consent(study, CONSENT)
    set_practice(study, by_construction(study.definition)[:1], needed=0, tries=1)
    (ada,) = study.invite(["Ada"])
    app = press(follow(study.token(ada)), "I do not agree")
    assert "Prolific" not in texts(app)
    app = press(press(app, "Read it again"), "I agree")
    app = press(app, "Begin")
    app = press(practise_once(app, study, ada, right=False), "Go on")
    assert re.search("Item 1 of .* every answer counts", progress(app))


def test_who_fails_practice_is_told_plainly_and_gets_the_screened_out_code_where_there_is_one(
    open_page: Open, study: Study
) -> None:
    open_link(study, items=3, completion="C0DE2026")
    set_practice(study, by_construction(study.definition)[:1], needed=1, tries=2)
    app = press(from_prolific(study), "Begin")
    (annotator,) = study.state().by_pid.values()
    app = press(practise_once(app, study, annotator, right=False), "Go on")
    assert "this is your last try" in texts(app)
    app = press(practise_once(app, study, annotator, right=False), "Go on")
    assert "The study ends here for you" in texts(app)
    assert "you had 0 at best" in texts(app)
    assert "return your submission" in texts(app)
    assert "C0DE2026" not in everything(app)
    open_link(study, items=3, completion="C0DE2026", screened_out="0UT-2026")
    app = from_prolific(study)
    assert [block.value for block in app.code] == ["0UT-2026"]
    assert vote_table(study).empty


@pytest.mark.parametrize("pid", ["", "short", "{{%PROLIFIC_PID%}}", "<script>alert(1)</script>", "../../../secret"])
def test_a_link_with_a_strange_id_stores_nothing_and_says_one_sentence(open_page: Open, study: Study, pid: str) -> None:
    open_link(study, items=3, completion="C0DE2026")
    before = study.log_path.read_bytes()
    app = from_prolific(study, pid)
    assert not app.exception
    assert "Prolific ID" in texts(app)
    assert [button.label for button in app.button] == []
    assert study.log_path.read_bytes() == before


def test_the_study_s_link_without_an_id_and_a_personal_link_with_one_open_nothing(
    open_page: Open, study: Study
) -> None:
    open_link(study, items=3, completion="C0DE2026")
    assert "lacks your Prolific ID" in texts(follow(link_token(study)))
    (ada,) = study.invite(["Ada"])
    app = follow(study.token(ada), PROLIFIC_PID=PID)
    assert "personal link of one annotator" in texts(app)
    assert PID not in study.log_path.read_text()


def test_a_full_a_paused_and_a_closed_study_tell_a_newcomer_so(open_page: Open, study: Study) -> None:
    open_link(study, items=40, completion="C0DE2026")
    study.set_status("paused")
    assert "paused" in texts(from_prolific(study))
    study.set_status("closed")
    assert "return your submission" in texts(from_prolific(study))
    study.set_status("open")
    for number in range(2):
        app = press(from_prolific(study, f"{number:024d}"), "Begin")
        finish(study, study.state().by_pid[f"{number:024d}"])
    app = from_prolific(study)
    assert "has all the answers that it needs" in texts(app)
    assert PID not in study.log_path.read_text()


def test_who_skipped_too_much_is_told_how_to_get_the_code(open_page: Open, study: Study) -> None:
    open_link(study, items=3, completion="C0DE2026")
    press(from_prolific(study), "Begin")
    (annotator,) = study.state().by_pid.values()
    for item in study.state().annotators[annotator].queue:
        study.skip(annotator, item, "it upsets me", seen=0)
    app = from_prolific(study)
    assert "Almost done" in texts(app)
    assert "needs at least 2 answered" in texts(app)
    assert not app.code
    assert "Back" in [button.label for button in app.button]


# The coordinator


def test_a_coordinator_sets_consent_practice_and_the_link(open_page: Open, study: Study) -> None:
    app = open_page(HUMAN, study="pilot", part="entrance")
    assert "No consent is asked now" in texts(app)
    assert "Nobody practises now" in texts(app)
    app.text_area[0].set_value(CONSENT)
    app = press(app, "Save the text")
    consent = study.state().consent
    assert consent is not None
    assert consent.text == CONSENT
    app.number_input(key="study.practice.count.pilot").set_value(2)
    app.number_input(key="study.practice.needed.pilot").set_value(1)
    app = press(app, "Save practice")
    practice = study.state().practice
    assert practice is not None
    assert (len(practice.exercises), practice.needed, practice.tries) == (2, 1, 2)
    app.number_input(key="study.prolific.items.pilot").set_value(3)
    app = press(app, "Open the link")
    told = study.state().prolific
    assert told is not None
    assert re.fullmatch(r"[A-Z2-9]{8}", told.completion)
    assert f"?{link_query(study)}" in "".join(block.value for block in app.code)
    app = press(app, "Close the link")
    assert link_query(study) is None


def test_what_a_coordinator_enters_wrongly_is_one_sentence_and_changes_nothing(open_page: Open, study: Study) -> None:
    app = open_page(HUMAN, study="pilot", part="entrance")
    app.number_input(key="study.practice.count.pilot").set_value(1)
    app.number_input(key="study.practice.needed.pilot").set_value(3)
    app = press(app, "Save practice")
    assert "of 1 practice items 0 to 1 can be needed" in texts(app)
    app.text_input(key="study.prolific.code.pilot").set_value("a b")
    app = press(app, "Open the link")
    assert "a code has 4 to 40 letters" in texts(app)
    assert (study.state().practice, study.state().prolific) == (None, None)


def test_an_item_of_one_s_own_is_added_removed_and_locked_once_somebody_practised(
    open_page: Open, study: Study
) -> None:
    app = open_page(HUMAN, study="pilot", part="entrance")
    item = app.selectbox(key="study.practice.item.pilot").value
    app.selectbox(key=f"study.practice.right.{item}.variant").select("0")
    app.text_input(key=f"study.practice.why.{item}").set_value("It is upside down.")
    app = press(app, "Add it to practice")
    practice = study.state().practice
    assert practice is not None
    assert [(each.item, dict(each.right), each.why) for each in practice.exercises] == [
        (item, {"variant": (0,)}, "It is upside down.")
    ]
    app = press(app, "Remove")
    assert study.state().practice is None
    app = press(app, "Add it to practice")
    assert "no right answer" in texts(app)
    app.selectbox(key="study.practice.item.pilot").select(item).run()
    app.selectbox(key=f"study.practice.right.{item}.variant").select("0")
    app.text_input(key=f"study.practice.why.{item}").set_value("It is upside down.")
    app = press(app, "Add it to practice")
    (ada,) = study.invite(["Ada"])
    study.begin(ada)
    shown = practise_once(follow(study.token(ada)), study, ada, right=False)
    assert "upside down" in texts(shown)
    app = open_page(HUMAN, study="pilot", part="entrance")
    assert "1 annotator practised already" in texts(app)
    assert "Save practice" not in [button.label for button in app.button]
    assert len(practice_table(study)) == 1


def test_the_coordinator_alone_sees_the_ids_of_prolific(open_page: Open, study: Study) -> None:
    open_link(study, items=3, completion="C0DE2026")
    study.invite(["Ada"])
    frame = next(each.value for each in open_page(HUMAN, study="pilot").dataframe if "state" in each.value)
    assert "pid" not in frame
    press(from_prolific(study), "Begin")
    frame = next(each.value for each in open_page(HUMAN, study="pilot").dataframe if "state" in each.value)
    assert list(frame["pid"].dropna()) == [PID]
