from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from core.features.human.exchange import export_votes, import_votes
from core.features.human.kinds import CORRECTNESS, KINDS
from core.features.human.studies import Study
from core.features.human.study_outcomes import study_agreement, vote_rates
from core.features.human.votes import ratings, verdicts, vote_table
from core.store.schema import VERDICTS
from tests.features.human.small_study import comparisons, items, make, next_place, vote, vote_versions


def test_a_pair_is_accepted_by_the_share_that_found_both_versions_acceptable(tmp_path: Path) -> None:
    study = make(tmp_path)
    ada, bo, cy = study.invite(["", "", ""])
    vote_versions(study, ada, "0001", original=2, variant=1, preferred="tie")
    vote_versions(study, bo, "0001", original=2, variant=0, preferred="original")
    vote_versions(study, cy, "0001", original=0, variant=2, preferred="variant")
    vote_versions(study, cy, "0002", original=1, variant=1, preferred="tie")
    table = verdicts([study])
    assert table.schema.equals(VERDICTS)
    about = {"corpus": "demo", "probe": "vflip", "subject": "template", "language": "en", "rank": 0, "upheld": None}
    assert table.to_pylist() == [
        {**about, "item": "item-1", "accepted": 1 / 3, "votes": 3},
        {**about, "item": "item-2", "accepted": 1.0, "votes": 1},
    ]


def test_withdrawn_annotators_attention_items_and_other_kinds_stay_out(tmp_path: Path) -> None:
    study = make(tmp_path, items=items(2, attention=1))
    ada, bo = study.invite(["", ""])
    vote(study, ada, "0001")
    vote(study, bo, "0001", A=0)
    vote(study, ada, "0003")
    study.withdraw(bo)
    single = make(tmp_path, "single", kind="rating")
    vote(single, single.invite([""])[0], "0001")
    table = verdicts([study, single]).to_pylist()
    assert [(row["item"], row["accepted"], row["votes"]) for row in table] == [("item-1", 1.0, 1)]
    assert set(ratings([study])["item"]) == {"item-1"}


def test_two_studies_of_the_same_pair_pool_their_votes(tmp_path: Path) -> None:
    one, other = make(tmp_path, "one"), make(tmp_path, "other")
    vote(one, one.invite([""])[0], "0001")
    vote(other, other.invite([""])[0], "0001", A=0)
    assert verdicts([one, other]).to_pylist()[0]["accepted"] == 0.5


def test_ratings_lie_between_0_and_1_for_both_versions_of_every_scale(tmp_path: Path) -> None:
    pairs, single = make(tmp_path, "pairs"), make(tmp_path, "single", kind="rating")
    vote_versions(pairs, pairs.invite([""])[0], "0001", original=2, variant=1, preferred="original")
    vote(single, single.invite([""])[0], "0002", rating=2)
    table = ratings([pairs, single]).set_index(["item", "probe"])
    assert table.loc[("item-1", "identity"), "rating"] == 1.0
    assert table.loc[("item-1", "vflip"), "rating"] == 0.5
    assert table.loc[("item-2", "vflip"), "rating"] == pytest.approx(1 / 3)
    assert (table["votes"] == 1).all()


UPHELD = {  # kind -> votes (original, variant, preferred) of three annotators on one comparison -> share who uphold it
    "acceptability": [
        ([(2, 0, "tie"), (1, 0, "variant"), (2, 1, "original")], 2 / 3),  # accept the right one, refuse the wrong one
        ([(0, 0, "original"), (2, 2, "original"), (0, 2, "original")], 0.0),
    ],
    "preference": [
        ([(1, 4, "original"), (4, 1, "tie"), (4, 1, "variant")], 1 / 3),  # the choice counts, whatever the ratings
        ([(2, 2, "original")] * 3, 1.0),
    ],
}


def rows_of(*studies: Study) -> dict[str, tuple[float, int]]:
    found = verdicts(list(studies)).to_pylist()
    assert all(row["accepted"] is None for row in found)
    return {row["item"]: (row["upheld"], row["votes"]) for row in found}


@pytest.mark.parametrize("kind", UPHELD)
def test_a_comparison_is_upheld_by_the_share_that_tells_right_from_wrong(tmp_path: Path, kind: str) -> None:
    study = make(tmp_path, kind=kind, items=comparisons(3, attention=1))
    people = study.invite(["", "", ""])
    for item, (votes, _) in zip(("0001", "0002"), UPHELD[kind], strict=True):
        for name, (original, variant, preferred) in zip(people, votes, strict=True):
            vote_versions(study, name, item, original=original, variant=variant, preferred=preferred)
    vote_versions(study, people[0], "0004", original=2, variant=1, preferred="original")
    expected = {f"i{place:03d}": (pytest.approx(share), 3) for place, (_, share) in enumerate(UPHELD[kind])}
    assert rows_of(study) == expected
    study.withdraw(people[2])
    assert {votes for _, votes in rows_of(study).values()} == {2}


def rated(study: Study, ratings_of: dict[str, list[int]]) -> None:
    people = study.invite([""] * max(map(len, ratings_of.values())))
    for item, given in ratings_of.items():
        for name, rating in zip(people, given, strict=False):
            vote(study, name, item, rating=rating)


def test_where_single_sides_were_rated_the_higher_mean_decides(tmp_path: Path) -> None:
    study = make(tmp_path, kind="rating", items=comparisons(4, sides=1))
    rated(study, {"0001": [4, 2], "0002": [2, 3], "0003": [3, 3], "0004": [3], "0005": [1], "0006": [2], "0007": [4]})
    # 3 against 2.5; 3 against 3; 1 against 2; of the last only the right side was rated
    assert rows_of(study) == {"i000": (1.0, 2), "i001": (0.0, 1), "i002": (0.0, 1)}


def test_votes_on_both_sides_at_once_pool_and_go_before_ratings_of_single_sides(tmp_path: Path) -> None:
    single = make(tmp_path, "single", kind="rating", items=comparisons(2, sides=1))
    rated(single, {"0001": [1], "0002": [4], "0003": [4], "0004": [1]})
    accepting = make(tmp_path, "accepting", items=comparisons(2))
    vote_versions(accepting, accepting.invite([""])[0], "0001", original=2, variant=0, preferred="original")
    choosing = make(tmp_path, "choosing", kind="preference", items=comparisons(2))
    vote_versions(choosing, choosing.invite([""])[0], "0001", original=2, variant=2, preferred="tie")
    assert rows_of(single) == {"i000": (0.0, 1), "i001": (1.0, 1)}
    assert rows_of(single, accepting, choosing) == {"i000": (0.5, 2), "i001": (1.0, 1)}
    assert rows_of(choosing, accepting, single) == rows_of(single, accepting, choosing)


@pytest.mark.parametrize("kind", ["acceptability", "preference"])
def test_annotators_in_another_order_and_sides_in_other_places_uphold_the_same(tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(1)
    said = [
        (
            int(rng.integers(0, 3)) + (kind == "preference"),
            int(rng.integers(0, 3)) + (kind == "preference"),
            str(rng.choice(["original", "variant", "tie"])),
        )
        for _ in range(6)
    ]
    found, lefts = [], set()
    for turn in range(4):  # another seed stands the sides elsewhere
        study = make(tmp_path, f"turn-{turn}", kind=kind, items=comparisons(1), seed=turn)
        for name, place in zip(study.invite([""] * 6), rng.permutation(6), strict=True):
            original, variant, preferred = said[place]
            vote_versions(study, name, "0001", original=original, variant=variant, preferred=preferred)
            lefts.add((place, study.definition.left_version(name, "0001")))
        found.append(rows_of(study))
    assert len(lefts) > 6
    assert all(each == found[0] for each in found)


def test_pairs_and_comparisons_of_one_study_have_each_their_own_verdict(tmp_path: Path) -> None:
    mixed = (*items(1), *(replace(each, id="0002", language="de", rank=1) for each in comparisons(1)))
    study = make(tmp_path, items=mixed)
    (ada,) = study.invite([""])
    vote_versions(study, ada, "0001", original=2, variant=2, preferred="tie")
    vote_versions(study, ada, "0002", original=2, variant=0, preferred="original")
    told = {
        row["item"]: (row["accepted"], row["upheld"], row["language"], row["rank"])
        for row in verdicts([study]).to_pylist()
    }
    assert told == {"item-1": (1.0, None, "en", 0), "i000": (None, 1.0, "de", 1)}


def test_nothing_voted_is_an_empty_table_of_the_right_columns(tmp_path: Path) -> None:
    for studies in ([], [make(tmp_path)]):
        assert verdicts(studies).num_rows == 0
        assert verdicts(studies).schema.field("votes").type == pa.int32()
        assert list(ratings(studies).columns) == ["corpus", "item", "probe", "subject", "rating", "votes"]


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
