"""Tokens of annotators, and which items each is given."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InvalidInput
from core.features.human.entrance import SECRET, make_token, new_nonce, well_formed
from core.features.human.sharing import assign, mix
from core.features.human.studies import Refused, Study
from tests.features.human.small_study import make


def test_a_token_opens_its_own_study_and_no_other(tmp_path: Path) -> None:
    one, other = make(tmp_path, "one"), make(tmp_path, "other")
    (a,), (b,) = one.invite(["Ada"]), other.invite(["Bo"])
    assert one.annotator_of(one.token(a)) == a
    for study, token in ((one, other.token(b)), (other, one.token(a))):
        with pytest.raises(Refused, match="not valid"):
            study.annotator_of(token)


@pytest.mark.parametrize("token", ["", "x", None, 7, "a01", "é" * 43, "A" * 43, "../../etc/passwd", "A" * 100_000])
def test_anything_else_is_refused(tmp_path: Path, token: object) -> None:
    study = make(tmp_path)
    study.invite(["Ada"])
    with pytest.raises(Refused, match="not valid"):
        study.annotator_of(token)


def test_a_revoked_a_renewed_and_a_withdrawn_link_stop_working(tmp_path: Path) -> None:
    study = make(tmp_path)
    ada, bo, cy = study.invite(["Ada", "Bo", "Cy"])
    old = {name: study.token(name) for name in (ada, bo, cy)}
    study.revoke(ada)
    new = study.renew(bo)
    study.withdraw(cy)
    for token in old.values():
        with pytest.raises(Refused):
            study.annotator_of(token)
    assert study.annotator_of(new) == bo
    assert study.token(ada) is None
    assert study.annotator_of(study.renew(ada)) == ada
    with pytest.raises(InvalidInput, match="withdrawn"):
        study.renew(cy)


def test_no_file_that_may_be_handed_around_holds_a_token(tmp_path: Path) -> None:
    study = make(tmp_path)
    token = study.token(study.invite(["Ada"])[0])
    assert token is not None
    for path in study.folder.iterdir():
        assert token not in path.read_text()
    assert (study.folder / SECRET).stat().st_mode & 0o077 == 0


def test_without_its_secret_a_link_works_but_cannot_be_shown_again(tmp_path: Path) -> None:
    study = make(tmp_path)
    (ada,) = study.invite(["Ada"])
    token = study.token(ada)
    (study.folder / SECRET).unlink()
    fresh = Study(study.folder)
    assert fresh.annotator_of(token) == ada
    assert fresh.token(ada) is None


def test_tokens_differ_and_have_the_one_shape() -> None:
    tokens = {make_token("secret", "a01", new_nonce()) for _ in range(100)}
    assert len(tokens) == 100
    assert all(well_formed(token) for token in tokens)


NAMES = ["a01", "a02", "a03", "a04", "a05"]


@settings(max_examples=60, deadline=None)
@given(count=st.integers(0, 30), people=st.integers(0, 5), per_item=st.integers(1, 4), seed=st.integers(0, 99))
def test_fresh_work_is_shared_evenly_and_nobody_sees_an_item_twice(
    count: int, people: int, per_item: int, seed: int
) -> None:
    items = [f"{number:04d}" for number in range(count)]
    queues = assign(items, NAMES[:people], seen={}, votes={}, per_item=per_item, seed=seed)
    given_out = Counter(item for queue in queues.values() for item in queue)
    assert all(given_out[item] == min(per_item, people) for item in items)
    assert all(len(set(queue)) == len(queue) for queue in queues.values())
    loads = [len(queue) for queue in queues.values()]
    assert not loads or max(loads) - min(loads) <= 1


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_later_sharing_fills_what_is_short_and_asks_nobody_again(data: st.DataObject) -> None:
    items = [f"{number:04d}" for number in range(data.draw(st.integers(1, 15)))]
    seen = {name: data.draw(st.sets(st.sampled_from(items))) for name in NAMES}
    working = data.draw(st.lists(st.sampled_from(NAMES), unique=True))
    begun = {name: data.draw(st.sets(st.sampled_from(items))) - seen[name] for name in working}
    votes = {item: sum(item in seen[name] for name in NAMES) for item in items}
    queues = assign(items, working, seen=seen, votes=votes, begun=begun, per_item=3, seed=1)
    for name, queue in queues.items():
        assert not set(queue) & seen[name]
        assert begun[name] <= set(queue)
        assert len(set(queue)) == len(queue)
    for item in items:
        planned = sum(item in queue for queue in queues.values())
        may = sum(item not in seen[name] for name in working)
        held = sum(item in begun[name] for name in working)
        assert planned == min(max(3 - votes[item], held), may)


def test_the_order_of_an_annotator_is_their_own_and_stays_when_work_is_shared_anew() -> None:
    items = [f"{number:04d}" for number in range(20)]
    first = assign(items, ["a01", "a02", "a03"], seen={}, votes={}, per_item=3, seed=5)
    assert first["a01"] != first["a02"] != first["a03"]
    again = assign(items, ["a01", "a02", "a03", "a04"], seen={}, votes={}, per_item=3, seed=5)
    kept = set(again["a01"])
    assert [item for item in first["a01"] if item in kept] == list(again["a01"])


@given(count=st.integers(0, 60), rate=st.floats(0, 0.5), checks=st.integers(0, 40), seed=st.integers(0, 9))
def test_attention_items_come_at_their_rate_and_disturb_no_order(
    count: int, rate: float, checks: int, seed: int
) -> None:
    queue = [f"{number:04d}" for number in range(count)]
    attention = [f"x{number}" for number in range(checks)]
    mixed = mix(queue, attention, rate=rate, annotator="a01", seed=seed)
    assert [item for item in mixed if item in queue] == queue
    wanted = min(round(count * rate / (1 - rate)), checks) if count else 0
    assert len(mixed) - count == wanted
    assert len(set(mixed)) == len(mixed)
