"""Both views through ``app.py``; what a browser alone can show stands in ``tests/browser/test_study.py``."""

import json
import re
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.analysis.scope import Narrowed, narrow
from core.features.feature import views
from core.features.human.creation import create_study, planned_precision
from core.features.human.definition import ORIGINAL, Definition
from core.features.human.kinds import ACCEPTABILITY
from core.features.human.ledger import PAUSED
from core.features.human.quality import coverage_table, quality_table
from core.features.human.sampling import family_strata
from core.features.human.studies import Study, studies_dir
from core.features.human.votes import vote_table
from core.settings import ROOT
from core.statistics.agreement import in_words
from core.store.store import Store
from pages.views.common import access as study_access
from pages.views.common.open_runs import known_values, present, store
from pages.views.common.page_head import code_svg
from pages.views.human_validation import human_view as study_annotate
from pages.views.human_validation import study_people
from pages.views.human_validation.annotator_steps import SEEN, shown_item
from pages.views.human_validation.coordinator import GROUPS, PARTS
from tests.features.human.small_study import finish, vote, vote_versions
from tests.pages.opening import (
    FAILURES,
    HUMAN,
    LAB,
    OVERVIEW,
    Open,
    collected,
    long_sentences,
    offer_log_in,
    said,
    texts,
    turned,
    unfolded,
)
from tests.pages.test_little_on_pages import offences


@pytest.fixture(scope="module")
def definition(tmp_path_factory: pytest.TempPathFactory) -> Definition:
    """Nine pairs of the shipped run, drawn once."""
    with Store.open(ROOT / "data" / "results") as store:
        return create_study(
            store,
            "demo",
            study_id="pilot",
            title="Secret title",
            kind="acceptability",
            total=9,
            per_item=3,
            attention_rate=0.0,
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


@pytest.fixture
def results(study: Study, tmp_path: Path) -> None:
    """The run that the study was drawn from; only who reads scores needs it."""
    (tmp_path / "data" / "results").mkdir()
    (tmp_path / "data" / "results" / "demo").symlink_to(ROOT / "data" / "results" / "demo")


@pytest.fixture
def every_run(study: Study, tmp_path: Path) -> None:
    """All runs that ship."""
    (tmp_path / "data" / "results").symlink_to(ROOT / "data" / "results")


def annotate(token: str | None) -> AppTest:
    """Open an annotator's link."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    turned(app, HUMAN)
    app.query_params["token"] = str(token)
    return app.run()


def press(app: AppTest, label: str, *, which: int = 0) -> AppTest:
    """Press the button of that label; where several have it, the one of that place."""
    found = [button for button in app.button if button.label == label]
    return found[which].click().run()


def test_an_annotator_reads_the_instructions_then_judges_and_every_answer_is_in_the_log(
    open_page: Open, study: Study
) -> None:
    (ada,) = study.invite(["Ada"])
    app = annotate(study.token(ada))
    assert "Before you begin" in texts(app)
    app = press(app, "Begin")
    item = study.place(ada).item
    assert item is not None
    assert [button.label for button in app.button if button.disabled] == [
        "A is better",
        "B is better",
        "equally good",
        "Back",
    ]
    app = press(app, "fully correct")
    assert study.state().entries[ada, item.id].answers == {"A": 2}
    app = press(app, "incorrect", which=1)
    app = press(app, "A is better")
    assert not app.exception
    row = vote_table(study).iloc[0]
    assert (row["id"], row[row["left"]]) == (item.id, 2.0)
    assert study.place(ada).number == 2


def test_what_an_annotator_sees_names_no_family_no_probe_no_evaluator_and_no_score(
    open_page: Open, study: Study
) -> None:
    (ada,) = study.invite(["Ada"])
    study.begin(ada)
    for _ in range(9):
        app = annotate(study.token(ada))
        item = study.place(ada).item
        assert item is not None
        images = [image for element in app.image for image in element.proto.imgs]
        said = (texts(app) + "".join(image.alt + image.caption for image in images)).lower()
        said = (
            said.replace("\\", "").replace(item.original_caption.lower(), "").replace(item.variant_caption.lower(), "")
        )
        for word in (
            item.family,
            item.probe,
            item.item,
            item.stratum,
            "conse",
            "judge-",
            "secret title",
            "pilot",
            ORIGINAL,
        ):
            assert word.lower() not in said, word
        finish_one(study, ada)


def finish_one(study: Study, annotator: str) -> None:
    place = study.place(annotator)
    assert place.item is not None
    vote_versions(study, annotator, place.item.id, original=2, variant=2, preferred="tie")


def test_back_shows_the_answers_and_another_press_corrects_them(open_page: Open, study: Study) -> None:
    (ada,) = study.invite(["Ada"])
    study.begin(ada)
    item = study.place(ada).item
    assert item is not None
    finish_one(study, ada)
    app = press(annotate(study.token(ada)), "Back")
    app = press(app, "incorrect")
    entry = study.state().entries[ada, item.id]
    assert entry.corrections == 1
    assert entry.answers["A"] == 0
    app = press(app, "Go on")
    assert not app.exception
    assert "Item 2 of 9" in progress(app)


def progress(app: AppTest) -> str:
    return " ".join(element.proto.text for element in app.get("progress"))


def test_skipping_takes_a_reason_and_a_comment_is_kept(open_page: Open, study: Study) -> None:
    (ada,) = study.invite(["Ada"])
    study.begin(ada)
    item = study.place(ada).item
    assert item is not None
    app = press(annotate(study.token(ada)), "Comment")
    app.text_input[0].set_value("a **bold** remark").run()
    app = press(app, "Skip")
    app = press(app, "It upsets me")
    entry = study.state().entries[ada, item.id]
    assert (entry.skipped, entry.comment) == ("it upsets me", "a **bold** remark")


def test_two_tabs_of_one_annotator_do_not_answer_twice(open_page: Open, study: Study) -> None:
    (ada,) = study.invite(["Ada"])
    study.begin(ada)
    item = study.place(ada).item
    assert item is not None
    one, other = (annotate(study.token(ada)) for _ in range(2))
    press(one, "fully correct")
    other = press(other, "incorrect")
    assert study.state().entries[ada, item.id].answers == {"A": 2}
    assert "another tab" in texts(other)
    press(other, "incorrect")
    assert study.state().entries[ada, item.id].answers == {"A": 0}


def test_a_held_key_is_no_judgement(open_page: Open, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study_annotate, "TOO_SOON", 60.0)
    (ada,) = study.invite(["Ada"])
    study.begin(ada)
    app = press(annotate(study.token(ada)), "fully correct")
    assert "faster than anyone" in texts(app)
    assert study.state().entries == {}


@pytest.mark.parametrize("token", ["x", "A" * 43, "", "<script>alert(1)</script>", "../../secret"])
def test_a_wrong_token_opens_nothing(open_page: Open, study: Study, token: str) -> None:
    app = annotate(token)
    assert not app.exception
    assert "not valid" in texts(app)
    assert "Study" not in [box.label for box in app.selectbox]


def test_a_revoked_link_stops_at_the_next_press(open_page: Open, study: Study) -> None:
    (ada,) = study.invite(["Ada"])
    study.begin(ada)
    app = annotate(study.token(ada))
    study.revoke(ada)
    app = press(app, "fully correct")
    assert study.state().entries == {}
    assert "not valid" in texts(app)


def test_paused_closed_and_done_are_said(open_page: Open, study: Study) -> None:
    (ada,) = study.invite(["Ada"])
    study.begin(ada)
    token = study.token(ada)
    study.set_status("paused")
    assert "paused" in texts(annotate(token))
    study.set_status("closed")
    assert "closed" in texts(annotate(token))
    study.set_status("open")
    finish(study, ada)
    assert "Done, thank you" in texts(annotate(token))


def test_a_study_whose_corpus_vanished_loses_no_answer_and_says_so(open_page: Open, study: Study) -> None:
    (ada,) = study.invite(["Ada"])
    study.begin(ada)
    path = study.folder / "study.json"
    told = json.loads(path.read_text().replace('"corpus": "demo"', '"corpus": "gone"'))
    del told["sha256"]
    path.write_text(json.dumps(told))
    app = annotate(study.token(ada))
    assert not app.exception
    assert "cannot be shown now" in texts(app)


def test_an_annotator_has_no_menu_and_no_other_page(open_page: Open, study: Study) -> None:
    app = annotate(study.token(study.invite(["Ada"])[0]))
    assert study_access.visible(views())
    assert not app.sidebar.children
    assert "Secret title" not in texts(app)


@pytest.fixture
def guarded(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """Who is logged in at the provider of a server that has a log-in."""
    return offer_log_in(monkeypatch)


def test_with_a_log_in_no_page_opens_before_it(study: Study, guarded: dict[str, object]) -> None:
    study.invite(["Ada"])
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run()
    assert [button.label for button in app.button] == ["Log in"]
    assert "Secret title" not in texts(app)
    assert "demo" not in texts(app)


def test_another_account_opens_nothing_and_a_coordinator_s_the_studies(
    open_page: Open, study: Study, guarded: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    guarded.update(is_logged_in=True, email="eve@example.org")
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run()
    assert "no coordinator" in texts(app)
    assert "Study" not in [box.label for box in app.selectbox]
    guarded.update(email="ada@example.org")
    app = turned(app.run(), HUMAN).run()
    assert not app.exception
    assert [box.value for box in app.selectbox if box.label == "Study"] == ["pilot"]
    monkeypatch.setattr(st, "logout", lambda: None)
    app = press(app, "Sign out")
    assert "Study" not in [box.label for box in app.selectbox]


def test_a_token_still_works_where_a_log_in_is_set(study: Study, guarded: dict[str, object]) -> None:
    assert "Before you begin" in texts(annotate(study.token(study.invite(["Ada"])[0])))


def test_a_server_that_others_reach_shows_no_study_without_a_log_in(
    open_page: Open, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study_access, "_local", lambda: False)
    token = study.token(study.invite(["Ada"])[0])
    said = texts(open_page(HUMAN))
    assert study_access.COORDINATORS in said.replace("\\", "")
    assert "Secret title" not in said
    assert "not set up for annotation" in texts(annotate(token))


def test_a_coordinator_creates_invites_and_watches(open_page: Open, study: Study, results: None) -> None:
    for path in sorted(study.folder.iterdir()):
        path.unlink()
    study.folder.rmdir()
    app = open_page(HUMAN)
    assert "No studies yet" in texts(app)
    app.number_input(key="study.new.total").set_value(9).run()
    for sentence in planned_precision(ACCEPTABILITY, items=9, annotators=3):
        assert sentence in texts(app)  # what nine items can tell, before anybody is asked
    app = press(app, "Create the study")
    assert not app.exception
    (name,) = [path.name for path in studies_dir().iterdir()]
    app.text_input(key="study.invite.names").set_value("Ada, Bo")
    app = press(app, "Create links")
    made = Study(studies_dir() / name)
    assert [each.name for each in made.state().annotators.values()] == ["Ada", "Bo"]
    links = [block.value for block in app.code if block.value.startswith("http")]
    assert [made.annotator_of(link.split("token=")[1]) for link in links] == ["a01", "a02"]


@pytest.mark.parametrize(
    "part", ["people", "entrance", "outcomes", "comparisons", "powered", "agreement", "scores", "gallery", "files"]
)
def test_every_part_opens_without_votes_and_with_them(open_page: Open, study: Study, results: None, part: str) -> None:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params.update({"study": "pilot", "part": part})
    assert not turned(app, HUMAN).run().exception
    people = study.invite(["Ada", "Bo", "Cy"])
    for number, name in enumerate(people):
        for item in study.definition.items:
            if not item.attention:
                vote_versions(study, name, item.id, original=2, variant=number, preferred="tie")
    app.run()
    assert not app.exception
    assert not app.error
    images = [image for element in app.image for image in element.proto.imgs]
    assert all(image.alt for image in images)
    assert all(chart.proto.alt for chart in app.get("plotly_chart"))
    assert not [
        name for frame in app.dataframe for name in frame.value if "0 of 0" in set(frame.value[name].astype(str))
    ]
    for frame in app.dataframe:  # no column is called by the name that code has for it
        heads = json.loads(frame.proto.columns or "{}")
        shown = list(frame.proto.column_order) or list(frame.value)
        assert {"what", "low", "high", "stratum", "votes"} & set(shown) <= set(heads)
    assert not re.search(r"\dT\d\d:", texts(app))
    if part == "outcomes":
        assert "n = 9 items" in texts(app)
    if part == "agreement":
        assert long_sentences(texts(app)) == []
        assert re.search(r"95 % CI|no interval", texts(app))
        assert "Landis and Koch (1977). Poor below 0, slight up to 0.20" in texts(app)
        kappas = next(frame.value for frame in app.dataframe if "kappa" in frame.value)
        assert all(
            said.split(" (")[0] == in_words(kappa) for said, kappa in zip(kappas["words"], kappas["kappa"], strict=True)
        )
        assert "by knowing rather than guessing, under MACE" in texts(app)
        assert "The likeliest answer is the commonest one in" in texts(app)


@pytest.mark.parametrize(
    ("part", "why"),
    [
        ("outcomes", "No item has two votes yet"),
        ("powered", "has 1 item with votes; 2 in every stratum are needed"),
        ("agreement", "1 annotator cannot tell how far people differ"),
        ("scores", "no pair has two votes yet"),
    ],
)
def test_of_one_annotator_s_votes_no_part_claims_anything_and_each_says_why(
    open_page: Open, study: Study, results: None, part: str, why: str
) -> None:
    finish(study, study.invite(["Ada"])[0])
    app = open_page(HUMAN, study="pilot", part=part)
    assert not app.exception
    words, frames = said(app), [each.value for each in app.dataframe]
    assert not (bad := list(offences("one item", words, frames))), bad
    assert why in words


def test_a_coordinator_draws_directional_families_and_reads_people_beside_evaluators(
    open_page: Open, study: Study, every_run: None
) -> None:
    for path in sorted(study.folder.iterdir()):
        path.unlink()
    study.folder.rmdir()
    app = open_page(HUMAN)
    app.selectbox(key="study.new.run").select("demo-scenes").run()
    app.selectbox(key="study.new.kind").select("preference").run()
    app.radio(key="study.new.strata").set_value("Families of my choice").run()
    assert "Choose at least one family" in texts(app)
    assert "vertical-flip" not in app.multiselect(key="study.new.directional").options
    app.multiselect(key="study.new.directional").set_value(["foil", "order"]).run()
    app.number_input(key="study.new.total").set_value(6).run()
    app = press(app, "Create the study")
    assert not app.exception
    (name,) = [path.name for path in studies_dir().iterdir()]
    made = Study(studies_dir() / name)
    assert {item.family for item in made.definition.items if not item.attention} == {"foil", "order"}
    app = open_page(HUMAN, study=name, part="comparisons")
    assert "have two votes yet" in texts(app)
    for annotator in made.invite(["Ada", "Bo"]):
        for item in made.definition.items:
            if not item.attention:
                vote_versions(made, annotator, item.id, original=4, variant=1, preferred="original")
    app = open_page(HUMAN, study=name, part="comparisons")
    assert not app.exception
    assert not app.error
    people, evaluators = (frame.value for frame in app.dataframe if "family" in frame.value)
    assert people.set_index("family").loc["all comparisons", ["n", "prefer", "higher"]].tolist() == [6, 100, 100]
    assert set(evaluators["family"]) == {"foil", "order", "all comparisons"}
    assert "n = 6 comparisons" in texts(app)
    assert "under *Results, Right and wrong*" in texts(open_page(HUMAN, study=name, part="outcomes"))


def test_a_study_of_pairs_alone_says_that_it_holds_no_comparison(open_page: Open, study: Study) -> None:
    app = open_page(HUMAN, study="pilot", part="comparisons")
    assert "asks about no comparison" in texts(app)
    assert not app.dataframe


@pytest.mark.parametrize("kind", ["acceptability", "preference", "rating", "correctness"])
def test_what_an_annotator_sees_of_a_comparison_does_not_tell_the_right_side(
    open_page: Open, study: Study, results: None, kind: str
) -> None:
    with Store.open(ROOT / "data" / "results") as opened:
        made = create_study(
            opened,
            "demo-scenes",
            study_id=f"sides-{kind}",
            title="Secret title",
            kind=kind,
            total=4,
            per_item=1,
            attention_rate=0.0,
            seed=1,
            strata=family_strata(directional=["foil", "order"]),
        )
    (ada,) = made.invite(["Ada"])
    made.begin(ada)
    while (item := made.place(ada).item) is not None:
        app = annotate(made.token(ada))
        assert not app.exception
        images = [image for element in app.image for image in element.proto.imgs]
        said = (texts(app) + "".join(image.alt + image.caption + image.url for image in images)).lower()
        said = said.replace("\\", "")
        for caption in (item.original_caption, item.variant_caption):
            said = said.replace(caption.lower(), "")
        for word in (*item.family.split(), item.probe, item.item, "directional", "wrong", "right", ORIGINAL, "variant"):
            assert not re.search(rf"\b{re.escape(word.lower())}\b", said), word
        finish_place(made, ada)


def test_who_says_not_correct_is_asked_why_and_goes_on_once_every_reason_is_answered(
    open_page: Open, study: Study, results: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study_annotate, "TOO_SOON", 0.0)
    with Store.open(ROOT / "data" / "results") as opened:
        made = create_study(
            opened,
            "demo-scenes",
            study_id="why",
            title="Why",
            kind="correctness",
            total=2,
            per_item=1,
            attention_rate=0.0,
            seed=1,
            strata=family_strata(directional=["foil"]),
        )
    (ada,) = made.invite(["Ada"])
    made.begin(ada)
    item = made.place(ada).item
    assert item is not None
    app = annotate(made.token(ada))
    assert "ungrammatical" not in texts(app)
    app = app.button(f"study.{item.id}.rating.0").click().run()
    assert "Is it ungrammatical?" in texts(app)
    for reason, value in (("ungrammatical", 0), ("incomplete", 1), ("not in the picture", 1)):
        assert made.place(ada).item == item
        app = app.button(f"study.{item.id}.{reason}.{value}").click().run()
        assert not app.exception
    assert made.place(ada).item != item
    assert vote_table(made)["reasons"].tolist() == ["incomplete; not in the picture"]


def finish_place(study: Study, annotator: str) -> None:
    item = study.place(annotator).item
    assert item is not None
    vote(study, annotator, item.id)


def test_who_is_not_done_has_a_reminder_to_copy(open_page: Open, study: Study) -> None:
    ada, bo = study.invite(["Ada", "Bo"])
    finish(study, ada)
    app = open_page(HUMAN, study="pilot")
    texts_to_copy = [code.value for code in app.code if code.value.startswith("Hello")]
    (row,) = quality_table(study).query("annotator == @bo").to_dict("records")
    (written,) = texts_to_copy
    assert written.startswith("Hello Bo,")
    assert f"{row['planned'] - row['votes']} items are left for you" in written
    assert f"token={study.token(bo)}" in written
    assert study.definition.title not in written
    study.set_status(PAUSED)
    again = open_page(HUMAN, study="pilot")
    assert not [code for code in again.code if code.value.startswith("Hello")]


def test_one_annotators_link_stands_as_a_code_for_a_phone_when_it_is_asked_for(
    open_page: Open, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(study_people, "code_svg", lambda link: told.append(link) or code_svg(link))
    ada, bo = study.invite(["Ada", "Bo"])
    app = open_page(HUMAN, study="pilot")
    assert not told
    app.selectbox(key="study.links.code").select(f"{bo} Bo").run()
    assert not app.exception
    (link,) = told
    assert link.endswith(f"?token={study.token(bo)}")
    assert f"QR code of the link of {bo} Bo" in [each.alt for image in app.image for each in image.proto.imgs]
    assert study.token(ada) not in link


def test_pausing_and_withdrawing_are_one_press(open_page: Open, study: Study) -> None:
    ada, bo = study.invite(["Ada", "Bo"])
    finish(study, ada)
    app = open_page(HUMAN, study="pilot")
    app.checkbox(key=f"study.sure.{ada}").set_value(True).run()
    app = press(app, "Withdraw")
    assert study.state().annotators[ada].withdrawn
    assert not study.state().annotators[bo].withdrawn
    assert vote_table(study).empty


@pytest.mark.parametrize("page", [OVERVIEW, FAILURES, LAB])
def test_with_a_log_in_or_a_token_no_address_opens_another_page(
    study: Study, guarded: dict[str, object], page: str
) -> None:
    token = study.token(study.invite(["Ada"])[0])
    for query in ({}, {"token": token}):
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
        app.query_params.update(query)
        assert [title.value for title in app.run().title] == ["Invariscope"]
        with pytest.raises(ValueError, match=r"Known pages: \[('\w+', )+'\S*/people.py', 'human_validation'\]"):
            turned(app, page)  # the other names are the door, at their addresses


def test_votes_open_the_filter_of_accepted_pairs_on_the_other_pages(study: Study, results: None) -> None:
    assert known_values(present(), _scope())["judged"] == ()
    (ada,) = study.invite(["Ada"])
    finish(study, ada)
    st.cache_data.clear()
    assert known_values(present(), _scope())["judged"] == ("yes",)


def _scope() -> Narrowed:
    return narrow(store(present())).only()


def test_links_begin_with_the_public_address_where_one_is_set(
    open_page: Open, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    study.invite(["Ada"])
    monkeypatch.setenv("INVARISCOPE_PUBLIC_URL", "https://study.example.org/")
    links = [code.value for code in open_page(HUMAN, study="pilot").code if code.value.startswith("http")]
    assert len(links) == 1
    assert links[0].startswith("https://study.example.org/people?token=")


@pytest.mark.parametrize(
    ("part", "figure", "signed"),
    [("outcomes", "outcomes", False), ("agreement", "kappa-map", False), ("scores", "reanalysis", True)],
)
def test_what_people_said_goes_into_a_story_with_whose_votes_it_is_of(
    study: Study, results: None, part: str, figure: str, signed: bool
) -> None:
    people = study.invite(["Ada", "Bo", "Cy"])
    for number, name in enumerate(people):
        for item in study.definition.items:
            if not item.attention:
                vote_versions(study, name, item.id, original=2, variant=number, preferred="tie")
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params.update({"study": "pilot", "part": part})
    turned(app, HUMAN).run()
    slide = collected(app, f"figure.pilot-{figure}")
    assert slide.of == "27 complete votes of 3 annotators in study pilot, run demo, seed 1"
    assert (slide.page, (slide.link or {})["part"]) == (HUMAN, part)
    assert bool(slide.signature) == signed
    assert slide.rows
    assert "Ada" not in str(slide)


def test_agreement_below_chance_has_a_real_minus_and_measures_begin_alike(study: Study) -> None:
    people = study.invite(["Ada", "Bo", "Cy"])
    for name, preferred in zip(people, ("tie", "original", "variant"), strict=True):
        for item in study.definition.items:
            if not item.attention:
                vote_versions(study, name, item.id, original=2, variant=2, preferred=preferred)
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params.update({"study": "pilot", "part": "agreement"})
    told = texts(turned(app, HUMAN).run())
    assert re.search(r"Fleiss κ: \*\*−0\.\d\d\*\*", told)
    assert not re.search(r"[ *(]-0\.\d", told)
    assert "Percent agreement: **0.00**" in told


def test_who_is_invited_to_a_study_that_is_full_meets_a_sentence_and_the_coordinator_how_to_go_on(
    open_page: Open, study: Study, results: None
) -> None:
    people = study.invite(["Ada", "Bo", "Cy"])
    for name in people:
        finish(study, name)
    (late,) = study.invite(["Dee"])
    app = annotate(study.token(late))
    assert "Nothing is left to judge" in texts(app)
    assert not {"Begin", "Skip"} & {each.label for each in app.button}
    assert "Item 0" not in texts(app)
    told = " ".join(each.value for each in open_page(HUMAN).warning)
    assert "Nothing is left for Dee: every item has its 3 votes" in told
    assert "create a study of the same run with more annotators an item" in told
    study.withdraw(people[0])
    assert "Before you begin" in texts(annotate(study.token(late)))


def test_links_that_only_this_machine_opens_say_so(
    open_page: Open, study: Study, results: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    study.invite(["Ada"])
    assert "Only this machine can open these links" in " ".join(each.value for each in open_page(HUMAN).warning)
    monkeypatch.setenv("INVARISCOPE_PUBLIC_URL", "https://study.example.org")
    assert "Only this machine" not in " ".join(each.value for each in open_page(HUMAN).warning)


def test_agreement_answers_before_it_measures(open_page: Open, study: Study, results: None) -> None:
    for name in study.invite(["Ada", "Bo"]):
        finish(study, name)
    app = open_page(HUMAN, part="agreement")
    first = next(each.value for each in app.markdown if "give the same of" in each.value)
    assert re.fullmatch(
        r"\*\*Two people give the same of 3 answers in \d+(\.\d)?\s% of cases\*\* on .*\(\d+ items, \d+ judgements\)\.",
        first,
    )
    assert [each.value for each in app.markdown].index(first) < next(
        place for place, each in enumerate(app.markdown) if "Fleiss κ" in each.value
    )


def test_parts_stand_in_groups(open_page: Open, study: Study) -> None:
    assert sorted(each for parts in GROUPS.values() for each in parts) == sorted(PARTS)
    app = open_page(HUMAN, part="agreement")
    group = next(each for each in app.button_group if each.label == "Group")
    assert group.value == "Results"
    group.set_value("Files").run()
    assert app.query_params["part"] == "files"
    assert "Part" not in [each.label for each in app.button_group], "a group of one part offers no choice"


def test_the_preview_asks_the_questions_and_shows_a_pair_whose_edit_is_seen(open_page: Open, study: Study) -> None:
    words = said(unfolded(open_page(HUMAN), "What people see"))
    assert "1. **A**: How well does this caption describe the image?" in words
    assert "3. Which is better, or are they equally good?" in words
    families = {each.family for each in study.definition.items if not each.attention}
    assert families & set(SEEN), "the study has an edit that is plainly seen"
    assert shown_item(study).family == next(each for each in SEEN if each in families)


def test_results_stand_there_once_somebody_voted(open_page: Open, study: Study) -> None:
    def groups(app: AppTest) -> list[str]:
        assert not app.exception
        return next(each for each in app.button_group if each.label == "Group").options

    first = open_page(HUMAN)
    assert groups(first) == ["Invite", "Taking part", "Files"]
    wanted = int(coverage_table(study)["wanted"].sum())
    per_item = study.definition.per_item
    assert wanted % per_item == 0
    assert f"No answer yet: 0 of {wanted} votes ({wanted // per_item} pairs × {per_item} people)." in said(first)
    assert "Send each their link" in said(first)
    assert "Invite people below" in said(first)
    assert not first.metric
    assert groups(open_page(HUMAN, part="outcomes")) == ["Invite", "Taking part", "Results", "Files"], (
        "a link still opens it"
    )
    (person,) = study.invite(["Ada"])
    assert "1 person invited" in said(open_page(HUMAN))
    finish(study, person)
    voted = open_page(HUMAN)
    assert groups(voted) == list(GROUPS)
    assert "No answer yet" not in said(voted)
    assert voted.metric


def test_instructions_tell_no_answer(open_page: Open, study: Study) -> None:
    (ada,) = study.invite(["Ada"])
    assert "no worse" not in texts(annotate(study.token(ada)))
