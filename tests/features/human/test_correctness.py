"""Correct or not, and why: reasons are asked of those who said no, and several may hold."""

from pathlib import Path

import pytest

from core.features.human.exchange import export_votes, import_votes
from core.features.human.kinds import CORRECTNESS, KINDS
from core.features.human.study_outcomes import study_agreement
from core.features.human.vote_rates import vote_rates
from core.features.human.votes import ratings, vote_table
from tests.features.human.small_study import items, make, next_place, vote

NO = {"ungrammatical": 0, "incomplete": 0, "not in the picture": 0}


def test_reasons_are_due_only_after_a_no() -> None:
    assert CORRECTNESS.always == ("rating",)
    assert CORRECTNESS.reasons == ("ungrammatical", "incomplete", "not in the picture")
    assert CORRECTNESS.due({}) == CORRECTNESS.due({"rating": 1}) == ("rating",)
    assert CORRECTNESS.due({"rating": 0}) == ("rating", *CORRECTNESS.reasons)
    for kind in KINDS.values():
        if kind is not CORRECTNESS:
            assert kind.due({}) == kind.always == tuple(each.name for each in kind.questions)


def test_an_item_is_done_once_a_no_has_its_reasons_and_a_yes_takes_them_back(tmp_path: Path) -> None:
    study = make(tmp_path, kind="correctness", items=items(3, shows="variant"))
    (ada,) = study.invite(["Ada"])
    study.begin(ada)
    first = next_place(study, ada).item
    assert first is not None
    vote(study, ada, first.id, rating=0)
    assert study.place(ada).item == first  # the reasons are open
    vote(study, ada, first.id, **{**NO, "rating": 0, "incomplete": 1, "not in the picture": 1})
    assert study.place(ada).item != first
    (row,) = vote_table(study).to_dict("records")
    assert (row["variant"], row["reasons"]) == (0.0, "incomplete; not in the picture")
    vote(study, ada, first.id, rating=1)
    (row,) = vote_table(study).to_dict("records")
    assert (row["variant"], row["reasons"], row["corrections"]) == (1.0, "", 1)
    assert ratings([study])["rating"].tolist() == [1.0]


def test_rates_say_how_often_a_caption_is_correct_and_how_often_each_reason_holds(tmp_path: Path) -> None:
    study = make(tmp_path, kind="correctness", items=items(2, shows="variant"))
    ada, bo = study.invite(["", ""])
    vote(study, ada, "0001", rating=1)
    vote(study, bo, "0001", **{**NO, "rating": 0, "ungrammatical": 1, "incomplete": 1})
    vote(study, ada, "0002", **{**NO, "rating": 0, "incomplete": 1})
    vote(study, bo, "0002", **{**NO, "rating": 0})  # none of the three
    found = vote_rates(vote_table(study), CORRECTNESS).set_index("question")["rate"]
    assert found.to_dict() == pytest.approx(
        {
            "found correct": 25.0,
            "not correct: ungrammatical": 25.0,
            "not correct: incomplete": 50.0,
            "not correct: not in the picture": 0.0,
        }
    )
    assert [each.question for each in study_agreement(vote_table(study), CORRECTNESS)] == ["correctness"]


@pytest.mark.parametrize("form", ["csv", "json"])
def test_an_export_read_into_a_copy_has_the_same_reasons(tmp_path: Path, form: str) -> None:
    study, copy = (
        make(tmp_path / name, kind="correctness", items=items(2, shows="variant")) for name in ("first", "copy")
    )
    (ada,) = study.invite(["Ada"])
    vote(study, ada, "0001", **{**NO, "rating": 0, "incomplete": 1})
    vote(study, ada, "0002", rating=1)
    assert import_votes(copy, export_votes(study, form), name=f"v.{form}").count == 2
    assert vote_table(copy)["reasons"].tolist() == vote_table(study)["reasons"].tolist() == ["incomplete", ""]
