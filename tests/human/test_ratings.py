from pathlib import Path

import pyarrow as pa
import pytest

from core.human.ratings import ratings, verdicts
from core.store.schema import VERDICTS
from tests.human.small_study import items, make, vote, vote_versions


def test_a_pair_is_accepted_by_the_share_that_found_both_versions_acceptable(tmp_path: Path) -> None:
    study = make(tmp_path)
    ada, bo, cy = study.invite(["", "", ""])
    vote_versions(study, ada, "0001", original=2, variant=1, preferred="tie")
    vote_versions(study, bo, "0001", original=2, variant=0, preferred="original")
    vote_versions(study, cy, "0001", original=0, variant=2, preferred="variant")
    vote_versions(study, cy, "0002", original=1, variant=1, preferred="tie")
    table = verdicts([study])
    assert table.schema.equals(VERDICTS)
    assert table.to_pylist() == [
        {"corpus": "demo", "item": "item-1", "probe": "vflip", "subject": "template", "accepted": 1 / 3, "votes": 3},
        {"corpus": "demo", "item": "item-2", "probe": "vflip", "subject": "template", "accepted": 1.0, "votes": 1},
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


def test_nothing_voted_is_an_empty_table_of_the_right_columns(tmp_path: Path) -> None:
    for studies in ([], [make(tmp_path)]):
        assert verdicts(studies).num_rows == 0
        assert verdicts(studies).schema.field("votes").type == pa.int32()
        assert list(ratings(studies).columns) == ["corpus", "item", "probe", "subject", "rating", "votes"]
